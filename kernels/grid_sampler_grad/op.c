#include "kernels/grid_sampler_grad/op.h"

static const kerf_attr_spec accumulate = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "accumulate",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"f32", "storage", NULL},
    .standard = {.number = KERF_ACCUMULATE_F32},
};
static const kerf_attr_spec *const attrs[] = {&kerf_sampling_interpolation_mode, &kerf_sampling_padding_mode,
                                              &kerf_sampling_align_corners, &accumulate, NULL};

static const kerf_sampling_shape inputs[KERF_GSG_N_IN] = {
    {"grad", KERF_HAS_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_C, KERF_SAMPLING_HO, KERF_SAMPLING_WO}, 2},
    {"x", KERF_HAS_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_C, KERF_SAMPLING_H, KERF_SAMPLING_W}, 4},
    {"grid", KERF_NO_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_HO, KERF_SAMPLING_WO, KERF_SAMPLING_TWO}, 0},
};
static const kerf_sampling_shape outputs[KERF_GSG_N_OUT] = {
    {"dx", KERF_HAS_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_C, KERF_SAMPLING_H, KERF_SAMPLING_W}, 0},
    {"dgrid", KERF_NO_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_HO, KERF_SAMPLING_WO, KERF_SAMPLING_TWO}, 0},
};
static const kerf_sampling_op parts = {
    .name = "grid_sampler_grad",
    .n_in = KERF_GSG_N_IN,
    .n_out = KERF_GSG_N_OUT,
    .x = KERF_GSG_X,
    .grid = KERF_GSG_GRID,
    .in = inputs,
    .out = outputs,
    .outputs = "two outputs, dx and dgrid",
};

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    return kerf_sampling_describe(&parts, c, arena, problem, error);
}

static void fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    kerf_sampling_fill(&parts, problem, rng, in);
}

kerf_status kerf_grid_sampler_grad_check(const kerf_problem *problem, kerf_error *error) {
    return kerf_sampling_check(&parts, problem, error);
}

const kerf_op kerf_op_grid_sampler_grad = {
    .bytes = sizeof(kerf_op),
    .name = "grid_sampler_grad",
    .summary = "backward of the 2-D grid sampler: gradients of the image and of the grid",
    .attrs = attrs,
    .dims = kerf_sampling_dims,
    .inputs = (const char *const[]){"grad", "x", "grid", NULL},
    .outputs = (const char *const[]){"dx", "dgrid", NULL},
    .fills = kerf_sampling_fills,
    .dtypes = kerf_sampling_dtypes,
    .n_dtypes = KERF_SAMPLING_N_DTYPES,
    .describe = describe,
    .fill = fill,
    .work = kerf_gsg_work,
    .steering = UINT64_C(1) << KERF_GSG_GRID,
};
