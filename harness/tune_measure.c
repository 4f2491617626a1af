/* Verifying and timing configurations. */
#include "harness/tune.h"

#include "harness/verify.h"
#include <stdio.h>
#include <string.h>

/* The verifier tries teams of all sizes, so threads do not make another configuration. */
static bool is_verified_with(const kerf_candidate *a, const kerf_candidate *b) {
    if (a->row != b->row || a->config.n != b->config.n)
        return false;
    for (int i = 0; i < a->config.n; ++i) {
        const kerf_setting *const setting = &a->config.setting[i];
        if (strcmp(setting->name, "threads") != 0 &&
            kerf_config_get(&b->config, setting->name, ~setting->value) != setting->value)
            return false;
    }
    return true;
}

static const kerf_candidate *verified_before(const kerf_tuning *t, const kerf_candidate *candidate) {
    const kerf_candidate *one = t->tried;
    while (one < candidate && (one->is_doubted || !is_verified_with(one, candidate)))
        ++one;
    return one < candidate ? one : NULL;
}

kerf_status kerf_tuning_verify(kerf_tuning *t, kerf_candidate *const batch[], int n, kerf_error *error) {
    kerf_run *const run = t->run;
    const kerf_row **const rows = KERF_ARENA_NEW(&run->arena, const kerf_row *, n);
    const kerf_config **const configs = KERF_ARENA_NEW(&run->arena, const kerf_config *, n);
    kerf_finding *const findings = KERF_ARENA_NEW(&run->arena, kerf_finding, n);
    if (!rows || !configs || !findings)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", n);
    int n_new = 0;
    for (int i = 0; i < n; ++i) {
        if (verified_before(t, batch[i]))
            continue;
        rows[n_new] = run->rows.at[batch[i]->row].row;
        configs[n_new++] = &batch[i]->config;
    }
    if (n_new > 0)
        KERF_TRY(kerf_verify_configs(run->verifier, run->entry, t->c, rows, configs, n_new, findings, run->interrupted,
                                     error));
    n_new = 0;
    for (int i = 0; i < n; ++i) {
        const kerf_candidate *const before = verified_before(t, batch[i]);
        batch[i]->finding = before ? before->finding : findings[n_new++];
        const kerf_verdict verdict = batch[i]->finding.verdict;
        batch[i]->outcome.kind = verdict == KERF_PASS   ? KERF_OUTCOME_UNTIMED
                                 : verdict == KERF_SKIP ? KERF_OUTCOME_REFUSED
                                                        : KERF_OUTCOME_WRONG;
    }
    return KERF_OK;
}

kerf_timing_cell kerf_tuning_cell(const kerf_tuning *t, const kerf_candidate *candidate) {
    return (kerf_timing_cell){.entry = t->run->entry,
                              .c = t->c,
                              .row = t->run->rows.at[candidate->row].row,
                              .mode = t->mode,
                              .config = &candidate->config,
                              .threads = candidate->threads};
}

void kerf_tuning_take_fault(kerf_tuning *t, const kerf_timing_cell *cell, kerf_finding *finding) {
    if (cell->wrong_on) {
        *finding = cell->finding;
        finding->verdict = KERF_FAIL;
        finding->place = "";
        return;
    }
    finding->verdict = cell->crashed ? KERF_CRASH : KERF_SKIP;
    finding->check = cell->crashed ? "timed" : "";
    snprintf(finding->reason, sizeof finding->reason, "%s",
             cell->reason[0]        ? cell->reason
             : *t->run->interrupted ? "interrupted"
                                    : "no time was left");
}

