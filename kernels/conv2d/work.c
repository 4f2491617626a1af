/* Lower bounds of work of the direct algorithm: taps that lie inside the image, elements that some tap reads. */
#include "kernels/conv2d/op.h"

typedef struct axis_count {
    double taps;   /* inside the image, over all outputs */
    double kernel; /* taps of the kernel that are inside for some output */
    double pixels; /* that some tap reads, at least */
} axis_count;

static axis_count count_axis(const kerf_conv2d *self, int axis, int64_t size, int64_t kernel, int64_t n_out) {
    axis_count count = {0};
    int64_t lowest = kernel, highest = 0;
    for (int64_t out = 0; out < n_out; ++out) {
        int64_t begin, end;
        kerf_conv2d_taps(self, axis, size, kernel, out, &begin, &end);
        count.taps += (double)(end - begin);
        lowest = begin < end && begin < lowest ? begin : lowest;
        highest = begin < end && end > highest ? end : highest;
    }
    count.kernel = highest > lowest ? (double)(highest - lowest) : 0;
    /* Each tap of the kernel reads a pixel for at most one output. */
    count.pixels = count.kernel > 0 ? count.taps / count.kernel : 0;
    return count;
}

static bool is_shared(const kerf_strided *at) {
    for (int axis = 0; axis < at->rank; ++axis)
        if (at->dims[axis] > 1 && at->strides[axis] == 0)
            return true;
    return false;
}

kerf_work kerf_conv2d_work(const kerf_problem *problem, const void *const in[]) {
    const kerf_conv2d *const self = problem->self;
    const kerf_strided *const x = &problem->in[KERF_CONV2D_X]->at, *const w = &problem->in[KERF_CONV2D_W]->at;
    const kerf_strided *const y = &problem->out[0]->at;
    const double bytes = (double)kerf_dtype_bytes(problem->in[KERF_CONV2D_X]->dtype);
    const double sum_bytes = (double)kerf_dtype_bytes(problem->out[0]->dtype);
    int64_t n_out;
    kerf_work work = {0};
    (void)in;
    if (!(problem->want & 1) || !kerf_strided_count(y, &n_out) || n_out == 0)
        return work;
    work.written_bytes = sum_bytes * (double)n_out;
    /* Elements that share memory can be summed before they are multiplied: no more is claimed than that y is written.
     */
    if (is_shared(x) || is_shared(w))
        return work;
    const axis_count h = count_axis(self, 0, x->dims[2], w->dims[2], y->dims[2]);
    const axis_count v = count_axis(self, 1, x->dims[3], w->dims[3], y->dims[3]);
    const double images = (double)x->dims[0], filters = (double)w->dims[0], per_group = (double)w->dims[1];
    work.flops = 2 * images * filters * per_group * h.taps * v.taps;
    work.read_bytes =
        bytes * (images * (double)x->dims[1] * h.pixels * v.pixels + filters * per_group * h.kernel * v.kernel);
    if (self->has_bias && problem->in[KERF_CONV2D_BIAS]->at.strides[0] != 0)
        work.read_bytes += sum_bytes * filters;
    return work;
}
