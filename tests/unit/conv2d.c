/* conv2d: what its op refuses, and its oracle against loops of another form and against values worked out by hand. */
#include "kernels/conv2d/conv2d.h"
#include "base/rng.h"
#include "harness/casegen.h"
#include "kernels/registry.h"
#include "tests/catch_shim.h"
#include "tests/op_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const kerf_test kerf_tests_unit_conv2d[];

static kerf_arena arena;
static kerf_error error;

static const kerf_op_entry *entry_of(void) {
    return op_entry_anew("conv2d", &arena);
}

static kerf_status describe(const char *line, kerf_problem *problem) {
    const kerf_op_entry *const entry = entry_of();
    kerf_case c;
    KERF_TRY(kerf_case_parse(entry->op, line, &arena, &c, &error));
    return entry->op->describe(&c, &arena, problem, &error);
}

/* ---- op --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *line, *says;
} refusals[] = {
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 dilation=0,1", "axis H has stride 1 and dilation 0"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 dilation=1,-1", "axis W has stride 1 and dilation -1"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 stride=1,0", "axis W has stride 0 and dilation 1"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 stride=-2,1", "axis H has stride -2 and dilation 1"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 pads=-1,0,2,0", "pads -1 and 2 of axis H must be at least 0"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 pads=0,3,0,-4", "pads 3 and -4 of axis W must be at least 0"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 pads=1,1", "pads has 2 numbers: it takes 4"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 pads=1,1,1,1,1", "pads has 5 numbers: it takes 4"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 stride=2", "stride has 1 numbers: it takes 2"},
    {"N=1 C=1 H=5 W=5 M=1 kh=3 kw=3 dilation=2,2,2", "dilation has 3 numbers: it takes 2"},
    {"N=1 C=6 H=5 W=5 M=4 kh=3 kw=3 groups=4", "groups=4 must divide the 6 channels C and the 4 filters M"},
    {"N=1 C=6 H=5 W=5 M=4 kh=3 kw=3 groups=3", "groups=3 must divide the 6 channels C and the 4 filters M"},
    {"N=1 C=6 H=5 W=5 M=4 kh=3 kw=3 groups=0", "groups=0 must be at least 1"},
    {"N=1 C=6 H=5 W=5 M=4 kh=3 kw=3 groups=-2", "groups=-2 must be at least 1"},
    {"N=1 C=1 H=2 W=5 M=1 kh=3 kw=3", "axis H: a kernel of 3 with dilation 1 reaches over more than the 2 elements"},
    {"N=1 C=1 H=5 W=4 M=1 kh=3 kw=3 dilation=1,3 pads=0,1,0,1", "axis W: a kernel of 3 with dilation 3 reaches over"},
    {"N=1 C=1 H=5 W=1 M=1 kh=5 kw=1 dilation=2147483647,1", "axis H: a kernel of 5 with dilation 2147483647 reaches"},
    {"N=1 C=1 H=5 W=5 M=1 kh=5 kw=1 dilation=9223372036854775807,1", "axis H: a kernel of 5 with dilation 92233"},
    {"N=1 C=1 H=5 W=5 M=1 kh=0 kw=3", "the kernel has size 0 along axis H: at least 1"},
    {"N=1 C=1 H=5 W=5 M=1 kh=1 kw=0", "the kernel has size 0 along axis W: at least 1"},
    {"N=1 C=1 H=5 W=5 M=1 kh=1 kw=1 pads=9223372036854775807,0,1,0", "axis H of size 5 with pads"},
    {"N=1 C=1 H=5 W=5 M=1 kh=1 kw=1 pads=0,1152921504606846976,0,1", "axis W of size 5 with pads"},
    {"N=4294967296 C=4294967296 H=5 W=5 M=1 kh=1 kw=1", "x has more elements than can be numbered"},
    {"N=1 C=1073741824 H=1 W=1 M=1073741824 kh=8 kw=1 pads=7,0,0,0", "w has more elements than can be numbered"},
    {"N=1048576 C=1 H=1 W=1 M=1048576 kh=1 kw=1 pads=16777216,0,0,0", "y has more elements than can be numbered"},
    {"N=-1 C=1 H=5 W=5 M=1 kh=1 kw=1", "N=-1: a size is a whole number"},
    {"N=1 C=1 H=5 W=5 M=1 kh=1", "missing sizes: kw"},
    {"N=2 C=1 H=5 W=5 M=1 kh=1 kw=1 layout=y=strides:0:25:5:1", "share memory"},
};

static void refuses_bad_cases(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i) {
        kerf_problem problem;
        const kerf_status status = describe(refusals[i].line, &problem);
        REQUIRE_MESSAGE(status == KERF_ERROR_USAGE && strstr(error.message, refusals[i].says), "%s: %s",
                        refusals[i].line, status == KERF_OK ? "was taken" : error.message);
        REQUIRE_MESSAGE(!strchr(error.message, '\n'), "%s: more than one line", refusals[i].line);
    }
}

/* The sizes of y by placing the kernel step by step until it no longer fits. */
static int64_t count_places(int64_t padded, int64_t kernel, int64_t dilation, int64_t stride) {
    int64_t n = 0;
    for (int64_t at = 0; at + (kernel - 1) * dilation < padded; at += stride)
        ++n;
    return n;
}

