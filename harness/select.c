#include "harness/select.h"

#include "harness/casegen_pattern.h"
#include "harness/casegen_sweep.h"
#include "harness/device.h"
#include <stdio.h>
#include <string.h>

#define MAX_NAMES 64

kerf_status kerf_select_op(const kerf_registry *registry, const char *name, const kerf_op_entry **entry,
                           kerf_error *error) {
    *entry = kerf_registry_find(registry, name);
    if (*entry)
        return KERF_OK;
    const char *names[MAX_NAMES + 1] = {0};
    char memory[256];
    kerf_text all = kerf_text_over(memory, sizeof memory);
    for (int i = 0; registry->ops[i] && i < MAX_NAMES; ++i) {
        names[i] = registry->ops[i]->op->name;
        kerf_text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *const nearest = kerf_nearest_name(name, names);
    return kerf_fail(error, KERF_ERROR_USAGE, "unknown op '%s'%s%s%s; ops are: %s", name,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "", memory);
}

static const char *unavailable(const kerf_row *row, uint64_t isa, kerf_arena *arena) {
    char memory[200];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    const char *const reason = kerf_row_unavailable(row, isa, &text);
    return reason ? kerf_arena_copy_text(arena, reason) : NULL;
}

/* "vectorized", "vectorized.avx2", "vectorized@cpu" and "vectorized.avx2@cpu" all mean the row of that text. */
static bool means(const char *name, size_t length, const kerf_row *row) {
    char memory[4][160];
    const char *const dot = row->isa[0] ? "." : "", *const device = kerf_device_name(row->device);
    for (int form = 0; form < 4; ++form) {
        kerf_text text = kerf_text_over(memory[form], sizeof memory[form]);
        kerf_text_printf(&text, "%s", row->name);
        if (form & 1)
            kerf_text_printf(&text, "%s%s", dot, row->isa);
        if (form & 2)
            kerf_text_printf(&text, "@%s", device);
        if (text.length == length && strncmp(memory[form], name, length) == 0)
            return true;
    }
    return false;
}

static kerf_status unknown_variant(const kerf_op_entry *entry, const char *name, size_t length, kerf_error *error) {
    char given[80], all[320];
    kerf_text text = kerf_text_over(given, sizeof given);
    kerf_text_printf(&text, "%.*s", (int)length, name);
    const char *names[MAX_NAMES + 1] = {0};
    int n = 0;
    text = kerf_text_over(all, sizeof all);
    for (int i = 0; entry->rows[i] && n < MAX_NAMES; ++i) {
        if (n > 0 && strcmp(names[n - 1], entry->rows[i]->name) == 0)
            continue;
        names[n++] = entry->rows[i]->name;
        kerf_text_printf(&text, "%s%s", n > 1 ? ", " : "", names[n - 1]);
    }
    const char *const nearest = kerf_nearest_name(given, names);
    return kerf_fail(error, KERF_ERROR_USAGE, "unknown variant '%s' of %s%s%s%s; variants are: %s", given,
                     entry->op->name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "",
                     all);
}

/* A run in which nothing could run must not end as a good one. */
static kerf_status check_some_can_run(const kerf_op_entry *entry, const kerf_row_list *rows, kerf_error *error) {
    if (rows->n == 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "--variant names no variant; leave it out for all of them");
    for (int i = 0; i < rows->n; ++i)
        if (!rows->at[i].unavailable)
            return KERF_OK;
    return kerf_fail(error, KERF_ERROR_DEVICE, "%s cannot run here: %s; bench list %s shows what can", rows->at[0].text,
                     rows->at[0].unavailable, entry->op->name);
}

kerf_status kerf_select_rows(const kerf_op_entry *entry, const char *names, uint64_t isa, kerf_arena *arena,
                             kerf_row_list *rows, kerf_error *error) {
    int n_all = 0;
    while (entry->rows[n_all])
        ++n_all;
    bool *const wanted = KERF_ARENA_NEW(arena, bool, n_all + 1);
    *rows = (kerf_row_list){.at = KERF_ARENA_NEW(arena, kerf_selected_row, n_all + 1)};
    if (!wanted || !rows->at)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d rows", n_all);
    for (int i = 0; i < n_all; ++i)
        wanted[i] = names == NULL;
    while (names && *names) {
        const size_t length = strcspn(names, ",");
        bool known = false;
        for (int i = 0; i < n_all; ++i) {
            if (!means(names, length, entry->rows[i]))
                continue;
            wanted[i] = known = true;
        }
        if (!known || length == 0)
            return unknown_variant(entry, names, length, error);
        names += length;
        if (*names && !*++names)
            return unknown_variant(entry, names, 0, error);
    }
    for (int i = 0; i < n_all; ++i) {
        if (!wanted[i])
            continue;
        char memory[160];
        kerf_text text = kerf_text_over(memory, sizeof memory);
        kerf_row_print(entry->rows[i], &text);
        rows->at[rows->n++] = (kerf_selected_row){.row = entry->rows[i],
                                                  .text = kerf_arena_copy_text(arena, memory),
                                                  .unavailable = unavailable(entry->rows[i], isa, arena)};
    }
    return check_some_can_run(entry, rows, error);
}

static const char *set_text(const kerf_op_entry *entry, const char *name, size_t length) {
    for (int i = 0; entry->cases && entry->cases[i]; i += 2)
        if (strlen(entry->cases[i]) == length && strncmp(entry->cases[i], name, length) == 0)
            return entry->cases[i + 1];
    return NULL;
}

static kerf_status unknown_set(const kerf_op_entry *entry, const char *name, size_t length, kerf_error *error) {
    char given[80], all[160];
    const char *names[MAX_NAMES + 1] = {0};
    kerf_text text = kerf_text_over(given, sizeof given);
    kerf_text_printf(&text, "%.*s", (int)length, name);
    text = kerf_text_over(all, sizeof all);
    for (int i = 0; entry->cases && entry->cases[i] && i < 2 * MAX_NAMES; i += 2) {
        names[i / 2] = entry->cases[i];
        kerf_text_printf(&text, "%s%s", i ? ", " : "", entry->cases[i]);
    }
    const char *const nearest = kerf_nearest_name(given, names);
    return kerf_fail(error, KERF_ERROR_USAGE, "unknown case set '%s' of %s%s%s%s; sets are: %s", given, entry->op->name,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "", all);
}

/* Takes out the cases that describe refuses. */
static kerf_status drop_impossible(kerf_case_list *cases, kerf_arena *arena, kerf_error *reason) {
    int kept = 0;
    kerf_status last = KERF_OK;
    for (int i = 0; i < cases->n; ++i) {
        const size_t used = arena->used;
        kerf_problem problem;
        const kerf_status status = cases->at[i].op->describe(&cases->at[i], arena, &problem, reason);
        kerf_arena_rewind(arena, used);
        if (status == KERF_OK)
            cases->at[kept++] = cases->at[i];
        else if (status != KERF_ERROR_USAGE)
            return status;
        else
            last = status;
    }
    cases->n = kept;
    return last;
}

static kerf_status read_sets(const kerf_options *options, const kerf_op_entry *entry, const char *sets,
                             kerf_arena *arena, kerf_set_list *list, kerf_error *error) {
    while (*sets) {
        const size_t length = strcspn(sets, ",");
        const char *const text = set_text(entry, sets, length);
        if (!text)
            return unknown_set(entry, sets, length, error);
        if (list->n == MAX_NAMES)
            return kerf_fail(error, KERF_ERROR_USAGE, "more than %d case sets", MAX_NAMES);
        kerf_selected_set *const set = &list->at[list->n++];
        char *const name = kerf_arena_alloc(arena, length + 1, 1);
        if (!name)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the case sets");
        memcpy(name, sets, length);
        name[length] = '\0';
        set->name = name;
        const kerf_expansion expansion = strcmp(name, "edge") == 0 ? options->edge_expansion : KERF_EXPAND_ALL;
        KERF_TRY(kerf_cases_read(entry->op, name, text, expansion, &options->filter, arena, &set->cases, error));
        sets += length + (sets[length] == ',');
    }
    return KERF_OK;
}

static kerf_status no_case_left(const kerf_options *options, kerf_error *error) {
    const kerf_case_filter *const filter = &options->filter;
    if (filter->dtypes || filter->layouts || filter->fills || filter->wants || options->attr[0])
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "no case is left by --dtype, --attr, --layout, --fill, --want; loosen them");
    return kerf_fail(error, KERF_ERROR_USAGE, "%s holds no case; docs/cases.md shows how one is written",
                     options->case_line    ? "--case"
                     : options->cases_file ? options->cases_file
                                           : "--set");
}

