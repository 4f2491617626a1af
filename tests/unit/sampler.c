/* The sampler on scripted time: every figure here is exact. */
#include "harness/sampler.h"
#include "harness/stats.h"
#include "tests/catch_shim.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)

/* A world in which only calls take time. */
typedef struct world {
    uint64_t now_ns;
    uint64_t reading_ns; /* of the clock */
    bool still;
    int visits[4096]; /* rows in the order in which their samples were prepared */
    int n_visits;
} world;

typedef struct row {
    world *in;
    int number;
    uint64_t (*call_ns)(struct row *row, int call);
    uint64_t prepare_ns;
    int n_calls, n_prepared;
    int fails_at;   /* this call fails; 0: none */
    int back_at;    /* during this call the clock jumps back by 100 ms; 0: none */
    int back_every; /* and during every call with a multiple of this number */
    int ahead_at;   /* during this call the clock jumps ahead by ahead_ns; 0: none */
    uint64_t ahead_ns;
    uint32_t n_announced; /* calls, to prepare */
    uint64_t value_ns;    /* parameter of call_ns */
    kerf_rng rng;
} row;

static uint64_t now_in(void *state) {
    world *const in = state;
    in->now_ns += in->reading_ns;
    return in->now_ns;
}

static kerf_clock clock_of(world *in) {
    in->now_ns = 10000000000u;
    return (kerf_clock){.now_ns = now_in, .state = in, .resolution_ns = 30};
}

static void prepare_row(void *arg, uint32_t calls) {
    row *const r = arg;
    r->n_announced += calls;
    ++r->n_prepared;
    r->in->now_ns += r->prepare_ns;
    if (r->in->n_visits < 4096)
        r->in->visits[r->in->n_visits++] = r->number;
}

static kerf_status call_row(void *arg) {
    row *const r = arg;
    ++r->n_calls;
    if (!r->in->still)
        r->in->now_ns += r->call_ns(r, r->n_calls);
    if (r->n_calls == r->back_at || (r->back_every && r->n_calls % r->back_every == 0))
        r->in->now_ns -= SECOND / 10;
    if (r->n_calls == r->ahead_at)
        r->in->now_ns += r->ahead_ns;
    return r->n_calls == r->fails_at ? KERF_ERROR_DEVICE : KERF_OK;
}

static uint64_t steady(row *r, int call) {
    (void)call;
    return r->value_ns;
}

static uint64_t spiky(row *r, int call) {
    return call % 7 == 0 ? 20 * r->value_ns : r->value_ns;
}

static uint64_t drifting(row *r, int call) {
    return r->value_ns + (uint64_t)call * r->value_ns / 100;
}

/* By a hundredth of a percent. */
static uint64_t drifting_slowly(row *r, int call) {
    return r->value_ns + (uint64_t)call * r->value_ns / 10000;
}

/* Two of three calls are in the first mode. */
static uint64_t mostly_one_mode(row *r, int call) {
    return call % 3 ? r->value_ns : 2 * r->value_ns;
}

static uint64_t rarely_spiky(row *r, int call) {
    return call % 5000 ? r->value_ns : 1000000;
}

static uint64_t bimodal(row *r, int call) {
    return call % 2 ? r->value_ns : 2 * r->value_ns;
}

/* Uniform within 5 % of the value. */
static uint64_t noisy(row *r, int call) {
    (void)call;
    return r->value_ns + kerf_rng_below(&r->rng, r->value_ns / 10) - r->value_ns / 20;
}

/* Uniform within half of the value. */
static uint64_t loud(row *r, int call) {
    (void)call;
    return r->value_ns + kerf_rng_below(&r->rng, r->value_ns) - r->value_ns / 2;
}

static void sampler_of(kerf_sampler *s, row *r, const kerf_clock *clock, uint64_t wall_ns, uint32_t max_batch) {
    memset(s, 0, sizeof *s);
    s->timed = (kerf_timed){.arg = r, .prepare = prepare_row, .call = call_row};
    s->rule = kerf_stop_rule_standard(clock, wall_ns, max_batch);
}

