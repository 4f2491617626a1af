/* What the parts of kerf_time_cells share: the state of a run, and one worker process of it. */
#ifndef KERF_HARNESS_TIMING_RUN_H
#define KERF_HARNESS_TIMING_RUN_H

#include "harness/timing_protocol.h"
#include <signal.h>

/* One turn that lasts longer is taken for an endless loop. */
#define KERF_TIMING_STUCK_S 120

typedef struct kerf_timing_arrival {
    int cell;
    kerf_sample sample;
} kerf_timing_arrival;

typedef struct kerf_timing_run {
    const kerf_timing_launcher *launcher;
    kerf_timing_cell *cells;
    int n;
    const kerf_timing_options *options;
    void (*progress)(void *arg, int done, int total);
    void *progress_arg;
    const volatile sig_atomic_t *interrupted;
    kerf_clock clock;
    uint64_t begun_ns;

    int process;                   /* the one that runs now */
    kerf_overhead overhead;        /* of the worker that runs now */
    bool *done;                    /* per cell: complete in this process */
    int n_done;                    /* over all processes */
    kerf_timing_arrival *arrivals; /* samples of all cells and processes, as they came; to be freed */
    size_t n_arrivals, room_for_arrivals;
    kerf_timing_turn *turn; /* shared with the worker as /proc/PID/fd/turn_file */
    int turn_file;
} kerf_timing_run;

static inline bool kerf_timing_is_dropped(const kerf_timing_run *run, int cell) {
    return run->cells[cell].reason[0] != '\0';
}

static inline bool kerf_timing_is_pending(const kerf_timing_run *run, int cell) {
    return !kerf_timing_is_dropped(run, cell) && !run->done[cell];
}

/* The cell gets no samples, and is not asked for any more. */
static inline void kerf_timing_drop(kerf_timing_run *run, int cell, const char *reason) {
    snprintf(run->cells[cell].reason, sizeof run->cells[cell].reason, "%s", reason);
}

static inline bool kerf_timing_is_interrupted(const kerf_timing_run *run) {
    return run->interrupted && *run->interrupted;
}

/* A file that asks for the pending cells, rewound; the caller closes it. A cell that cannot be asked for is dropped. */
kerf_status kerf_timing_request_open(kerf_timing_run *run, int *request, kerf_error *error);

/* Takes in what the worker answers until it closes its end, is stuck (*stuck), or the run is interrupted. *ended: it
 * has said all that it was asked for. */
kerf_status kerf_timing_answer_read(kerf_timing_run *run, int file, bool *ended, bool *stuck, kerf_error *error);

/* Starts a worker for the pending cells and waits for its end. A cell that brought it down is dropped. */
kerf_status kerf_timing_worker_run(kerf_timing_run *run, kerf_error *error);

#endif
