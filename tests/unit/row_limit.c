/* The limit of a row by scripted limits of a machine. */
#include "harness/row_limit.h"
#include "harness/timing_limits.h"

#include "tests/catch_shim.h"
#include <math.h>
#include <string.h>

#define KIB 1024.0

static kerf_interval exactly(double rate) {
    return (kerf_interval){.middle = rate, .low = rate, .high = rate};
}

/* Per thread a level of 64 bytes per nanosecond up to 32 KiB, and memory with 8: stores run at half the rate, copies at
 * three quarters. */
static kerf_limits two_levels(void) {
    kerf_limits limits = {.n_teams = 2, .n_rounds = 6, .covered = 0.96875};
    for (int t = 0; t < 2; ++t) {
        kerf_limit_team *const team = &limits.team[t];
        const int n = t + 1;
        *team = (kerf_limit_team){.threads = n, .n_points = 6, .f32 = exactly(100 * n), .f64 = exactly(50 * n)};
        for (int i = 0; i < team->n_points; ++i) {
            const size_t bytes = (size_t)(16 << 10) << i;
            const double rate = n * (bytes <= (size_t)n * 32 << 10 ? 64.0 : 8.0);
            team->point[i] = (kerf_limit_point){bytes, exactly(rate), exactly(rate / 2), exactly(rate * 0.75)};
        }
    }
    return limits;
}

static void check(const char *what, kerf_limited limited, double ns, kerf_limit_by by, double bytes) {
    const kerf_limits limits = two_levels();
    if (limited.threads == 0)
        limited.threads = 1;
    const kerf_row_limit limit = kerf_row_limit_of(&limits, &limited);
    REQUIRE_MESSAGE(fabs(limit.ns - ns) <= 1e-9 * ns, "%s: %g ns, not %g", what, limit.ns, ns);
    REQUIRE_MESSAGE(limit.by == by && (double)limit.bytes == bytes, "%s: by %s of %zu", what,
                    kerf_limit_by_name(limit.by), limit.bytes);
}

#define WORK(...)                                                                                                      \
    (kerf_limited) {                                                                                                   \
        .dtype = KERF_F32, .work = { __VA_ARGS__ }                                                                     \
    }

static void each_resource_can_limit(void) {
    check("nothing to do", WORK(0), 0, KERF_LIMIT_BY_READ, 0);
    check("flops", WORK(.flops = 1e6, .read_bytes = 64), 1e4, KERF_LIMIT_BY_FLOPS, 0);
    check("read", WORK(.read_bytes = 16 * KIB), 16 * KIB / 64, KERF_LIMIT_BY_READ, 16 * KIB);
    check("write", WORK(.read_bytes = 1 * KIB, .written_bytes = 16 * KIB), 16 * KIB / 32, KERF_LIMIT_BY_WRITE,
          16 * KIB);
    /* Reads alone take 32 KiB / 64, stores alone 8 KiB / 32; together 40 KiB / 64. */
    check("all", WORK(.read_bytes = 32 * KIB, .written_bytes = 8 * KIB), 40 * KIB / 64, KERF_LIMIT_BY_COPY, 16 * KIB);
}

static void precision_and_threads_count(void) {
    kerf_limited what = WORK(.flops = 1e6);
    what.dtype = KERF_F64;
    check("f64", what, 2e4, KERF_LIMIT_BY_FLOPS, 0);
    what.dtype = KERF_F16;
    check("f16", what, 1e4, KERF_LIMIT_BY_FLOPS, 0);
    what.threads = 2;
    check("two threads", what, 5e3, KERF_LIMIT_BY_FLOPS, 0);
    what.threads = 8;
    check("more than were measured", what, 1e6 / 800, KERF_LIMIT_BY_FLOPS, 0);
    what = WORK(.read_bytes = 1024 * KIB);
    what.threads = 8;
    /* 8 threads keep 4 x as much near as the two that were measured. */
    check("their bytes", what, 512 * KIB / 64, KERF_LIMIT_BY_READ, 512 * KIB);
}

/* What fits into the faster level may stay there: only the rest comes from memory. */
static void hot_bytes_lie_in_levels(void) {
    check("in the first level", WORK(.read_bytes = 32 * KIB), 32 * KIB / 64, KERF_LIMIT_BY_READ, 16 * KIB);
    check("just beyond", WORK(.read_bytes = 40 * KIB), 40 * KIB / 64, KERF_LIMIT_BY_READ, 16 * KIB);
    check("far beyond", WORK(.read_bytes = 512 * KIB), (512 - 64) * KIB / 8, KERF_LIMIT_BY_READ, 64 * KIB);
    kerf_limited what = WORK(.read_bytes = 512 * KIB);
    what.threads = 2;
    check("two first levels", what, (512 - 128) * KIB / 16, KERF_LIMIT_BY_READ, 128 * KIB);
}

