/* What a time record says about calls besides their time. It comes from calls of its own, never from timed ones. */
#ifndef KERF_HARNESS_RECORD_EXTRA_H
#define KERF_HARNESS_RECORD_EXTRA_H

#include "base/json.h"

/* Nanoseconds of one call on its slowest rank: medians, so they need not add up to the call. */
typedef struct kerf_recorded_split {
    int n_calls; /* 0: was not asked for, or the row does not say its phases */
    double call_ns, pack_ns, compute_ns, unpack_ns;
} kerf_recorded_split;

typedef enum kerf_counter {
    KERF_COUNTER_CYCLES,
    KERF_COUNTER_INSTRUCTIONS,
    KERF_COUNTER_L1D_MISSES,
    KERF_COUNTER_LLC_MISSES,
    KERF_COUNTER_BRANCH_MISSES,
    KERF_N_COUNTERS
} kerf_counter;
const char *kerf_counter_name(kerf_counter counter); /* "l1d_misses" */

/* Of one call, all ranks together, in user space only. */
typedef struct kerf_recorded_counters {
    int64_t n_calls;               /* 0: nothing was counted */
    double value[KERF_N_COUNTERS]; /* NAN where the machine does not count that */
    double cycles_per_ns;          /* of one rank */
} kerf_recorded_counters;

typedef struct kerf_recorded_extra {
    bool asked_split, asked_counters;
    kerf_recorded_split split;
    kerf_recorded_counters counters;
    const char *uncounted; /* why nothing could be counted, or NULL */
} kerf_recorded_extra;

/* The members `split` and `counters`, as far as they were asked for. */
void kerf_record_print_extra(kerf_json *json, const kerf_recorded_extra *extra);

#endif
