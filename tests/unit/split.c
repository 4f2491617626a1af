/* How phases of a call add up, on a scripted clock. */
#include "harness/split.h"
#include "tests/catch_shim.h"

enum { RANKS = 2 };

static uint64_t scripted_ns(void *state) {
    return *(const uint64_t *)state;
}

typedef struct stage {
    uint64_t now_ns;
    kerf_split_rank ranks[RANKS];
    kerf_split split;
    kerf_launch launch;
} stage;

static void open_stage(stage *s) {
    *s = (stage){.now_ns = 1000};
    s->split = (kerf_split){
        .bytes = sizeof s->split, .n_ranks = RANKS, .rank = s->ranks, .now_ns = scripted_ns, .state = &s->now_ns};
    s->launch = (kerf_launch){.bytes = sizeof s->launch, .split = &s->split};
}

static void enter_at(stage *s, uint64_t ns, int rank, kerf_split_kind kind) {
    s->now_ns = ns;
    kerf_split_phase(&s->launch, rank, kind);
}

static void phases_add_up_per_rank(void) {
    stage s;
    open_stage(&s);
    enter_at(&s, 1000, 0, KERF_SPLIT_PACK);
    enter_at(&s, 1003, 1, KERF_SPLIT_COMPUTE);
    enter_at(&s, 1010, 0, KERF_SPLIT_COMPUTE);
    enter_at(&s, 1030, 0, KERF_SPLIT_PACK);
    enter_at(&s, 1031, 0, KERF_SPLIT_UNPACK);
    enter_at(&s, 1035, 0, KERF_SPLIT_NONE);
    enter_at(&s, 1100, 1, KERF_SPLIT_NONE);
    enter_at(&s, 2000, 0, KERF_SPLIT_PACK);
    enter_at(&s, 2005, 0, KERF_SPLIT_NONE);
    REQUIRE(s.ranks[0].ns[KERF_SPLIT_PACK] == 10 + 1 + 5);
    REQUIRE(s.ranks[0].ns[KERF_SPLIT_COMPUTE] == 20);
    REQUIRE(s.ranks[0].ns[KERF_SPLIT_UNPACK] == 4);
    REQUIRE(s.ranks[1].ns[KERF_SPLIT_PACK] == 0);
    REQUIRE(s.ranks[1].ns[KERF_SPLIT_COMPUTE] == 97);
}

static void a_clock_that_runs_backwards_adds_nothing(void) {
    stage s;
    open_stage(&s);
    enter_at(&s, 1000, 0, KERF_SPLIT_PACK);
    enter_at(&s, 900, 0, KERF_SPLIT_COMPUTE);
    enter_at(&s, 950, 0, KERF_SPLIT_NONE);
    REQUIRE(s.ranks[0].ns[KERF_SPLIT_PACK] == 0);
    REQUIRE(s.ranks[0].ns[KERF_SPLIT_COMPUTE] == 50);
}

static void ranks_without_a_place_are_not_counted(void) {
    stage s;
    open_stage(&s);
    s.split.n_ranks = 1;
    enter_at(&s, 1000, 1, KERF_SPLIT_PACK);
    enter_at(&s, 1100, 1, KERF_SPLIT_NONE);
    REQUIRE(s.ranks[1].since_ns == 0 && s.ranks[1].ns[KERF_SPLIT_PACK] == 0);
}

/* A caller that was built before there was a split hands over a shorter launch. */
static void a_short_launch_has_no_split(void) {
    stage s;
    open_stage(&s);
    s.launch.bytes = offsetof(kerf_launch, split);
    enter_at(&s, 1000, 0, KERF_SPLIT_PACK);
    s.launch.bytes = sizeof s.launch;
    s.launch.split = NULL;
    enter_at(&s, 1010, 0, KERF_SPLIT_NONE);
    REQUIRE(s.ranks[0].since_ns == 0);
}

