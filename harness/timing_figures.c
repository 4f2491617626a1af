#include "harness/timing_figures.h"

#include <math.h>

#define CONFIDENCE 0.95

static double resolution_of(const kerf_timing_cell *cell) {
    double coarsest_ns = 0;
    for (int i = 0; i < cell->n_samples; ++i)
        coarsest_ns =
            fmax(coarsest_ns, kerf_sample_resolution_ns(&cell->sample[i], &cell->overhead[cell->sample[i].process]));
    return coarsest_ns;
}

static double median_in(const kerf_timing_cell *cell, int process, double *memory) {
    int n = 0;
    for (int i = 0; i < cell->n_samples; ++i)
        if (cell->sample[i].process == process)
            memory[n++] = kerf_sample_call_ns(&cell->sample[i], &cell->overhead[process]);
    return n > 0 ? kerf_median(memory, n) : NAN;
}

kerf_interval kerf_timing_interval(const double *values, int n, double *covered) {
    double known[KERF_TIMING_PROCESSES_MOST];
    int n_known = 0;
    for (int i = 0; i < n; ++i)
        if (!isnan(values[i]))
            known[n_known++] = values[i];
    *covered = 0;
    return n_known > 0 ? kerf_median_interval(known, n_known, CONFIDENCE, covered) : (kerf_interval){0};
}

static kerf_interval at_least(kerf_interval interval, double width) {
    return (kerf_interval){.middle = interval.middle,
                           .low = fmin(interval.low, interval.middle - 0.5 * width),
                           .high = fmax(interval.high, interval.middle + 0.5 * width)};
}

kerf_timing_figures kerf_timing_figures_of(const kerf_timing_cell *cell, int n_processes, double *memory) {
    kerf_timing_figures figures = {.n_processes = n_processes, .resolution_ns = resolution_of(cell)};
    for (int process = 0; process < n_processes; ++process)
        figures.median_ns[process] = median_in(cell, process, memory);
    const kerf_interval seen = kerf_timing_interval(figures.median_ns, n_processes, &figures.covered);
    figures.time_ns = at_least(seen, figures.resolution_ns);
    return figures;
}

kerf_interval kerf_timing_ratio(const kerf_timing_figures *other, const kerf_timing_figures *one, bool *resolved) {
    double ratio[KERF_TIMING_PROCESSES_MOST], covered;
    const double resolution_ns = fmax(one->resolution_ns, other->resolution_ns);
    for (int process = 0; process < one->n_processes; ++process)
        ratio[process] = other->median_ns[process] / one->median_ns[process];
    const kerf_interval seen = kerf_timing_interval(ratio, one->n_processes, &covered);
    *resolved = fabs(other->time_ns.middle - one->time_ns.middle) >= resolution_ns;
    if (!(covered > 0))
        return seen;
    const double width =
        other->resolution_ns / one->time_ns.middle + seen.middle * one->resolution_ns / one->time_ns.middle;
    kerf_interval shown = at_least(seen, width);
    if (!*resolved)
        shown = (kerf_interval){.middle = 1, .low = fmin(shown.low, 1), .high = fmax(shown.high, 1)};
    return shown;
}
