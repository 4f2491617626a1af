/* The scalar baseline: what a sample needs is computed once per sample, and elements are reached by adding strides to
 * running offsets.
 *
 * A sample becomes a short list of offsets and weights, the outer product of the taps of its two axes. dx: a rank owns
 * a run of (n, c) planes; for each image in it, each sample adds its taps to all of the rank's channels. dgrid: a rank
 * owns a run of samples; each tap keeps its own dot product of x and grad over the channels, which serves both axes. No
 * element is written by two ranks, and each is summed in one order whatever their number. f16 and bf16 dx is summed in
 * float in the scratch, laid out (N, H, W, C). Cost: per sample one search for taps for dgrid and one per rank for dx,
 * then a multiplication and an addition per tap and channel for each of the two. */
#include "kernels/variants/grid_sampling/strided.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/grid_sampler_grad/wide_sums.h"

typedef struct grad_job {
    const kerf_launch *launch;
    const kerf_grid_sampler_modes *modes;
    kerf_dtype dtype;
    kerf_axis axis_x, axis_y;
    int64_t n_images, n_channels, out_height, out_width;
    strides grad, x, grid, dx, dgrid;
    kerf_real *sums; /* where dx is summed: dx itself or the scratch */
    strides sum;
} grad_job;

INLINE bool find_taps(kerf_dtype dtype, const grad_job *job, int64_t point, kerf_axis_taps *x, kerf_axis_taps *y) {
    const void *const grid = job->launch->in[KERF_GSG_GRID];
    return kerf_axis_find(&job->axis_x, job->modes, kerf_real_load(dtype, grid, point), x) &&
           kerf_axis_find(&job->axis_y, job->modes, kerf_real_load(dtype, grid, point + job->grid.c), y);
}

/* ---- dx -----------------------------------------------------------------------------------------------------------
 */

INLINE void add_taps(kerf_dtype dtype, const grad_job *job, int64_t grad, kerf_real *sums, int64_t n_channels,
                     const int64_t *offset, const kerf_real *weight, int n_taps) {
    for (int64_t c = 0; c < n_channels; ++c) {
        const kerf_real value = kerf_real_load(dtype, job->launch->in[KERF_GSG_GRAD], grad);
        for (int k = 0; k < n_taps; ++k)
            sums[offset[k]] += weight[k] * value;
        grad += job->grad.c;
        sums += job->sum.c;
    }
}

INLINE void scatter_sample(kerf_dtype dtype, const grad_job *job, int64_t point, int64_t grad, kerf_real *sums,
                           int64_t n_channels) {
    kerf_axis_taps x, y;
    int64_t offset[MAX_TAPS];
    kerf_real weight[MAX_TAPS];
    if (!find_taps(dtype, job, point, &x, &y))
        return;
    list_offsets(&x, &y, &job->sum, offset);
    for (int j = 0; j < y.n; ++j)
        for (int i = 0; i < x.n; ++i)
            weight[j * x.n + i] = y.weight[j] * x.weight[i];
    /* The usual numbers of taps are constants to the channel loop: all of nearest, bilinear and bicubic. */
    switch (x.n * y.n) {
    case 0:
        return;
    case 1:
        add_taps(dtype, job, grad, sums, n_channels, offset, weight, 1);
        return;
    case 4:
        add_taps(dtype, job, grad, sums, n_channels, offset, weight, 4);
        return;
    case MAX_TAPS:
        add_taps(dtype, job, grad, sums, n_channels, offset, weight, MAX_TAPS);
        return;
    default:
        add_taps(dtype, job, grad, sums, n_channels, offset, weight, x.n * y.n);
    }
}

INLINE void scatter_image(kerf_dtype dtype, const grad_job *job, int64_t n, int64_t first_channel, int64_t n_channels) {
    kerf_real *const sums = job->sums + n * job->sum.n + first_channel * job->sum.c;
    int64_t grid_row = n * job->grid.n, grad_row = n * job->grad.n + first_channel * job->grad.c;
    for (int64_t oy = 0; oy < job->out_height; ++oy) {
        int64_t point = grid_row, grad = grad_row;
        for (int64_t ox = 0; ox < job->out_width; ++ox) {
            scatter_sample(dtype, job, point, grad, sums, n_channels);
            point += job->grid.x;
            grad += job->grad.x;
        }
        grid_row += job->grid.y;
        grad_row += job->grad.y;
    }
}

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

