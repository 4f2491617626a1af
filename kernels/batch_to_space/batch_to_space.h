/* batch_to_space: moves the batch back into blocks of space (TensorFlow's BatchToSpaceND), the inverse of
 * space_to_batch, whose header has the notation.
 *
 * x [b1 * .. * bM * N, P1..PM, rest], block b_k, crops (before_k, after_k); with S_k = P_k b_k - before_k - after_k
 *   y [N, S1..SM, rest]
 *   y[n, q1 b1 + o1 - before_1, .., r] = x[((o1 b2 + o2) b3 + ..) N + n, q1..qM, r]; what is outside y is cropped.
 * With the paddings of space_to_batch as crops it gives back what that was given.
 *
 * Refused as there, and: a batch that is no multiple of the product of the blocks; crops that take more than there is
 * (exactly all of it is an empty y). Nothing is rounded: compared bit for bit.
 * Source: TensorFlow's documentation of BatchToSpaceND. */
#ifndef KERF_KERNELS_BATCH_TO_SPACE_H
#define KERF_KERNELS_BATCH_TO_SPACE_H

#include "kernels/space_batch.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const kerf_op kerf_op_batch_to_space;

/* As kerf_space_to_batch(), with crops for paddings. */
kerf_status kerf_batch_to_space(const kerf_space_batch_args *args, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
