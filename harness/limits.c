#include "harness/limits.h"

#include "base/rng.h"

#include <stdlib.h>

/* A call lasts some hundred microseconds where the working set is small, so that starting the threads is below a
 * hundredth of it. */
#define LEAST_BYTES_PER_CALL ((size_t)16 << 20)
#define STEPS_PER_CALL       65536u
/* Stores around the caches are slower where the caches hold the data. */
#define LEAST_STREAMED_BYTES ((size_t)1 << 20)

/* A level ends where the rate stays below this part of its first point ... */
static const double level_ends = 0.75;
/* ... and the next one begins where a doubling no longer costs this much. */
static const double slope_ends = 0.85;

typedef struct cell {
    kerf_limit_kind kind;
    int team, point;
    size_t bytes;
    int threads;
    uint32_t passes;
    double rate[KERF_LIMIT_ROUNDS];
    int n_rates;
} cell;

int kerf_limit_teams_for(int threads, kerf_limit_teams which, int teams[KERF_LIMIT_TEAMS]) {
    int n = 0;
    for (int size = 1; size < threads && n < KERF_LIMIT_TEAMS - 1; size *= 2)
        if (size == 1 || which == KERF_LIMIT_DOUBLING)
            teams[n++] = size;
    teams[n++] = threads;
    return n;
}

const char *kerf_limit_kind_name(kerf_limit_kind kind) {
    static const char *const names[KERF_N_LIMIT_KINDS] = {"read",          "write", "copy", "write_streamed",
                                                          "copy_streamed", "f32",   "f64"};
    return names[kind];
}

uint32_t kerf_limit_passes(kerf_limit_kind kind, size_t bytes, int threads) {
    if (kind == KERF_LIMIT_F32 || kind == KERF_LIMIT_F64)
        return STEPS_PER_CALL;
    const size_t wanted = LEAST_BYTES_PER_CALL * (size_t)threads;
    return bytes >= wanted ? 1 : (uint32_t)(wanted / bytes);
}

static bool is_left_out(kerf_limit_kind kind, size_t bytes) {
    const bool streamed = kind == KERF_LIMIT_WRITE_STREAMED || kind == KERF_LIMIT_COPY_STREAMED;
    return streamed && bytes < LEAST_STREAMED_BYTES;
}

static void add_cell(cell *cells, int *n, kerf_limit_kind kind, int team, int point, const kerf_limit_team *of) {
    const size_t bytes = point < 0 ? 0 : of->point[point].bytes;
    cells[(*n)++] = (cell){.kind = kind,
                           .team = team,
                           .point = point,
                           .bytes = bytes,
                           .threads = of->threads,
                           .passes = kerf_limit_passes(kind, bytes, of->threads)};
}

/* One cell for each figure, and the sizes in `limits`. */
static int lay_out(const kerf_limit_plan *plan, cell *cells, kerf_limits *limits) {
    int n = 0;
    limits->n_teams = plan->n_teams;
    for (int t = 0; t < plan->n_teams; ++t) {
        kerf_limit_team *const team = &limits->team[t];
        *team = (kerf_limit_team){.threads = plan->threads[t]};
        for (size_t bytes = plan->least_bytes; bytes <= plan->most_bytes && team->n_points < KERF_LIMIT_SIZES;
             bytes *= 2) {
            const int point = team->n_points++;
            team->point[point].bytes = bytes;
            for (int kind = KERF_LIMIT_READ; kind <= KERF_LIMIT_COPY_STREAMED; ++kind)
                if (!is_left_out(kind, bytes))
                    add_cell(cells, &n, kind, t, point, team);
        }
        add_cell(cells, &n, KERF_LIMIT_F32, t, -1, team);
        add_cell(cells, &n, KERF_LIMIT_F64, t, -1, team);
    }
    return n;
}

