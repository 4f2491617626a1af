/* What tuning found: for each case and cache mode the result beside the default, and what was tried. */
#include "reports/terminal.h"

#include <string.h>

typedef struct counts {
    int64_t tried, taken_over, refused, wrong, configurations;
    bool has_finals;
} counts;

static bool is_same_case(const kerf_record *a, const kerf_record *b) {
    return b->kind == KERF_RECORD_TUNE && a->case_hash == b->case_hash && strcmp(a->mode, b->mode) == 0 &&
           strcmp(a->op, b->op) == 0;
}

static bool is_wrong(const kerf_record *record) {
    return record->finding.verdict != KERF_PASS && record->finding.verdict != KERF_SKIP;
}

static counts count(const kerf_record *const *records, int n) {
    counts c = {0};
    for (int i = 0; i < n; ++i) {
        const kerf_recorded_tune *const tune = records[i]->tune;
        c.configurations = tune->configurations;
        c.has_finals = c.has_finals || tune->phase == KERF_TUNE_FINAL;
        if (tune->phase != KERF_TUNE_SEARCH)
            continue;
        ++c.tried;
        c.taken_over += tune->is_taken_over;
        c.refused += records[i]->finding.verdict == KERF_SKIP;
        c.wrong += is_wrong(records[i]);
    }
    return c;
}

static void print_final(const kerf_record *record, FILE *file, int width, const kerf_style *s) {
    const kerf_recorded_tune *const tune = record->tune;
    fprintf(file, "  %s %-*s  ", tune->is_chosen ? "*" : " ", width, record->row);
    if (record->n_samples > 0 && !is_wrong(record)) {
        kerf_terminal_time(file, record->time_ns.middle);
        fprintf(file, "  [");
        kerf_terminal_time(file, record->time_ns.low);
        fprintf(file, ", ");
        kerf_terminal_time(file, record->time_ns.high);
        fprintf(file, "]");
        if (record->ratio_to_standard.middle > 0)
            fprintf(file, "  %5.2f [%.2f, %.2f]", record->ratio_to_standard.middle, record->ratio_to_standard.low,
                    record->ratio_to_standard.high);
    } else {
        fprintf(file, "%s%s%s %s", is_wrong(record) ? s->bad : s->dim, kerf_verdict_name(record->finding.verdict),
                s->off, record->finding.reason);
    }
    fprintf(file, "  %s%s\n", record->config, tune->is_standard ? "  (default)" : "");
}

/* The result, the default, and what is wrong; the rest of the finals is in the records. */
static void print_case(const kerf_record *const *records, int n, FILE *file, int width, const kerf_style *s) {
    const counts c = count(records, n);
    fprintf(file, "\n%s %s%s%s\n", records[0]->mode, s->dim, records[0]->case_text, s->off);
    for (int i = 0; i < n; ++i)
        if (records[i]->tune->phase == KERF_TUNE_FINAL &&
            (records[i]->tune->is_chosen || records[i]->tune->is_standard || is_wrong(records[i])))
            print_final(records[i], file, width, s);
    fprintf(file, "    %lld configuration%s tried, of a space of %lld", (long long)c.tried, c.tried == 1 ? "" : "s",
            (long long)c.configurations);
    if (c.taken_over > 0)
        fprintf(file, " (%lld by an earlier run)", (long long)c.taken_over);
    fprintf(file, ", %lld refused, %s%lld wrong%s%s\n", (long long)c.refused, c.wrong ? s->bad : "", (long long)c.wrong,
            c.wrong ? s->off : "", c.has_finals ? "" : "; no result");
}

void kerf_terminal_tune(const kerf_records *records, FILE *file, const kerf_style *style) {
    const int width = kerf_terminal_row_width(records);
    bool is_first = true;
    for (int i = 0; i < records->n;) {
        const kerf_record *const head = records->at[i];
        if (head->kind != KERF_RECORD_TUNE) {
            ++i;
            continue;
        }
        int n = 1;
        while (i + n < records->n && is_same_case(head, records->at[i + n]))
            ++n;
        if (is_first)
            fprintf(file,
                    "\ntuned: the fastest configuration (*) that is surely not slower than the default, head to "
                    "head with it\n    %-*s      median  interval                  x default\n",
                    width, "implementation");
        is_first = false;
        print_case(records->at + i, n, file, width, style);
        i += n;
    }
}
