#include "harness/stage_time.h"

#include "harness/stage_extra.h"
#include "harness/timing_figures.h"
#include "harness/verify.h"
#include <limits.h>
#include <signal.h>
#include <string.h>

/* Why the row is not timed on any case, or NULL. */
static const char *untimed_reason(kerf_arena *arena, const kerf_selected_row *row) {
    if (row->unavailable)
        return row->unavailable;
    if (row->row->device == KERF_DEVICE_CUDA_SIM)
        return "runs on the host for verification; its time means nothing";
    if (row->row->device != KERF_DEVICE_CPU)
        return "device rows are verified; their timing is not built yet";
    if (row->n_failed == 0)
        return NULL;
    char memory[80];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "did not pass %d case%s", row->n_failed, row->n_failed == 1 ? "" : "s");
    return kerf_arena_copy_text(arena, memory);
}

static kerf_status verify_timed_cases(kerf_run *run, const kerf_set_list *sets, kerf_timed_case *cases,
                                      kerf_error *error) {
    int n = 0;
    for (int s = 0; s < sets->n; ++s) {
        for (int i = 0; i < sets->at[s].cases.n; ++i) {
            kerf_timed_case *const timed = &cases[n++];
            *timed = (kerf_timed_case){.set = sets->at[s].name,
                                       .c = &sets->at[s].cases.at[i],
                                       .findings = KERF_ARENA_NEW(&run->arena, kerf_finding, run->rows.n),
                                       .left_out = KERF_ARENA_NEW(&run->arena, const char *, run->rows.n)};
            if (!timed->findings || !timed->left_out)
                return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %lld cases", (long long)sets->n_cases);
            for (int row = 0; row < run->rows.n; ++row)
                timed->left_out[row] = untimed_reason(&run->arena, &run->rows.at[row]);
            KERF_TRY(kerf_verify_and_record(run, timed->set, timed->c, timed->left_out, timed->findings, error));
            timed->work = kerf_verifier_work(run->verifier);
            kerf_progress_step(&run->progress, n, sets->n_cases);
        }
    }
    return KERF_OK;
}

/* Cells of one case and mode stand together; cell_of[(case * 2 + mode) * rows + row] is the cell's number, or -1. */
static int lay_out_cells(const kerf_run *run, const kerf_timed_case *cases, int n_cases, kerf_timing_cell *cells,
                         kerf_held_cell *held, int *cell_of) {
    int n = 0;
    for (int i = 0; i < n_cases; ++i) {
        for (int mode = KERF_HOT; mode <= KERF_COLD; ++mode) {
            for (int row = 0; row < run->rows.n; ++row) {
                int *const at = &cell_of[(i * 2 + mode) * run->rows.n + row];
                *at = -1;
                if (cases[i].left_out[row] || cases[i].findings[row].verdict != KERF_PASS)
                    continue;
                *at = n;
                held[n] = (kerf_held_cell){.of = &cases[i]};
                cells[n++] = (kerf_timing_cell){
                    .entry = run->entry, .c = cases[i].c, .row = run->rows.at[row].row, .mode = (kerf_cache_mode)mode};
            }
        }
    }
    return n;
}

static kerf_estimate estimate_of(kerf_interval interval) {
    return (kerf_estimate){interval.middle, interval.low, interval.high};
}

static const char *stops_text(kerf_arena *arena, const kerf_timing_cell *cell) {
    char memory[160];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    for (int process = 0; process < KERF_TIME_PROCESSES && cell->stop; ++process)
        kerf_text_printf(&text, "%s%s", process ? "," : "", kerf_stop_name(cell->stop[process]));
    return kerf_arena_copy_text(arena, memory);
}

