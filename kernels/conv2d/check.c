#include "kernels/conv2d/conv2d.h"

#include "base/checked.h"
#include "kernels/operand.h"

static const char *const axis_names[] = {"H", "W"};

static kerf_status check_rank(const char *name, const kerf_strided *at, int rank, kerf_error *error) {
    if (at->rank != rank)
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: %s has rank %d: it must have rank %d", name, at->rank, rank);
    for (int axis = 0; axis < rank; ++axis)
        if (at->dims[axis] < 0)
            return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: axis %d of %s has size %lld: at least 0 is allowed",
                             axis, name, (long long)at->dims[axis]);
    int64_t count;
    if (!kerf_strided_count(at, &count))
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: %s has more elements than can be numbered (2^63 - 1)", name);
    return KERF_OK;
}

static kerf_status check_groups(const kerf_conv2d *self, const kerf_strided *x, const kerf_strided *w,
                                kerf_error *error) {
    const int64_t groups = self->groups, n_channels = x->dims[1], n_filters = w->dims[0];
    if (groups < 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: groups=%lld must be at least 1", (long long)groups);
    if (n_channels % groups != 0 || n_filters % groups != 0)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "conv2d: groups=%lld must divide the %lld channels C and the %lld "
                         "filters M",
                         (long long)groups, (long long)n_channels, (long long)n_filters);
    if (w->dims[1] != n_channels / groups)
        return kerf_fail(
            error, KERF_ERROR_USAGE, "conv2d: axis 1 of w has size %lld: it must be C / groups = %lld / %lld = %lld",
            (long long)w->dims[1], (long long)n_channels, (long long)groups, (long long)(n_channels / groups));
    return KERF_OK;
}

/* Size of y along the axis: 0 is H, 1 is W. */
static kerf_status find_extent(const kerf_conv2d *self, int axis, int64_t size, int64_t kernel, int64_t *extent,
                               kerf_error *error) {
    const int64_t stride = self->stride[axis], dilation = self->dilation[axis];
    const int64_t before = self->pads[axis], after = self->pads[axis + 2];
    const char *const name = axis_names[axis];
    if (stride < 1 || dilation < 1)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "conv2d: axis %s has stride %lld and dilation %lld: both must be at "
                         "least 1 (dilation 1 is a dense kernel)",
                         name, (long long)stride, (long long)dilation);
    if (before < 0 || after < 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: pads %lld and %lld of axis %s must be at least 0",
                         (long long)before, (long long)after, name);
    if (kernel < 1)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "conv2d: the kernel has size %lld along axis %s: at least 1 is "
                         "allowed",
                         (long long)kernel, name);
    int64_t padded, reach;
    if (!kerf_add_i64(size, before, &padded) || !kerf_add_i64(padded, after, &padded) || padded > KERF_MAX_REACH)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "conv2d: axis %s of size %lld with pads %lld and %lld passes "
                         "2^60",
                         name, (long long)size, (long long)before, (long long)after);
    if (!kerf_mul_i64(kernel - 1, dilation, &reach) || reach >= padded)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "conv2d: axis %s: a kernel of %lld with dilation %lld reaches over "
                         "more than the %lld elements of size %lld with pads %lld and %lld",
                         name, (long long)kernel, (long long)dilation, (long long)padded, (long long)size,
                         (long long)before, (long long)after);
    *extent = (padded - reach - 1) / stride + 1;
    return KERF_OK;
}

kerf_status kerf_conv2d_resolve(const kerf_conv2d *self, const kerf_strided *x, const kerf_strided *w,
                                const kerf_strided *bias, kerf_strided *y, kerf_error *error) {
    KERF_TRY(check_rank("x", x, 4, error));
    KERF_TRY(check_rank("w", w, 4, error));
    KERF_TRY(check_groups(self, x, w, error));
    y->rank = 4;
    y->dims[0] = x->dims[0];
    y->dims[1] = w->dims[0];
    for (int axis = 0; axis < 2; ++axis)
        KERF_TRY(find_extent(self, axis, x->dims[axis + 2], w->dims[axis + 2], &y->dims[axis + 2], error));
    if (self->has_bias) {
        KERF_TRY(check_rank("bias", bias, 1, error));
        if (bias->dims[0] != w->dims[0])
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "conv2d: bias has %lld elements: it must have one for each of "
                             "the %lld filters",
                             (long long)bias->dims[0], (long long)w->dims[0]);
    }
    return check_rank("y", y, 4, error);
}
