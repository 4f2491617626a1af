/* The scalar baseline: what a sample needs is computed once per sample, and elements are reached by adding strides to
 * running offsets.
 *
 * A sample becomes a short list of offsets and weights, the outer product of the taps of its two axes; then each
 * channel is a sum over that list. A rank owns a run of samples. Cost: per sample one search for taps, then a
 * multiplication and an addition per tap and channel. */
#include "kernels/variants/grid_sampling/strided.h"
#include "kernels/grid_sampler/grid_sampler.h"

typedef struct sample_job {
    const kerf_launch *launch;
    const kerf_grid_sampler_modes *modes;
    kerf_dtype dtype;
    kerf_axis axis_x, axis_y;
    int64_t n_samples, n_channels, out_height, out_width;
    strides x, grid, y;
} sample_job;

INLINE void sum_taps(kerf_dtype dtype, const sample_job *job, int64_t x, int64_t y, const int64_t *offset,
                     const kerf_real *weight, int n_taps) {
    for (int64_t c = 0; c < job->n_channels; ++c) {
        kerf_real sum = 0;
        for (int k = 0; k < n_taps; ++k)
            sum += weight[k] * kerf_real_load(dtype, job->launch->in[KERF_GS_X], x + offset[k]);
        kerf_real_store(dtype, job->launch->out[KERF_GS_Y], y, sum);
        x += job->x.c;
        y += job->y.c;
    }
}

INLINE void take_sample(kerf_dtype dtype, const sample_job *job, int64_t point, int64_t image, int64_t target) {
    const void *const grid = job->launch->in[KERF_GS_GRID];
    kerf_axis_taps x, y;
    int64_t offset[MAX_TAPS];
    kerf_real weight[MAX_TAPS];
    const bool kept = kerf_axis_find(&job->axis_x, job->modes, kerf_real_load(dtype, grid, point), &x) &&
                      kerf_axis_find(&job->axis_y, job->modes, kerf_real_load(dtype, grid, point + job->grid.c), &y);
    const int n_taps = kept ? x.n * y.n : 0;
    if (kept)
        list_offsets(&x, &y, &job->x, offset);
    for (int j = 0; kept && j < y.n; ++j)
        for (int i = 0; i < x.n; ++i)
            weight[j * x.n + i] = y.weight[j] * x.weight[i];
    /* The usual numbers of taps are constants to the channel loop: all of nearest, bilinear and bicubic. */
    if (n_taps == 1)
        sum_taps(dtype, job, image, target, offset, weight, 1);
    else if (n_taps == 4)
        sum_taps(dtype, job, image, target, offset, weight, 4);
    else if (n_taps == MAX_TAPS)
        sum_taps(dtype, job, image, target, offset, weight, MAX_TAPS);
    else
        sum_taps(dtype, job, image, target, offset, weight, n_taps);
}

/* Part of a row of samples: ox in [begin, end). */
INLINE void take_row(kerf_dtype dtype, const sample_job *job, int64_t n, int64_t oy, int64_t begin, int64_t end) {
    int64_t point = n * job->grid.n + oy * job->grid.y + begin * job->grid.x;
    int64_t target = n * job->y.n + oy * job->y.y + begin * job->y.x;
    for (int64_t ox = begin; ox < end; ++ox) {
        take_sample(dtype, job, point, n * job->x.n, target);
        point += job->grid.x;
        target += job->y.x;
    }
}

static void take_samples(void *arg, int rank) {
    const sample_job *const job = arg;
    int64_t sample, end;
    kerf_team_share(job->n_samples, kerf_team_size(job->launch->team), rank, &sample, &end);
    while (sample < end) {
        const int64_t row = sample / job->out_width, begin = sample % job->out_width;
        const int64_t rest = job->out_width - begin, n = rest < end - sample ? rest : end - sample;
        FOR_DTYPE(job->dtype, take_row, job, row / job->out_height, row % job->out_height, begin, begin + n);
        sample += n;
    }
}

static kerf_status run(const kerf_launch *launch) {
    const kerf_problem *const problem = launch->problem;
    const kerf_strided *const x = &problem->in[KERF_GS_X]->at, *const grid = &problem->in[KERF_GS_GRID]->at;
    sample_job job = {.launch = launch, .modes = problem->self, .dtype = problem->in[KERF_GS_X]->dtype};
    int64_t n_elements;
    if (!launch->out[KERF_GS_Y] || !kerf_strided_count(&problem->out[KERF_GS_Y]->at, &n_elements) || n_elements == 0)
        return KERF_OK;
    job.axis_y = kerf_axis_of(x->dims[2], job.modes->corners);
    job.axis_x = kerf_axis_of(x->dims[3], job.modes->corners);
    job.n_channels = x->dims[1];
    job.out_height = grid->dims[1];
    job.out_width = grid->dims[2];
    job.n_samples = grid->dims[0] * job.out_height * job.out_width;
    job.x = taken_strides(x, 0, 1, 2, 3);
    job.grid = taken_strides(grid, 0, 3, 1, 2);
    job.y = taken_strides(&problem->out[KERF_GS_Y]->at, 0, 1, 2, 3);
    kerf_team_run(launch->team, take_samples, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "scalar, one list of taps per sample, running offsets over the channels",
    .run = run,
};
