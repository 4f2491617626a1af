/* One kernel against itself, measured as rows are: two arms that take turns within a process, in several processes that
 * are started anew. What differs then is what this machine calls a difference when there is none. */
#ifndef KERF_HARNESS_DOCTOR_SAME_H
#define KERF_HARNESS_DOCTOR_SAME_H

#include "harness/limits.h"

#include <stdio.h>

/* An arm is a copy with these parameters, in memory of its own. */
typedef struct kerf_doctor_pair {
    size_t bytes;
    int threads;
    uint32_t passes;
    uint64_t process_ns; /* of both arms together, in each process */
    uint64_t seed;       /* of the orders */
} kerf_doctor_pair;

/* Median of the first arm / median of the second, of rounds in which each takes one sample. */
kerf_status kerf_doctor_arms(const kerf_doctor_pair *pair, const kerf_limit_device arms[2], const kerf_clock *clock,
                             int process, double *ratio, kerf_error *error);

/* How one process is run to its end: its ratio. */
typedef struct kerf_doctor_launcher {
    kerf_status (*run)(void *arg, const kerf_doctor_pair *pair, int process, double *ratio, kerf_error *error);
    void *arg;
} kerf_doctor_launcher;

/* The median of the processes' ratios and its interval, as timing makes them. Processes: at most KERF_LIMIT_ROUNDS. */
kerf_status kerf_doctor_same(const kerf_doctor_pair *pair, int n_processes, const kerf_doctor_launcher *launcher,
                             kerf_interval *ratio, kerf_error *error);
/* The largest relative difference within the interval: what is smaller cannot be told from none. */
double kerf_doctor_reach(kerf_interval ratio);

/* Starts this program again as `bench doctor-worker`, which reads the pair from one file and writes its ratio to the
 * other. Fails when *interrupted (may be NULL) becomes not 0. */
kerf_doctor_launcher kerf_doctor_re_execute(const volatile sig_atomic_t *interrupted);
kerf_status kerf_doctor_worker(FILE *request, FILE *answer, kerf_error *error);

#endif
