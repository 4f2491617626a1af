/* One part of a space: its parameters as the person restricts them, its constraints tied to them. */
#include "harness/space_part.h"

#include "harness/casegen.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 4096 /* of one parameter */

static const char threads_name[] = "threads";

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static bool is_named(const char *text, const char *name) {
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=';
}

static bool parse_whole(const char *text, size_t length, int64_t *value) {
    char memory[32], *end;
    if (length == 0 || length >= sizeof memory)
        return false;
    memcpy(memory, text, length);
    memory[length] = '\0';
    errno = 0;
    *value = strtoll(memory, &end, 10);
    return !*end && !errno && memory[0] > ' ';
}

static bool is_value(const kerf_tuned_value *value, const char *text, size_t length) {
    int64_t number;
    if (value->name)
        return strlen(value->name) == length && strncmp(value->name, text, length) == 0;
    return parse_whole(text, length, &number) && number == value->value;
}

/* Whether the restriction, "name=value,value", lists the value. */
static bool lists(const char *restriction, const kerf_tuned_value *value) {
    for (const char *at = strchr(restriction, '=') + 1;; ++at) {
        const size_t length = strcspn(at, ",");
        if (is_value(value, at, length))
            return true;
        at += length;
        if (!*at)
            return false;
    }
}

static kerf_status add_tuned(const char *name, int n_values, kerf_arena *arena, kerf_open_part *open,
                             kerf_tuned_value **values, kerf_error *error) {
    if (open->n == KERF_MAX_TUNED - 1) /* one is the variant */
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has more than %d parameters", open->from->name, open->n);
    *values = KERF_ARENA_NEW(arena, kerf_tuned_value, n_values);
    if (!*values)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d values", n_values);
    open->tuned[open->n++] = (kerf_tuned){.name = name, .value = *values, .n_values = n_values};
    return KERF_OK;
}

static bool has_value(const kerf_tuned_value *values, int n, int64_t value) {
    for (int i = 0; i < n; ++i)
        if (values[i].value == value)
            return true;
    return false;
}

static kerf_status check_parameter(const kerf_open_part *open, const kerf_parameter *p, kerf_error *error) {
    const char *fault = NULL;
    if (!p->name || !kerf_is_name(p->name) || strcmp(p->name, threads_name) == 0 || strcmp(p->name, "variant") == 0)
        fault = "is no name that a parameter can have";
    else if (p->n_values < 1 || p->n_values > MOST_VALUES || (!p->values && !p->choices))
        fault = "has no values, or too many";
    for (int i = 0; i < open->n && !fault; ++i)
        fault = strcmp(open->tuned[i].name, p->name) == 0 ? "is there twice" : NULL;
    return fault ? kerf_fail(error, KERF_ERROR_USAGE, "%s: the parameter '%.48s' %s", open->from->name,
                             p->name ? p->name : "", fault)
                 : KERF_OK;
}

static kerf_status add_parameters(kerf_arena *arena, kerf_open_part *open, kerf_error *error) {
    const int most = open->from->most_threads;
    kerf_tuned_value *values = NULL;
    if (most > 0) {
        int n = 0;
        KERF_TRY(add_tuned(threads_name, 32, arena, open, &values, error));
        for (int threads = 1; threads < most && threads < INT_MAX / 2; threads *= 2)
            values[n++].value = threads;
        values[n++].value = most;
        open->tuned[open->n - 1].n_values = n;
    }
    for (int i = 0; open->from->space && open->from->space->parameters[i]; ++i) {
        const kerf_parameter *const p = open->from->space->parameters[i];
        KERF_TRY(check_parameter(open, p, error));
        KERF_TRY(add_tuned(p->name, p->n_values, arena, open, &values, error));
        for (int v = 0; v < p->n_values; ++v) {
            if (!p->choices && has_value(values, v, p->values[v]))
                return kerf_fail(error, KERF_ERROR_USAGE, "%s: the parameter '%.48s' has the value %lld twice",
                                 open->from->name, p->name, (long long)p->values[v]);
            values[v] = p->choices ? (kerf_tuned_value){v, p->choices[v]} : (kerf_tuned_value){.value = p->values[v]};
        }
    }
    return KERF_OK;
}

/* Any number of threads may be asked for, not only powers of two. */
static kerf_status restrict_threads(const char *restriction, kerf_arena *arena, kerf_open_part *open,
                                    kerf_error *error) {
    int n_listed = 1, n = 0;
    for (const char *at = restriction; *at; ++at)
        n_listed += *at == ',';
    kerf_tuned_value *const values = KERF_ARENA_NEW(arena, kerf_tuned_value, n_listed);
    if (!values || n_listed > MOST_VALUES)
        return kerf_fail(error, KERF_ERROR_USAGE, "--param threads lists too many values");
    const char *at = restriction + sizeof threads_name;
    for (int i = 0; i < n_listed; ++i) {
        const size_t length = strcspn(at, ",");
        int64_t threads;
        if (!parse_whole(at, length, &threads) || threads < 1 || threads > open->from->most_threads)
            return kerf_fail(error, KERF_ERROR_USAGE, "--param threads='%.*s': allowed are 1 to %d (--threads)",
                             (int)length, at, open->from->most_threads);
        if (!has_value(values, n, threads)) /* two equal configurations would share their buffers */
            values[n++].value = threads;
        at += length + (at[length] == ',');
    }
    open->tuned[0].value = values;
    open->tuned[0].n_values = n;
    return KERF_OK;
}

