/* A problem of conv2d for tests, with its data, by sizes that a test may change:
 *   conv_shape shape = {.n = 1, .c = 3, .h = 5, .w = 6, .m = 4, .kernel = {3, 3}};        0 of stride etc. counts as 1
 *   conv f;
 *   if (conv_open(&f, &shape)) ... *inputs start as zeros*; conv_fill(&f, "exact", seed);
 *   conv_set(&f, KERF_CONV2D_X, (int64_t[]){n, c, y, x}, value);
 *   for (const kerf_row *const *row = conv_rows(); *row; ++row)
 *       if (conv_run(&f, *row, team)) ... conv_get(&f, (int64_t[]){n, m, i, j})
 *   conv_close(&f); */
#ifndef KERF_TESTS_CONV2D_FIXTURE_H
#define KERF_TESTS_CONV2D_FIXTURE_H

#include "base/cpu.h"
#include "base/rng.h"
#include "harness/casegen.h"
#include "harness/team.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/registry.h"
#include "tests/catch_shim.h"
#include "tests/op_fixture.h"

#include <stdlib.h>
#include <string.h>

typedef struct conv_shape {
    int64_t n, c, h, w, m, kernel[2], stride[2], dilation[2], pads[4], groups;
    bool bias;
    const char *dtype, *layout; /* NULL: f32, packed */
} conv_shape;

typedef struct conv {
    kerf_arena arena;
    kerf_problem problem;
    void *data[KERF_CONV2D_N_IN + 1]; /* inputs, then y */
} conv;

static inline const kerf_op_entry *conv_entry(void) {
    return kerf_registry_find(kerf_registry_builtin(), "conv2d");
}

static inline const kerf_row *const *conv_rows(void) {
    return conv_entry()->rows;
}

static inline const kerf_operand *conv_operand(const conv *f, int operand) {
    return operand == KERF_CONV2D_N_IN ? f->problem.out[0] : f->problem.in[operand];
}

static inline int64_t conv_count(const conv *f, int operand) {
    int64_t count = 0;
    return kerf_strided_count(&conv_operand(f, operand)->at, &count) ? count : 0;
}

static inline long long conv_or_1(int64_t value) {
    return value ? value : 1;
}

static inline void conv_print(const conv_shape *s, kerf_text *line) {
    kerf_text_printf(line, "N=%lld C=%lld H=%lld W=%lld M=%lld kh=%lld kw=%lld", (long long)s->n, (long long)s->c,
                     (long long)s->h, (long long)s->w, (long long)s->m, (long long)s->kernel[0],
                     (long long)s->kernel[1]);
    kerf_text_printf(line, " stride=%lld,%lld dilation=%lld,%lld pads=%lld,%lld,%lld,%lld groups=%lld",
                     conv_or_1(s->stride[0]), conv_or_1(s->stride[1]), conv_or_1(s->dilation[0]),
                     conv_or_1(s->dilation[1]), (long long)s->pads[0], (long long)s->pads[1], (long long)s->pads[2],
                     (long long)s->pads[3], conv_or_1(s->groups));
    kerf_text_printf(line, " bias=%s dtype=%s layout=%s", s->bias ? "true" : "false", s->dtype ? s->dtype : "f32",
                     s->layout ? s->layout : "packed");
}

/* False, with the reason told, where the op refuses it. Layouts without gaps only. */
static inline bool conv_open(conv *f, const conv_shape *shape) {
    char text[400];
    kerf_text line = kerf_text_over(text, sizeof text);
    kerf_error error = {""};
    kerf_case c;
    *f = (conv){0};
    conv_print(shape, &line);
    kerf_status status = kerf_arena_map_shared(&f->arena, 1 << 20, &error);
    if (status == KERF_OK)
        status = kerf_case_parse(conv_entry()->op, text, &f->arena, &c, &error);
    if (status == KERF_OK)
        status = conv_entry()->op->describe(&c, &f->arena, &f->problem, &error);
    if (status != KERF_OK) {
        kerf_test_say("%s: %s", text, error.message);
        return kerf_test_check("conv_open", "status == KERF_OK", 0, __FILE__, __LINE__);
    }
    for (int i = 0; i <= KERF_CONV2D_N_IN; ++i)
        if (i < f->problem.n_in || i == KERF_CONV2D_N_IN)
            f->data[i] = calloc((size_t)conv_count(f, i) + 1, kerf_dtype_bytes(conv_operand(f, i)->dtype));
    return true;
}

