/* Laws of the forward that hold whatever the implementation: the identity grid gives the image back, y is linear in x,
 * the gradient is its adjoint, channels and images do not know of each other, and strides change nothing. */
#include "tests/grid_sampler_fixture.h"

#include "base/rng.h"

enum { N = 2, C = 3, H = 8, W = 16, HO = 5, WO = 9, N_MODES = 18 };

static const int64_t dims[] = {N, C, H, W, HO, WO};

static kerf_grid_sampler_modes mode_of(int number) {
    return (kerf_grid_sampler_modes){(kerf_interpolation)(number / 6), (kerf_padding)(number / 2 % 3),
                                     (kerf_corners)(number % 2), KERF_ACCUMULATE_F32};
}

/* Dyadic points up to 1.5, whole numbers in the image: with H and W powers of two there is one right answer. Not so
 * under align_corners, where the extents less one are odd: the tests that need it take every other mode. */
static double dyadic_point(kerf_rng *rng) {
    return ((double)kerf_rng_below(rng, 49) - 24) / 16;
}

static void fill_dyadic(fixture *f, int x, int grid, uint64_t seed) {
    kerf_rng rng = kerf_rng_seeded(seed, 1);
    for (int64_t i = 0; i < f->count[grid]; ++i)
        fixture_set(f, grid, i, dyadic_point(&rng));
    for (int64_t i = 0; i < f->count[x]; ++i)
        fixture_set(f, x, i, (double)kerf_rng_below(&rng, 9) - 4);
}

static void open_dyadic(fixture *f, int mode, const int64_t extents[6]) {
    fixture_open_forward(f, KERF_F64, mode_of(mode), extents);
    fill_dyadic(f, KERF_GS_X, KERF_GS_GRID, (uint64_t)mode);
}

/* Calls check(a, b, row) after each row of this machine ran both problems. */
static void run_both(fixture *a, fixture *b, int mode,
                     bool (*check)(const fixture *a, const fixture *b, const kerf_row *row)) {
    for (const kerf_row *const *row = fixture_rows_of(a); *row && !kerf_test_failed(); ++row)
        if (fixture_run(a, *row, NULL) && fixture_run(b, *row, NULL))
            REQUIRE_MESSAGE(check(a, b, *row), "mode %d, %s", mode, op_row_name(*row));
    fixture_close(a);
    fixture_close(b);
}

/* Points on the pixels of an image of 2^k, or with align_corners of 2^k + 1, pixels an axis. */
static void identity(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture f;
        const bool aligned = mode_of(mode).corners == KERF_CORNERS_ALIGNED;
        const int64_t h = aligned ? 5 : 4, w = aligned ? 9 : 8;
        fixture_open_forward(&f, KERF_F32, mode_of(mode), (int64_t[]){N, C, h, w, h, w});
        fill_dyadic(&f, KERF_GS_X, KERF_GS_GRID, (uint64_t)mode);
        for (int64_t i = 0; i < N * h * w; ++i) {
            const double x = (double)(i % w), y = (double)(i / w % h), dw = (double)w, dh = (double)h;
            fixture_set(&f, KERF_GS_GRID, 2 * i, aligned ? 2 * x / (dw - 1) - 1 : (2 * x + 1) / dw - 1);
            fixture_set(&f, KERF_GS_GRID, 2 * i + 1, aligned ? 2 * y / (dh - 1) - 1 : (2 * y + 1) / dh - 1);
        }
        for (const kerf_row *const *row = fixture_rows_of(&f); *row; ++row)
            if (fixture_run(&f, *row, NULL))
                for (int64_t i = 0; i < f.count[KERF_GS_X]; ++i)
                    REQUIRE_MESSAGE(fixture_get(&f, KERF_GS_Y, i) == fixture_in(&f, KERF_GS_X, i), "mode %d, %s", mode,
                                    op_row_name(*row));
        fixture_close(&f);
    }
}

static bool is_doubled(const fixture *a, const fixture *b, const kerf_row *row) {
    (void)row;
    for (int64_t i = 0; i < a->count[KERF_GS_N_IN]; ++i)
        if (fixture_get(b, KERF_GS_Y, i) != 2 * fixture_get(a, KERF_GS_Y, i))
            return false;
    return true;
}

