/* Inside a timing worker: the rows of one case in one cache mode, which take turns and are checked. */
#ifndef KERF_HARNESS_TIMING_GROUP_H
#define KERF_HARNESS_TIMING_GROUP_H

#include "harness/team.h"
#include "harness/timing_check.h"
#include "harness/timing_limits.h"
#include "harness/timing_protocol.h"

enum { KERF_WORKER_TEAMS = 32 };

typedef struct kerf_worker {
    kerf_timing_request request;
    FILE *answer;
    kerf_arena arena;
    kerf_clock clock;
    kerf_rng rng, poison;                       /* poison: apart, so that the orders do not depend on what is checked */
    uint64_t draw_seed;                         /* of which timed calls are checked */
    kerf_arena expected;                        /* of the oracle */
    kerf_thread_team *teams[KERF_WORKER_TEAMS]; /* of different sizes */
    int n_teams;
    const kerf_team *team;   /* of the request's size */
    kerf_limit_loops *loops; /* NULL where no limit is asked for, or there is no memory for them */
    kerf_timing_turn *turn;
    uint64_t begun_ns;
    uint64_t first_step; /* of the inputs, in this group: the warm-up's */
    uint64_t next_step;  /* no call on the case has seen its inputs yet */
    int groups_left;     /* a group: all rows of a case in one cache mode */
    struct kerf_worker_cell *last_called;
} kerf_worker;

typedef struct kerf_worker_cell {
    kerf_worker *w;
    const kerf_requested_case *of;
    const kerf_requested_cell *wanted;
    kerf_timing_inputs *inputs;
    kerf_timing_set *set;      /* the inputs of the last call */
    kerf_timing_row own, *row; /* row: of an earlier cell if that has opened it already */
    kerf_error error;          /* why it cannot be timed, or "" */
    kerf_timing_check check;   /* opened while the cell's group is timed, if the case is checked */
    uint64_t called_step;      /* the inputs of the last sample */
    int n_offered;             /* samples that were offered to the check */
    bool has_last;             /* it took part in the closing round: its last sample */
    kerf_finding finding;
    kerf_sampler sampler;
} kerf_worker_cell;

/* What is timed of a cell whose row is open. */
kerf_timed kerf_worker_cell_timed(kerf_worker_cell *cell);

/* Samples and checks those of the cells that have this mode; the cells are those of one case. */
kerf_status kerf_timing_group_run(kerf_worker *w, kerf_cache_mode mode, kerf_worker_cell *cells, int n,
                                  kerf_error *error);

/* Measures what the timed loop itself takes, with a row that does nothing. */
kerf_overhead kerf_timing_overhead(const kerf_clock *clock);

#endif
