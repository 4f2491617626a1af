/* The eight ways to place the points. Only IEEE basic arithmetic: a seed means the same points on every machine. */
#include "kernels/grid_sampling.h"

#include <math.h>
#include <string.h>

/* One axis of the image and of the output: 0 is x, 1 is y. */
typedef struct fill_axis {
    int64_t extent, out_extent;
    double intervals; /* a step of 2 in g moves the coordinate by so many pixels */
    double step;      /* of the dyadic points of `exact` */
    double fine_step; /* of the dyadic points of `one_cell` */
} fill_axis;

/* What the points of one image have in common. */
typedef struct fill_image {
    int64_t cell[2];
    double centre[2];
    double amplitude[2], cycles[2], phase[2];
} fill_image;

typedef struct grid_fill {
    kerf_rng *rng;
    kerf_dtype dtype;
    kerf_corners corners;
    fill_axis axis[2];
    uint64_t image_seed;
    int64_t image_number;
    fill_image image;
} grid_fill;

static double between(kerf_rng *rng, double low, double high) {
    return low + (high - low) * kerf_rng_unit(rng);
}

static bool one_in(kerf_rng *rng, uint64_t n) {
    return kerf_rng_below(rng, n) == 0;
}

static double rounded(const grid_fill *fill, double value) {
    uint64_t element;
    kerf_dtype_store(fill->dtype, &element, value);
    return kerf_dtype_load(fill->dtype, &element);
}

/* g of the coordinate v, and back. */
static double point_at(const grid_fill *fill, const fill_axis *axis, double v) {
    if (axis->intervals == 0)
        return 0;
    return fill->corners == KERF_CORNERS_ALIGNED ? 2 * v / axis->intervals - 1 : (2 * v + 1) / axis->intervals - 1;
}

static double coordinate_of(const grid_fill *fill, const fill_axis *axis, double g) {
    const double v = (g + 1) * axis->intervals / 2;
    return fill->corners == KERF_CORNERS_ALIGNED ? v : v - 0.5;
}

static double exact_point(grid_fill *fill, int a, const int64_t index[]) {
    (void)index;
    const double step = fill->axis[a].step;
    const double reach = one_in(fill->rng, 8) ? 3 : 1.25;
    return floor(between(fill->rng, -reach, reach) / step + 0.5) * step;
}

static double uniform_point(grid_fill *fill, int a, const int64_t index[]) {
    (void)a, (void)index;
    return between(fill->rng, -1.1, 1.1);
}

static double identity_point(grid_fill *fill, int a, const int64_t index[]) {
    const int64_t place = index[a == 0 ? 2 : 1], n = fill->axis[a].out_extent;
    if (fill->corners == KERF_CORNERS_ALIGNED)
        return n > 1 ? 2.0 * (double)place / (double)(n - 1) - 1 : 0;
    return (2.0 * (double)place + 1) / (double)n - 1;
}

/* A parabola for each half wave: sin() is not the same on every machine. */
static double wave(double turns) {
    const double u = turns - floor(turns) - 0.5;
    return 8 * u * (1 - 2 * fabs(u));
}

static double smooth_point(grid_fill *fill, int a, const int64_t index[]) {
    const fill_image *const image = &fill->image;
    const double across = (double)index[1] / (double)fill->axis[1].out_extent;
    const double along = (double)index[2] / (double)fill->axis[0].out_extent;
    const double turns = image->phase[a] + image->cycles[a] * (across + along / 2);
    return identity_point(fill, a, index) + image->amplitude[a] * wave(turns);
}

/* A dyadic point near the middle of the image's cell; the middle itself where the type has no other point in there. */
static double one_cell_point(grid_fill *fill, int a, const int64_t index[]) {
    (void)index;
    const fill_axis *const axis = &fill->axis[a];
    for (int attempt = 0; attempt < 8; ++attempt) {
        const double v = (double)fill->image.cell[a] + 0.25 * (double)kerf_rng_below(fill->rng, 4);
        const double g = rounded(fill, floor(point_at(fill, axis, v) / axis->fine_step + 0.5) * axis->fine_step);
        if ((int64_t)floor(coordinate_of(fill, axis, g)) == fill->image.cell[a])
            return g;
    }
    return fill->image.centre[a];
}

