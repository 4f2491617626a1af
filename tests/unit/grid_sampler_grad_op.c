#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "tests/catch_shim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const kerf_test kerf_tests_unit_grid_sampler_grad_op[];

/* A case, described and filled; inputs lie in the middle of memory that is poisoned. */
typedef struct subject {
    kerf_case c;
    kerf_problem problem;
    kerf_arena arena;
    kerf_error error;
    unsigned char memory[KERF_GSG_N_IN][1 << 16];
    void *in[KERF_GSG_N_IN];
} subject;

enum { POISON = 0xdb };

static subject *new_subject(void) {
    subject *const s = calloc(1, sizeof *s);
    s->c = (kerf_case){.op = &kerf_op_grid_sampler_grad, .dtype = KERF_F32, .layout = "nchw", .want = 3, .seed = 7};
    memcpy(s->c.dim, (const int64_t[]){2, 3, 8, 16, 5, 6}, 6 * sizeof(int64_t));
    (void)kerf_arena_map_shared(&s->arena, 1 << 20, NULL);
    return s;
}

static void free_subject(subject *s) {
    kerf_arena_unmap(&s->arena);
    free(s);
}

static kerf_status describe(subject *s) {
    return s->c.op->describe(&s->c, &s->arena, &s->problem, &s->error);
}

static bool fill(subject *s, kerf_rng rng) {
    const kerf_status status = describe(s);
    if (status != KERF_OK) {
        kerf_test_say("%s", s->error.message);
        return kerf_test_check("describe", "status == KERF_OK", false, __FILE__, __LINE__);
    }
    for (int i = 0; i < KERF_GSG_N_IN; ++i) {
        memset(s->memory[i], POISON, sizeof s->memory[i]);
        s->in[i] = s->memory[i] + sizeof s->memory[i] / 2;
    }
    s->c.op->fill(&s->problem, &rng, s->in);
    return true;
}

static double element(const subject *s, int input, int64_t number) {
    const kerf_operand *const operand = s->problem.in[input];
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    return kerf_dtype_load(operand->dtype,
                           (const char *)s->in[input] + kerf_strided_offset(&operand->at, number) * bytes);
}

static int64_t count_of(const subject *s, int input) {
    int64_t count = 0;
    (void)kerf_strided_count(&s->problem.in[input]->at, &count);
    return count;
}

/* Number of grid values for which `holds`. */
static int64_t count_points(const subject *s, bool (*holds)(double g)) {
    int64_t n = 0;
    for (int64_t i = 0; i < count_of(s, KERF_GSG_GRID); ++i)
        n += holds(element(s, KERF_GSG_GRID, i));
    return n;
}

static void describes_operands(void) {
    subject *const s = new_subject();
    s->c.attr[0].number = KERF_BICUBIC;
    s->c.attr[1].number = KERF_PAD_REFLECTION;
    s->c.attr[2].number = KERF_CORNERS_ALIGNED;
    s->c.attr[3].number = KERF_ACCUMULATE_STORAGE;
    s->c.layout = "nhwc";
    CHECK(describe(s) == KERF_OK);
    const kerf_grid_sampler_modes *const modes = s->problem.self;
    CHECK(modes->interpolation == KERF_BICUBIC && modes->padding == KERF_PAD_REFLECTION);
    CHECK(modes->corners == KERF_CORNERS_ALIGNED && modes->accumulate == KERF_ACCUMULATE_STORAGE);
    static const int64_t dims[5][4] = {{2, 3, 5, 6}, {2, 3, 8, 16}, {2, 5, 6, 2}, {2, 3, 8, 16}, {2, 5, 6, 2}};
    static const int64_t strides[5][4] = {
        {90, 1, 18, 3}, {384, 1, 48, 3}, {60, 12, 2, 1}, {384, 1, 48, 3}, {60, 12, 2, 1}};
    for (int i = 0; i < 5; ++i) {
        const kerf_operand *const operand = i < 3 ? s->problem.in[i] : s->problem.out[i - 3];
        CHECK(operand->role == (i < 3 ? KERF_IN : KERF_OUT) && operand->alignment == 4);
        CHECK(memcmp(operand->at.dims, dims[i], sizeof dims[i]) == 0);
        CHECK(memcmp(operand->at.strides, strides[i], sizeof strides[i]) == 0);
    }
    free_subject(s);
}

