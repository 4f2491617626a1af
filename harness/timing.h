/* Times rows that passed. The work is spread over several processes, each started anew (not forked: a fork keeps the
 * address layout), and within a process all rows of a case take turns in random order, round by round. */
#ifndef KERF_HARNESS_TIMING_H
#define KERF_HARNESS_TIMING_H

#include "base/arena.h"
#include "harness/cache.h"
#include "harness/casegen.h"
#include "harness/limits.h"
#include "harness/sampler.h"
#include "harness/timing_extra.h"
#include "harness/verdict.h"
#include <signal.h>

/* One row to time on one case in one cache mode, and what came of it. */
typedef struct kerf_timing_cell {
    const kerf_op_entry *entry;
    const kerf_case *c;
    const kerf_row *row;
    kerf_cache_mode mode;
    const kerf_config *config; /* NULL: the defaults */
    int threads;               /* ranks of the team; 0: those of the options */
    kerf_sample *sample;       /* result, from the arena; in order of process, then round */
    int n_samples;
    kerf_stop *stop;           /* result: one per process, as is: */
    kerf_overhead *overhead;   /* result: within the samples, to be subtracted */
    kerf_timing_extra *extra;  /* result: one per process; NULL where nothing was wished */
    char reason[200];          /* result: why there are no samples, else "" */
    bool crashed;              /* result: because the row brought its process down */
    const kerf_case *wrong_on; /* result: the case on which a call of the row was wrong while it was timed, or NULL */
    kerf_finding finding;      /* result: what was wrong there */
} kerf_timing_cell;

/* A loop of the limits that takes turns with the rows of a case in one cache mode. */
typedef struct kerf_timing_limit {
    const kerf_case *c;
    kerf_cache_mode mode;
    kerf_limit_kind kind;
    size_t bytes;
    double *rate; /* result, from the arena: the median of each process, 0 where there is none */
} kerf_timing_limit;

/* The same code: a row, configured the same way. */
static inline bool kerf_timing_is_same_row(const kerf_timing_cell *a, const kerf_timing_cell *b) {
    return a->row == b->row && a->config == b->config && a->threads == b->threads;
}

typedef struct kerf_timing_options {
    int processes; /* at least 5 for a result that is printed */
    int threads;
    double budget_s;            /* wall time for all cells and processes together */
    uint64_t seed;              /* of the order of rows */
    const char *const *plugins; /* paths that the worker opens too, NULL-terminated; NULL if none */
    kerf_timing_wish wish;      /* beside the times */
    kerf_timing_limit *limit;   /* NULL if there are none */
    int n_limits;
} kerf_timing_options;

/* Cells that share the pointer to their case are timed in turns; cells with equal cases and pointers of their own are
 * not. `progress` may be NULL; it is called as cells are done in each process. A row that crashes loses its samples on
 * that case, and the rest is timed again without it. Rows of other devices than the CPU get a reason and no samples.
 * KERF_ERROR_INTERRUPTED when *interrupted became non-zero: the cells then hold the samples that were complete. */
kerf_status kerf_time_cells(kerf_timing_cell cells[], int n, const kerf_timing_options *options, kerf_arena *arena,
                            void (*progress)(void *arg, int done, int total), void *arg,
                            const volatile sig_atomic_t *interrupted, kerf_error *error);

/* The re-executed process, `bench time-worker [--plugin PATH]...` with the joined registry: reads the cells on standard
 * input, writes samples on standard output, and returns the exit code. */
int kerf_timing_worker(const kerf_registry *registry);

/* `bench ... -- --benchmark_...`: the library's own front end over the same cells; argv as it came behind `--`. */
kerf_status kerf_timing_front_end(kerf_timing_cell cells[], int n, int threads, int argc, char **argv,
                                  kerf_error *error);

#endif
