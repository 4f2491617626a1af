/* Cases on which public libraries went wrong, with the right answer, for the oracle and for every row of this machine.
 * docs/known-faults.md has the whole list. */
#include "tests/grid_sampler_fixture.h"

#include "base/rng.h"
#include "harness/casegen.h"
#include <stdio.h>

#define NOT_STATED ((double)NAN)
#define NO_POINT   ((double)NAN)

/* Points such as -1.1 are no binary numbers: they are off by 2^-53 at most, which slope and size magnify by less than
 * 2^13. Answers of binary points are exact, and those of a source that prints nine digits are off by half a digit. */
#define EXACT         0.0
#define DECIMAL_POINT 0x1p-40
#define NINE_DIGITS   0.5e-9

enum { MAX_POINTS = 12, MAX_IMAGE = 25, ANY = -1 };

typedef struct known_fault {
    const char *source;
    kerf_dtype dtype;
    int interpolation, padding, corners; /* ANY: all of them */
    int h, w, n;
    double x[MAX_IMAGE], points[2 * MAX_POINTS], grad;
    double dx[MAX_IMAGE], dgrid[2 * MAX_POINTS]; /* NOT_STATED in [0]: none of them; elsewhere: not this one */
    double off;
    uint64_t want;
} known_fault;

#define BOTH    3u
#define OUTSIDE KERF_CORNERS_OUTSIDE
#define ALIGNED KERF_CORNERS_ALIGNED

