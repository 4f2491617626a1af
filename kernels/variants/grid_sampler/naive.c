/* The formulas of grid_sampler.h as plain loops, the one to read first and to hold the others against.
 *
 * One element of y after the other, in the order (n, c, oy, ox); its taps are found anew for every channel. Cost: N C
 * Ho Wo samples of 1, 4 or 16 taps, an index computation per element. */
#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/grid_sampling_coordinate.h"

typedef struct sample_job {
    const kerf_launch *launch;
    const kerf_grid_sampler_modes *modes;
    const kerf_operand *x, *grid, *y;
    kerf_axis axis_x, axis_y;
} sample_job;

static int64_t offset_of(const kerf_operand *operand, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    const int64_t *const stride = operand->at.strides;
    return i0 * stride[0] + i1 * stride[1] + i2 * stride[2] + i3 * stride[3];
}

static kerf_real sample(const sample_job *job, int64_t n, int64_t c, int64_t oy, int64_t ox) {
    const void *const grid = job->launch->in[KERF_GS_GRID], *const x = job->launch->in[KERF_GS_X];
    const kerf_dtype dtype = job->x->dtype;
    const kerf_real gx = kerf_real_load(dtype, grid, offset_of(job->grid, n, oy, ox, 0));
    const kerf_real gy = kerf_real_load(dtype, grid, offset_of(job->grid, n, oy, ox, 1));
    kerf_axis_taps taps_x, taps_y;
    kerf_real sum = 0;
    if (!kerf_axis_find(&job->axis_x, job->modes, gx, &taps_x) ||
        !kerf_axis_find(&job->axis_y, job->modes, gy, &taps_y))
        return 0;
    for (int j = 0; j < taps_y.n; ++j)
        for (int i = 0; i < taps_x.n; ++i)
            sum += taps_y.weight[j] * taps_x.weight[i] *
                   kerf_real_load(dtype, x, offset_of(job->x, n, c, taps_y.index[j], taps_x.index[i]));
    return sum;
}

static void sample_rows(void *arg, int rank) {
    const sample_job *const job = arg;
    const int64_t *const dims = job->y->at.dims;
    int64_t row, end;
    kerf_team_share(dims[0] * dims[1] * dims[2], kerf_team_size(job->launch->team), rank, &row, &end);
    for (; row < end; ++row) {
        const int64_t n = row / dims[2] / dims[1], c = row / dims[2] % dims[1], oy = row % dims[2];
        for (int64_t ox = 0; ox < dims[3]; ++ox)
            kerf_real_store(job->y->dtype, job->launch->out[KERF_GS_Y], offset_of(job->y, n, c, oy, ox),
                            sample(job, n, c, oy, ox));
    }
}

static kerf_status run(const kerf_launch *launch) {
    const kerf_problem *const problem = launch->problem;
    sample_job job = {.launch = launch, .modes = problem->self, .x = problem->in[KERF_GS_X]};
    job.grid = problem->in[KERF_GS_GRID];
    job.y = problem->out[KERF_GS_Y];
    job.axis_y = kerf_axis_of(job.x->at.dims[2], job.modes->corners);
    job.axis_x = kerf_axis_of(job.x->at.dims[3], job.modes->corners);
    int64_t n_elements;
    if (launch->out[KERF_GS_Y] && kerf_strided_count(&job.y->at, &n_elements) && n_elements > 0)
        kerf_team_run(launch->team, sample_rows, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "plain loops, one element of y after the other",
    .run = run,
};
