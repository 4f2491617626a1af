#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/grid_sampling_work.h"

#include <math.h>

static const kerf_attr_spec *const attrs[] = {&kerf_sampling_interpolation_mode, &kerf_sampling_padding_mode,
                                              &kerf_sampling_align_corners, NULL};

static const kerf_sampling_shape inputs[KERF_GS_N_IN] = {
    {"x", KERF_HAS_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_C, KERF_SAMPLING_H, KERF_SAMPLING_W}, 4},
    {"grid", KERF_NO_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_HO, KERF_SAMPLING_WO, KERF_SAMPLING_TWO}, 0},
};
static const kerf_sampling_shape outputs[KERF_GS_N_OUT] = {
    {"y", KERF_HAS_CHANNELS, {KERF_SAMPLING_N, KERF_SAMPLING_C, KERF_SAMPLING_HO, KERF_SAMPLING_WO}, 0},
};
static const kerf_sampling_op parts = {
    .name = "grid_sampler",
    .n_in = KERF_GS_N_IN,
    .n_out = KERF_GS_N_OUT,
    .x = KERF_GS_X,
    .grid = KERF_GS_GRID,
    .in = inputs,
    .out = outputs,
    .outputs = "one output, y",
};

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    return kerf_sampling_describe(&parts, c, arena, problem, error);
}

static void fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    kerf_sampling_fill(&parts, problem, rng, in);
}

kerf_status kerf_grid_sampler_check(const kerf_problem *problem, kerf_error *error) {
    return kerf_sampling_check(&parts, problem, error);
}

/* A multiplication and an addition per tap and channel, but for the first addition; nearest only copies. Channels or
 * images that lie in memory once, and images without extent, need not be computed again. */
static kerf_work work_of(const kerf_problem *problem, const void *const in[]) {
    const kerf_operand *const x = problem->in[KERF_GS_X], *const grid = problem->in[KERF_GS_GRID];
    const kerf_grid_sampler_modes *const modes = problem->self;
    const double bytes = (double)kerf_dtype_bytes(x->dtype);
    const double n_channels = x->at.dims[1] > 1 && x->at.strides[1] == 0 ? 1 : (double)x->at.dims[1];
    kerf_work work = {0};
    if (problem->want == 0)
        return work;
    work.written_bytes = bytes * kerf_sampling_unique(&problem->out[KERF_GS_Y]->at);
    if (n_channels == 0)
        return work;
    const kerf_sampling_counts counts =
        kerf_sampling_count(x, grid, in[KERF_GS_GRID], modes, KERF_COUNT_WEIGHTS | KERF_COUNT_READS);
    work.read_bytes =
        bytes * (ceil(counts.coordinates / kerf_sampling_sharing(&grid->at, -1)) + counts.pixels * n_channels);
    const bool is_flat = x->at.strides[2] == 0 || x->at.strides[3] == 0;
    if (modes->interpolation != KERF_NEAREST && !is_flat)
        work.flops = (2 * counts.taps_weighted - counts.samples) * n_channels / kerf_sampling_sharing(&grid->at, 3);
    return work;
}

const kerf_op kerf_op_grid_sampler = {
    .bytes = sizeof(kerf_op),
    .name = "grid_sampler",
    .summary = "2-D grid sampler: an image at points between its pixels",
    .attrs = attrs,
    .dims = kerf_sampling_dims,
    .inputs = (const char *const[]){"x", "grid", NULL},
    .outputs = (const char *const[]){"y", NULL},
    .fills = kerf_sampling_fills,
    .dtypes = kerf_sampling_dtypes,
    .n_dtypes = KERF_SAMPLING_N_DTYPES,
    .describe = describe,
    .fill = fill,
    .work = work_of,
    .steering = UINT64_C(1) << KERF_GS_GRID,
};