static void clear_image(const grad_job *job, int64_t n, int64_t first_channel, int64_t n_channels) {
    const int64_t height = job->axis_y.extent, width = job->axis_x.extent;
    const strides *const step = &job->sum;
    int64_t dims[3] = {n_channels, height, width}, steps[3] = {step->c, step->y, step->x};
    if (magnitude(step->c) < magnitude(step->x)) {
        memcpy(dims, (const int64_t[]){height, width, n_channels}, sizeof dims);
        memcpy(steps, (const int64_t[]){step->y, step->x, step->c}, sizeof steps);
    }
    int64_t outer = n * step->n + first_channel * step->c;
    for (int64_t i = 0; i < dims[0]; ++i, outer += steps[0]) {
        int64_t middle = outer;
        for (int64_t j = 0; j < dims[1]; ++j, middle += steps[1]) {
            int64_t inner = middle;
            for (int64_t k = 0; k < dims[2]; ++k, inner += steps[2])
                job->sums[inner] = 0;
        }
    }
}

INLINE void store_image(kerf_dtype dtype, const grad_job *job, int64_t n, int64_t first_channel, int64_t n_channels) {
    int64_t sum_row = n * job->sum.n + first_channel * job->sum.c;
    int64_t dx_row = n * job->dx.n + first_channel * job->dx.c;
    for (int64_t iy = 0; iy < job->axis_y.extent; ++iy) {
        int64_t sum_pixel = sum_row, dx_pixel = dx_row;
        for (int64_t ix = 0; ix < job->axis_x.extent; ++ix) {
            int64_t sum = sum_pixel, dx = dx_pixel;
            for (int64_t c = 0; c < n_channels; ++c) {
                kerf_real_store(dtype, job->launch->out[KERF_GSG_DX], dx, job->sums[sum]);
                sum += job->sum.c;
                dx += job->dx.c;
            }
            sum_pixel += job->sum.x;
            dx_pixel += job->dx.x;
        }
        sum_row += job->sum.y;
        dx_row += job->dx.y;
    }
}

static void dx_planes(void *arg, int rank) {
    const grad_job *const job = arg;
    int64_t plane, end;
    kerf_team_share(job->n_images * job->n_channels, kerf_team_size(job->launch->team), rank, &plane, &end);
    while (plane < end) {
        const int64_t n = plane / job->n_channels, first = plane % job->n_channels;
        const int64_t rest = job->n_channels - first, n_channels = rest < end - plane ? rest : end - plane;
        clear_image(job, n, first, n_channels);
        FOR_DTYPE(job->dtype, scatter_image, job, n, first, n_channels);
        if (job->sums != job->launch->out[KERF_GSG_DX])
            FOR_DTYPE(job->dtype, store_image, job, n, first, n_channels);
        plane += n_channels;
    }
}

/* ---- dgrid --------------------------------------------------------------------------------------------------------
 */

/* dot[k] = sum over the channels of grad times the image at tap k. */
INLINE void dot_taps(kerf_dtype dtype, const grad_job *job, int64_t grad, int64_t x, const int64_t *offset,
                     kerf_real *dot, int n_taps) {
    kerf_real sum[MAX_TAPS] = {0};
    for (int64_t c = 0; c < job->n_channels; ++c) {
        const kerf_real value = kerf_real_load(dtype, job->launch->in[KERF_GSG_GRAD], grad);
        for (int k = 0; k < n_taps; ++k)
            sum[k] += value * kerf_real_load(dtype, job->launch->in[KERF_GSG_X], x + offset[k]);
        grad += job->grad.c;
        x += job->x.c;
    }
    memcpy(dot, sum, sizeof *dot * (size_t)n_taps);
}

INLINE void dgrid_sample(kerf_dtype dtype, const grad_job *job, int64_t point, int64_t grad, int64_t image,
                         kerf_real result[2]) {
    kerf_axis_taps x, y;
    int64_t offset[MAX_TAPS];
    kerf_real dot[MAX_TAPS];
    result[0] = result[1] = 0;
    if (job->modes->interpolation == KERF_NEAREST || !find_taps(dtype, job, point, &x, &y))
        return;
    list_offsets(&x, &y, &job->x, offset);
    if (x.n * y.n == 4)
        dot_taps(dtype, job, grad, image, offset, dot, 4);
    else if (x.n * y.n == MAX_TAPS)
        dot_taps(dtype, job, grad, image, offset, dot, MAX_TAPS);
    else
        dot_taps(dtype, job, grad, image, offset, dot, x.n * y.n);
    for (int j = 0; j < y.n; ++j) {
        kerf_real across = 0, along = 0;
        for (int i = 0; i < x.n; ++i) {
            across += x.slope[i] * dot[j * x.n + i];
            along += x.weight[i] * dot[j * x.n + i];
        }
        result[0] += y.weight[j] * across;
        result[1] += y.slope[j] * along;
    }
    result[0] *= x.factor;
    result[1] *= y.factor;
}

