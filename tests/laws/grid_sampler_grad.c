/* Laws that hold whatever the implementation: the gradient is the adjoint of the forward, its dgrid is the forward's
 * slope, and it is linear in grad. The forward here is written for this test, in long double, from the definition. */
#include "tests/grid_sampler_fixture.h"

#include "base/rng.h"
#include <float.h>

enum { N = 2, C = 3, H = 6, W = 5, HO = 4, WO = 7, N_MODES = 18 };

static const int64_t dims[] = {N, C, H, W, HO, WO};

static kerf_grid_sampler_modes mode_of(int number) {
    return (kerf_grid_sampler_modes){(kerf_interpolation)(number / 6), (kerf_padding)(number / 2 % 3),
                                     (kerf_corners)(number % 2), KERF_ACCUMULATE_F32};
}

/* ---- the forward --------------------------------------------------------------------------------------------------
 */

static long double unnormalised(long double g, int size, kerf_corners corners) {
    return corners == KERF_CORNERS_ALIGNED ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
}

/* Folds v until it lies between the mirrors, then clips it. */
static long double padded(long double v, int size, const kerf_grid_sampler_modes *modes) {
    const bool aligned = modes->corners == KERF_CORNERS_ALIGNED;
    const long double low = aligned ? 0 : -0.5L, high = aligned ? size - 1 : size - 0.5L;
    if (modes->padding == KERF_PAD_ZEROS)
        return v;
    while (modes->padding == KERF_PAD_REFLECTION && (v < low || v > high))
        v = v < low ? 2 * low - v : 2 * high - v;
    return v < 0 ? 0 : v > size - 1 ? size - 1 : v;
}

/* Interpolation as a sum over all pixels of an axis: what pixel `at` weighs at coordinate v. */
static long double weight(long double v, int at, int size, const kerf_grid_sampler_modes *modes) {
    if (modes->interpolation == KERF_NEAREST)
        return rintl(padded(v, size, modes)) == at ? 1 : 0;
    if (modes->interpolation == KERF_BILINEAR) {
        const long double distance = fabsl(padded(v, size, modes) - at);
        return distance < 1 ? 1 - distance : 0;
    }
    long double sum = 0;
    for (int k = -1; k <= 2; ++k) {
        const long double tap = floorl(v) + k, d = fabsl(v - tap), a = -0.75L;
        if (padded(tap, size, modes) == at)
            sum += d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : a * (d - 1) * (d - 2) * (d - 2);
    }
    return sum;
}

typedef long double image[N][C][H][W];

/* Sum of gO y over the channels of one sample. */
static long double sample(const fixture *f, const image x, int n, int oy, int ox, long double vx, long double vy) {
    long double sum = 0;
    for (int iy = 0; iy < H; ++iy)
        for (int ix = 0; ix < W; ++ix) {
            const long double w = weight(vy, iy, H, &f->modes) * weight(vx, ix, W, &f->modes);
            for (int c = 0; c < C && w != 0; ++c)
                sum += w * x[n][c][iy][ix] * fixture_in(f, KERF_GSG_GRAD, ((n * C + c) * HO + oy) * WO + ox);
        }
    return sum;
}

static long double point(const fixture *f, int n, int oy, int ox, int axis) {
    return fixture_in(f, KERF_GSG_GRID, ((n * HO + oy) * WO + ox) * 2 + axis);
}

/* ---- random problems away from kinks ------------------------------------------------------------------------------
 */

static double between(kerf_rng *rng, double low, double high) {
    return low + (high - low) * kerf_rng_unit(rng);
}

/* A point whose coordinate stays at least 0.1 away from integers and halves, up to three pixels outside. */
static double smooth_point(kerf_rng *rng, int size, kerf_corners corners) {
    const double cell = (double)kerf_rng_below(rng, (uint64_t)size + 6) - 3;
    const double v = cell + between(rng, 0.1, 0.4) + (kerf_rng_below(rng, 2) ? 0.5 : 0);
    return corners == KERF_CORNERS_ALIGNED ? 2 * v / (size - 1) - 1 : (2 * v + 1) / size - 1;
}

static void open_random(fixture *f, kerf_dtype dtype, int mode) {
    fixture_open(f, dtype, mode_of(mode), dims);
    kerf_rng rng = kerf_rng_seeded(20, (uint64_t)mode);
    for (int64_t i = 0; i < f->count[KERF_GSG_GRAD]; ++i)
        fixture_set(f, KERF_GSG_GRAD, i, between(&rng, -1, 1));
    for (int64_t i = 0; i < f->count[KERF_GSG_X]; ++i)
        fixture_set(f, KERF_GSG_X, i, between(&rng, -1, 1));
    for (int64_t i = 0; i < f->count[KERF_GSG_GRID]; ++i)
        fixture_set(f, KERF_GSG_GRID, i, smooth_point(&rng, i % 2 ? H : W, f->modes.corners));
}