static void cold_bytes_lie_in_memory(void) {
    kerf_limited what = WORK(.read_bytes = 16 * KIB);
    what.mode = KERF_COLD;
    check("read", what, 16 * KIB / 8, KERF_LIMIT_BY_READ, 512 * KIB);
    /* Stores only fetch lines, at the rate of reading, and 8 KiB may still wait when the clock is read. */
    what.work = (kerf_work){.written_bytes = 16 * KIB};
    check("write", what, 8 * KIB / 8, KERF_LIMIT_BY_WRITE, 512 * KIB);
    what.work = (kerf_work){.written_bytes = 8 * KIB};
    check("few stores", what, 0, KERF_LIMIT_BY_READ, 0);
    what.work = (kerf_work){.flops = 1e6, .read_bytes = 64};
    check("flops", what, 1e4, KERF_LIMIT_BY_FLOPS, 0);
}

/* A disturbed point does not make a limit where a larger working set was faster. */
static void a_slow_point_accuses_nobody(void) {
    kerf_limits limits = two_levels();
    limits.team[0].point[2].read = exactly(0.001);
    const kerf_limited what = {.work = {.read_bytes = 512 * KIB}, .dtype = KERF_F32, .threads = 1};
    CHECK(kerf_row_limit_of(&limits, &what).ns == (512 - 64) * KIB / 8);
    limits.n_teams = 0;
    CHECK(kerf_row_limit_of(&limits, &what).ns == 0);
}

/* ---- who is too fast */

static void beyond_1_15_is_implausible(void) {
    const kerf_limits limits = two_levels();
    const kerf_limited what = {.work = {.flops = 1e6}, .dtype = KERF_F32, .threads = 1}; /* 1e4 ns */
    CHECK(kerf_row_limit_against(&limits, &what, 1e4).ns == 0);
    CHECK(kerf_row_limit_against(&limits, &what, 1e4 / 1.149).ns == 0);
    CHECK(kerf_row_limit_against(&limits, &what, 1e4 / 1.151).ns == 1e4);
    const kerf_limited nothing = {.dtype = KERF_F32, .threads = 1};
    CHECK(kerf_row_limit_against(&limits, &nothing, 1).ns == 0);
}

/* 512 KiB take 0.875 of that from memory; at the rate of the first level they take 8 KiB / 1 ns. */
static void the_quickest_reason_with_room_is_taken(void) {
    const kerf_limits limits = two_levels();
    const kerf_limited what = {.work = {.read_bytes = 512 * KIB}, .dtype = KERF_F32, .threads = 1};
    const double near_ns = 512 * KIB / 64, far_ns = (512 - 64) * KIB / 8;
    kerf_row_limit reason = kerf_row_limit_against(&limits, &what, far_ns / 1.2);
    REQUIRE_MESSAGE(reason.ns == far_ns && reason.point == 2, "%g at %d", reason.ns, reason.point);
    reason = kerf_row_limit_against(&limits, &what, near_ns / 10);
    REQUIRE_MESSAGE(reason.ns == near_ns && reason.point == 0, "%g at %d", reason.ns, reason.point);
}

static void what_is_measured_again_raises_the_limit(void) {
    kerf_limits limits = two_levels();
    const kerf_limited what = {.work = {.read_bytes = 512 * KIB}, .dtype = KERF_F32, .threads = 1};
    const double far_ns = (512 - 64) * KIB / 8;
    const kerf_row_limit reason = kerf_row_limit_against(&limits, &what, far_ns / 1.2);
    CHECK(!kerf_row_limit_raise(&limits, &what, &reason, KERF_LIMIT_READ, 7.9));
    CHECK(kerf_row_limit_again(&limits, &what, &reason).ns == far_ns);
    CHECK(kerf_row_limit_raise(&limits, &what, &reason, KERF_LIMIT_READ, 16));
    CHECK(kerf_row_limit_again(&limits, &what, &reason).ns == far_ns / 2);
    const kerf_interval kept = limits.team[0].point[2].read;
    CHECK((kept.middle == 16 && kept.low == 8 && kept.high == 16));
    /* The next working set says the same with less room, until it is measured too. */
    CHECK(kerf_row_limit_of(&limits, &what).point == 3);
}

/* What eight threads reach is kept for the two that were measured. */
static void a_larger_team_raises_in_proportion(void) {
    kerf_limits limits = two_levels();
    const kerf_limited what = {.work = {.flops = 1e6}, .dtype = KERF_F64, .threads = 8};
    const kerf_row_limit reason = kerf_row_limit_of(&limits, &what);
    CHECK(!kerf_row_limit_raise(&limits, &what, &reason, KERF_LIMIT_F64, 400));
    CHECK(kerf_row_limit_raise(&limits, &what, &reason, KERF_LIMIT_F64, 600));
    CHECK(limits.team[1].f64.middle == 150);
    CHECK(kerf_row_limit_again(&limits, &what, &reason).ns == 1e6 / 600);
}