static const known_fault faults[] = {
    {"pytorch#23925", KERF_F64, KERF_BILINEAR, KERF_PAD_BORDER, ALIGNED, 5, 5, 3,
     .x = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, .points = {1, 1, -1, -1, 0.5, 0},
     .grad = 1, .dx = {NOT_STATED}, .dgrid = {0, 0, 0, 0, 2, 0}, .want = BOTH},
    {"pytorch PR#32829", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, ALIGNED, 1, 5, 2, .x = {0, 1, 2, 3, 4},
     .points = {1, 0, -1, 0}, .grad = 1, .dx = {1, 0, 0, 0, 1}, .dgrid = {-8, 0, 2, 0}, .want = BOTH},
    {"pytorch PR#97000", KERF_F64, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 1, 4, 5, .x = {10, 20, 30, 40},
     .points = {-0.5, 0, 0, 0, 0.5, 0, -1, 0, 1, 0}, .grad = 1, .dx = {2, 0, 2, 0}, .dgrid = {0}, .want = BOTH},
    {"openvino PR#12867", KERF_F64, ANY, ANY, ALIGNED, 1, 1, 4, .x = {5}, .points = {-1, 0, 0.5, 0.5, 3, 3, -2, 7},
     .grad = 1, .dx = {4}, .dgrid = {0}, .want = BOTH},
    {"onnxruntime PR#27639", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 1, 6, .x = {5},
     .points = {-1, 0, 0, 0, 1, 0, 0.5, 0.5, 3, 3, -2, 7}, .grad = 1, .dx = {2.5625},
     .dgrid = {2.5, -1.25, -2.5, -2.5, -2.5, -1.25, -1.875, -1.875, 0, 0, 0, 0}, .want = BOTH},
    {"onnxruntime#10607", KERF_F64, KERF_BICUBIC, KERF_PAD_BORDER, OUTSIDE, 1, 4, 1, .x = {1, 2, 3, 4},
     .points = {-1.1, 0}, .grad = 1, .dx = {1.04725, -0.04725, 0, 0}, .dgrid = {-0.495, NOT_STATED},
     .off = DECIMAL_POINT, .want = BOTH},
    {"onnxruntime#28090", KERF_F64, KERF_BICUBIC, KERF_PAD_BORDER, OUTSIDE, 4, 4, 4,
     .x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     .points = {-0.95, -0.95, 0.95, -0.95, -0.95, 0.95, 0.95, 0.95}, .grad = 1, .dx = {NOT_STATED},
     .dgrid = {-0.18, -0.72, -0.18, -0.72, -0.18, -0.72, -0.18, -0.72}, .off = DECIMAL_POINT, .want = BOTH},
    {"ncnn PR#4288", KERF_F64, KERF_BICUBIC, KERF_PAD_REFLECTION, OUTSIDE, 1, 4, 3, .x = {1, 2, 4, 8},
     .points = {-0.875, 0, -1.25, 0, 1.375, 0}, .grad = 1, .dx = {2.140625, -0.17578125, 0.26171875, 0.7734375},
     .dgrid = {0.75, NOT_STATED, -1.5, NOT_STATED, -7.3125, NOT_STATED}, .want = BOTH},
    {"pytorch#19717", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 2, 4, .x = {4, 8},
     .points = {-1, 0, -1.25, 0, -1.5, 0, 1.25, 0}, .grad = 1, .dx = {0.75, 0.25},
     .dgrid = {4, -1, 4, -0.5, 4, 0, -8, -1}, .want = BOTH},
    {"pytorch#125098", KERF_F64, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 4, 2, .x = {1, 2, 4, 8},
     .points = {1, 0, -1, 0}, .grad = 1, .dx = {NOT_STATED}, .dgrid = {-16, -2, 2, -0.25}, .want = BOTH},
    {"pytorch#125098", KERF_F64, KERF_BILINEAR, KERF_PAD_BORDER, OUTSIDE, 1, 4, 2, .x = {1, 2, 4, 8},
     .points = {1.6, 0, -1.6, 0}, .grad = 1, .dx = {NOT_STATED}, .dgrid = {0, NOT_STATED, 0, NOT_STATED}, .want = BOTH},
    {"pytorch#42616", KERF_F32, ANY, KERF_PAD_REFLECTION, OUTSIDE, 1, 3, 1, .x = {0}, .points = {2.5e38, 0}, .grad = 1,
     .dx = {0}, .dgrid = {0, 0}, .want = BOTH},
    {"pytorch#51911", KERF_F32, KERF_BILINEAR, KERF_PAD_ZEROS, OUTSIDE, 1, 5, 1, .x = {1, 1, 1, 1, 1},
     .points = {2.9839e38, -3.2406e38}, .grad = 1, .dx = {0}, .dgrid = {0, 0}, .want = BOTH},
    {"onnxruntime PR#27975", KERF_F32, KERF_NEAREST, KERF_PAD_ZEROS, OUTSIDE, 3, 4, 1,
     .x = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, .points = {1e10, -1e10}, .grad = 1, .dx = {0}, .dgrid = {0, 0},
     .want = BOTH},
    {"pytorch#63559", KERF_F64, KERF_BILINEAR, KERF_PAD_REFLECTION, ALIGNED, 1, 5, 5, .x = {0, 1, 4, 9, 16},
     .points = {-3.5, 0, -3.4, 0, -1.4, 0, 1.3, 0, 3.4, 0}, .grad = 1, .dx = {NOT_STATED},
     .dgrid = {14, 0, 14, 0, -2, 0, -14, 0, 2, 0}, .off = DECIMAL_POINT, .want = BOTH},
    {"onnx reference evaluator, onnxruntime 1.30", KERF_F64, KERF_NEAREST, KERF_PAD_REFLECTION, OUTSIDE, 1, 4, 2,
     .x = {10, 20, 30, 40}, .points = {-1.5, 0, 1.5, 0}, .grad = 1, .dx = {1, 0, 1, 0}, .dgrid = {0}, .want = BOTH},
    {"Paddle#38900, Paddle PR#70147", KERF_F64, KERF_BILINEAR, KERF_PAD_BORDER, ALIGNED, 3, 3, 12,
     .x = {-.6, .8, -.5, -.5, .2, 1.2, 1.4, .3, -.2}, .points = {.2, .3, -.4, -.3, -.9, .3,  -.9, -.6, .4, .1, .9, -.8,
                                                                 .4, .5, .5,  -.2, .1,  -.8, -.3, -1,  .7, .4, .2, .8},
     .grad = 1. / 12, .dx = {NOT_STATED},
     .dgrid = {.045833333, -.016666667, .075833333, -.026666667, .013333333, .143333333,  .093333333,  .0025,
               .070833333, -.041666667, -.07,       .1225,       .020833333, -.041666667, .045,        .045833333,
               -.07,       -.030833333, .116666667, 0,           .033333333, -.079166667, -.016666667, -.016666667},
     .off = NINE_DIGITS, .want = 1u << KERF_GSG_DGRID},
    {"PyTorch 2.15 CPU", KERF_F32, KERF_BILINEAR, KERF_PAD_BORDER, OUTSIDE, 1, 4, 2, .x = {1, 2, 4, 8},
     .points = {NO_POINT, 0, 0.125, 0}, .grad = 1, .dx = {0, 0.25, 0.75, 0}, .dgrid = {0, 0, 4, 0}, .want = BOTH},
    {"PyTorch 2.15 CPU", KERF_F32, KERF_BILINEAR, KERF_PAD_REFLECTION, OUTSIDE, 1, 4, 2, .x = {1, 2, 4, 8},
     .points = {NO_POINT, 0, 0.125, 0}, .grad = 1, .dx = {0, 0.25, 0.75, 0}, .dgrid = {0, 0, 4, 0}, .want = BOTH},
};

