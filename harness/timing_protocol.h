/* What kerf_time_cells and the process that it starts say to each other: lines of text, one request and one answer.
 *
 *   request   threads N                    answer   overhead SAMPLE_NS CALL_NS STEP_NS    of samples from here on
 *             seed HEX                              sample CELL ROUND BATCH TOTAL_NS
 *             process N                             stop CELL REASON      the cell's samples are complete
 *             budget_ns N                           fail CELL MESSAGE     there are none
 *             turn PATH                             wrong CELL OUTPUT CALL BAD ELEMENTS RATIO GOT LO HI SLACK INDEX...
 *             split                                 split CELL CALLS CALL PACK COMPUTE UNPACK    nanoseconds
 *             counters                              counted CELL CALLS CYCLES/NS CYCLES INSTRUCTIONS L1D LLC BRANCH
 *             case OP CASE-TEXT                     end
 *             check KIND                   of the case above: calls are checked; KIND is nan, numbers or last
 *             cell CELL MODE ROW           of the case above; MODE is hot or cold, ROW as in a key
 *             with THREADS [NAME=VALUE,...] the cell above has a team of its own size and this config
 *             limit NUMBER MODE KIND BYTES  of the case above: a loop takes turns with the cells of this mode
 *             end
 *
 * `limit` is answered by a line `rate NUMBER RATE`, bytes or operations per nanosecond. `split` and `counters` ask for
 * calls besides the samples; what these gave comes before `stop`. `wrong` stands instead of the samples of a row that
 * gave a wrong result; CALL is timed, poisoned or last, INDEX the worst element's.
 *
 * By hand: `bench time-worker < request`; all lines but case, cell and end may be left out. */
#ifndef KERF_HARNESS_TIMING_PROTOCOL_H
#define KERF_HARNESS_TIMING_PROTOCOL_H

#include "harness/timing.h"

#include <stdio.h>
#include <sys/types.h>

/* Lies in the file that `turn` names, mapped by both processes: when the worker dies or hangs, the parent reads here
 * whose turn it was, for which a line of text would cost a system call before each sample. */
typedef struct kerf_timing_turn {
    uint64_t count;   /* of turns begun: a worker in which it does not move is stuck */
    int32_t cell;     /* whose call runs, -1: none */
    int32_t for_case; /* a cell of the case that is being set up or timed, -1: none */
} kerf_timing_turn;

/* Plain stores: the reader needs no order, only that what a killed process wrote last is there. */
static inline void kerf_timing_turn_begin(kerf_timing_turn *turn, int cell) {
    __atomic_store_n(&turn->cell, cell, __ATOMIC_RELAXED);
    __atomic_store_n(&turn->count, turn->count + 1, __ATOMIC_RELAXED);
}

/* What kerf_timing_worker does, on streams. Returns the exit code of the process. */
int kerf_timing_work(const kerf_registry *registry, FILE *request, FILE *answer);

/* How a worker is started: with the two files as its standard input and output. */
typedef struct kerf_timing_launcher {
    kerf_status (*start)(void *arg, int request, int answer, pid_t *worker, kerf_error *error);
    void *arg;
} kerf_timing_launcher;

/* kerf_time_cells with another kind of worker. */
kerf_status kerf_time_cells_with(const kerf_timing_launcher *launcher, kerf_timing_cell cells[], int n,
                                 const kerf_timing_options *options, kerf_arena *arena,
                                 void (*progress)(void *arg, int done, int total), void *arg,
                                 const volatile int *interrupted, kerf_error *error);

#endif
