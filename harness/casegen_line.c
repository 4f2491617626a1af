/* One line of text becomes a pattern. */
#include "harness/casegen_pattern.h"
#include <string.h>

/* What a line may hold, in this order: attributes, dims, these. */
static const char *const common_fields[] = {"dtype", "layout", "fill", "want", "seed"};
enum { FIELD_DTYPE, FIELD_LAYOUT, FIELD_FILL, FIELD_WANT, FIELD_SEED, N_COMMON_FIELDS };
#define MAX_FIELDS (KERF_MAX_ATTRS + KERF_MAX_DIMS + N_COMMON_FIELDS)

typedef struct field_table {
    const char *names[MAX_FIELDS + 1];
    int n_attrs, n_dims, n;
} field_table;

static kerf_status list_fields(const kerf_op *op, field_table *fields, kerf_error *error) {
    *fields = (field_table){.n_attrs = kerf_attr_spec_count(op), .n_dims = kerf_name_count(op->dims)};
    if (fields->n_attrs > KERF_MAX_ATTRS || fields->n_dims > KERF_MAX_DIMS)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s declares %d attributes and %d dims; at most %d and %d fit a case",
                         op->name, fields->n_attrs, fields->n_dims, KERF_MAX_ATTRS, KERF_MAX_DIMS);
    for (int i = 0; i < fields->n_attrs; ++i)
        fields->names[fields->n++] = op->attrs[i]->name;
    for (int i = 0; i < fields->n_dims; ++i)
        fields->names[fields->n++] = op->dims[i];
    for (int i = 0; i < N_COMMON_FIELDS; ++i)
        fields->names[fields->n++] = common_fields[i];
    return KERF_OK;
}

static void set_defaults(const kerf_op *op, kerf_case_pattern *pattern) {
    *pattern = (kerf_case_pattern){.c = {.op = op, .layout = "nchw", .want = kerf_want_all(op), .seed = 1}};
    const int uniform = kerf_name_find(op->fills, "uniform");
    pattern->c.fill = uniform < 0 ? 0 : uniform;
    for (int i = 0; i < kerf_attr_spec_count(op); ++i) {
        pattern->c.attr[i] = op->attrs[i]->standard;
        pattern->attr_values[i] = UINT64_C(1) << (op->attrs[i]->standard.number % KERF_CASE_MAX_VALUES);
    }
    pattern->c.dtype = op->dtypes[0];
    for (int i = 0; i < op->n_dtypes; ++i)
        if (op->dtypes[i] == KERF_F32)
            pattern->c.dtype = KERF_F32;
    pattern->dtypes = UINT64_C(1) << pattern->c.dtype;
}

static kerf_status set_attr(const kerf_attr_spec *spec, int i, const char *value, kerf_arena *arena,
                            kerf_case_pattern *pattern, kerf_error *error) {
    if (spec->kind == KERF_ATTR_ENUM && strcmp(value, "*") == 0) {
        pattern->attr_values[i] = kerf_attr_all_values(spec);
        return KERF_OK;
    }
    KERF_TRY(kerf_case_read_attr(spec, value, arena, &pattern->c.attr[i], error));
    if (spec->kind == KERF_ATTR_ENUM)
        pattern->attr_values[i] = UINT64_C(1) << pattern->c.attr[i].number;
    return KERF_OK;
}

static kerf_status set_common(const kerf_op *op, int field, const char *value, kerf_arena *arena,
                              kerf_case_pattern *pattern, kerf_error *error) {
    kerf_case *const c = &pattern->c;
    switch (field) {
    case FIELD_DTYPE:
        if (strcmp(value, "*") == 0) {
            pattern->dtypes = kerf_dtype_all_values(op);
            return KERF_OK;
        }
        KERF_TRY(kerf_case_read_dtype(op, value, &c->dtype, error));
        pattern->dtypes = UINT64_C(1) << c->dtype;
        return KERF_OK;
    case FIELD_LAYOUT:
        return kerf_case_read_layout(op, value, arena, &c->layout, error);
    case FIELD_FILL:
        return kerf_case_read_fill(op, value, &c->fill, error);
    case FIELD_WANT:
        return kerf_case_read_want(op, value, &c->want, error);
    default:
        return kerf_case_read_seed(value, &c->seed, error);
    }
}

