/* Cases on which public libraries went wrong in the forward of the grid sampler, and the examples of the ONNX standard,
 * with the right answer, for the oracle and for every row of this machine. */
#include "tests/grid_sampler_fixture.h"

#include "base/rng.h"
#include "harness/casegen.h"
#include <stdio.h>

#define NO_POINT ((double)NAN)

/* Points such as -1.1 are no binary numbers: they are off by 2^-53 at most, which slope and size magnify by less than
 * 2^13. Answers of binary points are exact, those of the standard are printed with four digits or more. */
#define EXACT         0.0
#define DECIMAL_POINT 0x1p-40
#define SIX_DIGITS    0.5e-6
#define AS_PRINTED    5e-5

enum { MAX_POINTS = 36, MAX_IMAGE = 25, ANY = -1 };

typedef struct known_value {
    const char *source;
    kerf_dtype dtype;
    int interpolation, padding, corners; /* ANY: all of them */
    int h, w, n;
    double off;
    double x[MAX_IMAGE], points[2 * MAX_POINTS], y[MAX_POINTS];
} known_value;

#define OUTSIDE KERF_CORNERS_OUTSIDE
#define ALIGNED KERF_CORNERS_ALIGNED

#define ROW_OF_10S                                                                                                     \
    { 10, 20, 30, 40 }
#define DOUBLING                                                                                                       \
    { 1, 2, 4, 8 }
#define SQUARES                                                                                                        \
    { 0, 1, 4, 9, 16 }
#define TO_15                                                                                                          \
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }
#define TO_5                                                                                                           \
    { 0, 1, 2, 3, 4, 5 }
#define GRID_A                                                                                                         \
    { -1, -1, -.5, -.5, -.2, -.2, 0, 0, 0, 0, -.2, -.2, .5, .5, 1, 1 }
#define GRID_B                                                                                                         \
    { -10, -10, -5, -5, -.2, -.2, 10, 10, 10, 10, -.2, -.2, 5, 5, 10, 10 }
#define GRID_C                                                                                                         \
    { -1, -.8, -.6, -.5, -.1, -.2, .7, 0, 0, .4, .2, -.2, -.3, .5, -1, 1 }
#define CORNERS                                                                                                        \
    { -1, 0, -1. / 3, 0, 1. / 3, 0, 1, 0 }
#define CENTRES                                                                                                        \
    { -.75, 0, -.25, 0, .25, 0, .75, 0 }