/* A dim cannot be held and swept. --dims has been parsed before. */
static kerf_status refuse_swept_dims(const kerf_options *options, const kerf_op *op, kerf_error *error) {
    for (int s = 0; options->filter.dims && options->sweep[s]; ++s) {
        kerf_sweep sweep;
        KERF_TRY(kerf_sweep_parse(op, options->sweep[s], &sweep, error));
        for (const char *at = options->filter.dims; *at; at += strcspn(at, ","), at += *at == ',') {
            const size_t n = strcspn(at, "=");
            for (int d = 0; d < KERF_MAX_DIMS && op->dims[d]; ++d)
                if (sweep.dims >> d & 1 && strlen(op->dims[d]) == n && strncmp(op->dims[d], at, n) == 0)
                    return kerf_fail(error, KERF_ERROR_USAGE,
                                     "--sweep '%s' changes %s, which --dims '%s' holds; leave one of the two out",
                                     kerf_show(options->sweep[s]).text, op->dims[d],
                                     kerf_show(options->filter.dims).text);
        }
    }
    return KERF_OK;
}

/* The cases of --case, or the first of the sets, in the sizes of the sweep. */
static kerf_status sweep_cases(const kerf_options *options, const kerf_op_entry *entry, kerf_arena *arena,
                               kerf_set_list *list, kerf_error *error) {
    kerf_case_list base = {0}, swept;
    for (int i = 0; i < list->n && base.n == 0; ++i)
        base = list->at[i].cases;
    if (base.n == 0)
        return no_case_left(options, error);
    if (!options->case_line)
        base.n = 1;
    KERF_TRY(kerf_sweep_expand(entry->op, options->sweep, &base, arena, &swept, error));
    KERF_TRY(refuse_swept_dims(options, entry->op, error));
    list->at[0] = (kerf_selected_set){.name = "sweep", .cases = swept};
    list->n = 1;
    return KERF_OK;
}

