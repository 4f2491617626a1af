/* Limits on a scripted machine: time passes only while its device runs, and every figure is exact. */
#include "harness/limits.h"

#include "base/cpu.h"
#include "harness/doctor.h"
#include "harness/limit_loops.h"
#include "tests/catch_shim.h"
#include <string.h>

/* Levels of 64 KiB and 1 MiB: 64, 16 and 4 bytes per nanosecond, of which each thread has its own. */
typedef struct machine {
    uint64_t now_ns;
    int n_calls;
    int slow_call; /* from this call on everything takes twice as long; 0: never */
    int stop_call; /* sets `stopped` */
    volatile sig_atomic_t stopped;
    bool still;
} machine;

static uint64_t now_of(void *state) {
    return ((const machine *)state)->now_ns;
}

static double rate_of(kerf_limit_kind kind, size_t bytes) {
    const double level = bytes <= 64 << 10 ? 64 : bytes <= 1 << 20 ? 16 : 4;
    switch (kind) {
    case KERF_LIMIT_WRITE:
        return level / 2;
    case KERF_LIMIT_WRITE_STREAMED: /* worth it beyond the caches only */
        return bytes > 1 << 20 ? 4 : 1;
    case KERF_LIMIT_COPY_STREAMED:
        return 1;
    case KERF_LIMIT_F32:
        return 128;
    case KERF_LIMIT_F64:
        return 64;
    default:
        return level;
    }
}

static double run(void *state, kerf_limit_kind kind, size_t bytes, int threads, uint32_t passes) {
    machine *const m = state;
    ++m->n_calls;
    m->stopped = m->stopped || m->n_calls == m->stop_call;
    const bool computes = kind == KERF_LIMIT_F32 || kind == KERF_LIMIT_F64;
    const double amount = computes ? 1024.0 * threads * passes : (double)bytes * passes;
    const double slow = m->slow_call && m->n_calls >= m->slow_call ? 2 : 1;
    if (!m->still)
        m->now_ns += (uint64_t)(slow * amount / (rate_of(kind, bytes) * threads));
    return amount;
}

static kerf_limit_plan plan_of(int rounds) {
    return (kerf_limit_plan){.least_bytes = 16 << 10,
                             .most_bytes = 8 << 20,
                             .threads = {1, 2},
                             .n_teams = 2,
                             .min_rounds = rounds,
                             .max_rounds = rounds,
                             .budget_ns = 1};
}

static kerf_status measure(machine *m, const kerf_limit_plan *plan, kerf_limits *limits, kerf_error *error) {
    const kerf_limit_device device = {.state = m, .run = run};
    const kerf_clock clock = {.now_ns = now_of, .state = m, .resolution_ns = 1};
    return kerf_limits_measure(plan, &device, &clock, 1, &m->stopped, limits, error);
}

static bool is_exactly(kerf_interval interval, double rate) {
    return interval.middle == rate && interval.low == rate && interval.high == rate;
}

static void rates_are_exact(void) {
    machine m = {.now_ns = 5};
    static kerf_limits limits;
    kerf_error error;
    const kerf_limit_plan plan = plan_of(6);
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_OK);
    REQUIRE(limits.n_teams == 2 && limits.n_rounds == 6 && limits.covered == 1 - 2.0 / 64);
    for (int t = 0; t < 2; ++t) {
        const kerf_limit_team *const team = &limits.team[t];
        const int n = team->threads;
        REQUIRE(n == t + 1 && team->n_points == 10);
        REQUIRE(is_exactly(team->f32, 128 * n) && is_exactly(team->f64, 64 * n));
        for (int i = 0; i < team->n_points; ++i) {
            const kerf_limit_point *const point = &team->point[i];
            const double level = rate_of(KERF_LIMIT_READ, point->bytes) * n;
            REQUIRE(point->bytes == (size_t)(16 << 10) << i);
            REQUIRE(is_exactly(point->read, level) && is_exactly(point->copy, level));
            /* The better of the two ways to store. */
            REQUIRE(is_exactly(point->write, point->bytes > 1 << 20 ? 4 * n : level / 2));
        }
        kerf_limit_level level[KERF_LIMIT_KNEES + 1];
        REQUIRE(kerf_limit_levels(team, level) == 3);
        REQUIRE(team->point[level[0].last].bytes == 64 << 10 && team->point[level[1].last].bytes == 1 << 20);
        REQUIRE(level[2].first == 7 && level[2].last == 9);
    }
}

