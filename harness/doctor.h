/* `bench doctor`: the limits of this machine, what disturbs timing on it, and which differences it can tell. */
#ifndef KERF_HARNESS_DOCTOR_H
#define KERF_HARNESS_DOCTOR_H

#include "harness/limits_file.h"
#include "harness/options.h"
#include <stdio.h>

/* Measures, prints, and keeps the limits for this machine. What is wrong with the kept file is a warning. */
kerf_status kerf_doctor(const kerf_options *options, const volatile sig_atomic_t *interrupted, FILE *file,
                        kerf_error *error);

typedef struct kerf_doctor_plan {
    kerf_limits_form form;
    int threads; /* of the largest team; 0: as many as processors */
    bool quiet;  /* nothing on standard error */
    const char *why;
    const volatile sig_atomic_t *interrupted; /* or NULL */
} kerf_doctor_plan;

typedef struct kerf_doctor_measured {
    kerf_kept_limits kept;
    int same_threads, same_rounds; /* of kept.same */
    double steal, others; /* part of the processors' time that the host and other programs took; below 0: unknown */
    uint64_t clock_steps_ns;
} kerf_doctor_measured;

/* Says on standard error that it measures, and `why`. */
kerf_status kerf_doctor_measure(const kerf_doctor_plan *plan, kerf_doctor_measured *result, kerf_error *error);

/* The same kernel as two arms that take turns: the median of arm A over arm B in each round, and the interval of that
 * ratio over the rounds. An arm is one call of `run` with these parameters. */
typedef struct kerf_doctor_pair {
    const kerf_limit_device *device;
    size_t bytes;
    int threads;
    uint32_t passes;
    int n_rounds; /* at most KERF_LIMIT_ROUNDS */
    uint64_t round_ns;
    const volatile sig_atomic_t *interrupted; /* or NULL */
} kerf_doctor_pair;
kerf_status kerf_doctor_same(const kerf_doctor_pair *pair, const kerf_clock *clock, uint64_t seed, kerf_interval *ratio,
                             kerf_error *error);
/* The largest relative difference within the interval: what is smaller cannot be told from none. */
double kerf_doctor_reach(kerf_interval ratio);

#endif
