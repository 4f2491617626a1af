/* The forward of the grid sampler: its op, its case sets, its oracle, and its plain C entry. */
#include "tests/grid_sampler_fixture.h"

#include "harness/casegen.h"
#include "kernels/registry.h"

static kerf_arena arena;
static kerf_error error;

static const kerf_op_entry *entry_of(void) {
    return op_entry_anew("grid_sampler", &arena);
}

/* ---- op ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *line, *says;
} refusals[] = {
    {"N=-1 C=3 H=4 W=5 Ho=2 Wo=2", "N=-1: a size is a whole number"},
    {"N=1 C=3 H=0 W=5 Ho=2 Wo=2", "x has H=0: H must be at least 1"},
    {"N=1 C=3 H=4 W=0 Ho=2 Wo=2", "x has W=0: W must be at least 1"},
    {"N=1 C=3 H=4 W=5 Ho=2", "missing sizes: Wo"},
    {"N=1 C=1073741824 H=1073741824 W=1073741824 Ho=2 Wo=2", "more elements than can be numbered"},
    {"N=2 C=3 H=4 W=5 Ho=2 Wo=2 layout=y=strides:0:4:2:1", "share memory"},
    {"N=2 C=3 H=4 W=5 Ho=2 Wo=2 layout=dx=nhwc", "has no operand"},
};

static void refuses_bad_cases(void) {
    const kerf_op_entry *const entry = entry_of();
    REQUIRE(entry != NULL);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i) {
        kerf_case c;
        kerf_problem problem;
        kerf_status status = kerf_case_parse(entry->op, refusals[i].line, &arena, &c, &error);
        if (status == KERF_OK)
            status = entry->op->describe(&c, &arena, &problem, &error);
        REQUIRE_MESSAGE(status == KERF_ERROR_USAGE && strstr(error.message, refusals[i].says), "%s: %s",
                        refusals[i].line, error.message);
    }
    kerf_case c;
    REQUIRE(kerf_case_parse(entry->op, "accumulate=storage N=1 C=1 H=1 W=1 Ho=1 Wo=1", &arena, &c, &error) ==
            KERF_ERROR_USAGE);
}

static int count_lines(const char *text) {
    int n = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        n += *line != '#' && *line != '\n';
    return n;
}

static void case_sets(void) {
    static const struct {
        const char *name;
        int least;
    } sets[] = {{"smoke", 20}, {"edge", 60}, {"bench", 12}, {"models", 8}, {"large", 8}};
    const kerf_op_entry *const entry = entry_of();
    for (size_t s = 0; s < sizeof sets / sizeof *sets; ++s)
        for (int i = 0; entry->cases[i]; i += 2) {
            if (strcmp(entry->cases[i], sets[s].name) != 0)
                continue;
            kerf_case_list list = {0};
            const int n_lines = count_lines(entry->cases[i + 1]);
            REQUIRE_MESSAGE(n_lines >= sets[s].least, "%s has %d lines", sets[s].name, n_lines);
            REQUIRE_MESSAGE(kerf_cases_read(entry->op, sets[s].name, entry->cases[i + 1], KERF_EXPAND_PAIRS, NULL,
                                            &arena, &list, &error) == KERF_OK,
                            "%s: %s", sets[s].name, error.message);
            for (int k = 0; k < list.n; ++k) {
                kerf_problem problem;
                REQUIRE_MESSAGE(entry->op->describe(&list.at[k], &arena, &problem, &error) == KERF_OK, "%s: %s",
                                sets[s].name, error.message);
            }
            REQUIRE(strcmp(entry->op->fills[list.at[0].fill], "exact") == 0 || strcmp(sets[s].name, "smoke") != 0);
        }
}

/* Three channels of a 4 x 8 image, two samples: one in a cell, one outside. */
static void least_work(void) {
    fixture f;
    fixture_open_forward(&f, KERF_F32, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 3, 4, 8, 1, 2});
    fixture_set_all(&f, KERF_GS_GRID, (const double[]){0.1, 0.1, 9, 0});
    const void *const in[] = {f.data[0], f.data[1]};
    const kerf_work work = f.entry->op->work(&f.problem, in);
    CHECK(work.written_bytes == 2 * 3 * 4);
    CHECK(work.read_bytes == (3 + 4 * 3) * 4); /* both coordinates of the first, one of the second; four pixels */
    CHECK(work.flops == 7 * 3);
    f.modes.interpolation = KERF_NEAREST;
    CHECK(f.entry->op->work(&f.problem, in).flops == 0);
    CHECK(f.entry->op->work(&f.problem, in).read_bytes == (3 + 3) * 4);
    fixture_close(&f);
}