/* One process tells a median only; there are more of one that was doubtful. */
static kerf_status median_of(kerf_tuning *t, const kerf_timing_cell *cell, double *median_ns, kerf_error *error) {
    double *const memory = KERF_ARENA_NEW(&t->run->arena, double, cell->n_samples + 1);
    if (!memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", cell->n_samples);
    *median_ns = kerf_timing_figures_of(cell, KERF_TIME_PROCESSES, memory).time_ns.middle;
    return KERF_OK;
}

static void doubt(kerf_tuning *t, const kerf_timing_cell *cell, kerf_candidate *candidate) {
    kerf_tuning_take_fault(t, cell, &candidate->finding);
    candidate->is_doubted = true;
}

static kerf_status take_times(kerf_tuning *t, kerf_candidate *const of[], const kerf_timing_cell *cells,
                              const kerf_held_cell *held, int n, kerf_error *error) {
    double standard_ns = 0;
    for (int i = 0; i < n; ++i)
        if (held[i].implausible && (i > 0 || !(t->standard_ns > 0))) {
            of[i]->implausible = &cells[i];
            of[i]->held = &held[i];
            of[i]->outcome.kind = KERF_OUTCOME_WRONG;
        }
    if (held[0].implausible)
        return KERF_OK;
    if (cells[0].n_samples > 0)
        KERF_TRY(median_of(t, &cells[0], &standard_ns, error));
    else
        doubt(t, &cells[0], of[0]);
    /* What this run says of the default is of its first turn, so that all times are of one scale. */
    if (!(t->standard_ns > 0))
        t->standard_ns = of[0]->time_ns = standard_ns;
    if (of[0]->time_ns > 0)
        of[0]->outcome = (kerf_outcome){.kind = KERF_OUTCOME_TIMED, .cost = 1};
    for (int i = 1; i < n; ++i) {
        double time_ns = 0;
        if (held[i].implausible)
            continue;
        if (cells[i].n_samples == 0) {
            doubt(t, &cells[i], of[i]);
            if (of[i]->finding.verdict != KERF_SKIP)
                of[i]->outcome.kind = KERF_OUTCOME_WRONG;
            continue;
        }
        KERF_TRY(median_of(t, &cells[i], &time_ns, error));
        if (!(standard_ns > 0))
            continue; /* nothing to hold it against */
        of[i]->outcome = (kerf_outcome){.kind = KERF_OUTCOME_TIMED, .cost = time_ns / standard_ns};
        of[i]->time_ns = of[i]->outcome.cost * t->standard_ns;
    }
    return KERF_OK;
}

kerf_status kerf_tuning_time(kerf_tuning *t, kerf_candidate *const batch[], int n, double budget_s, kerf_error *error) {
    kerf_run *const run = t->run;
    kerf_timing_cell *const cells = KERF_ARENA_NEW(&run->arena, kerf_timing_cell, n + 1);
    kerf_candidate **const of = KERF_ARENA_NEW(&run->arena, kerf_candidate *, n + 1);
    kerf_held_cell *const held = KERF_ARENA_NEW(&run->arena, kerf_held_cell, n + 1);
    kerf_timed_case *const timed = KERF_ARENA_NEW(&run->arena, kerf_timed_case, 1);
    if (!cells || !of || !held || !timed)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d configurations", n);
    int n_cells = 0;
    of[n_cells++] = &t->tried[t->standard];
    for (int i = 0; i < n; ++i)
        if (batch[i]->finding.verdict == KERF_PASS && batch[i] != of[0])
            of[n_cells++] = batch[i];
    if (n_cells == 1 && t->standard_ns > 0)
        return KERF_OK;
    *timed = kerf_tuning_timed_case(t);
    for (int i = 0; i < n_cells; ++i) {
        cells[i] = kerf_tuning_cell(t, of[i]);
        held[i] = (kerf_held_cell){.of = timed};
    }
    const kerf_timing_options options = {.processes = 1,
                                         .threads = run->threads,
                                         .budget_s = budget_s * n_cells,
                                         .seed = run->options->order_seed + (uint64_t)t->n_tried,
                                         .plugins = run->options->plugin};
    KERF_TRY(kerf_time_cells(cells, n_cells, &options, &run->arena, NULL, NULL, run->interrupted, error));
    KERF_TRY(kerf_stage_hold(run, &options, cells, held, n_cells, error));
    return take_times(t, of, cells, held, n_cells, error);
}
