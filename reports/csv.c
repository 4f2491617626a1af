#include "reports/reports.h"

#include <math.h>
#include <string.h>

static void print_text(FILE *file, const char *text) {
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; ++text) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void print_number(FILE *file, double value) {
    if (isfinite(value))
        fprintf(file, "%.9g", value);
}

static void print_estimate(FILE *file, const kerf_estimate *estimate) {
    const double values[] = {estimate->middle, estimate->low, estimate->high};
    for (int i = 0; i < 3; ++i) {
        fputc(',', file);
        if (estimate->middle > 0)
            print_number(file, values[i]);
    }
}

void kerf_report_csv(const kerf_records *records, FILE *file) {
    fputs("kind,op,set,case,row,mode,config,verdict,error_over_slack,time_ns,time_ns_low,time_ns_high,ratio_to_naive,"
          "ratio_low,ratio_high,reason,limit_ns,limit_by,share,share_low,share_high,phase,default,chosen,ratio_to_"
          "default,ratio_to_default_low,"
          "ratio_to_default_high\r\n",
          file);
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        const bool is_tune = record->kind == KERF_RECORD_TUNE;
        if (record->kind != KERF_RECORD_VERIFY && record->kind != KERF_RECORD_TIME && !is_tune)
            continue;
        fputs(is_tune ? "tune" : record->kind == KERF_RECORD_TIME ? "time" : "verify", file);
        const char *const texts[] = {record->op,
                                     record->set,
                                     record->case_text,
                                     record->row,
                                     record->mode,
                                     record->config,
                                     kerf_verdict_name(record->finding.verdict)};
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
            fputc(',', file);
            print_text(file, texts[t]);
        }
        fputc(',', file);
        print_number(file, record->finding.ratio);
        print_estimate(file, &record->time_ns);
        print_estimate(file, &record->speed_ratio);
        fputc(',', file);
        print_text(file, record->finding.reason);
        fputc(',', file);
        if (record->limit_ns > 0)
            print_number(file, record->limit_ns);
        fputc(',', file);
        print_text(file, record->limit_by);
        print_estimate(file, &record->share);
        if (is_tune)
            fprintf(file, ",%s,%d,%d", kerf_tune_phase_name(record->tune->phase), record->tune->is_standard,
                    record->tune->is_chosen);
        else
            fputs(",,,", file);
        print_estimate(file, &record->ratio_to_standard);
        fputs("\r\n", file);
    }
}