kerf_status kerf_stage_add_samples(const kerf_timing_cell *cell, kerf_arena *arena, kerf_record *record,
                                   kerf_error *error) {
    kerf_recorded_sample *const samples = KERF_ARENA_NEW(arena, kerf_recorded_sample, cell->n_samples + 1);
    if (!samples)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", cell->n_samples);
    for (int i = 0; i < cell->n_samples; ++i)
        samples[i] = (kerf_recorded_sample){cell->sample[i].total_ns, cell->sample[i].batch, cell->sample[i].process,
                                            cell->sample[i].round};
    kerf_recorded_overhead *const overhead = KERF_ARENA_NEW(arena, kerf_recorded_overhead, KERF_TIME_PROCESSES);
    if (!overhead)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", cell->n_samples);
    for (int process = 0; process < KERF_TIME_PROCESSES; ++process)
        overhead[process] =
            (kerf_recorded_overhead){cell->overhead[process].sample_ns, cell->overhead[process].call_ns};
    record->overhead = overhead;
    record->n_overheads = KERF_TIME_PROCESSES;
    record->sample = samples;
    record->n_samples = cell->n_samples;
    return KERF_OK;
}

/* Fills in what the samples say; `naive` is the cell of the naive row on the same case and mode, or NULL. */
static kerf_status add_times(kerf_run *run, const kerf_timing_cell *cell, const kerf_timing_cell *naive,
                             kerf_record *record, kerf_error *error) {
    const int most = naive && naive->n_samples > cell->n_samples ? naive->n_samples : cell->n_samples;
    double *const memory = KERF_ARENA_NEW(&run->arena, double, most + 1);
    if (!memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", most);
    const kerf_timing_figures figures = kerf_timing_figures_of(cell, KERF_TIME_PROCESSES, memory);
    record->time_ns = estimate_of(figures.time_ns);
    record->covered = figures.covered;
    record->resolution_ns = figures.resolution_ns;
    record->stop = stops_text(&run->sink.arena, cell);
    if (naive && naive->n_samples > 0) {
        const kerf_timing_figures naive_figures = kerf_timing_figures_of(naive, KERF_TIME_PROCESSES, memory);
        bool resolved;
        record->speed_ratio = estimate_of(kerf_timing_ratio(&naive_figures, &figures, &resolved));
        record->speed_unresolved = !resolved && naive != cell;
    }
    record->extra = kerf_stage_extra(run, cell, KERF_TIME_PROCESSES);
    return kerf_stage_add_samples(cell, &run->sink.arena, record, error);
}

/* The worst element stands in the fields of the record too; the reason is for tables. */
static void tell_wrong(kerf_run *run, const kerf_timing_cell *cell, kerf_record *record) {
    const kerf_finding *const found = &cell->finding;
    run->any_wrong = true;
    if (cell->wrong_on != cell->c) {
        kerf_finding *const finding = &record->finding;
        finding->verdict = KERF_FAIL;
        finding->check = found->check;
        kerf_text text = kerf_text_over(finding->reason, sizeof finding->reason);
        kerf_text_printf(&text, "not believed: a call was wrong while it was timed on ");
        kerf_case_print(cell->wrong_on, &text);
        return;
    }
    const bool is_known = found->output >= 0 && run->entry->op->outputs[found->output];
    record->output = is_known ? run->entry->op->outputs[found->output] : NULL;
    record->finding = *found;
    kerf_text reason = kerf_text_over(record->finding.reason, sizeof record->finding.reason);
    const char *const call = strncmp(found->reason, "timed", 5) == 0  ? "a timed call"
                             : strncmp(found->reason, "last", 4) == 0 ? "the last timed call"
                                                                      : "a call on poisoned outputs";
    kerf_text_printf(&reason, "%s was wrong: %s[", call, record->output ? record->output : "output");
    for (int axis = 0; axis < found->rank; ++axis)
        kerf_text_printf(&reason, "%s%lld", axis ? "," : "", (long long)found->index[axis]);
    kerf_text_printf(&reason, "] = %.9g, not in [%.9g, %.9g] +- %.3g; %lld of %lld elements", found->got, found->lo,
                     found->hi, found->slack, (long long)found->n_bad, (long long)found->n_elements);
}

/* Of the case where the call was wrong. */
static kerf_status add_repeat(kerf_run *run, const kerf_case *wrong_on, kerf_record *record, kerf_error *error) {
    char memory[4096];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(wrong_on, &text);
    record->repeat = kerf_repeat_command(run, record, memory);
    return record->repeat ? KERF_OK : kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the records");
}

static kerf_status record_cell(kerf_run *run, const kerf_timed_case *timed, int mode, int row,
                               const kerf_timing_cell *cell, const kerf_held_cell *held, const kerf_timing_cell *naive,
                               kerf_error *error) {
    char memory[4096], config[32];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(timed->c, &text);
    text = kerf_text_over(config, sizeof config);
    kerf_text_printf(&text, "threads=%d", run->threads);
    kerf_record record = {.kind = KERF_RECORD_TIME,
                          .op = run->entry->op->name,
                          .set = timed->set,
                          .case_text = kerf_arena_copy_text(&run->sink.arena, memory),
                          .case_hash = kerf_case_hash(timed->c),
                          .row = run->rows.at[row].text,
                          .mode = kerf_cache_mode_name((kerf_cache_mode)mode),
                          .config = kerf_arena_copy_text(&run->sink.arena, config),
                          .threads = run->threads,
                          .finding = timed->findings[row]};
    if (!record.case_text || !record.config)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the records");
    if (cell && cell->wrong_on) {
        tell_wrong(run, cell, &record);
        KERF_TRY(add_repeat(run, cell->wrong_on, &record, error));
        if (cell->wrong_on == cell->c &&
            (mode == KERF_HOT || run->options->host_argument)) /* else cold says the same */
            kerf_print_failure(&record, &run->progress);
    } else if (cell && cell->n_samples > 0)
        KERF_TRY(add_times(run, cell, naive, &record, error));
    else if (cell) {
        /* A row that passed may still end its process when it is timed. */
        record.finding.verdict = cell->crashed ? KERF_CRASH : KERF_SKIP;
        kerf_text reason = kerf_text_over(record.finding.reason, sizeof record.finding.reason);
        kerf_text_printf(&reason, "%s",
                         cell->reason[0]     ? cell->reason
                         : *run->interrupted ? "interrupted"
                                             : "no time was left");
        run->any_wrong = run->any_wrong || cell->crashed;
    }
    kerf_stage_add_limit(run, timed, (kerf_cache_mode)mode, held, &record);
    return kerf_sink_add(&run->sink, &record, error);
}

static kerf_status record_cells(kerf_run *run, const kerf_timed_case *cases, int n_cases, const kerf_timing_cell *cells,
                                const kerf_held_cell *held, const int *cell_of, kerf_error *error) {
    int naive_row = -1;
    for (int row = 0; row < run->rows.n; ++row)
        if (strcmp(run->rows.at[row].row->name, "naive") == 0 && run->rows.at[row].row->device == KERF_DEVICE_CPU)
            naive_row = row;
    for (int i = 0; i < n_cases; ++i) {
        for (int mode = KERF_HOT; mode <= KERF_COLD; ++mode) {
            const int *const numbers = &cell_of[(i * 2 + mode) * run->rows.n];
            const int naive_cell = naive_row >= 0 ? numbers[naive_row] : -1;
            const kerf_timing_cell *const naive =
                naive_cell >= 0 && !held[naive_cell].implausible ? &cells[naive_cell] : NULL;
            for (int row = 0; row < run->rows.n; ++row) {
                /* What cannot be timed anywhere is said once, in the table of what was verified. */
                if (cases[i].left_out[row])
                    continue;
                const kerf_timing_cell *const cell = numbers[row] >= 0 ? &cells[numbers[row]] : NULL;
                KERF_TRY(record_cell(run, &cases[i], mode, row, cell, cell ? &held[numbers[row]] : NULL, naive, error));
            }
        }
    }
    return KERF_OK;
}

/* The library's front end has shown the times; what is left to say is whose last call was wrong. */
static kerf_status record_wrong_cells(kerf_run *run, const kerf_timed_case *cases, int n_cases,
                                      const kerf_timing_cell *cells, const int *cell_of, kerf_error *error) {
    for (int i = 0; i < n_cases; ++i)
        for (int mode = KERF_HOT; mode <= KERF_COLD; ++mode)
            for (int row = 0; row < run->rows.n; ++row) {
                const int number = cell_of[(i * 2 + mode) * run->rows.n + row];
                if (number >= 0 && cells[number].wrong_on)
                    KERF_TRY(record_cell(run, &cases[i], mode, row, &cells[number], NULL, NULL, error));
            }
    return KERF_OK;
}

static void show_progress(void *argument, int done, int total) {
    kerf_progress_step(argument, done, total);
}

kerf_status kerf_stage_time(kerf_run *run, const kerf_set_list *sets, kerf_error *error) {
    if (sets->n_cases > INT_MAX / 2 / run->rows.n)
        return kerf_fail(error, KERF_ERROR_USAGE, "%lld cases are too many to time; choose fewer",
                         (long long)sets->n_cases);
    const int n_cases = (int)sets->n_cases;
    kerf_timed_case *const cases = KERF_ARENA_NEW(&run->arena, kerf_timed_case, n_cases);
    kerf_timing_cell *const cells = KERF_ARENA_NEW(&run->arena, kerf_timing_cell, n_cases * 2 * run->rows.n);
    kerf_held_cell *const held = KERF_ARENA_NEW(&run->arena, kerf_held_cell, n_cases * 2 * run->rows.n);
    int *const cell_of = KERF_ARENA_NEW(&run->arena, int, n_cases * 2 * run->rows.n);
    if (!cases || !cells || !held || !cell_of)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d cases", n_cases);
    kerf_progress_begin(&run->progress, run->options->quiet, "verifying the %d case%s to be timed", n_cases,
                        n_cases == 1 ? "" : "s");
    KERF_TRY(verify_timed_cases(run, sets, cases, error));
    kerf_progress_clear(&run->progress);
    /* The children of the verifier would share the processors with what is timed. */
    kerf_verifier_close(run->verifier);
    run->verifier = NULL;
    const int n_cells = lay_out_cells(run, cases, n_cases, cells, held, cell_of);
    if (run->options->host_argument) {
        /* The library's loop does not ask for the flag. */
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        KERF_TRY(kerf_timing_front_end(cells, n_cells, run->threads, run->options->n_host_arguments,
                                       run->options->host_argument, error));
        return record_wrong_cells(run, cases, n_cases, cells, cell_of, error);
    }
    if (n_cells > 0)
        KERF_TRY(kerf_stage_find_limits(run, error));
    const kerf_timing_options options = {.processes = KERF_TIME_PROCESSES,
                                         .threads = run->threads,
                                         .budget_s = run->options->time_budget_s,
                                         .seed = run->options->order_seed,
                                         .plugins = run->options->plugin,
                                         .wish = kerf_stage_wish(run)};
    kerf_progress_begin(&run->progress, run->options->quiet,
                        "timing %d case%s, hot and cold, in %d processes, about %.0f s", n_cases,
                        n_cases == 1 ? "" : "s", KERF_TIME_PROCESSES, run->options->time_budget_s);
    kerf_status status =
        kerf_time_cells(cells, n_cells, &options, &run->arena, show_progress, &run->progress, run->interrupted, error);
    kerf_progress_clear(&run->progress);
    if (status == KERF_OK)
        status = kerf_stage_hold(run, &options, cells, held, n_cells, error);
    if (status != KERF_OK && status != KERF_ERROR_INTERRUPTED)
        return status;
    kerf_error ignored;
    KERF_TRY(record_cells(run, cases, n_cases, cells, held, cell_of, status == KERF_OK ? error : &ignored));
    return status;
}