/* `field` is "key=value"; *seen has a bit per field of the table. */
static kerf_status read_field(const kerf_op *op, const field_table *fields, char *field, uint64_t *seen,
                              kerf_arena *arena, kerf_case_pattern *pattern, kerf_error *error) {
    char *const equals = strchr(field, '=');
    if (!equals)
        return kerf_fail(error, KERF_ERROR_USAGE, "'%s' is not a field of a case; a field is key=value without blanks",
                         kerf_show(field).text);
    *equals = '\0';
    const char *const value = equals + 1;
    const int at = kerf_name_find(fields->names, field);
    if (at < 0)
        return kerf_fail_unknown(error, "field", field, op->name, fields->names);
    if (*seen >> at & 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "field '%s' is given twice; give each at most once", field);
    *seen |= UINT64_C(1) << at;
    if (at < fields->n_attrs)
        return set_attr(op->attrs[at], at, value, arena, pattern, error);
    const int dim = at - fields->n_attrs;
    if (dim < fields->n_dims)
        return kerf_case_read_size(field, value, &pattern->c.dim[dim], error);
    return set_common(op, dim - fields->n_dims, value, arena, pattern, error);
}

static kerf_status check_dims(const kerf_op *op, const field_table *fields, uint64_t seen, kerf_error *error) {
    char lists[2][200];
    kerf_text missing = kerf_text_over(lists[0], sizeof lists[0]), all = kerf_text_over(lists[1], sizeof lists[1]);
    for (int i = 0; i < fields->n_dims; ++i) {
        kerf_text_printf(&all, " %s", op->dims[i]);
        if (!(seen >> (fields->n_attrs + i) & 1))
            kerf_text_printf(&missing, " %s", op->dims[i]);
    }
    if (missing.length == 0)
        return KERF_OK;
    return kerf_fail(error, KERF_ERROR_USAGE, "missing sizes:%s; a case of %s gives all of:%s", missing.data, op->name,
                     all.data);
}

kerf_status kerf_case_pattern_parse(const kerf_op *op, char *text, kerf_arena *arena, kerf_case_pattern *pattern,
                                    kerf_error *error) {
    field_table fields;
    KERF_TRY(list_fields(op, &fields, error));
    set_defaults(op, pattern);
    uint64_t seen = 0;
    char *rest = NULL;
    char *field = strtok_r(text, " \t", &rest);
    if (field && !strchr(field, '=')) {
        if (strcmp(field, op->name) != 0)
            return kerf_fail(error, KERF_ERROR_USAGE, "'%s' begins a case, but these are cases of %s",
                             kerf_show(field).text, op->name);
        field = strtok_r(NULL, " \t", &rest);
    }
    for (; field; field = strtok_r(NULL, " \t", &rest))
        KERF_TRY(read_field(op, &fields, field, &seen, arena, pattern, error));
    return check_dims(op, &fields, seen, error);
}

kerf_status kerf_case_parse(const kerf_op *op, const char *text, kerf_arena *arena, kerf_case *result,
                            kerf_error *error) {
    char line[KERF_CASE_MAX_LINE_BYTES + 1];
    const size_t n_bytes = strlen(text);
    if (n_bytes > KERF_CASE_MAX_LINE_BYTES)
        return kerf_fail(error, KERF_ERROR_USAGE, "a case of %zu bytes; at most %d are allowed", n_bytes,
                         KERF_CASE_MAX_LINE_BYTES);
    memcpy(line, text, n_bytes + 1);
    kerf_case_pattern pattern;
    KERF_TRY(kerf_case_pattern_parse(op, line, arena, &pattern, error));
    if (kerf_case_pattern_count(&pattern) != 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "'*' leaves a field open, but one case is meant; give each a value");
    *result = pattern.c;
    return KERF_OK;
}