/* Twice as slow from the middle of the measurement on: the intervals hold both. */
static void drift_is_in_the_interval(void) {
    machine steady = {.now_ns = 5}, m = {.now_ns = 5};
    static kerf_limits limits;
    kerf_error error;
    const kerf_limit_plan plan = plan_of(6);
    REQUIRE(measure(&steady, &plan, &limits, &error) == KERF_OK);
    m.slow_call = steady.n_calls / 2 + 1;
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_OK);
    const kerf_interval f32 = limits.team[0].f32, read = limits.team[1].point[9].read;
    REQUIRE(f32.low == 64 && f32.middle == 96 && f32.high == 128);
    REQUIRE(read.low == 4 && read.middle == 6 && read.high == 8);
}

static void the_budget_ends_the_rounds(void) {
    machine m = {.now_ns = 5};
    static kerf_limits limits;
    kerf_error error;
    kerf_limit_plan plan = plan_of(3);
    plan.max_rounds = 1000;
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_OK);
    REQUIRE(limits.n_rounds == 3);
    /* Time enough for less than the sixth round. */
    const uint64_t round_ns = (m.now_ns - 5) / 3;
    plan.budget_ns = 6 * round_ns - 1;
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_OK);
    REQUIRE(limits.n_rounds == 5);
    plan.budget_ns = UINT64_MAX;
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_OK);
    REQUIRE(limits.n_rounds == KERF_LIMIT_ROUNDS);
}

static void a_clock_that_stands_still_is_told(void) {
    machine m = {.still = true};
    static kerf_limits limits;
    kerf_error error = {""};
    const kerf_limit_plan plan = plan_of(3);
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_ERROR_DEVICE);
    REQUIRE(strstr(error.message, "clock") != NULL);
}

static void an_interrupt_ends_it(void) {
    machine m = {.now_ns = 5, .stop_call = 40};
    static kerf_limits limits;
    kerf_error error;
    const kerf_limit_plan plan = plan_of(3);
    REQUIRE(measure(&m, &plan, &limits, &error) == KERF_ERROR_INTERRUPTED);
    REQUIRE(m.n_calls == 40);
}

static void teams_reach_from_one_to_all(void) {
    int team[KERF_LIMIT_TEAMS];
    REQUIRE(kerf_limit_teams_for(1, KERF_LIMIT_DOUBLING, team) == 1 && team[0] == 1);
    REQUIRE(kerf_limit_teams_for(6, KERF_LIMIT_DOUBLING, team) == 4);
    REQUIRE(team[0] == 1 && team[1] == 2 && team[2] == 4 && team[3] == 6);
    REQUIRE(kerf_limit_teams_for(8, KERF_LIMIT_ENDS, team) == 2 && team[0] == 1 && team[1] == 8);
    const int n = kerf_limit_teams_for(100000, KERF_LIMIT_DOUBLING, team);
    REQUIRE(n == KERF_LIMIT_TEAMS && team[n - 1] == 100000);
}

static void check_knees(const char *what, const double *rate, int n, int n_wanted, const int *wanted) {
    int knee[KERF_LIMIT_KNEES];
    const int n_knees = kerf_limit_knees(rate, n, knee);
    REQUIRE_MESSAGE(n_knees == n_wanted, "%s: %d knees", what, n_knees);
    for (int i = 0; i < n_wanted; ++i)
        REQUIRE_MESSAGE(knee[i] == wanted[i], "%s: knee %d at %d", what, i, knee[i]);
}

#define KNEES(what, rates, ...)                                                                                        \
    check_knees(what, rates, (int)(sizeof rates / sizeof rates[0]),                                                    \
                (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[]){__VA_ARGS__})

