/* Two tables: rows over all verified cases, then one ranked block per timed case and cache mode. */
#include "reports/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 512

typedef struct row_summary {
    const char *row, *reason, *worst_case;
    int64_t n_passed, n_failed, n_skipped;
    double worst_ratio;
    kerf_verdict worst; /* first verdict that is not PASS or SKIP, else PASS; SKIP where nothing ran */
} row_summary;

typedef kerf_style style;

static style style_of(kerf_colour colour) {
    if (colour == KERF_COLOURED)
        return (style){"\033[32m", "\033[1;31m", "\033[2m", "\033[0m"};
    return (style){"", "", "", ""};
}

static const char *verdict_colour(const style *s, kerf_verdict verdict) {
    return verdict == KERF_PASS ? s->good : verdict == KERF_SKIP ? s->dim : s->bad;
}

static row_summary *summary_of(row_summary summaries[MAX_ROWS], int *n, const char *row) {
    for (int i = 0; i < *n; ++i)
        if (strcmp(summaries[i].row, row) == 0)
            return &summaries[i];
    if (*n == MAX_ROWS)
        return NULL;
    summaries[*n] = (row_summary){.row = row, .worst = KERF_SKIP};
    return &summaries[(*n)++];
}

static void add_finding(row_summary *summary, const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    if (finding->verdict == KERF_SKIP) {
        ++summary->n_skipped;
        summary->reason = finding->reason;
        return;
    }
    if (finding->verdict == KERF_PASS) {
        ++summary->n_passed;
        if (summary->worst == KERF_SKIP)
            summary->worst = KERF_PASS;
    } else {
        ++summary->n_failed;
        if (summary->worst == KERF_SKIP || summary->worst == KERF_PASS)
            summary->worst = finding->verdict;
    }
    if (!(finding->ratio <= summary->worst_ratio)) {
        summary->worst_ratio = finding->ratio;
        summary->worst_case = record->case_text;
    }
}

static void print_ratio(FILE *file, double ratio) {
    if (!isfinite(ratio) || ratio >= 1000)
        fprintf(file, "%11s", "> 1000");
    else
        fprintf(file, "%11.3f", ratio);
}

int kerf_terminal_row_width(const kerf_records *records) {
    size_t longest = strlen("implementation");
    for (int i = 0; i < records->n; ++i)
        if (records->at[i]->row && strlen(records->at[i]->row) > longest)
            longest = strlen(records->at[i]->row);
    return (int)longest;
}

static int64_t count_cases(const kerf_records *records) {
    int64_t n = 0;
    uint64_t last = 0;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        if (record->kind != KERF_RECORD_VERIFY || !record->case_text[0])
            continue;
        n += n == 0 || record->case_hash != last;
        last = record->case_hash;
    }
    return n;
}

static void print_summary(const row_summary *summary, FILE *file, int width, const style *s) {
    fprintf(file, "  %-*s  %s%-7s%s  %7lld %7lld  %7lld  ", width, summary->row, verdict_colour(s, summary->worst),
            kerf_verdict_name(summary->worst), s->off, (long long)summary->n_passed, (long long)summary->n_failed,
            (long long)summary->n_skipped);
    if (summary->worst == KERF_SKIP) {
        fprintf(file, "%11s  %s\n", "", summary->reason ? summary->reason : "");
        return;
    }
    print_ratio(file, summary->worst_ratio);
    fprintf(file, "  %s%s%s\n", s->dim, summary->worst_case ? summary->worst_case : "", s->off);
}