static void sizes_of_y(void) {
    for (int64_t size = 0; size < 9; ++size)
        for (int64_t kernel = 1; kernel < 5; ++kernel)
            for (int64_t k = 0; k < 81; ++k) {
                const int64_t stride = 1 + k % 3, dilation = 1 + k / 3 % 3, top = k / 9 % 3, bottom = k / 27;
                const kerf_conv2d self = {
                    .stride = {stride, 1}, .dilation = {dilation, 1}, .pads = {top, 0, bottom, 0}, .groups = 1};
                const kerf_strided x = {.rank = 4, .dims = {2, 3, size, 4}}, w = {.rank = 4, .dims = {5, 3, kernel, 4}};
                const int64_t expected = count_places(top + size + bottom, kernel, dilation, stride);
                kerf_strided y;
                const kerf_status status = kerf_conv2d_resolve(&self, &x, &w, NULL, &y, &error);
                REQUIRE(status == (expected < 1 ? KERF_ERROR_USAGE : KERF_OK));
                if (status == KERF_OK)
                    REQUIRE(y.dims[0] == 2 && y.dims[1] == 5 && y.dims[2] == expected && y.dims[3] == 1);
            }
}

static void bias_of_wrong_length(void) {
    const kerf_conv2d self = {.stride = {1, 1}, .dilation = {1, 1}, .groups = 1, .has_bias = true};
    const kerf_strided x = {.rank = 4, .dims = {1, 2, 3, 3}}, w = {.rank = 4, .dims = {5, 2, 1, 1}};
    const kerf_strided scalar = {.rank = 1, .dims = {1}}, matrix = {.rank = 2, .dims = {5, 1}};
    kerf_strided y;
    CHECK(kerf_conv2d_resolve(&self, &x, &w, &scalar, &y, &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "bias has 1 elements: it must have one for each of the 5 filters") != NULL);
    CHECK(kerf_conv2d_resolve(&self, &x, &w, &matrix, &y, &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "bias has rank 2: it must have rank 1") != NULL);
}

/* ---- oracle ----------------------------------------------------------------------------------------------------- */

typedef struct instance {
    kerf_problem problem;
    void *in[KERF_CONV2D_N_IN];
    kerf_expect expect;
} instance;

