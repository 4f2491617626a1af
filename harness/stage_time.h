/* What the parts of kerf_stage_time share. */
#ifndef KERF_HARNESS_STAGE_TIME_H
#define KERF_HARNESS_STAGE_TIME_H

#include "harness/pipeline.h"
#include "harness/row_limit.h"
#include "harness/timing.h"

/* Six processes: the smallest number whose extreme medians enclose the true one with more than 95 % (96.9 %). */
#define KERF_TIME_PROCESSES 6

typedef struct kerf_timed_case {
    const char *set;
    const kerf_case *c;
    kerf_finding *findings; /* one per row of the run */
    const char **left_out;  /* why a row is not timed, or NULL */
    kerf_work work;
} kerf_timed_case;

/* One cell against the limits. */
typedef struct kerf_held_cell {
    const kerf_timed_case *of;
    kerf_row_limit again; /* what was measured again in the same rounds as the cell; ns 0: nothing */
    bool implausible;     /* faster than that */
} kerf_held_cell;

/* The samples as they were measured, and the overhead that is to be subtracted from them. */
kerf_status kerf_stage_add_samples(const kerf_timing_cell *cell, kerf_arena *arena, kerf_record *record,
                                   kerf_error *error);
/* Finds or measures run->limits. */
kerf_status kerf_stage_find_limits(kerf_run *run, kerf_error *error);
/* Cells that seem to be faster than the machine allows are timed again, with all rows that take turns with them, and
 * with the loops of the limit between them. What these reach is kept; who is still too fast is implausible. */
kerf_status kerf_stage_hold(kerf_run *run, const kerf_timing_options *options, kerf_timing_cell *cells,
                            kerf_held_cell *held, int n, kerf_error *error);
/* Fills in limit and share of a record that has its times, and the verdict where the cell is implausible. */
void kerf_stage_add_limit(kerf_run *run, const kerf_timed_case *timed, kerf_cache_mode mode, const kerf_held_cell *held,
                          kerf_record *record);

#endif
