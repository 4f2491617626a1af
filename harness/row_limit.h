/* What a call can reach at most: the work of its case against the limits of this machine. docs/doctor.md, "The limit of
 * a row", has the arithmetic and its reasons. */
#ifndef KERF_HARNESS_ROW_LIMIT_H
#define KERF_HARNESS_ROW_LIMIT_H

#include "harness/cache.h"
#include "harness/limits.h"
#include "kernels/kernel.h"

/* A call that is so many times faster than its limit is not believed. */
#define KERF_IMPLAUSIBLE_SHARE 1.15

typedef enum kerf_limit_by {
    KERF_LIMIT_BY_READ,
    KERF_LIMIT_BY_WRITE,
    KERF_LIMIT_BY_COPY, /* all bytes, at the best rate of the three */
    KERF_LIMIT_BY_FLOPS,
    KERF_N_LIMITS_BY
} kerf_limit_by;
const char *kerf_limit_by_name(kerf_limit_by by);

/* What is called, and how. */
typedef struct kerf_limited {
    kerf_work work;
    kerf_cache_mode mode;
    kerf_dtype dtype;
    int threads;
} kerf_limited;

/* One reason why a call takes at least this long. */
typedef struct kerf_row_limit {
    double ns; /* 0: there is none */
    kerf_limit_by by;
    int point;    /* of the team, whose rate it is; 0 for FLOPS */
    size_t bytes; /* of the working set that has the rate; 0 for FLOPS */
} kerf_row_limit;

/* The largest of all reasons. */
kerf_row_limit kerf_row_limit_of(const kerf_limits *limits, const kerf_limited *what);

/* A reason by which a call of `ns` cannot be believed: where one says so with much room, that with the smallest working
 * set, which is measured again most quickly; else the largest. Its ns is 0 if the call is plausible. */
kerf_row_limit kerf_row_limit_against(const kerf_limits *limits, const kerf_limited *what, double ns);

/* ---- measuring a reason again */

#define KERF_ROW_LIMIT_LOOPS 5

/* The loops that can raise the rate behind this reason, and the working set they have to be run on. Returns their
 * number. */
int kerf_row_limit_loops(const kerf_row_limit *reason, const kerf_limited *what,
                         kerf_limit_kind kinds[KERF_ROW_LIMIT_LOOPS], size_t *bytes);
/* Takes in what a loop reached; returns whether that is more than was known. */
bool kerf_row_limit_raise(kerf_limits *limits, const kerf_limited *what, const kerf_row_limit *reason,
                          kerf_limit_kind kind, double rate);
/* The same reason by the limits as they are now. */
kerf_row_limit kerf_row_limit_again(const kerf_limits *limits, const kerf_limited *what, const kerf_row_limit *reason);

#endif
