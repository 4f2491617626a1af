/* Records of `bench tune`, and what is shown of a configuration that is wrong. */
#include "harness/tune.h"

#include <stdio.h>
#include <string.h>

#define MOST_FAILURES_SHOWN 3

kerf_status kerf_tuning_record_of(kerf_tuning *t, const kerf_candidate *candidate, kerf_tune_phase phase,
                                  kerf_recorded_tune **tune, kerf_record *record, kerf_error *error) {
    kerf_arena *const arena = &t->run->sink.arena;
    *tune = KERF_ARENA_NEW(arena, kerf_recorded_tune, 1);
    *record = (kerf_record){.kind = KERF_RECORD_TUNE,
                            .op = t->run->entry->op->name,
                            .set = t->set,
                            .case_text = kerf_arena_copy_text(arena, t->case_text),
                            .case_hash = kerf_case_hash(t->c),
                            .row = t->run->rows.at[candidate->row].text,
                            .mode = kerf_cache_mode_name(t->mode),
                            .config = candidate->text,
                            .threads = candidate->threads,
                            .finding = candidate->finding,
                            .tune = *tune};
    if (!*tune || !record->case_text)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the records");
    **tune = (kerf_recorded_tune){.phase = phase,
                                  .step = candidate->step,
                                  .configurations = t->space.n_configs,
                                  .is_standard = t->standard >= 0 && candidate == &t->tried[t->standard],
                                  .is_taken_over = candidate->is_taken_over};
    return KERF_OK;
}

const char *kerf_tuning_repeat(const kerf_tuning *t, const kerf_record *record) {
    char memory[8192];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "bench tune --op %s --variant %s --threads %d", record->op, record->row, t->run->threads);
    if (t->mode == KERF_COLD)
        kerf_text_printf(&text, " --mode cold");
    kerf_print_params(record->config, &text);
    for (int i = 0; t->run->options->plugin[i]; ++i) {
        kerf_text_printf(&text, " --plugin ");
        kerf_text_print_shell_word(&text, t->run->options->plugin[i]);
    }
    kerf_text_printf(&text, " --case ");
    kerf_text_print_shell_word(&text, record->case_text);
    return kerf_arena_copy_text(&t->run->sink.arena, memory);
}

static void show_failure(kerf_tuning *t, const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    if (++t->n_failures_shown > MOST_FAILURES_SHOWN + 1)
        return;
    kerf_progress_clear(&t->run->progress);
    if (t->n_failures_shown > MOST_FAILURES_SHOWN) {
        fprintf(stderr, "further failures on this case are in the records only\n");
        return;
    }
    fprintf(stderr, "%s %s %s, check '%s'%s%s\n", kerf_verdict_name(finding->verdict), record->row, record->config,
            finding->check, finding->reason[0] ? ": " : "", finding->reason);
    fprintf(stderr, "  case %s\n  repeat: %s\n", record->case_text, record->repeat ? record->repeat : "");
}

void kerf_tuning_judge(kerf_tuning *t, kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    const kerf_verdict verdict = finding->verdict;
    t->run->n_passed += verdict == KERF_PASS;
    t->run->n_skipped += verdict == KERF_SKIP;
    if (verdict == KERF_PASS || verdict == KERF_SKIP)
        return;
    ++t->run->n_failed;
    t->run->any_wrong = true;
    if (finding->output >= 0)
        record->output = t->run->entry->op->outputs[finding->output];
    record->repeat = kerf_tuning_repeat(t, record);
    show_failure(t, record);
}

kerf_timed_case kerf_tuning_timed_case(const kerf_tuning *t) {
    return (kerf_timed_case){.set = t->set, .c = t->c, .work = t->work};
}

kerf_status kerf_tuning_record_times(kerf_tuning *t, const kerf_timing_cell *cell, const kerf_held_cell *held,
                                     const kerf_timing_figures *f, kerf_record *record, kerf_error *error) {
    const kerf_timed_case of = kerf_tuning_timed_case(t);
    record->time_ns = (kerf_estimate){f->time_ns.middle, f->time_ns.low, f->time_ns.high};
    record->covered = f->covered;
    record->resolution_ns = f->resolution_ns;
    if (held->implausible)
        record->repeat = kerf_tuning_repeat(t, record);
    KERF_TRY(kerf_stage_add_samples(cell, &t->run->sink.arena, record, error));
    kerf_stage_add_limit(t->run, &of, t->mode, held, record);
    return KERF_OK;
}

static kerf_status record_implausible(kerf_tuning *t, const kerf_candidate *candidate, kerf_record *record,
                                      kerf_error *error) {
    const kerf_timing_cell *const cell = candidate->implausible;
    double *const memory = KERF_ARENA_NEW(&t->run->arena, double, cell->n_samples);
    if (!memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d samples", cell->n_samples);
    const kerf_timing_figures figures = kerf_timing_figures_of(cell, KERF_TIME_PROCESSES, memory);
    return kerf_tuning_record_times(t, cell, candidate->held, &figures, record, error);
}

kerf_status kerf_tuning_record_step(kerf_tuning *t, kerf_candidate *candidate, kerf_error *error) {
    kerf_record record;
    kerf_recorded_tune *tune;
    KERF_TRY(kerf_tuning_record_of(t, candidate, KERF_TUNE_SEARCH, &tune, &record, error));
    kerf_tuning_judge(t, &record);
    if (candidate->outcome.kind == KERF_OUTCOME_TIMED) {
        const double ratio = 1 / candidate->outcome.cost;
        record.time_ns = (kerf_estimate){candidate->time_ns, candidate->time_ns, candidate->time_ns};
        record.ratio_to_standard = (kerf_estimate){ratio, ratio, ratio};
    }
    if (candidate->implausible)
        KERF_TRY(record_implausible(t, candidate, &record, error));
    return kerf_sink_add(&t->run->sink, &record, error);
}
