/* grid_sampler_grad: the backward of the 2-D grid sampler (PyTorch's grid_sampler_2d_backward, CANN's
 * GridSampler2DGrad).
 *
 * Operands, logical shapes; any strides, zero and negative ones on inputs too; one type for all:
 *   grad (N, C, Ho, Wo)  upstream gradient gO        dx    (N, C, H, W)
 *   x    (N, C, H, W)    the image                   dgrid (N, Ho, Wo, 2)
 *   grid (N, Ho, Wo, 2)  points (gx, gy) in [-1, 1]
 * H, W >= 1; N, C, Ho, Wo may be 0 (dx is then zero, dgrid zero-filled). Each output is optional.
 *
 * With S the extent of an axis, the coordinate of a point is
 *   v = ((g + 1) S - 1) / 2,          f = S / 2          (align_corners = false)
 *   v = (g + 1) / 2 (S - 1),          f = (S - 1) / 2    (align_corners = true)
 * in float for f16, bf16 and f32, in double for f64. Several ways to write it are legal; docs/verification.md lists
 * them.
 *
 * bilinear, nearest: v goes through the padding first, and its slope s multiplies f:
 *   zeros       v stays, s = 1
 *   border      v = clip(v, 0, S - 1), s = 0 where v <= 0 or v >= S - 1 (before the clip), else 1
 *   reflection  mirrored about 0 and S - 1 (align_corners) or -1/2 and S - 1/2 (else): m = fmod(|v - low|, 2 span),
 *               v = min(m, 2 span - m) + low; s = -1 on the odd folds, +1 on the even ones, 0 where span is 0; then as
 * border bilinear: taps floor(v) and floor(v) + 1 with weights 1 - t and t, t = v - floor(v); taps outside are skipped,
 * not read. nearest: one tap at v rounded half to even, skipped if outside; dgrid is 0. bicubic (A = -3/4): v stays,
 * taps floor(v) - 1 .. floor(v) + 2, each index padded on its own (zeros: skipped), weights c0..c3 in t: ((A u - 5A) u
 * + 8A) u - 4A at u = 1 + t and 2 - t; ((A + 2) u - (A + 3)) u^2 + 1 at u = t and 1 - t.
 *
 *   dx[n,c,iy,ix]    = sum over samples and taps that fall on (iy, ix) of  wy wx gO[n,c,oy,ox]
 *   dgrid[n,oy,ox,0] = f_x s_x  sum over c and taps of  wy (d wx / dt) x[n,c,iy,ix] gO[n,c,oy,ox];  [..,1] likewise in
 * y
 *
 * Not finite: a sample with a NaN coordinate is dropped (no dx, dgrid 0). +-Inf is dropped under zeros and reflection
 * and always in bicubic; border clips it. A coordinate is compared with the bounds in floating point before it becomes
 * an integer. A dropped sample changes no other bit.
 *
 * Roundings on the longest path, which the bound of the oracle counts (u = unit roundoff of the working type):
 *   dx     one per term added, after those of the weights (2u flat + 3u relative, bilinear; Horner bounds, bicubic)
 *   dgrid  4 C + 4 (bilinear), 16 C + 4 (bicubic)
 * f16 and bf16 results are rounded once from the float sum. accumulate=storage lets dx and dgrid be summed in the
 * storage type and is held to that type's bound.
 *
 * Source: PyTorch aten/src/ATen/native/GridSampler.h (rules); CANN GridSampler2DGrad (interface); Keys 1981 (bicubic).
 */
#ifndef KERF_KERNELS_GRID_SAMPLER_GRAD_H
#define KERF_KERNELS_GRID_SAMPLER_GRAD_H

#include "kernels/grid_sampling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Order of the operands in problem->in and problem->out. */
enum { KERF_GSG_GRAD, KERF_GSG_X, KERF_GSG_GRID, KERF_GSG_N_IN };
enum { KERF_GSG_DX, KERF_GSG_DGRID, KERF_GSG_N_OUT };

extern const kerf_op kerf_op_grid_sampler_grad;

/* The rules on shapes, types, strides and overlap, for describe() and for the C entry: operands as they stand in the
 * problem. KERF_ERROR_USAGE with one line. */
kerf_status kerf_grid_sampler_grad_check(const kerf_problem *problem, kerf_error *error);

/* ---- plain C entry: no harness needed -----------------------------------------------------------------------------
 */

typedef struct kerf_grid_sampler_grad_args {
    uint32_t bytes; /* sizeof the struct */
    kerf_dtype dtype;
    kerf_grid_sampler_modes modes;
    kerf_tensor grad, x, grid, dx, dgrid;
    const kerf_team *team; /* NULL: one rank */
    void *scratch;         /* as kerf_grid_sampler_grad_memory asks */
    size_t scratch_bytes;
} kerf_grid_sampler_grad_args;

/* How much scratch the call needs, and at which alignment. Errors as below. */
kerf_status kerf_grid_sampler_grad_memory(const kerf_grid_sampler_grad_args *args, kerf_memory *memory,
                                          kerf_error *error);

/* Computes the outputs whose data is not NULL with the best implementation of this machine. Everything is checked
 * before any element is read or written. KERF_ERROR_USAGE: shapes, types, overlap (two outputs, an output and an input,
 * or an output with itself), or too little scratch; the outputs are then untouched. */
kerf_status kerf_grid_sampler_grad(const kerf_grid_sampler_grad_args *args, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
