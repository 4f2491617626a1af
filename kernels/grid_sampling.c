#include "kernels/grid_sampling.h"

#include "kernels/operand.h"

const kerf_attr_spec kerf_sampling_interpolation_mode = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "interpolation_mode",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"bilinear", "nearest", "bicubic", NULL},
    .synonyms = (const char *const[]){"linear", "bilinear", "cubic", "bicubic", NULL},
    .standard = {.number = KERF_BILINEAR},
};
const kerf_attr_spec kerf_sampling_padding_mode = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "padding_mode",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"zeros", "border", "reflection", NULL},
    .standard = {.number = KERF_PAD_ZEROS},
};
const kerf_attr_spec kerf_sampling_align_corners = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "align_corners",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"false", "true", NULL},
    .synonyms = (const char *const[]){"0", "false", "1", "true", NULL},
    .standard = {.number = KERF_CORNERS_OUTSIDE},
};
const char *const kerf_sampling_dims[KERF_SAMPLING_N_DIMS + 1] = {"N", "C", "H", "W", "Ho", "Wo", NULL};
const char *const kerf_sampling_fills[] = {"exact",        "uniform", "smooth",     "identity", "one_cell",
                                           "out_of_range", "kinks",   "non_finite", NULL};
const kerf_dtype kerf_sampling_dtypes[KERF_SAMPLING_N_DTYPES] = {KERF_F16, KERF_BF16, KERF_F32, KERF_F64};

/* The extents as the operands before had them; `from` is NULL where none had. */
typedef struct known_dim {
    const char *from;
    int64_t extent;
} known_dim;

static bool is_wanted(const kerf_problem *problem, int output) {
    return problem->want >> output & 1;
}

static kerf_status check_extent(const kerf_operand *operand, int dim, int64_t extent, kerf_error *error) {
    if (dim == KERF_SAMPLING_TWO)
        return extent == 2 ? KERF_OK
                           : kerf_fail(error, KERF_ERROR_USAGE,
                                       "the last axis of %s has %lld elements: it must have 2, gx and gy",
                                       operand->name, (long long)extent);
    const bool of_image = dim == KERF_SAMPLING_H || dim == KERF_SAMPLING_W;
    const int64_t least = of_image ? 1 : 0;
    if (extent < least)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has %s=%lld: %s must be at least %lld", operand->name,
                         kerf_sampling_dims[dim], (long long)extent, kerf_sampling_dims[dim], (long long)least);
    if (of_image && extent > KERF_MAX_REACH)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has %s=%lld: %s must be at most 2^60", operand->name,
                         kerf_sampling_dims[dim], (long long)extent, kerf_sampling_dims[dim]);
    return KERF_OK;
}

static kerf_status check_shape(const kerf_operand *operand, const kerf_sampling_shape *shape, known_dim *known,
                               kerf_error *error) {
    if (operand->at.rank != KERF_SAMPLING_RANK)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has rank %d: it must have rank %d", operand->name,
                         operand->at.rank, KERF_SAMPLING_RANK);
    for (int axis = 0; axis < KERF_SAMPLING_RANK; ++axis) {
        const int dim = shape->dim[axis];
        const int64_t extent = operand->at.dims[axis];
        KERF_TRY(check_extent(operand, dim, extent, error));
        if (dim == KERF_SAMPLING_TWO)
            continue;
        if (known[dim].from && known[dim].extent != extent)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s has %s=%lld but %s has %s=%lld: they must be equal",
                             operand->name, kerf_sampling_dims[dim], (long long)extent, known[dim].from,
                             kerf_sampling_dims[dim], (long long)known[dim].extent);
        if (!known[dim].from)
            known[dim] = (known_dim){operand->name, extent};
    }
    int64_t count;
    if (!kerf_strided_count(&operand->at, &count)) {
        const int64_t *const dims = operand->at.dims;
        return kerf_fail(
            error, KERF_ERROR_USAGE,
            "%s of %s=%lld %s=%lld %s=%lld %s=%lld has more elements than can be numbered (2^63 - 1)", operand->name,
            kerf_sampling_dims[shape->dim[0]], (long long)dims[0], kerf_sampling_dims[shape->dim[1]],
            (long long)dims[1], kerf_sampling_dims[shape->dim[2]], (long long)dims[2],
            shape->dim[3] == KERF_SAMPLING_TWO ? "axis" : kerf_sampling_dims[shape->dim[3]], (long long)dims[3]);
    }
    return KERF_OK;
}