static void names_match_the_enums(void) {
    const kerf_op *const op = &kerf_op_grid_sampler_grad;
    static const char *const values[4][4] = {
        {"bilinear", "nearest", "bicubic"}, {"zeros", "border", "reflection"}, {"false", "true"}, {"f32", "storage"}};
    for (int a = 0; a < 4; ++a) {
        int n = 0;
        for (; op->attrs[a]->values[n]; ++n)
            REQUIRE(values[a][n] && strcmp(op->attrs[a]->values[n], values[a][n]) == 0);
        REQUIRE(values[a][n] == NULL && op->attrs[a]->standard.number == 0);
    }
    REQUIRE(op->attrs[4] == NULL);
    REQUIRE(strcmp(op->fills[KERF_SAMPLING_EXACT], "exact") == 0 &&
            strcmp(op->fills[KERF_SAMPLING_NON_FINITE], "non_finite") == 0);
    REQUIRE(op->fills[KERF_SAMPLING_NON_FINITE + 1] == NULL);
}

typedef struct refusal {
    int64_t dims[6];
    const char *layout, *says;
    kerf_dtype dtype;
} refusal;

static const refusal refusals[] = {
    {{-1, 3, 8, 16, 5, 6}, "nchw", "x has N=-1: N must be at least 0", KERF_F32},
    {{1, 3, 0, 16, 5, 6}, "nchw", "x has H=0: H must be at least 1", KERF_F32},
    {{1, 3, 8, 0, 5, 6}, "nchw", "x has W=0: W must be at least 1", KERF_F32},
    {{1, 3, 8, 16, -5, 6}, "nchw", "Ho=-5", KERF_F32},
    {{1, 3, INT64_MAX, 1, 5, 6}, "nchw", "H must be at most 2^60", KERF_F32},
    {{1, 3, 1 << 30, 1 << 30, 5, 6}, "nchw", "bytes", KERF_F64},
    {{1 << 30, 1 << 30, 1 << 30, 16, 5, 6}, "nchw", "C=1073741824", KERF_F16},
    {{1, 3, 8, 16, 5, 6}, "x=strides:1:2:3", "needs 4", KERF_F32},
    {{1, 3, 8, 16, 5, 6}, "y=nchw", "has no operand", KERF_F32},
    {{1, 3, 8, 16, 5, 6}, "dx=strides:0:1:48:3", "dx", KERF_I32},
    {{2, 3, 8, 16, 5, 6}, "dx=strides:0:1:48:3", "dx with strides 0:1:48:3", KERF_F32},
    {{2, 3, 8, 16, 5, 6}, "dx=strides:384:1:48:2", "share memory", KERF_F32},
    {{2, 3, 8, 16, 5, 6}, "dgrid=strides:60:12:1:1", "share memory", KERF_BF16},
};

static void refuses_bad_cases(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
        subject *const s = new_subject();
        memcpy(s->c.dim, refusals[i].dims, sizeof refusals[i].dims);
        s->c.layout = refusals[i].layout;
        s->c.dtype = refusals[i].dtype;
        const bool refused = describe(s) == KERF_ERROR_USAGE;
        const bool says = refused && (strstr(s->error.message, refusals[i].says) || refusals[i].dtype == KERF_I32);
        if (!says)
            kerf_test_say("row %zu says `%s`", i, s->error.message);
        (void)kerf_test_check("refusal", refusals[i].says, says, __FILE__, __LINE__);
        free_subject(s);
    }
}