/* One row alone, with a second of time unless the test says otherwise. */
static void sample_alone(kerf_sampler *s, row *r, world *in, uint64_t wall_ns, uint32_t max_batch) {
    const kerf_clock clock = clock_of(in);
    r->in = in;
    kerf_rng rng = kerf_rng_seeded(1, 0);
    sampler_of(s, r, &clock, wall_ns, max_batch);
    kerf_sample_rounds(&s, 1, wall_ns, &clock, &rng, NULL);
}

static double median_ns(const kerf_sampler *s) {
    double per_call_ns[KERF_SAMPLER_MAX];
    for (int i = 0; i < s->n_samples; ++i)
        per_call_ns[i] = (double)s->sample[i].total_ns / s->sample[i].batch;
    return kerf_median(per_call_ns, s->n_samples);
}

static kerf_sampler one;

static void short_calls_are_batched(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 100};
    sample_alone(&one, &r, &in, SECOND / 100, 1u << 20);
    REQUIRE(one.batch == 200);
    REQUIRE(one.n_samples == 50 && one.stop == KERF_STOP_NARROW); /* a millisecond */
    for (int i = 0; i < one.n_samples; ++i)
        REQUIRE(one.sample[i].batch == 200 && one.sample[i].total_ns == 20000 && one.sample[i].round == i);
}

static void batches_are_rounded_up_and_limited(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 300};
    sample_alone(&one, &r, &in, SECOND / 100, 1u << 20);
    REQUIRE(one.batch == 67);
    r.value_ns = 1;
    sample_alone(&one, &r, &in, SECOND / 100, 100);
    REQUIRE(one.batch == 100 && one.sample[0].total_ns == 100);
}

static void coarse_clock_makes_longer_samples(void) {
    world in = {0};
    kerf_clock clock = clock_of(&in);
    clock.resolution_ns = 1000000;
    REQUIRE(kerf_stop_rule_standard(&clock, SECOND / 100, 1).sample_ns == 50000000);
}

static void much_time_makes_longer_samples_instead_of_too_many(void) {
    world in = {0};
    row r = {.call_ns = bimodal, .value_ns = 100};
    sample_alone(&one, &r, &in, 10 * SECOND, 1u << 20);
    REQUIRE(one.rule.sample_ns == 10 * SECOND / KERF_SAMPLER_MAX);
    REQUIRE(one.sample[0].total_ns >= one.rule.sample_ns - 300);
}

static void long_calls_are_made_once(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 5000000};
    sample_alone(&one, &r, &in, SECOND, 1u << 20);
    REQUIRE(one.batch == 1);
    REQUIRE(one.n_samples == 12 && one.stop == KERF_STOP_NARROW);
    REQUIRE(r.n_calls == 1 + 12);
}

static void cold_calls_are_timed_one_by_one(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 100, .prepare_ns = 7000000};
    sample_alone(&one, &r, &in, SECOND, 1);
    REQUIRE(one.n_samples > 0);
    for (int i = 0; i < one.n_samples; ++i)
        REQUIRE(one.sample[i].batch == 1 && one.sample[i].total_ns == 100);
    REQUIRE(r.n_prepared == r.n_calls);
    REQUIRE(one.wall_ns >= (uint64_t)one.n_samples * 7000100);
}

static void spikes_do_not_matter(void) {
    world in = {0};
    row r = {.call_ns = spiky, .value_ns = 200000};
    sample_alone(&one, &r, &in, SECOND, 1);
    REQUIRE(one.stop == KERF_STOP_NARROW);
    REQUIRE(one.n_samples == 12);
    REQUIRE(median_ns(&one) == 200000);
}

