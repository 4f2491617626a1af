/* The plain C entry of conv2d: what it refuses without touching y, and that it computes, packed ahead or not. */
#include "kernels/conv2d/conv2d.h"
#include "tests/catch_shim.h"

#include <stdlib.h>
#include <string.h>

extern const kerf_test kerf_tests_unit_conv2d_entry[];

enum { N_X = 2 * 9, N_W = 3 * 2 * 4, N_Y = 3 * 4 };

typedef struct call {
    kerf_conv2d_args args;
    float x[N_X], w[N_W], bias[3], y[N_Y];
} call;

static kerf_strided packed(int rank, int64_t d0, int64_t d1, int64_t d2, int64_t d3) {
    kerf_strided at = {.rank = rank, .dims = {d0, d1, d2, d3}};
    kerf_strided_pack(&at);
    return at;
}

/* Two channels of 3x3, three filters of 2x2 whose weights are all m + 1, bias 100 m. */
static void set_up(call *c) {
    *c = (call){.args = {.bytes = sizeof c->args, .dtype = KERF_F32}};
    c->args.given = (kerf_conv2d){.stride = {1, 1}, .dilation = {1, 1}, .groups = 1, .has_bias = true};
    for (int i = 0; i < N_X; ++i)
        c->x[i] = (float)i;
    for (int i = 0; i < N_W; ++i)
        c->w[i] = (float)(i / 8 + 1);
    for (int i = 0; i < 3; ++i)
        c->bias[i] = (float)(100 * i);
    for (int i = 0; i < N_Y; ++i)
        c->y[i] = 99;
    c->args.x = c->x;
    c->args.w = c->w;
    c->args.bias = c->bias;
    c->args.y = c->y;
    c->args.x_at = packed(4, 1, 2, 3, 3);
    c->args.w_at = packed(4, 3, 2, 2, 2);
    c->args.bias_at = packed(1, 3, 0, 0, 0);
    c->args.y_at = packed(4, 1, 3, 2, 2);
}

static void wrong_bytes(call *c) {
    c->args.bytes -= 8;
}
static void wrong_type(call *c) {
    c->args.dtype = KERF_I32;
}
static void no_stride(call *c) {
    c->args.given.stride[1] = 0;
}
static void no_groups(call *c) {
    c->args.given.groups = 0;
}
static void large_kernel(call *c) {
    c->args.given.dilation[0] = INT64_MAX;
}
static void short_bias(call *c) {
    c->args.bias_at.dims[0] = 2;
}
static void other_y(call *c) {
    c->args.y_at.dims[2] = 3;
}
static void no_x(call *c) {
    c->args.x = NULL;
}
static void no_bias(call *c) {
    c->args.bias = NULL;
}
static void askew(call *c) {
    c->args.w = (char *)c->w + 1;
}
static void y_over_x(call *c) {
    c->args.y = c->x;
}
static void overlapping_y(call *c) {
    c->args.y_at.strides[1] = 0;
}

static void refuses_mistakes(void) {
    static const struct {
        void (*spoil)(call *c);
        const char *says;
    } mistakes[] = {{wrong_bytes, "args->bytes"},
                    {wrong_type, "dtype"},
                    {no_stride, "axis W has stride 0"},
                    {no_groups, "groups=0"},
                    {large_kernel, "axis H: a kernel of 2 with dilation 9223372036854775807"},
                    {short_bias, "bias has 2 elements"},
                    {other_y, "axis 2 of y has size 3: it must have 2"},
                    {no_x, "x"},
                    {no_bias, "bias"},
                    {askew, "w"},
                    {y_over_x, "x"},
                    {overlapping_y, "share memory"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        call c;
        kerf_error error = {""};
        set_up(&c);
        mistakes[i].spoil(&c);
        REQUIRE_MESSAGE(kerf_conv2d_run(&c.args, &error) == KERF_ERROR_USAGE && strstr(error.message, mistakes[i].says),
                        "mistake %zu: %s", i, error.message);
        REQUIRE_MESSAGE(!strchr(error.message, '\n'), "mistake %zu: %s", i, error.message);
        for (int k = 0; k < N_Y; ++k)
            REQUIRE(c.y[k] == 99);
    }
}

static void check_y(const call *c) {
    static const int corner[] = {0, 1, 3, 4};
    for (int i = 0; i < N_Y; ++i) {
        float sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += (float)(k / 4 * 9 + corner[i % 4] + corner[k % 4]);
        const int m = i / 4;
        REQUIRE_MESSAGE(c->y[i] == (float)(100 * m) + (float)(m + 1) * sum, "element %d is %g", i, (double)c->y[i]);
    }
}

static void computes(void) {
    call c;
    kerf_memory memory;
    kerf_error error = {""};
    set_up(&c);
    REQUIRE(kerf_conv2d_memory(&c.args, &memory, &error) == KERF_OK);
    void *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 64);
    void *const ahead = aligned_alloc(64, memory.packed_bytes / 64 * 64 + 64);
    c.args.scratch = scratch;
    c.args.scratch_bytes = memory.scratch_bytes;
    REQUIRE_MESSAGE(kerf_conv2d_run(&c.args, &error) == KERF_OK, "%s", error.message);
    check_y(&c);
    if (memory.packed_bytes > 0) {
        REQUIRE_MESSAGE(kerf_conv2d_prepare(&c.args, ahead, memory.packed_bytes, &error) == KERF_OK, "%s",
                        error.message);
        c.args.packed = ahead;
        c.args.packed_bytes = memory.packed_bytes;
        memset(c.y, 0xff, sizeof c.y);
        REQUIRE_MESSAGE(kerf_conv2d_run(&c.args, &error) == KERF_OK, "%s", error.message);
        check_y(&c);
    }
    free(scratch);
    free(ahead);
}

const kerf_test kerf_tests_unit_conv2d_entry[] = {
    {"conv2d entry: mistakes are refused and y untouched", "[unit][conv2d]", refuses_mistakes, __FILE__, __LINE__},
    {"conv2d entry: computes", "[unit][conv2d]", computes, __FILE__, __LINE__},
    {0},
};
