/* The oracle of grid_sampler_grad on examples that can be worked out by hand. */
#include "tests/grid_sampler_fixture.h"

#include "base/rng.h"
#include <float.h>

static const kerf_grid_sampler_modes bilinear_zeros = {.interpolation = KERF_BILINEAR, .padding = KERF_PAD_ZEROS};

static void point(fixture *f, int64_t i, double gx, double gy, double grad) {
    fixture_set(f, KERF_GSG_GRID, 2 * i, gx);
    fixture_set(f, KERF_GSG_GRID, 2 * i + 1, gy);
    fixture_set(f, KERF_GSG_GRAD, i, grad);
}

static void open_row(fixture *f, kerf_dtype dtype, kerf_grid_sampler_modes modes, int64_t width, int64_t n_points) {
    fixture_open(f, dtype, modes, (int64_t[]){1, 1, 1, width, 1, n_points});
}

static double lo(const fixture *f, int output, int64_t i) {
    return f->expect[output].lo[i];
}

static double hi(const fixture *f, int output, int64_t i) {
    return f->expect[output].hi[i];
}

static double slack(const fixture *f, int output, int64_t i) {
    return f->expect[output].slack[i];
}

static bool is_exactly(const fixture *f, int output, int64_t i, double value) {
    return lo(f, output, i) == value && hi(f, output, i) == value && slack(f, output, i) == 0;
}

static bool is_any(const fixture *f, int output, int64_t i) {
    return isinf(slack(f, output, i));
}

/* W = 11: the coordinate of this point is 2 when (g + 1) W is rounded and 1.9999999 when it is not, and x = i i then
 * has slope 5 or 3 per pixel, 5.5 pixels per unit. */
static void kink(void) {
    fixture f;
    open_row(&f, KERF_F32, bilinear_zeros, 11, 1);
    for (int64_t i = 0; i < 11; ++i)
        fixture_set(&f, KERF_GSG_X, i, (double)(i * i));
    point(&f, 0, -0.54545456f, 0, 1);
    REQUIRE(fixture_expect(&f));
    REQUIRE(lo(&f, KERF_GSG_DGRID, 0) == 16.5);
    REQUIRE(hi(&f, KERF_GSG_DGRID, 0) == 27.5);
    REQUIRE(slack(&f, KERF_GSG_DGRID, 0) > 0);
    REQUIRE(slack(&f, KERF_GSG_DGRID, 0) < 1e-4);
    REQUIRE(lo(&f, KERF_GSG_DX, 1) == 0);
    REQUIRE(hi(&f, KERF_GSG_DX, 1) > 0);
    REQUIRE(hi(&f, KERF_GSG_DX, 1) < 1e-6);
    REQUIRE(hi(&f, KERF_GSG_DX, 2) == 1);
    REQUIRE(hi(&f, KERF_GSG_DX, 3) == 0);
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 5, 0));
    fixture_close(&f);
}

/* Half-way points: which pixel is nearest depends on the form, so both may get the gradient. */
static void nearest_kink(void) {
    fixture f;
    const kerf_grid_sampler_modes modes = {.interpolation = KERF_NEAREST, .padding = KERF_PAD_ZEROS};
    open_row(&f, KERF_F32, modes, 5, 1);
    point(&f, 0, -0.2f, 0, 3);
    REQUIRE(fixture_expect(&f));
    for (int64_t i = 1; i <= 2; ++i) {
        REQUIRE(lo(&f, KERF_GSG_DX, i) == 0);
        REQUIRE(hi(&f, KERF_GSG_DX, i) == 3);
    }
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 0, 0));
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, 0));
    fixture_close(&f);
}

/* v = 1.25 on a width of 4: everything is a small multiple of 1/4. */
static void exact_points(void) {
    for (kerf_dtype dtype = KERF_F16; dtype <= KERF_F64; ++dtype)
        for (int a = KERF_ACCUMULATE_F32; a <= KERF_ACCUMULATE_STORAGE; ++a) {
            fixture f;
            kerf_grid_sampler_modes modes = bilinear_zeros;
            modes.accumulate = (kerf_accumulate)a;
            open_row(&f, dtype, modes, 4, 2);
            fixture_set_all(&f, KERF_GSG_X, (const double[]){1, 2, 4, 8});
            point(&f, 0, -0.125, 0, 3);
            point(&f, 1, -0.125, 0, -1);
            REQUIRE(fixture_expect(&f));
            REQUIRE(is_exactly(&f, KERF_GSG_DX, 0, 0));
            REQUIRE(is_exactly(&f, KERF_GSG_DX, 1, 1.5));
            REQUIRE(is_exactly(&f, KERF_GSG_DX, 2, 0.5));
            REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, 12));
            REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 2, -4));
            fixture_close(&f);
        }
}

