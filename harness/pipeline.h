/* The order of a run: select, verify, time what passed, record, report. */
#ifndef KERF_HARNESS_PIPELINE_H
#define KERF_HARNESS_PIPELINE_H

#include "harness/limits_file.h"
#include "harness/options.h"
#include "harness/progress.h"
#include "harness/select.h"
#include "harness/sink.h"
#include <signal.h>

/* Everything one run works on; the stages below receive it in turn. */
typedef struct kerf_run {
    const kerf_options *options;
    const kerf_registry *registry;
    const kerf_op_entry *entry;
    kerf_row_list rows;
    uint64_t isa;
    int threads;
    kerf_arena arena;
    kerf_sink sink;
    struct kerf_verifier *verifier;
    kerf_progress progress; /* of the stage that goes on */
    const volatile sig_atomic_t *interrupted;
    kerf_kept_limits *limits; /* of this machine, while something is timed; NULL: not known */
    const char *uncounted;    /* why counters that were asked for cannot be had, or NULL */
    kerf_records earlier;     /* TUNE: of the file of --resume */
    bool any_wrong, any_implausible;
    int64_t n_passed, n_failed, n_skipped;
} kerf_run;

/* Verifies every row on every case of `sets`, records and prints what fails as it happens. */
kerf_status kerf_stage_verify(kerf_run *run, const kerf_set_list *sets, kerf_error *error);

/* Verifies the rows that have passed so far on each case of `sets`, times those that pass, and records the result. With
 * arguments for Google Benchmark its front end runs instead and nothing is recorded. */
kerf_status kerf_stage_time(kerf_run *run, const kerf_set_list *sets, kerf_error *error);

/* Usage errors of tuning these cases, before anything runs; reads the file of --resume. */
kerf_status kerf_tune_check(kerf_run *run, const kerf_set_list *sets, kerf_error *error);

/* Searches for the fastest configuration of each case of `sets`. */
kerf_status kerf_stage_tune(kerf_run *run, const kerf_set_list *sets, kerf_error *error);

/* One case on the rows of the run whose `leave_out` is NULL; findings[i] belongs to run->rows.at[i] and is
 * SKIP(leave_out[i]) where there is a reason. */
kerf_status kerf_verify_and_record(kerf_run *run, const char *set, const kerf_case *c, const char *const leave_out[],
                                   kerf_finding *findings, kerf_error *error);

/* The same with --param: every row in all configurations that have the given values of its parameters, and the defaults
 * of the others. One that has none of these parameters runs as ever. */
kerf_status kerf_verify_params(kerf_run *run, const char *set, const kerf_case *c, const char *const leave_out[],
                               kerf_error *error);
/* Usage errors of --param on these cases, before anything runs. */
kerf_status kerf_params_check(kerf_run *run, const kerf_set_list *sets, kerf_error *error);

/* Counts, records and shows what came of a row (with the config of that text, "" for the defaults). */
kerf_status kerf_record_finding(kerf_run *run, const char *set, const kerf_case *c, const char *case_text,
                                kerf_selected_row *row, const char *config, const kerf_finding *finding,
                                kerf_error *error);
/* The canonical text of a case, in the sink's arena; NULL without memory. */
const char *kerf_copied_case_text(kerf_run *run, const kerf_case *c);

/* " --param channel_block=16 --param ..." of "channel_block=16,...". */
void kerf_print_params(const char *config, kerf_text *text);
/* The command that repeats what a VERIFY or TIME record says of its row on this case; NULL without memory. */
const char *kerf_repeat_command(kerf_run *run, const kerf_record *record, const char *case_text);
/* What was wrong and how to repeat it, on standard error. */
void kerf_print_failure(const kerf_record *record, kerf_progress *progress);

/* The whole run; *exit_code as docs/design.md lists them. */
kerf_status kerf_pipeline(const kerf_options *options, const kerf_registry *registry, int argc, char **argv,
                          const volatile sig_atomic_t *interrupted, int *exit_code, kerf_error *error);

#endif