static const known_value values[] = {
    {"pytorch#23925, pytorch PR#32829", KERF_F64, KERF_BILINEAR, KERF_PAD_BORDER, ALIGNED, 5, 5, 3, EXACT,
     .x = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, .points = {1, 1, -1, -1, 0.5, 0},
     .y = {4, 0, 3}},
    {"pytorch PR#32829", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, ALIGNED, 1, 5, 2, EXACT, .x = {0, 1, 2, 3, 4},
     .points = {1, 0, -1, 0}, .y = {4, 0}},
    {"pytorch PR#97000", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 1, 4, 5, EXACT, .x = ROW_OF_10S,
     .points = {-0.5, 0, 0, 0, 0.5, 0, -1, 0, 1, 0}, .y = {10, 30, 30, 10, 0}},
    {"Paddle PR#27657", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 2, 2, 2, EXACT, .x = {1, 2, 3, 4},
     .points = {-1, -1, 1, 1}, .y = {1, 0}},
    {"Paddle PR#27657, odd width", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 1, 3, 2, EXACT, .x = {1, 2, 3},
     .points = {1, 0, -1, 0}, .y = {3, 1}},
    {"openvino PR#12867", KERF_F64, ANY, ANY, ALIGNED, 1, 1, 4, EXACT, .x = {5},
     .points = {-1, 0, 0.5, 0.5, 3, 3, -2, 7}, .y = {5, 5, 5, 5}},
    {"onnxruntime PR#27639", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 1, 6, EXACT, .x = {5},
     .points = {-1, 0, 0, 0, 1, 0, 0.5, 0.5, 3, 3, -2, 7}, .y = {2.5, 5, 2.5, 2.8125, 0, 0}},
    {"onnxruntime#10607", KERF_F64, KERF_BICUBIC, KERF_PAD_BORDER, OUTSIDE, 1, 4, 1, DECIMAL_POINT, .x = {1, 2, 3, 4},
     .points = {-1.1, 0}, .y = {0.95275}},
    {"onnxruntime#28090", KERF_F64, KERF_BICUBIC, KERF_PAD_BORDER, OUTSIDE, 4, 4, 4, DECIMAL_POINT, .x = TO_15,
     .points = {-0.95, -0.95, 0.95, -0.95, -0.95, 0.95, 0.95, 0.95}, .y = {-0.54, 2.676, 12.324, 15.54}},
    {"ncnn PR#4288", KERF_F64, KERF_BICUBIC, KERF_PAD_REFLECTION, OUTSIDE, 1, 4, 3, EXACT, .x = DOUBLING,
     .points = {-0.875, 0, -1.25, 0, 1.375, 0}, .y = {0.859375, 1, 7.1640625}},
    {"pytorch#19717", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 2, 4, EXACT, .x = {4, 8},
     .points = {-1, 0, -1.25, 0, -1.5, 0, 1.25, 0}, .y = {2, 1, 0, 2}},
    {"pytorch#125098, zeros", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 4, 4, EXACT, .x = DOUBLING,
     .points = {1, 0, -1, 0, 1.6, 0, -1.6, 0}, .y = {4, 0.5, 0, 0}},
    {"pytorch#125098, border", KERF_F64, KERF_BILINEAR, KERF_PAD_BORDER, OUTSIDE, 1, 4, 2, EXACT, .x = DOUBLING,
     .points = {1.6, 0, -1.6, 0}, .y = {8, 1}},
    {"pytorch#42616", KERF_F32, ANY, KERF_PAD_REFLECTION, OUTSIDE, 1, 3, 1, EXACT, .x = {0}, .points = {2.5e+38, 0},
     .y = {0}},
    {"pytorch#51911", KERF_F32, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 5, 1, EXACT, .x = {1, 1, 1, 1, 1},
     .points = {2.9839e+38, -3.2406e+38}, .y = {0}},
    {"onnxruntime PR#27975, zeros", KERF_F32, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 3, 4, 1, EXACT,
     .x = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, .points = {10000000000.0, -10000000000.0}, .y = {0}},
    {"onnxruntime PR#27975, border", KERF_F32, KERF_NEAREST, KERF_PAD_BORDER, OUTSIDE, 3, 4, 1, EXACT,
     .x = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, .points = {10000000000.0, -10000000000.0}, .y = {7}},
    {"onnxruntime PR#27975, reflection", KERF_F32, KERF_NEAREST, KERF_PAD_REFLECTION, OUTSIDE, 3, 4, 1, EXACT,
     .x = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, .points = {10000000000.0, -10000000000.0}, .y = {7}},
    {"pytorch#63559", KERF_F64, KERF_BILINEAR, KERF_PAD_REFLECTION, ALIGNED, 1, 5, 5, DECIMAL_POINT, .x = SQUARES,
     .points = {-3.5, 0, -3.4, 0, -1.4, 0, 1.3, 0, 3.4, 0}, .y = {9, 10.4, 0.8, 11.8, 0.8}},
    {"onnx reference evaluator, onnxruntime 1.30", KERF_F64, KERF_NEAREST, KERF_PAD_REFLECTION, OUTSIDE, 1, 4, 2, EXACT,
     .x = ROW_OF_10S, .points = {-1.5, 0, 1.5, 0}, .y = {10, 30}},
    {"pytorch#40153, corners", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, ALIGNED, 1, 4, 4, DECIMAL_POINT,
     .x = {3, 1, 4, 1}, .points = CORNERS, .y = {3, 1, 4, 1}},
    {"pytorch#40153, centres", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 4, 4, EXACT, .x = {3, 1, 4, 1},
     .points = CENTRES, .y = {3, 1, 4, 1}},
    {"pytorch#40153, centres read as corners", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, ALIGNED, 1, 4, 4, EXACT,
     .x = {3, 1, 4, 1}, .points = CENTRES, .y = {2.25, 1.375, 3.625, 2.125}},
    {"pytorch#40153, corners read as centres", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 4, 4, SIX_DIGITS,
     .x = {3, 1, 4, 1}, .points = CORNERS, .y = {1.5, 1.333333, 3.5, 0.5}},
    {"pytorch#96429, pytorch PR#96586", KERF_F16, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 3, 1, EXACT,
     .x = {0, 1000, 0}, .points = {0.66650390625, 0}, .y = {0.244140625}},
    {"rf-detr PR#1432", KERF_F64, ANY, KERF_PAD_ZEROS, OUTSIDE, 1, 2, 1, EXACT, .x = {(double)INFINITY, 1},
     .points = {-3, 0}, .y = {0}},
    {"PyTorch 2.15 CPU, border", KERF_F32, KERF_BILINEAR, KERF_PAD_BORDER, OUTSIDE, 1, 4, 2, EXACT, .x = DOUBLING,
     .points = {NO_POINT, 0, 0.125, 0}, .y = {0, 3.5}},
    {"PyTorch 2.15 CPU, reflection", KERF_F32, KERF_BILINEAR, KERF_PAD_REFLECTION, OUTSIDE, 1, 4, 2, EXACT,
     .x = DOUBLING, .points = {NO_POINT, 0, 0.125, 0}, .y = {0, 3.5}},
    {"ONNX A linear", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_A, .y = {0, 0.5, 1.7, 2.5, 2.5, 1.7, 4.5, 1.25}},
    {"ONNX A linear, aligned", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, ALIGNED, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_A, .y = {0, 1.25, 2, 2.5, 2.5, 2, 3.75, 5}},
    {"ONNX A nearest", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_A, .y = {0, 0, 2, 2, 2, 2, 5, 0}},
    {"ONNX A cubic", KERF_F64, KERF_BICUBIC, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5, .points = GRID_A,
     .y = {-0.1406, 0.3828, 1.7556, 2.9688, 2.9688, 1.7556, 5.1445, 1.3906}},
    {"ONNX B zeros", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5, .points = GRID_B,
     .y = {0, 0, 1.7, 0, 0, 1.7, 0, 0}},
    {"ONNX B border", KERF_F64, KERF_BILINEAR, KERF_PAD_BORDER, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_B, .y = {0, 0, 1.7, 5, 5, 1.7, 5, 5}},
    {"ONNX B reflection", KERF_F64, KERF_BILINEAR, KERF_PAD_REFLECTION, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_B, .y = {2.5, 0, 1.7, 2.5, 2.5, 1.7, 5, 2.5}},
    {"ONNX C nearest", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_C, .y = {0, 0, 2, 3, 4, 3, 4, 4}},
    {"ONNX C nearest, aligned", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, ALIGNED, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_C, .y = {0, 0, 2, 3, 2, 3, 4, 4}},
    {"ONNX C linear", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_C, .y = {0, 0.45, 1.8, 2.4, 3.7, 2.1, 3.7, 1}},
    {"ONNX C linear, aligned", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, ALIGNED, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_C, .y = {0.4, 1.2, 2.05, 2.85, 3.3, 2.2, 3.35, 4}},
    {"ONNX C cubic", KERF_F64, KERF_BICUBIC, KERF_PAD_ZEROS, OUTSIDE, 3, 2, 8, AS_PRINTED, .x = TO_5, .points = GRID_C,
     .y = {-0.17325, 0.284265, 1.923105, 2.568, 5.170375, 2.284413, 4.744844, 1.046875}},
    {"ONNX C cubic, aligned", KERF_F64, KERF_BICUBIC, KERF_PAD_ZEROS, ALIGNED, 3, 2, 8, AS_PRINTED, .x = TO_5,
     .points = GRID_C, .y = {0.304, 1.12875, 2.26627, 3.144844, 4.5315, 2.45536, 4.599819, 4}},
    {"ONNX basic", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 4, 4, 36, DECIMAL_POINT, .x = TO_15,
     .points = {-1.0, -1.0, -0.6, -1.0, -0.2, -1.0, 0.2,  -1.0, 0.6,  -1.0, 1.0,  -1.0, -1.0, -0.6, -0.6,
                -0.6, -0.2, -0.6, 0.2,  -0.6, 0.6,  -0.6, 1.0,  -0.6, -1.0, -0.2, -0.6, -0.2, -0.2, -0.2,
                0.2,  -0.2, 0.6,  -0.2, 1.0,  -0.2, -1.0, 0.2,  -0.6, 0.2,  -0.2, 0.2,  0.2,  0.2,  0.6,
                0.2,  1.0,  0.2,  -1.0, 0.6,  -0.6, 0.6,  -0.2, 0.6,  0.2,  0.6,  0.6,  0.6,  1.0,  0.6,
                -1.0, 1.0,  -0.6, 1.0,  -0.2, 1.0,  0.2,  1.0,  0.6,  1.0,  1.0,  1.0},
     .y = {0,   0.15, 0.55, 0.95, 1.35, 0.75, 0.6, 1.5,  2.3,  3.1,  3.9,  2.1, 2.2, 4.7,  5.5,  6.3,  7.1,  3.7,
           3.8, 7.9,  8.7,  9.5,  10.3, 5.3,  5.4, 11.1, 11.9, 12.7, 13.5, 6.9, 3,   6.15, 6.55, 6.95, 7.35, 3.75}},
};

