/* The oracle of grid_sampler_grad: hull of the legal exact answers and slack for rounding, per element. What both are,
 * and why, is in docs/verification.md. Plain loops, wide sums, nothing shared with a variant. */
#include "reference/grid_sampler_grad.h"

#include "base/checked.h"
#include <float.h>

kerf_status kerf_oracle_grid_sampler_grad(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                          const kerf_team *team, kerf_arena *arena, kerf_error *error);

/* Sums of a block of planes that one rank keeps in its caches, roughly. */
static const int64_t block_bytes = INT64_C(16) << 20;

static kerf_gsg_type type_of(kerf_dtype dtype) {
    kerf_gsg_type type = {kerf_dtype_unit_roundoff(dtype), kerf_dtype_tiniest(dtype), FLT_MAX, FLT_MANT_DIG, -149};
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

static kerf_status out_of_arena(const kerf_arena *arena, size_t bytes, kerf_error *error) {
    return kerf_fail(
        error, KERF_ERROR_MEMORY,
        "the oracle of grid_sampler_grad needs %zu more bytes, the arena has %zu left: give it a larger one", bytes,
        arena->size - arena->used);
}

static kerf_status expect_bounds(const kerf_problem *problem, int output, kerf_expect *expect, kerf_gsg_bounds *bounds,
                                 kerf_arena *arena, kerf_error *error) {
    *expect = (kerf_expect){.kind = KERF_EXPECT_NOTHING};
    if (!(problem->want >> output & 1))
        return KERF_OK;
    int64_t n = 0;
    size_t bytes = 0;
    if (!kerf_strided_count(&problem->out[output]->at, &n) || !kerf_mul_size((size_t)n, 3 * sizeof(double), &bytes))
        return out_of_arena(arena, SIZE_MAX, error);
    /* One element more, so that an empty output has an address too. */
    double *const all = kerf_arena_alloc(arena, bytes + sizeof(double), _Alignof(double));
    if (!all)
        return out_of_arena(arena, bytes, error);
    *bounds = (kerf_gsg_bounds){all, all + n, all + 2 * n};
    *expect = (kerf_expect){
        .kind = KERF_EXPECT_BOUND, .n_elements = n, .lo = bounds->lo, .hi = bounds->hi, .slack = bounds->slack};
    return KERF_OK;
}

/* Blocks as large as the caches like, and at least one for each rank where there are planes enough. */
static int64_t block_planes_of(const kerf_gsg_call *call, size_t element_bytes) {
    const int64_t fit = block_bytes / (int64_t)element_bytes / call->h / call->w;
    const int64_t ranks = kerf_team_size(call->team);
    const int64_t share = call->n < ranks ? call->c * call->n / ranks + 1 : call->c;
    const int64_t planes = fit < share ? fit : share;
    return planes > 1 ? planes : 1;
}

kerf_status kerf_oracle_grid_sampler_grad(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                          const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    const int64_t *const x = problem->in[KERF_GSG_X]->at.dims, *const grid = problem->in[KERF_GSG_GRID]->at.dims;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const kerf_dtype dtype = problem->in[KERF_GSG_X]->dtype;
    const kerf_dtype working = dtype == KERF_F64 ? KERF_F64 : KERF_F32;
    kerf_gsg_call call = {
        .problem = problem,
        .modes = modes,
        .dtype = dtype,
        .in = in,
        .n = x[0],
        .c = x[1],
        .h = x[2],
        .w = x[3],
        .ho = grid[1],
        .wo = grid[2],
        .working = type_of(working),
        .sum = type_of(modes->accumulate == KERF_ACCUMULATE_STORAGE ? dtype : working),
        .team = team,
    };
    const kerf_gsg_half *const half = dtype == KERF_F64 ? &kerf_gsg_real64 : &kerf_gsg_real32;
    KERF_TRY(expect_bounds(problem, KERF_GSG_DX, &out[KERF_GSG_DX], &call.dx, arena, error));
    KERF_TRY(expect_bounds(problem, KERF_GSG_DGRID, &out[KERF_GSG_DGRID], &call.dgrid, arena, error));
    call.block_planes = block_planes_of(&call, half->plane_element_bytes);
    const size_t used = arena->used;
    size_t all = 0;
    if (!half->scratch_bytes(&call, &call.scratch_bytes) ||
        !kerf_mul_size(call.scratch_bytes, (size_t)kerf_team_size(team), &all))
        return out_of_arena(arena, SIZE_MAX, error);
    call.scratch = kerf_arena_alloc(arena, all, 64);
    if (!call.scratch)
        return out_of_arena(arena, all, error);
    half->run(&call);
    kerf_arena_rewind(arena, used);
    return KERF_OK;
}
