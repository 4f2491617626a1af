/* How inputs change between timed calls: always, and never for good. */
#include "harness/timing_buffers.h"
#include "tests/catch_shim.h"

#include <stdlib.h>
#include <string.h>

/* An op with an input that may change, one that steers and one that may be packed ahead. */
enum { PLAIN, STEERING, CONSTANT, N_IN, ROWS = 40, COLUMNS = 2, N = ROWS * COLUMNS };

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    kerf_operand *const operands = KERF_ARENA_NEW(arena, kerf_operand, N_IN + 1);
    const kerf_operand **const lists = KERF_ARENA_NEW(arena, const kerf_operand *, N_IN + 1);
    if (!operands || !lists)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory");
    for (int i = 0; i <= N_IN; ++i) {
        operands[i] = (kerf_operand){.bytes = sizeof(kerf_operand),
                                     .name = "x",
                                     .role = i == CONSTANT ? KERF_IN_CONSTANT
                                             : i == N_IN   ? KERF_OUT
                                                           : KERF_IN,
                                     .dtype = KERF_F32,
                                     .at = {.rank = 2, .dims = {ROWS, COLUMNS}, .strides = {COLUMNS, 1}}};
        lists[i] = &operands[i];
    }
    *problem = (kerf_problem){.bytes = sizeof(kerf_problem),
                              .op = c->op,
                              .n_in = N_IN,
                              .n_out = 1,
                              .in = lists,
                              .out = &lists[N_IN],
                              .want = 1};
    return KERF_OK;
}

static void fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    (void)problem, (void)rng;
    for (int i = 0; i < N_IN; ++i)
        for (int k = 0; k < N; ++k)
            ((float *)in[i])[k] = (float)(k + 1);
}

static const kerf_op op = {
    .bytes = sizeof(kerf_op), .name = "toy", .describe = describe, .fill = fill, .steering = 1u << STEERING};
static const kerf_case any_case = {.op = &op, .dtype = KERF_F32, .want = 1, .seed = 5};

typedef struct content {
    float value[N_IN][N];
} content;

static content content_of(const kerf_timing_inputs *inputs, int set) {
    content c;
    for (int i = 0; i < N_IN; ++i)
        memcpy(c.value[i], inputs->set[set].in[i], sizeof c.value[i]);
    return c;
}

static bool are_equal(const content *a, const content *b, int input) {
    return memcmp(a->value[input], b->value[input], sizeof a->value[input]) == 0;
}

typedef struct fixture {
    kerf_arena arena;
    kerf_timing_inputs inputs;
    kerf_error error;
} fixture;

static bool fixture_open(fixture *f, int n_rows) {
    kerf_rng offsets = kerf_rng_seeded(1, 1);
    return kerf_arena_map_shared(&f->arena, 1 << 20, &f->error) == KERF_OK &&
           kerf_timing_inputs_open(&any_case, n_rows, &offsets, &f->arena, &f->inputs, &f->error) == KERF_OK;
}

static void fixture_close(fixture *f) {
    kerf_timing_inputs_close(&f->inputs);
    kerf_arena_unmap(&f->arena);
}

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void steps_change_what_may_change_and_come_back(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, 4));
    REQUIRE(f.inputs.n_sets == KERF_TIMING_SETS);
    content at[60];
    for (int step = 0; step < 60; ++step) {
        const int set = kerf_timing_inputs_go_to(&f.inputs, (uint64_t)step);
        REQUIRE(set == step % KERF_TIMING_SETS);
        at[step] = content_of(&f.inputs, set);
        for (int earlier = 0; earlier < step; ++earlier) {
            REQUIRE(!are_equal(&at[step], &at[earlier], PLAIN));
            REQUIRE(are_equal(&at[step], &at[earlier], CONSTANT));
        }
    }
    /* Backwards, and over steps left out: the same as on the way there. */
    for (int step = 59; step >= 0; step -= 7) {
        const content again = content_of(&f.inputs, kerf_timing_inputs_go_to(&f.inputs, (uint64_t)step));
        REQUIRE(memcmp(&again, &at[step], sizeof again) == 0);
    }
    fixture_close(&f);
}

/* Elements change places within their column: the content is the same, and never far from the first. */
static void steering_inputs_keep_their_values(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, 4));
    int n_changed = 0;
    for (uint64_t step = 0; step < 300; ++step) {
        const int set = kerf_timing_inputs_go_to(&f.inputs, step);
        const content now = content_of(&f.inputs, set);
        const float *const value = now.value[STEERING];
        int n_moved = 0;
        float sorted[N];
        memcpy(sorted, value, sizeof sorted);
        qsort(sorted, N, sizeof sorted[0], by_value);
        for (int k = 0; k < N; ++k) {
            REQUIRE(sorted[k] == (float)(k + 1));
            REQUIRE(((int)value[k] - 1) % COLUMNS == k % COLUMNS);
            n_moved += value[k] != (float)(k + 1);
        }
        REQUIRE(n_moved <= 6);
        n_changed += n_moved > 0;
    }
    REQUIRE_MESSAGE(n_changed >= 295, "%d", n_changed);
    fixture_close(&f);
}

static void calls_of_a_batch_differ_and_end_with_the_step(void) {
    static fixture f;
    enum { BATCH = 200 };
    static content seen[BATCH];
    REQUIRE(fixture_open(&f, 4));
    kerf_timing_set *const set = &f.inputs.set[kerf_timing_inputs_go_to(&f.inputs, 7)];
    const int number = 7 % KERF_TIMING_SETS;
    const content step = content_of(&f.inputs, number);
    kerf_timing_set_begin(set, BATCH);
    for (int call = 0; call < BATCH; ++call) {
        seen[call] = content_of(&f.inputs, number);
        for (int earlier = 0; earlier < call; ++earlier)
            REQUIRE(!are_equal(&seen[call], &seen[earlier], PLAIN));
        kerf_timing_set_called(set);
    }
    REQUIRE(memcmp(&seen[BATCH - 1], &step, sizeof step) == 0);
    const content left = content_of(&f.inputs, number);
    REQUIRE(memcmp(&left, &step, sizeof step) == 0);
    /* A batch that was broken off leaves nothing behind. */
    kerf_timing_set_begin(set, BATCH);
    kerf_timing_set_called(set);
    kerf_timing_inputs_go_to(&f.inputs, 7);
    const content after = content_of(&f.inputs, number);
    REQUIRE(memcmp(&after, &step, sizeof step) == 0);
    fixture_close(&f);
}

static void much_memory_means_fewer_sets(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, 0));
    REQUIRE(f.inputs.n_sets == 1);
    fixture_close(&f);
    /* 256 MiB in all, for outputs of 320 bytes. */
    REQUIRE(fixture_open(&f, 500000));
    REQUIRE(f.inputs.n_sets == 1);
    fixture_close(&f);
    REQUIRE(fixture_open(&f, 300000));
    REQUIRE_MESSAGE(f.inputs.n_sets == 2, "%d", f.inputs.n_sets);
    fixture_close(&f);
}

#define TEST(name, run)                                                                                                \
    { "timing inputs: " name, "[unit][timing]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_timing_inputs[] = {
    TEST("steps change what may change and come back", steps_change_what_may_change_and_come_back),
    TEST("steering inputs keep their values", steering_inputs_keep_their_values),
    TEST("calls of a batch differ and end with the step", calls_of_a_batch_differ_and_end_with_the_step),
    TEST("much memory means fewer sets", much_memory_means_fewer_sets),
    {0},
};