static void fault_open(fixture *f, const known_fault *fault, int interpolation, int padding, int corners) {
    const kerf_grid_sampler_modes modes = {(kerf_interpolation)interpolation, (kerf_padding)padding,
                                           (kerf_corners)corners, KERF_ACCUMULATE_F32};
    fixture_open(f, fault->dtype, modes, (int64_t[]){1, 1, fault->h, fault->w, 1, fault->n});
    fixture_set_all(f, KERF_GSG_X, fault->x);
    fixture_set_all(f, KERF_GSG_GRID, fault->points);
    fixture_fill(f, KERF_GSG_GRAD, fault->grad);
    f->problem.want = fault->want;
}

static const double *stated(const known_fault *fault, int output) {
    const double *const values = output == KERF_GSG_DX ? fault->dx : fault->dgrid;
    return fault->want >> output & 1 && !isnan(values[0]) ? values : NULL;
}

/* The stated values lie within the bounds of the oracle. */
static void check_oracle(const fixture *f, const known_fault *fault) {
    for (int o = 0; o < KERF_GSG_N_OUT; ++o) {
        const double *const want = stated(fault, o);
        const kerf_expect *const e = &f->expect[o];
        for (int64_t i = 0; want && i < e->n_elements; ++i)
            if (!isnan(want[i]))
                REQUIRE_MESSAGE(e->lo[i] - e->slack[i] - fault->off <= want[i] &&
                                    want[i] <= e->hi[i] + e->slack[i] + fault->off,
                                "%s: oracle: output %d element %lld is %.12g, expected [%.12g, %.12g] slack %.3g",
                                fault->source, o, (long long)i, want[i], e->lo[i], e->hi[i], e->slack[i]);
    }
}

/* The results of a row lie where the stated values lie, give or take the slack, and where the oracle says. */
static void check_row(const fixture *f, const known_fault *fault, const kerf_row *row) {
    for (int o = 0; o < KERF_GSG_N_OUT; ++o) {
        const double *const want = stated(fault, o);
        const kerf_expect *const e = &f->expect[o];
        for (int64_t i = 0; want && i < e->n_elements; ++i)
            if (!isnan(want[i])) {
                const double got = fixture_get(f, o, i), off = fault->off + e->slack[i];
                REQUIRE_MESSAGE(fabs(got - want[i]) <= off, "%s: %s: output %d element %lld is %.12g, expected %.12g",
                                fault->source, op_row_name(row), o, (long long)i, got, want[i]);
            }
    }
    REQUIRE_MESSAGE(fixture_is_right(f, row), "%s: %s: differs from the oracle", fault->source, op_row_name(row));
}

static void check_modes(const known_fault *fault, int interpolation, int padding) {
    fixture f;
    fault_open(&f, fault, interpolation, padding, fault->corners);
    if (fixture_expect(&f))
        check_oracle(&f, fault);
    for (const kerf_row *const *row = fixture_rows(); *row && !kerf_test_failed(); ++row)
        if (fixture_run(&f, *row, NULL))
            check_row(&f, fault, *row);
    fixture_close(&f);
}

static void stated_values(void) {
    for (size_t k = 0; k < sizeof faults / sizeof *faults; ++k)
        for (int i = 0; i < 3; ++i)
            for (int p = 0; p < 3; ++p)
                if ((faults[k].interpolation == ANY || faults[k].interpolation == i) &&
                    (faults[k].padding == ANY || faults[k].padding == p) && !kerf_test_failed())
                    check_modes(&faults[k], i, p);
}

