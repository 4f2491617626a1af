#include "harness/pipeline.h"

#include "harness/verify.h"
#include <math.h>
#include <string.h>

/* A kernel that fails everywhere would bury the screen: later failures of a row are in the records only. */
#define MOST_FAILURES_SHOWN 3

/* A kernel that hangs everywhere would cost its timeout on every case. */
#define MOST_TIMEOUTS 3

const char *kerf_copied_case_text(kerf_run *run, const kerf_case *c) {
    char memory[4096];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(c, &text);
    return kerf_arena_copy_text(&run->sink.arena, memory);
}

void kerf_print_params(const char *config, kerf_text *text) {
    for (const char *at = config; *at;) {
        const int length = (int)strcspn(at, ",");
        kerf_text_printf(text, " --param %.*s", length, at);
        at += length + (at[length] == ',');
    }
}

const char *kerf_repeat_command(kerf_run *run, const kerf_record *record, const char *case_text) {
    char memory[8192];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    const bool times = record->kind == KERF_RECORD_TIME;
    kerf_text_printf(&text, "bench %s --op %s --variant %s --threads %d", times ? "time" : "verify", record->op,
                     record->row, run->threads);
    if (times)
        kerf_text_printf(&text, " --order-seed %llu --time-budget %g", (unsigned long long)run->options->order_seed,
                         run->options->time_budget_s);
    else
        kerf_text_printf(&text, " --timeout %g", run->options->timeout_s);
    if (!times)
        kerf_print_params(record->config, &text);
    for (int i = 0; run->options->plugin[i]; ++i) {
        kerf_text_printf(&text, " --plugin ");
        kerf_text_print_shell_word(&text, run->options->plugin[i]);
    }
    kerf_text_printf(&text, " --case ");
    kerf_text_print_shell_word(&text, case_text);
    for (int i = 0; times && i < run->options->n_host_arguments; ++i) {
        kerf_text_printf(&text, i == 0 ? " -- " : " ");
        kerf_text_print_shell_word(&text, run->options->host_argument[i]);
    }
    return kerf_arena_copy_text(&run->sink.arena, memory);
}

static void print_where(const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    fprintf(stderr, "  %s[", record->output);
    for (int axis = 0; axis < finding->rank; ++axis)
        fprintf(stderr, "%s%lld", axis ? "," : "", (long long)finding->index[axis]);
    if (isnan(finding->slack)) {
        fprintf(stderr, "]; %lld of %lld elements\n", (long long)finding->n_bad, (long long)finding->n_elements);
        return;
    }
    fprintf(stderr, "] = %.9g, right is [%.9g, %.9g] +- %.3g (error/slack %.3g); %lld of %lld elements\n", finding->got,
            finding->lo, finding->hi, finding->slack, finding->ratio, (long long)finding->n_bad,
            (long long)finding->n_elements);
}

void kerf_print_failure(const kerf_record *record, kerf_progress *progress) {
    const kerf_finding *const finding = &record->finding;
    kerf_progress_clear(progress);
    fprintf(stderr, "%s %s%s%s, check '%s'%s%s; %d thread%s", kerf_verdict_name(finding->verdict), record->row,
            record->kind == KERF_RECORD_VERIFY && record->config[0] ? " " : "",
            record->kind == KERF_RECORD_VERIFY ? record->config : "", finding->check, finding->reason[0] ? ": " : "",
            finding->reason, finding->threads, finding->threads == 1 ? "" : "s");
    if (record->kind == KERF_RECORD_VERIFY)
        fprintf(stderr, ", buffers %s", finding->place ? finding->place : "-");
    fprintf(stderr, "\n  case %s\n", record->case_text);
    if (record->output && record->kind == KERF_RECORD_VERIFY) /* the reason of a time says it */
        print_where(record);
    fprintf(stderr, "  repeat: %s\n", record->repeat);
}

kerf_status kerf_record_finding(kerf_run *run, const char *set, const kerf_case *c, const char *case_text,
                                kerf_selected_row *row, const char *config, const kerf_finding *finding,
                                kerf_error *error) {
    kerf_record record = {.kind = KERF_RECORD_VERIFY,
                          .op = run->entry->op->name,
                          .set = set,
                          .case_text = case_text,
                          .case_hash = kerf_case_hash(c),
                          .row = row->text,
                          .mode = "verify",
                          .config = config,
                          .threads = run->threads,
                          .finding = *finding};
    const bool wrong = finding->verdict != KERF_PASS && finding->verdict != KERF_SKIP;
    if (finding->output >= 0)
        record.output = run->entry->op->outputs[finding->output];
    run->n_passed += finding->verdict == KERF_PASS;
    run->n_skipped += finding->verdict == KERF_SKIP;
    row->n_timeouts += finding->verdict == KERF_TIMEOUT;
    if (wrong) {
        ++run->n_failed;
        run->any_wrong = true;
        record.repeat = kerf_repeat_command(run, &record, case_text);
        if (row->n_failed++ < MOST_FAILURES_SHOWN)
            kerf_print_failure(&record, &run->progress);
        else if (row->n_failed == MOST_FAILURES_SHOWN + 1)
            fprintf(stderr, "further failures of %s are in the records only\n", row->text);
    }
    return kerf_sink_add(&run->sink, &record, error);
}