kerf_status kerf_select_cases(const kerf_options *options, const kerf_op_entry *entry, const char *sets,
                              kerf_arena *arena, kerf_set_list *list, kerf_error *error) {
    *list = (kerf_set_list){.at = KERF_ARENA_NEW(arena, kerf_selected_set, MAX_NAMES)};
    if (!list->at)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the case sets");
    kerf_status refused = KERF_OK;
    int n_dropped = 0;
    if (options->case_line || options->cases_file) {
        kerf_selected_set *const set = &list->at[list->n++];
        set->name = options->case_line ? "--case" : options->cases_file;
        KERF_TRY(options->case_line ? kerf_cases_read(entry->op, set->name, options->case_line, KERF_EXPAND_ALL,
                                                      &options->filter, arena, &set->cases, error)
                                    : kerf_cases_read_file(entry->op, set->name, KERF_EXPAND_ALL, &options->filter,
                                                           arena, &set->cases, error));
    } else {
        KERF_TRY(read_sets(options, entry, options->sets ? options->sets : sets, arena, list, error));
    }
    if (options->sweep[0])
        KERF_TRY(sweep_cases(options, entry, arena, list, error));
    for (int i = 0; i < list->n; ++i) {
        const int n = list->at[i].cases.n;
        const kerf_status status = drop_impossible(&list->at[i].cases, arena, error);
        refused = status != KERF_OK ? status : refused;
        /* What a person wrote himself is never left out in silence, nor is a line of a set that nobody changed. */
        if (status != KERF_OK && (status != KERF_ERROR_USAGE || options->case_line || options->cases_file ||
                                  options->sweep[0] || !options->filter.dims))
            return status;
        n_dropped += n - list->at[i].cases.n;
        list->n_cases += list->at[i].cases.n;
    }
    if (list->n_cases == 0)
        return refused != KERF_OK ? refused : no_case_left(options, error);
    if (n_dropped > 0 && !options->quiet)
        fprintf(stderr, "bench: %d cases of the sets are impossible with --dims %s and left out\n", n_dropped,
                options->filter.dims);
    return KERF_OK;
}
