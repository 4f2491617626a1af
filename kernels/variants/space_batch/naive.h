/* Both ops as the definition says, the one to read first and to hold the others against: one element of the side with
 * the blocks in its batch after the other, its place on the side with the blocks in space computed from its index.
 * Cost: a division per axis and element. */
#include "kernels/space_batch.h"
#include <string.h>

typedef struct move_job {
    const kerf_launch *launch;
    const kerf_space_batch *self;
    const kerf_operand *space, *batch;
    const char *from;
    char *to;
    int64_t n_elements; /* of the batch side */
} move_job;

/* Offset on the space side of element `index` of the batch side; false: it is outside. */
static bool find_in_space(const move_job *job, const int64_t index[], int64_t *offset) {
    const kerf_strided *const space = &job->space->at;
    int64_t blocks = index[0] / space->dims[0];
    *offset = index[0] % space->dims[0] * space->strides[0];
    for (int k = job->self->n_blocks - 1; k >= 0; --k) {
        const int64_t block = job->self->block[k];
        const int64_t at = index[k + 1] * block + blocks % block - job->self->before[k];
        blocks /= block;
        if (at < 0 || at >= space->dims[k + 1])
            return false;
        *offset += at * space->strides[k + 1];
    }
    for (int axis = job->self->n_blocks + 1; axis < space->rank; ++axis)
        *offset += index[axis] * space->strides[axis];
    return true;
}

static void move_elements(void *arg, int rank) {
    const move_job *const job = arg;
    const int64_t bytes = (int64_t)kerf_dtype_bytes(job->batch->dtype);
    int64_t number, end;
    kerf_team_share(job->n_elements, kerf_team_size(job->launch->team), rank, &number, &end);
    for (; number < end; ++number) {
        int64_t index[KERF_MAX_RANK], in_space;
        kerf_strided_index(&job->batch->at, number, index);
        const int64_t in_batch = kerf_strided_offset(&job->batch->at, number);
        const bool inside = find_in_space(job, index, &in_space);
        if (job->self->way == KERF_SPACE_TO_BATCH)
            memcpy(job->to + in_batch * bytes, inside ? (const void *)(job->from + in_space * bytes) : job->self->pad,
                   (size_t)bytes);
        else if (inside)
            memcpy(job->to + in_space * bytes, job->from + in_batch * bytes, (size_t)bytes);
    }
}

static kerf_status run(const kerf_launch *launch) {
    move_job job = {.launch = launch, .self = launch->problem->self, .from = launch->in[0], .to = launch->out[0]};
    const bool to_batch = job.self->way == KERF_SPACE_TO_BATCH;
    job.space = to_batch ? launch->problem->in[0] : launch->problem->out[0];
    job.batch = to_batch ? launch->problem->out[0] : launch->problem->in[0];
    if (job.to && kerf_strided_count(&job.batch->at, &job.n_elements))
        kerf_team_run(launch->team, move_elements, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "plain loops, one element after the other",
    .run = run,
};
