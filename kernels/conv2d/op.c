#include "kernels/conv2d/op.h"

#include "kernels/layout.h"
#include "kernels/operand.h"
#include <math.h>
#include <string.h>

static const int64_t ones[] = {1, 1}, zeros[] = {0, 0, 0, 0};
static const kerf_attr_spec stride = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "stride",
    .kind = KERF_ATTR_INT_LIST,
    .standard = {.list = ones, .n_list = 2},
};
static const kerf_attr_spec dilation = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "dilation",
    .kind = KERF_ATTR_INT_LIST,
    .standard = {.list = ones, .n_list = 2},
};
static const kerf_attr_spec pads = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "pads",
    .kind = KERF_ATTR_INT_LIST,
    .standard = {.list = zeros, .n_list = 4},
};
static const kerf_attr_spec groups = {
    .bytes = sizeof(kerf_attr_spec), .name = "groups", .kind = KERF_ATTR_INT, .standard = {.number = 1}};
static const kerf_attr_spec bias = {
    .bytes = sizeof(kerf_attr_spec),
    .name = "bias",
    .kind = KERF_ATTR_ENUM,
    .values = (const char *const[]){"false", "true", NULL},
};
enum { ATTR_STRIDE, ATTR_DILATION, ATTR_PADS, ATTR_GROUPS, ATTR_BIAS };
static const kerf_attr_spec *const attrs[] = {&stride, &dilation, &pads, &groups, &bias, NULL};

enum { DIM_N, DIM_C, DIM_H, DIM_W, DIM_M, DIM_KH, DIM_KW };
static const char *const dims[] = {"N", "C", "H", "W", "M", "kh", "kw", NULL};

static kerf_status copy_list(const kerf_case *c, int index, int n, int64_t *to, kerf_error *error) {
    const kerf_attr *const attr = &c->attr[index];
    if (attr->n_list != n)
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: %s has %d numbers: it takes %d%s", attrs[index]->name,
                         attr->n_list, n, n == 4 ? " (top,left,bottom,right)" : " (along H,W)");
    memcpy(to, attr->list, (size_t)n * sizeof *to);
    return KERF_OK;
}

static kerf_status read_attributes(const kerf_case *c, kerf_conv2d *self, kerf_error *error) {
    KERF_TRY(copy_list(c, ATTR_STRIDE, 2, self->stride, error));
    KERF_TRY(copy_list(c, ATTR_DILATION, 2, self->dilation, error));
    KERF_TRY(copy_list(c, ATTR_PADS, 4, self->pads, error));
    self->groups = c->attr[ATTR_GROUPS].number;
    self->has_bias = c->attr[ATTR_BIAS].number != 0;
    return KERF_OK;
}

static kerf_operand operand_of(const char *name, kerf_role role, kerf_dtype dtype) {
    return (kerf_operand){.bytes = sizeof(kerf_operand),
                          .name = name,
                          .role = role,
                          .dtype = dtype,
                          .alignment = (uint32_t)kerf_dtype_bytes(dtype)};
}

/* A filter's channels are C / groups; where that is none of a whole number, resolve says so. */
static void set_dims(const kerf_case *c, const kerf_conv2d *self, kerf_operand operands[]) {
    const int64_t *const d = c->dim;
    const int64_t per_group = self->groups >= 1 ? d[DIM_C] / self->groups : 0;
    operands[KERF_CONV2D_X].at = (kerf_strided){4, {d[DIM_N], d[DIM_C], d[DIM_H], d[DIM_W]}, {0}};
    operands[KERF_CONV2D_W].at = (kerf_strided){4, {d[DIM_M], per_group, d[DIM_KH], d[DIM_KW]}, {0}};
    operands[KERF_CONV2D_BIAS].at = (kerf_strided){1, {d[DIM_M]}, {0}};
}

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    if (c->want >> 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d has one output, y");
    kerf_operand *const operands = KERF_ARENA_NEW(arena, kerf_operand, KERF_CONV2D_N_IN + 1);
    const kerf_operand **const pointers = KERF_ARENA_NEW(arena, const kerf_operand *, KERF_CONV2D_N_IN + 1);
    kerf_conv2d *const self = KERF_ARENA_NEW(arena, kerf_conv2d, 1);
    if (!operands || !pointers || !self)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the arena is full: no room to describe a case");
    KERF_TRY(read_attributes(c, self, error));
    const kerf_dtype sum = kerf_conv2d_sum_dtype(c->dtype);
    operands[KERF_CONV2D_X] = operand_of("x", KERF_IN, c->dtype);
    operands[KERF_CONV2D_W] = operand_of("w", KERF_IN_CONSTANT, c->dtype);
    operands[KERF_CONV2D_BIAS] = operand_of("bias", KERF_IN_CONSTANT, sum);
    operands[KERF_CONV2D_N_IN] = operand_of("y", KERF_OUT, sum);
    set_dims(c, self, operands);
    kerf_strided *const y = &operands[KERF_CONV2D_N_IN].at;
    KERF_TRY(kerf_conv2d_resolve(self, &operands[KERF_CONV2D_X].at, &operands[KERF_CONV2D_W].at,
                                 &operands[KERF_CONV2D_BIAS].at, y, error));
    for (int i = 0; i <= KERF_CONV2D_N_IN; ++i) {
        const kerf_channels channels = i == KERF_CONV2D_BIAS ? KERF_NO_CHANNELS : KERF_HAS_CHANNELS;
        pointers[i] = &operands[i];
        if (i == KERF_CONV2D_BIAS && !self->has_bias)
            continue;
        KERF_TRY(kerf_layout_apply(c->layout, c->op, channels, &operands[i], error));
        KERF_TRY(kerf_operand_check_reach(&operands[i], error));
    }
    *problem = (kerf_problem){.bytes = sizeof *problem,
                              .op = c->op,
                              .self = self,
                              .n_in = self->has_bias ? KERF_CONV2D_N_IN : KERF_CONV2D_BIAS,
                              .n_out = 1,
                              .in = pointers,
                              .out = pointers + KERF_CONV2D_N_IN,
                              .want = c->want,
                              .fill = c->fill};
    return kerf_operand_check_disjoint(&operands[KERF_CONV2D_N_IN], error);
}

