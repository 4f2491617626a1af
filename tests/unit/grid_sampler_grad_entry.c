#include "base/cpu.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/registry.h"
#include "tests/catch_shim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const kerf_test kerf_tests_unit_grid_sampler_grad_entry[];

enum { N = 2, C = 3, H = 4, W = 5, HO = 3, WO = 2 };

/* Arguments that are right, over memory in which every output element is 99. */
typedef struct call {
    kerf_grid_sampler_grad_args args;
    float grad[N * C * HO * WO], x[N * C * H * W], grid[N * HO * WO * 2], dx[N * C * H * W], dgrid[N * HO * WO * 2];
    kerf_error error;
} call;

static kerf_tensor tensor_of(void *data, int64_t d0, int64_t d1, int64_t d2, int64_t d3) {
    kerf_tensor tensor = {.data = data, .at = {.rank = 4, .dims = {d0, d1, d2, d3}}};
    kerf_strided_pack(&tensor.at);
    return tensor;
}

/* Multiples of `step` around 0: with a dyadic step everything that is computed from them is exact in float. */
static void fill(float *data, size_t n, size_t period, float step) {
    for (size_t i = 0; i < n; ++i)
        data[i] = ((float)(i * 7 % period) - (float)(period / 2)) * step;
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void set_up(call *c) {
    *c = (call){.args = {.bytes = sizeof c->args, .dtype = KERF_F32}};
    fill(c->grad, LENGTH(c->grad), 5, 1);
    fill(c->x, LENGTH(c->x), 9, 1);
    fill(c->grid, LENGTH(c->grid), 17, 0.125f);
    for (size_t i = 0; i < LENGTH(c->dx); ++i)
        c->dx[i] = 99;
    for (size_t i = 0; i < LENGTH(c->dgrid); ++i)
        c->dgrid[i] = 99;
    c->args.grad = tensor_of(c->grad, N, C, HO, WO);
    c->args.x = tensor_of(c->x, N, C, H, W);
    c->args.grid = tensor_of(c->grid, N, HO, WO, 2);
    c->args.dx = tensor_of(c->dx, N, C, H, W);
    c->args.dgrid = tensor_of(c->dgrid, N, HO, WO, 2);
}

static bool is_untouched(const float *data, size_t n) {
    for (size_t i = 0; i < n; ++i)
        if (data[i] != 99)
            return false;
    return true;
}

static bool are_equal(const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; ++i)
        if (a[i] != b[i])
            return false;
    return true;
}

static void wrong_bytes(call *c) {
    c->args.bytes -= 8;
}
static void wrong_type(call *c) {
    c->args.dtype = KERF_I32;
}
static void type_beyond_the_enum(call *c) {
    c->args.dtype = (kerf_dtype)1000;
}
static void wrong_mode(call *c) {
    c->args.modes.padding = (kerf_padding)3;
}
static void wrong_rank(call *c) {
    c->args.x.at.rank = 1 << 20;
}
static void other_n(call *c) {
    c->args.grid.at.dims[0] = 1;
}
static void other_c(call *c) {
    c->args.grad.at.dims[1] = 2;
}
static void small_grad(call *c) {
    c->args.grad = tensor_of(c->grad, N, C, 1, 1);
}
static void three_coordinates(call *c) {
    c->args.grid.at.dims[3] = 3;
}
static void no_rows(call *c) {
    c->args.x.at.dims[2] = c->args.dx.at.dims[2] = 0;
}
static void other_dx(call *c) {
    c->args.dx.at.dims[3] = W - 1;
}
static void other_dgrid(call *c) {
    c->args.dgrid.at.dims[1] = HO + 1;
}
static void no_x(call *c) {
    c->args.x.data = NULL;
}
static void askew(call *c) {
    c->args.grid.data = (char *)c->grid + 1;
}
static void endless_stride(call *c) {
    c->args.x.at.strides[2] = INT64_MAX / 2;
}
static void overlapping_dx(call *c) {
    c->args.dx.at.strides[0] = 0;
}
static void dx_over_x(call *c) {
    c->args.dx.data = c->x;
}
static void dgrid_over_grad(call *c) {
    c->args.dgrid.data = c->grad + LENGTH(c->grad) - 1;
}
static void dgrid_over_dx(call *c) {
    c->args.dgrid.data = c->dx + LENGTH(c->dx) - 1;
}
static void empty_team(call *c) {
    static const kerf_team nobody = {0};
    c->args.team = &nobody;
}