static double sum_of_dx(const fixture *f) {
    double sum = 0;
    for (int64_t i = 0; i < f->count[KERF_GSG_N_IN + KERF_GSG_DX]; ++i)
        sum += fixture_get(f, KERF_GSG_DX, i);
    return sum;
}

/* onnxruntime PR#27975: 1e10 is folded or clipped to some pixel, and no gradient is lost on the way. */
static void far_points_keep_the_gradient(void) {
    for (int padding = KERF_PAD_BORDER; padding <= KERF_PAD_REFLECTION; ++padding) {
        fixture f;
        const kerf_grid_sampler_modes modes = {.interpolation = KERF_NEAREST, .padding = (kerf_padding)padding};
        fixture_open(&f, KERF_F32, modes, (int64_t[]){1, 1, 3, 4, 1, 1});
        fixture_fill(&f, KERF_GSG_X, 7);
        fixture_set_all(&f, KERF_GSG_GRID, (const double[]){1e10, -1e10});
        fixture_fill(&f, KERF_GSG_GRAD, 1);
        REQUIRE(fixture_expect(&f));
        for (const kerf_row *const *row = fixture_rows(); *row; ++row)
            if (fixture_run(&f, *row, NULL)) {
                REQUIRE(fixture_is_right(&f, *row));
                REQUIRE_MESSAGE(sum_of_dx(&f) == 1, "%s", op_row_name(*row));
            }
        fixture_close(&f);
    }
}

/* pytorch#81868: points on the pixels of a row of 10. In float they lie on either side, and so does the slope. */
static void slope_of_either_side(void) {
    fixture f;
    const kerf_grid_sampler_modes modes = {.corners = KERF_CORNERS_ALIGNED};
    fixture_open(&f, KERF_F32, modes, (int64_t[]){1, 1, 1, 10, 1, 10});
    for (int i = 0; i < 10; ++i) {
        fixture_set(&f, KERF_GSG_X, i, i * i);
        fixture_set(&f, KERF_GSG_GRID, 2 * i, 2 * i / 9. - 1);
    }
    fixture_fill(&f, KERF_GSG_GRAD, 1);
    REQUIRE(fixture_expect(&f));
    for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
        if (!fixture_run(&f, *row, NULL))
            continue;
        REQUIRE(fixture_is_right(&f, *row));
        for (int i = 0; i < 10; ++i) {
            const double left = 4.5 * (i > 0 ? 2 * i - 1 : 0), right = 4.5 * (i < 9 ? 2 * i + 1 : -81);
            const double got = fixture_get(&f, KERF_GSG_DGRID, 2 * i);
            REQUIRE_MESSAGE(got == left || got == right, "%s: slope at %d is %g", op_row_name(*row), i, got);
        }
    }
    fixture_close(&f);
}

/* ROCm/pytorch GridSampler.cu: the factor 32768 does not fit where 65536 / 2 is formed in half precision. */
static void wide_half_precision(void) {
    for (int nearest = 0; nearest < 2; ++nearest) {
        fixture f;
        const kerf_grid_sampler_modes modes = {.interpolation = nearest ? KERF_NEAREST : KERF_BILINEAR,
                                               .padding = KERF_PAD_BORDER};
        fixture_open(&f, KERF_F16, modes, (int64_t[]){1, 1, 1, 65536, 1, 1});
        fixture_fill(&f, KERF_GSG_X, 1);
        fixture_fill(&f, KERF_GSG_GRAD, 1);
        REQUIRE(fixture_expect(&f));
        for (const kerf_row *const *row = fixture_rows(); *row; ++row)
            if (fixture_run(&f, *row, NULL)) {
                REQUIRE(fixture_is_right(&f, *row));
                REQUIRE(fixture_get(&f, KERF_GSG_DGRID, 0) == 0 && fixture_get(&f, KERF_GSG_DGRID, 1) == 0);
            }
        fixture_close(&f);
    }
}

/* pytorch#175683: an empty grid. */
static void empty_grid(void) {
    fixture f;
    fixture_open(&f, KERF_F32, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 256, 60, 80, 1, 0});
    REQUIRE(fixture_expect(&f));
    for (const kerf_row *const *row = fixture_rows(); *row; ++row)
        if (fixture_run(&f, *row, NULL)) {
            REQUIRE(fixture_is_right(&f, *row));
            REQUIRE(sum_of_dx(&f) == 0);
        }
    fixture_close(&f);
}