static void print_verified(const kerf_records *records, FILE *file, const style *s) {
    row_summary summaries[MAX_ROWS];
    int n = 0;
    for (int i = 0; i < records->n; ++i) {
        if (records->at[i]->kind != KERF_RECORD_VERIFY)
            continue;
        row_summary *const summary = summary_of(summaries, &n, records->at[i]->row);
        if (summary)
            add_finding(summary, records->at[i]);
    }
    if (n == 0)
        return;
    const int width = kerf_terminal_row_width(records);
    const long long n_cases = (long long)count_cases(records);
    fprintf(file, "\nverified on %lld case%s\n", n_cases, n_cases == 1 ? "" : "s");
    fprintf(file, "  %-*s  verdict   passed  failed  skipped  error/slack  largest at, or reason\n", width,
            "implementation");
    /* What could not run stands below what did. */
    for (int i = 0; i < n; ++i)
        if (summaries[i].worst != KERF_SKIP)
            print_summary(&summaries[i], file, width, s);
    for (int i = 0; i < n; ++i)
        if (summaries[i].worst == KERF_SKIP)
            print_summary(&summaries[i], file, width, s);
}

static void print_untrusted(const kerf_records *records, FILE *file, const style *s) {
    int n = 0;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        if (record->kind != KERF_RECORD_TRUST)
            continue;
        if (n++ == 0)
            fprintf(file,
                    "\n%snot trusted%s: a zero, constant or copied result would pass every case that was run for\n",
                    s->bad, s->off);
        if (n <= 8)
            fprintf(file, "  %s in %s\n", record->output, record->mode);
    }
    if (n > 8)
        fprintf(file, "  and %d more\n", n - 8);
}

void kerf_terminal_time(FILE *file, double ns) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s "}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int u = 0;
    while (u < 3 && ns < units[u].ns)
        ++u;
    const double value = ns / units[u].ns;
    fprintf(file, "%7.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[u].unit);
}

/* A time that is not believed is in the records only. */
static bool is_ranked(const kerf_record *record) {
    return record->n_samples > 0 && record->finding.verdict != KERF_IMPLAUSIBLE;
}

static void print_timed_row(const kerf_record *record, FILE *file, int width, const style *s) {
    fprintf(file, "  %-*s  %-10s  %s%-7s%s  ", width, record->row, record->config,
            verdict_colour(s, record->finding.verdict), kerf_verdict_name(record->finding.verdict), s->off);
    if (!is_ranked(record)) {
        fprintf(file, "%11s  %s\n", "", record->finding.reason);
        return;
    }
    print_ratio(file, record->finding.ratio);
    fprintf(file, "  ");
    kerf_terminal_time(file, record->time_ns.middle);
    if (record->covered > 0) {
        fprintf(file, "  [");
        kerf_terminal_time(file, record->time_ns.low);
        fprintf(file, ", ");
        kerf_terminal_time(file, record->time_ns.high);
        fprintf(file, "]");
    }
    if (record->share.middle > 0)
        fprintf(file, "  %8.*f", record->share.middle < 0.1 ? 3 : 2, record->share.middle);
    else
        fprintf(file, "  %8s", "-");
    if (record->speed_unresolved)
        fprintf(file, "  %7s (below what the clock tells apart)", "~1");
    else if (record->speed_ratio.middle > 0)
        fprintf(file, "  %7.2f [%.2f, %.2f]", record->speed_ratio.middle, record->speed_ratio.low,
                record->speed_ratio.high);
    fputc('\n', file);
}

/* Fastest first; rows without a time last. */
static int by_time(const void *a, const void *b) {
    const kerf_record *const left = *(const kerf_record *const *)a, *const right = *(const kerf_record *const *)b;
    const double left_ns = is_ranked(left) ? left->time_ns.middle : INFINITY;
    const double right_ns = is_ranked(right) ? right->time_ns.middle : INFINITY;
    return (left_ns > right_ns) - (left_ns < right_ns);
}

static bool same_block(const kerf_record *a, const kerf_record *b) {
    return b->kind == KERF_RECORD_TIME && a->case_hash == b->case_hash && strcmp(a->mode, b->mode) == 0;
}

/* The confidence of the intervals: the same for all rows whose processes all ended. */
static double covered_by(const kerf_records *records) {
    double covered = 0;
    for (int i = 0; i < records->n; ++i)
        if (records->at[i]->kind == KERF_RECORD_TIME && records->at[i]->covered > covered)
            covered = records->at[i]->covered;
    return covered;
}

