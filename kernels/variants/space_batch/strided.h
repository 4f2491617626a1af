/* Both ops as strided copies: the axes are merged into as few loops as they allow (plan.h), and a row is one copy of
 * units per remainder of its block. Cost: each byte once; a row reads or writes every block-th unit.
 * Source: the merging of axes and loops of fixed depth follow TensorFlow's kernels for SpaceToBatchND. */
#include "kernels/variants/space_batch/copies.h"

static void move_rank(void *arg, int rank) {
    const move_job *const job = arg;
    move_pieces(job->plan, job->launch, rank, copy_piece);
}

static kerf_status run(const kerf_launch *launch) {
    return run_moves(launch, move_rank);
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "strided copies, axes merged",
    .run = run,
};