/* Packed operands in NCHW only. */
static bool open_instance(instance *it, const char *line, uint64_t seed) {
    if (describe(line, &it->problem) != KERF_OK)
        return false;
    kerf_rng rng = kerf_rng_seeded(seed, 0);
    for (int i = 0; i < it->problem.n_in; ++i) {
        int64_t count;
        const kerf_operand *const operand = it->problem.in[i];
        if (!kerf_strided_count(&operand->at, &count))
            return false;
        it->in[i] = kerf_arena_alloc(&arena, ((size_t)count + 1) * kerf_dtype_bytes(operand->dtype), 8);
        if (!it->in[i])
            return false;
    }
    it->problem.op->fill(&it->problem, &rng, it->in);
    return true;
}

static bool expect(instance *it) {
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "conv2d");
    return entry->oracle(&it->problem, (const void *const *)it->in, &it->expect, NULL, &arena, &error) == KERF_OK;
}

static double value(const instance *it, int input, int64_t i) {
    const kerf_dtype dtype = it->problem.in[input]->dtype;
    if (dtype == KERF_I8)
        return ((const int8_t *)it->in[input])[i];
    if (dtype == KERF_I32)
        return ((const int32_t *)it->in[input])[i];
    return kerf_dtype_load(dtype, (const char *)it->in[input] + i * (int64_t)kerf_dtype_bytes(dtype));
}

/* Output that reads the input at `pixel` with tap `tap`; -1: none. */
static int64_t reader_of(const kerf_conv2d *self, int axis, int64_t pixel, int64_t tap, int64_t n_out) {
    const int64_t from_start = pixel + self->pads[axis] - tap * self->dilation[axis];
    const int64_t out = from_start / self->stride[axis];
    return from_start < 0 || from_start % self->stride[axis] != 0 || out >= n_out ? -1 : out;
}

/* The other way round than the definition: each pixel goes to the outputs that read it. */
static void scatter(const instance *it, double *y) {
    const kerf_conv2d *const self = it->problem.self;
    const int64_t *const x = it->problem.in[KERF_CONV2D_X]->at.dims, *const w = it->problem.in[KERF_CONV2D_W]->at.dims;
    const int64_t *const out = it->problem.out[0]->at.dims, plane = out[2] * out[3];
    for (int64_t i = 0; i < out[0] * out[1] * plane; ++i)
        y[i] = self->has_bias ? value(it, KERF_CONV2D_BIAS, i / plane % out[1]) : 0;
    for (int64_t i = 0; i < x[0] * x[1] * x[2] * x[3]; ++i) {
        const int64_t column = i % x[3], row = i / x[3] % x[2], c = i / (x[3] * x[2]) % x[1],
                      n = i / (x[3] * x[2] * x[1]);
        const int64_t group = c / w[1], per_group = out[1] / self->groups;
        for (int64_t k = 0; k < per_group * w[2] * w[3]; ++k) {
            const int64_t v = k % w[3], u = k / w[3] % w[2], m = group * per_group + k / (w[3] * w[2]);
            const int64_t oy = reader_of(self, 0, row, u, out[2]), ox = reader_of(self, 1, column, v, out[3]);
            if (oy >= 0 && ox >= 0)
                y[((n * out[1] + m) * out[2] + oy) * out[3] + ox] +=
                    value(it, KERF_CONV2D_X, i) *
                    value(it, KERF_CONV2D_W, ((m * w[1] + c % w[1]) * w[2] + u) * w[3] + v);
        }
    }
}