static void drift_ends_in_a_plateau(void) {
    world in = {0};
    row r = {.call_ns = drifting, .value_ns = 200000};
    sample_alone(&one, &r, &in, 100 * SECOND, 1);
    REQUIRE(one.stop == KERF_STOP_PLATEAU);
    REQUIRE(one.n_samples == 48);
}

static void two_modes_end_in_a_plateau(void) {
    world in = {0};
    row r = {.call_ns = bimodal, .value_ns = 200000};
    sample_alone(&one, &r, &in, 100 * SECOND, 1);
    REQUIRE(one.stop == KERF_STOP_PLATEAU);
    REQUIRE(one.n_samples == 48);
}

static void slow_drift_is_within_the_goal(void) {
    world in = {0};
    row r = {.call_ns = drifting_slowly, .value_ns = 200000};
    sample_alone(&one, &r, &in, 100 * SECOND, 1);
    REQUIRE(one.stop == KERF_STOP_NARROW && one.n_samples == 12);
    REQUIRE(one.sample[0].total_ns == 200040 && one.sample[11].total_ns == 200260);
    REQUIRE(median_ns(&one) == 200150);
}

/* Of 12 and 24 samples the interval reaches into the second mode, of 48 it does not. */
static void rare_second_mode_takes_more_samples(void) {
    world in = {0};
    row r = {.call_ns = mostly_one_mode, .value_ns = 200000};
    sample_alone(&one, &r, &in, 100 * SECOND, 1);
    REQUIRE(one.stop == KERF_STOP_NARROW && one.n_samples == 48);
    REQUIRE(median_ns(&one) == 200000);
}

/* A plateau is a matter of luck in pure noise, but of little. */
static void noise_narrows_with_more_samples(void) {
    int n_plateaus = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        world in = {0};
        row r = {.call_ns = noisy, .value_ns = 200000, .rng = kerf_rng_seeded(seed, 0)};
        sample_alone(&one, &r, &in, 100 * SECOND, 1);
        REQUIRE_MESSAGE(one.stop == KERF_STOP_NARROW || one.stop == KERF_STOP_PLATEAU, "seed %d: %s", (int)seed,
                        kerf_stop_name(one.stop));
        REQUIRE_MESSAGE(one.n_samples > 12 && one.n_samples < KERF_SAMPLER_MAX, "seed %d: %d samples", (int)seed,
                        one.n_samples);
        n_plateaus += one.stop == KERF_STOP_PLATEAU;
    }
    REQUIRE_MESSAGE(n_plateaus <= 2, "%d of 50", n_plateaus);
}

static void loud_noise_fills_the_memory(void) {
    int n_full = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        world in = {0};
        row r = {.call_ns = loud, .value_ns = 200000, .rng = kerf_rng_seeded(seed, 0)};
        sample_alone(&one, &r, &in, 100 * SECOND, 1);
        REQUIRE(one.n_samples <= KERF_SAMPLER_MAX);
        REQUIRE((one.stop == KERF_STOP_COUNT) == (one.n_samples == KERF_SAMPLER_MAX));
        n_full += one.stop == KERF_STOP_COUNT;
    }
    REQUIRE_MESSAGE(n_full >= 40, "%d of 50", n_full);
}

static void spent_time_leaves_the_floor(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 5000000};
    sample_alone(&one, &r, &in, 0, 1u << 20);
    REQUIRE(one.stop == KERF_STOP_TIME);
    REQUIRE(one.n_samples == one.rule.floor_samples);
}

static void wall_time_counts_what_is_not_timed(void) {
    world in = {0};
    row r = {.call_ns = bimodal, .value_ns = 1000, .prepare_ns = 1000000};
    sample_alone(&one, &r, &in, 10500000, 1);
    REQUIRE(one.stop == KERF_STOP_TIME);
    REQUIRE(one.n_samples == 10); /* and the warm-up */
}