static inline void conv_close(conv *f) {
    for (int i = 0; i <= KERF_CONV2D_N_IN; ++i)
        free(f->data[i]);
    kerf_arena_unmap(&f->arena);
}

static inline void conv_fill(conv *f, const char *fill, uint64_t seed) {
    kerf_rng rng = kerf_rng_seeded(seed, 7);
    f->problem.fill = 0;
    while (strcmp(f->problem.op->fills[f->problem.fill], fill) != 0)
        ++f->problem.fill;
    f->problem.op->fill(&f->problem, &rng, f->data);
}

static inline void *conv_at(const conv *f, int operand, const int64_t index[]) {
    const kerf_operand *const o = conv_operand(f, operand);
    int64_t offset = 0;
    for (int axis = 0; axis < o->at.rank; ++axis)
        offset += index[axis] * o->at.strides[axis];
    return (char *)f->data[operand] + offset * (int64_t)kerf_dtype_bytes(o->dtype);
}

static inline double conv_value(const conv *f, int operand, const int64_t index[]) {
    const kerf_dtype dtype = conv_operand(f, operand)->dtype;
    const void *const at = conv_at(f, operand, index);
    return dtype == KERF_I8    ? *(const int8_t *)at
           : dtype == KERF_I32 ? *(const int32_t *)at
                               : kerf_dtype_load(dtype, at);
}

static inline double conv_get(const conv *f, const int64_t index[]) {
    return conv_value(f, KERF_CONV2D_N_IN, index);
}

static inline void conv_set(conv *f, int input, const int64_t index[], double value) {
    const kerf_dtype dtype = conv_operand(f, input)->dtype;
    void *const at = conv_at(f, input, index);
    if (dtype == KERF_I8)
        *(int8_t *)at = (int8_t)value;
    else if (dtype == KERF_I32)
        *(int32_t *)at = (int32_t)value;
    else
        kerf_dtype_store(dtype, at, value);
}

/* Runs the row, with weights packed ahead where it packs, on an output of bytes 0xff. False where it cannot run here; a
 * status other than KERF_OK fails the test. */
static inline bool conv_run(conv *f, const kerf_row *row, const kerf_team *team) {
    if (row->missing || row->device == KERF_DEVICE_CUDA || (row->isa_mask & kerf_cpu_isa()) != row->isa_mask)
        return false;
    char reason[200];
    kerf_text why = kerf_text_over(reason, sizeof reason);
    const kerf_variant *const variant = row->variant[kerf_dtype_class(conv_operand(f, 0)->dtype)];
    if (!variant || (variant->refuses && variant->refuses(&f->problem, NULL, &why)))
        return false;
    const kerf_memory memory = variant->memory ? variant->memory(&f->problem, NULL) : (kerf_memory){0};
    void *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 64);
    void *const packed = aligned_alloc(64, memory.packed_bytes / 64 * 64 + 64);
    memset(scratch, 0xff, memory.scratch_bytes);
    const kerf_operand *const y = f->problem.out[0];
    memset(f->data[KERF_CONV2D_N_IN], 0xff, (size_t)conv_count(f, KERF_CONV2D_N_IN) * kerf_dtype_bytes(y->dtype));
    void *const out[] = {f->data[KERF_CONV2D_N_IN]};
    kerf_launch launch = {.bytes = sizeof launch,
                          .problem = &f->problem,
                          .in = (const void *const *)f->data,
                          .out = out,
                          .scratch = scratch,
                          .team = team};
    kerf_status status = variant->prepare ? variant->prepare(&launch, packed) : KERF_OK;
    launch.packed = variant->prepare ? packed : NULL;
    if (status == KERF_OK)
        status = variant->run(&launch);
    free(scratch);
    free(packed);
    return kerf_test_check("run", "status == KERF_OK", status == KERF_OK, __FILE__, __LINE__);
}

#endif
