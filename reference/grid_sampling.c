/* The frame of both oracles: numbers of the types, room for bounds and scratch. */
#include "reference/grid_sampling.h"

#include "base/checked.h"
#include <float.h>

static kerf_sampling_type type_of(kerf_dtype dtype) {
    kerf_sampling_type type = {kerf_dtype_unit_roundoff(dtype), kerf_dtype_tiniest(dtype), FLT_MAX, FLT_MANT_DIG, -149};
    if (dtype == KERF_F64) {
        type.largest = DBL_MAX;
        type.digits = DBL_MANT_DIG;
        type.lowest_power = -1074;
    } else if (dtype == KERF_F16) {
        type.largest = 65504;
        type.digits = 11;
        type.lowest_power = -24;
    } else if (dtype == KERF_BF16) {
        type.largest = 0x1.fep127;
        type.digits = 8;
        type.lowest_power = -133;
    }
    return type;
}

static kerf_status out_of_arena(const kerf_problem *problem, const kerf_arena *arena, size_t bytes, kerf_error *error) {
    return kerf_fail(error, KERF_ERROR_MEMORY,
                     "the oracle of %s needs %zu more bytes, the arena has %zu left: give it a larger one",
                     problem->op->name, bytes, arena->size - arena->used);
}

static kerf_status expect_bounds(const kerf_problem *problem, int output, kerf_expect *expect,
                                 kerf_sampling_bounds *bounds, kerf_arena *arena, kerf_error *error) {
    *expect = (kerf_expect){.kind = KERF_EXPECT_NOTHING};
    if (!(problem->want >> output & 1))
        return KERF_OK;
    int64_t n = 0;
    size_t bytes = 0;
    if (!kerf_strided_count(&problem->out[output]->at, &n) || !kerf_mul_size((size_t)n, 3 * sizeof(double), &bytes))
        return out_of_arena(problem, arena, SIZE_MAX, error);
    /* One element more, so that an empty output has an address too. */
    double *const all = kerf_arena_alloc(arena, bytes + sizeof(double), _Alignof(double));
    if (!all)
        return out_of_arena(problem, arena, bytes, error);
    *bounds = (kerf_sampling_bounds){all, all + n, all + 2 * n};
    *expect = (kerf_expect){
        .kind = KERF_EXPECT_BOUND, .n_elements = n, .lo = bounds->lo, .hi = bounds->hi, .slack = bounds->slack};
    return KERF_OK;
}

kerf_status kerf_sampling_begin(kerf_sampling_call *call, const kerf_problem *problem, int x, int grid,
                                const void *const in[], kerf_expect out[], const kerf_team *team, kerf_arena *arena,
                                kerf_error *error) {
    const int64_t *const image = problem->in[x]->at.dims, *const points = problem->in[grid]->at.dims;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const kerf_dtype dtype = problem->in[x]->dtype, working = dtype == KERF_F64 ? KERF_F64 : KERF_F32;
    *call = (kerf_sampling_call){
        .problem = problem,
        .modes = modes,
        .dtype = dtype,
        .in = in,
        .grid = grid,
        .n = image[0],
        .c = image[1],
        .h = image[2],
        .w = image[3],
        .ho = points[1],
        .wo = points[2],
        .working = type_of(working),
        .sum = type_of(modes->accumulate == KERF_ACCUMULATE_STORAGE ? dtype : working),
        .team = team,
    };
    for (int i = 0; i < problem->n_out; ++i)
        KERF_TRY(expect_bounds(problem, i, &out[i], &call->out[i], arena, error));
    return KERF_OK;
}

kerf_status kerf_sampling_run(kerf_sampling_call *call, const kerf_sampling_half *half, kerf_arena *arena,
                              kerf_error *error) {
    const size_t used = arena->used;
    size_t all = 0;
    if (!half->scratch_bytes(call, &call->scratch_bytes) ||
        !kerf_mul_size(call->scratch_bytes, (size_t)kerf_team_size(call->team), &all))
        return out_of_arena(call->problem, arena, SIZE_MAX, error);
    call->scratch = kerf_arena_alloc(arena, all, 64);
    if (!call->scratch)
        return out_of_arena(call->problem, arena, all, error);
    half->run(call);
    kerf_arena_rewind(arena, used);
    return KERF_OK;
}
