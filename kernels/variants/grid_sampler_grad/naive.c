/* The formulas of grid_sampler_grad.h as plain loops, the one to read first and to hold the others against.
 *
 * dx: one (n, c) plane after the other, each sample scatters its taps into the plane; the taps are found anew for every
 * plane. dgrid: one sample after the other, summed over channels and taps. No two ranks write to one element, and each
 * element is summed in one order whatever the number of ranks. f16 and bf16 planes are summed in float in the scratch.
 * Cost: N C Ho Wo samples for dx and N Ho Wo for dgrid, 4 or 16 taps each, an index computation per element. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/grid_sampler_grad/wide_sums.h"
#include "kernels/grid_sampling_coordinate.h"

typedef struct grad_job {
    const kerf_launch *launch;
    const kerf_grid_sampler_modes *modes;
    const kerf_operand *grad, *x, *grid, *dx, *dgrid;
    kerf_axis axis_x, axis_y;
    kerf_dtype dtype;
    kerf_operand sums; /* where dx is summed: dx itself, or packed in the scratch */
    void *sums_data;
} grad_job;

static int64_t offset_of(const kerf_operand *operand, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    const int64_t *const stride = operand->at.strides;
    return i0 * stride[0] + i1 * stride[1] + i2 * stride[2] + i3 * stride[3];
}

static bool find_taps(const grad_job *job, int64_t n, int64_t oy, int64_t ox, kerf_axis_taps *taps_x,
                      kerf_axis_taps *taps_y) {
    const void *const grid = job->launch->in[KERF_GSG_GRID];
    const kerf_real gx = kerf_real_load(job->dtype, grid, offset_of(job->grid, n, oy, ox, 0));
    const kerf_real gy = kerf_real_load(job->dtype, grid, offset_of(job->grid, n, oy, ox, 1));
    return kerf_axis_find(&job->axis_x, job->modes, gx, taps_x) && kerf_axis_find(&job->axis_y, job->modes, gy, taps_y);
}

static void clear_plane(const grad_job *job, int64_t n, int64_t c) {
    for (int64_t y = 0; y < job->axis_y.extent; ++y)
        for (int64_t x = 0; x < job->axis_x.extent; ++x)
            ((kerf_real *)job->sums_data)[offset_of(&job->sums, n, c, y, x)] = 0;
}

static void scatter_sample(const grad_job *job, int64_t n, int64_t c, int64_t oy, int64_t ox) {
    kerf_axis_taps taps_x, taps_y;
    if (!find_taps(job, n, oy, ox, &taps_x, &taps_y))
        return;
    const int64_t at = offset_of(job->grad, n, c, oy, ox);
    const kerf_real grad = kerf_real_load(job->dtype, job->launch->in[KERF_GSG_GRAD], at);
    kerf_real *const sums = job->sums_data;
    for (int j = 0; j < taps_y.n; ++j)
        for (int i = 0; i < taps_x.n; ++i)
            sums[offset_of(&job->sums, n, c, taps_y.index[j], taps_x.index[i])] +=
                taps_y.weight[j] * taps_x.weight[i] * grad;
}

static void store_plane(const grad_job *job, int64_t n, int64_t c) {
    for (int64_t y = 0; y < job->axis_y.extent; ++y)
        for (int64_t x = 0; x < job->axis_x.extent; ++x)
            kerf_real_store(job->dtype, job->launch->out[KERF_GSG_DX], offset_of(job->dx, n, c, y, x),
                            ((const kerf_real *)job->sums_data)[offset_of(&job->sums, n, c, y, x)]);
}

