/* Values of single fields of a case. */
#include "harness/casegen_pattern.h"
#include "kernels/layout.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN_NAMES (2 * KERF_CASE_MAX_VALUES + 1)

int kerf_attr_spec_count(const kerf_op *op) {
    int n = 0;
    while (op->attrs && op->attrs[n])
        ++n;
    return n;
}

uint64_t kerf_want_all(const kerf_op *op) {
    return (UINT64_C(1) << kerf_name_count(op->outputs)) - 1;
}

uint64_t kerf_attr_all_values(const kerf_attr_spec *spec) {
    const int n = kerf_name_count(spec->values);
    return n >= KERF_CASE_MAX_VALUES ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

uint64_t kerf_dtype_all_values(const kerf_op *op) {
    uint64_t all = 0;
    for (int i = 0; i < op->n_dtypes; ++i)
        all |= UINT64_C(1) << op->dtypes[i];
    return all;
}

static bool read_digits(const char *text, int base, uint64_t most, uint64_t *value) {
    uint64_t result = 0;
    if (*text == '\0')
        return false;
    for (; *text; ++text) {
        const char c = *text;
        int digit = base;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if (c >= 'a' && c <= 'f')
            digit = c - 'a' + 10;
        if (digit >= base || __builtin_mul_overflow(result, (uint64_t)base, &result) ||
            __builtin_add_overflow(result, (uint64_t)digit, &result) || result > most)
            return false;
    }
    *value = result;
    return true;
}

kerf_status kerf_case_read_size(const char *name, const char *text, int64_t *size, kerf_error *error) {
    uint64_t value = 0;
    if (!read_digits(text, 10, INT64_MAX, &value))
        return kerf_fail(error, KERF_ERROR_USAGE, "%s=%s: a size is a whole number from 0 to %" PRId64, name,
                         kerf_show(text).text, INT64_MAX);
    *size = (int64_t)value;
    return KERF_OK;
}

kerf_status kerf_case_read_seed(const char *text, uint64_t *seed, kerf_error *error) {
    const bool hex = strncmp(text, "0x", 2) == 0;
    if (!read_digits(hex ? text + 2 : text, hex ? 16 : 10, UINT64_MAX, seed))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "seed=%s: a seed is a whole number from 0 to 18446744073709551615, or 0x and lower-case "
                         "hexadecimal digits",
                         kerf_show(text).text);
    return KERF_OK;
}

static bool read_integer(const char *text, int64_t *value) {
    const bool negative = *text == '-';
    uint64_t digits = 0;
    if (!read_digits(text + negative, 10, INT64_MAX, &digits))
        return false;
    *value = negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

static kerf_status read_enum(const kerf_attr_spec *spec, const char *text, kerf_attr *value, kerf_error *error) {
    for (int i = 0; spec->synonyms && spec->synonyms[i] && spec->synonyms[i + 1]; i += 2)
        if (strcmp(spec->synonyms[i], text) == 0)
            text = spec->synonyms[i + 1];
    const int found = kerf_name_find(spec->values, text);
    if (found >= 0 && found < KERF_CASE_MAX_VALUES) {
        value->number = found;
        return KERF_OK;
    }
    const char *names[MAX_SHOWN_NAMES];
    int n = 0;
    for (int i = 0; spec->values[i] && n < KERF_CASE_MAX_VALUES; ++i)
        names[n++] = spec->values[i];
    for (int i = 0; spec->synonyms && spec->synonyms[i] && n < MAX_SHOWN_NAMES - 1; i += 2)
        names[n++] = spec->synonyms[i];
    names[n] = NULL;
    return kerf_fail_unknown(error, "value", text, spec->name, names);
}

static kerf_status read_list(const kerf_attr_spec *spec, const char *text, kerf_arena *arena, kerf_attr *value,
                             kerf_error *error) {
    char *const copy = kerf_arena_copy_text(arena, text);
    int64_t *const list = KERF_ARENA_NEW(arena, int64_t, strlen(text) / 2 + 1);
    if (!copy || !list)
        return kerf_fail(error, KERF_ERROR_MEMORY, "%s: the memory for cases is used up", spec->name);
    int n = 0;
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","))
        if (!read_integer(item, &list[n++]))
            return kerf_fail(error, KERF_ERROR_USAGE, "%s=%s: allowed are whole numbers with commas between them",
                             spec->name, kerf_show(text).text);
    value->list = list;
    value->n_list = n;
    return KERF_OK;
}

kerf_status kerf_case_read_attr(const kerf_attr_spec *spec, const char *text, kerf_arena *arena, kerf_attr *value,
                                kerf_error *error) {
    char *end = NULL;
    *value = (kerf_attr){0};
    switch (spec->kind) {
    case KERF_ATTR_ENUM:
        return read_enum(spec, text, value, error);
    case KERF_ATTR_INT:
        if (read_integer(text, &value->number))
            return KERF_OK;
        return kerf_fail(error, KERF_ERROR_USAGE, "%s=%s: allowed is a whole number of at most 63 bits", spec->name,
                         kerf_show(text).text);
    case KERF_ATTR_REAL:
        value->real = strtod(text, &end);
        if (end != text && *end == '\0' && isfinite(value->real))
            return KERF_OK;
        return kerf_fail(error, KERF_ERROR_USAGE, "%s=%s: allowed is a finite number", spec->name,
                         kerf_show(text).text);
    case KERF_ATTR_INT_LIST:
        return read_list(spec, text, arena, value, error);
    case KERF_ATTR_TEXT:
        value->text = kerf_arena_copy_text(arena, text);
        return value->text ? KERF_OK
                           : kerf_fail(error, KERF_ERROR_MEMORY, "%s: the memory for cases is used up", spec->name);
    }
    return kerf_fail(error, KERF_ERROR_USAGE, "%s: an attribute of a kind that case texts cannot give", spec->name);
}

