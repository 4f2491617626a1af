/* Both ops as strided copies: the axes are merged into as few loops as they allow (plan.h), and a row is one copy of
 * units per remainder of its block. Cost: each byte once; a row reads or writes every block-th unit.
 * Source: the merging of axes and loops of fixed depth follow TensorFlow's kernels for SpaceToBatchND. */
#include "kernels/variants/space_batch/copies.h"

typedef struct move_job {
    const move_plan *plan;
    const kerf_launch *launch;
} move_job;

static void move_rank(void *arg, int rank) {
    const move_job *const job = arg;
    move_pieces(job->plan, job->launch, rank, copy_piece);
}

static kerf_status run(const kerf_launch *launch) {
    int64_t n_elements;
    if (!launch->out[0] || !kerf_strided_count(&launch->problem->out[0]->at, &n_elements) || n_elements == 0)
        return KERF_OK;
    const move_plan plan = plan_of(launch->problem);
    move_job job = {.plan = &plan, .launch = launch};
    kerf_team_run(launch->team, move_rank, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "strided copies, axes merged",
    .run = run,
};