/* pytorch#7435: more channels than 1024. */
static void many_channels(void) {
    fixture f;
    fixture_open(&f, KERF_F32, (kerf_grid_sampler_modes){0}, (int64_t[]){1, 1025, 7, 7, 3, 3});
    fixture_fill(&f, KERF_GSG_X, 1);
    fixture_fill(&f, KERF_GSG_GRAD, 1);
    REQUIRE(fixture_expect(&f));
    for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
        if (!fixture_run(&f, *row, NULL))
            continue;
        REQUIRE(fixture_is_right(&f, *row));
        for (int64_t i = 0; i < f.count[KERF_GSG_N_IN]; ++i)
            REQUIRE(fixture_get(&f, KERF_GSG_DX, i) == (i % 49 == 24 ? 9 : 0));
        for (int64_t i = 0; i < f.count[KERF_GSG_N_IN + 1]; ++i)
            REQUIRE(fixture_get(&f, KERF_GSG_DGRID, i) == 0);
    }
    fixture_close(&f);
}

/* pytorch#68959, pytorch PR#196856: 1e8 + 1 - 1e8 + 1. Any order is legal, but not another one in the next run. */
static void repeatable_sums(void) {
    fixture f;
    const kerf_grid_sampler_modes modes = {.corners = KERF_CORNERS_ALIGNED};
    fixture_open(&f, KERF_F32, modes, (int64_t[]){1, 1, 1, 1, 1, 4});
    fixture_set_all(&f, KERF_GSG_GRAD, (const double[]){1e8, 1, -1e8, 1});
    REQUIRE(fixture_expect(&f));
    REQUIRE(f.expect[KERF_GSG_DX].lo[0] == 2 && f.expect[KERF_GSG_DX].hi[0] == 2);
    for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
        if (!fixture_run(&f, *row, NULL))
            continue;
        const double first = fixture_get(&f, KERF_GSG_DX, 0);
        REQUIRE_MESSAGE(fabs(first - 2) <= 24, "%s: %g", op_row_name(*row), first);
        const bool ordered = !((*row)->variant[KERF_CLASS_REAL32]->traits & KERF_TRAIT_UNORDERED);
        for (int n = 1; n <= 4 && ordered; ++n) {
            const kerf_serial_team team = kerf_serial_team_of(n);
            REQUIRE(fixture_run(&f, *row, &team.team));
            REQUIRE_MESSAGE(fixture_get(&f, KERF_GSG_DX, 0) == first, "%s: %d ranks", op_row_name(*row), n);
        }
    }
    fixture_close(&f);
}

/* Exchanges axes a and b of an operand's memory, so that its logical elements stay where they are asked for. */
static void store_exchanged(kerf_operand *operand, int a, int b) {
    kerf_strided *const at = &operand->at;
    int order[4] = {0, 1, 2, 3};
    order[a] = b;
    order[b] = a;
    int64_t stride = 1;
    for (int k = 3; k >= 0; --k) {
        at->strides[order[k]] = stride;
        stride *= at->dims[order[k]];
    }
}

/* pytorch#171602, stnbhwd PR#7: grid stored as (N, 2, Ho, Wo), x with N and C exchanged: the same bits as packed. */
static void views(void) {
    for (int mode = 0; mode < 18; ++mode) {
        fixture packed, viewed;
        const kerf_grid_sampler_modes modes = {(kerf_interpolation)(mode / 6), (kerf_padding)(mode / 2 % 3),
                                               (kerf_corners)(mode % 2), KERF_ACCUMULATE_F32};
        const int64_t dims[] = {2, 3, 4, 5, 3, 2};
        fixture_open(&packed, KERF_F32, modes, dims);
        fixture_open(&viewed, KERF_F32, modes, dims);
        kerf_strided *const grid = &viewed.operand[KERF_GSG_GRID].at;
        grid->strides[0] = 12;
        grid->strides[1] = 2;
        grid->strides[2] = 1;
        grid->strides[3] = 6;
        store_exchanged(&viewed.operand[KERF_GSG_X], 0, 1);
        kerf_rng rng = kerf_rng_seeded(171602, (uint64_t)mode);
        for (int input = 0; input < KERF_GSG_N_IN; ++input)
            for (int64_t i = 0; i < packed.count[input]; ++i) {
                const double value = 3 * kerf_rng_unit(&rng) - 1.5;
                fixture_set(&packed, input, i, value);
                fixture_set(&viewed, input, i, value);
            }
        for (const kerf_row *const *row = fixture_rows(); *row; ++row) {
            if (!fixture_run(&packed, *row, NULL) || !fixture_run(&viewed, *row, NULL) ||
                (*row)->variant[KERF_CLASS_REAL32]->traits & KERF_TRAIT_UNORDERED)
                continue;
            for (int o = KERF_GSG_N_IN; o < FIXTURE_N_OPERANDS; ++o)
                REQUIRE_MESSAGE(memcmp(packed.data[o], viewed.data[o], (size_t)packed.count[o] * sizeof(float)) == 0,
                                "%s: mode %d", op_row_name(*row), mode);
        }
        fixture_close(&packed);
        fixture_close(&viewed);
    }
}

