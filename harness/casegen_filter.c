/* What the user narrowed down, checked once and then applied to each line. */
#include "harness/casegen_pattern.h"
#include "kernels/layout.h"
#include <string.h>

#define MAX_LISTED 32

struct kerf_case_sieve {
    uint64_t attr_values[KERF_MAX_ATTRS], dtypes, fills; /* a bit per value that may pass */
    kerf_attr plain[MAX_LISTED];                         /* values of attributes that are not enums ... */
    int plain_attr[MAX_LISTED], n_plain;                 /* ... and whose they are */
    uint64_t want[MAX_LISTED];
    int n_wants; /* 0: any */
    const char *layout[MAX_LISTED];
    int n_layouts; /* 0: any */
    int64_t dim[KERF_MAX_DIMS];
    uint32_t dims_given;
    bool seed_given;
    uint64_t seed;
};

/* Calls add() for each item of a comma-separated list. */
typedef kerf_status (*add_item)(const kerf_op *op, const char *item, kerf_arena *arena, kerf_case_sieve *sieve,
                                kerf_error *error);

static kerf_status for_each_item(const kerf_op *op, const char *list, add_item add, kerf_arena *arena,
                                 kerf_case_sieve *sieve, kerf_error *error) {
    char *rest = kerf_arena_copy_text(arena, list);
    if (!rest)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the memory for cases is used up");
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","))
        KERF_TRY(add(op, item, arena, sieve, error));
    return KERF_OK;
}

static kerf_status too_many(const char *what, kerf_error *error) {
    return kerf_fail(error, KERF_ERROR_USAGE, "more than %d values for %s; give fewer", MAX_LISTED, what);
}

static kerf_status add_dtype(const kerf_op *op, const char *item, kerf_arena *arena, kerf_case_sieve *sieve,
                             kerf_error *error) {
    (void)arena;
    kerf_dtype dtype;
    KERF_TRY(kerf_case_read_dtype(op, item, &dtype, error));
    sieve->dtypes |= UINT64_C(1) << dtype;
    return KERF_OK;
}

static kerf_status add_fill(const kerf_op *op, const char *item, kerf_arena *arena, kerf_case_sieve *sieve,
                            kerf_error *error) {
    (void)arena;
    int fill = 0;
    KERF_TRY(kerf_case_read_fill(op, item, &fill, error));
    sieve->fills |= UINT64_C(1) << (fill % 64);
    return KERF_OK;
}

static kerf_status add_want(const kerf_op *op, const char *item, kerf_arena *arena, kerf_case_sieve *sieve,
                            kerf_error *error) {
    (void)arena;
    if (sieve->n_wants == MAX_LISTED)
        return too_many("want", error);
    return kerf_case_read_want(op, item, &sieve->want[sieve->n_wants++], error);
}

static kerf_status add_layout(const kerf_op *op, const char *item, kerf_arena *arena, kerf_case_sieve *sieve,
                              kerf_error *error) {
    if (sieve->n_layouts == MAX_LISTED)
        return too_many("layout", error);
    return kerf_case_read_layout(op, item, arena, &sieve->layout[sieve->n_layouts++], error);
}

static kerf_status add_dim(const kerf_op *op, const char *item, kerf_arena *arena, kerf_case_sieve *sieve,
                           kerf_error *error) {
    const char *const equals = strchr(item, '=');
    char *const name = kerf_arena_copy_text(arena, item);
    if (!name)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the memory for cases is used up");
    if (!equals)
        return kerf_fail(error, KERF_ERROR_USAGE, "'%s' is not NAME=SIZE, as in N=4,C=32", kerf_show(item).text);
    name[equals - item] = '\0';
    const int at = kerf_name_find(op->dims, name);
    if (at < 0)
        return kerf_fail_unknown(error, "dim", name, op->name, op->dims);
    if (sieve->dims_given >> at & 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "dim '%s' is given twice; give each at most once", name);
    sieve->dims_given |= UINT32_C(1) << at;
    return kerf_case_read_size(name, equals + 1, &sieve->dim[at], error);
}

static kerf_status add_attr_value(const kerf_op *op, int attr, const char *text, kerf_arena *arena,
                                  kerf_case_sieve *sieve, kerf_error *error) {
    kerf_attr value;
    KERF_TRY(kerf_case_read_attr(op->attrs[attr], text, arena, &value, error));
    if (op->attrs[attr]->kind == KERF_ATTR_ENUM) {
        sieve->attr_values[attr] |= UINT64_C(1) << value.number;
        return KERF_OK;
    }
    if (sieve->n_plain == MAX_LISTED)
        return too_many(op->attrs[attr]->name, error);
    sieve->plain[sieve->n_plain] = value;
    sieve->plain_attr[sieve->n_plain++] = attr;
    return KERF_OK;
}

