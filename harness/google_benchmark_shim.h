/* Google Benchmark behind a C interface. Callbacks must return normally: nothing may jump across the library's frames,
 * and no exception leaves these functions. The library's registry is global, so one call runs at a time. */
#ifndef KERF_HARNESS_GOOGLE_BENCHMARK_SHIM_H
#define KERF_HARNESS_GOOGLE_BENCHMARK_SHIM_H

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A benchmark whose State hosts a sampler of ours: `body` is called once, inside the State's loop, and returns the
 * seconds that it timed. Nothing is printed. */
typedef struct kerf_hosted_benchmark {
    const char *name;
    double (*body)(void *arg);
    void *arg;
} kerf_hosted_benchmark;

kerf_status kerf_google_benchmark_host(const kerf_hosted_benchmark *hosted, kerf_error *error);

/* A benchmark of the library's own loop, timer and reporters. */
typedef struct kerf_loop_benchmark {
    const char *name;
    void *arg;
    const char *(*open)(void *arg); /* before each loop, untimed; a message if the benchmark cannot run, else NULL */
    void (*prepare)(void *arg);     /* before each call, untimed; NULL: calls follow each other at once */
    void (*call)(void *arg);
} kerf_loop_benchmark;

/* The real time of one call by the library's loop, with the number of iterations that it chooses. Nothing is printed.
 */
kerf_status kerf_google_benchmark_time(const kerf_loop_benchmark *benchmark, double min_time_s, double *call_ns,
                                       kerf_error *error);

/* Runs the library's front end: `argv` is what it would see behind the name of the program, NULL-terminated.
 * KERF_ERROR_USAGE when an argument is not known to it. Its own errors (a malformed value) end the program, as does
 * --help. */
kerf_status kerf_google_benchmark_front_end(const kerf_loop_benchmark benchmarks[], int n, int argc, char **argv,
                                            kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