/* t = 1/2: weights -0.09375, 0.59375, 0.59375, -0.09375; slopes 0.1875, -1.3125, 1.3125, -0.1875. */
static void exact_bicubic(void) {
    fixture f;
    const kerf_grid_sampler_modes modes = {.interpolation = KERF_BICUBIC, .padding = KERF_PAD_BORDER};
    open_row(&f, KERF_F32, modes, 4, 1);
    fixture_set_all(&f, KERF_GSG_X, (const double[]){1, 2, 4, 8});
    point(&f, 0, 0, 0, 2);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 0, -0.1875));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 1, 1.1875));
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, 2 * 2 * (0.1875 - 2.625 + 5.25 - 1.5)));
    fixture_close(&f);
}

/* A weight of more bits than the type takes back the exactness, and so do sums that leave the digits. */
static void inexact_points(void) {
    fixture f;
    open_row(&f, KERF_F32, bilinear_zeros, 4, 2);
    point(&f, 0, -0.125f + 0x1p-20f, 0, 3);
    point(&f, 1, 0.75, 0, 1);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 3, 1));
    REQUIRE(slack(&f, KERF_GSG_DX, 1) == 0);
    fixture_set(&f, KERF_GSG_GRAD, 0, 1.1f);
    REQUIRE(fixture_expect(&f));
    REQUIRE(slack(&f, KERF_GSG_DX, 1) > 0);
    point(&f, 0, 0.75, 0, 0x1p24);
    REQUIRE(fixture_expect(&f));
    REQUIRE(lo(&f, KERF_GSG_DX, 3) == 0x1p24 + 1);
    REQUIRE(slack(&f, KERF_GSG_DX, 3) > 0);
    fixture_close(&f);
}

/* The cubic of 6 fractional bits has 20, which leaves the steps of any algebra their 4 bits before the point; 7 do not.
 */
static void bits_of_bicubic(void) {
    const kerf_grid_sampler_modes modes = {.interpolation = KERF_BICUBIC, .padding = KERF_PAD_BORDER};
    for (int bits = 5; bits <= 8; ++bits) {
        fixture f;
        open_row(&f, KERF_F32, modes, 4, 1);
        point(&f, 0, -0.25 + ldexp(0.5, -bits), 0, 1);
        REQUIRE(fixture_expect(&f));
        REQUIRE_MESSAGE((slack(&f, KERF_GSG_DX, 1) == 0) == (bits <= 6), "%d bits", bits);
        fixture_close(&f);
    }
}

/* Every way to write the coordinate that docs/verification.md lists, written out once more. */
static int legal_coordinates(float g, int64_t width, kerf_corners corners, double v[5]) {
    const float size = (float)width, last = (float)(width - 1);
    const volatile float sum = g + 1, product = sum * size, less = product - 1;
    if (corners == KERF_CORNERS_ALIGNED) {
        const volatile float folded = g * (last / 2), half = sum / 2;
        v[0] = half * last;
        v[1] = fmaf(g, last / 2, last / 2);
        v[2] = folded + last / 2;
        v[3] = ((double)g + 1) / 2 * (double)(width - 1);
        return 4;
    }
    const volatile float folded = g * (size / 2);
    v[0] = less / 2;
    v[1] = fmaf(sum, size, -1) / 2;
    v[2] = fmaf(g, size / 2, last / 2);
    v[3] = folded + last / 2;
    v[4] = (((double)g + 1) * (double)width - 1) / 2;
    return 5;
}

/* What a legal coordinate gives to its two pixels lies in the hull itself, without any slack. */
static void check_forms(const fixture *f, float g, int64_t width) {
    double v[5];
    const int n = legal_coordinates(g, width, f->modes.corners, v);
    for (int k = 0; k < n; ++k)
        for (int side = 0; side < 2; ++side) {
            const double pixel = floor(v[k]) + side, weight = 1 - fabs(v[k] - pixel);
            if (pixel < 0 || pixel >= (double)width)
                continue;
            const double low = lo(f, KERF_GSG_DX, (int64_t)pixel), high = hi(f, KERF_GSG_DX, (int64_t)pixel);
            REQUIRE_MESSAGE(low <= weight && weight <= high, "form %d of %.9g on %lld: %.17g not in [%.17g, %.17g]", k,
                            g, (long long)width, weight, low, high);
        }
}