static void read_image(const fixture *f, image x) {
    for (int i = 0; i < N * C * H * W; ++i)
        x[i / (C * H * W)][i / (H * W) % C][i / W % H][i % W] = fixture_in(f, KERF_GSG_X, i);
}

/* ---- adjoint ------------------------------------------------------------------------------------------------------
 */

/* <grad, J v>, with v in place of the image, which the forward is linear in. */
static long double forward_product(const fixture *f, const image v) {
    long double sum = 0;
    for (int n = 0; n < N; ++n)
        for (int oy = 0; oy < HO; ++oy)
            for (int ox = 0; ox < WO; ++ox)
                sum += sample(f, v, n, oy, ox, unnormalised(point(f, n, oy, ox, 0), W, f->modes.corners),
                              unnormalised(point(f, n, oy, ox, 1), H, f->modes.corners));
    return sum;
}

/* Long double sums of fewer than 2^12 terms, whose absolute values add up to less than 2^9. */
static const long double sum_error = 0x1p-43L;

/* <dx, v> may leave <grad, J v> by what the bounds of dx allow, and these are narrow away from kinks. */
static void check_adjoint(kerf_dtype dtype, int mode) {
    fixture f;
    image v;
    open_random(&f, dtype, mode);
    read_image(&f, v);
    REQUIRE(fixture_expect(&f));
    const kerf_expect *const e = &f.expect[KERF_GSG_DX];
    const long double want = forward_product(&f, v);
    long double low = 0, high = 0;
    for (int64_t i = 0; i < e->n_elements; ++i) {
        const long double factor = fixture_in(&f, KERF_GSG_X, i);
        low += factor * (factor > 0 ? e->lo[i] - e->slack[i] : e->hi[i] + e->slack[i]);
        high += factor * (factor > 0 ? e->hi[i] + e->slack[i] : e->lo[i] - e->slack[i]);
    }
    const double u = kerf_dtype_unit_roundoff(dtype);
    REQUIRE_MESSAGE(low <= want + sum_error && want <= high + sum_error, "mode %d: [%.17Lg, %.17Lg] without %.17Lg",
                    mode, low, high, want);
    REQUIRE(high - low < 200 * N * C * H * W * (long double)u);
    for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
        if (!fixture_run(&f, *row, NULL))
            continue;
        long double got = 0;
        for (int64_t i = 0; i < e->n_elements; ++i)
            got += (long double)fixture_in(&f, KERF_GSG_X, i) * fixture_get(&f, KERF_GSG_DX, i);
        REQUIRE_MESSAGE(fabsl(got - want) <= high - low + sum_error, "mode %d, %s: %.17Lg, expected %.17Lg", mode,
                        op_row_name(*row), got, want);
    }
    fixture_close(&f);
}

static void adjoint_f64(void) {
    for (int mode = 0; mode < N_MODES && !kerf_test_failed(); ++mode)
        check_adjoint(KERF_F64, mode);
}

static void adjoint_f32(void) {
    for (int mode = 0; mode < N_MODES && !kerf_test_failed(); ++mode)
        check_adjoint(KERF_F32, mode);
}

/* ---- finite differences -------------------------------------------------------------------------------------------
 */

/* Five-point difference, exact for polynomials up to the fourth degree: bicubic has the third between kinks. What is
 * left is the rounding of long double, 2^-64 of sums below 2^4, divided by the step. */
static const long double step = 0x1p-12L, difference_error = 0x1p-46L;

static long double slope(const fixture *f, const image x, int n, int oy, int ox, int axis) {
    static const long double factor[] = {1, -8, 0, 8, -1};
    long double sum = 0;
    for (int k = 0; k < 5; ++k) {
        const long double moved = (k - 2) * step;
        const long double gx = point(f, n, oy, ox, 0) + (axis == 0 ? moved : 0);
        const long double gy = point(f, n, oy, ox, 1) + (axis == 1 ? moved : 0);
        sum += factor[k] *
               sample(f, x, n, oy, ox, unnormalised(gx, W, f->modes.corners), unnormalised(gy, H, f->modes.corners));
    }
    return sum / (12 * step);
}

static void check_slope(fixture *f, const image x, int n, int oy, int ox, int axis) {
    const int64_t i = ((n * HO + oy) * WO + ox) * 2 + axis;
    const kerf_expect *const e = &f->expect[KERF_GSG_DGRID];
    const long double want = slope(f, x, n, oy, ox, axis);
    REQUIRE_MESSAGE(
        e->lo[i] - e->slack[i] - difference_error <= want && want <= e->hi[i] + e->slack[i] + difference_error,
        "element %lld: [%.17g, %.17g] slack %.3g without %.17Lg", (long long)i, e->lo[i], e->hi[i], e->slack[i], want);
    REQUIRE(e->hi[i] - e->lo[i] + e->slack[i] < 1e-11);
}

