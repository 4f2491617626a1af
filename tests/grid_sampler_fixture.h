/* A problem of grid_sampler_grad or grid_sampler for tests, with its data, its oracle and the rows of this machine.
 *   fixture f;
 *   fixture_open(&f, KERF_F64, modes, (int64_t[]){n, c, h, w, ho, wo});
 *   fixture_set(&f, KERF_GSG_X, i, value);                    element i in row-major order; data start as zeros
 *   if (fixture_expect(&f)) ... f.expect[KERF_GSG_DX].lo[i]
 *   for (const kerf_row *const *row = fixture_rows(); *row; ++row)
 *       if (fixture_run(&f, *row, team)) ... fixture_get(&f, KERF_GSG_DX, i)
 *   fixture_close(&f);
 * For grid_sampler fixture_open_forward() and fixture_rows_of(&f). */
#ifndef KERF_TESTS_GRID_SAMPLER_FIXTURE_H
#define KERF_TESTS_GRID_SAMPLER_FIXTURE_H

#include "base/cpu.h"
#include "harness/compare.h"
#include "harness/team.h"
#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/registry.h"
#include "tests/catch_shim.h"
#include "tests/op_fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_N_OPERANDS = KERF_GSG_N_IN + KERF_GSG_N_OUT };

typedef struct fixture {
    const kerf_op_entry *entry;
    int n_in, n_out;
    kerf_grid_sampler_modes modes;
    kerf_operand operand[FIXTURE_N_OPERANDS]; /* inputs, then outputs */
    const kerf_operand *pointer[FIXTURE_N_OPERANDS];
    void *data[FIXTURE_N_OPERANDS]; /* element (0,...,0) */
    int64_t count[FIXTURE_N_OPERANDS];
    kerf_problem problem;
    kerf_arena arena;
    kerf_expect expect[KERF_GSG_N_OUT];
} fixture;

static inline const kerf_row *const *fixture_rows(void) {
    return kerf_registry_find(kerf_registry_builtin(), "grid_sampler_grad")->rows;
}

static inline const kerf_row *const *fixture_rows_of(const fixture *f) {
    return f->entry->rows;
}

typedef struct fixture_shape {
    const char *name;
    int64_t dims[4];
} fixture_shape;

static inline void fixture_open_as(fixture *f, const char *op, int n_in, int n_out, const fixture_shape *shape,
                                   kerf_dtype dtype, kerf_grid_sampler_modes modes) {
    memset(f, 0, sizeof *f);
    f->entry = kerf_registry_find(kerf_registry_builtin(), op);
    f->n_in = n_in;
    f->n_out = n_out;
    f->modes = modes;
    for (int i = 0; i < n_in + n_out; ++i) {
        kerf_operand *const o = &f->operand[i];
        *o = (kerf_operand){.bytes = sizeof *o, .name = shape[i].name, .role = i < n_in ? KERF_IN : KERF_OUT};
        o->dtype = dtype;
        o->alignment = (uint32_t)kerf_dtype_bytes(dtype);
        o->at.rank = 4;
        memcpy(o->at.dims, shape[i].dims, sizeof shape[i].dims);
        kerf_strided_pack(&o->at);
        kerf_strided_count(&o->at, &f->count[i]);
        f->data[i] = calloc((size_t)f->count[i] + 1, kerf_dtype_bytes(dtype));
        f->pointer[i] = o;
    }
    f->problem = (kerf_problem){.bytes = sizeof f->problem, .op = f->entry->op, .self = &f->modes};
    f->problem.n_in = n_in;
    f->problem.n_out = n_out;
    f->problem.in = f->pointer;
    f->problem.out = f->pointer + n_in;
    f->problem.want = (1u << n_out) - 1;
    (void)kerf_arena_map_shared(&f->arena, (size_t)1 << 30, NULL);
}

/* dims: N, C, H, W, Ho, Wo. Everything is packed and wanted. */
static inline void fixture_open(fixture *f, kerf_dtype dtype, kerf_grid_sampler_modes modes, const int64_t dims[6]) {
    const int64_t n = dims[0], c = dims[1], h = dims[2], w = dims[3], ho = dims[4], wo = dims[5];
    const fixture_shape shape[] = {{"grad", {n, c, ho, wo}},
                                   {"x", {n, c, h, w}},
                                   {"grid", {n, ho, wo, 2}},
                                   {"dx", {n, c, h, w}},
                                   {"dgrid", {n, ho, wo, 2}}};
    fixture_open_as(f, "grid_sampler_grad", KERF_GSG_N_IN, KERF_GSG_N_OUT, shape, dtype, modes);
}

static inline void fixture_open_forward(fixture *f, kerf_dtype dtype, kerf_grid_sampler_modes modes,
                                        const int64_t dims[6]) {
    const int64_t n = dims[0], c = dims[1], h = dims[2], w = dims[3], ho = dims[4], wo = dims[5];
    const fixture_shape shape[] = {{"x", {n, c, h, w}}, {"grid", {n, ho, wo, 2}}, {"y", {n, c, ho, wo}}};
    fixture_open_as(f, "grid_sampler", KERF_GS_N_IN, KERF_GS_N_OUT, shape, dtype, modes);
}