static void ranks_have_a_cache_line_each(void) {
    REQUIRE(sizeof(kerf_split_rank) % 64 == 0);
    REQUIRE(_Alignof(kerf_split_rank) == 64);
}

/* A row of two ranks on a clock that only it moves: rank 1 is the slower one. */
typedef struct scripted_row {
    uint64_t now_ns;
    int n_calls, n_prepared;
    bool says_nothing, fails;
} scripted_row;

static scripted_row row;

static kerf_status run_scripted(const kerf_launch *launch) {
    if (row.fails)
        return KERF_ERROR_DEVICE;
    const uint64_t pack_ns = 10 + (uint64_t)row.n_calls++ % 3; /* 10, 11, 12, ...: the median is 11 */
    for (int rank = 0; rank < 2; ++rank) {
        if (!row.says_nothing)
            kerf_split_phase(launch, rank, KERF_SPLIT_PACK);
        row.now_ns += rank * pack_ns;
        if (!row.says_nothing)
            kerf_split_phase(launch, rank, KERF_SPLIT_COMPUTE);
        row.now_ns += 5;
        if (!row.says_nothing)
            kerf_split_phase(launch, rank, KERF_SPLIT_NONE);
    }
    row.now_ns += 7000000;
    return KERF_OK;
}

static void count_preparation(void *arg) {
    ++((scripted_row *)arg)->n_prepared;
    row.now_ns += 1; /* in no call */
}

static kerf_status measure(kerf_recorded_split *result) {
    const kerf_team team = {.n = 2};
    const kerf_launch launch = {.bytes = sizeof launch, .team = &team};
    const kerf_split_subject subject = {
        .launch = &launch, .run = run_scripted, .prepare = count_preparation, .arg = &row};
    const kerf_clock clock = {.now_ns = scripted_ns, .state = &row.now_ns, .resolution_ns = 1};
    return kerf_split_measure(&subject, &clock, result);
}

static void the_slowest_rank_counts(void) {
    kerf_recorded_split result;
    row = (scripted_row){.now_ns = 5};
    REQUIRE(measure(&result) == KERF_OK);
    REQUIRE(result.n_calls == 3); /* 7 ms each: the third ends behind 20 ms */
    REQUIRE(row.n_prepared == 3);
    REQUIRE(result.pack_ns == 11 && result.compute_ns == 5 && result.unpack_ns == 0);
    REQUIRE(result.call_ns == 7000000 + 11 + 5 + 5);
}

static void a_row_that_says_nothing_has_no_split(void) {
    kerf_recorded_split result;
    row = (scripted_row){.says_nothing = true};
    REQUIRE(measure(&result) == KERF_OK);
    REQUIRE(result.n_calls == 0);
    row = (scripted_row){.fails = true};
    REQUIRE(measure(&result) == KERF_ERROR_DEVICE);
    REQUIRE(result.n_calls == 0);
}

const kerf_test kerf_tests_unit_split[] = {
    {"split: phases add up per rank", "[unit][split]", phases_add_up_per_rank, __FILE__, __LINE__},
    {"split: a clock that runs backwards adds nothing", "[unit][split]", a_clock_that_runs_backwards_adds_nothing,
     __FILE__, __LINE__},
    {"split: ranks without a place are not counted", "[unit][split]", ranks_without_a_place_are_not_counted, __FILE__,
     __LINE__},
    {"split: a short launch has no split", "[unit][split]", a_short_launch_has_no_split, __FILE__, __LINE__},
    {"split: ranks have a cache line each", "[unit][split]", ranks_have_a_cache_line_each, __FILE__, __LINE__},
    {"split: the slowest rank of each call counts", "[unit][split]", the_slowest_rank_counts, __FILE__, __LINE__},
    {"split: a row that says nothing has none", "[unit][split]", a_row_that_says_nothing_has_no_split, __FILE__,
     __LINE__},
    {0},
};
