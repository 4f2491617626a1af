/* Laws of conv2d that hold whatever the implementation, on random problems for every row of this machine. Whole numbers
 * make both sides exact, so they have to be equal; where rounding is the matter, bits are. None of them shares the
 * oracle's index arithmetic: one problem is rewritten as another. */
#include "tests/conv2d_fixture.h"

extern const kerf_test kerf_tests_laws_conv2d[];

enum { N_PROBLEMS = 40 };

#define X    KERF_CONV2D_X
#define W    KERF_CONV2D_W
#define BIAS KERF_CONV2D_BIAS
#define Y    KERF_CONV2D_N_IN

static int64_t between(kerf_rng *rng, int64_t lowest, int64_t highest) {
    return lowest + (int64_t)kerf_rng_below(rng, (uint64_t)(highest - lowest + 1));
}

/* Up to three images, three groups of up to 10 channels and 10 filters; the kernel fits without padding. */
static conv_shape draw(kerf_rng *rng, int number) {
    conv_shape s = {.n = between(rng, 1, 3), .groups = between(rng, 1, 3), .bias = number & 1};
    s.c = s.groups * between(rng, 1, 10);
    s.m = s.groups * between(rng, 1, 10);
    int64_t size[2];
    for (int axis = 0; axis < 2; ++axis) {
        s.kernel[axis] = between(rng, 1, 4);
        s.stride[axis] = between(rng, 1, 3);
        s.dilation[axis] = between(rng, 1, 3);
        s.pads[axis] = between(rng, 0, 3);
        s.pads[axis + 2] = between(rng, 0, 3);
        size[axis] = (s.kernel[axis] - 1) * s.dilation[axis] + between(rng, 1, 9);
    }
    s.h = size[0];
    s.w = size[1];
    s.dtype = number % 4 < 2 ? "f32" : number % 4 == 2 ? "i8" : "bf16";
    s.layout = number / 4 % 2 ? "nhwc" : "packed";
    return s;
}

/* index = the place in `operand` of b that has the value of `at` in a; false: 0 stands there, or it is compared with
 * nothing. */
typedef bool map(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]);

/* For the row-major number `i` of the operand. */
static void index_of(const conv *f, int operand, int64_t i, int64_t index[4]) {
    int64_t all[KERF_MAX_RANK] = {0};
    kerf_strided_index(&conv_operand(f, operand)->at, i, all);
    memcpy(index, all, 4 * sizeof *index);
}

static void copy_inputs(const conv_shape *shape, const conv *from, conv *to, map *where) {
    for (int operand = X; operand < from->problem.n_in; ++operand)
        for (int64_t i = 0; i < conv_count(from, operand); ++i) {
            int64_t at[4], index[4];
            index_of(from, operand, i, at);
            if (where(shape, operand, at, index))
                conv_set(to, operand, index, conv_value(from, operand, at));
        }
}

static void check_outputs(const conv_shape *shape, const conv *a, const conv *b, map *where, const char *name) {
    int64_t n_compared = 0;
    for (int64_t i = 0; i < conv_count(a, Y); ++i) {
        int64_t at[4], index[4];
        index_of(a, Y, i, at);
        if (!where(shape, Y, at, index))
            continue;
        ++n_compared;
        REQUIRE_MESSAGE(conv_get(a, at) == conv_get(b, index), "%s: element %lld is %g and %g", name, (long long)i,
                        conv_get(a, at), conv_get(b, index));
    }
    REQUIRE(n_compared > 0);
}

/* The problem of shape `a` with whole numbers, and `b` with the same numbers at the mapped places, give equal outputs.
 */
static void check_same(const conv_shape *a, const conv_shape *b, map *where, uint64_t seed) {
    conv first, second;
    if (!conv_open(&first, a))
        return;
    if (conv_open(&second, b)) {
        conv_fill(&first, "exact", seed);
        copy_inputs(a, &first, &second, where);
        for (const kerf_row *const *row = conv_rows(); *row && !kerf_test_failed(); ++row)
            if (conv_run(&first, *row, NULL) && conv_run(&second, *row, NULL))
                check_outputs(a, &first, &second, where, op_row_name(*row));
        conv_close(&second);
    }
    conv_close(&first);
}

static bool same_place(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    (void)a;
    (void)operand;
    memcpy(index, at, 4 * sizeof *index);
    return true;
}

/* ---- one problem written as another ----------------------------------------------------------------------------- */

static void layouts_change_nothing(void) {
    static const char *const layouts[] = {"nhwc", "x=nhwc", "w=nhwc,y=nhwc", "x=swapped,y=planar"};
    kerf_rng rng = kerf_rng_seeded(1, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i), b;
        a.layout = "packed";
        b = a;
        b.layout = layouts[i % 4];
        check_same(&a, &b, same_place, (uint64_t)i);
    }
}

