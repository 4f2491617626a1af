/* `bench tune`: for each case a search over its configurations, and then the fastest of them head to head. */
#include "harness/stage_time.h"
#include "harness/tune.h"

#include "harness/verify.h"
#include <math.h>
#include <stdio.h>

/* Configurations that are verified and timed side by side. */
enum { BATCH = 8 };

/* The rest of a case's time is for the finals and what confirms them. */
#define SEARCH_SHARE 0.5
/* Of one configuration in the search, within one process. */
#define LEAST_S 0.01
#define MOST_S  0.2

static const kerf_search *search_for(const kerf_tuning *t, kerf_error *error) {
    const kerf_options *const options = t->run->options;
    const kerf_search *search = NULL;
    const char *const name = options->search                              ? options->search
                             : t->space.n_configs <= options->evaluations ? "exhaustive"
                                                                          : "random";
    return kerf_search_find(name, &search, error) == KERF_OK ? search : NULL;
}

static double elapsed_s(const kerf_tuning *t) {
    return kerf_progress_seconds(t->clock);
}

/* The first row whose default configuration passes: what a caller gets who tunes nothing. */
static kerf_status find_standard(kerf_tuning *t, kerf_error *error) {
    for (int part = 0; part < t->n_parts && t->standard < 0; ++part) {
        kerf_candidate *candidate;
        KERF_TRY(kerf_tuning_add_standard(t, part, &candidate, error));
        KERF_TRY(kerf_tuning_verify(t, &candidate, 1, error));
        t->work = kerf_verifier_work(t->run->verifier);
        if (candidate->finding.verdict == KERF_PASS)
            t->standard = (int)(candidate - t->tried);
        else
            KERF_TRY(kerf_tuning_record_step(t, candidate, error));
    }
    return KERF_OK;
}

static void show_progress(kerf_tuning *t, int number) {
    const kerf_candidate *best = &t->tried[t->standard];
    for (int i = 0; i < t->n_tried; ++i)
        if (t->tried[i].outcome.kind == KERF_OUTCOME_TIMED && t->tried[i].outcome.cost < best->outcome.cost)
            best = &t->tried[i];
    const double left_s = t->run->options->time_budget_s - elapsed_s(t);
    kerf_progress_say(&t->run->progress,
                      "case %d: %d tried of %lld; best so far %.2f x default (%s %s); at most %.0f s left", number,
                      t->n_tried, (long long)t->space.n_configs, 1 / best->outcome.cost,
                      t->run->rows.at[best->row].text, best->text, left_s > 0 ? left_s : 0);
}

/* Asks for up to BATCH configurations. */
static kerf_status ask_batch(kerf_tuning *t, const kerf_search *search, void *state, kerf_candidate *batch[BATCH],
                             int *n, kerf_error *error) {
    for (*n = 0; *n < BATCH && t->n_tried < t->capacity && t->n_tried < t->run->options->evaluations; ++*n) {
        const int64_t number = search->ask(state);
        if (number < 0)
            break;
        KERF_TRY(kerf_tuning_add(t, number, &batch[*n], error));
    }
    return KERF_OK;
}

static kerf_status search_space(kerf_tuning *t, const kerf_search *search, void *state, double until_s, int number,
                                kerf_error *error) {
    int n = 0;
    do {
        kerf_candidate *batch[BATCH];
        const bool is_first = !(t->standard_ns > 0);
        KERF_TRY(ask_batch(t, search, state, batch, &n, error));
        const double left_s = until_s - elapsed_s(t);
        const int64_t wanted =
            t->run->options->evaluations < t->space.n_configs ? t->run->options->evaluations : t->space.n_configs;
        const int64_t to_come = wanted > t->n_tried ? wanted - t->n_tried : 0;
        const double each_s = 0.5 * left_s / (double)(n + to_come + 1);
        KERF_TRY(kerf_tuning_verify(t, batch, n, error));
        KERF_TRY(kerf_tuning_time(t, batch, n, fmin(fmax(each_s, LEAST_S), MOST_S), error));
        if (is_first)
            KERF_TRY(kerf_tuning_record_step(t, &t->tried[t->standard], error));
        for (int i = 0; i < n; ++i) {
            search->tell(state, batch[i]->number, &batch[i]->outcome);
            KERF_TRY(kerf_tuning_record_step(t, batch[i], error));
        }
        if (t->tried[t->standard].implausible)
            return KERF_OK; /* nothing to hold others against */
        show_progress(t, number);
    } while (n == BATCH && elapsed_s(t) < until_s);
    return KERF_OK;
}