/* The part of kerf_sampling_check that needs no strides. */
static kerf_status check_dims(const kerf_sampling_op *op, const kerf_problem *problem, kerf_error *error) {
    known_dim known[KERF_SAMPLING_N_DIMS] = {{0}};
    KERF_TRY(check_shape(problem->in[op->x], &op->in[op->x], known, error));
    KERF_TRY(check_shape(problem->in[op->grid], &op->in[op->grid], known, error));
    for (int i = 0; i < op->n_in; ++i)
        KERF_TRY(check_shape(problem->in[i], &op->in[i], known, error));
    for (int i = 0; i < op->n_out; ++i)
        if (is_wanted(problem, i))
            KERF_TRY(check_shape(problem->out[i], &op->out[i], known, error));
    return KERF_OK;
}

static kerf_status check_modes(const kerf_grid_sampler_modes *modes, kerf_error *error) {
    const struct {
        const char *name;
        int value, last;
    } fields[] = {
        {"interpolation", (int)modes->interpolation, KERF_BICUBIC},
        {"padding", (int)modes->padding, KERF_PAD_REFLECTION},
        {"corners", (int)modes->corners, KERF_CORNERS_ALIGNED},
        {"accumulate", (int)modes->accumulate, KERF_ACCUMULATE_STORAGE},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i)
        if (fields[i].value < 0 || fields[i].value > fields[i].last)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s mode %d is not known: 0 to %d are", fields[i].name,
                             fields[i].value, fields[i].last);
    return KERF_OK;
}

static kerf_status check_type(const kerf_operand *operand, const kerf_operand *x, kerf_error *error) {
    if ((unsigned)operand->dtype >= KERF_N_DTYPES || kerf_dtype_unit_roundoff(operand->dtype) == 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "the type of %s is %s: f16, bf16, f32 and f64 are allowed",
                         operand->name,
                         (unsigned)operand->dtype < KERF_N_DTYPES ? kerf_dtype_name(operand->dtype) : "unknown");
    if (operand->dtype != x->dtype)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s is %s but x is %s: all operands must have one type",
                         operand->name, kerf_dtype_name(operand->dtype), kerf_dtype_name(x->dtype));
    return KERF_OK;
}

kerf_status kerf_sampling_check(const kerf_sampling_op *op, const kerf_problem *problem, kerf_error *error) {
    KERF_TRY(check_modes(problem->self, error));
    const kerf_operand *const x = problem->in[op->x];
    KERF_TRY(check_type(x, x, error));
    KERF_TRY(check_dims(op, problem, error));
    for (int i = 0; i < op->n_in; ++i) {
        KERF_TRY(check_type(problem->in[i], x, error));
        KERF_TRY(kerf_operand_check_reach(problem->in[i], error));
    }
    for (int i = 0; i < op->n_out; ++i) {
        const kerf_operand *const output = problem->out[i];
        if (!is_wanted(problem, i))
            continue;
        KERF_TRY(check_type(output, x, error));
        KERF_TRY(kerf_operand_check_reach(output, error));
        KERF_TRY(kerf_operand_check_disjoint(output, error));
    }
    return KERF_OK;
}

