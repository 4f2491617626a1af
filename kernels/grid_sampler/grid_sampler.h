/* grid_sampler: the 2-D grid sampler (PyTorch's grid_sampler_2d, ONNX GridSample of rank 4, CANN's GridSampler2D).
 *
 * Operands, logical shapes; any strides, zero and negative ones on inputs too; one type for all:
 *   x    (N, C, H, W)    the image                        y (N, C, Ho, Wo)
 *   grid (N, Ho, Wo, 2)  points (gx, gy) in [-1, 1]
 * H, W >= 1; N, C, Ho, Wo may be 0 (y is then empty).
 *
 * With S the extent of an axis, the coordinate of a point is
 *   v = ((g + 1) S - 1) / 2          (align_corners = false)
 *   v = (g + 1) / 2 (S - 1)          (align_corners = true)
 * in float for f16, bf16 and f32, in double for f64. Several ways to write it are legal; docs/verification.md lists
 * them.
 *
 * bilinear, nearest: v goes through the padding first:
 *   zeros       v stays
 *   border      v = clip(v, 0, S - 1)
 *   reflection  mirrored about 0 and S - 1 (align_corners) or -1/2 and S - 1/2 (else): m = fmod(|v - low|, 2 span),
 *               v = min(m, 2 span - m) + low; then as border
 * bilinear: taps floor(v) and floor(v) + 1 with weights 1 - t and t, t = v - floor(v); taps outside are skipped, not
 * read. nearest: one tap at v rounded half to even, skipped if outside; y is a copy of it. bicubic (A = -3/4): v stays,
 * taps floor(v) - 1 .. floor(v) + 2, each index padded on its own (zeros: skipped), weights c0..c3 in t: ((A u - 5A) u
 * + 8A) u - 4A at u = 1 + t and 2 - t; ((A + 2) u - (A + 3)) u^2 + 1 at u = t and 1 - t.
 *
 *   y[n,c,oy,ox] = sum over taps of  wy wx x[n,c,iy,ix]      0 where all are skipped
 *
 * Not finite: a sample with a NaN coordinate is dropped (y 0). +-Inf is dropped under zeros and reflection and always
 * in bicubic; border clips it. A coordinate is compared with the bounds in floating point before it becomes an integer.
 * What x holds at a skipped tap, or anywhere for a dropped sample, changes nothing.
 *
 * Roundings on the longest path, which the bound of the oracle counts (u = unit roundoff of the working type):
 *   bilinear  one per tap added, 4 at most, after those of weights and products: per tap 4u flat (2u of the weights, 2u
 *             of the form x0 + t (x1 - x0)) and 3u relative
 *   bicubic   one per tap added, 16 at most, after Horner bounds of the weights and 3u relative
 *   nearest   none
 * f16 and bf16 results are rounded once from the float sum.
 *
 * Source: PyTorch aten/src/ATen/native/GridSampler.h (rules); ONNX GridSample (names); Keys 1981 (bicubic).
 */
#ifndef KERF_GRID_SAMPLER_H
#define KERF_GRID_SAMPLER_H

#include "kernels/grid_sampling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Order of the operands in problem->in and problem->out. */
enum { KERF_GS_X, KERF_GS_GRID, KERF_GS_N_IN };
enum { KERF_GS_Y, KERF_GS_N_OUT };

extern const kerf_op kerf_op_grid_sampler;

/* The rules on shapes, types, strides and overlap, for describe() and for the C entry: operands as they stand in the
 * problem. KERF_ERROR_USAGE with one line. */
kerf_status kerf_grid_sampler_check(const kerf_problem *problem, kerf_error *error);

/* ---- plain C entry: no harness needed -----------------------------------------------------------------------------
 */

typedef struct kerf_grid_sampler_args {
    uint32_t bytes; /* sizeof the struct */
    kerf_dtype dtype;
    kerf_grid_sampler_modes modes; /* modes.accumulate: KERF_ACCUMULATE_F32 */
    kerf_tensor x, grid, y;
    const kerf_team *team; /* NULL: one rank */
    void *scratch;         /* as kerf_grid_sampler_memory asks */
    size_t scratch_bytes;
} kerf_grid_sampler_args;

/* How much scratch the call needs, and at which alignment. Errors as below. */
kerf_status kerf_grid_sampler_memory(const kerf_grid_sampler_args *args, kerf_memory *memory, kerf_error *error);

/* Computes y with the best implementation of this machine. Everything is checked before any element is read or written.
 * KERF_ERROR_USAGE: shapes, types, overlap (y with an input or with itself), or too little scratch; y is then
 * untouched. */
kerf_status kerf_grid_sampler(const kerf_grid_sampler_args *args, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
