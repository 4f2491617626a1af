/* Holds calls of a row against the oracle while it is timed: one of the calls that were timed, drawn after it was made,
 * and one more on poisoned outputs. The first finds a row that is right only where it sees poison, the second one that
 * leaves elements as they were. */
#ifndef KERF_HARNESS_TIMING_CHECK_H
#define KERF_HARNESS_TIMING_CHECK_H

#include "harness/place.h"
#include "harness/timing_buffers.h"
#include "harness/timing_request.h"
#include "harness/verdict.h"

typedef struct kerf_timing_check {
    kerf_timing_row *row;
    kerf_extent extent[KERF_MAX_OPERANDS];
    kerf_timing_block kept[KERF_MAX_OPERANDS]; /* outputs of the call that is drawn so far */
    uint64_t step;                             /* the inputs of that call */
    int n_offered;
} kerf_timing_check;

/* On failure nothing is left open. */
kerf_status kerf_timing_check_open(kerf_timing_row *row, kerf_rng *offsets, kerf_timing_check *check,
                                   kerf_error *error);
void kerf_timing_check_close(kerf_timing_check *check);

/* The row's outputs are those of a timed call that had the inputs of `step`: keeps them, or what was kept before, so
 * that each offered call is kept with the same probability. */
void kerf_timing_check_offer(kerf_timing_check *check, uint64_t step, kerf_rng *rng);

/* Makes the poisoned call, which `before` (may be NULL) prepares, and compares both. `inputs` are those of the row, and
 * are taken to the step of the kept call. KERF_PASS or KERF_FAIL in the finding, whose reason is "timed" or "poisoned",
 * the call that was wrong. */
kerf_status kerf_timing_check_judge(kerf_timing_check *check, kerf_timing_inputs *inputs, kerf_oracle oracle,
                                    kerf_timing_check_kind kind, void (*before)(const kerf_timing_row *), kerf_rng *rng,
                                    kerf_finding *finding, kerf_error *error);

#endif