/* Paddings are zeros around the image. */
static bool in_padded(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    if (operand == X) {
        index[2] += a->pads[KERF_TOP];
        index[3] += a->pads[KERF_LEFT];
    }
    return true;
}

static void padding_is_zeros(void) {
    kerf_rng rng = kerf_rng_seeded(2, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        const conv_shape a = draw(&rng, i);
        conv_shape b = a;
        b.h += a.pads[KERF_TOP] + a.pads[KERF_BOTTOM];
        b.w += a.pads[KERF_LEFT] + a.pads[KERF_RIGHT];
        memset(b.pads, 0, sizeof b.pads);
        check_same(&a, &b, in_padded, (uint64_t)i);
    }
}

/* Dilation is zeros between the taps. */
static bool in_stuffed(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    if (operand == W) {
        index[2] *= a->dilation[0];
        index[3] *= a->dilation[1];
    }
    return true;
}

static void dilation_is_stuffed_kernel(void) {
    kerf_rng rng = kerf_rng_seeded(3, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        const conv_shape a = draw(&rng, i);
        conv_shape b = a;
        for (int axis = 0; axis < 2; ++axis) {
            b.kernel[axis] = (a.kernel[axis] - 1) * a.dilation[axis] + 1;
            b.dilation[axis] = 1;
        }
        check_same(&a, &b, in_stuffed, (uint64_t)i);
    }
}

/* A stride leaves out outputs. */
static bool in_unstrided(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    if (operand == Y) {
        index[2] *= a->stride[0];
        index[3] *= a->stride[1];
    }
    return true;
}

static void stride_leaves_out(void) {
    kerf_rng rng = kerf_rng_seeded(4, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        const conv_shape a = draw(&rng, i);
        conv_shape b = a;
        b.stride[0] = b.stride[1] = 1;
        check_same(&a, &b, in_unstrided, (uint64_t)i);
    }
}

/* Groups are one dense convolution whose other weights are 0. */
static bool in_ungrouped(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    if (operand == W)
        index[1] += at[0] / (a->m / a->groups) * (a->c / a->groups);
    return true;
}

static void groups_are_block_diagonal(void) {
    kerf_rng rng = kerf_rng_seeded(5, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        const conv_shape a = draw(&rng, i);
        conv_shape b = a;
        b.groups = 1;
        check_same(&a, &b, in_ungrouped, (uint64_t)i);
    }
}

/* The last group alone: its channels, filters and biases; nothing of the others reaches it. */
static bool in_last_group(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    const int axis = operand == X || operand == Y ? 1 : 0;
    const int64_t size = operand == X ? a->c : a->m;
    index[axis] -= size - size / a->groups;
    return index[axis] >= 0;
}

static void groups_are_apart(void) {
    kerf_rng rng = kerf_rng_seeded(6, 0);
    for (int i = 0; i < 2 * N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i);
        if (i % 2) { /* depthwise, with one or more filters for a channel */
            a.groups = a.c;
            a.m = a.c * between(&rng, 1, 3);
        }
        conv_shape b = a;
        b.groups = 1;
        b.c = a.c / a.groups;
        b.m = a.m / a.groups;
        check_same(&a, &b, in_last_group, (uint64_t)i);
    }
}

/* An image that is moved down and right by one stride moves what it gives by one, wherever paddings are not read. */
static bool moved(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    for (int axis = 0; axis < 2; ++axis)
        index[axis + 2] += operand == X ? a->stride[axis] : operand == Y ? 1 : 0;
    return true;
}

static void shifts_go_through(void) {
    kerf_rng rng = kerf_rng_seeded(7, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i);
        memset(a.pads, 0, sizeof a.pads);
        conv_shape b = a;
        b.h += a.stride[0];
        b.w += a.stride[1];
        check_same(&a, &b, moved, (uint64_t)i);
    }
}

/* Rows and columns change places. */
static bool transposed(const conv_shape *a, int operand, const int64_t at[4], int64_t index[4]) {
    same_place(a, operand, at, index);
    if (operand != BIAS) {
        index[2] = at[3];
        index[3] = at[2];
    }
    return true;
}