static void dx_planes(void *arg, int rank) {
    const grad_job *const job = arg;
    const int64_t n_channels = job->dx->at.dims[1];
    int64_t plane, end;
    kerf_team_share(job->dx->at.dims[0] * n_channels, kerf_team_size(job->launch->team), rank, &plane, &end);
    for (; plane < end; ++plane) {
        const int64_t n = plane / n_channels, c = plane % n_channels;
        clear_plane(job, n, c);
        for (int64_t oy = 0; oy < job->grid->at.dims[1]; ++oy)
            for (int64_t ox = 0; ox < job->grid->at.dims[2]; ++ox)
                scatter_sample(job, n, c, oy, ox);
        if (job->sums_data != job->launch->out[KERF_GSG_DX])
            store_plane(job, n, c);
    }
}

static void dgrid_sample(const grad_job *job, int64_t n, int64_t oy, int64_t ox, kerf_real result[2]) {
    kerf_axis_taps taps_x, taps_y;
    result[0] = result[1] = 0;
    /* Nearest has no slope: 0 even where x or grad is not finite. */
    if (job->modes->interpolation == KERF_NEAREST || !find_taps(job, n, oy, ox, &taps_x, &taps_y))
        return;
    kerf_real sum_x = 0, sum_y = 0;
    for (int64_t c = 0; c < job->x->at.dims[1]; ++c) {
        const int64_t at = offset_of(job->grad, n, c, oy, ox);
        const kerf_real grad = kerf_real_load(job->dtype, job->launch->in[KERF_GSG_GRAD], at);
        for (int j = 0; j < taps_y.n; ++j)
            for (int i = 0; i < taps_x.n; ++i) {
                const int64_t pixel = offset_of(job->x, n, c, taps_y.index[j], taps_x.index[i]);
                const kerf_real product = grad * kerf_real_load(job->dtype, job->launch->in[KERF_GSG_X], pixel);
                sum_x += product * (taps_y.weight[j] * taps_x.slope[i]);
                sum_y += product * (taps_y.slope[j] * taps_x.weight[i]);
            }
    }
    result[0] = taps_x.factor * sum_x;
    result[1] = taps_y.factor * sum_y;
}

static void dgrid_samples(void *arg, int rank) {
    const grad_job *const job = arg;
    const int64_t height = job->grid->at.dims[1], width = job->grid->at.dims[2];
    int64_t n_values, sample, end;
    kerf_strided_count(&job->grid->at, &n_values);
    kerf_team_share(n_values / 2, kerf_team_size(job->launch->team), rank, &sample, &end);
    for (; sample < end; ++sample) {
        const int64_t n = sample / (height * width), oy = sample / width % height, ox = sample % width;
        kerf_real result[2];
        dgrid_sample(job, n, oy, ox, result);
        for (int k = 0; k < 2; ++k)
            kerf_real_store(job->dtype, job->launch->out[KERF_GSG_DGRID], offset_of(job->dgrid, n, oy, ox, k),
                            result[k]);
    }
}

static kerf_status run(const kerf_launch *launch) {
    const kerf_problem *const problem = launch->problem;
    const kerf_operand *const x = problem->in[KERF_GSG_X];
    grad_job job = {.launch = launch, .modes = problem->self, .dtype = x->dtype, .x = x};
    job.grad = problem->in[KERF_GSG_GRAD];
    job.grid = problem->in[KERF_GSG_GRID];
    job.dx = problem->out[KERF_GSG_DX];
    job.dgrid = problem->out[KERF_GSG_DGRID];
    job.axis_y = kerf_axis_of(x->at.dims[2], job.modes->corners);
    job.axis_x = kerf_axis_of(x->at.dims[3], job.modes->corners);
    if (launch->out[KERF_GSG_DX]) {
        job.sums = *job.dx;
        job.sums_data = launch->out[KERF_GSG_DX];
        if (!kerf_sums_in_place(job.dtype)) {
            kerf_strided_pack(&job.sums.at);
            job.sums_data = launch->scratch;
        }
        kerf_team_run(launch->team, dx_planes, &job);
    }
    if (launch->out[KERF_GSG_DGRID])
        kerf_team_run(launch->team, dgrid_samples, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "plain loops, one plane and one sample after the other",
    .memory = kerf_wide_sums_memory,
    .run = run,
};
