/* What tuning found: for each case and cache mode the result beside the default, and what was tried. */
#include "reports/terminal.h"
#include "reports/tuned.h"

static void print_final(const kerf_record *record, FILE *file, int width, const kerf_style *s) {
    const kerf_recorded_tune *const tune = record->tune;
    fprintf(file, "  %s %-*s  ", tune->is_chosen ? "*" : " ", width, record->row);
    if (record->n_samples > 0 && !kerf_tuned_is_wrong(record)) {
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
        fprintf(file, "%s%s%s %s", kerf_tuned_is_wrong(record) ? s->bad : s->dim,
                kerf_verdict_name(record->finding.verdict), s->off, record->finding.reason);
    }
    fprintf(file, "  %s%s\n", record->config, tune->is_standard ? "  (default)" : "");
}

/* The result and the default as they were measured last, and what is wrong; the rest is in the records. */
static void print_case(const kerf_tuned *t, FILE *file, int width, const kerf_style *s) {
    fprintf(file, "\n%s %s%s%s\n", t->record[0]->mode, s->dim, t->record[0]->case_text, s->off);
    for (int i = 0; i < t->n; ++i) {
        const kerf_record *const record = t->record[i];
        const kerf_recorded_tune *const tune = record->tune;
        const bool is_last = tune->phase == t->last && tune->phase != KERF_TUNE_SEARCH;
        if ((is_last && (tune->phase == KERF_TUNE_CONFIRM || tune->is_chosen || tune->is_standard)) ||
            ((tune->phase != KERF_TUNE_SEARCH || tune->is_standard) && kerf_tuned_is_wrong(record)))
            print_final(record, file, width, s);
    }
    fprintf(file, "    %lld configuration%s tried, of a space of %lld", (long long)t->tried, t->tried == 1 ? "" : "s",
            (long long)t->record[0]->tune->configurations);
    if (t->taken_over > 0)
        fprintf(file, " (%lld by an earlier run)", (long long)t->taken_over);
    fprintf(file, ", %lld refused, %s%lld wrong%s%s\n", (long long)t->refused, t->wrong ? s->bad : "",
            (long long)t->wrong, t->wrong ? s->off : "", t->last != KERF_TUNE_SEARCH ? "" : "; no result");
}

void kerf_terminal_tune(const kerf_records *records, FILE *file, const kerf_style *style) {
    const int width = kerf_terminal_row_width(records);
    bool is_first = true;
    kerf_tuned tuned;
    for (int at = 0; kerf_tuned_next(records, &at, &tuned); is_first = false) {
        if (is_first)
            fprintf(
                file,
                "\ntuned: the result (*) and the default, head to head\n    %-*s      median  interval                "
                "  x default\n",
                width, "implementation");
        print_case(&tuned, file, width, style);
    }
}
