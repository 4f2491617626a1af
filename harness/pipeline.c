#include "harness/pipeline.h"

#include "base/cpu.h"
#include "harness/environment.h"
#include "harness/progress.h"
#include "harness/verify.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef KERF_VERSION
#define KERF_VERSION "0"
#endif

#define ARENA_BYTES ((size_t)1 << 34) /* address space for cases, selections and samples */

static const char *joined_arguments(kerf_arena *arena, int argc, char **argv) {
    size_t bytes = 16;
    for (int i = 1; i < argc; ++i)
        bytes += 4 * strlen(argv[i]) + 3;
    char *const memory = kerf_arena_alloc(arena, bytes, 1);
    if (!memory)
        return "";
    kerf_text text = kerf_text_over(memory, bytes);
    kerf_text_printf(&text, "bench");
    for (int i = 1; i < argc; ++i) {
        kerf_text_printf(&text, " ");
        kerf_text_print_shell_word(&text, argv[i]);
    }
    return memory;
}

static kerf_status record_start(kerf_run *run, int argc, char **argv, kerf_error *error) {
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const kerf_record record = {
        .kind = KERF_RECORD_RUN,
        .utc = kerf_arena_copy_text(&run->sink.arena, stamp),
        .version = KERF_VERSION,
        .command = joined_arguments(&run->sink.arena, argc, argv),
        .environment = kerf_environment_read(&run->sink.arena, run->isa),
        .threads = run->threads,
        .seed = run->options->order_seed,
    };
    if (!record.environment)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the first record");
    return kerf_sink_add(&run->sink, &record, error);
}

static kerf_status record_end(kerf_run *run, double seconds, int exit_code, kerf_error *error) {
    const kerf_record record = {
        .kind = KERF_RECORD_END,
        .exit_code = exit_code,
        .seconds = seconds,
        .n_passed = run->n_passed,
        .n_failed = run->n_failed,
        .n_skipped = run->n_skipped,
    };
    return kerf_sink_add(&run->sink, &record, error);
}

/* Rows that cannot run here are recorded once, without a case. */
static kerf_status record_unavailable(kerf_run *run, kerf_error *error) {
    for (int i = 0; i < run->rows.n; ++i) {
        const kerf_selected_row *const row = &run->rows.at[i];
        if (!row->unavailable)
            continue;
        kerf_record record = {.kind = KERF_RECORD_VERIFY,
                              .op = run->entry->op->name,
                              .set = "",
                              .case_text = "",
                              .row = row->text,
                              .mode = "verify",
                              .config = "",
                              .finding = {.verdict = KERF_SKIP, .check = "", .output = -1, .place = ""}};
        kerf_text reason = kerf_text_over(record.finding.reason, sizeof record.finding.reason);
        kerf_text_printf(&reason, "%s", row->unavailable);
        ++run->n_skipped;
        KERF_TRY(kerf_sink_add(&run->sink, &record, error));
    }
    return KERF_OK;
}

static kerf_status run_stages(kerf_run *run, const kerf_set_list *verified, const kerf_set_list *timed,
                              kerf_error *error) {
    if (run->options->command != KERF_COMMAND_TUNE)
        KERF_TRY(record_unavailable(run, error));
    const kerf_verify_options verify_options = {
        .threads = run->threads, .timeout_s = run->options->timeout_s, .isa = run->isa};
    KERF_TRY(kerf_verifier_open(&verify_options, &run->verifier, error));
    if (verified->n_cases > 0)
        KERF_TRY(kerf_stage_verify(run, verified, error));
#if KERF_HAVE_BENCHMARK
    if (run->options->command == KERF_COMMAND_TUNE)
        return kerf_stage_tune(run, timed, error);
    if (timed->n_cases > 0)
        KERF_TRY(kerf_stage_time(run, timed, error));
#else
    (void)timed;
#endif
    return KERF_OK;
}

/* What cannot fit is refused before anything runs. */
static kerf_status check_memory(const kerf_run *run, const kerf_set_list *sets, kerf_error *error) {
    for (int s = 0; s < sets->n; ++s)
        for (int i = 0; i < sets->at[s].cases.n; ++i) {
            if (*run->interrupted)
                return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted");
            KERF_TRY(kerf_verify_check_memory(run->entry, &sets->at[s].cases.at[i], error));
        }
    return KERF_OK;
}