static void oracle_is_the_scattered_sum(void) {
    static const char *const types[] = {"f32", "f16", "bf16", "f64", "i8"};
    static const char *const shapes[] = {
        "N=2 C=3 H=5 W=6 M=4 kh=3 kw=2",
        "N=1 C=2 H=6 W=5 M=3 kh=3 kw=3 pads=2,0,1,3 bias=true",
        "N=1 C=2 H=9 W=11 M=2 kh=3 kw=2 stride=2,3 dilation=2,4 pads=1,4,3,0",
        "N=2 C=6 H=4 W=5 M=9 kh=2 kw=3 groups=3 pads=0,1,1,1 bias=true",
        "N=1 C=5 H=6 W=6 M=5 kh=3 kw=3 groups=5 dilation=1,2 stride=2,1 pads=1,2,1,2",
        "N=1 C=3 H=4 W=4 M=6 kh=3 kw=3 groups=3 pads=1,1,1,1 bias=true",
        "N=1 C=2 H=2 W=2 M=2 kh=5 kw=4 pads=3,2,2,3 bias=true",
        "N=1 C=0 H=3 W=3 M=2 kh=2 kw=2 bias=true",
        "N=0 C=2 H=3 W=3 M=2 kh=2 kw=2",
        "N=1 C=2 H=0 W=3 M=2 kh=2 kw=2 pads=1,0,2,0 bias=true",
    };
    static double y[4096];
    for (size_t k = 0; k < 5 * sizeof shapes / sizeof *shapes; ++k) {
        char line[160];
        kerf_text text = kerf_text_over(line, sizeof line);
        kerf_text_printf(&text, "%s dtype=%s fill=exact", shapes[k / 5], types[k % 5]);
        instance it;
        REQUIRE_MESSAGE(open_instance(&it, line, k) && expect(&it), "%s: %s", line, error.message);
        scatter(&it, y);
        for (int64_t i = 0; i < it.expect.n_elements; ++i) {
            const bool right = it.expect.kind == KERF_EXPECT_BITS
                                   ? ((const int32_t *)it.expect.bits)[i] == (int32_t)y[i]
                                   : it.expect.lo[i] == y[i] && it.expect.hi[i] == y[i] && it.expect.slack[i] == 0;
            REQUIRE_MESSAGE(right, "%s: element %lld must be %g", line, (long long)i, y[i]);
        }
    }
}

static bool open_row(instance *it, const char *line, const float *x, const float *w) {
    if (!open_instance(it, line, 0))
        return false;
    memcpy(it->in[KERF_CONV2D_X], x, (size_t)it->problem.in[KERF_CONV2D_X]->at.dims[3] * sizeof *x);
    memcpy(it->in[KERF_CONV2D_W], w, (size_t)it->problem.in[KERF_CONV2D_W]->at.dims[3] * sizeof *w);
    return expect(it);
}

/* Libraries that count the inserted zeros call the second of these dilation 1. */
static void worked_by_hand(void) {
    static const float x[] = {1, 2, 3, 4, 5}, w[] = {1, 2, 3};
    instance it;
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=5 M=1 kh=1 kw=3", x, w));
    CHECK(it.expect.n_elements == 3);
    CHECK(it.expect.lo[0] == 14 && it.expect.lo[1] == 20 && it.expect.lo[2] == 26);
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=5 M=1 kh=1 kw=3 dilation=1,2", x, w));
    CHECK(it.expect.n_elements == 1 && it.expect.lo[0] == 22);
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=5 M=1 kh=1 kw=3 stride=1,2 pads=0,2,0,0", x, w));
    CHECK(it.expect.n_elements == 3);
    CHECK(it.expect.lo[0] == 3 && it.expect.lo[1] == 14 && it.expect.lo[2] == 26);
}

/* Sums that float does not hold exactly have a bound that grows with the terms; the hull stays the true sum. */
static void rounded_sums(void) {
    static const float x[] = {16777216, 1, 1}, w[] = {1, 1, 1}, short_x[] = {0.5f, 0.25f, 1};
    instance it;
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=3 M=1 kh=1 kw=3", x, w));
    CHECK(it.expect.lo[0] == 16777218 && it.expect.hi[0] == 16777218);
    CHECK(it.expect.slack[0] >= 3 && it.expect.slack[0] < 4);
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=3 M=1 kh=1 kw=3", short_x, w));
    CHECK(it.expect.lo[0] == 1.75 && it.expect.slack[0] == 0);
}

