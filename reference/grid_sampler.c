/* The oracle of grid_sampler: hull of the legal exact answers and slack for rounding, per element. What both are, and
 * why, is in docs/verification.md. Plain loops, wide sums, nothing shared with a variant. */
#include "kernels/grid_sampler/grid_sampler.h"
#include "reference/grid_sampling.h"

extern const kerf_sampling_half kerf_gs_real32, kerf_gs_real64;

kerf_status kerf_oracle_grid_sampler(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                     const kerf_team *team, kerf_arena *arena, kerf_error *error);

kerf_status kerf_oracle_grid_sampler(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                     const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    kerf_sampling_call call;
    KERF_TRY(kerf_sampling_begin(&call, problem, KERF_GS_X, KERF_GS_GRID, in, out, team, arena, error));
    return kerf_sampling_run(&call, call.dtype == KERF_F64 ? &kerf_gs_real64 : &kerf_gs_real32, arena, error);
}