/* Part of a row of samples: ox in [begin, end). */
INLINE void dgrid_row(kerf_dtype dtype, const grad_job *job, int64_t n, int64_t oy, int64_t begin, int64_t end) {
    int64_t point = n * job->grid.n + oy * job->grid.y + begin * job->grid.x;
    int64_t grad = n * job->grad.n + oy * job->grad.y + begin * job->grad.x;
    int64_t target = n * job->dgrid.n + oy * job->dgrid.y + begin * job->dgrid.x;
    for (int64_t ox = begin; ox < end; ++ox) {
        kerf_real result[2];
        dgrid_sample(dtype, job, point, grad, n * job->x.n, result);
        kerf_real_store(dtype, job->launch->out[KERF_GSG_DGRID], target, result[0]);
        kerf_real_store(dtype, job->launch->out[KERF_GSG_DGRID], target + job->dgrid.c, result[1]);
        point += job->grid.x;
        grad += job->grad.x;
        target += job->dgrid.x;
    }
}

static void dgrid_samples(void *arg, int rank) {
    const grad_job *const job = arg;
    int64_t n_values, sample, end;
    kerf_strided_count(&job->launch->problem->in[KERF_GSG_GRID]->at, &n_values);
    kerf_team_share(n_values / 2, kerf_team_size(job->launch->team), rank, &sample, &end);
    while (sample < end) {
        const int64_t row = sample / job->out_width, begin = sample % job->out_width;
        const int64_t rest = job->out_width - begin, n_samples = rest < end - sample ? rest : end - sample;
        FOR_DTYPE(job->dtype, dgrid_row, job, row / job->out_height, row % job->out_height, begin, begin + n_samples);
        sample += n_samples;
    }
}

/* ---- variant ------------------------------------------------------------------------------------------------------
 */

static void run_dx(grad_job *job) {
    const kerf_strided *const at = &job->launch->problem->out[KERF_GSG_DX]->at;
    job->dx = taken_strides(at, 0, 1, 2, 3);
    job->sum = job->dx;
    job->sums = job->launch->out[KERF_GSG_DX];
    if (job->n_images == 0 || job->n_channels == 0)
        return;
    if (!kerf_sums_in_place(job->dtype)) {
        job->sums = job->launch->scratch;
        job->sum = (strides){.c = 1, .x = at->dims[1], .y = at->dims[3] * at->dims[1]};
        job->sum.n = at->dims[2] * job->sum.y;
    }
    kerf_team_run(job->launch->team, dx_planes, job);
}

static kerf_status run(const kerf_launch *launch) {
    const kerf_problem *const problem = launch->problem;
    const kerf_strided *const x = &problem->in[KERF_GSG_X]->at, *const grid = &problem->in[KERF_GSG_GRID]->at;
    grad_job job = {.launch = launch, .modes = problem->self, .dtype = problem->in[KERF_GSG_X]->dtype};
    job.axis_y = kerf_axis_of(x->dims[2], job.modes->corners);
    job.axis_x = kerf_axis_of(x->dims[3], job.modes->corners);
    job.n_images = x->dims[0];
    job.n_channels = x->dims[1];
    job.out_height = grid->dims[1];
    job.out_width = grid->dims[2];
    job.grad = taken_strides(&problem->in[KERF_GSG_GRAD]->at, 0, 1, 2, 3);
    job.x = taken_strides(x, 0, 1, 2, 3);
    job.grid = taken_strides(grid, 0, 3, 1, 2);
    if (launch->out[KERF_GSG_DX])
        run_dx(&job);
    if (launch->out[KERF_GSG_DGRID]) {
        job.dgrid = taken_strides(&problem->out[KERF_GSG_DGRID]->at, 0, 3, 1, 2);
        kerf_team_run(launch->team, dgrid_samples, &job);
    }
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "scalar, one list of taps per sample, running offsets over the channels",
    .memory = kerf_wide_sums_memory,
    .run = run,
};
