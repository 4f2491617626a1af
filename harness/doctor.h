/* `bench doctor`: the limits of this machine, what disturbs timing on it, and which differences it can tell. */
#ifndef KERF_HARNESS_DOCTOR_H
#define KERF_HARNESS_DOCTOR_H

#include "harness/doctor_same.h"
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
    int same_threads, same_processes; /* of kept.same */
    double steal, others; /* part of the processors' time that the host and other programs took; below 0: unknown */
    uint64_t clock_steps_ns;
} kerf_doctor_measured;

/* Says on standard error that it measures, and `why`. */
kerf_status kerf_doctor_measure(const kerf_doctor_plan *plan, kerf_doctor_measured *result, kerf_error *error);

#endif