static void axes_are_alike(void) {
    kerf_rng rng = kerf_rng_seeded(8, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        const conv_shape a = draw(&rng, i);
        conv_shape b = a;
        b.h = a.w;
        b.w = a.h;
        for (int axis = 0; axis < 2; ++axis) {
            b.kernel[axis] = a.kernel[1 - axis];
            b.stride[axis] = a.stride[1 - axis];
            b.dilation[axis] = a.dilation[1 - axis];
            b.pads[axis] = a.pads[1 - axis];
            b.pads[axis + 2] = a.pads[3 - axis];
        }
        check_same(&a, &b, transposed, (uint64_t)i);
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* y of channels [begin, end) of each group, as b; without bias. */
typedef struct part {
    int64_t begin, n;
} part;

static void copy_channels(const conv_shape *a, const conv *from, conv *to, part channels) {
    const int64_t per_group = a->c / a->groups;
    for (int operand = X; operand <= W; ++operand)
        for (int64_t i = 0; i < conv_count(from, operand); ++i) {
            int64_t at[4], index[4];
            index_of(from, operand, i, at);
            same_place(a, operand, at, index);
            const int64_t group = operand == X ? at[1] / per_group : 0, c = at[1] - group * per_group;
            index[1] = group * channels.n + c - channels.begin;
            if (c >= channels.begin && c < channels.begin + channels.n)
                conv_set(to, operand, index, conv_value(from, operand, at));
        }
}

static bool open_part(const conv_shape *a, const conv *from, conv *to, part channels) {
    conv_shape shape = *a;
    shape.c = a->groups * channels.n;
    if (!conv_open(to, &shape))
        return false;
    copy_channels(a, from, to, channels);
    return true;
}

static void check_sum(const conv *all, const conv *first, const conv *rest, const char *name) {
    for (int64_t i = 0; i < conv_count(all, Y); ++i) {
        int64_t at[4];
        index_of(all, Y, i, at);
        REQUIRE_MESSAGE(conv_get(all, at) == conv_get(first, at) + conv_get(rest, at), "%s: element %lld is %g", name,
                        (long long)i, conv_get(all, at));
    }
}

/* Channels are summed: those up to any, and the rest. */
static void channels_add_up(void) {
    kerf_rng rng = kerf_rng_seeded(9, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i);
        const int64_t most = i % 4 == 0 ? 40 : 9, n = between(&rng, 2, most), cut = between(&rng, 1, n - 1);
        a.c = a.groups * n;
        a.bias = false;
        a.dtype = i % 2 ? "f32" : "i8";
        conv all, first, rest;
        if (!conv_open(&all, &a))
            return;
        conv_fill(&all, "exact", (uint64_t)i);
        REQUIRE(open_part(&a, &all, &first, (part){0, cut}) && open_part(&a, &all, &rest, (part){cut, n - cut}));
        for (const kerf_row *const *row = conv_rows(); *row && !kerf_test_failed(); ++row)
            if (conv_run(&all, *row, NULL) && conv_run(&first, *row, NULL) && conv_run(&rest, *row, NULL))
                check_sum(&all, &first, &rest, op_row_name(*row));
        conv_close(&all);
        conv_close(&first);
        conv_close(&rest);
    }
}

/* With a kernel of one tap it is the product of the matrices of pixels and of filters. */
static void one_tap_is_a_product(void) {
    kerf_rng rng = kerf_rng_seeded(10, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        const conv_shape a = {.n = 1,
                              .c = between(&rng, 1, 40),
                              .h = 1,
                              .w = between(&rng, 1, 20),
                              .m = between(&rng, 1, 40),
                              .kernel = {1, 1},
                              .bias = true,
                              .dtype = i % 2 ? "f32" : "i8"};
        conv f;
        if (!conv_open(&f, &a))
            return;
        conv_fill(&f, "exact", (uint64_t)i);
        for (const kerf_row *const *row = conv_rows(); *row && !kerf_test_failed(); ++row)
            for (int64_t k = 0; conv_run(&f, *row, NULL) && k < 3 * a.m; ++k) {
                const int64_t m = k % a.m, pixel = k / a.m * (a.w - 1) / 2;
                double sum = conv_value(&f, BIAS, (int64_t[]){m});
                for (int64_t c = 0; c < a.c; ++c)
                    sum += conv_value(&f, X, (int64_t[]){0, c, 0, pixel}) * conv_value(&f, W, (int64_t[]){m, c, 0, 0});
                REQUIRE_MESSAGE(conv_get(&f, (int64_t[]){0, m, 0, pixel}) == sum, "%s: filter %lld, pixel %lld",
                                op_row_name(*row), (long long)m, (long long)pixel);
            }
        conv_close(&f);
    }
}

/* ---- bits ------------------------------------------------------------------------------------------------------- */

static size_t bytes_of_y(const conv *f) {
    return (size_t)conv_count(f, Y) * kerf_dtype_bytes(conv_operand(f, Y)->dtype);
}

static void multiply(conv *f, int operand, double factor) {
    for (int64_t i = 0; i < conv_count(f, operand); ++i) {
        int64_t at[4];
        index_of(f, operand, i, at);
        conv_set(f, operand, at, factor * conv_value(f, operand, at));
    }
}

/* A power of two scales every product and every rounding, so y to the last bit, as long as nothing is subnormal. */
static void powers_of_two_scale_all(void) {
    static const char *const types[] = {"f32", "f64", "bf16"};
    kerf_rng rng = kerf_rng_seeded(11, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i);
        a.dtype = types[i % 3];
        conv f, scaled;
        if (!conv_open(&f, &a) || !conv_open(&scaled, &a))
            return;
        conv_fill(&f, "uniform", (uint64_t)i);
        conv_fill(&scaled, "uniform", (uint64_t)i);
        multiply(&scaled, i % 2 ? X : W, 1024);
        if (a.bias)
            multiply(&scaled, BIAS, 1024);
        for (const kerf_row *const *row = conv_rows(); *row && !kerf_test_failed(); ++row) {
            if (!conv_run(&f, *row, NULL) || !conv_run(&scaled, *row, NULL))
                continue;
            multiply(&f, Y, 1024);
            REQUIRE_MESSAGE(memcmp(f.data[Y], scaled.data[Y], bytes_of_y(&f)) == 0, "problem %d, %s", i,
                            op_row_name(*row));
        }
        conv_close(&f);
        conv_close(&scaled);
    }
}