static void knees_are_found(void) {
    const double steps[] = {100, 100, 100, 40, 40, 40, 20, 20, 20, 10, 10};
    const double flat[] = {50, 51, 49, 50, 52, 50};
    const double noisy[] = {95, 104, 98, 43, 38, 41, 21, 19, 20, 9, 10.5};
    const double hole[] = {100, 100, 30, 100, 100, 40, 40, 12, 40, 40};
    const double slow_start[] = {60, 90, 100, 100, 40, 40, 40};
    const double slope[] = {100, 100, 70, 50, 35, 25, 25, 25};
    const double last[] = {100, 100, 100, 30};
    const double one[] = {100};
    KNEES("steps", steps, 2, 5, 8);
    check_knees("flat", flat, 6, 0, NULL);
    KNEES("noise of 5 %", noisy, 2, 5, 8);
    KNEES("a disturbed point within a level", hole, 4);
    KNEES("small sizes that start slowly", slow_start, 3);
    KNEES("a slope is no level", slope, 1);
    KNEES("the last point alone", last, 2);
    check_knees("one point", one, 1, 0, NULL);
    check_knees("none", NULL, 0, 0, NULL);
}

static void more_levels_than_there_is_room_for(void) {
    double rate[KERF_LIMIT_SIZES];
    int knee[KERF_LIMIT_KNEES];
    for (int i = 0; i < KERF_LIMIT_SIZES; ++i)
        rate[i] = i % 2 ? rate[i - 1] : 1e9 / (1 << i);
    REQUIRE(kerf_limit_knees(rate, KERF_LIMIT_SIZES, knee) == KERF_LIMIT_KNEES);
}

/* ---- one kernel against itself */

/* A process in which the second arm takes so many times as long: luck with addresses. */
typedef struct scripted_arm {
    machine *m;
    int times;
} scripted_arm;

static double run_arm(void *state, kerf_limit_kind kind, size_t bytes, int threads, uint32_t passes) {
    const scripted_arm *const one = state;
    return run(one->m, kind, bytes, threads, passes * (uint32_t)one->times);
}

typedef struct processes {
    const int (*times)[2]; /* of the two arms, per process; {0, 0}: the process fails */
    bool still;
    int n_run;
} processes;

static kerf_status run_process(void *arg, const kerf_doctor_pair *pair, int process, double *ratio, kerf_error *error) {
    processes *const p = arg;
    machine m = {.now_ns = 5, .still = p->still};
    scripted_arm arm[] = {{&m, p->times[process][0]}, {&m, p->times[process][1]}};
    const kerf_limit_device arms[] = {{.state = &arm[0], .run = run_arm}, {.state = &arm[1], .run = run_arm}};
    const kerf_clock clock = {.now_ns = now_of, .state = &m, .resolution_ns = 1};
    ++p->n_run;
    return arm[0].times ? kerf_doctor_arms(pair, arms, &clock, process, ratio, error)
                        : kerf_fail(error, KERF_ERROR_DEVICE, "crashed");
}

static kerf_status hold_against_itself(processes *p, kerf_interval *ratio, kerf_error *error) {
    const kerf_doctor_pair pair = {.bytes = 1 << 20, .threads = 1, .passes = 1, .process_ns = 10000000, .seed = 1};
    const kerf_doctor_launcher launcher = {.run = run_process, .arg = p};
    return kerf_doctor_same(&pair, 6, &launcher, ratio, error);
}

static void same_is_exactly_one(void) {
    static const int equal[6][2] = {{1, 1}, {2, 2}, {1, 1}, {3, 3}, {1, 1}, {1, 1}};
    processes p = {.times = equal};
    kerf_interval ratio;
    kerf_error error;
    REQUIRE(hold_against_itself(&p, &ratio, &error) == KERF_OK);
    REQUIRE(is_exactly(ratio, 1) && kerf_doctor_reach(ratio) == 0 && p.n_run == 6);
    REQUIRE(kerf_doctor_reach((kerf_interval){.middle = 1, .low = 0.75, .high = 1.125}) == 0.25);
    REQUIRE(kerf_doctor_reach((kerf_interval){.middle = 1.25, .low = 1.125, .high = 1.5}) == 0.5);
}

/* Steady within each process: what differs between them is the interval, by the extremes of six. */
static void luck_of_processes_is_noise(void) {
    static const int lucky[6][2] = {{1, 1}, {1, 2}, {2, 1}, {1, 1}, {4, 1}, {1, 1}};
    processes p = {.times = lucky};
    kerf_interval ratio;
    kerf_error error;
    REQUIRE(hold_against_itself(&p, &ratio, &error) == KERF_OK);
    REQUIRE(ratio.middle == 1 && ratio.low == 0.5 && ratio.high == 4 && kerf_doctor_reach(ratio) == 3);
}

