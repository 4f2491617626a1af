/* Which configuration becomes the result of tuning. */
#include "harness/tune.h"
#include "tests/catch_shim.h"

static void only_what_is_surely_faster_is_chosen(void) {
    static const struct {
        int n, chosen;
        double time_ns[3];
        kerf_interval ratio[3];
    } cases[] = {
        /* faster, and its interval says so */
        {2, 1, {100, 80}, {{1, 1, 1}, {1.25, 1.2, 1.3}}},
        /* faster by its median, but the interval reaches below 1 */
        {2, 0, {100, 80}, {{1, 1, 1}, {1.25, 0.99, 1.4}}},
        {2, 0, {100, 120}, {{1, 1, 1}, {0.83, 0.8, 0.9}}},
        /* the fastest is not sure, the second fastest is */
        {3, 2, {100, 70, 90}, {{1, 1, 1}, {1.4, 0.9, 1.5}, {1.11, 1.05, 1.2}}},
        {3, 1, {100, 70, 90}, {{1, 1, 1}, {1.4, 1.3, 1.5}, {1.11, 1.05, 1.2}}},
        /* never slower than the default by its own median, whatever the ratio says */
        {2, 0, {100, 101}, {{1, 1, 1}, {1.02, 1.01, 1.03}}},
        /* a difference that the clock does not tell */
        {2, 0, {100, 99}, {{1, 1, 1}, {1, 1, 1.02}}},
        /* no figures: of one, of the default */
        {2, 0, {100, 0}, {{1, 1, 1}, {0, 0, 0}}},
        {2, -1, {0, 80}, {{0, 0, 0}, {0, 0, 0}}},
        {1, 0, {100}, {{1, 1, 1}}},
        {0, -1, {0}, {{0, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const int chosen = kerf_tune_choose(cases[i].time_ns, cases[i].ratio, cases[i].n);
        REQUIRE_MESSAGE(chosen == cases[i].chosen, "case %d: %d", (int)i, chosen);
    }
}

/* ---- finals and confirmation, over samples of a scripted clock ----------------------------------------------------
 */

enum { CONFIGURATIONS = 9, PROCESSES = 6, SAMPLES = 3, RUNS = 4096 };

/* A process takes up to 5 % more or less than the configuration does, a sample up to 1 %. */
static kerf_timing_figures measured(double call_ns, kerf_rng *rng) {
    static kerf_sample sample[PROCESSES * SAMPLES];
    static kerf_overhead overhead[PROCESSES];
    double memory[PROCESSES * SAMPLES];
    for (int p = 0; p < PROCESSES; ++p) {
        const double of_process = call_ns * (1 + 0.05 * (2 * kerf_rng_unit(rng) - 1));
        overhead[p] = (kerf_overhead){.sample_ns = 0, .call_ns = 0, .step_ns = 1};
        for (int i = 0; i < SAMPLES; ++i)
            sample[p * SAMPLES + i] =
                (kerf_sample){.total_ns = (uint64_t)(of_process * (1 + 0.01 * (2 * kerf_rng_unit(rng) - 1))),
                              .batch = 1,
                              .process = (uint16_t)p};
    }
    const kerf_timing_cell cell = {.sample = sample, .n_samples = PROCESSES * SAMPLES, .overhead = overhead};
    return kerf_timing_figures_of(&cell, PROCESSES, memory);
}

/* All at once, the default first. */
static int contest(const double call_ns[], int n, kerf_rng *rng) {
    double time_ns[CONFIGURATIONS];
    kerf_interval ratio[CONFIGURATIONS];
    bool resolved;
    kerf_timing_figures standard = {.n_processes = 0};
    for (int i = 0; i < n; ++i) {
        const kerf_timing_figures figures = measured(call_ns[i], rng);
        if (i == 0)
            standard = figures;
        time_ns[i] = figures.time_ns.middle;
        ratio[i] = kerf_timing_ratio(&standard, &figures, &resolved);
    }
    return kerf_tune_choose(time_ns, ratio, n);
}

typedef struct claims {
    int in_finals, confirmed;
} claims;

/* How often one is ahead of the default, and still is when both are measured once more. */
static claims count_claims(double standard_ns, double other_ns) {
    kerf_rng rng = kerf_rng_seeded(1, 1);
    double call_ns[CONFIGURATIONS];
    claims n = {0};
    for (int i = 0; i < CONFIGURATIONS; ++i)
        call_ns[i] = i ? other_ns : standard_ns;
    for (int run = 0; run < RUNS; ++run)
        if (contest(call_ns, CONFIGURATIONS, &rng) > 0) {
            ++n.in_finals;
            n.confirmed += contest(call_ns, 2, &rng) > 0;
        }
    return n;
}

/* The best of eight equals lies above the default in all six processes in one run of 14; once more in all six, one in
 * 64 of these. */
static void equals_are_not_called_faster(void) {
    const claims n = count_claims(1e6, 1e6);
    REQUIRE_MESSAGE(n.in_finals > RUNS / 20 && n.in_finals < RUNS / 8, "%d of %d", n.in_finals, RUNS);
    REQUIRE_MESSAGE(n.confirmed <= RUNS / 256, "%d of %d", n.confirmed, n.in_finals);
}

static void what_is_faster_is_confirmed(void) {
    const claims n = count_claims(1e6, 0.85e6);
    REQUIRE_MESSAGE(n.in_finals == RUNS && n.confirmed == RUNS, "%d and %d of %d", n.in_finals, n.confirmed, RUNS);
}

static void what_is_slower_never_is(void) {
    const claims n = count_claims(1e6, 1.12e6);
    REQUIRE_MESSAGE(n.in_finals == 0 && n.confirmed == 0, "%d and %d", n.in_finals, n.confirmed);
}

const kerf_test kerf_tests_unit_tune[] = {
    {"tune: only what is surely faster than the default is chosen", "[unit][tune]",
     only_what_is_surely_faster_is_chosen, __FILE__, __LINE__},
    {"tune: equals are not called faster", "[unit][tune]", equals_are_not_called_faster, __FILE__, __LINE__},
    {"tune: what is faster is confirmed", "[unit][tune]", what_is_faster_is_confirmed, __FILE__, __LINE__},
    {"tune: what is slower is never chosen", "[unit][tune]", what_is_slower_never_is, __FILE__, __LINE__},
    {0},
};
