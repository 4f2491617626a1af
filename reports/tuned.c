#include "reports/tuned.h"

#include <string.h>

static bool is_same_case(const kerf_record *a, const kerf_record *b) {
    return b->kind == KERF_RECORD_TUNE && strcmp(a->case_text, b->case_text) == 0 && strcmp(a->mode, b->mode) == 0 &&
           strcmp(a->op, b->op) == 0;
}

static void count(const kerf_record *record, kerf_tuned *tuned) {
    if (record->tune->phase > tuned->last)
        tuned->last = record->tune->phase;
    if (record->tune->phase != KERF_TUNE_SEARCH)
        return;
    ++tuned->tried;
    tuned->taken_over += record->tune->is_taken_over;
    tuned->refused += record->finding.verdict == KERF_SKIP;
    tuned->wrong += kerf_tuned_is_wrong(record);
}

bool kerf_tuned_next(const kerf_records *records, int *at, kerf_tuned *tuned) {
    while (*at < records->n && records->at[*at]->kind != KERF_RECORD_TUNE)
        ++*at;
    *tuned = (kerf_tuned){.record = records->at + *at, .last = KERF_TUNE_SEARCH};
    for (; *at < records->n && is_same_case(tuned->record[0], records->at[*at]); ++*at, ++tuned->n)
        count(records->at[*at], tuned);
    return tuned->n > 0;
}
