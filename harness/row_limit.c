#include "harness/row_limit.h"

/* What a rank has stored may still wait in the processor when its call returns: the largest queues of today hold 7 KiB.
 * Calls that follow each other at once wait for one another; the cold ones are timed one by one. */
static const double waiting_bytes = 8192;

const char *kerf_limit_by_name(kerf_limit_by by) {
    static const char *const names[KERF_N_LIMITS_BY] = {"read", "write", "copy", "flops"};
    return names[by];
}

/* A team as it was measured, and how many times as much so many threads can do. */
typedef struct chosen_team {
    const kerf_limit_team *team;
    double scale;
} chosen_team;

/* The smallest team that is large enough, as a kernel may use fewer ranks than there are; beyond the largest one, each
 * further thread counts as much as those that were measured. */
static chosen_team team_for(const kerf_limits *limits, int threads) {
    int t = 0;
    while (t + 1 < limits->n_teams && limits->team[t].threads < threads)
        ++t;
    const kerf_limit_team *const team = &limits->team[t];
    return (chosen_team){.team = team, .scale = threads > team->threads ? (double)threads / team->threads : 1};
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double rate_at(const kerf_limit_point *point, kerf_limit_by by, kerf_cache_mode mode) {
    const double read = point->read.middle, write = point->write.middle;
    switch (by) {
    case KERF_LIMIT_BY_READ:
        return read;
    case KERF_LIMIT_BY_WRITE:
        /* Stores into the caches only fetch the lines as long as they last. */
        return mode == KERF_COLD ? larger(read, write) : write;
    default:
        return larger(larger(read, write), point->copy.middle);
    }
}

static double moved_bytes(const kerf_limited *what, kerf_limit_by by) {
    const kerf_work *const work = &what->work;
    const double written =
        what->mode == KERF_COLD ? larger(work->written_bytes - waiting_bytes * what->threads, 0) : work->written_bytes;
    switch (by) {
    case KERF_LIMIT_BY_READ:
        return work->read_bytes;
    case KERF_LIMIT_BY_WRITE:
        return written;
    default:
        return work->read_bytes + written;
    }
}

/* Hot: of more bytes than this point's, as many as the point has may lie in faster levels; the others come at its rate,
 * or that of a larger working set if that was measured as faster. Cold: all come from memory, the last point. */
static double moving_ns(const chosen_team *chosen, const kerf_limited *what, kerf_limit_by by, int at) {
    const kerf_limit_team *const team = chosen->team;
    const double near = at > 0 && what->mode == KERF_HOT ? (double)team->point[at].bytes * chosen->scale : 0;
    double rate = 0;
    for (int i = at; i < team->n_points; ++i)
        rate = larger(rate, rate_at(&team->point[i], by, what->mode));
    const double bytes = moved_bytes(what, by) - near;
    return bytes > 0 && rate > 0 ? bytes / (rate * chosen->scale) : 0;
}

/* Of the type that the element type is computed in; 0: not measured. */
static double peak_of(const kerf_limit_team *team, kerf_dtype dtype) {
    return dtype == KERF_F64 ? team->f64.middle : dtype < KERF_F64 ? team->f32.middle : 0;
}

static void note_larger(kerf_row_limit *limit, kerf_row_limit other) {
    if (other.ns > limit->ns)
        *limit = other;
}

kerf_row_limit kerf_row_limit_of(const kerf_limits *limits, const kerf_limited *what) {
    kerf_row_limit limit = {.ns = 0};
    if (limits->n_teams == 0)
        return limit;
    const chosen_team chosen = team_for(limits, what->threads);
    const kerf_limit_team *const team = chosen.team;
    for (int by = KERF_LIMIT_BY_READ; by <= KERF_LIMIT_BY_COPY; ++by)
        for (int i = what->mode == KERF_HOT ? 0 : team->n_points - 1; i < team->n_points; ++i)
            note_larger(&limit, (kerf_row_limit){.ns = moving_ns(&chosen, what, by, i),
                                                 .by = by,
                                                 .point = i,
                                                 .bytes = (size_t)((double)team->point[i].bytes * chosen.scale)});
    const double peak = peak_of(team, what->dtype) * chosen.scale;
    if (peak > 0)
        note_larger(&limit, (kerf_row_limit){.ns = what->work.flops / peak, .by = KERF_LIMIT_BY_FLOPS});
    return limit;
}
