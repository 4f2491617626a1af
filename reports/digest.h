/* What several renderers compute from records: sums over rows, ranked blocks, means. */
#ifndef KERF_REPORTS_DIGEST_H
#define KERF_REPORTS_DIGEST_H

#include "harness/record.h"

#define KERF_DIGEST_ROWS 512 /* further ones are left out */

/* The records from one RUN record to the next; *at is 0 at first. False: there are no more. */
bool kerf_digest_next_run(const kerf_records *records, int *at, kerf_records *run);
/* Whether the record says that a row was wrong, crashed, or cannot be believed. */
bool kerf_digest_is_failure(const kerf_record *record);
/* The first record of that kind, or NULL. */
const kerf_record *kerf_digest_first(const kerf_records *records, kerf_record_kind kind);

/* One row over all cases that it was verified on. */
typedef struct kerf_row_digest {
    const char *row, *reason, *worst_case;
    int64_t n_passed, n_failed, n_skipped;
    double worst_ratio;
    kerf_verdict worst; /* first verdict that is not PASS or SKIP, else PASS; SKIP where nothing ran */
} kerf_row_digest;
int kerf_digest_rows(const kerf_records *records, kerf_row_digest rows[KERF_DIGEST_ROWS]);
int64_t kerf_digest_n_cases(const kerf_records *records); /* verified */

/* The timed rows of one case in one cache mode, fastest first, rows without a time last. */
typedef struct kerf_block {
    const kerf_record *row[KERF_DIGEST_ROWS];
    int n, n_timed;
} kerf_block;
/* *at is 0 at first. False: there are no more. */
bool kerf_digest_next_block(const kerf_records *records, int *at, kerf_block *block);
/* The confidence of the intervals: the same for all rows whose processes all ended; 0 if there are no intervals. */
double kerf_digest_covered(const kerf_records *records);

/* A time in the unit that leaves it at least 1, with as many digits behind the point as make three. */
typedef struct kerf_scaled_time {
    double value;
    int digits;
    enum { KERF_NANOSECONDS, KERF_MICROSECONDS, KERF_MILLISECONDS, KERF_SECONDS } unit;
} kerf_scaled_time;
kerf_scaled_time kerf_digest_time(double ns);

/* A row over all cases of a set in one cache mode. */
typedef struct kerf_mean {
    const char *row, *set, *mode;
    double ratio, share; /* geometric means of times as fast as naive, and of the share of the limit; 0: unknown */
    int n_ratio, n_share, n_timed;
    int n_fastest; /* blocks in which it is the first */
} kerf_mean;
int kerf_digest_means(const kerf_records *records, kerf_mean means[KERF_DIGEST_ROWS]);

#endif
