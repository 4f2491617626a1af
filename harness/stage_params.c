/* `bench verify --param`: rows in the configurations that a person names. */
#include "harness/pipeline.h"
#include "harness/tune.h"
#include "harness/verify.h"

#include <string.h>

/* Teams of all sizes are tried anyway: `threads` is no parameter here. */
static kerf_space_part part_of(kerf_run *run, const kerf_case *c, int row) {
    const kerf_selected_row *const selected = &run->rows.at[row];
    const kerf_variant *const variant = selected->row->variant[kerf_dtype_class(c->dtype)];
    return (kerf_space_part){.name = selected->text,
                             .space = variant ? variant->space : NULL,
                             .symbols = kerf_space_symbols(c, selected->row, &run->arena)};
}

kerf_status kerf_params_check(kerf_run *run, const kerf_set_list *sets, kerf_error *error) {
    for (int s = 0; s < sets->n && run->options->param[0]; ++s)
        for (int i = 0; i < sets->at[s].cases.n; ++i) {
            const size_t used = run->arena.used;
            kerf_space_part *const parts = KERF_ARENA_NEW(&run->arena, kerf_space_part, run->rows.n);
            int n = 0;
            for (int row = 0; parts && row < run->rows.n; ++row)
                if (!run->rows.at[row].unavailable)
                    parts[n++] = part_of(run, &sets->at[s].cases.at[i], row);
            kerf_search_space space;
            const kerf_space_request request = {.parts = parts, .n_parts = n, .restrictions = run->options->param};
            if (n > 0)
                KERF_TRY(kerf_search_space_build(&request, &run->arena, &space, error));
            kerf_arena_rewind(&run->arena, used);
        }
    return KERF_OK;
}

static const char *restriction_of(const kerf_run *run, const kerf_parameter *p) {
    const size_t length = strlen(p->name);
    for (int i = 0; run->options->param[i]; ++i)
        if (strncmp(run->options->param[i], p->name, length) == 0 && run->options->param[i][length] == '=')
            return run->options->param[i];
    return NULL;
}

static const char *standard_of(const kerf_parameter *p, kerf_arena *arena) {
    char memory[256];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    if (p->choices)
        kerf_text_printf(&text, "%s=%s", p->name, p->choices[p->standard]);
    else
        kerf_text_printf(&text, "%s=%lld", p->name, (long long)p->standard);
    return kerf_arena_copy_text(arena, memory);
}

/* What restricts the row's parameters to the given values and, for the others, to the defaults. *n_given: how many of
 * them are named. */
static const char *const *restrictions_for(kerf_run *run, const kerf_space *space, int *n_given) {
    static const char *restrictions[KERF_MAX_TUNED + 1];
    int n = 0;
    *n_given = 0;
    for (; space && n < KERF_MAX_TUNED && space->parameters[n]; ++n) {
        const char *const given = restriction_of(run, space->parameters[n]);
        restrictions[n] = given ? given : standard_of(space->parameters[n], &run->arena);
        *n_given += given != NULL;
    }
    restrictions[n] = NULL;
    return restrictions;
}

typedef struct configured {
    int row, n;
    kerf_config *config; /* n of them */
    const char **text;
    const kerf_config **of; /* pointers to them */
    const kerf_row **rows;  /* n times the row */
    kerf_finding *finding;
} configured;

static kerf_status make_room(kerf_run *run, configured *all, int64_t n, kerf_error *error) {
    kerf_arena *const arena = &run->arena;
    all->n = (int)n;
    all->config = KERF_ARENA_NEW(arena, kerf_config, n);
    all->text = KERF_ARENA_NEW(arena, const char *, n);
    all->of = KERF_ARENA_NEW(arena, const kerf_config *, n);
    all->rows = KERF_ARENA_NEW(arena, const kerf_row *, n);
    all->finding = KERF_ARENA_NEW(arena, kerf_finding, n);
    return all->config && all->text && all->of && all->rows && all->finding
               ? KERF_OK
               : kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %lld configurations", (long long)n);
}

/* KERF_ERROR_USAGE: none is possible on this case. */
static kerf_status list_configs(kerf_run *run, const kerf_case *c, configured *all, kerf_error *error) {
    kerf_space_part part = part_of(run, c, all->row);
    int n_given;
    const char *const *const restrictions = restrictions_for(run, part.space, &n_given);
    if (n_given == 0)
        part.space = NULL; /* as ever */
    kerf_search_space space;
    const kerf_space_request request = {.parts = &part, .n_parts = 1, .restrictions = part.space ? restrictions : NULL};
    KERF_TRY(kerf_search_space_build(&request, &run->arena, &space, error));
    KERF_TRY(make_room(run, all, space.n_configs, error));
    for (int i = 0; i < all->n; ++i) {
        char memory[1024];
        kerf_text text = kerf_text_over(memory, sizeof memory);
        kerf_search_space_print(&space, i, &text);
        KERF_TRY(kerf_search_space_config(&space, i, &run->arena, &all->config[i], error));
        all->text[i] = kerf_arena_copy_text(&run->sink.arena, memory);
        all->of[i] = part.space ? &all->config[i] : NULL;
        all->rows[i] = run->rows.at[all->row].row;
        if (!all->text[i])
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the records");
    }
    return KERF_OK;
}

kerf_status kerf_verify_params(kerf_run *run, const char *set, const kerf_case *c, const char *const leave_out[],
                               kerf_error *error) {
    const char *const case_text = kerf_copied_case_text(run, c);
    if (!case_text)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the findings of a case");
    for (int row = 0; row < run->rows.n; ++row) {
        configured all = {.row = row};
        if (leave_out[row])
            continue;
        const kerf_status status = list_configs(run, c, &all, error);
        if (status == KERF_ERROR_USAGE) {
            kerf_finding none = {.verdict = KERF_SKIP, .check = "", .output = -1, .place = ""};
            kerf_text reason = kerf_text_over(none.reason, sizeof none.reason);
            kerf_text_printf(&reason, "%s", error->message);
            KERF_TRY(kerf_record_finding(run, set, c, case_text, &run->rows.at[row], "", &none, error));
            continue;
        }
        KERF_TRY(status);
        KERF_TRY(kerf_verify_configs(run->verifier, run->entry, c, all.rows, all.of, all.n, all.finding,
                                     run->interrupted, error));
        for (int i = 0; i < all.n; ++i)
            KERF_TRY(
                kerf_record_finding(run, set, c, case_text, &run->rows.at[row], all.text[i], &all.finding[i], error));
    }
    return KERF_OK;
}
