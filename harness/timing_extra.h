/* What is asked about a row besides its time: how its calls split, and what the hardware counts. The worker finds it
 * out in calls of its own after the row's samples, so that nothing of it is in a time that is shown. */
#ifndef KERF_HARNESS_TIMING_EXTRA_H
#define KERF_HARNESS_TIMING_EXTRA_H

#include "harness/cache.h"
#include "harness/counters.h"
#include "harness/split.h"
#include "harness/timing_buffers.h"

#include <stdio.h>

typedef struct kerf_timing_wish {
    bool split, counters;
} kerf_timing_wish;

/* What came of it in one process. */
typedef struct kerf_timing_extra {
    kerf_recorded_split split;
    kerf_recorded_counters counters;
} kerf_timing_extra;

/* Calls the row on its case; each counted stretch is `batch` calls. A call that fails, or a machine that does not
 * count, leaves the result empty. */
void kerf_timing_extra_take(const kerf_timing_wish *wish, const kerf_timing_row *row, kerf_cache_mode mode,
                            uint32_t batch, const kerf_clock *clock, const kerf_counter_system *system,
                            kerf_timing_extra *extra);

/* The lines `split CELL ...` and `counted CELL ...` of an answer (timing_protocol.h). */
void kerf_timing_extra_print(const kerf_timing_extra *extra, int cell, FILE *answer);
/* Whether it is such a line; then its part of *extra is filled in, the other one empty. */
bool kerf_timing_extra_read(const char *line, int *cell, kerf_timing_extra *extra);

/* Each value's median over the processes that have it. */
kerf_timing_extra kerf_timing_extra_middle(const kerf_timing_extra *of_process, int n_processes);

#endif
