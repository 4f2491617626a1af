/* The records of `bench tune`, case by case. */
#ifndef KERF_REPORTS_TUNED_H
#define KERF_REPORTS_TUNED_H

#include "harness/record.h"

/* One case in one cache mode. */
typedef struct kerf_tuned {
    const kerf_record *const *record;
    int n;
    int64_t tried, taken_over, refused, wrong; /* of the search */
    kerf_tune_phase last;                      /* the phase that has the result; SEARCH: there is none */
} kerf_tuned;

/* The next group of records from *at on, which is moved behind it; false: there is none. */
bool kerf_tuned_next(const kerf_records *records, int *at, kerf_tuned *tuned);

static inline bool kerf_tuned_is_wrong(const kerf_record *record) {
    return record->finding.verdict != KERF_PASS && record->finding.verdict != KERF_SKIP;
}

#endif
