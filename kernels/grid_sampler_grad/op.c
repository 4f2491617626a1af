#include "kernels/grid_sampler_grad/op.h"

#include <string.h>

static const kerf_attr_spec interpolation_mode = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "interpolation_mode",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"bilinear", "nearest", "bicubic", NULL},
    .synonyms = (const char *const[]){"linear", "bilinear", "cubic", "bicubic", NULL},
    .standard = {.number = KERF_BILINEAR},
};
static const kerf_attr_spec padding_mode = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "padding_mode",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"zeros", "border", "reflection", NULL},
    .standard = {.number = KERF_PAD_ZEROS},
};
static const kerf_attr_spec align_corners = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "align_corners",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"false", "true", NULL},
    .synonyms = (const char *const[]){"0", "false", "1", "true", NULL},
    .standard = {.number = KERF_CORNERS_OUTSIDE},
};
static const kerf_attr_spec accumulate = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "accumulate",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"f32", "storage", NULL},
    .standard = {.number = KERF_ACCUMULATE_F32},
};
static const kerf_attr_spec *const attrs[] = {&interpolation_mode, &padding_mode, &align_corners, &accumulate, NULL};

static const kerf_dtype dtypes[] = {KERF_F16, KERF_BF16, KERF_F32, KERF_F64};
enum { N_DTYPES = sizeof dtypes / sizeof dtypes[0] };

static kerf_status decode_modes(const kerf_case *c, kerf_grid_sampler_modes *modes, kerf_error *error) {
    for (int i = 0; attrs[i]; ++i) {
        int n_values = 0;
        while (attrs[i]->values[n_values])
            ++n_values;
        if (c->attr[i].number < 0 || c->attr[i].number >= n_values)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s has no value number %lld: there are %d", attrs[i]->name,
                             (long long)c->attr[i].number, n_values);
    }
    modes->interpolation = (kerf_interpolation)c->attr[0].number;
    modes->padding = (kerf_padding)c->attr[1].number;
    modes->corners = (kerf_corners)c->attr[2].number;
    modes->accumulate = (kerf_accumulate)c->attr[3].number;
    return KERF_OK;
}

static kerf_status check_case(const kerf_case *c, kerf_error *error) {
    bool known = false;
    for (int i = 0; i < N_DTYPES; ++i)
        known = known || c->dtype == dtypes[i];
    if (!known)
        return kerf_fail(error, KERF_ERROR_USAGE, "dtype %s: grid_sampler_grad takes f16, bf16, f32 or f64",
                         (unsigned)c->dtype < KERF_N_DTYPES ? kerf_dtype_name(c->dtype) : "unknown");
    if (c->want >> KERF_GSG_N_OUT)
        return kerf_fail(error, KERF_ERROR_USAGE, "want 0x%llx: grid_sampler_grad has two outputs, dx and dgrid",
                         (unsigned long long)c->want);
    return KERF_OK;
}

static kerf_operand *new_operand(const kerf_case *c, const kerf_gsg_shape *shape, kerf_role role, kerf_arena *arena) {
    kerf_operand *const operand = KERF_ARENA_NEW(arena, kerf_operand, 1);
    if (!operand)
        return NULL;
    *operand = (kerf_operand){.bytes = sizeof *operand, .name = shape->name, .role = role, .dtype = c->dtype};
    operand->alignment = (uint32_t)kerf_dtype_bytes(c->dtype);
    operand->at.rank = KERF_GSG_RANK;
    for (int axis = 0; axis < KERF_GSG_RANK; ++axis)
        operand->at.dims[axis] = shape->dim[axis] == KERF_GSG_TWO ? 2 : c->dim[shape->dim[axis]];
    return operand;
}

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    KERF_TRY(check_case(c, error));
    kerf_operand *operand[KERF_GSG_N_IN + KERF_GSG_N_OUT];
    const kerf_operand **const pointers = KERF_ARENA_NEW(arena, const kerf_operand *, KERF_GSG_N_IN + KERF_GSG_N_OUT);
    kerf_grid_sampler_modes *const modes = KERF_ARENA_NEW(arena, kerf_grid_sampler_modes, 1);
    bool full = !pointers || !modes;
    for (int i = 0; i < KERF_GSG_N_IN + KERF_GSG_N_OUT && !full; ++i) {
        const bool is_input = i < KERF_GSG_N_IN;
        const kerf_gsg_shape *const shape = is_input ? &kerf_gsg_inputs[i] : &kerf_gsg_outputs[i - KERF_GSG_N_IN];
        pointers[i] = operand[i] = new_operand(c, shape, is_input ? KERF_IN : KERF_OUT, arena);
        full = !operand[i];
    }
    if (full)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the arena is full: no room to describe a case");
    KERF_TRY(decode_modes(c, modes, error));
    *problem = (kerf_problem){.bytes = sizeof *problem, .op = c->op, .self = modes, .want = c->want, .fill = c->fill};
    problem->n_in = KERF_GSG_N_IN;
    problem->n_out = KERF_GSG_N_OUT;
    problem->in = pointers;
    problem->out = pointers + KERF_GSG_N_IN;
    KERF_TRY(kerf_gsg_check_dims(problem, error));
    for (int i = 0; i < KERF_GSG_N_IN; ++i)
        KERF_TRY(kerf_layout_apply(c->layout, c->op, kerf_gsg_inputs[i].channels, operand[i], error));
    for (int i = 0; i < KERF_GSG_N_OUT; ++i)
        KERF_TRY(kerf_layout_apply(c->layout, c->op, kerf_gsg_outputs[i].channels, operand[KERF_GSG_N_IN + i], error));
    return kerf_grid_sampler_grad_check(problem, error);
}

const kerf_op kerf_op_grid_sampler_grad = {
    .bytes = sizeof(kerf_op),
    .name = "grid_sampler_grad",
    .summary = "backward of the 2-D grid sampler: gradients of the image and of the grid",
    .attrs = attrs,
    .dims = kerf_gsg_dim_names,
    .inputs = (const char *const[]){"grad", "x", "grid", NULL},
    .outputs = (const char *const[]){"dx", "dgrid", NULL},
    .fills = (const char *const[]){"exact", "uniform", "smooth", "identity", "one_cell", "out_of_range", "kinks",
                                   "non_finite", NULL},
    .dtypes = dtypes,
    .n_dtypes = N_DTYPES,
    .describe = describe,
    .fill = kerf_gsg_fill,
    .work = kerf_gsg_work,
    .steering = UINT64_C(1) << KERF_GSG_GRID,
};
