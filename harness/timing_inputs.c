/* The inputs of a case while it is timed, and how they change. */
#include "harness/place.h"
#include "harness/timing_buffers.h"

#include <string.h>

/* Of all sets of inputs and outputs together, as long as there is more than one. */
#define MOST_SETS_BYTES ((size_t)256 << 20)

/* Odd, so that elements drawn twice never leave an input as it was. */
enum { CHANGES_PER_STEP = 3 };

static kerf_status count_sets(const kerf_problem *problem, int n_rows, int *n_sets, kerf_error *error) {
    double bytes = 0;
    kerf_extent extent;
    for (int i = 0; i < problem->n_in; ++i) {
        KERF_TRY(kerf_extent_of(problem->in[i], &extent, error));
        bytes += (double)extent.resident_bytes;
    }
    for (int o = 0; o < problem->n_out; ++o) {
        KERF_TRY(kerf_extent_of(problem->out[o], &extent, error));
        bytes += (problem->want >> o & 1) * (double)n_rows * (double)extent.resident_bytes;
    }
    *n_sets = 1;
    while (n_rows > 0 && *n_sets < KERF_TIMING_SETS && (*n_sets + 1) * bytes <= (double)MOST_SETS_BYTES)
        ++*n_sets;
    return KERF_OK;
}

