/* space_to_batch: moves blocks of space into the batch (TensorFlow's SpaceToBatchND). batch_to_space undoes it.
 *
 * x [N, S1..SM, rest], any type, block b_k, paddings (before_k, after_k); with P_k = (S_k + before_k + after_k) / b_k
 *   y [b1 * .. * bM * N, P1..PM, rest]
 *   y[((o1 b2 + o2) b3 + ..) N + n, q1..qM, r] = x[n, q1 b1 + o1 - before_1, .., r], or the pad where that is outside
 * x. Equally: pad; view [N, P1, b1, .., PM, bM, rest]; order the axes [b1..bM, N, P1..PM, rest]; flatten the first M
 * + 1.
 *
 * Rank 1 to 12, M from 0 to rank - 1, elements of 1, 2, 4, 8 and 16 bytes, any strides (zero and negative ones on x
 * too). Sizes may be 0: what is padded up from nothing is all pad. The legacy form block_size=B is block_shape B, B of
 * an input of rank 4.
 *
 * Refused before anything is read, naming axis and values: a block below 1; negative paddings; a padded size that is no
 * multiple of its block; products and sizes beyond 2^63 - 1; more block axes than the rank has; a legacy block below 2
 * or another rank. tensorflow_limits also refuses more than four block axes once outer and inner ones of block 1
 * without paddings are left out. Axes and counts are not limited otherwise.
 *
 * Nothing is rounded: y is compared bit for bit, payloads of NaN and signs of zeros included.
 * Source: TensorFlow's documentation of SpaceToBatchND and BatchToSpaceND. */
#ifndef KERF_KERNELS_SPACE_TO_BATCH_H
#define KERF_KERNELS_SPACE_TO_BATCH_H

#include "kernels/space_batch.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const kerf_op kerf_op_space_to_batch;

/* Plain C entry: no harness, no memory of its own. The lists of the request are copied first and never read again; all
 * is checked before an element is read or written. KERF_ERROR_USAGE: the request, shapes, or overlapping memory. */
kerf_status kerf_space_to_batch(const kerf_space_batch_args *args, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