static void print_memory(const kerf_run *run, const kerf_case *c, const char *case_text) {
    size_t bytes;
    kerf_error ignored;
    if (run->options->verbose && kerf_verify_peak_bytes(run->entry, c, &bytes, &ignored) == KERF_OK)
        fprintf(stderr, "%.1f MiB: %s\n", (double)bytes / (1 << 20), case_text);
}

kerf_status kerf_verify_and_record(kerf_run *run, const char *set, const kerf_case *c, const char *const leave_out[],
                                   kerf_finding *findings, kerf_error *error) {
    const kerf_row **const rows = KERF_ARENA_NEW(&run->arena, const kerf_row *, run->rows.n);
    kerf_finding *const found = KERF_ARENA_NEW(&run->arena, kerf_finding, run->rows.n);
    const char *const case_text = kerf_copied_case_text(run, c);
    if (!rows || !found || !case_text)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the findings of a case");
    print_memory(run, c, case_text);
    int n = 0;
    for (int i = 0; i < run->rows.n; ++i)
        if (!leave_out[i])
            rows[n++] = run->rows.at[i].row;
    KERF_TRY(kerf_verify_case(run->verifier, run->entry, c, rows, n, found, run->interrupted, error));
    n = 0;
    for (int i = 0; i < run->rows.n; ++i) {
        if (leave_out[i]) {
            findings[i] = (kerf_finding){.verdict = KERF_SKIP, .check = "", .output = -1, .place = ""};
            kerf_text reason = kerf_text_over(findings[i].reason, sizeof findings[i].reason);
            kerf_text_printf(&reason, "%s", leave_out[i]);
            continue;
        }
        findings[i] = found[n++];
        KERF_TRY(kerf_record_finding(run, set, c, case_text, &run->rows.at[i], "", &findings[i], error));
    }
    return KERF_OK;
}

typedef struct trust_teller {
    kerf_run *run;
    kerf_status status;
    kerf_error *error;
} trust_teller;

static void record_untrusted(void *argument, const char *mode, const char *output) {
    trust_teller *const teller = argument;
    const kerf_record record = {.kind = KERF_RECORD_TRUST,
                                .op = teller->run->entry->op->name,
                                .mode = kerf_arena_copy_text(&teller->run->sink.arena, mode),
                                .output = output};
    if (teller->status == KERF_OK)
        teller->status = kerf_sink_add(&teller->run->sink, &record, teller->error);
}

/* Leaves out the rows that keep hanging; returns how many rows are left. */
static int rows_left(kerf_run *run, const char **leave_out) {
    int n = 0;
    for (int i = 0; i < run->rows.n; ++i) {
        if (!leave_out[i] && run->rows.at[i].n_timeouts >= MOST_TIMEOUTS) {
            leave_out[i] = "hangs";
            kerf_progress_clear(&run->progress);
            fprintf(stderr, "%s timed out on %d cases and is not run on the others\n", run->rows.at[i].text,
                    MOST_TIMEOUTS);
        }
        n += leave_out[i] == NULL;
    }
    return n;
}

kerf_status kerf_stage_verify(kerf_run *run, const kerf_set_list *sets, kerf_error *error) {
    const char **const leave_out = KERF_ARENA_NEW(&run->arena, const char *, run->rows.n);
    kerf_finding *const findings = KERF_ARENA_NEW(&run->arena, kerf_finding, run->rows.n);
    if (!leave_out || !findings)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the findings of a case");
    int n_rows = 0;
    for (int i = 0; i < run->rows.n; ++i) {
        leave_out[i] = run->rows.at[i].unavailable;
        n_rows += leave_out[i] == NULL;
    }
    kerf_progress_begin(&run->progress, run->options->quiet, "verifying %s: %lld case%s on %d implementation%s",
                        run->entry->op->name, (long long)sets->n_cases, sets->n_cases == 1 ? "" : "s", n_rows,
                        n_rows == 1 ? "" : "s");
    int64_t done = 0;
    for (int s = 0; s < sets->n; ++s) {
        for (int i = 0; i < sets->at[s].cases.n; ++i) {
            const size_t used = run->arena.used;
            const kerf_case *const c = &sets->at[s].cases.at[i];
            if (run->options->param[0])
                KERF_TRY(kerf_verify_params(run, sets->at[s].name, c, leave_out, error));
            else
                KERF_TRY(kerf_verify_and_record(run, sets->at[s].name, c, leave_out, findings, error));
            kerf_arena_rewind(&run->arena, used);
            kerf_progress_step(&run->progress, ++done, sets->n_cases);
            if (rows_left(run, leave_out) == 0)
                return KERF_OK;
        }
    }
    kerf_progress_clear(&run->progress);
    /* One case that a person picked need not be a trustworthy set. */
    if (run->options->case_line || run->options->cases_file)
        return KERF_OK;
    trust_teller teller = {.run = run, .status = KERF_OK, .error = error};
    kerf_verifier_untrusted(run->verifier, record_untrusted, &teller);
    return teller.status;
}
