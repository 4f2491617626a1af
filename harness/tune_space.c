/* The space of one case: which rows take part, what constraints may name, and configurations as candidates. */
#include "harness/tune.h"

#include "base/cpu.h"
#include "harness/device.h"
#include <stdio.h>
#include <string.h>

enum { MOST_SYMBOLS = KERF_MAX_DIMS + 4 };

static int64_t lanes_of(const kerf_row *row, kerf_dtype dtype) {
    const int64_t vector_bytes = strcmp(row->isa, "avx512") == 0 ? 64
                                 : strcmp(row->isa, "avx2") == 0 ? 32
                                 : strcmp(row->isa, "neon") == 0 ? 16
                                                                 : 0;
    const int64_t lanes = vector_bytes / (dtype == KERF_F64 ? 8 : 4);
    return lanes > 0 ? lanes : 1;
}

const kerf_symbol *kerf_space_symbols(const kerf_case *c, const kerf_row *row, kerf_arena *arena) {
    kerf_symbol *const symbols = KERF_ARENA_NEW(arena, kerf_symbol, MOST_SYMBOLS);
    int n = 0;
    if (!symbols)
        return NULL;
    for (; n < KERF_MAX_DIMS && c->op->dims[n]; ++n)
        symbols[n] = (kerf_symbol){c->op->dims[n], c->dim[n]};
    symbols[n++] = (kerf_symbol){"element_bytes", (int64_t)kerf_dtype_bytes(c->dtype)};
    symbols[n++] = (kerf_symbol){"lanes", lanes_of(row, c->dtype)};
    symbols[n++] = (kerf_symbol){"processors", kerf_cpu_count()};
    return symbols;
}

static kerf_status list_parts(kerf_tuning *t, kerf_error *error) {
    kerf_run *const run = t->run;
    t->parts = KERF_ARENA_NEW(&run->arena, kerf_space_part, run->rows.n);
    t->row_of_part = KERF_ARENA_NEW(&run->arena, int, run->rows.n);
    if (!t->parts || !t->row_of_part)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d rows", run->rows.n);
    for (int i = 0; i < run->rows.n; ++i) {
        const kerf_selected_row *const row = &run->rows.at[i];
        const kerf_variant *const variant = row->unavailable ? NULL : row->row->variant[kerf_dtype_class(t->c->dtype)];
        if (!variant || row->row->device != KERF_DEVICE_CPU)
            continue;
        t->row_of_part[t->n_parts] = i;
        t->parts[t->n_parts++] = (kerf_space_part){.name = row->text,
                                                   .space = variant->space,
                                                   .most_threads = run->threads,
                                                   .symbols = kerf_space_symbols(t->c, row->row, &run->arena)};
    }
    if (t->n_parts == 0)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "none of the implementations can be tuned: only rows on the CPU are timed; bench list %s "
                         "shows them",
                         run->entry->op->name);
    return KERF_OK;
}

kerf_status kerf_tuning_open(kerf_run *run, const char *set, const kerf_case *c, kerf_tuning *t, kerf_error *error) {
    char memory[4096];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(c, &text);
    *t = (kerf_tuning){.run = run,
                       .set = set,
                       .case_text = kerf_arena_copy_text(&run->arena, memory),
                       .c = c,
                       .mode = run->options->cold ? KERF_COLD : KERF_HOT,
                       .standard = -1};
    if (!t->case_text)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the cases");
    KERF_TRY(list_parts(t, error));
    const kerf_space_request request = {.parts = t->parts,
                                        .n_parts = t->n_parts,
                                        .restrictions = run->options->param,
                                        .constraints = run->options->constraint};
    kerf_error inner;
    const kerf_status status = kerf_search_space_build(&request, &run->arena, &t->space, &inner);
    if (status != KERF_OK)
        return kerf_fail(error, status, "%s (case %.120s)", inner.message, t->case_text);
    const int64_t most = t->n_parts + run->options->evaluations;
    t->capacity = (int)(t->n_parts + t->space.n_configs < most ? t->n_parts + t->space.n_configs : most);
    t->tried = KERF_ARENA_NEW(&run->arena, kerf_candidate, t->capacity);
    return t->tried ? KERF_OK : kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", t->capacity);
}

static kerf_status add(kerf_tuning *t, const kerf_candidate *from, const char *text, kerf_candidate **candidate,
                       kerf_error *error) {
    kerf_candidate *const added = &t->tried[t->n_tried];
    if (t->n_tried == t->capacity)
        return kerf_fail(error, KERF_ERROR_MEMORY, "more than %d configurations", t->capacity);
    *added = *from;
    added->text = kerf_arena_copy_text(&t->run->sink.arena, text);
    if (!added->text)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the records");
    added->step = ++t->n_tried;
    added->threads = (int)kerf_config_get(&added->config, "threads", t->run->threads);
    added->outcome.kind = KERF_OUTCOME_UNTIMED;
    *candidate = added;
    return KERF_OK;
}

kerf_status kerf_tuning_add(kerf_tuning *t, int64_t number, kerf_candidate **candidate, kerf_error *error) {
    char memory[1024];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_search_space_print(&t->space, number, &text);
    kerf_candidate from = {.number = number, .row = t->row_of_part[kerf_search_space_variant(&t->space, number)]};
    KERF_TRY(kerf_search_space_config(&t->space, number, &t->run->arena, &from.config, error));
    return add(t, &from, memory, candidate, error);
}

static bool has_settings(const kerf_search_space *space, int64_t number, const kerf_config *config) {
    const int16_t *const index = space->index + number * space->n_parameters;
    int n = 0;
    for (int p = 1; p < space->n_parameters; ++p) {
        if (index[p] < 0)
            continue;
        ++n;
        const int64_t value = space->parameter[p].value[index[p]].value;
        if (kerf_config_get(config, space->parameter[p].name, ~value) != value)
            return false;
    }
    return n == config->n;
}

kerf_status kerf_tuning_add_standard(kerf_tuning *t, int part, kerf_candidate **candidate, kerf_error *error) {
    char memory[1024];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_space_print_standard(&t->parts[part], &text);
    kerf_candidate from = {.number = -1, .row = t->row_of_part[part]};
    KERF_TRY(kerf_space_standard(&t->parts[part], &t->run->arena, &from.config, error));
    for (int64_t i = 0; i < t->space.n_configs && from.number < 0; ++i)
        if (kerf_search_space_variant(&t->space, i) == part && has_settings(&t->space, i, &from.config))
            from.number = i;
    if (from.number >= 0) { /* with the text that it has there */
        text = kerf_text_over(memory, sizeof memory);
        kerf_search_space_print(&t->space, from.number, &text);
    }
    return add(t, &from, memory, candidate, error);
}