static const struct {
    void (*spoil)(call *);
    const char *says;
} mistakes[] = {
    {wrong_bytes, "args->bytes is"},
    {wrong_type, "i32"},
    {type_beyond_the_enum, "unknown"},
    {wrong_mode, "padding mode 3"},
    {wrong_rank, "x has rank 1048576"},
    {other_n, "grid has N=1 but x has N=2"},
    {other_c, "grad has C=2 but x has C=3"},
    {small_grad, "grad has Ho=1 but grid has Ho=3"},
    {three_coordinates, "last axis of grid has 3"},
    {no_rows, "x has H=0"},
    {other_dx, "dx has W=4 but x has W=5"},
    {other_dgrid, "dgrid has Ho=4 but grid has Ho=3"},
    {no_x, "x has 120 elements but its data is NULL"},
    {askew, "grid"},
    {endless_stride, "more than 2^60 bytes"},
    {overlapping_dx, "dx with strides 0:20:5:1"},
    {dx_over_x, "dx and x share memory"},
    {dgrid_over_grad, "dgrid and grad share memory"},
    {dgrid_over_dx, "dgrid and dx share memory"},
    {empty_team, "team of 0 ranks"},
};

static void refuses_mistakes(void) {
    for (size_t i = 0; i < LENGTH(mistakes); ++i) {
        call c;
        kerf_memory memory;
        set_up(&c);
        mistakes[i].spoil(&c);
        REQUIRE_MESSAGE(kerf_grid_sampler_grad_memory(&c.args, &memory, NULL) == KERF_ERROR_USAGE, "%s",
                        mistakes[i].says);
        REQUIRE_MESSAGE(kerf_grid_sampler_grad(&c.args, &c.error) == KERF_ERROR_USAGE, "%s", mistakes[i].says);
        REQUIRE_MESSAGE(strstr(c.error.message, mistakes[i].says) != NULL, "%zu: %s", i, c.error.message);
        REQUIRE(is_untouched(c.dx, LENGTH(c.dx)) && is_untouched(c.dgrid, LENGTH(c.dgrid)));
    }
}

static void asks_for_its_scratch(void) {
    static uint16_t half[5][N * C * H * W];
    call c;
    kerf_memory memory;
    set_up(&c);
    c.args.dtype = KERF_F16;
    c.args.grad.data = half[0];
    c.args.x.data = half[1];
    c.args.grid.data = half[2];
    c.args.dx.data = half[3];
    c.args.dgrid.data = half[4];
    memset(half[3], 0x11, sizeof half[3]);
    REQUIRE(kerf_grid_sampler_grad_memory(&c.args, &memory, &c.error) == KERF_OK);
    if (memory.scratch_bytes == 0)
        SKIP("the implementation of this machine needs no scratch");
    char needed[32], *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 128);
    kerf_text text = kerf_text_over(needed, sizeof needed);
    kerf_text_printf(&text, "%zu", memory.scratch_bytes);
    c.args.scratch = scratch;
    c.args.scratch_bytes = 7;
    CHECK(kerf_grid_sampler_grad(&c.args, &c.error) == KERF_ERROR_USAGE);
    CHECK(strstr(c.error.message, "7 bytes") && strstr(c.error.message, needed));
    c.args.scratch = NULL;
    CHECK(kerf_grid_sampler_grad(&c.args, &c.error) == KERF_ERROR_USAGE);
    c.args.scratch_bytes = memory.scratch_bytes;
    c.args.scratch = scratch + 1;
    CHECK(memory.alignment < 2 || kerf_grid_sampler_grad(&c.args, &c.error) == KERF_ERROR_USAGE);
    CHECK(half[3][0] == 0x1111);
    c.args.scratch = scratch;
    CHECK(kerf_grid_sampler_grad(&c.args, &c.error) == KERF_OK);
    CHECK(half[3][0] == 0);
    free(scratch);
}

/* Most cases of float need no scratch; where one does, it is given. */
static kerf_status run(call *c) {
    kerf_memory memory;
    KERF_TRY(kerf_grid_sampler_grad_memory(&c->args, &memory, &c->error));
    void *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 64);
    c->args.scratch = scratch;
    c->args.scratch_bytes = memory.scratch_bytes;
    const kerf_status status = kerf_grid_sampler_grad(&c->args, &c->error);
    free(scratch);
    return status;
}