/* What is not finite counts where a tap is inside; an infinite weight beside the image may be multiplied by its 0. */
static void classes(void) {
    static const float inf = (float)INFINITY, nan = (float)NAN;
    const float one_infinity[] = {1, inf, 2}, both[] = {inf, -inf, 2}, one_nan[] = {1, 2, nan}, plain[] = {1, 2, 3};
    const float ones[] = {1, 1}, infinite[] = {inf, 1};
    instance it;
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=3 M=1 kh=1 kw=2", one_infinity, ones));
    CHECK(it.expect.lo[0] == (double)INFINITY && it.expect.lo[1] == (double)INFINITY);
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=3 M=1 kh=1 kw=2", both, ones));
    CHECK(isnan(it.expect.lo[0]) && it.expect.lo[1] == -(double)INFINITY);
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=3 M=1 kh=1 kw=2", one_nan, ones));
    CHECK(it.expect.lo[0] == 3 && isnan(it.expect.lo[1]));
    REQUIRE(open_row(&it, "N=1 C=1 H=1 W=3 M=1 kh=1 kw=2 pads=0,1,0,0", plain, infinite));
    CHECK(isinf(it.expect.slack[0]));
    CHECK(it.expect.lo[1] == (double)INFINITY && !isinf(it.expect.slack[1]));
}

/* -128 times -128, and a bias at the end of i32: modulo 2^32. */
static void whole_sums_wrap(void) {
    instance it;
    REQUIRE(open_instance(&it, "N=1 C=4 H=1 W=1 M=2 kh=1 kw=1 dtype=i8 bias=true", 0));
    memset(it.in[KERF_CONV2D_X], -128, 4);
    memset(it.in[KERF_CONV2D_W], -128, 8);
    ((int32_t *)it.in[KERF_CONV2D_BIAS])[0] = 0;
    ((int32_t *)it.in[KERF_CONV2D_BIAS])[1] = INT32_MAX;
    REQUIRE(expect(&it));
    CHECK(((const int32_t *)it.expect.bits)[0] == 65536);
    CHECK(((const int32_t *)it.expect.bits)[1] == INT32_MIN + 65535);
}

static void small_arena(void) {
    instance it;
    REQUIRE(open_instance(&it, "N=1 C=1 H=64 W=64 M=8 kh=1 kw=1", 0));
    const size_t size = arena.size;
    arena.size = arena.used + 1024;
    const bool was_taken = expect(&it);
    arena.size = size;
    CHECK(!was_taken);
    CHECK(strstr(error.message, "the oracle of conv2d needs") != NULL);
}

const kerf_test kerf_tests_unit_conv2d[] = {
    {"conv2d: refuses with one line that names axis and values", "[unit][conv2d]", refuses_bad_cases, __FILE__,
     __LINE__},
    {"conv2d: y has as many places as the kernel fits in", "[unit][conv2d]", sizes_of_y, __FILE__, __LINE__},
    {"conv2d: refuses a bias that is not one number per filter", "[unit][conv2d]", bias_of_wrong_length, __FILE__,
     __LINE__},
    {"conv2d oracle: is the sum with each pixel scattered", "[unit][conv2d]", oracle_is_the_scattered_sum, __FILE__,
     __LINE__},
    {"conv2d oracle: rows worked out by hand", "[unit][conv2d]", worked_by_hand, __FILE__, __LINE__},
    {"conv2d oracle: bounds sums that are not exact", "[unit][conv2d]", rounded_sums, __FILE__, __LINE__},
    {"conv2d oracle: what is not finite", "[unit][conv2d]", classes, __FILE__, __LINE__},
    {"conv2d oracle: whole sums wrap", "[unit][conv2d]", whole_sums_wrap, __FILE__, __LINE__},
    {"conv2d oracle: says what a small arena lacks", "[unit][conv2d]", small_arena, __FILE__, __LINE__},
    {0}};