/* Calls the C entry on packed f32 tensors whose outputs hold -7; true when it refuses them and leaves the outputs. */
static bool entry_refuses(const int64_t grad[4], const int64_t x[4], const int64_t grid[4]) {
    float data[5][64];
    for (int i = 0; i < 5 * 64; ++i)
        data[i / 64][i % 64] = -7;
    const int64_t *const dims[] = {grad, x, grid, x, grid};
    kerf_grid_sampler_grad_args args = {.bytes = sizeof args, .dtype = KERF_F32};
    kerf_tensor *const tensors[] = {&args.grad, &args.x, &args.grid, &args.dx, &args.dgrid};
    for (int i = 0; i < 5; ++i) {
        *tensors[i] = (kerf_tensor){.data = data[i], .at = {.rank = 4}};
        memcpy(tensors[i]->at.dims, dims[i], 4 * sizeof **dims);
        kerf_strided_pack(&tensors[i]->at);
    }
    kerf_error error = {0};
    const kerf_status status = kerf_grid_sampler_grad(&args, &error);
    bool untouched = true;
    for (int i = 0; i < 64; ++i)
        untouched = untouched && data[3][i] == -7 && data[4][i] == -7;
    return status == KERF_ERROR_USAGE && error.message[0] && untouched;
}

/* SegmentAnythingin3D#94: nothing to sample from. pytorch#191849, pytorch PR#191915: grad of another shape. */
static void refused_shapes(void) {
    const int64_t one[] = {1, 1, 1, 1}, no_height[] = {1, 1, 0, 2}, no_width[] = {1, 1, 2, 0}, point[] = {1, 1, 1, 2};
    const int64_t image[] = {1, 1, 2, 2}, grid[] = {1, 2, 2, 2},
                  wrong[][4] = {{1, 1, 2, 1}, {1, 2, 2, 2}, {2, 1, 2, 2}};
    REQUIRE(entry_refuses(one, no_height, point));
    REQUIRE(entry_refuses(one, no_width, point));
    REQUIRE(entry_refuses(one, image, grid));
    for (int i = 0; i < 3; ++i)
        REQUIRE(entry_refuses(wrong[i], image, grid));
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
            REQUIRE_MESSAGE(kerf_case_parse(&kerf_op_grid_sampler_grad, line, &arena, &c, &error) == KERF_OK, "%s",
                            error.message);
            hash[k] = kerf_case_hash(&c);
        }
        REQUIRE(hash[0] == hash[1]);
    }
    kerf_arena_unmap(&arena);
}

#define TEST(name, run)                                                                                                \
    { "known faults: " name, "[golden][grid_sampler_grad]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_golden_known_faults[] = {
    TEST("stated values", stated_values),
    TEST("far points keep the gradient (onnxruntime PR#27975)", far_points_keep_the_gradient),
    TEST("slope of either side (pytorch#81868)", slope_of_either_side),
    TEST("f16 on a width of 65536 (ROCm/pytorch GridSampler.cu)", wide_half_precision),
    TEST("empty grid (pytorch#175683)", empty_grid),
    TEST("more than 1024 channels (pytorch#7435)", many_channels),
    TEST("repeatable sums (pytorch#68959)", repeatable_sums),
    TEST("views give the bits of packed copies (pytorch#171602)", views),
    TEST("refused shapes (SegmentAnythingin3D#94 and pytorch#191849)", refused_shapes),
    TEST("names of opset 20 (NVIDIA/TensorRT#4646)", names_of_opset_20),
    {0},
};
