/* An op small enough to plant any fault in: y[n] = 2 x[n]. Its layout text is one number, the stride of y. */
#ifndef KERF_TESTS_UNIT_VERIFY_TOY_H
#define KERF_TESTS_UNIT_VERIFY_TOY_H

#include "kernels/registry.h"
#include <math.h>
#include <stdlib.h>

static const kerf_attr_spec *const twice_attrs[] = {NULL};
static const char *const twice_dims[] = {"N", NULL};
static const char *const twice_inputs[] = {"x", NULL};
static const char *const twice_outputs[] = {"y", NULL};
enum { TWICE_RANDOM, TWICE_ZEROS };
static const char *const twice_fills[] = {"random", "zeros", NULL};
static const kerf_dtype twice_dtypes[] = {KERF_F32, KERF_F64};

static inline kerf_status twice_describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem,
                                         kerf_error *error) {
    kerf_operand *const operand = KERF_ARENA_NEW(arena, kerf_operand, 2);
    const kerf_operand **const list = KERF_ARENA_NEW(arena, const kerf_operand *, 2);
    if (c->dim[0] < 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "N is %lld; at least 0 is allowed", (long long)c->dim[0]);
    for (int i = 0; i < 2; ++i) {
        operand[i] = (kerf_operand){.bytes = sizeof *operand, .dtype = c->dtype};
        operand[i].at = (kerf_strided){.rank = 1, .dims = {c->dim[0]}, .strides = {1}};
        list[i] = &operand[i];
    }
    operand[0].name = "x";
    operand[1].name = "y";
    operand[1].role = KERF_OUT;
    operand[1].at.strides[0] = atoll(c->layout);
    *problem =
        (kerf_problem){.bytes = sizeof *problem, .op = c->op, .n_in = 1, .n_out = 1, .in = list, .out = list + 1};
    problem->want = c->want;
    problem->fill = c->fill;
    return KERF_OK;
}

static inline void twice_fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    const kerf_operand *const x = problem->in[0];
    for (int64_t i = 0; i < x->at.dims[0]; ++i)
        kerf_dtype_store(x->dtype, (char *)in[0] + i * (int64_t)kerf_dtype_bytes(x->dtype),
                         problem->fill == TWICE_ZEROS ? 0 : kerf_rng_unit(rng) + 0.5);
}

static inline kerf_work twice_work(const kerf_problem *problem, const void *const in[]) {
    (void)problem, (void)in;
    return (kerf_work){0};
}

static const kerf_op twice_op = {.bytes = sizeof(kerf_op),
                                 .name = "twice",
                                 .summary = "doubles",
                                 .attrs = twice_attrs,
                                 .dims = twice_dims,
                                 .inputs = twice_inputs,
                                 .outputs = twice_outputs,
                                 .fills = twice_fills,
                                 .dtypes = twice_dtypes,
                                 .n_dtypes = 2,
                                 .describe = twice_describe,
                                 .fill = twice_fill,
                                 .work = twice_work};

/* Allows an error of 2^-20, so that different bits can both be right. */
static inline kerf_status twice_oracle(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                                       const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    (void)team, (void)error;
    const kerf_operand *const x = problem->in[0];
    const int64_t n = x->at.dims[0];
    double *const exact = KERF_ARENA_NEW(arena, double, n), *const slack = KERF_ARENA_NEW(arena, double, n);
    for (int64_t i = 0; i < n; ++i) {
        exact[i] = 2 * kerf_dtype_load(x->dtype, (const char *)in[0] + i * (int64_t)kerf_dtype_bytes(x->dtype));
        slack[i] = 0x1p-20;
    }
    out[0] = (kerf_expect){.kind = KERF_EXPECT_BOUND, .n_elements = n, .lo = exact, .hi = exact, .slack = slack};
    return KERF_OK;
}

static const kerf_op_entry twice_entry = {.bytes = sizeof(kerf_op_entry), .op = &twice_op, .oracle = twice_oracle};

static inline kerf_case twice_case(int64_t n, const char *stride_of_y) {
    return (kerf_case){.op = &twice_op, .dim = {n}, .dtype = KERF_F32, .layout = stride_of_y, .want = 1, .seed = 7};
}

/* A row around one function: f32 only, on the CPU. */
#define TWICE_ROW(label, function, ...)                                                                                \
    static const kerf_variant function##_variant = {.bytes = sizeof(kerf_variant), .run = function, __VA_ARGS__};      \
    static const kerf_row label = {                                                                                    \
        .bytes = sizeof(kerf_row), .name = #label, .isa = "", .variant = {[KERF_CLASS_REAL32] = &function##_variant}}

#endif
