/* Figures from samples whose times are given: everything here is exact. */
#include "harness/timing_figures.h"
#include "tests/catch_shim.h"

#include <math.h>

enum { PROCESSES = 6, SAMPLES = 5, N = PROCESSES * SAMPLES };

typedef struct timed {
    kerf_sample sample[N];
    kerf_overhead overhead[PROCESSES];
    kerf_timing_cell cell;
} timed;

/* Every sample of a process takes what its call takes, `spread_ns` more from process to process, and the overhead. */
static void make(timed *t, uint32_t batch, double call_ns, double spread_ns, double step_ns) {
    for (int p = 0; p < PROCESSES; ++p)
        t->overhead[p] = (kerf_overhead){.sample_ns = 20 + p, .call_ns = 2, .step_ns = step_ns};
    for (int i = 0; i < N; ++i) {
        const int p = i / SAMPLES;
        const double own_ns = t->overhead[p].sample_ns + 2 * (batch - 1.0);
        t->sample[i] = (kerf_sample){
            .total_ns = (uint64_t)(batch * (call_ns + p * spread_ns) + own_ns), .batch = batch, .process = (uint16_t)p};
    }
    t->cell = (kerf_timing_cell){.sample = t->sample, .n_samples = N, .overhead = t->overhead};
}

static kerf_timing_figures figures_of(const timed *t) {
    double memory[N];
    return kerf_timing_figures_of(&t->cell, PROCESSES, memory);
}

static void what_the_loop_takes_is_subtracted(void) {
    static timed t;
    make(&t, 10, 100, 4, 30);
    const kerf_timing_figures f = figures_of(&t);
    for (int p = 0; p < PROCESSES; ++p)
        REQUIRE(f.median_ns[p] == 100 + 4 * p);
    REQUIRE(f.time_ns.middle == 110 && f.time_ns.low == 100 && f.time_ns.high == 120);
    REQUIRE(f.resolution_ns == 3);
    REQUIRE(f.covered == 31.0 / 32);
}

static void intervals_are_no_narrower_than_the_resolution(void) {
    static timed t;
    make(&t, 1, 1000, 0, 30);
    const kerf_timing_figures f = figures_of(&t);
    REQUIRE(f.time_ns.middle == 1000 && f.time_ns.low == 985 && f.time_ns.high == 1015);
}

static void a_time_below_the_overhead_is_what_the_clock_tells_apart(void) {
    static timed t;
    make(&t, 10, 0, 0, 30);
    const kerf_timing_figures f = figures_of(&t);
    REQUIRE(f.time_ns.middle == 3 && f.time_ns.low == 1.5 && f.time_ns.high == 4.5);
}

static void differences_below_the_resolution_are_none(void) {
    static timed one, other;
    bool resolved = true;
    make(&one, 1, 1000, 0, 30);
    make(&other, 1, 1029, 0, 30);
    const kerf_timing_figures a = figures_of(&one), b = figures_of(&other);
    kerf_interval ratio = kerf_timing_ratio(&b, &a, &resolved);
    REQUIRE(!resolved && ratio.middle == 1 && ratio.low <= 1 && ratio.high > 1.029);
    make(&other, 1, 1030, 0, 30);
    const kerf_timing_figures c = figures_of(&other);
    ratio = kerf_timing_ratio(&c, &a, &resolved);
    REQUIRE(resolved && ratio.middle == 1.03);
    REQUIRE(fabs(ratio.low - (1.03 - 0.5 * (0.03 + 1.03 * 0.03))) < 1e-12);
}

static void ratios_are_paired_by_process(void) {
    static timed one, other;
    bool resolved = false;
    make(&one, 1, 1000, 100, 0);
    make(&other, 1, 2000, 200, 0);
    const kerf_timing_figures a = figures_of(&one), b = figures_of(&other);
    const kerf_interval ratio = kerf_timing_ratio(&b, &a, &resolved);
    REQUIRE(resolved && ratio.middle == 2 && ratio.low == 2 && ratio.high == 2);
}

static void processes_without_samples_do_not_count(void) {
    static timed t;
    make(&t, 10, 100, 4, 0);
    t.cell.n_samples = 2 * SAMPLES;
    kerf_timing_figures f = figures_of(&t);
    REQUIRE(f.median_ns[1] == 104 && isnan(f.median_ns[2]));
    REQUIRE(f.time_ns.middle == 102 && f.time_ns.low == 100 && f.time_ns.high == 104 && f.covered == 0.5);
    t.cell.n_samples = 0;
    f = figures_of(&t);
    REQUIRE(f.covered == 0 && f.time_ns.middle == 0);
}

#define TEST(name, run)                                                                                                \
    { "timing figures: " name, "[unit][timing]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_timing_figures[] = {
    TEST("what the loop takes is subtracted", what_the_loop_takes_is_subtracted),
    TEST("intervals are no narrower than the resolution", intervals_are_no_narrower_than_the_resolution),
    TEST("a time below the overhead is what the clock tells apart",
         a_time_below_the_overhead_is_what_the_clock_tells_apart),
    TEST("differences below the resolution are none", differences_below_the_resolution_are_none),
    TEST("ratios are paired by process", ratios_are_paired_by_process),
    TEST("processes without samples do not count", processes_without_samples_do_not_count),
    {0},
};
