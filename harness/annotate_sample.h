/* Where a row is while it runs: a timer of each of its threads takes down the program counter up to 1,000 times a
 * second. Needs no hardware counters and no rights. */
#ifndef KERF_HARNESS_ANNOTATE_SAMPLE_H
#define KERF_HARNESS_ANNOTATE_SAMPLE_H

#include "kernels/registry.h"

#include <signal.h>

/* A table of addresses and how often each was met. Zeroed memory is an empty one. */
#define KERF_HISTOGRAM_SLOTS ((size_t)1 << 16)
typedef struct kerf_histogram {
    uint64_t n_samples;
    uint64_t n_lost; /* of these, that found no slot */
    struct {
        uint64_t address, count; /* address 0: free */
    } slot[KERF_HISTOGRAM_SLOTS];
} kerf_histogram;

/* From signal handlers of many threads at once. */
void kerf_histogram_add(kerf_histogram *histogram, uint64_t address);

typedef struct kerf_sampled {
    kerf_histogram histogram;
    uint64_t n_calls, ns;
    kerf_error error; /* of the process that runs the row */
} kerf_sampled;

/* Runs the row on the case again and again, hot, in a process of its own, which has the address layout of this one.
 * *sampled is to be given back by kerf_sampled_unmap. A row that crashes or does not return is KERF_ERROR_DEVICE. */
kerf_status kerf_annotate_sample(const kerf_row *row, const kerf_case *c, int threads, double seconds,
                                 const volatile sig_atomic_t *interrupted, kerf_sampled **sampled, kerf_error *error);
void kerf_sampled_unmap(kerf_sampled *sampled);

#endif
