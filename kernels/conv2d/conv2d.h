/* conv2d: 2-D convolution as networks mean it, the kernel not flipped (cross-correlation), with stride, dilation,
 * groups, paddings and an optional bias. Dilation above 1 is atrous convolution, groups = C is depthwise.
 *
 * x (N,C,H,W), w (M,C/G,kh,kw), bias (M), y (N,M,Ho,Wo); per axis with size S, kernel k, stride s, dilation d, paddings
 * pb and pe:
 *   out = floor((S + pb + pe - (k-1) d - 1) / s) + 1
 *   y[n,m,i,j] = bias[m] + sum over c < C/G, u < kh, v < kw of
 *                w[m,c,u,v] x[n, g C/G + c, i sh + u dh - pads[t], j sw + v dw - pads[l]],   g = m / (M/G)
 * where x is 0 outside its borders. All operands may have any strides, so NCHW and NHWC are layouts of one problem; w
 * and bias may be packed ahead.
 *
 * Attributes: stride=sh,sw dilation=dh,dw pads=top,left,bottom,right groups=G bias=false|true (whether there is an
 * operand `bias`). N, C, M, H and W may be 0: a sum over nothing is 0. Refused before anything is read, naming axis and
 * values: stride, dilation, groups, kh or kw below 1; negative pads; groups that do not divide C and M; a kernel that
 * reaches over more than the padded input (out < 1); sizes that overflow.
 *
 * Types: f32, f64; f16 and bf16, which sum in float and round once at the end; i8, with bias and y in i32, whose sums
 * are those of unsigned arithmetic modulo 2^32 and are compared bit for bit.
 * Roundings of the real types: n terms (taps inside the image times C/G, and the bias) in any order, each product
 * rounded or fused: |error| <= n u sum|w x| + n eta (underflow), u and eta of float, or of double for f64; then one
 * rounding to the type of y. Algorithms that form other products (Winograd, FFT) are outside of this bound.
 * Not compared: elements with a tap outside of the image whose weight is not finite (0 Inf is NaN where a kernel
 * multiplies by the padding), and sums that pass the largest number on the way.
 * Source: ONNX Conv; the gradient-free forward of PyTorch's conv2d. */
#ifndef KERF_KERNELS_CONV2D_H
#define KERF_KERNELS_CONV2D_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const kerf_op kerf_op_conv2d;

enum { KERF_CONV2D_X, KERF_CONV2D_W, KERF_CONV2D_BIAS, KERF_CONV2D_N_IN }; /* bias is there if self->has_bias */
enum { KERF_TOP, KERF_LEFT, KERF_BOTTOM, KERF_RIGHT };

/* problem->self. Index 0 is the axis H, 1 is W. */
typedef struct kerf_conv2d {
    int64_t stride[2], dilation[2], pads[4], groups;
    bool has_bias;
} kerf_conv2d;

/* Checks all of it for inputs of these dims, and gives the dims of y (rank 4, strides untouched). `bias` is looked at
 * if self->has_bias. KERF_ERROR_USAGE with one line that names the axis and the values. */
kerf_status kerf_conv2d_resolve(const kerf_conv2d *self, const kerf_strided *x, const kerf_strided *w,
                                const kerf_strided *bias, kerf_strided *y, kerf_error *error);

/* The type of bias and y for one of x and w. */
static inline kerf_dtype kerf_conv2d_sum_dtype(kerf_dtype dtype) {
    return dtype == KERF_I8 ? KERF_I32 : dtype;
}

/* Taps [*begin, *end) of an axis that lie inside of an input of `size` for the output at `out`. */
static inline void kerf_conv2d_taps(const kerf_conv2d *self, int axis, int64_t size, int64_t n_taps, int64_t out,
                                    int64_t *begin, int64_t *end) {
    const int64_t d = n_taps > 1 ? self->dilation[axis] : 1;
    const int64_t first = out * self->stride[axis] - self->pads[axis];
    *begin = first < 0 ? (-first + d - 1) / d : 0;
    *end = first >= size ? 0 : (size - first + d - 1) / d;
    *end = *end > n_taps ? n_taps : *end;
    *begin = *begin > *end ? *end : *begin;
}

/* ---- plain C entry -------------------------------------------------------------------------------------------------
 */

typedef struct kerf_conv2d_args {
    uint32_t bytes;    /* sizeof the struct */
    kerf_dtype dtype;  /* of x and w */
    kerf_conv2d given; /* copied before it is checked */
    const void *x, *w, *bias;
    void *y;
    kerf_strided x_at, w_at, bias_at, y_at;
    void *scratch; /* what kerf_conv2d_memory asks for */
    size_t scratch_bytes;
    const void *packed; /* what kerf_conv2d_prepare wrote; NULL: weights are read where they lie */
    size_t packed_bytes;
    const kerf_team *team; /* NULL: one rank */
} kerf_conv2d_args;

/* What kerf_conv2d_run takes for these args: scratch, and memory for weights that are packed ahead (packed_bytes may be
 * 0). args->packed need not be set yet, nor any data. */
kerf_status kerf_conv2d_memory(const kerf_conv2d_args *args, kerf_memory *memory, kerf_error *error);
/* Packs w and bias into `packed`, of as many bytes as kerf_conv2d_memory says, for any number of later calls with
 * args->packed = packed and the same shapes, strides and team size. */
kerf_status kerf_conv2d_prepare(const kerf_conv2d_args *args, void *packed, size_t packed_bytes, kerf_error *error);
/* All is checked before an element is read or written. Without args->packed an implementation that needs none runs. */
kerf_status kerf_conv2d_run(const kerf_conv2d_args *args, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
