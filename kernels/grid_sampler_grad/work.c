/* Lower bounds of work: dx needs grad, dgrid grad and image. */
#include "kernels/grid_sampler_grad/op.h"
#include "kernels/grid_sampling_work.h"

#include <math.h>

/* A multiplication and an addition per tap and channel for each output; nearest only adds. What lies in memory once can
 * be summed before: channels of grad or x for all taps, samples of grad or grid for all that share one. */
static double least_flops(const kerf_problem *problem, const kerf_sampling_counts *counts) {
    const kerf_strided *const grad = &problem->in[KERF_GSG_GRAD]->at, *const x = &problem->in[KERF_GSG_X]->at;
    const kerf_strided *const grid = &problem->in[KERF_GSG_GRID]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const double per_tap = modes->interpolation == KERF_NEAREST ? 1 : 2, n_channels = (double)x->dims[1];
    const double scattered = counts->taps_weighted * (grad->strides[1] ? n_channels : 1);
    const bool is_flat = x->strides[2] == 0 || x->strides[3] == 0;
    const double gathered = is_flat ? 0 : counts->taps_sloped * (grad->strides[1] && x->strides[1] ? n_channels : 1);
    return per_tap * (scattered + gathered) / (kerf_sampling_sharing(grad, 1) * kerf_sampling_sharing(grid, 3));
}

kerf_work kerf_gsg_work(const kerf_problem *problem, const void *const in[]) {
    const kerf_strided *const grad = &problem->in[KERF_GSG_GRAD]->at, *const x = &problem->in[KERF_GSG_X]->at;
    const kerf_strided *const grid = &problem->in[KERF_GSG_GRID]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const double bytes = (double)kerf_dtype_bytes(problem->in[KERF_GSG_X]->dtype), n_channels = (double)x->dims[1];
    kerf_work work = {0};
    for (int i = 0; i < problem->n_out; ++i)
        if (problem->want >> i & 1)
            work.written_bytes += bytes * kerf_sampling_unique(&problem->out[i]->at);
    const uint64_t sloped = modes->interpolation == KERF_NEAREST ? 0 : UINT64_C(1) << KERF_GSG_DGRID;
    const bool needs_grid = problem->want & (UINT64_C(1) << KERF_GSG_DX | sloped);
    if (n_channels == 0 || !needs_grid)
        return work;
    const unsigned what = (problem->want >> KERF_GSG_DX & 1 ? KERF_COUNT_WEIGHTS : 0u) |
                          (problem->want & sloped ? KERF_COUNT_SLOPES : 0u);
    const kerf_sampling_counts counts =
        kerf_sampling_count(problem->in[KERF_GSG_X], problem->in[KERF_GSG_GRID], in[KERF_GSG_GRID], modes, what);
    work.read_bytes =
        bytes * (ceil(counts.coordinates / kerf_sampling_sharing(grid, -1)) +
                 ceil(counts.samples / kerf_sampling_sharing(grad, 1)) * (grad->strides[1] ? n_channels : 1) +
                 counts.pixels * (x->strides[1] ? n_channels : 1));
    work.flops = least_flops(problem, &counts);
    return work;
}