/* Who computes an element, and beside which others, does not change its bits. */
static void teams_change_nothing(void) {
    static const char *const types[] = {"f32", "f64", "f16", "bf16", "i8"};
    kerf_rng rng = kerf_rng_seeded(12, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i);
        a.dtype = types[i % 5];
        conv f;
        if (!conv_open(&f, &a))
            return;
        conv_fill(&f, "uniform", (uint64_t)i);
        void *const alone = malloc(bytes_of_y(&f));
        for (const kerf_row *const *row = conv_rows(); *row && !kerf_test_failed(); ++row) {
            if ((*row)->variant[0] && !((*row)->variant[0]->traits & KERF_TRAIT_SLICE_INVARIANT))
                continue;
            if (!conv_run(&f, *row, NULL))
                continue;
            memcpy(alone, f.data[Y], bytes_of_y(&f));
            for (int size = 2; size <= 7; ++size) {
                const kerf_serial_team team = kerf_serial_team_of(size);
                REQUIRE(conv_run(&f, *row, &team.team));
                REQUIRE_MESSAGE(memcmp(alone, f.data[Y], bytes_of_y(&f)) == 0, "problem %d, %s with %d ranks", i,
                                op_row_name(*row), size);
            }
        }
        free(alone);
        conv_close(&f);
    }
}

/* The first image alone, without the others that a kernel may have taken with it. */
static void images_are_apart(void) {
    kerf_rng rng = kerf_rng_seeded(13, 0);
    for (int i = 0; i < N_PROBLEMS && !kerf_test_failed(); ++i) {
        conv_shape a = draw(&rng, i);
        a.dtype = i % 2 ? "f32" : "f16";
        conv all, one;
        if (!conv_open(&all, &a))
            return;
        a.n = 1;
        if (!conv_open(&one, &a))
            return;
        conv_fill(&all, "uniform", (uint64_t)i);
        for (int operand = X; operand < all.problem.n_in; ++operand) {
            const size_t bytes = kerf_dtype_bytes(conv_operand(&one, operand)->dtype);
            memcpy(one.data[operand], all.data[operand], (size_t)conv_count(&one, operand) * bytes);
        }
        for (const kerf_row *const *row = conv_rows(); *row && !kerf_test_failed(); ++row)
            if ((*row)->variant[0] && (*row)->variant[0]->traits & KERF_TRAIT_SLICE_INVARIANT &&
                conv_run(&all, *row, NULL) && conv_run(&one, *row, NULL))
                REQUIRE_MESSAGE(memcmp(all.data[Y], one.data[Y], bytes_of_y(&one)) == 0, "problem %d, %s", i,
                                op_row_name(*row));
        conv_close(&all);
        conv_close(&one);
    }
}

#define LAW(name, run)                                                                                                 \
    { "conv2d law: " name, "[laws][conv2d]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_laws_conv2d[] = {
    LAW("layouts change nothing", layouts_change_nothing),
    LAW("padding is zeros around the image", padding_is_zeros),
    LAW("dilation is zeros between the taps", dilation_is_stuffed_kernel),
    LAW("a stride leaves outputs out", stride_leaves_out),
    LAW("groups are a block diagonal of weights", groups_are_block_diagonal),
    LAW("each group is a convolution of its own", groups_are_apart),
    LAW("a shift of the image is a shift of y", shifts_go_through),
    LAW("rows and columns are alike", axes_are_alike),
    LAW("channels add up", channels_add_up),
    LAW("one tap is a product of matrices", one_tap_is_a_product),
    LAW("powers of two scale every bit", powers_of_two_scale_all),
    LAW("the number of ranks changes no bit", teams_change_nothing),
    LAW("images are apart", images_are_apart),
    {0},
};
