/* In a timing worker: loops of the limits that take turns with the rows of a case, so that what a row is held against
 * was measured in the same rounds. */
#ifndef KERF_HARNESS_TIMING_LIMITS_H
#define KERF_HARNESS_TIMING_LIMITS_H

#include "harness/limit_loops.h"
#include "harness/timing_request.h"

typedef struct kerf_timing_loop {
    const kerf_requested_limit *wanted;
    kerf_limit_loops *loops;
    void (*turn)(void *arg); /* before each sample */
    void *turn_arg;
    int threads;
    uint32_t passes;
    double amount; /* of the last call */
    kerf_sampler sampler;
} kerf_timing_loop;

/* Memory for the largest working set that the request asks for; *loops is NULL if it asks for none. */
kerf_status kerf_timing_loops_open(const kerf_timing_request *request, const kerf_team *team, kerf_limit_loops **loops,
                                   kerf_error *error);
/* The number of loops that are asked for on the case in this mode, and the loops, ready to be sampled. */
int kerf_timing_loops_count(const kerf_requested_case *of, kerf_cache_mode mode);
void kerf_timing_loops_prepare(const kerf_requested_case *of, kerf_cache_mode mode, const kerf_timing_loop *common,
                               kerf_timing_loop *result);
/* One line for each that has samples. */
void kerf_timing_loops_tell(kerf_timing_loop *loops, int n, FILE *answer);

#endif
