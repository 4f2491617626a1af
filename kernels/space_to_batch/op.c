#include "kernels/space_to_batch/space_to_batch.h"

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    return kerf_space_batch_describe(c, KERF_SPACE_TO_BATCH, arena, problem, error);
}

const kerf_op kerf_op_space_to_batch = {
    .bytes = sizeof(kerf_op),
    .name = "space_to_batch",
    .summary = "moves blocks of space into the batch",
    .attrs = kerf_space_to_batch_attrs,
    .dims = (const char *const[]){NULL},
    .inputs = (const char *const[]){"x", NULL},
    .outputs = (const char *const[]){"y", NULL},
    .fills = kerf_space_batch_fills,
    .dtypes = kerf_space_batch_dtypes,
    .n_dtypes = KERF_SPACE_BATCH_DTYPES,
    .describe = describe,
    .fill = kerf_space_batch_fill,
    .work = kerf_space_batch_work,
};