/* An output that nobody asked for may lie as it likes. */
static void ignores_unwanted_outputs(void) {
    subject *const s = new_subject();
    s->c.layout = "dx=strides:0:0:0:0";
    CHECK(describe(s) == KERF_ERROR_USAGE);
    s->c.want = 2;
    CHECK(describe(s) == KERF_OK);
    s->c.want = 4;
    CHECK(describe(s) == KERF_ERROR_USAGE);
    free_subject(s);
}

static void takes_empty_sizes(void) {
    for (int dim = 0; dim < 6; ++dim) {
        subject *const s = new_subject();
        s->c.dim[dim] = 0;
        const bool may_be_empty = dim != KERF_SAMPLING_H && dim != KERF_SAMPLING_W;
        CHECK((describe(s) == KERF_OK) == may_be_empty);
        if (may_be_empty && fill(s, kerf_rng_seeded(1, 0))) {
            const kerf_work work = s->c.op->work(&s->problem, (const void *const *)s->in);
            CHECK(work.flops == 0 || dim > KERF_SAMPLING_WO);
        }
        free_subject(s);
    }
}

/* Every element is written, nothing between them is, and an element that several indices share is written as well. */
static void fills_elements_only(void) {
    static const char *const layouts[] = {"nchw", "gap", "flip", "zero",
                                          "grid=planar,x=swapped,grad=strides:0:-7:0:100"};
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; ++l)
        for (int way = 0; kerf_op_grid_sampler_grad.fills[way]; ++way) {
            subject *const s = new_subject();
            s->c.layout = layouts[l];
            s->c.fill = way;
            if (!fill(s, kerf_rng_seeded(s->c.seed, 0)))
                return;
            for (int i = 0; i < KERF_GSG_N_IN; ++i) {
                int64_t n_written = 0, n_elements = 0;
                float poison;
                memset(&poison, POISON, sizeof poison);
                for (size_t k = 0; k < sizeof s->memory[i]; k += sizeof poison)
                    n_written += memcmp(s->memory[i] + k, &poison, sizeof poison) != 0;
                const kerf_strided unique = kerf_strided_unique(&s->problem.in[i]->at);
                (void)kerf_strided_count(&unique, &n_elements);
                if (n_written != n_elements)
                    kerf_test_say("%s, %s: %lld of %lld elements of %s", layouts[l], s->c.op->fills[way],
                                  (long long)n_written, (long long)n_elements, s->problem.in[i]->name);
                (void)kerf_test_check("fill", "n_written == n_elements", n_written == n_elements, __FILE__, __LINE__);
            }
            free_subject(s);
        }
}

/* The data belong to the seed, not to the layout; another seed means other data. */
static void fills_by_the_seed(void) {
    for (int way = 0; kerf_op_grid_sampler_grad.fills[way]; ++way) {
        subject *const a = new_subject(), *const b = new_subject();
        a->c.fill = b->c.fill = way;
        b->c.layout = "gap";
        for (int seed = 1; seed <= 2; ++seed) {
            if (!fill(a, kerf_rng_seeded(1, 0)) || !fill(b, kerf_rng_seeded((uint64_t)seed, 0)))
                return;
            int64_t n_equal = 0;
            const int64_t count = count_of(a, KERF_GSG_X);
            for (int64_t i = 0; i < count; ++i)
                n_equal += element(a, KERF_GSG_X, i) == element(b, KERF_GSG_X, i);
            CHECK(seed == 1 ? n_equal >= count * 9 / 10 : n_equal < count / 2);
        }
        free_subject(a);
        free_subject(b);
    }
}

static bool is_nan(double g) {
    return isnan(g);
}
static bool is_infinite(double g) {
    return isinf(g);
}
static bool is_outside(double g) {
    return fabs(g) > 1;
}
static bool is_far(double g) {
    return isfinite(g) && fabs(g) > 8;
}
static bool is_finite(double g) {
    return isfinite(g);
}