/* ---- oracle ----------------------------------------------------------------------------------------------------- */

static bool expect_one(fixture *f, kerf_grid_sampler_modes modes, int width, const double *x, double gx) {
    fixture_open_forward(f, KERF_F32, modes, (int64_t[]){1, 1, 1, width, 1, 1});
    fixture_set_all(f, KERF_GS_X, x);
    fixture_set(f, KERF_GS_GRID, 0, gx);
    return fixture_expect(f);
}

/* 1.5 in float and 1.49999999 in double: nearest may take either pixel, and copies it without rounding. */
static void halfway_points(void) {
    fixture f;
    REQUIRE(expect_one(&f, (kerf_grid_sampler_modes){.interpolation = KERF_NEAREST}, 5,
                       (const double[]){.1, .2, .3, .4, .5}, -0.2f));
    CHECK(f.expect[0].lo[0] == (double).2f && f.expect[0].hi[0] == (double).3f && f.expect[0].slack[0] == 0);
    fixture_close(&f);
}

/* Dyadic weights and whole numbers: one answer. Not where the sum needs more digits than float has. */
static void exact_points(void) {
    fixture f;
    REQUIRE(expect_one(&f, (kerf_grid_sampler_modes){0}, 4, (const double[]){1, 2, 4, 8}, 0.125));
    CHECK(f.expect[0].lo[0] == 3.5 && f.expect[0].hi[0] == 3.5 && f.expect[0].slack[0] == 0);
    fixture_close(&f);
    REQUIRE(expect_one(&f, (kerf_grid_sampler_modes){0}, 4, (const double[]){1, 16777216, 1, 1}, 0.125));
    CHECK(f.expect[0].slack[0] > 0);
    fixture_close(&f);
}

/* What is not finite counts where a tap weighs it, not where a tap is skipped or may weigh nothing. */
static void classes(void) {
    static const double x[] = {1, (double)INFINITY, 2, 3};
    static const struct {
        double gx, lo;
        bool compared;
    } points[] = {{-0.5, (double)INFINITY, true}, {0.5, 2.5, true}, {-0.75, 1, false}, {-1.25, 0, true}};
    for (int i = 0; i < 4; ++i) {
        fixture f;
        REQUIRE(expect_one(&f, (kerf_grid_sampler_modes){0}, 4, x, points[i].gx));
        CHECK((f.expect[0].slack[0] < (double)INFINITY) == points[i].compared);
        if (points[i].compared)
            CHECK(f.expect[0].lo[0] == points[i].lo);
        fixture_close(&f);
    }
}

static void small_arena(void) {
    fixture f;
    fixture_open_forward(&f, KERF_F32, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 8, 16, 16, 16, 16});
    const void *const in[] = {f.data[0], f.data[1]};
    f.arena.size = f.arena.used + 1024;
    REQUIRE(f.entry->oracle(&f.problem, in, f.expect, NULL, &f.arena, &error) == KERF_ERROR_MEMORY);
    CHECK(strstr(error.message, "the oracle of grid_sampler needs") != NULL);
    fixture_close(&f);
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

enum { N = 2, C = 3, H = 4, W = 5, HO = 3, WO = 2 };

typedef struct call {
    kerf_grid_sampler_args args;
    float x[N * C * H * W], grid[N * HO * WO * 2], y[N * C * HO * WO];
} call;

static kerf_tensor tensor_of(void *data, int64_t d0, int64_t d1, int64_t d2, int64_t d3) {
    kerf_tensor tensor = {.data = data, .at = {.rank = 4, .dims = {d0, d1, d2, d3}}};
    kerf_strided_pack(&tensor.at);
    return tensor;
}

static void set_up(call *c) {
    *c = (call){.args = {.bytes = sizeof c->args, .dtype = KERF_F32}};
    for (int i = 0; i < N * C * H * W; ++i)
        c->x[i] = (float)(i % 7);
    for (int i = 0; i < N * C * HO * WO; ++i)
        c->y[i] = 99;
    c->args.x = tensor_of(c->x, N, C, H, W);
    c->args.grid = tensor_of(c->grid, N, HO, WO, 2);
    c->args.y = tensor_of(c->y, N, C, HO, WO);
}