static void value_open(fixture *f, const known_value *value, int interpolation, int padding) {
    const kerf_grid_sampler_modes modes = {(kerf_interpolation)interpolation, (kerf_padding)padding,
                                           (kerf_corners)value->corners, KERF_ACCUMULATE_F32};
    fixture_open_forward(f, value->dtype, modes, (int64_t[]){1, 1, value->h, value->w, 1, value->n});
    fixture_set_all(f, KERF_GS_X, value->x);
    fixture_set_all(f, KERF_GS_GRID, value->points);
}

/* The stated values lie within the bounds of the oracle, and so do the results of every row. */
static void check_modes(const known_value *value, int interpolation, int padding) {
    fixture f;
    value_open(&f, value, interpolation, padding);
    REQUIRE(fixture_expect(&f));
    const kerf_expect *const e = &f.expect[KERF_GS_Y];
    for (int i = 0; i < value->n; ++i)
        REQUIRE_MESSAGE(e->lo[i] - e->slack[i] - value->off <= value->y[i] &&
                            value->y[i] <= e->hi[i] + e->slack[i] + value->off,
                        "%s: oracle: element %d is %.12g, expected [%.12g, %.12g] slack %.3g", value->source, i,
                        value->y[i], e->lo[i], e->hi[i], e->slack[i]);
    for (const kerf_row *const *row = fixture_rows_of(&f); *row && !kerf_test_failed(); ++row) {
        if (!fixture_run(&f, *row, NULL))
            continue;
        REQUIRE_MESSAGE(fixture_is_right(&f, *row), "%s", value->source);
        for (int i = 0; i < value->n; ++i) {
            const double got = fixture_get(&f, KERF_GS_Y, i);
            REQUIRE_MESSAGE(fabs(got - value->y[i]) <= value->off + e->slack[i],
                            "%s: %s: element %d is %.12g, expected %.12g", value->source, op_row_name(*row), i, got,
                            value->y[i]);
        }
    }
    fixture_close(&f);
}