static void a_process_without_a_ratio_is_an_error(void) {
    static const int failing[6][2] = {{1, 1}, {0, 0}}, equal[6][2] = {{1, 1}};
    processes p = {.times = failing};
    kerf_interval ratio;
    kerf_error error;
    REQUIRE(hold_against_itself(&p, &ratio, &error) == KERF_ERROR_DEVICE && strstr(error.message, "crashed"));
    p = (processes){.times = equal, .still = true};
    REQUIRE(hold_against_itself(&p, &ratio, &error) == KERF_ERROR_DEVICE && strstr(error.message, "clock"));
}

/* The loops of each instruction set that is here run, and say how much they did. Parts are whole blocks of 1 KiB. */
static void loops_count_what_they_do(void) {
    static const int threads[] = {1, 2, 3};
    const uint64_t isa = kerf_cpu_isa();
    const uint64_t sets[] = {0, isa & ~KERF_ISA_AVX512, isa};
    for (int s = 0; s < 3; ++s) {
        kerf_limit_loops *loops;
        kerf_error error = {""};
        REQUIRE_MESSAGE(kerf_limit_loops_open(sets[s], threads, 3, 1 << 20, &loops, &error) == KERF_OK, "%s",
                        error.message);
        const kerf_limit_device device = kerf_limit_loops_device(loops);
        for (int kind = KERF_LIMIT_READ; kind <= KERF_LIMIT_COPY_STREAMED; ++kind) {
            CHECK(device.run(device.state, kind, 64 << 10, 1, 5) == 5 * 65536.0);
            CHECK(device.run(device.state, kind, 64 << 10, 2, 1) == 65536.0);
            CHECK(device.run(device.state, kind, 64 << 10, 3, 2) == 2 * 3 * 21 * 1024.0);
            CHECK(device.run(device.state, kind, 1 << 30, 1, 1) == 1048576.0); /* cut to what there is */
            CHECK(device.run(device.state, kind, 100, 1, 1) == 0);
        }
        const double f32 = device.run(device.state, KERF_LIMIT_F32, 0, 1, 100);
        CHECK(f32 == 2 * device.run(device.state, KERF_LIMIT_F64, 0, 1, 100));
        CHECK(3 * f32 == device.run(device.state, KERF_LIMIT_F32, 0, 3, 100));
        CHECK(f32 >= 100 * 12 * 2 * 4);
        kerf_limit_loops_close(loops);
    }
}

const kerf_test kerf_tests_unit_limits[] = {
    {"limits: rates of a scripted machine are exact", "[unit][limits]", rates_are_exact, __FILE__, __LINE__},
    {"limits: drift is in the interval", "[unit][limits]", drift_is_in_the_interval, __FILE__, __LINE__},
    {"limits: the budget ends the rounds", "[unit][limits]", the_budget_ends_the_rounds, __FILE__, __LINE__},
    {"limits: a clock that stands still is told", "[unit][limits]", a_clock_that_stands_still_is_told, __FILE__,
     __LINE__},
    {"limits: an interrupt ends it", "[unit][limits]", an_interrupt_ends_it, __FILE__, __LINE__},
    {"limits: teams reach from one to all", "[unit][limits]", teams_reach_from_one_to_all, __FILE__, __LINE__},
    {"limits: knees of curves are found", "[unit][limits]", knees_are_found, __FILE__, __LINE__},
    {"limits: more levels than there is room for", "[unit][limits]", more_levels_than_there_is_room_for, __FILE__,
     __LINE__},
    {"limits: a kernel against itself is exactly one", "[unit][limits]", same_is_exactly_one, __FILE__, __LINE__},
    {"limits: luck of processes is noise", "[unit][limits]", luck_of_processes_is_noise, __FILE__, __LINE__},
    {"limits: a process without a ratio is an error", "[unit][limits]", a_process_without_a_ratio_is_an_error, __FILE__,
     __LINE__},
    {"limits: loops count what they do", "[unit][limits]", loops_count_what_they_do, __FILE__, __LINE__},
    {0},
};
