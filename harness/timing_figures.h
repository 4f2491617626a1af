/* What is shown of a timed cell, made from its samples: nothing is finer than the clock could tell. */
#ifndef KERF_HARNESS_TIMING_FIGURES_H
#define KERF_HARNESS_TIMING_FIGURES_H

#include "harness/stats.h"
#include "harness/timing.h"

#define KERF_TIMING_PROCESSES_MOST 16

typedef struct kerf_timing_figures {
    int n_processes;
    double median_ns[KERF_TIMING_PROCESSES_MOST]; /* of one call in each process, overhead subtracted; NAN: no sample */
    kerf_interval time_ns;                        /* of the median of these; no narrower than the resolution */
    double covered;                               /* confidence of the interval; 0: there is no sample at all */
    double resolution_ns;                         /* what two such times must differ by to be told apart */
} kerf_timing_figures;

/* `memory` has room for cell->n_samples. */
kerf_timing_figures kerf_timing_figures_of(const kerf_timing_cell *cell, int n_processes, double *memory);

/* The interval of the median of one value per process, those that are NAN left out; *covered is 0 if all are. */
kerf_interval kerf_timing_interval(const double *values, int n_processes, double *covered);

/* Times of `other` over times of `one`, paired by process. Where their difference is below the resolution the middle
 * is 1 and *resolved is false. Middle 0: no process has both. */
kerf_interval kerf_timing_ratio(const kerf_timing_figures *other, const kerf_timing_figures *one, bool *resolved);

#endif