static void stated_values(void) {
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k)
        for (int i = 0; i < 3; ++i)
            for (int p = 0; p < 3; ++p)
                if ((values[k].interpolation == ANY || values[k].interpolation == i) &&
                    (values[k].padding == ANY || values[k].padding == p) && !kerf_test_failed())
                    check_modes(&values[k], i, p);
}

/* One case of one channel and one row of samples on every row of this machine. */
static void each_row(fixture *f, void (*check)(const fixture *f, const kerf_row *row)) {
    REQUIRE(fixture_expect(f));
    for (const kerf_row *const *row = fixture_rows_of(f); *row && !kerf_test_failed(); ++row)
        if (fixture_run(f, *row, NULL)) {
            REQUIRE(fixture_is_right(f, *row));
            check(f, *row);
        }
    fixture_close(f);
}

static void check_squares(const fixture *f, const kerf_row *row) {
    for (int i = 0; i < 10; ++i)
        REQUIRE_MESSAGE(fabs(fixture_get(f, KERF_GS_Y, i) - i * i) <= 1e-5 * (1 + i * i), "%s: %d", op_row_name(row),
                        i);
}

/* pytorch#81868: points on the pixels of a row of 10. In float they lie on either side, and the values hardly move. */
static void points_on_pixels(void) {
    fixture f;
    fixture_open_forward(&f, KERF_F32, (kerf_grid_sampler_modes){.corners = ALIGNED}, (int64_t[]){1, 1, 1, 10, 1, 10});
    for (int i = 0; i < 10; ++i) {
        fixture_set(&f, KERF_GS_X, i, i * i);
        fixture_set(&f, KERF_GS_GRID, 2 * i, 2 * i / 9. - 1);
    }
    each_row(&f, check_squares);
}

static void check_bf16(const fixture *f, const kerf_row *row) {
    REQUIRE_MESSAGE(fixture_get(f, KERF_GS_Y, 0) == 0.76171875 || fixture_get(f, KERF_GS_Y, 0) == 0.7578125, "%s",
                    op_row_name(row));
}