/* Coordinates on quarters of a pixel where the extent (or extent - 1) is a power of two, in every type. */
static void exact_points_are_dyadic(void) {
    for (int corners = 0; corners < 2; ++corners)
        for (size_t t = 0; t < 4; ++t) {
            subject *const s = new_subject();
            s->c.dtype = kerf_op_grid_sampler_grad.dtypes[t];
            s->c.attr[2].number = corners;
            s->c.dim[KERF_SAMPLING_H] = 8 + corners;
            s->c.dim[KERF_SAMPLING_W] = 16 + corners;
            if (!fill(s, kerf_rng_seeded(3, t)))
                return;
            bool all = true, integer = false, half = false, quarter = false;
            for (int64_t i = 0; i < count_of(s, KERF_GSG_GRID); ++i) {
                const double size = i % 2 ? 8 : 16, g = element(s, KERF_GSG_GRID, i);
                const double v = corners ? (g + 1) / 2 * size : ((g + 1) * size - 1) / 2;
                all = all && v * 4 == floor(v * 4);
                integer = integer || v == floor(v);
                half = half || (v != floor(v) && v * 2 == floor(v * 2));
                quarter = quarter || v * 2 != floor(v * 2);
            }
            CHECK(all && integer && half && quarter);
            CHECK(count_points(s, is_outside) > 0 && count_points(s, is_far) == 0);
            for (int64_t i = 0; i < count_of(s, KERF_GSG_X); ++i)
                all = all && element(s, KERF_GSG_X, i) != 0 && fabs(element(s, KERF_GSG_X, i)) <= 4 &&
                      element(s, KERF_GSG_X, i) == floor(element(s, KERF_GSG_X, i));
            CHECK(all);
            free_subject(s);
        }
}

static void one_cell_is_one_cell(void) {
    for (size_t t = 0; t < 4; ++t) {
        subject *const s = new_subject();
        s->c.dtype = kerf_op_grid_sampler_grad.dtypes[t];
        s->c.fill = KERF_SAMPLING_ONE_CELL;
        s->c.dim[KERF_SAMPLING_H] = 11;
        if (!fill(s, kerf_rng_seeded(3, t)))
            return;
        double cell[2][2], first[2];
        bool moves = false;
        for (int64_t i = 0; i < count_of(s, KERF_GSG_GRID); ++i) {
            const int64_t n = i / 60, axis = i % 2;
            const double size = axis ? 11 : 16, g = element(s, KERF_GSG_GRID, i);
            const double v = floor(((g + 1) * size - 1) / 2);
            if (i % 60 < 2)
                cell[n][axis] = v;
            if (i < 2)
                first[axis] = g;
            moves = moves || (n == 0 && g != first[axis]);
            (void)kerf_test_check("one_cell", "v == cell[n][axis]", v == cell[n][axis] && v >= 0 && v < size - 1,
                                  __FILE__, __LINE__);
        }
        CHECK(moves);
        free_subject(s);
    }
}

static void identity_hits_the_pixels(void) {
    for (int corners = 0; corners < 2; ++corners) {
        subject *const s = new_subject();
        s->c.fill = KERF_SAMPLING_IDENTITY;
        s->c.dtype = KERF_F64;
        s->c.attr[2].number = corners;
        memcpy(s->c.dim, (const int64_t[]){2, 3, 8, 16, 8, 16}, 6 * sizeof(int64_t));
        if (!fill(s, kerf_rng_seeded(3, 0)))
            return;
        double worst = 0;
        for (int64_t i = 0; i < count_of(s, KERF_GSG_GRID); ++i) {
            const double size = i % 2 ? 8 : 16, g = element(s, KERF_GSG_GRID, i);
            const double v = corners ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
            const double pixel = (double)(i % 2 ? i / 2 / 16 % 8 : i / 2 % 16);
            worst = fmax(worst, fabs(v - pixel));
        }
        CHECK(worst < 1e-13);
        free_subject(s);
    }
}

