/* Layout text of a case: how the operands lie in memory.
 *   LAYOUT  = ATOM | NAME=ATOM[,NAME=ATOM...]        operands that are not named are packed
 *   ATOM    = nchw | nhwc | packed | planar | swapped | gap | flip | zero | strides:S0:S1:...
 * packed (= nchw): row-major in the logical order. nhwc: axis 1 of a rank-4 operand runs fastest; as the layout of a
 * whole case it leaves operands that name no channel axis packed (see the op). planar: the last axis is stored as if it
 * were axis 1. swapped: axes 0 and 1 exchange places. gap: rows and planes followed by unused elements. flip: the last
 * two axes run backwards (negative strides). zero: all strides 0, inputs only; as the layout of a
 * whole case it leaves the outputs packed. A vector without channel axis (a bias) stays packed where the word of a
 * whole case is not for its rank. strides: one stride per axis, in elements. */
#ifndef KERF_KERNELS_LAYOUT_H
#define KERF_KERNELS_LAYOUT_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the strides of `operand`, whose dims are set, from the layout text of the case. `channels`: the operand has a
 * channel axis (axis 1) that a whole-case nhwc moves. KERF_ERROR_USAGE with what is allowed. */
typedef enum kerf_channels { KERF_NO_CHANNELS, KERF_HAS_CHANNELS } kerf_channels;
kerf_status kerf_layout_apply(const char *layout, const kerf_op *op, kerf_channels channels, kerf_operand *operand,
                              kerf_error *error);
/* Checks that the text is well formed and names operands of the op only. */
kerf_status kerf_layout_check(const char *layout, const kerf_op *op, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
