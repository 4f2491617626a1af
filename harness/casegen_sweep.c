#include "harness/casegen_sweep.h"

#include "base/checked.h"
#include "harness/casegen_pattern.h"
#include <stdio.h>
#include <string.h>

enum { MAX_SWEEPS = 16, MAX_TEXT = 512 };

/* What is parsed, for messages. */
typedef struct parser {
    const kerf_op *op;
    const char *text;
    kerf_sweep *sweep;
    kerf_error *error;
} parser;

static kerf_status refuse(const parser *p, const char *what) {
    return kerf_fail(p->error, KERF_ERROR_USAGE,
                     "--sweep '%s': %s; a sweep is like C=1..256x2, H=16..64+16, C=1,3,8 or H=W=16..512x2",
                     kerf_show(p->text).text, what);
}

static kerf_status refuse_count(const parser *p) {
    return kerf_fail(p->error, KERF_ERROR_USAGE, "--sweep '%s' has more than %d sizes; take larger steps",
                     kerf_show(p->text).text, KERF_SWEEP_SIZES);
}

/* Whole numbers only; no sign, no blank. */
static kerf_status read_size(const parser *p, const char *text, int64_t *size) {
    kerf_error ignored;
    if (kerf_case_read_size("", text, size, &ignored) == KERF_OK)
        return KERF_OK;
    char what[160];
    snprintf(what, sizeof what, "'%s' is not a size (a whole number from 0 on)", kerf_show(text).text);
    return refuse(p, what);
}

static kerf_status read_list(const parser *p, char *list) {
    for (char *item = list; item;) {
        char *const comma = strchr(item, ',');
        int64_t size;
        if (comma)
            *comma = '\0';
        KERF_TRY(read_size(p, item, &size));
        for (int i = 0; i < p->sweep->n_sizes; ++i)
            if (p->sweep->size[i] == size)
                return refuse(p, "a size is there twice");
        if (p->sweep->n_sizes == KERF_SWEEP_SIZES)
            return refuse_count(p);
        p->sweep->size[p->sweep->n_sizes++] = size;
        item = comma ? comma + 1 : NULL;
    }
    return KERF_OK;
}

static kerf_status read_range(const parser *p, char *first_text, char *last_text) {
    int64_t first, last, step = 2;
    char *const sign = last_text + strcspn(last_text, "x+");
    const bool adds = *sign == '+';
    if (*sign) {
        *sign = '\0';
        KERF_TRY(read_size(p, sign + 1, &step));
    }
    KERF_TRY(read_size(p, first_text, &first));
    KERF_TRY(read_size(p, last_text, &last));
    if (last < first)
        return refuse(p, "it ends before it begins");
    if (adds && step == 0)
        return refuse(p, "a step of 0 stays where it is");
    if (!adds && step < 2)
        return refuse(p, "a factor below 2 stays where it is");
    if (!adds && first == 0)
        return refuse(p, "0 times anything stays 0");
    for (int64_t size = first; size <= last;) {
        if (p->sweep->n_sizes == KERF_SWEEP_SIZES)
            return refuse_count(p);
        p->sweep->size[p->sweep->n_sizes++] = size;
        if (!(adds ? kerf_add_i64(size, step, &size) : kerf_mul_i64(size, step, &size)))
            break;
    }
    return KERF_OK;
}

static kerf_status read_dims(const parser *p, char *dims) {
    for (char *name = dims; name;) {
        char *const equals = strchr(name, '=');
        if (equals)
            *equals = '\0';
        const int at = kerf_name_find(p->op->dims, name);
        if (at < 0)
            return kerf_fail_unknown(p->error, "dim", name, p->op->name, p->op->dims);
        if (p->sweep->dims >> at & 1)
            return refuse(p, "a dim is there twice");
        p->sweep->dims |= UINT32_C(1) << at;
        name = equals ? equals + 1 : NULL;
    }
    return KERF_OK;
}

kerf_status kerf_sweep_parse(const kerf_op *op, const char *text, kerf_sweep *sweep, kerf_error *error) {
    char copy[MAX_TEXT];
    const parser p = {.op = op, .text = text, .sweep = sweep, .error = error};
    *sweep = (kerf_sweep){0};
    if (strlen(text) >= sizeof copy)
        return refuse(&p, "it is too long");
    memcpy(copy, text, strlen(text) + 1);
    char *const equals = strrchr(copy, '=');
    if (!equals)
        return refuse(&p, "no dim is named");
    *equals = '\0';
    KERF_TRY(read_dims(&p, copy));
    char *const dots = strstr(equals + 1, "..");
    if (!dots)
        return read_list(&p, equals + 1);
    *dots = '\0';
    return read_range(&p, equals + 1, dots + 2);
}

static kerf_status parse_all(const kerf_op *op, const char *const *texts, kerf_sweep sweeps[MAX_SWEEPS], int *n,
                             kerf_error *error) {
    uint32_t swept = 0;
    for (*n = 0; texts[*n]; ++*n) {
        if (*n == MAX_SWEEPS)
            return kerf_fail(error, KERF_ERROR_USAGE, "--sweep given more than %d times", MAX_SWEEPS);
        KERF_TRY(kerf_sweep_parse(op, texts[*n], &sweeps[*n], error));
        if (swept & sweeps[*n].dims)
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "--sweep '%s': dim %s is swept already; couple dims in one sweep: H=W=16..512x2",
                             kerf_show(texts[*n]).text, op->dims[__builtin_ctz(swept & sweeps[*n].dims)]);
        swept |= sweeps[*n].dims;
    }
    return KERF_OK;
}

static void set_sizes(const kerf_sweep *sweep, int64_t size, kerf_case *c) {
    for (int d = 0; d < KERF_MAX_DIMS; ++d)
        if (sweep->dims >> d & 1)
            c->dim[d] = size;
}

kerf_status kerf_sweep_expand(const kerf_op *op, const char *const *texts, const kerf_case_list *base,
                              kerf_arena *arena, kerf_case_list *cases, kerf_error *error) {
    kerf_sweep sweeps[MAX_SWEEPS];
    int n_sweeps, n = base->n;
    KERF_TRY(parse_all(op, texts, sweeps, &n_sweeps, error));
    for (int s = 0; s < n_sweeps && n <= KERF_SWEEP_CASES; ++s)
        n *= sweeps[s].n_sizes;
    if (n > KERF_SWEEP_CASES)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "the sweep has more than %d cases (all combinations of its sizes); take larger steps",
                         KERF_SWEEP_CASES);
    *cases = (kerf_case_list){.at = KERF_ARENA_NEW(arena, kerf_case, n + 1)};
    if (!cases->at)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d cases", n);
    for (int i = 0; i < n; ++i) {
        int rest = i;
        kerf_case *const c = &cases->at[cases->n++];
        int choice[MAX_SWEEPS];
        for (int s = n_sweeps - 1; s >= 0; --s) {
            choice[s] = rest % sweeps[s].n_sizes;
            rest /= sweeps[s].n_sizes;
        }
        *c = base->at[rest];
        if (strstr(c->layout, "strides:"))
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "--sweep changes sizes, the strides of layout %s are written for one size; leave one out",
                             kerf_show(c->layout).text);
        for (int s = 0; s < n_sweeps; ++s)
            set_sizes(&sweeps[s], sweeps[s].size[choice[s]], c);
    }
    return KERF_OK;
}