/* tt-metal PR#28001: 0.7 in bf16 is 0.69921875, so the coordinate is 848.759765625 and y one of its bf16 neighbours. */
static void rounded_point(void) {
    fixture f;
    fixture_open_forward(&f, KERF_BF16, (kerf_grid_sampler_modes){.corners = ALIGNED},
                         (int64_t[]){1, 1, 1, 1000, 1, 1});
    fixture_set(&f, KERF_GS_X, 849, 1);
    fixture_set(&f, KERF_GS_GRID, 0, 0.7);
    REQUIRE(fixture_in(&f, KERF_GS_GRID, 0) == 0.69921875);
    each_row(&f, check_bf16);
}

static void check_ones(const fixture *f, const kerf_row *row) {
    for (int64_t i = 0; i < f->count[f->n_in]; ++i)
        REQUIRE_MESSAGE(fixture_get(f, KERF_GS_Y, i) == 1, "%s: element %d", op_row_name(row), (int)i);
}

/* ROCm/pytorch GridSampler.cu: the factor 32768 does not fit where 65536 / 2 is formed in half precision. */
static void wide_half_precision(void) {
    for (int nearest = 0; nearest < 2; ++nearest) {
        fixture f;
        fixture_open_forward(&f, KERF_F16,
                             (kerf_grid_sampler_modes){.interpolation = nearest ? KERF_NEAREST : KERF_BILINEAR,
                                                       .padding = KERF_PAD_BORDER},
                             (int64_t[]){1, 1, 1, 65536, 1, 1});
        for (int64_t i = 0; i < 65536; ++i)
            fixture_set(&f, KERF_GS_X, i, 1);
        each_row(&f, check_ones);
    }
}

/* pytorch#7435: more channels than 1024. pytorch#175683: an empty grid. */
static void many_channels_and_no_samples(void) {
    fixture f;
    fixture_open_forward(&f, KERF_F32, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 1025, 7, 7, 3, 3});
    fixture_fill(&f, KERF_GS_X, 1);
    each_row(&f, check_ones);
    fixture_open_forward(&f, KERF_F32, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 256, 60, 80, 1, 0});
    each_row(&f, check_ones);
}

/* pytorch#171602, stnbhwd PR#7: grid stored as (N, 2, Ho, Wo), x channels-last: right as packed copies are. */
static void views(void) {
    for (int mode = 0; mode < 18; ++mode) {
        fixture packed, viewed;
        const kerf_grid_sampler_modes modes = {(kerf_interpolation)(mode / 6), (kerf_padding)(mode / 2 % 3),
                                               (kerf_corners)(mode % 2), KERF_ACCUMULATE_F32};
        const int64_t dims[] = {2, 3, 4, 5, 3, 2};
        fixture_open_forward(&packed, KERF_F32, modes, dims);
        fixture_open_forward(&viewed, KERF_F32, modes, dims);
        memcpy(viewed.operand[KERF_GS_GRID].at.strides, (const int64_t[]){12, 2, 1, 6}, 4 * sizeof(int64_t));
        memcpy(viewed.operand[KERF_GS_X].at.strides, (const int64_t[]){20, 40, 5, 1}, 4 * sizeof(int64_t));
        kerf_rng rng = kerf_rng_seeded(171602, (uint64_t)mode);
        for (int input = 0; input < KERF_GS_N_IN; ++input)
            for (int64_t i = 0; i < packed.count[input]; ++i) {
                const double value = 3 * kerf_rng_unit(&rng) - 1.5;
                fixture_set(&packed, input, i, value);
                fixture_set(&viewed, input, i, value);
            }
        for (const kerf_row *const *row = fixture_rows_of(&packed); *row; ++row)
            if (fixture_run(&packed, *row, NULL) && fixture_run(&viewed, *row, NULL))
                for (int64_t i = 0; i < packed.count[KERF_GS_N_IN]; ++i)
                    REQUIRE_MESSAGE(fixture_get(&packed, KERF_GS_Y, i) == fixture_get(&viewed, KERF_GS_Y, i),
                                    "%s: mode %d", op_row_name(*row), mode);
        fixture_close(&packed);
        fixture_close(&viewed);
    }
}

/* pytorch#41656, pytorch PR#41923: 2^31 + 65536 elements. The image is never written but at its corners, so it takes no
 * memory; coordinates are half a pixel outside the corners. */