bool kerf_attr_same(const kerf_attr_spec *spec, const kerf_attr *a, const kerf_attr *b) {
    switch (spec->kind) {
    case KERF_ATTR_REAL:
        return a->real == b->real;
    case KERF_ATTR_INT_LIST:
        return a->n_list == b->n_list &&
               (a->n_list == 0 || memcmp(a->list, b->list, sizeof *a->list * (size_t)a->n_list) == 0);
    case KERF_ATTR_TEXT:
        return strcmp(a->text ? a->text : "", b->text ? b->text : "") == 0;
    default:
        return a->number == b->number;
    }
}

kerf_status kerf_case_read_dtype(const kerf_op *op, const char *text, kerf_dtype *dtype, kerf_error *error) {
    const char *names[KERF_N_DTYPES + 1];
    int n = 0;
    for (int i = 0; i < op->n_dtypes && n < KERF_N_DTYPES; ++i)
        names[n++] = kerf_dtype_name(op->dtypes[i]);
    names[n] = NULL;
    const int found = kerf_name_find(names, text);
    if (found < 0)
        return kerf_fail_unknown(error, "dtype", text, op->name, names);
    *dtype = op->dtypes[found];
    return KERF_OK;
}

kerf_status kerf_case_read_fill(const kerf_op *op, const char *text, int *fill, kerf_error *error) {
    const int found = kerf_name_find(op->fills, text);
    if (found < 0)
        return kerf_fail_unknown(error, "fill", text, op->name, op->fills);
    *fill = found;
    return KERF_OK;
}

kerf_status kerf_case_read_want(const kerf_op *op, const char *text, uint64_t *want, kerf_error *error) {
    *want = 0;
    if (strcmp(text, "all") == 0) {
        *want = kerf_want_all(op);
        return KERF_OK;
    }
    char name[KERF_CASE_MAX_LINE_BYTES + 1];
    for (;;) {
        const size_t n = strcspn(text, "+");
        if (n > KERF_CASE_MAX_LINE_BYTES)
            return kerf_fail(error, KERF_ERROR_USAGE, "want=%s: no output has so long a name", kerf_show(text).text);
        memcpy(name, text, n);
        name[n] = '\0';
        const int found = kerf_name_find(op->outputs, name);
        if (found < 0 && strchr(name, ','))
            return kerf_fail(error, KERF_ERROR_USAGE, "want=%s: outputs are joined by '+', not by ','",
                             kerf_show(name).text);
        if (found < 0)
            return kerf_fail_unknown(error, "output", name, op->name, op->outputs);
        if (*want >> found & 1)
            return kerf_fail(error, KERF_ERROR_USAGE, "want: output '%s' is given twice; give each at most once", name);
        *want |= UINT64_C(1) << found;
        if (text[n] == '\0')
            return KERF_OK;
        text += n + 1;
    }
}

static bool is_packed(const char *atom, size_t n) {
    return (n == 4 && memcmp(atom, "nchw", 4) == 0) || (n == 6 && memcmp(atom, "packed", 6) == 0);
}

/* Puts the atom of operand `name` behind `canonical`; true if the text gives one. */
static bool add_operand(const char *text, const char *name, kerf_text *canonical) {
    const size_t n_name = strlen(name);
    for (const char *part = text; part; part = strchr(part, ',')) {
        part += *part == ',';
        if (strncmp(part, name, n_name) != 0 || part[n_name] != '=')
            continue;
        const char *const atom = part + n_name + 1;
        const size_t n_atom = strcspn(atom, ",");
        if (!is_packed(atom, n_atom))
            kerf_text_printf(canonical, "%s%s=%.*s", canonical->length ? "," : "", name, (int)n_atom, atom);
        return true;
    }
    return false;
}

/* Operands in declared order, packed ones left out: two spellings of one layout are one case. */
kerf_status kerf_case_read_layout(const kerf_op *op, const char *text, kerf_arena *arena, const char **layout,
                                  kerf_error *error) {
    for (const char *c = text; *c != '\0'; ++c)
        if (*c < '!' || *c > '~')
            return kerf_fail(error, KERF_ERROR_USAGE, "layout=%s: only printable characters are allowed",
                             kerf_show(text).text);
    KERF_TRY(kerf_layout_check(text, op, error));
    if (is_packed(text, strlen(text))) {
        *layout = "nchw";
        return KERF_OK;
    }
    const size_t capacity = strlen(text) + 1;
    char *const memory = kerf_arena_alloc(arena, capacity, 1);
    if (!memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "layout: the memory for cases is used up");
    kerf_text canonical = kerf_text_over(memory, capacity);
    if (!strchr(text, '=')) {
        kerf_text_printf(&canonical, "%s", text);
        *layout = canonical.data;
        return KERF_OK;
    }
    int n_parts = 1, n_found = 0;
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        ++n_parts;
    const char *const *const lists[] = {op->inputs, op->outputs};
    for (int list = 0; list < 2; ++list)
        for (int i = 0; lists[list] && lists[list][i]; ++i)
            n_found += add_operand(text, lists[list][i], &canonical);
    if (n_found != n_parts)
        return kerf_fail(error, KERF_ERROR_USAGE, "layout=%s: an operand is given twice; give each at most once",
                         kerf_show(text).text);
    *layout = canonical.length ? canonical.data : "nchw";
    return KERF_OK;
}
