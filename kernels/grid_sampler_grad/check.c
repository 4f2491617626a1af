#include "kernels/grid_sampler_grad/op.h"
#include "kernels/operand.h"

const char *const kerf_gsg_dim_names[KERF_GSG_N_DIMS + 1] = {"N", "C", "H", "W", "Ho", "Wo", NULL};

const kerf_gsg_shape kerf_gsg_inputs[KERF_GSG_N_IN] = {
    {"grad", KERF_HAS_CHANNELS, {KERF_GSG_N, KERF_GSG_C, KERF_GSG_HO, KERF_GSG_WO}},
    {"x", KERF_HAS_CHANNELS, {KERF_GSG_N, KERF_GSG_C, KERF_GSG_H, KERF_GSG_W}},
    {"grid", KERF_NO_CHANNELS, {KERF_GSG_N, KERF_GSG_HO, KERF_GSG_WO, KERF_GSG_TWO}},
};
const kerf_gsg_shape kerf_gsg_outputs[KERF_GSG_N_OUT] = {
    {"dx", KERF_HAS_CHANNELS, {KERF_GSG_N, KERF_GSG_C, KERF_GSG_H, KERF_GSG_W}},
    {"dgrid", KERF_NO_CHANNELS, {KERF_GSG_N, KERF_GSG_HO, KERF_GSG_WO, KERF_GSG_TWO}},
};

/* The extents as the operands before had them; `from` is NULL where none had. */
typedef struct known_dim {
    const char *from;
    int64_t extent;
} known_dim;

static bool is_wanted(const kerf_problem *problem, int output) {
    return problem->want >> output & 1;
}

static kerf_status check_extent(const kerf_operand *operand, int dim, int64_t extent, kerf_error *error) {
    if (dim == KERF_GSG_TWO)
        return extent == 2 ? KERF_OK
                           : kerf_fail(error, KERF_ERROR_USAGE,
                                       "the last axis of %s has %lld elements: it must have 2, gx and gy",
                                       operand->name, (long long)extent);
    const bool of_image = dim == KERF_GSG_H || dim == KERF_GSG_W;
    const int64_t least = of_image ? 1 : 0;
    if (extent < least)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has %s=%lld: %s must be at least %lld", operand->name,
                         kerf_gsg_dim_names[dim], (long long)extent, kerf_gsg_dim_names[dim], (long long)least);
    if (of_image && extent > KERF_MAX_REACH)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has %s=%lld: %s must be at most 2^60", operand->name,
                         kerf_gsg_dim_names[dim], (long long)extent, kerf_gsg_dim_names[dim]);
    return KERF_OK;
}

static kerf_status check_shape(const kerf_operand *operand, const kerf_gsg_shape *shape, known_dim *known,
                               kerf_error *error) {
    if (operand->at.rank != KERF_GSG_RANK)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has rank %d: it must have rank %d", operand->name,
                         operand->at.rank, KERF_GSG_RANK);
    for (int axis = 0; axis < KERF_GSG_RANK; ++axis) {
        const int dim = shape->dim[axis];
        const int64_t extent = operand->at.dims[axis];
        KERF_TRY(check_extent(operand, dim, extent, error));
        if (dim == KERF_GSG_TWO)
            continue;
        if (known[dim].from && known[dim].extent != extent)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s has %s=%lld but %s has %s=%lld: they must be equal",
                             operand->name, kerf_gsg_dim_names[dim], (long long)extent, known[dim].from,
                             kerf_gsg_dim_names[dim], (long long)known[dim].extent);
        if (!known[dim].from)
            known[dim] = (known_dim){operand->name, extent};
    }
    int64_t count;
    if (!kerf_strided_count(&operand->at, &count)) {
        const int64_t *const dims = operand->at.dims;
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "%s of %s=%lld %s=%lld %s=%lld %s=%lld has more elements than can be numbered (2^63 - 1)",
                         operand->name, kerf_gsg_dim_names[shape->dim[0]], (long long)dims[0],
                         kerf_gsg_dim_names[shape->dim[1]], (long long)dims[1], kerf_gsg_dim_names[shape->dim[2]],
                         (long long)dims[2], shape->dim[3] == KERF_GSG_TWO ? "axis" : kerf_gsg_dim_names[shape->dim[3]],
                         (long long)dims[3]);
    }
    return KERF_OK;
}

kerf_status kerf_gsg_check_dims(const kerf_problem *problem, kerf_error *error) {
    known_dim known[KERF_GSG_N_DIMS] = {{0}};
    static const int order[KERF_GSG_N_IN] = {KERF_GSG_X, KERF_GSG_GRID, KERF_GSG_GRAD};
    for (int i = 0; i < KERF_GSG_N_IN; ++i)
        KERF_TRY(check_shape(problem->in[order[i]], &kerf_gsg_inputs[order[i]], known, error));
    for (int i = 0; i < KERF_GSG_N_OUT; ++i)
        if (is_wanted(problem, i))
            KERF_TRY(check_shape(problem->out[i], &kerf_gsg_outputs[i], known, error));
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

kerf_status kerf_grid_sampler_grad_check(const kerf_problem *problem, kerf_error *error) {
    KERF_TRY(check_modes(problem->self, error));
    const kerf_operand *const x = problem->in[KERF_GSG_X];
    KERF_TRY(check_type(x, x, error));
    KERF_TRY(kerf_gsg_check_dims(problem, error));
    for (int i = 0; i < KERF_GSG_N_IN; ++i) {
        KERF_TRY(check_type(problem->in[i], x, error));
        KERF_TRY(kerf_operand_check_reach(problem->in[i], error));
    }
    for (int i = 0; i < KERF_GSG_N_OUT; ++i) {
        const kerf_operand *const output = problem->out[i];
        if (!is_wanted(problem, i))
            continue;
        KERF_TRY(check_type(output, x, error));
        KERF_TRY(kerf_operand_check_reach(output, error));
        KERF_TRY(kerf_operand_check_disjoint(output, error));
    }
    return KERF_OK;
}