static void wrong_bytes(call *c) {
    c->args.bytes -= 8;
}
static void wrong_type(call *c) {
    c->args.dtype = KERF_I32;
}
static void wrong_mode(call *c) {
    c->args.modes.padding = (kerf_padding)3;
}
static void sums_in_storage(call *c) {
    c->args.modes.accumulate = KERF_ACCUMULATE_STORAGE;
}
static void wrong_rank(call *c) {
    c->args.x.at.rank = 3;
}
static void other_n(call *c) {
    c->args.grid.at.dims[0] = 1;
}
static void three_coordinates(call *c) {
    c->args.grid.at.dims[3] = 3;
}
static void no_rows(call *c) {
    c->args.x.at.dims[2] = 0;
}
static void other_y(call *c) {
    c->args.y.at.dims[2] = HO + 1;
}
static void no_y(call *c) {
    c->args.y.data = NULL;
}
static void askew(call *c) {
    c->args.grid.data = (char *)c->grid + 1;
}
static void y_over_x(call *c) {
    c->args.y.data = c->x;
}
static void overlapping_y(call *c) {
    c->args.y.at.strides[0] = 0;
}

static void refuses_mistakes(void) {
    static const struct {
        void (*spoil)(call *c);
        const char *says;
    } mistakes[] = {{wrong_bytes, "args->bytes"},
                    {wrong_type, "type of x"},
                    {wrong_mode, "padding mode 3"},
                    {sums_in_storage, "accumulate"},
                    {wrong_rank, "rank"},
                    {other_n, "N="},
                    {three_coordinates, "2"},
                    {no_rows, "H=0"},
                    {other_y, "Ho"},
                    {no_y, "y"},
                    {askew, "grid"},
                    {y_over_x, "x"},
                    {overlapping_y, "share memory"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        call c;
        kerf_memory memory;
        set_up(&c);
        mistakes[i].spoil(&c);
        REQUIRE_MESSAGE(kerf_grid_sampler(&c.args, &error) == KERF_ERROR_USAGE &&
                            strstr(error.message, mistakes[i].says),
                        "mistake %zu: %s", i, error.message);
        REQUIRE(kerf_grid_sampler_memory(&c.args, &memory, &error) == KERF_ERROR_USAGE);
        for (int k = 0; k < N * C * HO * WO; ++k)
            REQUIRE(c.y[k] == 99);
    }
}

/* All points in the middle: the mean of pixels of rows 1 and 2 in column 2. */
static void computes(void) {
    call c;
    kerf_memory memory;
    set_up(&c);
    REQUIRE(kerf_grid_sampler_memory(&c.args, &memory, &error) == KERF_OK);
    void *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 64);
    c.args.scratch = scratch;
    c.args.scratch_bytes = memory.scratch_bytes;
    REQUIRE_MESSAGE(kerf_grid_sampler(&c.args, &error) == KERF_OK, "%s", error.message);
    free(scratch);
    for (int i = 0; i < N * C * HO * WO; ++i) {
        const float *const plane = c.x + i / (HO * WO) * H * W;
        REQUIRE(c.y[i] == (plane[W + 2] + plane[2 * W + 2]) / 2);
    }
}

/* f16 is packed, so scratch is asked for. */
static void asks_for_its_scratch(void) {
    call c;
    kerf_memory memory;
    set_up(&c);
    c.args.dtype = KERF_F16;
    REQUIRE(kerf_grid_sampler_memory(&c.args, &memory, &error) == KERF_OK);
    if (memory.scratch_bytes == 0)
        return;
    REQUIRE(kerf_grid_sampler(&c.args, &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "kerf_grid_sampler_memory") != NULL);
}

#define TEST(name, run)                                                                                                \
    { "grid_sampler: " name, "[unit][grid_sampler]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_unit_grid_sampler[] = {
    TEST("bad cases are refused with names and numbers", refuses_bad_cases),
    TEST("case sets have their lines and are described", case_sets),
    TEST("work is that of samples inside", least_work),
    TEST("a half-way point may go to either pixel", halfway_points),
    TEST("exact points have no slack", exact_points),
    TEST("classes of y", classes),
    TEST("an arena that is too small is an error", small_arena),
    TEST("mistakes are refused and y untouched", refuses_mistakes),
    TEST("the entry computes", computes),
    TEST("scratch that is missing is refused", asks_for_its_scratch),
    {0},
};