static void loops_fit_the_reason(void) {
    kerf_limited what = {.work = {.read_bytes = 512 * KIB, .written_bytes = 1}, .dtype = KERF_F32, .threads = 2};
    kerf_limit_kind kinds[KERF_ROW_LIMIT_LOOPS];
    size_t bytes;
    kerf_row_limit reason = {.ns = 1, .by = KERF_LIMIT_BY_READ, .point = 2, .bytes = 64 << 10};
    CHECK((kerf_row_limit_loops(&reason, &what, kinds, &bytes) == 1 && kinds[0] == KERF_LIMIT_READ));
    CHECK(bytes == 64 << 10);
    reason.by = KERF_LIMIT_BY_WRITE;
    CHECK((kerf_row_limit_loops(&reason, &what, kinds, &bytes) == 2 && kinds[0] == KERF_LIMIT_WRITE));
    reason.by = KERF_LIMIT_BY_COPY;
    CHECK(kerf_row_limit_loops(&reason, &what, kinds, &bytes) == 5);
    reason = (kerf_row_limit){.ns = 1, .by = KERF_LIMIT_BY_FLOPS};
    CHECK((kerf_row_limit_loops(&reason, &what, kinds, &bytes) == 1 && kinds[0] == KERF_LIMIT_F32 && bytes == 0));
    /* Cold: as much as the row moves, in whole blocks, and at most 64 MiB. */
    what.mode = KERF_COLD;
    reason = (kerf_row_limit){.ns = 1, .by = KERF_LIMIT_BY_READ, .point = 5, .bytes = 512 << 10};
    kerf_row_limit_loops(&reason, &what, kinds, &bytes);
    REQUIRE_MESSAGE(bytes == (512 + 4) << 10, "%zu", bytes);
    what.work.read_bytes = 1e18;
    kerf_row_limit_loops(&reason, &what, kinds, &bytes);
    CHECK(bytes == 64 << 20);
    reason.by = KERF_LIMIT_BY_WRITE;
    CHECK((kerf_row_limit_loops(&reason, &what, kinds, &bytes) == 3 && kinds[0] == KERF_LIMIT_READ));
}

/* The closing round adds a sample to a loop that has as many as there are. */
static void a_loop_tells_all_its_samples(void) {
    static kerf_timing_loop loop;
    const kerf_requested_limit wanted = {.id = 7};
    char line[64] = "";
    loop = (kerf_timing_loop){.wanted = &wanted, .amount = 1000, .sampler = {.n_samples = KERF_SAMPLER_MAX + 1}};
    for (int i = 0; i <= KERF_SAMPLER_MAX; ++i)
        loop.sampler.sample[i] = (kerf_sample){.total_ns = i <= KERF_SAMPLER_MAX / 2 ? 10 : 20, .batch = 2};
    FILE *const answer = tmpfile();
    REQUIRE(answer != NULL);
    kerf_timing_loops_tell(&loop, 1, answer);
    rewind(answer);
    REQUIRE(fgets(line, sizeof line, answer) != NULL && fclose(answer) == 0);
    int id;
    double rate;
    REQUIRE(sscanf(line, "rate %d %lf", &id, &rate) == 2 && id == 7 && rate == 200);
}

const kerf_test kerf_tests_unit_row_limit[] = {
    {"row_limit: beyond 1.15 is implausible", "[unit][limits]", beyond_1_15_is_implausible, __FILE__, __LINE__},
    {"row_limit: the quickest reason with room is taken", "[unit][limits]", the_quickest_reason_with_room_is_taken,
     __FILE__, __LINE__},
    {"row_limit: what is measured again raises the limit", "[unit][limits]", what_is_measured_again_raises_the_limit,
     __FILE__, __LINE__},
    {"row_limit: a larger team raises in proportion", "[unit][limits]", a_larger_team_raises_in_proportion, __FILE__,
     __LINE__},
    {"row_limit: loops fit the reason", "[unit][limits]", loops_fit_the_reason, __FILE__, __LINE__},
    {"row_limit: each resource can be the limit", "[unit][limits]", each_resource_can_limit, __FILE__, __LINE__},
    {"row_limit: precision and threads count", "[unit][limits]", precision_and_threads_count, __FILE__, __LINE__},
    {"row_limit: hot bytes lie in levels", "[unit][limits]", hot_bytes_lie_in_levels, __FILE__, __LINE__},
    {"row_limit: cold bytes lie in memory", "[unit][limits]", cold_bytes_lie_in_memory, __FILE__, __LINE__},
    {"row_limit: a slow point accuses nobody", "[unit][limits]", a_slow_point_accuses_nobody, __FILE__, __LINE__},
    {"limit: a loop tells all its samples", "[limits]", a_loop_tells_all_its_samples, __FILE__, __LINE__},
    {0},
};
