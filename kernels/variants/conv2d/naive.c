/* conv2d as the definition says, the one to read first and to hold the others against: one output after the other, its
 * taps and channels summed in order. Cost: 2 N M Ho Wo C/G kh kw operations, each operand read where it lies. */
#include "kernels/conv2d/conv2d.h"
#include "kernels/real.h"

typedef struct conv_job {
    const kerf_launch *launch;
    const kerf_conv2d *self;
    const kerf_operand *x, *w, *y;
    int64_t n_elements;
} conv_job;

/* The taps that one output reads, and where the first of them lies. */
typedef struct window {
    int64_t rows[2], columns[2]; /* taps [0] to [1] */
    int64_t x, w;                /* offsets of tap (0,0) of the first channel */
} window;

static window window_of(const conv_job *job, const int64_t index[]) {
    const kerf_strided *const x = &job->x->at, *const w = &job->w->at;
    window at;
    const int64_t group = index[1] / (w->dims[0] / job->self->groups);
    kerf_conv2d_taps(job->self, 0, x->dims[2], w->dims[2], index[2], &at.rows[0], &at.rows[1]);
    kerf_conv2d_taps(job->self, 1, x->dims[3], w->dims[3], index[3], &at.columns[0], &at.columns[1]);
    at.x = index[0] * x->strides[0] + group * w->dims[1] * x->strides[1] +
           (index[2] * job->self->stride[0] - job->self->pads[KERF_TOP]) * x->strides[2] +
           (index[3] * job->self->stride[1] - job->self->pads[KERF_LEFT]) * x->strides[3];
    at.w = index[1] * w->strides[0];
    return at;
}

static int64_t tap_in_x(const conv_job *job, const window *at, int64_t u, int64_t v) {
    return at->x + u * job->self->dilation[0] * job->x->at.strides[2] +
           v * job->self->dilation[1] * job->x->at.strides[3];
}

static int64_t tap_in_w(const conv_job *job, const window *at, int64_t u, int64_t v) {
    return at->w + u * job->w->at.strides[2] + v * job->w->at.strides[3];
}

/* Loops over all products of the window, at the offsets `xo` in x and `wo` in w. */
#define FOR_PRODUCTS(job, at, xo, wo)                                                                                  \
    for (int64_t u = (at).rows[0]; u < (at).rows[1]; ++u)                                                              \
        for (int64_t v = (at).columns[0]; v < (at).columns[1]; ++v)                                                    \
            for (int64_t c = 0, xo = tap_in_x(job, &(at), u, v), wo = tap_in_w(job, &(at), u, v);                      \
                 c < (job)->w->at.dims[1]; ++c, xo += (job)->x->at.strides[1], wo += (job)->w->at.strides[1])

static int64_t bias_offset(const conv_job *job, int64_t filter) {
    return filter * job->launch->problem->in[KERF_CONV2D_BIAS]->at.strides[0];
}

static void store_real(const conv_job *job, const int64_t index[], int64_t y_offset) {
    const void *const x = job->launch->in[KERF_CONV2D_X], *const w = job->launch->in[KERF_CONV2D_W];
    const window at = window_of(job, index);
    kerf_real sum = 0;
    if (job->self->has_bias)
        sum = kerf_real_load(job->y->dtype, job->launch->in[KERF_CONV2D_BIAS], bias_offset(job, index[1]));
    FOR_PRODUCTS(job, at, xo, wo)
    sum += kerf_real_load(job->x->dtype, x, xo) * kerf_real_load(job->w->dtype, w, wo);
    kerf_real_store(job->y->dtype, job->launch->out[0], y_offset, sum);
}

static void store_whole(const conv_job *job, const int64_t index[], int64_t y_offset) {
    const int8_t *const x = job->launch->in[KERF_CONV2D_X], *const w = job->launch->in[KERF_CONV2D_W];
    const window at = window_of(job, index);
    uint32_t sum = 0;
    if (job->self->has_bias)
        sum = ((const uint32_t *)job->launch->in[KERF_CONV2D_BIAS])[bias_offset(job, index[1])];
    FOR_PRODUCTS(job, at, xo, wo)
    sum += (uint32_t)(x[xo] * w[wo]);
    ((uint32_t *)job->launch->out[0])[y_offset] = sum;
}

static void convolve_share(void *arg, int rank) {
    const conv_job *const job = arg;
    int64_t number, end;
    kerf_team_share(job->n_elements, kerf_team_size(job->launch->team), rank, &number, &end);
    for (; number < end; ++number) {
        int64_t index[KERF_MAX_RANK];
        kerf_strided_index(&job->y->at, number, index);
        const int64_t y_offset = kerf_strided_offset(&job->y->at, number);
        if (job->x->dtype == KERF_I8)
            store_whole(job, index, y_offset);
        else
            store_real(job, index, y_offset);
    }
}

static kerf_status run(const kerf_launch *launch) {
    conv_job job = {.launch = launch,
                    .self = launch->problem->self,
                    .x = launch->problem->in[KERF_CONV2D_X],
                    .w = launch->problem->in[KERF_CONV2D_W],
                    .y = launch->problem->out[0]};
    if (launch->out[0] && kerf_strided_count(&job.y->at, &job.n_elements))
        kerf_team_run(launch->team, convolve_share, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .traits = KERF_TRAIT_SLICE_INVARIANT,
    .summary = "plain loops, one output after the other",
    .run = run,
};