static void clock_that_jumps_back_costs_one_sample(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 200000, .back_at = 5};
    sample_alone(&one, &r, &in, SECOND, 1);
    REQUIRE(one.n_discarded == 1);
    REQUIRE(one.n_samples == 12 && one.stop == KERF_STOP_NARROW);
    for (int i = 0; i < 12; ++i)
        REQUIRE(one.sample[i].total_ns == 200000);
    REQUIRE(one.sample[3].round == 4); /* the round of the discarded sample is missing */
}

static void clock_that_jumps_back_again_and_again_costs_those_samples(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 50000, .back_every = 2};
    sample_alone(&one, &r, &in, SECOND, 1);
    REQUIRE(one.n_samples == 20 && one.stop == KERF_STOP_NARROW);
    REQUIRE(one.n_discarded == 20);
}

/* Nobody can tell it from a call that took long: it is one sample, and the median does not mind. */
static void clock_that_jumps_ahead_is_a_spike(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 200000, .ahead_at = 5, .ahead_ns = SECOND / 10};
    sample_alone(&one, &r, &in, SECOND, 1);
    REQUIRE(one.n_discarded == 0 && one.n_samples == 12 && one.stop == KERF_STOP_NARROW);
    REQUIRE(one.sample[3].total_ns == 100200000 && median_ns(&one) == 200000);
}

static void clock_that_jumps_ahead_of_all_time_leaves_the_floor(void) {
    world in = {0};
    row r = {.call_ns = steady, .value_ns = 200000, .ahead_at = 2, .ahead_ns = 10 * SECOND};
    sample_alone(&one, &r, &in, SECOND, 1);
    REQUIRE(one.stop == KERF_STOP_TIME && one.n_samples == one.rule.floor_samples);
    REQUIRE(median_ns(&one) == 200000);
}

static void overhead_is_exact(void) {
    world in = {.reading_ns = 25};
    const kerf_clock clock = clock_of(&in);
    row nothing = {.in = &in, .call_ns = rarely_spiky, .value_ns = 2};
    const kerf_timed timed = {.arg = &nothing, .prepare = prepare_row, .call = call_row};
    const kerf_overhead overhead = kerf_sampler_overhead(&timed, &clock);
    REQUIRE(overhead.sample_ns == 27 && overhead.call_ns == 2 && overhead.step_ns == 30);
    REQUIRE(nothing.n_announced == (uint32_t)nothing.n_calls);
    /* A call of 100 ns in the same loop. */
    row r = {.call_ns = steady, .value_ns = 102};
    in = (world){.reading_ns = 25};
    sample_alone(&one, &r, &in, SECOND / 100, 1u << 20);
    REQUIRE(one.batch > 100 && kerf_sample_call_ns(&one.sample[0], &overhead) == 100);
    REQUIRE(kerf_sample_resolution_ns(&one.sample[0], &overhead) == 30.0 / one.batch);
    sample_alone(&one, &r, &in, SECOND / 100, 1);
    REQUIRE(one.batch == 1 && kerf_sample_call_ns(&one.sample[0], &overhead) == 100);
}

static void overhead_of_a_clock_that_stands_still_is_none(void) {
    world in = {.still = true};
    const kerf_clock clock = clock_of(&in);
    row nothing = {.in = &in, .call_ns = steady, .value_ns = 2};
    const kerf_overhead overhead =
        kerf_sampler_overhead(&(kerf_timed){.arg = &nothing, .prepare = prepare_row, .call = call_row}, &clock);
    REQUIRE(overhead.sample_ns == 0 && overhead.call_ns == 0);
}

static void clock_that_stands_still_ends_in_an_error(void) {
    static const uint32_t max_batches[] = {1, 1u << 20};
    for (int i = 0; i < 2; ++i) {
        world in = {.still = true};
        row r = {.call_ns = steady, .value_ns = 100};
        sample_alone(&one, &r, &in, SECOND, max_batches[i]);
        REQUIRE(one.stop == KERF_STOP_ERROR);
        REQUIRE(one.n_samples == 0);
        REQUIRE(r.n_calls < 10000);
    }
}

