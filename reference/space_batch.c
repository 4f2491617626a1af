/* The oracle of space_to_batch and batch_to_space: the definition of the headers, one element of the output after the
 * other, through the indices of all axes. The bits that must be there; nothing shared with a variant. */
#include "kernels/space_batch.h"
#include "base/checked.h"
#include "kernels/registry.h"
#include <string.h>

typedef struct move_job {
    const kerf_space_batch *self;
    const kerf_operand *x, *y;
    const char *from;
    char *bits;
    int64_t n_elements;
    const kerf_team *team;
} move_job;

/* The index in x that element `y` of the output comes from; false: it is padding. */
static bool space_to_batch_source(const move_job *job, const int64_t y[], int64_t x[]) {
    const int64_t n_batch = job->x->at.dims[0];
    int64_t rest = y[0] / n_batch;
    bool inside = true;
    x[0] = y[0] % n_batch;
    for (int k = job->self->n_blocks - 1; k >= 0; --k) {
        const int64_t b = job->self->block[k], o = rest % b;
        rest /= b;
        x[k + 1] = y[k + 1] * b + o - job->self->before[k];
        inside = inside && x[k + 1] >= 0 && x[k + 1] < job->x->at.dims[k + 1];
    }
    return inside;
}

static void batch_to_space_source(const move_job *job, const int64_t y[], int64_t x[]) {
    int64_t offset = 0;
    for (int k = 0; k < job->self->n_blocks; ++k) {
        const int64_t b = job->self->block[k], whole = y[k + 1] + job->self->before[k];
        offset = offset * b + whole % b;
        x[k + 1] = whole / b;
    }
    x[0] = offset * job->y->at.dims[0] + y[0];
}

static void move_share(void *arg, int rank) {
    const move_job *const job = arg;
    const size_t bytes = kerf_dtype_bytes(job->x->dtype);
    int64_t number, end;
    kerf_team_share(job->n_elements, kerf_team_size(job->team), rank, &number, &end);
    for (; number < end; ++number) {
        int64_t y[KERF_MAX_RANK], x[KERF_MAX_RANK], offset = 0;
        bool inside = true;
        kerf_strided_index(&job->y->at, number, y);
        memcpy(x, y, sizeof x);
        if (job->self->way == KERF_SPACE_TO_BATCH)
            inside = space_to_batch_source(job, y, x);
        else
            batch_to_space_source(job, y, x);
        for (int axis = 0; inside && axis < job->x->at.rank; ++axis)
            offset += x[axis] * job->x->at.strides[axis];
        const void *const element = inside ? (const void *)(job->from + offset * (int64_t)bytes) : job->self->pad;
        memcpy(job->bits + (size_t)number * bytes, element, bytes);
    }
}

static kerf_status expect_moves(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    move_job job = {.self = problem->self, .x = problem->in[0], .y = problem->out[0], .from = in[0], .team = team};
    out[0] = (kerf_expect){.kind = KERF_EXPECT_NOTHING};
    if (!(problem->want & 1))
        return KERF_OK;
    size_t bytes;
    if (!kerf_strided_count(&job.y->at, &job.n_elements) ||
        !kerf_mul_size((size_t)job.n_elements, kerf_dtype_bytes(job.y->dtype), &bytes))
        bytes = SIZE_MAX - 16;
    /* One element more, so that an empty output has an address too. */
    job.bits = kerf_arena_alloc(arena, bytes + 16, 16);
    if (!job.bits)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the oracle of %s needs %zu more bytes, the arena has %zu left",
                         problem->op->name, bytes, arena->size - arena->used);
    kerf_team_run(team, move_share, &job);
    out[0] = (kerf_expect){.kind = KERF_EXPECT_BITS, .n_elements = job.n_elements, .bits = job.bits};
    return KERF_OK;
}

kerf_status kerf_oracle_space_to_batch(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                       const kerf_team *team, kerf_arena *arena, kerf_error *error);
kerf_status kerf_oracle_batch_to_space(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                       const kerf_team *team, kerf_arena *arena, kerf_error *error);

kerf_status kerf_oracle_space_to_batch(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                       const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    return expect_moves(problem, in, out, team, arena, error);
}

kerf_status kerf_oracle_batch_to_space(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                       const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    return expect_moves(problem, in, out, team, arena, error);
}