/* The rarest form is the extreme one for one point in 500. */
static void legal_forms(void) {
    enum { WIDEST = 100, POINTS = 100 };
    kerf_rng rng = kerf_rng_seeded(1, 0);
    for (int i = 0; i < 2 * WIDEST && !kerf_test_failed(); ++i) {
        fixture f;
        kerf_grid_sampler_modes modes = bilinear_zeros;
        modes.corners = (kerf_corners)(i % 2);
        const int64_t width = 1 + i / 2;
        open_row(&f, KERF_F32, modes, width, 1);
        for (int k = 0; k < POINTS && !kerf_test_failed(); ++k) {
            const float g = (float)(2 * kerf_rng_unit(&rng) - 1);
            point(&f, 0, g, 0, 1);
            if (fixture_expect(&f))
                check_forms(&f, g, width);
            kerf_arena_rewind(&f.arena, 0);
        }
        fixture_close(&f);
    }
}

/* 2^18 samples in one cell: the answer is one number, and one lost update is wrong. */
static void one_cell(void) {
    enum { SIDE = 512 };
    fixture f;
    fixture_open(&f, KERF_F32, bilinear_zeros, (int64_t[]){1, 1, 4, 4, SIDE, SIDE});
    for (int64_t i = 0; i < SIDE * SIDE; ++i)
        point(&f, i, -0.125, -0.125, i % 3 == 0 ? 2 : 1);
    REQUIRE(fixture_expect(&f));
    const double total = SIDE * SIDE + (SIDE * SIDE + 2) / 3;
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 5, total * 0.75 * 0.75));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 6, total * 0.25 * 0.75));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 10, total * 0.25 * 0.25));
    fixture_close(&f);
}

/* f16 and bf16 outputs: the bounds are those of the float sum; the one rounding at the end is the comparison's part. */
static void narrow_outputs(void) {
    fixture f;
    open_row(&f, KERF_F16, bilinear_zeros, 4, 3);
    for (int64_t i = 0; i < 3; ++i)
        point(&f, i, 0.75, 0, i == 0 ? 2048 : 0.5);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 3, 2049));
    const uint16_t even = kerf_f16_from_f64(2048), next = kerf_f16_from_f64(2050);
    REQUIRE(kerf_compare_element(&f.expect[KERF_GSG_DX], KERF_F16, 3, &even) <= 1);
    REQUIRE(kerf_compare_element(&f.expect[KERF_GSG_DX], KERF_F16, 3, &next) > 1);
    fixture_close(&f);
    /* 2048 + 0.5 is not a sum that f16 makes without rounding. */
    kerf_grid_sampler_modes storage = bilinear_zeros;
    storage.accumulate = KERF_ACCUMULATE_STORAGE;
    open_row(&f, KERF_F16, storage, 4, 3);
    for (int64_t i = 0; i < 3; ++i)
        point(&f, i, 0.75, 0, i == 0 ? 2048 : 0.5);
    REQUIRE(fixture_expect(&f));
    REQUIRE(lo(&f, KERF_GSG_DX, 3) == 2049);
    REQUIRE(slack(&f, KERF_GSG_DX, 3) >= 3 * 0x1p-11 * 2049);
    REQUIRE(slack(&f, KERF_GSG_DX, 3) < 3.1 * 0x1p-11 * 2049);
    fixture_close(&f);
}

static void dropped_samples(void) {
    const double huge = (double)INFINITY;
    const double bad[][2] = {{(double)NAN, 0}, {0, (double)NAN}, {huge, 0}, {0, -huge}, {(double)NAN, huge}};
    for (int mode = 0; mode < 9; ++mode)
        for (int i = 0; i < 5; ++i) {
            fixture f;
            const kerf_grid_sampler_modes modes = {.interpolation = (kerf_interpolation)(mode / 3),
                                                   .padding = (kerf_padding)(mode % 3)};
            fixture_open(&f, KERF_F32, modes, (int64_t[]){1, 1, 2, 2, 1, 1});
            fixture_fill(&f, KERF_GSG_X, 5);
            point(&f, 0, bad[i][0], bad[i][1], (double)NAN);
            REQUIRE(fixture_expect(&f));
            const bool is_nan = isnan(bad[i][0]) || isnan(bad[i][1]);
            if (is_nan || modes.interpolation == KERF_BICUBIC || modes.padding != KERF_PAD_BORDER)
                for (int64_t k = 0; k < 4; ++k)
                    REQUIRE(is_exactly(&f, KERF_GSG_DX, k, 0));
            if (is_nan || modes.interpolation == KERF_BICUBIC || modes.padding != KERF_PAD_BORDER)
                REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, 0));
            fixture_close(&f);
        }
}