/* ---- fill ------------------------------------------------------------------------------------------------------- */

enum { FILL_EXACT, FILL_UNIFORM, FILL_EXTREME, FILL_NON_FINITE };
static const char *const fills[] = {"exact", "uniform", "extreme", "non_finite", NULL};

/* Small whole numbers, never 0: whatever the order, sums of up to 2^18 of their products are exact in float. */
static double whole_number(kerf_rng *rng) {
    const double magnitude = 1 + (double)kerf_rng_below(rng, 8);
    return kerf_rng_below(rng, 2) ? magnitude : -magnitude;
}

/* extreme: now and then a subnormal number, which a kernel may flush, or one whose products reach the end of f16.
 * non_finite: now and then NaN or an infinity. */
static double real_value(kerf_dtype dtype, int fill, kerf_rng *rng) {
    const double number = 2 * kerf_rng_unit(rng) - 1;
    const uint64_t dice = kerf_rng_below(rng, 64);
    if (fill == FILL_EXACT)
        return whole_number(rng);
    if (fill == FILL_EXTREME)
        return dice < 4 ? number * kerf_dtype_tiniest(dtype) * 128 : dice < 8 ? number * 250 : number;
    if (fill == FILL_NON_FINITE && dice < 3)
        return dice == 0 ? NAN : dice == 1 ? INFINITY : -INFINITY;
    return number;
}

/* Whole numbers over all of their type: products of the ends, sums that pass 2^31. */
static void fill_whole(kerf_dtype dtype, int fill, kerf_rng *rng, void *element) {
    static const int8_t ends[] = {-128, 127, -127, -1, 0, 1};
    const int64_t bits = fill == FILL_EXACT ? (int64_t)whole_number(rng) : (int64_t)kerf_rng_next(rng);
    memcpy(element, &bits, kerf_dtype_bytes(dtype)); /* little-endian, as all processors here */
    if (fill == FILL_EXTREME && dtype == KERF_I8)
        memcpy(element, &ends[kerf_rng_below(rng, sizeof ends)], 1);
    else if (fill == FILL_EXTREME)
        memcpy(element, (const int32_t[]){bits & 1 ? INT32_MAX : INT32_MIN}, sizeof(int32_t));
}

static void fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    for (int i = 0; i < problem->n_in; ++i) {
        const kerf_operand *const operand = problem->in[i];
        const kerf_strided at = kerf_strided_unique(&operand->at);
        const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
        for (kerf_walk walk = kerf_walk_begin(&at); !walk.done; kerf_walk_next(&walk)) {
            char *const element = (char *)in[i] + walk.offset * bytes;
            if (operand->dtype <= KERF_F64)
                kerf_dtype_store(operand->dtype, element, real_value(operand->dtype, problem->fill, rng));
            else
                fill_whole(operand->dtype, problem->fill, rng, element);
        }
    }
}

static const kerf_dtype dtypes[] = {KERF_F32, KERF_F16, KERF_BF16, KERF_F64, KERF_I8};

const kerf_op kerf_op_conv2d = {
    .bytes = sizeof(kerf_op),
    .name = "conv2d",
    .summary = "2-D convolution with stride, dilation, groups and bias",
    .attrs = attrs,
    .dims = dims,
    .inputs = (const char *const[]){"x", "w", "bias", NULL},
    .outputs = (const char *const[]){"y", NULL},
    .fills = fills,
    .dtypes = dtypes,
    .n_dtypes = sizeof dtypes / sizeof *dtypes,
    .describe = describe,
    .fill = fill,
    .work = kerf_conv2d_work,
};