static inline void fixture_close(fixture *f) {
    for (int i = 0; i < f->n_in + f->n_out; ++i)
        free(f->data[i]);
    kerf_arena_unmap(&f->arena);
}

static inline void *fixture_at(const fixture *f, int operand, int64_t number) {
    const kerf_operand *const o = &f->operand[operand];
    return (unsigned char *)f->data[operand] +
           kerf_strided_offset(&o->at, number) * (int64_t)kerf_dtype_bytes(o->dtype);
}

static inline void fixture_set(fixture *f, int input, int64_t number, double value) {
    kerf_dtype_store(f->operand[input].dtype, fixture_at(f, input, number), value);
}

static inline double fixture_in(const fixture *f, int input, int64_t number) {
    return kerf_dtype_load(f->operand[input].dtype, fixture_at(f, input, number));
}

static inline double fixture_get(const fixture *f, int output, int64_t number) {
    return fixture_in(f, f->n_in + output, number);
}

static inline void fixture_set_all(fixture *f, int input, const double *values) {
    for (int64_t i = 0; i < f->count[input]; ++i)
        fixture_set(f, input, i, values[i]);
}

static inline void fixture_fill(fixture *f, int input, double value) {
    for (int64_t i = 0; i < f->count[input]; ++i)
        fixture_set(f, input, i, value);
}

static inline bool fixture_expect_by(fixture *f, const kerf_team *team) {
    kerf_error error = {0};
    const void *const in[] = {f->data[0], f->data[1], f->data[2]};
    const kerf_status status = f->entry->oracle(&f->problem, in, f->expect, team, &f->arena, &error);
    if (status != KERF_OK)
        kerf_test_say("oracle: %s", error.message);
    return kerf_test_check("oracle", "status == KERF_OK", status == KERF_OK, __FILE__, __LINE__);
}

static inline bool fixture_expect(fixture *f) {
    return fixture_expect_by(f, NULL);
}

/* Why the row cannot run here, or NULL. */
static inline bool fixture_can_run(const fixture *f, const kerf_row *row) {
    if (row->missing || row->device == KERF_DEVICE_CUDA || (row->isa_mask & kerf_cpu_isa()) != row->isa_mask)
        return false;
    const kerf_variant *const variant = row->variant[kerf_dtype_class(f->operand[0].dtype)];
    char reason[200];
    kerf_text why = kerf_text_over(reason, sizeof reason);
    return variant && !(variant->refuses && variant->refuses(&f->problem, NULL, &why));
}

/* Runs the row on outputs that held NaN. False where it cannot run here; a status other than KERF_OK fails the test. */
static inline bool fixture_run(fixture *f, const kerf_row *row, const kerf_team *team) {
    if (!fixture_can_run(f, row))
        return false;
    const kerf_variant *const variant = row->variant[kerf_dtype_class(f->operand[0].dtype)];
    const kerf_memory memory = variant->memory ? variant->memory(&f->problem, NULL) : (kerf_memory){0};
    void *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 64);
    memset(scratch, 0xff, memory.scratch_bytes);
    const void *const in[] = {f->data[0], f->data[1], f->data[2]};
    void *out[KERF_SAMPLING_MOST_OUT];
    for (int o = 0; o < f->n_out; ++o) {
        out[o] = f->problem.want >> o & 1 ? f->data[f->n_in + o] : NULL;
        for (int64_t i = 0; i < f->count[f->n_in + o]; ++i)
            fixture_set(f, f->n_in + o, i, (double)NAN);
    }
    const kerf_launch launch = {
        .bytes = sizeof launch, .problem = &f->problem, .in = in, .out = out, .scratch = scratch, .team = team};
    const kerf_status status = variant->run(&launch);
    free(scratch);
    return kerf_test_check("run", "status == KERF_OK", status == KERF_OK, __FILE__, __LINE__);
}

/* Whether the wanted outputs are right by the oracle; says where not. Outputs are packed. */
static inline bool fixture_is_right(const fixture *f, const kerf_row *row) {
    for (int o = 0; o < f->n_out; ++o) {
        if (!(f->problem.want >> o & 1))
            continue;
        const kerf_operand *const operand = &f->operand[f->n_in + o];
        const kerf_comparison c = kerf_compare_output(&f->expect[o], operand->dtype, f->data[f->n_in + o]);
        if (c.check[0]) {
            kerf_test_say("%s: %s of %s %s, element %lld: got %.17g, expected [%.17g, %.17g] slack %.3g",
                          op_row_name(row), c.check, kerf_dtype_name(operand->dtype), operand->name, (long long)c.worst,
                          c.got, c.lo, c.hi, c.slack);
            return false;
        }
    }
    return true;
}

#endif