/* (inf, 0) under border: the edge column, half a weight in each of its rows, and no slope in x. */
static void clipped_infinity(void) {
    fixture f;
    const kerf_grid_sampler_modes modes = {.interpolation = KERF_BILINEAR, .padding = KERF_PAD_BORDER};
    fixture_open(&f, KERF_F32, modes, (int64_t[]){1, 1, 2, 2, 1, 1});
    fixture_set_all(&f, KERF_GSG_X, (const double[]){1, 2, 3, 7});
    point(&f, 0, (double)INFINITY, 0, 2);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 0, 0));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 1, 1));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 3, 1));
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, 0));
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 1, 10));
    fixture_close(&f);
}

/* v = 1.25: taps 1 and 2. Infinite data reach them, and stay away from pixels whose weight may be 0. */
static void classes(void) {
    fixture f;
    const double infinite = (double)INFINITY;
    open_row(&f, KERF_F32, bilinear_zeros, 4, 3);
    fixture_fill(&f, KERF_GSG_X, 1);
    point(&f, 0, -0.125, 0, infinite);
    point(&f, 1, -3, 0, (double)NAN);
    point(&f, 2, 0.25, 0, 1);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 0, 0));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 1, infinite));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 2, infinite));
    REQUIRE(is_any(&f, KERF_GSG_DGRID, 0));
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 2, 0));
    point(&f, 2, -0.125, 0, -infinite);
    REQUIRE(fixture_expect(&f));
    REQUIRE(isnan(lo(&f, KERF_GSG_DX, 1)));
    point(&f, 0, -0.25, 0, infinite);
    point(&f, 2, 0.75, 0, (double)NAN);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 1, infinite));
    REQUIRE(is_any(&f, KERF_GSG_DX, 2) || is_exactly(&f, KERF_GSG_DX, 2, infinite));
    REQUIRE(isnan(lo(&f, KERF_GSG_DX, 3)));
    fixture_close(&f);
}

static void classes_of_dgrid(void) {
    fixture f;
    open_row(&f, KERF_F32, bilinear_zeros, 4, 2);
    fixture_set_all(&f, KERF_GSG_X, (const double[]){1, 2, (double)INFINITY, (double)NAN});
    point(&f, 0, -0.125, 0, -3);
    point(&f, 1, 0.375, 0, 1);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, -(double)INFINITY));
    REQUIRE(isnan(lo(&f, KERF_GSG_DGRID, 2)));
    fixture_close(&f);
}

/* Sums of absolute values beyond the largest float may overflow on the way, in one order and not in another. */
static void overflow(void) {
    fixture f;
    open_row(&f, KERF_F32, bilinear_zeros, 4, 2);
    point(&f, 0, 0.75, 0, FLT_MAX);
    point(&f, 1, 0.75, 0, -FLT_MAX);
    REQUIRE(fixture_expect(&f));
    REQUIRE(is_any(&f, KERF_GSG_DX, 3));
    REQUIRE(is_exactly(&f, KERF_GSG_DX, 0, 0));
    fixture_close(&f);
}

static void fill_randomly(fixture *f, uint64_t seed) {
    kerf_rng rng = kerf_rng_seeded(seed, 0);
    for (int input = 0; input < KERF_GSG_N_IN; ++input)
        for (int64_t i = 0; i < f->count[input]; ++i)
            fixture_set(f, input, i, 3 * kerf_rng_unit(&rng) - 1.5);
}