/* Twice the image gives twice the result, bit for bit: doubling rounds nothing. */
static void doubling(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture once, twice;
        kerf_rng rng = kerf_rng_seeded(3, (uint64_t)mode);
        open_dyadic(&once, mode, dims);
        open_dyadic(&twice, mode, dims);
        for (int64_t i = 0; i < once.count[KERF_GS_X]; ++i) {
            const double value = kerf_rng_unit(&rng) - 0.5;
            fixture_set(&once, KERF_GS_X, i, value);
            fixture_set(&twice, KERF_GS_X, i, 2 * value);
        }
        run_both(&once, &twice, mode, is_doubled);
    }
}

/* Results of two images add up to that of their sum; all three are exact. */
static void additive(void) {
    for (int mode = 0; mode < N_MODES; mode += 2) {
        fixture part[3];
        for (int k = 0; k < 3; ++k)
            open_dyadic(&part[k], mode, dims);
        for (int64_t i = 0; i < part[0].count[KERF_GS_X]; ++i) {
            fixture_set(&part[1], KERF_GS_X, i, (double)(i * 5 % 7) - 3);
            fixture_set(&part[2], KERF_GS_X, i,
                        fixture_in(&part[0], KERF_GS_X, i) + fixture_in(&part[1], KERF_GS_X, i));
        }
        for (const kerf_row *const *row = fixture_rows_of(&part[0]); *row; ++row) {
            if (!fixture_run(&part[0], *row, NULL) || !fixture_run(&part[1], *row, NULL) ||
                !fixture_run(&part[2], *row, NULL))
                continue;
            for (int64_t i = 0; i < part[0].count[KERF_GS_N_IN]; ++i)
                REQUIRE_MESSAGE(fixture_get(&part[0], KERF_GS_Y, i) + fixture_get(&part[1], KERF_GS_Y, i) ==
                                    fixture_get(&part[2], KERF_GS_Y, i),
                                "mode %d, %s", mode, op_row_name(*row));
        }
        for (int k = 0; k < 3; ++k)
            fixture_close(&part[k]);
    }
}

/* <y, gO> of every row of the forward is <x, dx> of every row of the gradient, to the last bit. */
static void adjoint(void) {
    for (int mode = 0; mode < N_MODES; mode += 2) {
        fixture forward, backward;
        open_dyadic(&forward, mode, dims);
        fixture_open(&backward, KERF_F64, mode_of(mode), dims);
        fill_dyadic(&backward, KERF_GSG_X, KERF_GSG_GRID, (uint64_t)mode);
        for (int64_t i = 0; i < backward.count[KERF_GSG_GRAD]; ++i)
            fixture_set(&backward, KERF_GSG_GRAD, i, (double)(i * 3 % 5) - 2);
        backward.problem.want = 1u << KERF_GSG_DX;
        double want = 0;
        int n_backward = 0;
        for (const kerf_row *const *row = fixture_rows_of(&backward); *row; ++row) {
            if (!fixture_run(&backward, *row, NULL))
                continue;
            double sum = 0;
            for (int64_t i = 0; i < backward.count[KERF_GSG_X]; ++i)
                sum += fixture_in(&backward, KERF_GSG_X, i) * fixture_get(&backward, KERF_GSG_DX, i);
            REQUIRE_MESSAGE(n_backward++ == 0 || sum == want, "mode %d, %s", mode, op_row_name(*row));
            want = sum;
        }
        for (const kerf_row *const *row = fixture_rows_of(&forward); *row; ++row) {
            if (!fixture_run(&forward, *row, NULL))
                continue;
            double sum = 0;
            for (int64_t i = 0; i < forward.count[KERF_GS_N_IN]; ++i)
                sum += fixture_in(&backward, KERF_GSG_GRAD, i) * fixture_get(&forward, KERF_GS_Y, i);
            REQUIRE_MESSAGE(sum == want && want != 0, "mode %d, %s: %.17g, expected %.17g", mode, op_row_name(*row),
                            sum, want);
        }
        fixture_close(&forward);
        fixture_close(&backward);
    }
}

static bool is_turned(const fixture *a, const fixture *b, const kerf_row *row) {
    const int64_t n = a->count[KERF_GS_N_IN], plane = HO * WO;
    (void)row;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t image = i / (C * plane), c = i / plane % C,
                      turned = (image * C + (c + 1) % C) * plane + i % plane;
        if (fixture_get(a, KERF_GS_Y, i) != fixture_get(b, KERF_GS_Y, turned))
            return false;
    }
    return true;
}

