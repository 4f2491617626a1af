/* What the oracles of grid_sampler and grid_sampler_grad share: the call, and the numbers of its types. Each has two
 * halves, one per working type. The rules are derived in docs/verification.md. Used inside reference/ only. */
#ifndef KERF_REFERENCE_GRID_SAMPLING_H
#define KERF_REFERENCE_GRID_SAMPLING_H

#include "kernels/grid_sampling.h"
#include "kernels/registry.h"

/* `working` is the type of coordinates, weights and products; `sum` the type in which terms are added, which differs
 * under accumulate=storage only. */
typedef struct kerf_sampling_type {
    double roundoff, tiniest, largest;
    int digits;       /* integers up to 2^digits are exact */
    int lowest_power; /* tiniest is 2^lowest_power */
} kerf_sampling_type;

typedef struct kerf_sampling_bounds {
    double *lo, *hi, *slack; /* NULL where the output is not wanted */
} kerf_sampling_bounds;

typedef struct kerf_sampling_call {
    const kerf_problem *problem;
    const kerf_grid_sampler_modes *modes;
    kerf_dtype dtype;
    const void *const *in;
    int grid; /* which input holds the points */
    int64_t n, c, h, w, ho, wo;
    kerf_sampling_type working, sum;
    kerf_sampling_bounds out[KERF_SAMPLING_MOST_OUT];
    const kerf_team *team;
    int64_t block_planes; /* grid_sampler_grad: planes of dx that one rank holds at a time */
    unsigned char *scratch;
    size_t scratch_bytes; /* of each rank */
} kerf_sampling_call;

/* One half per working type. scratch_bytes: what one rank needs, given everything of the call but the scratch; false
 * when the size overflows. run: fills the bounds of the wanted outputs. */
typedef struct kerf_sampling_half {
    bool (*scratch_bytes)(const kerf_sampling_call *, size_t *bytes);
    void (*run)(const kerf_sampling_call *);
    size_t plane_element_bytes; /* grid_sampler_grad: scratch per element of a plane of dx */
} kerf_sampling_half;

/* `x` and `grid` say which inputs these are. Room for the bounds of the wanted outputs is taken from the arena. */
kerf_status kerf_sampling_begin(kerf_sampling_call *call, const kerf_problem *problem, int x, int grid,
                                const void *const in[], kerf_expect out[], const kerf_team *team, kerf_arena *arena,
                                kerf_error *error);
/* Runs one half in scratch from the arena, which it gets back. */
kerf_status kerf_sampling_run(kerf_sampling_call *call, const kerf_sampling_half *half, kerf_arena *arena,
                              kerf_error *error);

/* The exponent of the largest power of two that divides `value`; zero is divided by all. */
#define KERF_SAMPLING_POWER_OF_ZERO (1 << 20)
static inline int kerf_sampling_power(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t significand = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent > 0)
        significand |= UINT64_C(1) << 52;
    if (significand == 0)
        return KERF_SAMPLING_POWER_OF_ZERO;
    return (exponent > 0 ? exponent : 1) - 1075 + __builtin_ctzll(significand);
}

static inline double kerf_sampling_load(const kerf_sampling_call *call, int input, int64_t offset) {
    const void *const data = call->in[input];
    switch (call->dtype) {
    case KERF_F16:
        return kerf_f16_to_f32(((const uint16_t *)data)[offset]);
    case KERF_BF16:
        return kerf_bf16_to_f32(((const uint16_t *)data)[offset]);
    case KERF_F32:
        return ((const float *)data)[offset];
    default:
        return ((const double *)data)[offset];
    }
}

/* Offset of an element of a rank-4 input. */
static inline int64_t kerf_sampling_at(const kerf_sampling_call *call, int input, int64_t i0, int64_t i1, int64_t i2,
                                       int64_t i3) {
    const int64_t *const stride = call->problem->in[input]->at.strides;
    return i0 * stride[0] + i1 * stride[1] + i2 * stride[2] + i3 * stride[3];
}

#endif