static kerf_status restrict_values(const char *const *restrictions, kerf_arena *arena, kerf_open_part *open,
                                   kerf_error *error) {
    for (int r = 0; restrictions && restrictions[r]; ++r) {
        for (int p = 0; p < open->n; ++p) {
            kerf_tuned *const tuned = &open->tuned[p];
            if (!is_named(restrictions[r], tuned->name))
                continue;
            if (strcmp(tuned->name, threads_name) == 0) {
                KERF_TRY(restrict_threads(restrictions[r], arena, open, error));
                continue;
            }
            kerf_tuned_value *const kept = KERF_ARENA_NEW(arena, kerf_tuned_value, tuned->n_values);
            if (!kept)
                return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d values", tuned->n_values);
            int n = 0;
            for (int v = 0; v < tuned->n_values; ++v)
                if (lists(restrictions[r], &tuned->value[v]))
                    kept[n++] = tuned->value[v];
            tuned->value = kept;
            tuned->n_values = n;
        }
    }
    return KERF_OK;
}

/* ---- constraints ------------------------------------------------------------------------------------------------ */

static int parameter_named(const kerf_open_part *open, const char *name) {
    int p = open->n - 1;
    while (p >= 0 && strcmp(open->tuned[p].name, name) != 0)
        --p;
    return p;
}

static bool symbol_named(const kerf_space_part *part, const char *name, int64_t *value) {
    for (const kerf_symbol *symbol = part->symbols; symbol && symbol->name; ++symbol)
        if (strcmp(symbol->name, name) == 0) {
            *value = symbol->value;
            return true;
        }
    return false;
}

/* A choice of a parameter that the same constraint names: without looking at what the person left of it. */
static bool choice_named(const kerf_open_part *open, const kerf_expression *expression, const char *name,
                         int64_t *value) {
    for (int i = 0; open->from->space && open->from->space->parameters[i]; ++i) {
        const kerf_parameter *const p = open->from->space->parameters[i];
        bool is_in_it = false;
        for (int k = 0; k < expression->n_names; ++k)
            is_in_it = is_in_it || strcmp(expression->name[k], p->name) == 0;
        for (int v = 0; p->choices && is_in_it && v < p->n_values; ++v)
            if (strcmp(p->choices[v], name) == 0) {
                *value = v;
                return true;
            }
    }
    return false;
}

/* False: it names something that the part does not have. */
static bool tie(const kerf_open_part *open, kerf_tied_constraint *tied) {
    for (int i = 0; i < tied->expression.n_names; ++i) {
        const char *const name = tied->expression.name[i];
        tied->parameter[i] = parameter_named(open, name);
        if (tied->parameter[i] < 0 && !symbol_named(open->from, name, &tied->constant[i]) &&
            !choice_named(open, &tied->expression, name, &tied->constant[i]))
            return false;
    }
    return true;
}

static kerf_status add_constraints(const char *const *texts, kerf_open_part *open, const char *owner,
                                   kerf_error *error) {
    for (int i = 0; texts && texts[i]; ++i) {
        if (open->n_constraints == KERF_MAX_CONSTRAINTS)
            return kerf_fail(error, KERF_ERROR_USAGE, "more than %d constraints", KERF_MAX_CONSTRAINTS);
        kerf_tied_constraint *const tied = &open->constraint[open->n_constraints];
        KERF_TRY(kerf_expression_parse(texts[i], &tied->expression, error));
        if (tie(open, tied))
            ++open->n_constraints;
        else if (owner) /* the person's may be meant for other parts */
            return kerf_fail(error, KERF_ERROR_USAGE, "%s: its constraint '%.200s' has a name that it does not know",
                             owner, texts[i]);
    }
    return KERF_OK;
}

kerf_status kerf_space_part_open(const kerf_space_request *request, int part, kerf_arena *arena, kerf_open_part *open,
                                 kerf_error *error) {
    *open = (kerf_open_part){.from = &request->parts[part],
                             .constraint = KERF_ARENA_NEW(arena, kerf_tied_constraint, KERF_MAX_CONSTRAINTS)};
    if (!open->constraint)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the constraints");
    KERF_TRY(add_parameters(arena, open, error));
    KERF_TRY(restrict_values(request->restrictions, arena, open, error));
    if (open->from->space)
        KERF_TRY(add_constraints(open->from->space->constraints, open, open->from->name, error));
    return add_constraints(request->constraints, open, NULL, error);
}
