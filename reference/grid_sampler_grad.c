/* The oracle of grid_sampler_grad: hull of the legal exact answers and slack for rounding, per element. What both are,
 * and why, is in docs/verification.md. Plain loops, wide sums, nothing shared with a variant. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "reference/grid_sampling.h"

extern const kerf_sampling_half kerf_gsg_real32, kerf_gsg_real64;

kerf_status kerf_oracle_grid_sampler_grad(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                          const kerf_team *team, kerf_arena *arena, kerf_error *error);

/* Sums of a block of planes that one rank keeps in its caches, roughly. */
static const int64_t block_bytes = INT64_C(16) << 20;

/* Blocks as large as the caches like, and at least one for each rank where there are planes enough. */
static int64_t block_planes_of(const kerf_sampling_call *call, size_t element_bytes) {
    const int64_t fit = block_bytes / (int64_t)element_bytes / call->h / call->w;
    const int64_t ranks = kerf_team_size(call->team);
    const int64_t share = call->n < ranks ? call->c * call->n / ranks + 1 : call->c;
    const int64_t planes = fit < share ? fit : share;
    return planes > 1 ? planes : 1;
}

kerf_status kerf_oracle_grid_sampler_grad(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                          const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    kerf_sampling_call call;
    KERF_TRY(kerf_sampling_begin(&call, problem, KERF_GSG_X, KERF_GSG_GRID, in, out, team, arena, error));
    const kerf_sampling_half *const half = call.dtype == KERF_F64 ? &kerf_gsg_real64 : &kerf_gsg_real32;
    call.block_planes = block_planes_of(&call, half->plane_element_bytes);
    return kerf_sampling_run(&call, half, arena, error);
}
