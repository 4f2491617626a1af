/* Holds calls of a row against the oracle while it is timed: some of the calls that were timed, drawn after they were
 * made, the last one, and more on poisoned outputs. The first find a row that is right only where it sees poison, the
 * poisoned ones a row that leaves elements as they were. */
#ifndef KERF_HARNESS_TIMING_CHECK_H
#define KERF_HARNESS_TIMING_CHECK_H

#include "harness/place.h"
#include "harness/timing_buffers.h"
#include "harness/timing_request.h"
#include "harness/verdict.h"

typedef struct kerf_timing_check {
    kerf_timing_row *row; /* NULL: not open */
    unsigned checks;      /* kerf_timing_check_kind, joined */
    kerf_extent extent[KERF_MAX_OPERANDS];
    kerf_timing_block kept[KERF_MAX_OPERANDS]; /* outputs of the call that is drawn so far */
    bool has_kept;
    uint64_t step, key; /* of that call: its inputs, and the draw that chose it */
    int set;            /* in which it was made */
} kerf_timing_check;

/* On failure nothing is left open. */
kerf_status kerf_timing_check_open(kerf_timing_row *row, unsigned checks, kerf_rng *offsets, kerf_timing_check *check,
                                   kerf_error *error);
void kerf_timing_check_close(kerf_timing_check *check);

/* The row's outputs in the set it uses are those of a timed call that had the inputs of `step`: keeps them if calls are
 * drawn and the random number that belongs to the step is the smallest so far. Each of a row's calls is kept with the
 * same probability, and rows that were called on the same steps keep the same one, so that the oracle runs once for all
 * of them. */
void kerf_timing_check_offer(kerf_timing_check *check, uint64_t step, uint64_t seed);

/* Both: the inputs are those of the call's step, and `expect` is what the oracle says of them. KERF_PASS or KERF_FAIL
 * in the finding, whose reason is the call that was wrong: "timed", "poisoned" or "last". */

/* Compares the kept call, then makes the poisoned ones, which `before` (may be NULL) prepares, and compares them. */
kerf_status kerf_timing_check_drawn(kerf_timing_check *check, const kerf_expect expect[],
                                    void (*before)(const kerf_timing_row *), kerf_rng *rng, kerf_finding *finding,
                                    kerf_error *error);
/* Compares what the row's last call left in the set it uses. */
kerf_status kerf_timing_check_last(const kerf_timing_check *check, const kerf_expect expect[], kerf_finding *finding,
                                   kerf_error *error);

#endif
