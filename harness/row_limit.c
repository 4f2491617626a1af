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
static int team_at(const kerf_limits *limits, int threads) {
    int t = 0;
    while (t + 1 < limits->n_teams && limits->team[t].threads < threads)
        ++t;
    return t;
}

static chosen_team team_for(const kerf_limits *limits, int threads) {
    const kerf_limit_team *const team = &limits->team[team_at(limits, threads)];
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

static kerf_row_limit reason_of(const chosen_team *chosen, const kerf_limited *what, kerf_limit_by by, int at) {
    if (by == KERF_LIMIT_BY_FLOPS) {
        const double peak = peak_of(chosen->team, what->dtype) * chosen->scale;
        return (kerf_row_limit){.ns = peak > 0 ? what->work.flops / peak : 0, .by = by};
    }
    return (kerf_row_limit){.ns = moving_ns(chosen, what, by, at),
                            .by = by,
                            .point = at,
                            .bytes = (size_t)((double)chosen->team->point[at].bytes * chosen->scale)};
}

/* All reasons, one after another; false behind the last. */
typedef struct reasons {
    chosen_team chosen;
    const kerf_limited *what;
    int by, at;
} reasons;

static int first_point(const reasons *r) {
    return r->what->mode == KERF_HOT || r->by == KERF_LIMIT_BY_FLOPS ? 0 : r->chosen.team->n_points - 1;
}

static reasons begin_reasons(const kerf_limits *limits, const kerf_limited *what) {
    reasons r = {.what = what, .by = KERF_N_LIMITS_BY};
    if (limits->n_teams == 0)
        return r;
    r.chosen = team_for(limits, what->threads);
    r.by = 0;
    r.at = first_point(&r);
    return r;
}

static bool next_reason(reasons *r, kerf_row_limit *reason) {
    if (r->by == KERF_N_LIMITS_BY)
        return false;
    *reason = reason_of(&r->chosen, r->what, (kerf_limit_by)r->by, r->at);
    if (++r->at >= r->chosen.team->n_points || r->by == KERF_LIMIT_BY_FLOPS) {
        ++r->by;
        r->at = first_point(r);
    }
    return true;
}

kerf_row_limit kerf_row_limit_of(const kerf_limits *limits, const kerf_limited *what) {
    kerf_row_limit largest = {.ns = 0}, reason;
    for (reasons r = begin_reasons(limits, what); next_reason(&r, &reason);)
        if (reason.ns > largest.ns)
            largest = reason;
    return largest;
}

kerf_row_limit kerf_row_limit_against(const kerf_limits *limits, const kerf_limited *what, double ns) {
    const double enough_room = 2;
    kerf_row_limit found = kerf_row_limit_of(limits, what), reason;
    if (!(found.ns > KERF_IMPLAUSIBLE_SHARE * ns))
        return (kerf_row_limit){.ns = 0};
    for (reasons r = begin_reasons(limits, what); next_reason(&r, &reason);)
        if (reason.ns > enough_room * KERF_IMPLAUSIBLE_SHARE * ns && reason.bytes < found.bytes)
            found = reason;
    return found;
}

/* ---- measuring a reason again */

int kerf_row_limit_loops(const kerf_row_limit *reason, const kerf_limited *what,
                         kerf_limit_kind kinds[KERF_ROW_LIMIT_LOOPS], size_t *bytes) {
    static const kerf_limit_kind all[] = {KERF_LIMIT_READ, KERF_LIMIT_WRITE, KERF_LIMIT_WRITE_STREAMED, KERF_LIMIT_COPY,
                                          KERF_LIMIT_COPY_STREAMED};
    const size_t unit = 2048 * (size_t)what->threads, most_cold = (size_t)64 << 20;
    const double moved = moved_bytes(what, reason->by);
    *bytes = reason->bytes;
    if (reason->by == KERF_LIMIT_BY_FLOPS) {
        kinds[0] = what->dtype == KERF_F64 ? KERF_LIMIT_F64 : KERF_LIMIT_F32;
        return 1;
    }
    if (what->mode == KERF_COLD) /* as much as the row moves: that is what lay in memory only */
        *bytes = moved < (double)most_cold ? ((size_t)moved / unit + 1) * unit : most_cold;
    const int first = reason->by == KERF_LIMIT_BY_WRITE && what->mode == KERF_HOT ? 1 : 0;
    const int end = reason->by == KERF_LIMIT_BY_READ ? 1 : reason->by == KERF_LIMIT_BY_WRITE ? 3 : 5;
    for (int i = first; i < end; ++i)
        kinds[i - first] = all[i];
    return end - first;
}

static kerf_interval *figure_of(kerf_limit_team *team, const kerf_row_limit *reason, kerf_limit_kind kind) {
    kerf_limit_point *const point = &team->point[reason->point];
    switch (kind) {
    case KERF_LIMIT_READ:
        return &point->read;
    case KERF_LIMIT_WRITE:
    case KERF_LIMIT_WRITE_STREAMED:
        return &point->write;
    case KERF_LIMIT_F32:
        return &team->f32;
    case KERF_LIMIT_F64:
        return &team->f64;
    default:
        return &point->copy;
    }
}

bool kerf_row_limit_raise(kerf_limits *limits, const kerf_limited *what, const kerf_row_limit *reason,
                          kerf_limit_kind kind, double rate) {
    kerf_limit_team *const team = &limits->team[team_at(limits, what->threads)];
    kerf_interval *const figure = figure_of(team, reason, kind);
    const double of_team = rate / team_for(limits, what->threads).scale;
    if (!(of_team > figure->middle))
        return false;
    figure->middle = of_team;
    figure->high = larger(figure->high, of_team);
    return true;
}

kerf_row_limit kerf_row_limit_again(const kerf_limits *limits, const kerf_limited *what, const kerf_row_limit *reason) {
    const chosen_team chosen = team_for(limits, what->threads);
    return reason_of(&chosen, what, reason->by, reason->point);
}