static void image_of_2_31_elements(void) {
    fixture f;
    fixture_open_forward(&f, KERF_F16, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 1, 32769, 65536, 2, 2});
    if (!f.data[KERF_GS_X]) {
        fixture_close(&f);
        SKIP("no room for 4 GiB of addresses");
    }
    const int64_t pixels[] = {0, 65535, INT64_C(32768) * 65536, f.count[KERF_GS_X] - 1};
    for (int i = 0; i < 4; ++i)
        fixture_set(&f, KERF_GS_X, pixels[i], 4 << i);
    fixture_set_all(&f, KERF_GS_GRID, (const double[]){-1, -1, 1, -1, -1, 1, 1, 1});
    const bool known = fixture_expect(&f);
    for (const kerf_row *const *row = fixture_rows_of(&f); known && *row && !kerf_test_failed(); ++row)
        if (fixture_run(&f, *row, NULL)) {
            CHECK(fixture_is_right(&f, *row));
            for (int i = 0; i < 4; ++i)
                CHECK(fixture_get(&f, KERF_GS_Y, i) == 1 << i);
        }
    fixture_close(&f);
}

/* SegmentAnythingin3D#94: nothing to sample from is refused, and y stays as it was. */
static void nothing_to_sample(void) {
    const int64_t images[][4] = {{1, 1, 0, 2}, {1, 1, 2, 0}};
    for (int i = 0; i < 2; ++i) {
        const float point[2] = {0, 0};
        float x = 0, y = -7;
        kerf_grid_sampler_args args = {.bytes = sizeof args,
                                       .dtype = KERF_F32,
                                       .x = {.data = &x, .at = {.rank = 4}},
                                       .grid = {.data = (void *)(uintptr_t)point, .at = {.rank = 4}},
                                       .y = {.data = &y, .at = {.rank = 4, .dims = {1, 1, 1, 1}}}};
        memcpy(args.x.at.dims, images[i], sizeof images[i]);
        memcpy(args.grid.at.dims, (const int64_t[]){1, 1, 1, 2}, 4 * sizeof(int64_t));
        kerf_strided_pack(&args.x.at);
        kerf_strided_pack(&args.grid.at);
        kerf_strided_pack(&args.y.at);
        kerf_error error = {0};
        REQUIRE(kerf_grid_sampler(&args, &error) == KERF_ERROR_USAGE);
        REQUIRE(y == -7);
    }
}

/* NVIDIA/TensorRT#4646: the names of opset 20 are the same case, so the same bits. */
static void names_of_opset_20(void) {
    static const char *const pairs[][2] = {{"bilinear", "linear"}, {"bicubic", "cubic"}};
    kerf_arena arena = {0};
    REQUIRE(kerf_arena_map_shared(&arena, 1 << 20, NULL) == KERF_OK);
    for (int i = 0; i < 2; ++i) {
        uint64_t hash[2];
        for (int k = 0; k < 2; ++k) {
            char line[100];
            kerf_case c;
            kerf_error error = {0};
            snprintf(line, sizeof line, "interpolation_mode=%s N=1 C=1 H=2 W=2 Ho=1 Wo=1 dtype=f32", pairs[i][k]);
            REQUIRE_MESSAGE(kerf_case_parse(&kerf_op_grid_sampler, line, &arena, &c, &error) == KERF_OK, "%s",
                            error.message);
            hash[k] = kerf_case_hash(&c);
        }
        REQUIRE(hash[0] == hash[1]);
    }
    kerf_arena_unmap(&arena);
}

#define TEST(name, run)                                                                                                \
    { "known faults: forward: " name, "[golden][grid_sampler]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_golden_known_faults_forward[] = {
    TEST("stated values and the tables of ONNX", stated_values),
    TEST("points on pixels (pytorch#81868)", points_on_pixels),
    TEST("the rounding of a bf16 point is part of the input (tt-metal PR#28001)", rounded_point),
    TEST("f16 on a width of 65536 (ROCm/pytorch GridSampler.cu)", wide_half_precision),
    TEST("1025 channels and no samples (pytorch#7435 and pytorch#175683)", many_channels_and_no_samples),
    TEST("views give what packed copies give (pytorch#171602)", views),
    TEST("an image of more than 2^31 elements (pytorch#41656)", image_of_2_31_elements),
    TEST("refused shapes (SegmentAnythingin3D#94)", nothing_to_sample),
    TEST("names of opset 20 (NVIDIA/TensorRT#4646)", names_of_opset_20),
    {0},
};
