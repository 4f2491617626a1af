/* What was asked about timed rows besides their times: one table for splits, one for counters. */
#include "reports/terminal.h"

#include <math.h>
#include <string.h>

static void print_time_or_dash(FILE *file, bool known, double ns) {
    fprintf(file, "  ");
    if (known)
        kerf_terminal_time(file, ns);
    else
        fprintf(file, "%10s", "-");
}

static void print_split(const kerf_record *record, FILE *file, int width) {
    const kerf_recorded_split *const split = &record->extra->split;
    const bool known = split->n_calls > 0;
    const double rest_ns = split->call_ns - split->pack_ns - split->compute_ns - split->unpack_ns;
    fprintf(file, "  %-*s", width, record->row);
    print_time_or_dash(file, known, split->call_ns);
    print_time_or_dash(file, known, split->pack_ns);
    print_time_or_dash(file, known, split->compute_ns);
    print_time_or_dash(file, known, split->unpack_ns);
    print_time_or_dash(file, known, rest_ns > 0 ? rest_ns : 0);
    fputc('\n', file);
}

/* Thousands of millions as 1.23 G. */
static void print_count(FILE *file, double value) {
    static const char units[] = " kMGT";
    int unit = 0;
    if (isnan(value)) {
        fprintf(file, "  %9s", "-");
        return;
    }
    for (; value >= 1000 && units[unit + 1]; ++unit)
        value /= 1000;
    fprintf(file, "  %7.*f %c", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[unit]);
}

static void print_counters(const kerf_record *record, FILE *file, int width) {
    const kerf_recorded_counters *const counters = &record->extra->counters;
    const double cycles = counters->value[KERF_COUNTER_CYCLES];
    const double instructions = counters->value[KERF_COUNTER_INSTRUCTIONS];
    const bool counted = counters->n_calls > 0;
    fprintf(file, "  %-*s", width, record->row);
    for (int i = 0; i < KERF_N_COUNTERS; ++i)
        print_count(file, counted ? counters->value[i] : NAN);
    if (counted && cycles > 0)
        fprintf(file, "  %9.2f  %9.2f\n", instructions / cycles, counters->cycles_per_ns);
    else
        fprintf(file, "  %9s  %9s\n", "-", "-");
}

static bool is_asked(const kerf_record *record, bool of_split) {
    return record->kind == KERF_RECORD_TIME && record->extra &&
           (of_split ? record->extra->asked_split : record->extra->asked_counters);
}

static void print_table(const kerf_records *records, FILE *file, const kerf_style *style, bool of_split) {
    const int width = kerf_terminal_row_width(records);
    const kerf_record *last = NULL;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        if (!is_asked(record, of_split))
            continue;
        if (!of_split && record->extra->uncounted) {
            fprintf(file, "\nhardware counters: not available: %s\n", record->extra->uncounted);
            return;
        }
        if (!last && of_split)
            fprintf(file, "\nsplit of a call on its slowest rank, in calls of their own: medians\n");
        else if (!last)
            fprintf(file, "\nhardware counters per call, all ranks together, in user space, in calls of their own\n");
        if (!last || last->case_hash != record->case_hash || strcmp(last->mode, record->mode) != 0) {
            fprintf(file, "\n%s %s%s%s\n  %-*s", record->mode, style->dim, record->case_text, style->off, width,
                    "implementation");
            if (of_split)
                fprintf(file, "        call        pack     compute      unpack        rest\n");
            else
                fprintf(file, "     cycles      instr.    L1d miss   LLC miss  br. miss  instr/cyc  cycles/ns\n");
        }
        last = record;
        if (of_split)
            print_split(record, file, width);
        else
            print_counters(record, file, width);
    }
}

void kerf_terminal_extra(const kerf_records *records, FILE *file, const kerf_style *style) {
    print_table(records, file, style, true);
    print_table(records, file, style, false);
}