static kerf_status select_everything(kerf_run *run, kerf_set_list *verified, kerf_set_list *timed, kerf_error *error) {
    const kerf_options *const options = run->options;
    KERF_TRY(kerf_arena_map_most(&run->arena, ARENA_BYTES, (size_t)1 << 28, error));
    KERF_TRY(kerf_select_op(run->registry, options->op, &run->entry, error));
    KERF_TRY(kerf_select_rows(run->entry, options->variants, run->isa, &run->arena, &run->rows, error));
    /* Cases that the person chose are verified in the timing stage anyway, if there is one: what is timed is verified
     * first. */
    const bool chosen =
        KERF_HAVE_BENCHMARK && (options->sets || options->case_line || options->cases_file || options->sweep[0]);
    if (options->command == KERF_COMMAND_VERIFY || (options->command == KERF_COMMAND_RUN && !chosen))
        KERF_TRY(kerf_select_cases(options, run->entry, "smoke,edge", &run->arena, verified, error));
    if (options->command == KERF_COMMAND_VERIFY)
        return kerf_params_check(run, verified, error);
#if !KERF_HAVE_BENCHMARK
    if (options->command == KERF_COMMAND_TIME || options->command == KERF_COMMAND_TUNE)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "this bench was built without Google Benchmark and cannot time; "
                         "bench verify works");
    fputs("bench: built without Google Benchmark: verifying only\n", stderr);
    return KERF_OK;
#endif
    const kerf_status status = kerf_select_cases(options, run->entry, "bench", &run->arena, timed, error);
#if KERF_HAVE_BENCHMARK
    if (status == KERF_OK && options->command == KERF_COMMAND_TUNE)
        return kerf_tune_check(run, timed, error);
#endif
    /* A filter may leave nothing to time where there was something to verify. */
    return status == KERF_ERROR_USAGE && verified->n_cases > 0 ? KERF_OK : status;
}

static int exit_code_of(const kerf_run *run, kerf_status status) {
    if (status == KERF_ERROR_INTERRUPTED)
        return 128 + *run->interrupted;
    if (status != KERF_OK)
        return status == KERF_ERROR_USAGE ? 2 : 1;
    return run->any_wrong ? 4 : run->any_implausible ? 6 : 0;
}

kerf_status kerf_pipeline(const kerf_options *options, const kerf_registry *registry, int argc, char **argv,
                          const volatile sig_atomic_t *interrupted, int *exit_code, kerf_error *error) {
    kerf_run run = {.options = options, .registry = registry, .isa = kerf_cpu_isa(), .interrupted = interrupted};
    run.threads = options->threads ? options->threads : kerf_cpu_count();
    kerf_set_list verified = {0}, timed = {0};
    kerf_progress clock;
    kerf_progress_begin(&clock, true, "%s", "");
    kerf_status status = select_everything(&run, &verified, &timed, error);
    if (status == KERF_OK)
        status = check_memory(&run, &verified, error);
    if (status == KERF_OK)
        status = check_memory(&run, &timed, error);
    if (status == KERF_OK)
        status = kerf_sink_open(&run.sink, options, error);
    if (status != KERF_OK) {
        *exit_code = exit_code_of(&run, status);
        kerf_arena_unmap(&run.arena);
        return status;
    }
    if (run.threads > kerf_cpu_count())
        fprintf(stderr, "bench: --threads %d is more than the processors here (%d); times will suffer\n", run.threads,
                kerf_cpu_count());
    status = record_start(&run, argc, argv, error);
    if (status == KERF_OK)
        status = run_stages(&run, &verified, &timed, error);
    *exit_code = exit_code_of(&run, status);
    if (run.verifier)
        kerf_verifier_close(run.verifier);
    kerf_error closing;
    kerf_error reports;
    kerf_status closed = record_end(&run, kerf_progress_seconds(&clock), *exit_code, &closing);
    const kerf_status reported = kerf_sink_close(&run.sink, &reports);
    if (closed == KERF_OK) {
        closed = reported;
        closing = reports;
    }
    kerf_arena_unmap(&run.arena);
    if (status == KERF_OK && closed != KERF_OK) {
        *error = closing;
        *exit_code = 1;
        return closed;
    }
    return status;
}