static void fills_reach_what_they_name(void) {
    for (size_t t = 0; t < 4; ++t) {
        subject *const s = new_subject();
        s->c.dtype = kerf_op_grid_sampler_grad.dtypes[t];
        s->c.dim[KERF_SAMPLING_HO] = s->c.dim[KERF_SAMPLING_WO] = 30;
        s->c.dim[KERF_SAMPLING_C] = 1;
        s->c.fill = KERF_SAMPLING_UNIFORM;
        if (!fill(s, kerf_rng_seeded(4, t)))
            return;
        CHECK(count_points(s, is_outside) > 0 && count_points(s, is_far) == 0);
        s->c.fill = KERF_SAMPLING_OUT_OF_RANGE;
        if (!fill(s, kerf_rng_seeded(4, t)))
            return;
        CHECK(count_points(s, is_far) > 0 && count_points(s, is_finite) == count_of(s, KERF_GSG_GRID));
        s->c.fill = KERF_SAMPLING_KINKS;
        if (!fill(s, kerf_rng_seeded(4, t)))
            return;
        CHECK(count_points(s, is_finite) == count_of(s, KERF_GSG_GRID));
        s->c.fill = KERF_SAMPLING_NON_FINITE;
        if (!fill(s, kerf_rng_seeded(4, t)))
            return;
        CHECK(count_points(s, is_nan) > 0 && count_points(s, is_infinite) > 0 && count_points(s, is_far) > 0);
        CHECK(count_points(s, is_finite) > count_of(s, KERF_GSG_GRID) / 2);
        free_subject(s);
    }
}

/* Pixel centres, halves and edges, and their neighbours in the type. */
static void kinks_are_hit_and_missed(void) {
    subject *const s = new_subject();
    s->c.fill = KERF_SAMPLING_KINKS;
    s->c.dim[KERF_SAMPLING_HO] = s->c.dim[KERF_SAMPLING_WO] = 30;
    if (!fill(s, kerf_rng_seeded(5, 0)))
        return;
    int64_t n_hit = 0, n_near = 0;
    for (int64_t i = 0; i < count_of(s, KERF_GSG_GRID); ++i) {
        const double v = ((element(s, KERF_GSG_GRID, i) + 1) * (i % 2 ? 8 : 16) - 1) / 2;
        const double distance = fabs(2 * v - floor(2 * v + 0.5));
        n_hit += distance == 0;
        n_near += distance > 0 && distance < 1e-4;
    }
    CHECK(n_hit > count_of(s, KERF_GSG_GRID) / 4);
    CHECK(n_near > count_of(s, KERF_GSG_GRID) / 4);
    free_subject(s);
}

/* Identity reads and writes everything once; points that leave a zero-padded image need nothing but one coordinate. */
static void work_is_a_lower_bound(void) {
    subject *const s = new_subject();
    memcpy(s->c.dim, (const int64_t[]){2, 3, 8, 16, 8, 16}, 6 * sizeof(int64_t));
    s->c.fill = KERF_SAMPLING_IDENTITY;
    if (!fill(s, kerf_rng_seeded(3, 0)))
        return;
    const void *const *const in = (const void *const *)s->in;
    const double image = 4 * 2 * 3 * 8 * 16, grid = 4 * 2 * 8 * 16 * 2;
    kerf_work work = s->c.op->work(&s->problem, in);
    CHECK(work.read_bytes == 2 * image + grid && work.written_bytes == image + grid);
    CHECK(work.flops >= 2 * image / 4);
    s->problem.want = 1;
    work = s->c.op->work(&s->problem, in);
    CHECK(work.read_bytes == image + grid && work.written_bytes == image);
    for (int64_t i = 0; i < count_of(s, KERF_GSG_GRID); ++i)
        ((float *)s->in[KERF_GSG_GRID])[i] = i % 2 ? 5 : 0.3f;
    s->problem.want = 3;
    work = s->c.op->work(&s->problem, in);
    CHECK(work.read_bytes == grid / 2 && work.written_bytes == image + grid && work.flops == 0);
    s->c.attr[0].number = KERF_NEAREST;
    s->c.want = 2;
    if (!fill(s, kerf_rng_seeded(3, 0)))
        return;
    work = s->c.op->work(&s->problem, in);
    CHECK(work.read_bytes == 0 && work.written_bytes == grid && work.flops == 0);
    free_subject(s);
}

