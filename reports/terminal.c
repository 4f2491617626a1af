/* Two tables: rows over all verified cases, then one ranked block per timed case and cache mode. */
#include "reports/terminal.h"

#include "reports/digest.h"
#include <math.h>
#include <string.h>

typedef kerf_style style;

static style style_of(kerf_colour colour) {
    if (colour == KERF_COLOURED)
        return (style){"\033[32m", "\033[1;31m", "\033[2m", "\033[0m"};
    return (style){"", "", "", ""};
}

static const char *verdict_colour(const style *s, kerf_verdict verdict) {
    return verdict == KERF_PASS ? s->good : verdict == KERF_SKIP ? s->dim : s->bad;
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

static void print_summary(const kerf_row_digest *summary, FILE *file, int width, const style *s) {
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
    kerf_row_digest rows[KERF_DIGEST_ROWS];
    const int n = kerf_digest_rows(records, rows);
    if (n == 0)
        return;
    const int width = kerf_terminal_row_width(records);
    const long long n_cases = (long long)kerf_digest_n_cases(records);
    fprintf(file, "\nverified on %lld case%s\n", n_cases, n_cases == 1 ? "" : "s");
    fprintf(file, "  %-*s  verdict   passed  failed  skipped  error/slack  largest at, or reason\n", width,
            "implementation");
    /* What could not run stands below what did. */
    for (int i = 0; i < n; ++i)
        if (rows[i].worst != KERF_SKIP)
            print_summary(&rows[i], file, width, s);
    for (int i = 0; i < n; ++i)
        if (rows[i].worst == KERF_SKIP)
            print_summary(&rows[i], file, width, s);
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
    static const char *const units[] = {"ns", "us", "ms", "s "};
    const kerf_scaled_time time = kerf_digest_time(ns);
    fprintf(file, "%7.*f %s", time.digits, time.value, units[time.unit]);
}

static void print_timed_row(const kerf_record *record, bool has_time, FILE *file, int width, const style *s) {
    fprintf(file, "  %-*s  %-10s  %s%-7s%s  ", width, record->row, record->config,
            verdict_colour(s, record->finding.verdict), kerf_verdict_name(record->finding.verdict), s->off);
    if (!has_time) {
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

static void print_timed(const kerf_records *records, FILE *file, const style *s) {
    const int width = kerf_terminal_row_width(records);
    const double covered = kerf_digest_covered(records);
    kerf_block block;
    bool first = true;
    for (int at = 0; kerf_digest_next_block(records, &at, &block);) {
        const kerf_record *const head = block.row[0];
        if (kerf_terminal_is_swept(head))
            continue;
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
        for (int i = 0; i < block.n; ++i)
            print_timed_row(block.row[i], i < block.n_timed, file, width, s);
    }
}

/* One line per row, set and cache mode. */
static void print_means(const kerf_records *records, FILE *file) {
    const int width = kerf_terminal_row_width(records);
    kerf_mean means[KERF_DIGEST_ROWS];
    const int n = kerf_digest_means(records, means);
    bool first = true;
    for (int i = 0; i < n; ++i) {
        const kerf_mean *const mean = &means[i];
        if (mean->n_ratio == 0)
            continue;
        fprintf(file, "%s  %-*s  %-6s %-4s %7.2f  over %d case%s\n", first ? "\ngeometric mean of x naive\n" : "",
                width, mean->row, mean->set, mean->mode, mean->ratio, mean->n_ratio, mean->n_ratio == 1 ? "" : "s");
        first = false;
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