static double largest_power(kerf_dtype dtype) {
    return dtype == KERF_F16 ? 15 : dtype == KERF_F64 ? 1023 : 127;
}

/* Random magnitude up to 2^exponents. */
static double huge_point(kerf_rng *rng, double exponents) {
    const int exponent = 3 + (int)kerf_rng_below(rng, (uint64_t)exponents - 3);
    const double value = ldexp(1 + kerf_rng_unit(rng), exponent);
    return one_in(rng, 2) ? value : -value;
}

static double out_of_range_point(grid_fill *fill, int a, const int64_t index[]) {
    (void)a, (void)index;
    if (!one_in(fill->rng, 8))
        return between(fill->rng, -4, 4);
    const double largest = largest_power(fill->dtype);
    return huge_point(fill->rng, one_in(fill->rng, 2) || largest < 40 ? largest : 40);
}

/* The neighbour of a value in its type, away from zero or towards it; zero moves up only. */
static double nudged(const grid_fill *fill, double value, int step) {
    uint64_t bits = 0;
    const size_t bytes = kerf_dtype_bytes(fill->dtype);
    unsigned char element[sizeof bits];
    kerf_dtype_store(fill->dtype, element, value == 0 ? 0.0 : value);
    if (bytes == 2) {
        uint16_t word;
        memcpy(&word, element, sizeof word);
        word = (uint16_t)(word + (value == 0 ? 1 : step));
        memcpy(element, &word, sizeof word);
    } else if (bytes == 4) {
        uint32_t word;
        memcpy(&word, element, sizeof word);
        word += (uint32_t)(value == 0 ? 1 : step);
        memcpy(element, &word, sizeof word);
    } else {
        memcpy(&bits, element, sizeof bits);
        bits += (uint64_t)(value == 0 ? 1 : step);
        memcpy(element, &bits, sizeof bits);
    }
    return kerf_dtype_load(fill->dtype, element);
}

static double kink_coordinate(const grid_fill *fill, const fill_axis *axis) {
    kerf_rng *const rng = fill->rng;
    const double last = (double)(axis->extent - 1);
    const double low = fill->corners == KERF_CORNERS_ALIGNED ? 0 : -0.5;
    const double pixel = (double)kerf_rng_below(rng, (uint64_t)axis->extent + 4) - 2;
    switch (kerf_rng_below(rng, 4)) {
    case 0:
        return pixel;
    case 1:
        return pixel + 0.5;
    case 2: {
        const double edges[] = {0, last, -0.5, last + 0.5};
        return edges[kerf_rng_below(rng, 4)];
    }
    default:
        return low + axis->intervals * ((double)kerf_rng_below(rng, 8) - 3);
    }
}

static double kink_point(grid_fill *fill, int a, const int64_t index[]) {
    const fill_axis *const axis = &fill->axis[a];
    if (axis->intervals == 0 || one_in(fill->rng, 8))
        return uniform_point(fill, a, index);
    const double g = rounded(fill, point_at(fill, axis, kink_coordinate(fill, axis)));
    const int step = (int)kerf_rng_below(fill->rng, 4) - 1;
    return step == 0 || step == 2 ? g : nudged(fill, g, step);
}

static double non_finite_point(grid_fill *fill, int a, const int64_t index[]) {
    const double sign = one_in(fill->rng, 2) ? 1 : -1;
    if (!one_in(fill->rng, 4))
        return uniform_point(fill, a, index);
    switch (kerf_rng_below(fill->rng, 6)) {
    case 0:
        return NAN;
    case 1:
        return sign * INFINITY;
    case 2:
        return sign * (fill->dtype == KERF_F16 ? 6e4 : 1e10);
    case 3:
        return sign * (fill->dtype == KERF_F16 ? 65504 : 2.5e38);
    case 4:
        return sign * (fill->dtype == KERF_F64 ? 1.7e308 : fill->dtype == KERF_F16 ? 5e4 : 3.3e38);
    default:
        return huge_point(fill->rng, largest_power(fill->dtype));
    }
}