static void failing_call_ends_its_row_only(void) {
    world in = {0};
    const kerf_clock clock = clock_of(&in);
    row rows[2] = {{.in = &in, .call_ns = steady, .value_ns = 200000, .fails_at = 6},
                   {.in = &in, .number = 1, .call_ns = steady, .value_ns = 300000}};
    static kerf_sampler samplers[2];
    kerf_sampler *order[2] = {&samplers[0], &samplers[1]};
    for (int i = 0; i < 2; ++i)
        sampler_of(&samplers[i], &rows[i], &clock, SECOND, 1);
    kerf_rng rng = kerf_rng_seeded(3, 0);
    kerf_sample_rounds(order, 2, SECOND, &clock, &rng, NULL);
    REQUIRE(samplers[0].stop == KERF_STOP_ERROR && rows[0].n_calls == 6);
    REQUIRE(samplers[1].stop == KERF_STOP_NARROW && median_ns(&samplers[1]) == 300000);
}

enum { N_ROWS = 4 };

static void sample_together(world *in, row rows[N_ROWS], kerf_sampler samplers[N_ROWS], uint64_t wall_ns, uint64_t seed,
                            const volatile int *interrupted) {
    const kerf_clock clock = clock_of(in);
    kerf_sampler *order[N_ROWS];
    for (int i = 0; i < N_ROWS; ++i) {
        rows[i].in = in;
        rows[i].number = i;
        sampler_of(&samplers[i], &rows[i], &clock, wall_ns / N_ROWS, 1);
        order[i] = &samplers[i];
    }
    kerf_rng rng = kerf_rng_seeded(seed, 0);
    kerf_sample_rounds(order, N_ROWS, wall_ns, &clock, &rng, interrupted);
}

static kerf_sampler together[N_ROWS];

/* Rows that never narrow, so that they all stay to the end. */
static void run_restless(world *in, uint64_t seed) {
    row rows[N_ROWS] = {{0}};
    for (int i = 0; i < N_ROWS; ++i)
        rows[i] = (row){.call_ns = bimodal, .value_ns = 100000};
    memset(in, 0, sizeof *in);
    sample_together(in, rows, together, SECOND / 50, seed, NULL);
}

static void rounds_visit_every_row_once_in_changing_order(void) {
    static world in, same, other;
    run_restless(&in, 11);
    run_restless(&same, 11);
    run_restless(&other, 12);
    REQUIRE(in.n_visits >= 8 * N_ROWS);
    int n_changes = 0;
    /* The first visit prepares twice: for the warm-up and for the sample. */
    for (int i = 0; i < 2 * N_ROWS; i += 2)
        REQUIRE(in.visits[i] == in.visits[i + 1]);
    for (int at = 2 * N_ROWS; at + 2 * N_ROWS <= 8 * N_ROWS; at += N_ROWS) {
        unsigned seen = 0;
        for (int i = 0; i < N_ROWS; ++i)
            seen |= 1u << in.visits[at + i];
        REQUIRE(seen == (1u << N_ROWS) - 1);
        n_changes += memcmp(&in.visits[at], &in.visits[at + N_ROWS], N_ROWS * sizeof(int)) != 0;
    }
    REQUIRE(n_changes > 0);
    REQUIRE(same.n_visits == in.n_visits);
    REQUIRE(memcmp(same.visits, in.visits, sizeof in.visits) == 0);
    REQUIRE(memcmp(other.visits, in.visits, 8 * N_ROWS * sizeof(int)) != 0);
}