static void print_timed(const kerf_records *records, FILE *file, const style *s) {
    const int width = kerf_terminal_row_width(records);
    bool first = true;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const head = records->at[i];
        if (head->kind != KERF_RECORD_TIME || kerf_terminal_is_swept(head))
            continue;
        const double covered = covered_by(records);
        if (first && !(covered > 0))
            fprintf(file, "\ntimed, fastest first; too few processes ended for an interval\n");
        else if (first)
            fprintf(file,
                    "\ntimed, fastest first: median of the processes' medians of one call, its interval (%.1f %% "
                    "confidence), part of what the machine allows, times as fast as naive\n",
                    100 * covered);
        first = false;
        fprintf(file, "\n%s %s%s%s\n", head->mode, s->dim, head->case_text, s->off);
        fprintf(file, "  %-*s  %-10s  %-7s  error/slack      median  %-24s  of limit  x naive\n", width,
                "implementation", "config", "verdict", "interval");
        const kerf_record *block[MAX_ROWS];
        int n = 0;
        while (i < records->n && n < MAX_ROWS && same_block(head, records->at[i]))
            block[n++] = records->at[i++];
        --i;
        qsort(block, (size_t)n, sizeof block[0], by_time);
        for (int row = 0; row < n; ++row)
            print_timed_row(block[row], file, width, s);
    }
}

/* Geometric mean over the cases of each row's ratio to naive, one line per set and cache mode. */
static void print_means(const kerf_records *records, FILE *file) {
    const int width = kerf_terminal_row_width(records);
    const char *done[MAX_ROWS][3];
    int n_done = 0;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const head = records->at[i];
        if (head->kind != KERF_RECORD_TIME || !(head->speed_ratio.middle > 0) || n_done == MAX_ROWS)
            continue;
        bool seen = false;
        for (int d = 0; d < n_done && !seen; ++d)
            seen = !strcmp(done[d][0], head->row) && !strcmp(done[d][1], head->mode) && !strcmp(done[d][2], head->set);
        if (seen)
            continue;
        double log_sum = 0;
        int n = 0;
        for (int j = i; j < records->n; ++j) {
            const kerf_record *const record = records->at[j];
            if (record->kind != KERF_RECORD_TIME || !(record->speed_ratio.middle > 0) ||
                strcmp(record->row, head->row) != 0 || strcmp(record->mode, head->mode) != 0 ||
                strcmp(record->set, head->set) != 0)
                continue;
            log_sum += log(record->speed_ratio.middle);
            ++n;
        }
        if (n_done == 0)
            fprintf(file, "\ngeometric mean of x naive\n");
        fprintf(file, "  %-*s  %-6s %-4s %7.2f  over %d case%s\n", width, head->row, head->set, head->mode,
                exp(log_sum / n), n, n == 1 ? "" : "s");
        done[n_done][0] = head->row;
        done[n_done][1] = head->mode;
        done[n_done++][2] = head->set;
    }
}

void kerf_report_terminal(const kerf_records *records, FILE *file, kerf_colour colour) {
    const style s = style_of(colour);
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        if (record->kind == KERF_RECORD_RUN)
            fprintf(file, "kerf %s on %s (%s), %d of %d processors, %s\n", record->version, record->environment->cpu,
                    record->environment->isa, record->threads, record->environment->processors, record->utc);
    }
    print_verified(records, file, &s);
    print_untrusted(records, file, &s);
    print_timed(records, file, &s);
    kerf_terminal_tune(records, file, &s);
    kerf_terminal_sweep(records, file, &s);
    kerf_terminal_extra(records, file, &s);
    print_means(records, file);
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        if (record->kind == KERF_RECORD_END)
            fprintf(file, "\n%lld passed, %lld failed, %lld skipped; %.1f s; exit %d\n", (long long)record->n_passed,
                    (long long)record->n_failed, (long long)record->n_skipped, record->seconds, record->exit_code);
    }
}
