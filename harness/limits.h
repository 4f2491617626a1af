/* The limits of this machine, measured: bandwidth per size of the working set, and multiply-add rates, for several
 * numbers of threads. What runs and the clock are parameters. docs/doctor.md explains the figures. */
#ifndef KERF_HARNESS_LIMITS_H
#define KERF_HARNESS_LIMITS_H

#include "base/status.h"
#include "harness/clock.h"
#include "harness/stats.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define KERF_LIMIT_TEAMS  12
#define KERF_LIMIT_SIZES  24
#define KERF_LIMIT_KNEES  6
#define KERF_LIMIT_ROUNDS 32

typedef enum kerf_limit_kind {
    KERF_LIMIT_READ,
    KERF_LIMIT_WRITE,
    KERF_LIMIT_COPY,           /* one half of the working set to the other; bytes read and bytes written both count */
    KERF_LIMIT_WRITE_STREAMED, /* with stores that go around the caches */
    KERF_LIMIT_COPY_STREAMED,
    KERF_LIMIT_F32, /* multiply-adds, two operations each */
    KERF_LIMIT_F64,
    KERF_N_LIMIT_KINDS
} kerf_limit_kind;

const char *kerf_limit_kind_name(kerf_limit_kind kind);

/* Passes of one call: with these, starting the threads is a small part of it. */
uint32_t kerf_limit_passes(kerf_limit_kind kind, size_t bytes, int threads);

/* What the limits are measured of. */
typedef struct kerf_limit_device {
    void *state;
    /* Makes `passes` passes over `bytes` (F32 and F64: no memory) with so many threads, and returns the bytes moved or
     * the operations done. */
    double (*run)(void *state, kerf_limit_kind kind, size_t bytes, int threads, uint32_t passes);
} kerf_limit_device;

typedef struct kerf_limit_plan {
    size_t least_bytes, most_bytes; /* sizes of working sets: doubled from one to the other */
    int threads[KERF_LIMIT_TEAMS], n_teams;
    int min_rounds, max_rounds; /* at most KERF_LIMIT_ROUNDS */
    uint64_t budget_ns;         /* once min_rounds are there, no round begins that would end after it */
} kerf_limit_plan;

/* All rates are per nanosecond: GB/s and GFLOP/s. */
typedef struct kerf_limit_point {
    size_t bytes; /* of all threads together */
    kerf_interval read, write, copy;
} kerf_limit_point;

typedef struct kerf_limit_team {
    int threads, n_points;
    kerf_limit_point point[KERF_LIMIT_SIZES]; /* ascending */
    kerf_interval f32, f64;
} kerf_limit_team;

typedef struct kerf_limits {
    int n_teams, n_rounds;
    double covered; /* confidence of the intervals */
    kerf_limit_team team[KERF_LIMIT_TEAMS];
} kerf_limits;

/* Rounds in which everything is measured once, in an order of its own each time: intervals hold what changes over the
 * whole measurement. Fails when *interrupted (may be NULL) becomes not 0, or when the clock gives no times. */
kerf_status kerf_limits_measure(const kerf_limit_plan *plan, const kerf_limit_device *device, const kerf_clock *clock,
                                uint64_t seed, const volatile sig_atomic_t *interrupted, kerf_limits *limits,
                                kerf_error *error);

/* 1, 2, 4, ... and `threads` itself; with KERF_LIMIT_ENDS only 1 and `threads`. Returns their number. */
typedef enum kerf_limit_teams { KERF_LIMIT_DOUBLING, KERF_LIMIT_ENDS } kerf_limit_teams;
int kerf_limit_teams_for(int threads, kerf_limit_teams which, int teams[KERF_LIMIT_TEAMS]);

/* Where a curve of n rates over ascending sizes falls: knee[k] is the index of the last point of a level. Returns their
 * number; the points behind the last knee are the last level. */
int kerf_limit_knees(const double *rate, int n, int knee[KERF_LIMIT_KNEES]);

/* The levels of a team, by its curve of reading. */
typedef struct kerf_limit_level {
    int first, last; /* points of the level, its slope from the level before left out */
} kerf_limit_level;
int kerf_limit_levels(const kerf_limit_team *team, kerf_limit_level level[KERF_LIMIT_KNEES + 1]);

#endif