static void computes_what_is_wanted(void) {
    call both, dx_only, dgrid_only, none;
    set_up(&both);
    REQUIRE(run(&both) == KERF_OK);
    REQUIRE(!is_untouched(both.dx, 1) && !is_untouched(both.dgrid, 1));
    set_up(&dx_only);
    dx_only.args.dgrid = (kerf_tensor){.at = {.rank = -3}};
    REQUIRE(run(&dx_only) == KERF_OK);
    REQUIRE(are_equal(dx_only.dx, both.dx, LENGTH(both.dx)) && is_untouched(dx_only.dgrid, LENGTH(both.dgrid)));
    set_up(&dgrid_only);
    dgrid_only.args.dx = (kerf_tensor){.at = {.rank = 99}};
    REQUIRE(run(&dgrid_only) == KERF_OK);
    REQUIRE(are_equal(dgrid_only.dgrid, both.dgrid, LENGTH(both.dgrid)) &&
            is_untouched(dgrid_only.dx, LENGTH(both.dx)));
    set_up(&none);
    none.args.dx.data = none.args.dgrid.data = NULL;
    REQUIRE(run(&none) == KERF_OK);
    REQUIRE(is_untouched(none.dx, LENGTH(none.dx)) && is_untouched(none.dgrid, LENGTH(none.dgrid)));
}

static void backwards(const kerf_team *team, void (*work)(void *, int), void *arg) {
    for (int rank = team->n - 1; rank >= 0; --rank)
        work(arg, rank);
}

static void set_up_inexact(call *c) {
    set_up(c);
    fill(c->grad, LENGTH(c->grad), 19, 0.37f);
    fill(c->x, LENGTH(c->x), 23, 0.73f);
    fill(c->grid, LENGTH(c->grid), 17, 0.13f);
}

static void any_team_gives_the_same_bits(void) {
    call alone, many;
    set_up_inexact(&alone);
    REQUIRE(run(&alone) == KERF_OK);
    for (int n = 1; n < 20; ++n) {
        const kerf_team team = {n, backwards};
        set_up_inexact(&many);
        many.args.team = &team;
        REQUIRE(run(&many) == KERF_OK);
        REQUIRE_MESSAGE(memcmp(alone.dx, many.dx, sizeof many.dx) == 0, "dx of %d ranks", n);
        REQUIRE_MESSAGE(memcmp(alone.dgrid, many.dgrid, sizeof many.dgrid) == 0, "dgrid of %d ranks", n);
    }
}

/* x and dx as the even and the odd elements of one array: no byte is shared. */
static void interleaved_operands_are_fine(void) {
    call apart, c;
    static float woven[2 * N * C * H * W];
    set_up(&apart);
    set_up(&c);
    for (size_t i = 0; i < LENGTH(c.x); ++i)
        woven[2 * i] = c.x[i];
    for (int axis = 0; axis < 4; ++axis)
        c.args.x.at.strides[axis] = c.args.dx.at.strides[axis] = 2 * c.args.x.at.strides[axis];
    c.args.x.data = woven;
    c.args.dx.data = woven + 1;
    REQUIRE(run(&apart) == KERF_OK);
    REQUIRE_MESSAGE(run(&c) == KERF_OK, "%s", c.error.message);
    for (size_t i = 0; i < LENGTH(c.x); ++i)
        REQUIRE(woven[2 * i] == c.x[i] && woven[2 * i + 1] == apart.dx[i]);
}

static void empty_operands_are_fine(void) {
    call c;
    set_up(&c);
    c.args.grad = tensor_of(NULL, N, C, 0, WO);
    c.args.grid = tensor_of(NULL, N, 0, WO, 2);
    c.args.dgrid = tensor_of(c.dgrid, N, 0, WO, 2);
    REQUIRE_MESSAGE(run(&c) == KERF_OK, "%s", c.error.message);
    REQUIRE(is_untouched(c.dgrid, LENGTH(c.dgrid)));
    for (size_t i = 0; i < LENGTH(c.dx); ++i)
        REQUIRE(c.dx[i] == 0);
    set_up(&c);
    c.args.grad = tensor_of(NULL, N, 0, HO, WO);
    c.args.x = tensor_of(NULL, N, 0, H, W);
    c.args.dx = tensor_of(c.dx, N, 0, H, W);
    REQUIRE_MESSAGE(run(&c) == KERF_OK, "%s", c.error.message);
    REQUIRE(is_untouched(c.dx, LENGTH(c.dx)));
    for (size_t i = 0; i < LENGTH(c.dgrid); ++i)
        REQUIRE(c.dgrid[i] == 0);
}