static void finite_differences(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture f;
        image x;
        open_random(&f, KERF_F64, mode);
        read_image(&f, x);
        REQUIRE(fixture_expect(&f));
        for (int i = 0; i < N * HO * WO * 2 && !kerf_test_failed(); ++i)
            check_slope(&f, x, i / 2 / WO / HO, i / 2 / WO % HO, i / 2 % WO, i % 2);
        for (const kerf_row *const *row = fixture_rows(); *row; ++row)
            if (fixture_run(&f, *row, NULL))
                REQUIRE_MESSAGE(fixture_is_right(&f, *row), "mode %d", mode);
        fixture_close(&f);
    }
}

/* ---- linear in grad -----------------------------------------------------------------------------------------------
 */

/* Twice the gradient gives twice the result, bit for bit: doubling rounds nothing. */
static void doubling(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture once, twice;
        open_random(&once, KERF_F32, mode);
        open_random(&twice, KERF_F32, mode);
        for (int64_t i = 0; i < once.count[KERF_GSG_GRAD]; ++i)
            fixture_set(&twice, KERF_GSG_GRAD, i, 2 * fixture_in(&once, KERF_GSG_GRAD, i));
        REQUIRE(fixture_expect(&once) && fixture_expect(&twice));
        for (int o = 0; o < KERF_GSG_N_OUT; ++o)
            for (int64_t i = 0; i < once.expect[o].n_elements; ++i) {
                REQUIRE(twice.expect[o].lo[i] == 2 * once.expect[o].lo[i]);
                REQUIRE(twice.expect[o].hi[i] == 2 * once.expect[o].hi[i]);
            }
        for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
            if (!fixture_run(&once, *row, NULL) || !fixture_run(&twice, *row, NULL) ||
                (*row)->variant[KERF_CLASS_REAL32]->traits & KERF_TRAIT_UNORDERED)
                continue;
            for (int o = 0; o < KERF_GSG_N_OUT; ++o)
                for (int64_t i = 0; i < once.expect[o].n_elements; ++i)
                    REQUIRE_MESSAGE(fixture_get(&twice, o, i) == 2 * fixture_get(&once, o, i), "mode %d, %s", mode,
                                    op_row_name(*row));
        }
        fixture_close(&once);
        fixture_close(&twice);
    }
}

/* The parts get every other sample's gradient each. Their results add up to that of the whole, within the bounds of all
 * three. */
static void additive(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture whole, part[2];
        open_random(&whole, KERF_F64, mode);
        REQUIRE(fixture_expect(&whole));
        for (int p = 0; p < 2; ++p) {
            open_random(&part[p], KERF_F64, mode);
            for (int64_t i = p; i < part[p].count[KERF_GSG_GRAD]; i += 2)
                fixture_set(&part[p], KERF_GSG_GRAD, i, 0);
            REQUIRE(fixture_expect(&part[p]));
        }
        for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
            if (!fixture_run(&whole, *row, NULL) || !fixture_run(&part[0], *row, NULL) ||
                !fixture_run(&part[1], *row, NULL))
                continue;
            for (int o = 0; o < KERF_GSG_N_OUT; ++o)
                for (int64_t i = 0; i < whole.expect[o].n_elements; ++i) {
                    const double sum = fixture_get(&part[0], o, i) + fixture_get(&part[1], o, i);
                    double bound = DBL_EPSILON * fabs(sum);
                    for (int k = 0; k < 3; ++k) {
                        const kerf_expect *const e = k < 2 ? &part[k].expect[o] : &whole.expect[o];
                        bound += e->hi[i] - e->lo[i] + e->slack[i];
                    }
                    REQUIRE_MESSAGE(fabs(sum - fixture_get(&whole, o, i)) <= bound, "mode %d, %s", mode,
                                    op_row_name(*row));
                }
        }
        fixture_close(&whole);
        fixture_close(&part[0]);
        fixture_close(&part[1]);
    }
}

#define TEST(name, run)                                                                                                \
    { "grid_sampler_grad: " name, "[laws][grid_sampler_grad]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_laws_grid_sampler_grad[] = {
    TEST("dx is the adjoint of the forward in f64", adjoint_f64),
    TEST("dx is the adjoint of the forward in f32", adjoint_f32),
    TEST("dgrid is the slope of the forward", finite_differences),
    TEST("twice the gradient gives twice the result", doubling),
    TEST("gradients add up", additive),
    {0},
};