static kerf_work work_with(subject *s, const char *layout, kerf_interpolation interpolation, kerf_padding padding,
                           float gx, float gy) {
    s->c.layout = layout;
    s->c.attr[0].number = interpolation;
    s->c.attr[1].number = padding;
    if (!fill(s, kerf_rng_seeded(3, 0)))
        return (kerf_work){0};
    const kerf_strided *const grid = &s->problem.in[KERF_GSG_GRID]->at;
    for (kerf_walk walk = kerf_walk_begin(grid); !walk.done; kerf_walk_next(&walk))
        ((float *)s->in[KERF_GSG_GRID])[walk.offset] = walk.index[3] ? gy : gx;
    return s->c.op->work(&s->problem, (const void *const *)s->in);
}

/* What a kernel may leave out is not counted: taps of weight zero, taps that the padding leads to one pixel, and sums
 * of what lies in memory once. All samples at one point of one image, channels 3, 8 x 16 pixels, 4 samples. */
static void work_leaves_out_what_a_kernel_may(void) {
    subject *const s = new_subject();
    memcpy(s->c.dim, (const int64_t[]){1, 3, 8, 16, 2, 2}, 6 * sizeof(int64_t));
    s->c.want = 1;
    const float centre_x = 1.f / 16, centre_y = 1.f / 8; /* of a pixel, as 8 + 0.5 and 4 + 0.5 */
    kerf_work work = work_with(s, "nchw", KERF_BILINEAR, KERF_PAD_ZEROS, centre_x + 0.01f, centre_y + 0.01f);
    CHECK(work.flops == 2 * 3 * 4 * 4);
    work = work_with(s, "nchw", KERF_BILINEAR, KERF_PAD_ZEROS, centre_x, centre_y);
    CHECK(work.flops == 2 * 3 * 4 * 1);
    work = work_with(s, "nchw", KERF_BICUBIC, KERF_PAD_BORDER, 5, 5);
    CHECK(work.flops == 2 * 3 * 4 * 1);
    work = work_with(s, "grad=strides:0:0:0:0", KERF_BILINEAR, KERF_PAD_ZEROS, centre_x + 0.01f, centre_y + 0.01f);
    CHECK(work.flops == 2 * 4 && work.read_bytes == 4 * (8 + 1));
    s->c.want = 2;
    work = work_with(s, "nchw", KERF_BILINEAR, KERF_PAD_ZEROS, centre_x, centre_y);
    CHECK(work.flops == 2 * 3 * 4 * 3); /* the slopes of two neighbours, and this one's */
    CHECK(work.read_bytes == 4 * (8 + 4 * 3 + 3 * 3));
    free_subject(s);
}

#define TEST(name, run)                                                                                                \
    { "grid_sampler_grad op: " name, "[unit][kernels]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_grid_sampler_grad_op[] = {
    TEST("work leaves out what a kernel may", work_leaves_out_what_a_kernel_may),
    TEST("operands follow the case", describes_operands),
    TEST("names of values are in the order of the enums", names_match_the_enums),
    TEST("bad cases are refused with names and numbers", refuses_bad_cases),
    TEST("outputs that are not wanted are not checked", ignores_unwanted_outputs),
    TEST("sizes that may be 0", takes_empty_sizes),
    TEST("fills write each element and nothing else", fills_elements_only),
    TEST("fills depend on the seed, not on the layout", fills_by_the_seed),
    TEST("exact points are dyadic in every type", exact_points_are_dyadic),
    TEST("one_cell stays in one cell", one_cell_is_one_cell),
    TEST("identity hits pixel centres", identity_hits_the_pixels),
    TEST("fills reach what they name", fills_reach_what_they_name),
    TEST("kinks hit and just miss", kinks_are_hit_and_missed),
    TEST("work counts what must be moved", work_is_a_lower_bound),
    {0},
};