/* Drawn from the image's own stream: the points of image n do not depend on what was drawn before it. */
static void begin_image(grid_fill *fill, int64_t number) {
    kerf_rng rng = kerf_rng_seeded(fill->image_seed, (uint64_t)number);
    fill_image *const image = &fill->image;
    fill->image_number = number;
    for (int a = 0; a < 2; ++a) {
        const fill_axis *const axis = &fill->axis[a];
        const double cell = (double)kerf_rng_below(&rng, axis->extent > 1 ? (uint64_t)axis->extent - 1 : 1);
        image->centre[a] = rounded(fill, point_at(fill, axis, cell + 0.5));
        image->cell[a] = (int64_t)floor(coordinate_of(fill, axis, image->centre[a]));
        image->amplitude[a] = between(&rng, 0.02, 0.15);
        image->cycles[a] = between(&rng, 0.5, 2);
        image->phase[a] = kerf_rng_unit(&rng);
    }
}

/* The smallest k with 2^k >= value. */
static int power_above(double value) {
    int exponent;
    return value > 0 ? (frexp(value, &exponent) == 0.5 ? exponent - 1 : exponent) : 0;
}

/* Points are multiples of 2^-bits. With 2^k intervals, k + 1 bits put the coordinates on quarters of a pixel and k on
 * halves; with other extents few bits keep the weights short. Bicubic weights are cubes, so they need the shorter
 * points as soon as many samples fall together. Two bits of the type are left for |g| up to 4. */
static fill_axis axis_of(const kerf_sampling_op *op, const kerf_problem *problem, int image_axis, int out_axis) {
    const kerf_grid_sampler_modes *const modes = problem->self;
    const kerf_operand *const grid = problem->in[op->grid];
    const int64_t extent = problem->in[op->x]->at.dims[image_axis];
    const int type_bits = -power_above(kerf_dtype_unit_roundoff(grid->dtype)) - 2;
    fill_axis axis = {.extent = extent, .out_extent = grid->at.dims[out_axis]};
    axis.intervals = (double)(modes->corners == KERF_CORNERS_ALIGNED ? extent - 1 : extent);
    const int k = power_above(axis.intervals);
    const bool is_cubic = modes->interpolation == KERF_BICUBIC;
    const bool is_crowded = (double)grid->at.dims[1] * (double)grid->at.dims[2] > 64;
    int bits = axis.intervals == ldexp(1, k) ? (is_cubic && is_crowded ? k : k + 1) : is_cubic ? 1 : 3;
    axis.step = ldexp(1, -(bits < type_bits ? bits : type_bits));
    bits = is_cubic && is_crowded ? k : k + 1;
    axis.fine_step = ldexp(1, -(bits < type_bits ? bits : type_bits));
    return axis;
}

void kerf_sampling_fill_points(const kerf_sampling_op *op, const kerf_problem *problem, kerf_rng *rng, void *grid) {
    static double (*const points[])(grid_fill *, int, const int64_t[]) = {
        [KERF_SAMPLING_EXACT] = exact_point,       [KERF_SAMPLING_UNIFORM] = uniform_point,
        [KERF_SAMPLING_SMOOTH] = smooth_point,     [KERF_SAMPLING_IDENTITY] = identity_point,
        [KERF_SAMPLING_ONE_CELL] = one_cell_point, [KERF_SAMPLING_OUT_OF_RANGE] = out_of_range_point,
        [KERF_SAMPLING_KINKS] = kink_point,        [KERF_SAMPLING_NON_FINITE] = non_finite_point};
    const kerf_operand *const operand = problem->in[op->grid];
    const kerf_strided at = kerf_strided_unique(&operand->at);
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    grid_fill fill = {.rng = rng, .dtype = operand->dtype, .image_seed = kerf_rng_next(rng), .image_number = -1};
    fill.corners = ((const kerf_grid_sampler_modes *)problem->self)->corners;
    fill.axis[0] = axis_of(op, problem, 3, 2);
    fill.axis[1] = axis_of(op, problem, 2, 1);
    for (kerf_walk walk = kerf_walk_begin(&at); !walk.done; kerf_walk_next(&walk)) {
        if (walk.index[0] != fill.image_number)
            begin_image(&fill, walk.index[0]);
        kerf_dtype_store(operand->dtype, (char *)grid + walk.offset * bytes,
                         points[problem->fill](&fill, (int)walk.index[3], walk.index));
    }
}
