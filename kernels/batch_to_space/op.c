#include "kernels/batch_to_space/batch_to_space.h"

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    return kerf_space_batch_describe(c, KERF_BATCH_TO_SPACE, arena, problem, error);
}

const kerf_op kerf_op_batch_to_space = {
    .bytes = sizeof(kerf_op),
    .name = "batch_to_space",
    .summary = "moves the batch back into blocks of space",
    .attrs = kerf_batch_to_space_attrs,
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