enum { BIG_H = 32769, BIG_W = 65536 };

/* What every row gives for dgrid at the corners of the big image. */
static void check_big_rows(const uint16_t *x, const uint16_t *grid, const uint16_t *grad, kerf_arena *arena) {
    static const double corners[4] = {1, 2, 3, 1.5};
    const kerf_case c = {.op = &kerf_op_grid_sampler_grad,
                         .dim = {1, 1, BIG_H, BIG_W, 2, 2},
                         .dtype = KERF_F16,
                         .layout = "nchw",
                         .want = 2};
    kerf_problem problem;
    REQUIRE(c.op->describe(&c, arena, &problem, NULL) == KERF_OK);
    int n_rows = 0;
    for (const kerf_row *const *row = kerf_registry_find(kerf_registry_builtin(), c.op->name)->rows; *row; ++row) {
        const kerf_variant *const variant = (*row)->variant[KERF_CLASS_REAL32];
        if ((*row)->missing || (*row)->device != KERF_DEVICE_CPU || ((*row)->isa_mask & ~kerf_cpu_isa()) ||
            (variant->memory && variant->memory(&problem, NULL).scratch_bytes > 0))
            continue;
        uint16_t dgrid[8] = {0};
        const kerf_launch launch = {.bytes = sizeof launch,
                                    .problem = &problem,
                                    .in = (const void *const[]){grad, x, grid},
                                    .out = (void *const[]){NULL, dgrid}};
        REQUIRE(variant->run(&launch) == KERF_OK);
        for (int i = 0; i < 8; ++i) {
            /* Half the slope of the one corner that is inside. */
            const double exact = -(double)kerf_f16_to_f32(grid[i]) * (i % 2 ? BIG_H : BIG_W) / 4 * corners[i / 2];
            REQUIRE_MESSAGE(dgrid[i] == kerf_f16_from_f64(exact), "%s: dgrid %d is %g, not %g", (*row)->name, i,
                            (double)kerf_f16_to_f32(dgrid[i]), exact);
        }
        ++n_rows;
    }
    REQUIRE(n_rows >= 2);
}

/* An image of more than 2^31 elements, of which four pages exist. Rows that would copy it are left out. */
static void reaches_beyond_2_31_elements(void) {
    const size_t bytes = (size_t)BIG_H * BIG_W * 2, far = (size_t)(BIG_H - 1) * BIG_W;
    uint16_t *const x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    kerf_arena arena;
    if (x == MAP_FAILED)
        SKIP("no address space for an image of 2^31 elements");
    REQUIRE(kerf_arena_map_shared(&arena, 1 << 16, NULL) == KERF_OK);
    static const float points[8] = {-1, -1, 1, -1, -1, 1, 1, 1};
    uint16_t grad[4], grid[8];
    for (int i = 0; i < 4; ++i)
        grad[i] = kerf_f16_from_f32(1);
    for (int i = 0; i < 8; ++i)
        grid[i] = kerf_f16_from_f32(points[i]);
    x[0] = kerf_f16_from_f32(1);
    x[BIG_W - 1] = kerf_f16_from_f32(2);
    x[far] = kerf_f16_from_f32(3);
    x[far + BIG_W - 1] = kerf_f16_from_f32(1.5f);
    check_big_rows(x, grid, grad, &arena);
    kerf_arena_unmap(&arena);
    munmap(x, bytes);
}

#define TEST(name, run)                                                                                                \
    { "grid_sampler_grad entry: " name, "[unit][kernels]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_grid_sampler_grad_entry[] = {
    TEST("mistakes are refused and outputs untouched", refuses_mistakes),
    TEST("scratch that is missing or askew is refused", asks_for_its_scratch),
    TEST("outputs that are not wanted are untouched", computes_what_is_wanted),
    TEST("teams of any size give the same bits", any_team_gives_the_same_bits),
    TEST("interleaved operands share nothing", interleaved_operands_are_fine),
    TEST("empty operands", empty_operands_are_fine),
    {"grid_sampler_grad rows: images of more than 2^31 elements", "[unit][kernels]", reaches_beyond_2_31_elements,
     __FILE__, __LINE__},
    {0},
};