static kerf_status decode_modes(const kerf_case *c, kerf_grid_sampler_modes *modes, kerf_error *error) {
    int value[KERF_SAMPLING_MOST_ATTRS] = {0};
    for (int i = 0; c->op->attrs[i]; ++i) {
        const kerf_attr_spec *const spec = c->op->attrs[i];
        int n_values = 0;
        while (spec->values[n_values])
            ++n_values;
        if (c->attr[i].number < 0 || c->attr[i].number >= n_values)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s has no value number %lld: there are %d", spec->name,
                             (long long)c->attr[i].number, n_values);
        value[i] = (int)c->attr[i].number;
    }
    modes->interpolation = (kerf_interpolation)value[0];
    modes->padding = (kerf_padding)value[1];
    modes->corners = (kerf_corners)value[2];
    modes->accumulate = (kerf_accumulate)value[3];
    return KERF_OK;
}

static kerf_status check_case(const kerf_sampling_op *op, const kerf_case *c, kerf_error *error) {
    bool known = false;
    for (int i = 0; i < KERF_SAMPLING_N_DTYPES; ++i)
        known = known || c->dtype == kerf_sampling_dtypes[i];
    if (!known)
        return kerf_fail(error, KERF_ERROR_USAGE, "dtype %s: %s takes f16, bf16, f32 or f64",
                         (unsigned)c->dtype < KERF_N_DTYPES ? kerf_dtype_name(c->dtype) : "unknown", op->name);
    if (c->want >> op->n_out)
        return kerf_fail(error, KERF_ERROR_USAGE, "want 0x%llx: %s has %s", (unsigned long long)c->want, op->name,
                         op->outputs);
    return KERF_OK;
}

static kerf_operand *new_operand(const kerf_case *c, const kerf_sampling_shape *shape, kerf_role role,
                                 kerf_arena *arena) {
    kerf_operand *const operand = KERF_ARENA_NEW(arena, kerf_operand, 1);
    if (!operand)
        return NULL;
    *operand = (kerf_operand){.bytes = sizeof *operand, .name = shape->name, .role = role, .dtype = c->dtype};
    operand->alignment = (uint32_t)kerf_dtype_bytes(c->dtype);
    operand->at.rank = KERF_SAMPLING_RANK;
    for (int axis = 0; axis < KERF_SAMPLING_RANK; ++axis)
        operand->at.dims[axis] = shape->dim[axis] == KERF_SAMPLING_TWO ? 2 : c->dim[shape->dim[axis]];
    return operand;
}

kerf_status kerf_sampling_describe(const kerf_sampling_op *op, const kerf_case *c, kerf_arena *arena,
                                   kerf_problem *problem, kerf_error *error) {
    KERF_TRY(check_case(op, c, error));
    const int n_operands = op->n_in + op->n_out;
    kerf_operand *operand[KERF_SAMPLING_MOST_IN + KERF_SAMPLING_MOST_OUT];
    const kerf_operand **const pointers = KERF_ARENA_NEW(arena, const kerf_operand *, (size_t)n_operands);
    kerf_grid_sampler_modes *const modes = KERF_ARENA_NEW(arena, kerf_grid_sampler_modes, 1);
    bool full = !pointers || !modes;
    for (int i = 0; i < n_operands && !full; ++i) {
        const bool is_input = i < op->n_in;
        const kerf_sampling_shape *const shape = is_input ? &op->in[i] : &op->out[i - op->n_in];
        pointers[i] = operand[i] = new_operand(c, shape, is_input ? KERF_IN : KERF_OUT, arena);
        full = !operand[i];
    }
    if (full)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the arena is full: no room to describe a case");
    KERF_TRY(decode_modes(c, modes, error));
    *problem = (kerf_problem){.bytes = sizeof *problem, .op = c->op, .self = modes, .want = c->want, .fill = c->fill};
    problem->n_in = op->n_in;
    problem->n_out = op->n_out;
    problem->in = pointers;
    problem->out = pointers + op->n_in;
    KERF_TRY(check_dims(op, problem, error));
    for (int i = 0; i < op->n_in; ++i)
        KERF_TRY(kerf_layout_apply(c->layout, c->op, op->in[i].channels, operand[i], error));
    for (int i = 0; i < op->n_out; ++i)
        KERF_TRY(kerf_layout_apply(c->layout, c->op, op->out[i].channels, operand[op->n_in + i], error));
    return kerf_sampling_check(op, problem, error);
}