/* Ranks change nothing: the bounds are the same bits for any team. */
static void any_team(void) {
    for (int mode = 0; mode < 9; ++mode) {
        fixture f;
        const kerf_grid_sampler_modes modes = {.interpolation = (kerf_interpolation)(mode / 3),
                                               .padding = (kerf_padding)(mode % 3)};
        fixture_open(&f, KERF_F32, modes, (int64_t[]){2, 3, 5, 7, 3, 4});
        fill_randomly(&f, (uint64_t)mode);
        REQUIRE(fixture_expect(&f));
        kerf_expect one[KERF_GSG_N_OUT];
        memcpy(one, f.expect, sizeof one);
        for (int n = 2; n <= 9; n += 7) {
            const kerf_serial_team team = kerf_serial_team_of(n);
            REQUIRE(fixture_expect_by(&f, &team.team));
            for (int o = 0; o < KERF_GSG_N_OUT; ++o) {
                const size_t bytes = (size_t)one[o].n_elements * sizeof(double);
                REQUIRE(memcmp(one[o].lo, f.expect[o].lo, bytes) == 0);
                REQUIRE(memcmp(one[o].hi, f.expect[o].hi, bytes) == 0);
                REQUIRE(memcmp(one[o].slack, f.expect[o].slack, bytes) == 0);
            }
        }
        fixture_close(&f);
    }
}

/* Inputs are read where their strides say: an x of 2^31 equal elements is one element of memory. */
static void strided_inputs(void) {
    fixture f;
    fixture_open(&f, KERF_F32, bilinear_zeros, (int64_t[]){1, 1, 1, 1, 1, 1});
    kerf_strided *const x = &f.operand[KERF_GSG_X].at, *const dx = &f.operand[KERF_GSG_N_IN + KERF_GSG_DX].at;
    x->dims[2] = dx->dims[2] = 32769;
    x->dims[3] = dx->dims[3] = 65536;
    memset(x->strides, 0, sizeof x->strides);
    f.problem.want = 1u << KERF_GSG_DGRID;
    fixture_fill(&f, KERF_GSG_X, 4);
    point(&f, 0, 1, 1, 1);
    REQUIRE(fixture_expect(&f));
    REQUIRE(f.expect[KERF_GSG_DX].kind == KERF_EXPECT_NOTHING);
    REQUIRE(is_exactly(&f, KERF_GSG_DGRID, 0, -4 * 0.5 * 32768));
    fixture_close(&f);
}

static void empty_outputs(void) {
    for (int axis = 0; axis < 6; ++axis) {
        if (axis == 2 || axis == 3)
            continue;
        fixture f;
        int64_t dims[] = {2, 2, 2, 2, 2, 2};
        dims[axis] = 0;
        fixture_open(&f, KERF_F32, bilinear_zeros, dims);
        REQUIRE(fixture_expect(&f));
        for (int o = 0; o < KERF_GSG_N_OUT; ++o) {
            REQUIRE(f.expect[o].n_elements == f.count[KERF_GSG_N_IN + o]);
            for (int64_t i = 0; i < f.expect[o].n_elements; ++i)
                REQUIRE(is_exactly(&f, o, i, 0));
        }
        fixture_close(&f);
    }
}

static void small_arena(void) {
    fixture f;
    fixture_open(&f, KERF_F32, bilinear_zeros, (int64_t[]){1, 4, 64, 64, 1, 1});
    f.arena.used = f.arena.size - 1000;
    kerf_error error = {0};
    const void *const in[] = {f.data[0], f.data[1], f.data[2]};
    REQUIRE(f.entry->oracle(&f.problem, in, f.expect, NULL, &f.arena, &error) == KERF_ERROR_MEMORY);
    REQUIRE(strstr(error.message, "arena"));
    fixture_close(&f);
}

#define TEST(name, run)                                                                                                \
    { "oracle: " name, "[unit][oracle]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_unit_oracle[] = {
    TEST("a kink gives both slopes", kink),
    TEST("a half-way point may go to either pixel", nearest_kink),
    TEST("exact points have no slack", exact_points),
    TEST("exact bicubic points have no slack", exact_bicubic),
    TEST("rounding brings the slack back", inexact_points),
    TEST("bicubic is exact up to 6 fractional bits", bits_of_bicubic),
    TEST("every legal form of the coordinate lies in the hull", legal_forms),
    TEST("one cell of 2^18 samples has one right answer", one_cell),
    TEST("narrow outputs are bounded before their rounding", narrow_outputs),
    TEST("samples that are not finite are dropped", dropped_samples),
    TEST("an infinite point is clipped under border", clipped_infinity),
    TEST("classes of dx", classes),
    TEST("classes of dgrid", classes_of_dgrid),
    TEST("possible overflow is not compared", overflow),
    TEST("bounds do not depend on the team", any_team),
    TEST("inputs are read through their strides", strided_inputs),
    TEST("empty extents", empty_outputs),
    TEST("an arena that is too small is an error", small_arena),
    {0},
};