static void slow_rows_keep_their_floor_and_fast_rows_go_on(void) {
    world in = {0};
    row rows[N_ROWS] = {{.call_ns = steady, .value_ns = 5000000},
                        {.call_ns = bimodal, .value_ns = 100000},
                        {.call_ns = steady, .value_ns = 100000},
                        {.call_ns = bimodal, .value_ns = 2000000}};
    sample_together(&in, rows, together, 60000000, 5, NULL);
    REQUIRE(together[0].n_samples == 3 && together[0].stop == KERF_STOP_TIME);
    REQUIRE(together[1].n_samples > 20);
    REQUIRE(together[2].n_samples == 12 && together[2].stop == KERF_STOP_NARROW);
    REQUIRE(together[3].n_samples >= 3 && together[3].stop == KERF_STOP_TIME);
    REQUIRE(in.now_ns - 10000000000u < 60000000 + 5000000);
}

static void time_of_all_rows_ends_rows_that_have_time_of_their_own(void) {
    world in = {0};
    const kerf_clock clock = clock_of(&in);
    row rows[2] = {{.in = &in, .call_ns = bimodal, .value_ns = 1000000},
                   {.in = &in, .call_ns = bimodal, .value_ns = 1000000}};
    kerf_sampler *order[2] = {&together[0], &together[1]};
    for (int i = 0; i < 2; ++i)
        sampler_of(&together[i], &rows[i], &clock, SECOND, 1);
    kerf_rng rng = kerf_rng_seeded(7, 0);
    kerf_sample_rounds(order, 2, 20000000, &clock, &rng, NULL);
    REQUIRE(together[0].stop == KERF_STOP_TIME && together[1].stop == KERF_STOP_TIME);
    REQUIRE(in.now_ns - 10000000000u >= 20000000 && in.now_ns - 10000000000u <= 24000000);
}

static void closing_round_is_the_same_for_all(void) {
    world in = {0};
    row rows[N_ROWS] = {{.call_ns = steady, .value_ns = 200000},
                        {.call_ns = bimodal, .value_ns = 100000},
                        {.call_ns = steady, .value_ns = 100000, .fails_at = 4},
                        {.call_ns = loud, .value_ns = 200000, .rng = kerf_rng_seeded(2, 0)}};
    sample_together(&in, rows, together, 400 * SECOND, 5, NULL);
    REQUIRE(together[0].n_samples == 12 && together[1].n_samples == 48 && together[2].n_samples == 2);
    REQUIRE(together[3].n_samples == KERF_SAMPLER_MAX && together[3].stop == KERF_STOP_COUNT);
    const kerf_clock clock = {.now_ns = now_in, .state = &in, .resolution_ns = 30};
    kerf_sampler *order[N_ROWS] = {&together[0], &together[1], &together[2], &together[3]};
    kerf_rng rng = kerf_rng_seeded(1, 0);
    kerf_sample_closing_round(order, N_ROWS, &clock, &rng);
    REQUIRE(together[0].n_samples == 13 && together[1].n_samples == 49 && together[2].n_samples == 2);
    REQUIRE(together[3].n_samples == KERF_SAMPLER_MAX + 1);
    REQUIRE(together[0].sample[12].round == KERF_SAMPLER_MAX && together[0].sample[12].total_ns == 200000);
    REQUIRE(together[1].sample[48].round == KERF_SAMPLER_MAX);
    REQUIRE(together[3].sample[KERF_SAMPLER_MAX].round == KERF_SAMPLER_MAX);
    REQUIRE(together[0].stop == KERF_STOP_NARROW && together[1].stop == KERF_STOP_PLATEAU);
}

static void interruption_ends_at_once(void) {
    world in = {0};
    row rows[N_ROWS] = {{0}};
    const volatile int interrupted = 1;
    for (int i = 0; i < N_ROWS; ++i)
        rows[i] = (row){.call_ns = steady, .value_ns = 1000};
    sample_together(&in, rows, together, SECOND, 1, &interrupted);
    REQUIRE(in.n_visits == 0);
    for (int i = 0; i < N_ROWS; ++i)
        REQUIRE(together[i].stop == KERF_STOP_TIME && together[i].n_samples == 0);
}

