#include "kernels/layout.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "tests/catch_shim.h"

#include <string.h>

extern const kerf_test kerf_tests_unit_layout[];

static const kerf_op *const op = &kerf_op_grid_sampler_grad;

static kerf_operand operand_of(const char *name, kerf_role role) {
    return (kerf_operand){.bytes = sizeof(kerf_operand),
                          .name = name,
                          .role = role,
                          .dtype = KERF_F32,
                          .at = {.rank = 4, .dims = {2, 3, 4, 5}}};
}

typedef struct expected_strides {
    const char *layout, *operand;
    kerf_role role;
    kerf_channels channels;
    int64_t strides[4];
} expected_strides;

static const expected_strides expectations[] = {
    {"nchw", "x", KERF_IN, KERF_HAS_CHANNELS, {60, 20, 5, 1}},
    {"packed", "x", KERF_IN, KERF_HAS_CHANNELS, {60, 20, 5, 1}},
    {"nhwc", "x", KERF_IN, KERF_HAS_CHANNELS, {60, 1, 15, 3}},
    {"nhwc", "grid", KERF_IN, KERF_NO_CHANNELS, {60, 20, 5, 1}},
    {"grid=nhwc", "grid", KERF_IN, KERF_NO_CHANNELS, {60, 1, 15, 3}},
    {"planar", "grid", KERF_IN, KERF_NO_CHANNELS, {60, 4, 1, 12}},
    {"swapped", "dx", KERF_OUT, KERF_HAS_CHANNELS, {20, 40, 5, 1}},
    {"gap", "dx", KERF_OUT, KERF_HAS_CHANNELS, {111, 37, 8, 1}},
    {"flip", "dx", KERF_OUT, KERF_HAS_CHANNELS, {60, 20, -5, -1}},
    {"zero", "x", KERF_IN, KERF_HAS_CHANNELS, {0, 0, 0, 0}},
    {"zero", "dx", KERF_OUT, KERF_HAS_CHANNELS, {60, 20, 5, 1}},
    {"dx=nhwc,x=strides:-1:0:700:9223372036854775", "x", KERF_IN, KERF_HAS_CHANNELS, {-1, 0, 700, 9223372036854775}},
    {"dx=nhwc,x=gap", "dx", KERF_OUT, KERF_HAS_CHANNELS, {60, 1, 15, 3}},
    {"dx=nhwc,x=gap", "grad", KERF_IN, KERF_HAS_CHANNELS, {60, 20, 5, 1}},
};

static void sets_strides(void) {
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; ++i) {
        const expected_strides *const expected = &expectations[i];
        kerf_operand operand = operand_of(expected->operand, expected->role);
        kerf_error error = {""};
        REQUIRE_MESSAGE(kerf_layout_apply(expected->layout, op, expected->channels, &operand, &error) == KERF_OK,
                        "%s: %s", expected->layout, error.message);
        for (int axis = 0; axis < 4; ++axis)
            REQUIRE_MESSAGE(operand.at.strides[axis] == expected->strides[axis], "%s of %s, axis %d: %lld",
                            expected->layout, expected->operand, axis, (long long)operand.at.strides[axis]);
    }
}

static const char *const malformed[][2] = {
    {"", "allowed"},
    {"NCHW", "allowed"},
    {"nchw ", "allowed"},
    {"y=nchw", "has no operand `y`"},
    {"=nchw", "has no operand"},
    {"x=", "allowed"},
    {"x=nchw,", "for each operand"},
    {",x=nchw", "for each operand"},
    {"nchw,x=nhwc", "for the whole case"},
    {"x=nhwc,x=gap", "twice"},
    {"x=nhwc,dx=gap,x=nhwc", "twice"},
    {"dx=zero", "inputs"},
    {"x=strides:", "no stride"},
    {"x=strides:1:", "no stride"},
    {"x=strides:1:+2:3:4", "no stride"},
    {"x=strides:1:02:3:4", "no stride"},
    {"x=strides:1:-0:3:4", "no stride"},
    {"x=strides:1:2:3:9223372036854775808", "no stride"},
    {"x=strides:1:2:3:-9223372036854775809", "no stride"},
    {"x=strides:1:2:3:4:5:6:7:8:9:10:11:12:13", "more than 12"},
    {"x=strides1:2:3:4", "allowed"},
    {"x=nchw=nhwc", "allowed"},
};

static void refuses_malformed_text(void) {
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; ++i) {
        kerf_error error = {""};
        REQUIRE_MESSAGE(kerf_layout_check(malformed[i][0], op, &error) == KERF_ERROR_USAGE, "`%s` was taken",
                        malformed[i][0]);
        REQUIRE_MESSAGE(strstr(error.message, malformed[i][1]) != NULL, "`%s`: %s", malformed[i][0], error.message);
    }
}

static void refuses_wrong_rank(void) {
    kerf_error error = {""};
    kerf_operand operand = operand_of("x", KERF_IN);
    REQUIRE(kerf_layout_apply("x=strides:1:2:3", op, KERF_HAS_CHANNELS, &operand, &error) == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strstr(error.message, "3 strides for x: it needs 4") != NULL, "%s", error.message);
    operand.at.rank = 3;
    REQUIRE(kerf_layout_apply("nhwc", op, KERF_HAS_CHANNELS, &operand, &error) == KERF_ERROR_USAGE);
    operand.at.rank = 1;
    REQUIRE(kerf_layout_apply("swapped", op, KERF_HAS_CHANNELS, &operand, &error) == KERF_ERROR_USAGE);
    REQUIRE(kerf_layout_apply("planar", op, KERF_HAS_CHANNELS, &operand, &error) == KERF_ERROR_USAGE);
    REQUIRE(kerf_layout_apply("flip", op, KERF_HAS_CHANNELS, &operand, &error) == KERF_OK);
    REQUIRE(operand.at.strides[0] == -1);
}

static void refuses_what_cannot_be_addressed(void) {
    static const char *const layouts[] = {"nchw",
                                          "nhwc",
                                          "gap",
                                          "flip",
                                          "x=strides:9223372036854775807:1:1:1",
                                          "x=strides:4611686018427387904:1:1:-4611686018427387904"};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
        kerf_error error = {""};
        kerf_operand operand = operand_of("x", KERF_IN);
        if (layouts[i][1] != '=') {
            operand.at.dims[0] = INT64_C(1) << 31;
            operand.at.dims[3] = INT64_C(1) << 31;
        }
        REQUIRE_MESSAGE(kerf_layout_apply(layouts[i], op, KERF_HAS_CHANNELS, &operand, &error) == KERF_ERROR_USAGE,
                        "%s was taken", layouts[i]);
        REQUIRE_MESSAGE(strstr(error.message, "bytes") != NULL, "%s: %s", layouts[i], error.message);
    }
}

const kerf_test kerf_tests_unit_layout[] = {
    {"layout: each atom sets its strides", "[unit][kernels]", sets_strides, __FILE__, __LINE__},
    {"layout: malformed text is refused with a reason", "[unit][kernels]", refuses_malformed_text, __FILE__, __LINE__},
    {"layout: wrong rank is refused", "[unit][kernels]", refuses_wrong_rank, __FILE__, __LINE__},
    {"layout: overflow is refused", "[unit][kernels]", refuses_what_cannot_be_addressed, __FILE__, __LINE__},
    {0},
};
