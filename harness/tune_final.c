/* The fastest configurations and the default head to head, and which of them is the result. */
#include "harness/tune.h"

#include <math.h>
#include <stdlib.h>

enum { FINALISTS = 8, MOST = FINALISTS + 1 }; /* finalists beside the default */

/* Of the time that is left: the rest is for the confirmation. */
#define FINAL_SHARE 0.6
/* Beyond this a cell has stopped by itself on all machines that we saw. */
#define MOST_S_PER_CELL 1.0

/* Configurations head to head, the default first. */
typedef struct contest {
    kerf_tune_phase phase;
    int n;
    kerf_candidate *candidate[MOST];
    kerf_timing_cell cell[MOST];
    kerf_timed_case of;
    kerf_held_cell held[MOST];
    kerf_timing_figures figures[MOST];
    kerf_interval ratio[MOST]; /* time of the default / time of this one; middle 0: not known */
    kerf_finding finding[MOST];
} contest;

static int by_cost(const void *a, const void *b) {
    const kerf_candidate *const x = *(kerf_candidate *const *)a, *const y = *(kerf_candidate *const *)b;
    if (x->outcome.cost != y->outcome.cost)
        return x->outcome.cost < y->outcome.cost ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static kerf_status open_contest(kerf_tuning *t, kerf_tune_phase phase, contest **opened, kerf_error *error) {
    *opened = KERF_ARENA_NEW(&t->run->arena, contest, 1);
    if (!*opened)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", MOST);
    **opened =
        (contest){.phase = phase, .n = 1, .candidate = {&t->tried[t->standard]}, .of = kerf_tuning_timed_case(t)};
    return KERF_OK;
}

static kerf_status choose_finalists(kerf_tuning *t, contest *finals, kerf_error *error) {
    kerf_candidate **const timed = KERF_ARENA_NEW(&t->run->arena, kerf_candidate *, t->n_tried);
    int n_timed = 0;
    if (!timed)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", t->n_tried);
    for (int i = 0; i < t->n_tried; ++i)
        if (i != t->standard && t->tried[i].outcome.kind == KERF_OUTCOME_TIMED)
            timed[n_timed++] = &t->tried[i];
    qsort(timed, (size_t)n_timed, sizeof *timed, by_cost);
    for (; finals->n <= n_timed && finals->n < MOST; ++finals->n)
        finals->candidate[finals->n] = timed[finals->n - 1];
    return KERF_OK;
}

static kerf_status take_figures(kerf_tuning *t, contest *c, int i, kerf_error *error) {
    const kerf_timing_cell *const cell = &c->cell[i];
    c->finding[i] = c->candidate[i]->finding;
    if (cell->n_samples == 0) {
        kerf_tuning_take_fault(t, cell, &c->finding[i]);
        return KERF_OK;
    }
    double *const memory = KERF_ARENA_NEW(&t->run->arena, double, cell->n_samples);
    if (!memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", cell->n_samples);
    c->figures[i] = kerf_timing_figures_of(cell, KERF_TIME_PROCESSES, memory);
    bool resolved;
    if (c->figures[0].covered > 0)
        c->ratio[i] = kerf_timing_ratio(&c->figures[0], &c->figures[i], &resolved);
    return KERF_OK;
}

static kerf_status measure(kerf_tuning *t, contest *c, double budget_s, kerf_error *error) {
    kerf_run *const run = t->run;
    for (int i = 0; i < c->n; ++i) {
        c->cell[i] = kerf_tuning_cell(t, c->candidate[i]);
        c->held[i] = (kerf_held_cell){.of = &c->of};
    }
    const kerf_timing_options options = {.processes = KERF_TIME_PROCESSES,
                                         .threads = run->threads,
                                         .budget_s = fmin(budget_s, MOST_S_PER_CELL * c->n),
                                         .seed = run->options->order_seed + (uint64_t)c->phase,
                                         .plugins = run->options->plugin};
    KERF_TRY(kerf_time_cells(c->cell, c->n, &options, &run->arena, NULL, NULL, run->interrupted, error));
    KERF_TRY(kerf_stage_hold(run, &options, c->cell, c->held, c->n, error));
    for (int i = 0; i < c->n; ++i)
        KERF_TRY(take_figures(t, c, i, error));
    return KERF_OK;
}

int kerf_tune_choose(const double time_ns[], const kerf_interval ratio[], int n) {
    if (n < 1 || !(ratio[0].middle > 0))
        return -1;
    int best = 0;
    for (int i = 1; i < n; ++i)
        if (ratio[i].middle > 0 && ratio[i].low > 1 && time_ns[i] < time_ns[best])
            best = i;
    return best;
}

static int choose(const contest *c) {
    double time_ns[MOST];
    kerf_interval ratio[MOST];
    for (int i = 0; i < c->n; ++i) {
        time_ns[i] = c->figures[i].time_ns.middle;
        ratio[i] = c->held[i].implausible ? (kerf_interval){0} : c->ratio[i];
    }
    return kerf_tune_choose(time_ns, ratio, c->n);
}

/* `chosen`: the result, -1: none of these. */
static kerf_status record_contest(kerf_tuning *t, const contest *c, int chosen, kerf_error *error) {
    for (int i = 0; i < c->n; ++i) {
        kerf_record record;
        kerf_recorded_tune *tune;
        KERF_TRY(kerf_tuning_record_of(t, c->candidate[i], c->phase, &tune, &record, error));
        tune->is_chosen = i == chosen;
        record.finding = c->finding[i];
        if (record.finding.verdict != KERF_PASS)
            kerf_tuning_judge(t, &record);
        if (!c->held[0].implausible)
            record.ratio_to_standard = (kerf_estimate){c->ratio[i].middle, c->ratio[i].low, c->ratio[i].high};
        if (c->cell[i].n_samples > 0)
            KERF_TRY(kerf_tuning_record_times(t, &c->cell[i], &c->held[i], &c->figures[i], &record, error));
        KERF_TRY(kerf_sink_add(&t->run->sink, &record, error));
    }
    return KERF_OK;
}

/* The best of several that are equal looks faster than it is: who is ahead in the finals has to be so once more, alone
 * with the default. */
kerf_status kerf_tuning_decide(kerf_tuning *t, double budget_s, kerf_error *error) {
    contest *finals, *pair;
    KERF_TRY(open_contest(t, KERF_TUNE_FINAL, &finals, error));
    KERF_TRY(choose_finalists(t, finals, error));
    KERF_TRY(measure(t, finals, FINAL_SHARE * budget_s, error));
    const int ahead = choose(finals);
    KERF_TRY(record_contest(t, finals, ahead > 0 ? -1 : ahead, error));
    if (ahead <= 0)
        return KERF_OK;
    KERF_TRY(open_contest(t, KERF_TUNE_CONFIRM, &pair, error));
    pair->candidate[pair->n++] = finals->candidate[ahead];
    KERF_TRY(measure(t, pair, (1 - FINAL_SHARE) * budget_s, error));
    return record_contest(t, pair, choose(pair), error);
}