typedef struct stepping {
    uint64_t now_ns;
    int readings, per_step;
    int64_t step_ns;
} stepping;

static uint64_t step_clock(void *state) {
    stepping *const s = state;
    if (++s->readings % s->per_step == 0)
        s->now_ns += (uint64_t)s->step_ns;
    return s->now_ns;
}

static void resolution_is_the_smallest_step(void) {
    stepping fine = {.per_step = 1, .step_ns = 25}, coarse = {.per_step = 40, .step_ns = 1000};
    stepping still = {.per_step = 1}, backward = {.now_ns = SECOND, .per_step = 1, .step_ns = -5};
    REQUIRE(kerf_clock_resolution_ns(step_clock, &fine) == 25);
    REQUIRE(kerf_clock_resolution_ns(step_clock, &coarse) == 1000);
    REQUIRE(kerf_clock_resolution_ns(step_clock, &still) == 0);
    REQUIRE(kerf_clock_resolution_ns(step_clock, &backward) == 0);
    REQUIRE(kerf_clock_monotonic().resolution_ns > 0);
}

#define TEST(name, run)                                                                                                \
    { "sampler: " name, "[unit][sampler]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_sampler[] = {
    TEST("short calls are batched", short_calls_are_batched),
    TEST("batches are rounded up and limited", batches_are_rounded_up_and_limited),
    TEST("a coarse clock makes longer samples", coarse_clock_makes_longer_samples),
    TEST("much time makes longer samples instead of too many", much_time_makes_longer_samples_instead_of_too_many),
    TEST("long calls are made once", long_calls_are_made_once),
    TEST("cold calls are timed one by one and nothing else is", cold_calls_are_timed_one_by_one),
    TEST("spikes do not matter", spikes_do_not_matter),
    TEST("drift ends in a plateau", drift_ends_in_a_plateau),
    TEST("two modes end in a plateau", two_modes_end_in_a_plateau),
    TEST("noise narrows with more samples", noise_narrows_with_more_samples),
    TEST("loud noise fills the memory", loud_noise_fills_the_memory),
    TEST("spent time leaves the floor", spent_time_leaves_the_floor),
    TEST("wall time counts what is not timed", wall_time_counts_what_is_not_timed),
    TEST("a clock that jumps back costs one sample", clock_that_jumps_back_costs_one_sample),
    TEST("a clock that jumps back again and again costs those samples",
         clock_that_jumps_back_again_and_again_costs_those_samples),
    TEST("a clock that stands still ends in an error", clock_that_stands_still_ends_in_an_error),
    TEST("a failing call ends its row only", failing_call_ends_its_row_only),
    TEST("rounds visit every row once in changing order", rounds_visit_every_row_once_in_changing_order),
    TEST("slow rows keep their floor and fast rows go on", slow_rows_keep_their_floor_and_fast_rows_go_on),
    TEST("the time of all rows ends rows that have time of their own",
         time_of_all_rows_ends_rows_that_have_time_of_their_own),
    TEST("slow drift is within the goal", slow_drift_is_within_the_goal),
    TEST("a rare second mode takes more samples", rare_second_mode_takes_more_samples),
    TEST("a clock that jumps ahead is a spike", clock_that_jumps_ahead_is_a_spike),
    TEST("a clock that jumps ahead of all time leaves the floor", clock_that_jumps_ahead_of_all_time_leaves_the_floor),
    TEST("the overhead is exact", overhead_is_exact),
    TEST("the overhead of a clock that stands still is none", overhead_of_a_clock_that_stands_still_is_none),
    TEST("a closing round is the same for all", closing_round_is_the_same_for_all),
    TEST("an interruption ends at once", interruption_ends_at_once),
    TEST("the resolution of a clock is its smallest step", resolution_is_the_smallest_step),
    {0},
};
