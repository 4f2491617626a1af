/* The canonical text of a case, which is its identity. */
#include "base/rng.h"
#include "harness/casegen_pattern.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_real(double value, kerf_text *text) {
    char digits[40];
    for (int precision = 6; precision <= 17; ++precision) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    kerf_text_printf(text, "%s", digits);
}

static void print_attr(const kerf_attr_spec *spec, const kerf_attr *value, kerf_text *text) {
    kerf_text_printf(text, "%s=", spec->name);
    switch (spec->kind) {
    case KERF_ATTR_ENUM:
        kerf_text_printf(text, "%s", spec->values[value->number]);
        break;
    case KERF_ATTR_INT:
        kerf_text_printf(text, "%" PRId64, value->number);
        break;
    case KERF_ATTR_REAL:
        print_real(value->real, text);
        break;
    case KERF_ATTR_INT_LIST:
        for (int i = 0; i < value->n_list; ++i)
            kerf_text_printf(text, "%s%" PRId64, i ? "," : "", value->list[i]);
        break;
    case KERF_ATTR_TEXT:
        kerf_text_printf(text, "%s", value->text ? value->text : "");
        break;
    }
}

static void print_want(const kerf_op *op, uint64_t want, kerf_text *text) {
    const char *joint = " want=";
    for (int i = 0; op->outputs[i]; ++i)
        if (want >> i & 1) {
            kerf_text_printf(text, "%s%s", joint, op->outputs[i]);
            joint = "+";
        }
}

void kerf_case_print(const kerf_case *c, kerf_text *text) {
    const kerf_op *const op = c->op;
    for (int i = 0; op->attrs && op->attrs[i]; ++i)
        if (!kerf_attr_same(op->attrs[i], &c->attr[i], &op->attrs[i]->standard)) {
            print_attr(op->attrs[i], &c->attr[i], text);
            kerf_text_printf(text, " ");
        }
    for (int i = 0; op->dims && op->dims[i]; ++i)
        kerf_text_printf(text, "%s=%" PRId64 " ", op->dims[i], c->dim[i]);
    kerf_text_printf(text, "dtype=%s", kerf_dtype_name(c->dtype));
    if (strcmp(c->layout, "nchw") != 0)
        kerf_text_printf(text, " layout=%s", c->layout);
    kerf_text_printf(text, " fill=%s", op->fills[c->fill]);
    if (c->want != kerf_want_all(op))
        print_want(op, c->want, text);
    kerf_text_printf(text, " seed=%" PRIu64, c->seed);
}

void kerf_case_print_mode(const kerf_case *c, kerf_text *text) {
    for (int i = 0; c->op->attrs && c->op->attrs[i]; ++i) {
        if (c->op->attrs[i]->kind != KERF_ATTR_ENUM)
            continue;
        kerf_text_printf(text, "%s", text->length ? " " : "");
        print_attr(c->op->attrs[i], &c->attr[i], text);
    }
}

uint64_t kerf_case_hash(const kerf_case *c) {
    /* A line and the defaults that it leaves out. */
    char memory[2 * KERF_CASE_MAX_LINE_BYTES];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "%s ", c->op->name);
    kerf_case_print(c, &text);
    return kerf_hash_bytes(KERF_HASH_START, text.data, text.length);
}