/* Channels that change places do so in y. */
static void permuted_channels(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture plain, turned;
        open_dyadic(&plain, mode, dims);
        open_dyadic(&turned, mode, dims);
        const int64_t plane = H * W;
        for (int64_t i = 0; i < plain.count[KERF_GS_X]; ++i) {
            const int64_t n = i / (C * plane), c = i / plane % C;
            fixture_set(&turned, KERF_GS_X, (n * C + (c + 1) % C) * plane + i % plane,
                        fixture_in(&plain, KERF_GS_X, i));
        }
        run_both(&plain, &turned, mode, is_turned);
    }
}

static bool is_second_image(const fixture *a, const fixture *b, const kerf_row *row) {
    const int64_t n = b->count[KERF_GS_N_IN];
    (void)row;
    for (int64_t i = 0; i < n; ++i)
        if (fixture_get(a, KERF_GS_Y, n + i) != fixture_get(b, KERF_GS_Y, i))
            return false;
    return true;
}

/* An image alone has the bits that it has among others. */
static void slices(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture both, second;
        open_dyadic(&both, mode, dims);
        fixture_open_forward(&second, KERF_F64, mode_of(mode), (int64_t[]){1, C, H, W, HO, WO});
        for (int input = 0; input < KERF_GS_N_IN; ++input)
            for (int64_t i = 0; i < second.count[input]; ++i)
                fixture_set(&second, input, i, fixture_in(&both, input, second.count[input] + i));
        run_both(&both, &second, mode, is_second_image);
    }
}

static bool is_same(const fixture *a, const fixture *b, const kerf_row *row) {
    (void)row;
    for (int64_t i = 0; i < a->count[KERF_GS_N_IN]; ++i)
        if (fixture_get(a, KERF_GS_Y, i) != fixture_get(b, KERF_GS_Y, i))
            return false;
    return true;
}

/* Images whose axes of batch and channels change places in memory, points as two planes: the bits of packed ones. */
static void strided(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture packed, viewed;
        open_dyadic(&packed, mode, dims);
        open_dyadic(&viewed, mode, dims);
        memcpy(viewed.operand[KERF_GS_X].at.strides, (const int64_t[]){H * W, N * H * W, W, 1}, 4 * sizeof(int64_t));
        memcpy(viewed.operand[KERF_GS_GRID].at.strides, (const int64_t[]){2 * HO * WO, WO, 1, HO * WO},
               4 * sizeof(int64_t));
        memcpy(viewed.operand[KERF_GS_N_IN].at.strides, (const int64_t[]){HO * WO, N * HO * WO, WO, 1},
               4 * sizeof(int64_t));
        fill_dyadic(&viewed, KERF_GS_X, KERF_GS_GRID, (uint64_t)mode);
        run_both(&packed, &viewed, mode, is_same);
    }
}

static void team_of_any_size(void) {
    for (int mode = 0; mode < N_MODES; ++mode) {
        fixture one, many;
        open_dyadic(&one, mode, dims);
        open_dyadic(&many, mode, dims);
        for (const kerf_row *const *row = fixture_rows_of(&one); *row; ++row)
            for (int n = 2; n <= 7 && fixture_run(&one, *row, NULL); ++n) {
                const kerf_serial_team team = kerf_serial_team_of(n);
                REQUIRE(fixture_run(&many, *row, &team.team));
                REQUIRE_MESSAGE(is_same(&one, &many, *row), "mode %d, %s, %d ranks", mode, op_row_name(*row), n);
            }
        fixture_close(&one);
        fixture_close(&many);
    }
}

#define TEST(name, run)                                                                                                \
    { "grid_sampler: " name, "[laws][grid_sampler]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_laws_grid_sampler[] = {
    TEST("the identity grid gives the image back", identity),
    TEST("twice the image gives twice the result", doubling),
    TEST("results of images add up", additive),
    TEST("the gradient is the adjoint", adjoint),
    TEST("channels that change places do so in y", permuted_channels),
    TEST("an image alone has the bits that it has among others", slices),
    TEST("strides change no bit", strided),
    TEST("teams of any size give the same bits", team_of_any_size),
    {0},
};
