/* What a run asks about its timed rows besides their times, and what of it goes into their records. */
#ifndef KERF_HARNESS_STAGE_EXTRA_H
#define KERF_HARNESS_STAGE_EXTRA_H

#include "harness/pipeline.h"
#include "harness/timing.h"

/* Counters are wished with --counters or -v, and only where they can be had; else run->uncounted says why not. */
kerf_timing_wish kerf_stage_wish(kerf_run *run);

/* What the record of the cell says, in the arena of the sink; NULL where nothing was asked, or for want of memory. */
const kerf_recorded_extra *kerf_stage_extra(kerf_run *run, const kerf_timing_cell *cell, int n_processes);

#endif