static void shuffle(cell **order, int n, kerf_rng *rng) {
    for (int i = n - 1; i > 0; --i) {
        const int j = (int)kerf_rng_below(rng, (uint64_t)i + 1);
        cell *const other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

/* One pass before it leaves in the caches what a pass leaves there; a tenth of a call wakes the units up. */
static void take_rate(cell *one, const kerf_limit_device *device, const kerf_clock *clock) {
    device->run(device->state, one->kind, one->bytes, one->threads, (one->passes + 9) / 10);
    const uint64_t begin = clock->now_ns(clock->state);
    const double amount = device->run(device->state, one->kind, one->bytes, one->threads, one->passes);
    const uint64_t elapsed_ns = kerf_clock_elapsed_ns(begin, clock->now_ns(clock->state));
    if (elapsed_ns > 0)
        one->rate[one->n_rates++] = amount / (double)elapsed_ns;
}

static kerf_status run_rounds(const kerf_limit_plan *plan, const kerf_limit_device *device, const kerf_clock *clock,
                              uint64_t seed, const volatile sig_atomic_t *interrupted, cell **order, int n,
                              int *n_rounds, kerf_error *error) {
    kerf_rng rng = kerf_rng_seeded(seed, 0);
    const uint64_t begin = clock->now_ns(clock->state);
    const int most = plan->max_rounds < KERF_LIMIT_ROUNDS ? plan->max_rounds : KERF_LIMIT_ROUNDS;
    for (*n_rounds = 0; *n_rounds < most; ++*n_rounds) {
        const uint64_t spent_ns = kerf_clock_elapsed_ns(begin, clock->now_ns(clock->state));
        const uint64_t round_ns = *n_rounds > 0 ? spent_ns / (uint64_t)*n_rounds : 0;
        if (*n_rounds >= plan->min_rounds && spent_ns + round_ns >= plan->budget_ns)
            break;
        shuffle(order, n, &rng);
        for (int i = 0; i < n; ++i) {
            if (interrupted && *interrupted)
                return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted while the limits were measured");
            take_rate(order[i], device, clock);
        }
    }
    return KERF_OK;
}

static void note_better(kerf_interval *figure, kerf_interval other) {
    if (other.middle > figure->middle)
        *figure = other;
}

static void note(const cell *one, kerf_interval interval, kerf_limits *limits) {
    kerf_limit_team *const team = &limits->team[one->team];
    switch (one->kind) {
    case KERF_LIMIT_READ:
        team->point[one->point].read = interval;
        break;
    case KERF_LIMIT_WRITE:
    case KERF_LIMIT_WRITE_STREAMED:
        note_better(&team->point[one->point].write, interval);
        break;
    case KERF_LIMIT_COPY:
    case KERF_LIMIT_COPY_STREAMED:
        note_better(&team->point[one->point].copy, interval);
        break;
    case KERF_LIMIT_F32:
        team->f32 = interval;
        break;
    default:
        team->f64 = interval;
    }
}

static kerf_status summarize(cell *cells, int n, kerf_limits *limits, kerf_error *error) {
    limits->covered = 1;
    for (int i = 0; i < n; ++i) {
        double covered;
        if (cells[i].n_rates == 0)
            return kerf_fail(error, KERF_ERROR_DEVICE, "the clock does not advance; no limit can be measured");
        note(&cells[i], kerf_median_interval(cells[i].rate, cells[i].n_rates, 0.95, &covered), limits);
        limits->covered = covered < limits->covered ? covered : limits->covered;
    }
    return KERF_OK;
}

kerf_status kerf_limits_measure(const kerf_limit_plan *plan, const kerf_limit_device *device, const kerf_clock *clock,
                                uint64_t seed, const volatile sig_atomic_t *interrupted, kerf_limits *limits,
                                kerf_error *error) {
    *limits = (kerf_limits){0};
    const size_t most = (size_t)KERF_LIMIT_TEAMS * (5 * KERF_LIMIT_SIZES + 2);
    cell *const cells = calloc(most, sizeof *cells);
    cell **const order = calloc(most, sizeof *order);
    kerf_status status = cells && order ? KERF_OK : kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the limits");
    if (status == KERF_OK) {
        const int n = lay_out(plan, cells, limits);
        for (int i = 0; i < n; ++i)
            order[i] = &cells[i];
        status = run_rounds(plan, device, clock, seed, interrupted, order, n, &limits->n_rounds, error);
        if (status == KERF_OK)
            status = summarize(cells, n, limits, error);
    }
    free(order);
    free(cells);
    return status;
}

/* More data is never faster to stream, so a point below a later one is a disturbance: curves are read through the
 * largest rate at or behind each point. */
static void falling(const double *rate, int n, double *envelope) {
    for (int i = n - 1; i >= 0; --i)
        envelope[i] = i + 1 < n && envelope[i + 1] > rate[i] ? envelope[i + 1] : rate[i];
}

static int find_levels(const double *rate, int n, kerf_limit_level level[KERF_LIMIT_KNEES + 1]) {
    double envelope[KERF_LIMIT_SIZES];
    falling(rate, n, envelope);
    int n_levels = 0;
    for (int first = 0; first < n && n_levels <= KERF_LIMIT_KNEES;) {
        int last = first;
        while (last + 1 < n && envelope[last + 1] >= level_ends * envelope[first])
            ++last;
        level[n_levels++] = (kerf_limit_level){.first = first, .last = last};
        first = last + 1;
        while (first + 1 < n && envelope[first + 1] < slope_ends * envelope[first])
            ++first;
    }
    return n_levels;
}

int kerf_limit_knees(const double *rate, int n, int knee[KERF_LIMIT_KNEES]) {
    kerf_limit_level level[KERF_LIMIT_KNEES + 1];
    const int n_levels = n > KERF_LIMIT_SIZES ? 0 : find_levels(rate, n, level);
    for (int i = 0; i + 1 < n_levels; ++i)
        knee[i] = level[i].last;
    return n_levels > 0 ? n_levels - 1 : 0;
}

int kerf_limit_levels(const kerf_limit_team *team, kerf_limit_level level[KERF_LIMIT_KNEES + 1]) {
    double rate[KERF_LIMIT_SIZES];
    for (int i = 0; i < team->n_points; ++i)
        rate[i] = team->point[i].read.middle;
    return find_levels(rate, team->n_points, level);
}
