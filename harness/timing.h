/* Times rows that passed. The work is spread over several processes, each started anew (not forked: a fork keeps the
 * address layout), and within a process all rows of a case take turns in random order, round by round. */
#ifndef KERF_HARNESS_TIMING_H
#define KERF_HARNESS_TIMING_H

#include "base/arena.h"
#include "harness/casegen.h"

typedef enum kerf_cache_mode { KERF_HOT, KERF_COLD } kerf_cache_mode;
const char *kerf_cache_mode_name(kerf_cache_mode mode);

typedef struct kerf_sample {
    uint64_t total_ns; /* of `batch` calls */
    uint32_t batch;
    uint16_t process, round;
} kerf_sample;

/* Why a process stopped to sample a row. */
typedef enum kerf_stop {
    KERF_STOP_NONE,
    KERF_STOP_NARROW,  /* the interval of the median is narrow enough */
    KERF_STOP_PLATEAU, /* more samples no longer make it narrower */
    KERF_STOP_TIME,    /* the wall time given is spent */
    KERF_N_STOPS
} kerf_stop;
const char *kerf_stop_name(kerf_stop stop);

/* One row to time on one case in one cache mode, and what came of it. */
typedef struct kerf_timing_cell {
    const kerf_op_entry *entry;
    const kerf_case *c;
    const kerf_row *row;
    kerf_cache_mode mode;
    kerf_sample *sample; /* result, from the arena; in order of process, then round */
    int n_samples;
    kerf_stop *stop;  /* result: one per process */
    char reason[200]; /* result: why there are no samples (a crash), else "" */
} kerf_timing_cell;

typedef struct kerf_timing_options {
    int processes; /* at least 5 for a result that is printed */
    int threads;
    double budget_s;            /* wall time for all cells and processes together */
    uint64_t seed;              /* of the order of rows */
    const char *const *plugins; /* paths that the worker opens too, NULL-terminated; NULL if none */
} kerf_timing_options;

/* Cells of one case and mode stand together. `progress` is called as cells are done in each process.
 * A row that crashes loses its samples and the rest is timed again without it. */
kerf_status kerf_time_cells(kerf_timing_cell cells[], int n, const kerf_timing_options *options, kerf_arena *arena,
                            void (*progress)(void *arg, int done, int total), void *arg,
                            const volatile int *interrupted, kerf_error *error);

/* The re-executed process: reads the cells on standard input, writes samples on standard output. */
int kerf_timing_worker(const kerf_registry *registry);

/* `bench ... -- --benchmark_...`: the library's own front end over the same cells; argv as it came behind `--`. */
kerf_status kerf_timing_front_end(kerf_timing_cell cells[], int n, int threads, int argc, char **argv,
                                  kerf_error *error);

#endif