static kerf_status set_map(const kerf_problem *problem, kerf_rng *offsets, kerf_timing_set *set, kerf_error *error) {
    for (int i = 0; i < problem->n_in; ++i) {
        KERF_TRY(kerf_timing_operand_map(problem->in[i], offsets, &set->block[i], error));
        set->in[i] = set->block[i].data;
    }
    return KERF_OK;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

static bool may_change(const kerf_problem *problem, int input) {
    return problem->in[input]->role == KERF_IN;
}

static bool steers(const kerf_problem *problem, int input) {
    return problem->op->steering >> input & 1;
}

/* False where the operand has no elements. */
static bool draw_flip(const kerf_operand *operand, unsigned char *data, kerf_rng *rng, kerf_timing_flip *flip) {
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    int64_t n;
    if (!kerf_strided_count(&stored, &n) || n == 0)
        return false;
    unsigned char *const element =
        data + kerf_strided_offset(&stored, (int64_t)kerf_rng_below(rng, (uint64_t)n)) * bytes;
    if (operand->dtype <= KERF_F64) /* the sign, on the little-endian machines there are */
        *flip = (kerf_timing_flip){.at = element + bytes - 1, .bits = 0x80};
    else
        *flip = (kerf_timing_flip){.at = element, .bits = 1};
    return true;
}

static bool is_among(const kerf_timing_flip *flip, const kerf_timing_flip *others, int n) {
    for (int i = 0; i < n; ++i)
        if (others[i].at == flip->at)
            return true;
    return false;
}

/* Elements of all inputs in turn, each once as long as there are enough. */
static void draw_batch_flips(const kerf_problem *problem, uint64_t seed, kerf_timing_set *set) {
    kerf_rng rng = kerf_rng_seeded(seed, UINT64_MAX);
    int n = 0;
    for (int attempt = 0; attempt < 16 * KERF_TIMING_FLIPS && n < KERF_TIMING_FLIPS; ++attempt) {
        const int i = attempt % problem->n_in;
        if (may_change(problem, i) && !steers(problem, i) &&
            draw_flip(problem->in[i], set->block[i].data, &rng, &set->flip[n]) &&
            !is_among(&set->flip[n], set->flip, n))
            ++n;
    }
    for (int drawn = n; n < KERF_TIMING_FLIPS; ++n)
        set->flip[n] = drawn > 0 ? set->flip[n % drawn] : (kerf_timing_flip){.at = &set->spare, .bits = 1};
}

/* Two elements that agree in their last index, such as the x of two points. */
static void swap_elements(const kerf_operand *operand, unsigned char *data, kerf_rng *rng) {
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    int64_t n;
    if (!kerf_strided_count(&stored, &n) || n == 0)
        return;
    const int64_t last = stored.rank > 0 ? stored.dims[stored.rank - 1] : 1;
    const int64_t one = (int64_t)kerf_rng_below(rng, (uint64_t)n);
    const int64_t other = (int64_t)kerf_rng_below(rng, (uint64_t)(n / last)) * last + one % last;
    unsigned char *const a = data + kerf_strided_offset(&stored, one) * bytes, kept[16];
    unsigned char *const b = data + kerf_strided_offset(&stored, other) * bytes;
    memcpy(kept, a, (size_t)bytes);
    memmove(a, b, (size_t)bytes);
    memcpy(b, kept, (size_t)bytes);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static void apply_flips(const kerf_timing_inputs *inputs, kerf_timing_set *set, uint64_t step) {
    const kerf_problem *const problem = &inputs->problem;
    kerf_rng rng = kerf_rng_seeded(inputs->seed, step);
    kerf_timing_flip flip;
    for (int i = 0; i < problem->n_in; ++i)
        for (int k = 0; may_change(problem, i) && !steers(problem, i) && k < CHANGES_PER_STEP; ++k)
            if (draw_flip(problem->in[i], set->block[i].data, &rng, &flip))
                kerf_timing_flip_once(&flip);
}

/* Unlike signs, swaps do not add up: after hundreds of them a smooth grid would be a random one. */
static void apply_swaps(const kerf_timing_inputs *inputs, kerf_timing_set *set, uint64_t step, bool undo) {
    const kerf_problem *const problem = &inputs->problem;
    for (int i = 0; i < problem->n_in && step > 0; ++i)
        for (int k = 0; may_change(problem, i) && steers(problem, i) && k < CHANGES_PER_STEP; ++k) {
            const int number = i * CHANGES_PER_STEP + (undo ? CHANGES_PER_STEP - 1 - k : k);
            kerf_rng rng = kerf_rng_seeded(~inputs->seed + (uint64_t)number, step);
            swap_elements(problem->in[i], set->block[i].data, &rng);
        }
}

/* The Gray code's elements for this number; twice is none. */
static void apply_gray(kerf_timing_set *set, uint32_t number) {
    for (uint32_t bits = number ^ number >> 1; bits; bits &= bits - 1)
        kerf_timing_flip_once(&set->flip[__builtin_ctz(bits)]);
}

void kerf_timing_set_begin(kerf_timing_set *set, uint32_t calls) {
    apply_gray(set, set->ahead);
    set->ahead = calls - 1;
    apply_gray(set, set->ahead);
}

int kerf_timing_inputs_go_to(kerf_timing_inputs *inputs, uint64_t step) {
    const int at = (int)(step % (uint64_t)inputs->n_sets);
    kerf_timing_set *const set = &inputs->set[at];
    kerf_timing_set_begin(set, 1); /* what a call that failed has left */
    if (set->step == step)
        return at;
    apply_swaps(inputs, set, set->step, true);
    for (; set->step < step; ++set->step)
        apply_flips(inputs, set, set->step);
    for (; set->step > step; --set->step)
        apply_flips(inputs, set, set->step - 1);
    apply_swaps(inputs, set, step, false);
    return at;
}

/* ---- open and close --------------------------------------------------------------------------------------------- */

static kerf_status open_sets(const kerf_case *c, kerf_rng *offsets, kerf_timing_inputs *inputs, kerf_error *error) {
    const kerf_problem *const problem = &inputs->problem;
    for (int s = 0; s < inputs->n_sets; ++s)
        KERF_TRY(set_map(problem, offsets, &inputs->set[s], error));
    void *in[KERF_MAX_OPERANDS];
    for (int i = 0; i < problem->n_in; ++i)
        in[i] = inputs->set[0].block[i].data;
    kerf_rng rng = kerf_rng_seeded(c->seed, 0);
    c->op->fill(problem, &rng, in);
    for (int s = 0; s < inputs->n_sets; ++s) {
        for (int i = 0; i < problem->n_in && s > 0; ++i) {
            kerf_extent extent;
            KERF_TRY(kerf_extent_of(problem->in[i], &extent, error));
            kerf_place_copy(problem->in[i], &extent, inputs->set[s].block[i].data, in[i]);
        }
        draw_batch_flips(problem, inputs->seed, &inputs->set[s]);
    }
    return KERF_OK;
}

kerf_status kerf_timing_inputs_open(const kerf_case *c, int n_rows, kerf_rng *offsets, kerf_arena *arena,
                                    kerf_timing_inputs *inputs, kerf_error *error) {
    *inputs = (kerf_timing_inputs){.dtype = c->dtype, .seed = ~c->seed};
    KERF_TRY(c->op->describe(c, arena, &inputs->problem, error));
    kerf_status status = count_sets(&inputs->problem, n_rows, &inputs->n_sets, error);
    if (status == KERF_OK)
        status = open_sets(c, offsets, inputs, error);
    if (status != KERF_OK)
        kerf_timing_inputs_close(inputs);
    return status;
}

void kerf_timing_inputs_close(kerf_timing_inputs *inputs) {
    for (int s = 0; s < KERF_TIMING_SETS; ++s)
        for (int i = 0; i < KERF_MAX_OPERANDS; ++i)
            kerf_timing_block_unmap(&inputs->set[s].block[i]);
}