/* `until_s`: when the case should be done, by the clock of the stage. */
static kerf_status tune_case(kerf_tuning *t, double until_s, int number, kerf_error *error) {
    const kerf_search *const search = search_for(t, error);
    const kerf_search_budget budget = {.evaluations = t->run->options->evaluations};
    if (!search)
        return KERF_ERROR_USAGE;
    const size_t bytes = search->state_bytes(&t->space, &budget);
    void *const state = bytes ? kerf_arena_alloc(&t->run->arena, bytes, 64) : NULL;
    if (!state)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the search '%s'", search->name);
    const double begun_s = elapsed_s(t);
    search->begin(state, &t->space, &budget, kerf_rng_seeded(t->run->options->order_seed, kerf_case_hash(t->c)));
    KERF_TRY(find_standard(t, error));
    for (int i = 0; i < t->n_tried; ++i)
        if (t->tried[i].number >= 0)
            search->tell(state, t->tried[i].number, &t->tried[i].outcome);
    if (t->standard < 0)
        return KERF_OK; /* the records say why */
    KERF_TRY(kerf_tuning_take_over(t, search, state, error));
    KERF_TRY(search_space(t, search, state, begun_s + SEARCH_SHARE * (until_s - begun_s), number, error));
    return t->tried[t->standard].implausible ? KERF_OK : kerf_tuning_decide(t, until_s - elapsed_s(t), error);
}

kerf_status kerf_tune_check(kerf_run *run, const kerf_set_list *sets, kerf_error *error) {
    for (int s = 0; s < sets->n; ++s)
        for (int i = 0; i < sets->at[s].cases.n; ++i) {
            const size_t used = run->arena.used;
            kerf_tuning tuning;
            KERF_TRY(kerf_tuning_open(run, sets->at[s].name, &sets->at[s].cases.at[i], &tuning, error));
            if (!search_for(&tuning, error))
                return KERF_ERROR_USAGE;
            kerf_arena_rewind(&run->arena, used);
        }
    return kerf_tune_read_earlier(run, error);
}

kerf_status kerf_stage_tune(kerf_run *run, const kerf_set_list *sets, kerf_error *error) {
    kerf_progress_begin(&run->progress, run->options->quiet, "tuning %s on %lld case%s, %s, about %.0f s",
                        run->entry->op->name, (long long)sets->n_cases, sets->n_cases == 1 ? "" : "s",
                        kerf_cache_mode_name(run->options->cold ? KERF_COLD : KERF_HOT), run->options->time_budget_s);
    kerf_progress clock;
    kerf_progress_begin(&clock, true, "%s", "");
    KERF_TRY(kerf_stage_find_limits(run, error));
    int number = 0;
    for (int s = 0; s < sets->n; ++s)
        for (int i = 0; i < sets->at[s].cases.n; ++i) {
            const size_t used = run->arena.used;
            const double now_s = kerf_progress_seconds(&clock);
            const double left_s = fmax(run->options->time_budget_s - now_s, 0);
            kerf_tuning tuning;
            KERF_TRY(kerf_tuning_open(run, sets->at[s].name, &sets->at[s].cases.at[i], &tuning, error));
            tuning.clock = &clock;
            if (tuning.space.emptied && !run->options->quiet) {
                kerf_progress_clear(&run->progress);
                fprintf(stderr, "bench: %s (case %s)\n", tuning.space.emptied, tuning.case_text);
            }
            KERF_TRY(tune_case(&tuning, now_s + left_s / (double)(sets->n_cases - number), number + 1, error));
            ++number;
            kerf_arena_rewind(&run->arena, used);
        }
    kerf_progress_clear(&run->progress);
    return KERF_OK;
}