/* k=v; for an enum also k=v1,v2. The same key again adds to its values. */
static kerf_status add_attr(const kerf_op *op, const char *setting, kerf_arena *arena, kerf_case_sieve *sieve,
                            kerf_error *error) {
    const char *names[KERF_MAX_ATTRS + 1];
    int n = 0;
    for (; op->attrs && op->attrs[n] && n < KERF_MAX_ATTRS; ++n)
        names[n] = op->attrs[n]->name;
    names[n] = NULL;
    char *const name = kerf_arena_copy_text(arena, setting);
    if (!name)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the memory for cases is used up");
    char *rest = strchr(name, '=');
    if (!rest)
        return kerf_fail(error, KERF_ERROR_USAGE, "'%s' is not ATTRIBUTE=VALUE", kerf_show(setting).text);
    *rest++ = '\0';
    const int attr = kerf_name_find(names, name);
    if (attr < 0)
        return kerf_fail_unknown(error, "attribute", name, op->name, names);
    if (op->attrs[attr]->kind != KERF_ATTR_ENUM)
        return add_attr_value(op, attr, rest, arena, sieve, error);
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","))
        KERF_TRY(add_attr_value(op, attr, item, arena, sieve, error));
    return KERF_OK;
}

static kerf_status add_layouts(const kerf_op *op, const char *text, kerf_arena *arena, kerf_case_sieve *sieve,
                               kerf_error *error) {
    /* Commas also stand within one layout, so a text that is one as a whole is taken as one. */
    if (kerf_layout_check(text, op, NULL) == KERF_OK)
        return add_layout(op, text, arena, sieve, error);
    return for_each_item(op, text, add_layout, arena, sieve, error);
}

kerf_status kerf_case_sieve_make(const kerf_op *op, const kerf_case_filter *filter, kerf_arena *arena,
                                 const kerf_case_sieve **result, kerf_error *error) {
    static const kerf_case_filter none = {0};
    filter = filter ? filter : &none;
    kerf_case_sieve *const sieve = KERF_ARENA_NEW(arena, kerf_case_sieve, 1);
    if (!sieve)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the memory for cases is used up");
    *sieve = (kerf_case_sieve){0};
    for (int i = 0; filter->attrs && filter->attrs[i]; ++i)
        KERF_TRY(add_attr(op, filter->attrs[i], arena, sieve, error));
    if (filter->dtypes)
        KERF_TRY(for_each_item(op, filter->dtypes, add_dtype, arena, sieve, error));
    if (filter->fills)
        KERF_TRY(for_each_item(op, filter->fills, add_fill, arena, sieve, error));
    if (filter->wants)
        KERF_TRY(for_each_item(op, filter->wants, add_want, arena, sieve, error));
    if (filter->layouts)
        KERF_TRY(add_layouts(op, filter->layouts, arena, sieve, error));
    if (filter->dims)
        KERF_TRY(for_each_item(op, filter->dims, add_dim, arena, sieve, error));
    sieve->seed_given = filter->seed != NULL;
    if (filter->seed)
        KERF_TRY(kerf_case_read_seed(filter->seed, &sieve->seed, error));
    for (int i = 0; i < KERF_MAX_ATTRS; ++i)
        sieve->attr_values[i] = sieve->attr_values[i] ? sieve->attr_values[i] : UINT64_MAX;
    sieve->dtypes = sieve->dtypes ? sieve->dtypes : UINT64_MAX;
    sieve->fills = sieve->fills ? sieve->fills : UINT64_MAX;
    *result = sieve;
    return KERF_OK;
}

static bool plain_attrs_pass(const kerf_case_sieve *sieve, const kerf_case *c) {
    uint64_t asked = 0, met = 0;
    for (int i = 0; i < sieve->n_plain; ++i) {
        const int attr = sieve->plain_attr[i];
        asked |= UINT64_C(1) << attr;
        if (kerf_attr_same(c->op->attrs[attr], &sieve->plain[i], &c->attr[attr]))
            met |= UINT64_C(1) << attr;
    }
    return asked == met;
}

static bool want_passes(const kerf_case_sieve *sieve, uint64_t want) {
    for (int i = 0; i < sieve->n_wants; ++i)
        if (sieve->want[i] == want)
            return true;
    return sieve->n_wants == 0;
}

static bool layout_passes(const kerf_case_sieve *sieve, const char *layout) {
    for (int i = 0; i < sieve->n_layouts; ++i)
        if (strcmp(sieve->layout[i], layout) == 0)
            return true;
    return sieve->n_layouts == 0;
}

/* False where the sizes change under strides that were written for the old ones. */
static bool override_dims(const kerf_case_sieve *sieve, kerf_case *c) {
    bool changed = false;
    for (int i = 0; i < KERF_MAX_DIMS; ++i)
        if (sieve->dims_given >> i & 1) {
            changed |= c->dim[i] != sieve->dim[i];
            c->dim[i] = sieve->dim[i];
        }
    return !changed || !strstr(c->layout, "strides:");
}

bool kerf_case_sieve_apply(const kerf_case_sieve *sieve, kerf_case_pattern *pattern) {
    kerf_case *const c = &pattern->c;
    const int n_attrs = kerf_attr_spec_count(c->op);
    for (int i = 0; i < n_attrs; ++i) {
        if (c->op->attrs[i]->kind != KERF_ATTR_ENUM)
            continue;
        pattern->attr_values[i] &= sieve->attr_values[i];
        if (pattern->attr_values[i] == 0)
            return false;
    }
    pattern->dtypes &= sieve->dtypes;
    if (pattern->dtypes == 0 || !(sieve->fills >> (c->fill % 64) & 1))
        return false;
    if (!plain_attrs_pass(sieve, c) || !want_passes(sieve, c->want) || !layout_passes(sieve, c->layout))
        return false;
    if (sieve->seed_given)
        c->seed = sieve->seed;
    return override_dims(sieve, c);
}
