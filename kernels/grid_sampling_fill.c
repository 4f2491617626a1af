#include "kernels/grid_sampling.h"

#include <math.h>

/* Small whole numbers, never 0: exact in every type, and their products with dyadic weights add up without rounding for
 * as many collisions as possible. */
static double whole_number(kerf_rng *rng, uint64_t largest) {
    const double magnitude = 1 + (double)kerf_rng_below(rng, largest);
    return kerf_rng_below(rng, 2) ? magnitude : -magnitude;
}

static double random_number(kerf_rng *rng) {
    return 2 * kerf_rng_unit(rng) - 1;
}

static double sometimes_non_finite(kerf_rng *rng) {
    switch (kerf_rng_below(rng, 64)) {
    case 0:
        return NAN;
    case 1:
        return INFINITY;
    case 2:
        return -INFINITY;
    default:
        return random_number(rng);
    }
}

/* Now and then a subnormal number, which a kernel may flush, and in f16 one whose sums pass the largest number. (The
 * sums of other types would pass it within the kernel already, where nothing is promised.) */
static double from_the_ends_of_the_type(kerf_dtype dtype, kerf_rng *rng) {
    const double number = random_number(rng);
    switch (kerf_rng_below(rng, 16)) {
    case 0:
        return number * kerf_dtype_tiniest(dtype) * 128;
    case 1:
        return dtype == KERF_F16 ? number * 65504 : number;
    default:
        return number;
    }
}

static double value_of(kerf_dtype dtype, int fill, uint64_t largest_whole, kerf_rng *rng) {
    switch (fill) {
    case KERF_SAMPLING_EXACT:
    case KERF_SAMPLING_ONE_CELL:
        return whole_number(rng, largest_whole);
    case KERF_SAMPLING_OUT_OF_RANGE:
        return from_the_ends_of_the_type(dtype, rng);
    case KERF_SAMPLING_NON_FINITE:
        return sometimes_non_finite(rng);
    default:
        return random_number(rng);
    }
}

static void fill_values(const kerf_operand *operand, int fill, uint64_t largest_whole, kerf_rng *rng, void *data) {
    const kerf_strided at = kerf_strided_unique(&operand->at);
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    for (kerf_walk walk = kerf_walk_begin(&at); !walk.done; kerf_walk_next(&walk)) {
        const double value = value_of(operand->dtype, fill, largest_whole, rng);
        kerf_dtype_store(operand->dtype, (char *)data + walk.offset * bytes, value);
    }
}

void kerf_sampling_fill(const kerf_sampling_op *op, const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    for (int i = 0; i < op->grid; ++i)
        fill_values(problem->in[i], problem->fill, op->in[i].largest_whole, rng, in[i]);
    kerf_sampling_fill_points(op, problem, rng, in[op->grid]);
}
