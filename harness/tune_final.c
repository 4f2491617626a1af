/* The fastest configurations and the default head to head, and which of them is the result. */
#include "harness/stage_time.h"
#include "harness/timing_figures.h"
#include "harness/tune.h"

#include <math.h>
#include <stdlib.h>

enum { FINALISTS = 8, PROCESSES = KERF_TIME_PROCESSES }; /* finalists beside the default */

/* Beyond this a cell has stopped by itself on all machines that we saw. */
#define MOST_S_PER_CELL 1.0

typedef struct final_figures {
    kerf_candidate *candidate;
    kerf_timing_cell *cell;
    kerf_timing_figures figures;
    kerf_held_cell *held;
    kerf_interval ratio; /* time of the default / time of this one; middle 0: not known */
    kerf_finding finding;
} final_figures;

static int by_cost(const void *a, const void *b) {
    const kerf_candidate *const x = *(kerf_candidate *const *)a, *const y = *(kerf_candidate *const *)b;
    if (x->outcome.cost != y->outcome.cost)
        return x->outcome.cost < y->outcome.cost ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* The default first, then the fastest of the search. */
static int choose_finalists(kerf_tuning *t, final_figures finals[FINALISTS + 1], kerf_error *error) {
    kerf_candidate **const timed = KERF_ARENA_NEW(&t->run->arena, kerf_candidate *, t->n_tried);
    int n_timed = 0, n = 1;
    if (!timed)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", t->n_tried), -1;
    for (int i = 0; i < t->n_tried; ++i)
        if (i != t->standard && t->tried[i].outcome.kind == KERF_OUTCOME_TIMED)
            timed[n_timed++] = &t->tried[i];
    qsort(timed, (size_t)n_timed, sizeof *timed, by_cost);
    finals[0] = (final_figures){.candidate = &t->tried[t->standard]};
    for (; n <= n_timed && n <= FINALISTS; ++n)
        finals[n] = (final_figures){.candidate = timed[n - 1]};
    return n;
}

static kerf_status take_figures(kerf_tuning *t, final_figures *one, const final_figures *standard, kerf_error *error) {
    one->finding = one->candidate->finding;
    if (one->cell->n_samples == 0) {
        kerf_tuning_take_fault(t, one->cell, &one->finding);
        return KERF_OK;
    }
    double *const memory = KERF_ARENA_NEW(&t->run->arena, double, one->cell->n_samples);
    if (!memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", one->cell->n_samples);
    one->figures = kerf_timing_figures_of(one->cell, PROCESSES, memory);
    bool resolved;
    if (standard->figures.covered > 0)
        one->ratio = kerf_timing_ratio(&standard->figures, &one->figures, &resolved);
    return KERF_OK;
}

int kerf_tune_choose(const double time_ns[], const kerf_interval ratio[], int n) {
    if (n < 1 || !(ratio[0].middle > 0))
        return -1;
    int best = 0;
    for (int i = 1; i < n; ++i)
        if (ratio[i].middle > 0 && ratio[i].low >= 1 && time_ns[i] < time_ns[best])
            best = i;
    return best;
}

static const final_figures *choose(const final_figures finals[], int n) {
    double time_ns[FINALISTS + 1];
    kerf_interval ratio[FINALISTS + 1];
    for (int i = 0; i < n; ++i) {
        time_ns[i] = finals[i].figures.time_ns.middle;
        ratio[i] = finals[i].held->implausible ? (kerf_interval){0} : finals[i].ratio;
    }
    const int best = kerf_tune_choose(time_ns, ratio, n);
    return best < 0 ? NULL : &finals[best];
}

static kerf_status record_final(kerf_tuning *t, const final_figures *finals, int number, const final_figures *chosen,
                                const kerf_timed_case *of, kerf_error *error) {
    const final_figures *const one = &finals[number];
    kerf_record record;
    kerf_recorded_tune *tune;
    KERF_TRY(kerf_tuning_record_of(t, one->candidate, KERF_TUNE_FINAL, &tune, &record, error));
    tune->is_chosen = one == chosen;
    record.finding = one->finding;
    if (one->finding.verdict != KERF_PASS)
        kerf_tuning_judge(t, &record);
    if (one->cell->n_samples > 0) {
        const kerf_timing_figures *const f = &one->figures;
        record.time_ns = (kerf_estimate){f->time_ns.middle, f->time_ns.low, f->time_ns.high};
        record.covered = f->covered;
        record.resolution_ns = f->resolution_ns;
        if (!finals[0].held->implausible)
            record.ratio_to_standard = (kerf_estimate){one->ratio.middle, one->ratio.low, one->ratio.high};
        if (one->held->implausible)
            record.repeat = kerf_tuning_repeat(t, &record);
        KERF_TRY(kerf_stage_add_samples(one->cell, &t->run->sink.arena, &record, error));
        kerf_stage_add_limit(t->run, of, t->mode, one->held, &record);
    }
    return kerf_sink_add(&t->run->sink, &record, error);
}

kerf_status kerf_tuning_decide(kerf_tuning *t, double budget_s, kerf_error *error) {
    kerf_run *const run = t->run;
    final_figures finals[FINALISTS + 1];
    kerf_timing_cell *const cells = KERF_ARENA_NEW(&run->arena, kerf_timing_cell, FINALISTS + 1);
    const kerf_timed_case of = {.set = t->set, .c = t->c, .work = t->work};
    kerf_held_cell held[FINALISTS + 1];
    const int n = choose_finalists(t, finals, error);
    if (n < 0 || !cells)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", t->n_tried);
    for (int i = 0; i < n; ++i) {
        cells[i] = kerf_tuning_cell(t, finals[i].candidate);
        held[i] = (kerf_held_cell){.of = &of};
        finals[i].cell = &cells[i];
        finals[i].held = &held[i];
    }
    const kerf_timing_options options = {.processes = PROCESSES,
                                         .threads = run->threads,
                                         .budget_s = fmin(budget_s, MOST_S_PER_CELL * n),
                                         .seed = run->options->order_seed,
                                         .plugins = run->options->plugin};
    KERF_TRY(kerf_time_cells(cells, n, &options, &run->arena, NULL, NULL, run->interrupted, error));
    KERF_TRY(kerf_stage_hold(run, &options, cells, held, n, error));
    for (int i = 0; i < n; ++i)
        KERF_TRY(take_figures(t, &finals[i], &finals[0], error));
    const final_figures *const chosen = choose(finals, n);
    for (int i = 0; i < n; ++i)
        KERF_TRY(record_final(t, finals, i, chosen, &of, error));
    return KERF_OK;
}
