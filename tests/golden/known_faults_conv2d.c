/* Faults of public libraries in atrous convolution that a convolution with dilation can have as well, with the right
 * result, on every row of conv2d that this machine runs. */
#include "base/cpu.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/entry.h"
#include "kernels/registry.h"
#include "tests/catch_shim.h"

#include <stdlib.h>
#include <string.h>

extern const kerf_test kerf_tests_golden_known_faults_conv2d[];

enum { MOST = 16 };

/* One image, one channel, one filter. */
typedef struct fault {
    const char *source;
    int64_t image[2], kernel[2], rate[2], pads[4], right[2];
    float x[MOST], w[MOST], y[MOST];
} fault;

static const fault faults[] = {
    {"tensorflow#9705",
     {4, 4},
     {2, 2},
     {2, 2},
     {1, 1, 1, 1},
     {4, 4},
     .x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     .w = {1, 1, 1, 1},
     .y = {5, 10, 12, 6, 10, 20, 24, 12, 18, 36, 40, 20, 9, 18, 20, 10}},
    {"oneDNN#621, rate 1",
     {1, 5},
     {1, 3},
     {1, 1},
     {0},
     {1, 3},
     .x = {1, 2, 3, 4, 5},
     .w = {1, 2, 3},
     .y = {14, 20, 26}},
    {"oneDNN#621, rate 2", {1, 5}, {1, 3}, {1, 2}, {0}, {1, 1}, .x = {1, 2, 3, 4, 5}, .w = {1, 2, 3}, .y = {22}},
    {"tensorflow#55799", {5, 1}, {2, 1}, {2, 1}, {0}, {3, 1}, .x = {1, 2, 3, 4, 5}, .w = {1, 10}, .y = {31, 42, 53}},
};

static kerf_strided packed(const int64_t dims[4], bool channels_last) {
    kerf_strided at = {.rank = 4};
    memcpy(at.dims, dims, 4 * sizeof *dims);
    kerf_strided_pack(&at);
    if (channels_last) {
        const int64_t strides[] = {dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]};
        memcpy(at.strides, strides, sizeof strides);
    }
    return at;
}

static bool can_run(const kerf_row *row, const kerf_variant *variant, const kerf_problem *problem) {
    char reason[200];
    kerf_text why = kerf_text_over(reason, sizeof reason);
    return !row->missing && row->device != KERF_DEVICE_CUDA && !(row->isa_mask & ~kerf_cpu_isa()) && variant &&
           !(variant->refuses && variant->refuses(problem, NULL, &why));
}

static kerf_status run_variant(const kerf_variant *variant, kerf_launch launch) {
    const kerf_memory memory = variant->memory ? variant->memory(launch.problem, NULL) : (kerf_memory){0};
    void *const scratch = aligned_alloc(64, memory.scratch_bytes / 64 * 64 + 64);
    void *const weights = aligned_alloc(64, memory.packed_bytes / 64 * 64 + 64);
    kerf_status status = variant->prepare ? variant->prepare(&launch, weights) : KERF_OK;
    launch.scratch = scratch;
    launch.packed = variant->prepare ? weights : NULL;
    if (status == KERF_OK)
        status = variant->run(&launch);
    free(weights);
    free(scratch);
    return status;
}

static void check_rows(const fault *f, bool channels_last) {
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "conv2d");
    const kerf_conv2d self = {{1, 1}, {f->rate[0], f->rate[1]}, {f->pads[0], f->pads[1], f->pads[2], f->pads[3]}, 1, 0};
    const kerf_strided x_at = packed((int64_t[]){1, 1, f->image[0], f->image[1]}, channels_last);
    const kerf_strided w_at = packed((int64_t[]){1, 1, f->kernel[0], f->kernel[1]}, channels_last);
    const kerf_strided y_at = packed((int64_t[]){1, 1, f->right[0], f->right[1]}, channels_last);
    kerf_strided resolved = {0};
    REQUIRE(kerf_conv2d_resolve(&self, &x_at, &w_at, NULL, &resolved, NULL) == KERF_OK);
    REQUIRE_MESSAGE(memcmp(resolved.dims, y_at.dims, 4 * sizeof *y_at.dims) == 0, "%s", f->source);
    const kerf_operand x = kerf_entry_operand("x", KERF_IN, &x_at, KERF_F32);
    const kerf_operand w = kerf_entry_operand("w", KERF_IN_CONSTANT, &w_at, KERF_F32);
    const kerf_operand y = kerf_entry_operand("y", KERF_OUT, &y_at, KERF_F32);
    const kerf_operand *const in[] = {&x, &w}, *const out[] = {&y};
    const kerf_problem problem = {.bytes = sizeof problem,
                                  .op = entry->op,
                                  .self = &self,
                                  .n_in = 2,
                                  .n_out = 1,
                                  .in = in,
                                  .out = out,
                                  .want = 1};
    for (const kerf_row *const *row = entry->rows; *row; ++row) {
        const kerf_variant *const variant = (*row)->variant[kerf_dtype_class(KERF_F32)];
        if (!can_run(*row, variant, &problem))
            continue;
        float result[MOST];
        memset(result, 0xff, sizeof result);
        const kerf_launch launch = {.bytes = sizeof launch,
                                    .problem = &problem,
                                    .in = (const void *const[]){f->x, f->w},
                                    .out = (void *const[]){result}};
        REQUIRE(run_variant(variant, launch) == KERF_OK);
        for (int64_t i = 0; i < f->right[0] * f->right[1]; ++i)
            REQUIRE_MESSAGE(result[i] == f->y[i], "%s: row %d: element %d is %g, expected %g", f->source,
                            (int)(row - entry->rows), (int)i, (double)result[i], (double)f->y[i]);
    }
}

static void stated_values(void) {
    for (size_t i = 0; i < 2 * sizeof faults / sizeof *faults && !kerf_test_failed(); ++i)
        check_rows(&faults[i / 2], i % 2 != 0);
}

static kerf_status resolve(const int64_t image[2], const int64_t kernel[2], const int64_t rate[2], kerf_strided *y) {
    const kerf_conv2d self = {{1, 1}, {rate[0], rate[1]}, {0}, 1, 0};
    const kerf_strided x_at = packed((int64_t[]){1, 1, image[0], image[1]}, false);
    const kerf_strided w_at = packed((int64_t[]){1, 1, kernel[0], kernel[1]}, false);
    kerf_error error;
    return kerf_conv2d_resolve(&self, &x_at, &w_at, NULL, y, &error);
}

/* tensorflow#113319: a dilated filter larger than the image. tensorflow#30167: sizes that follow each image. */
static void sizes(void) {
    kerf_strided y = {0};
    REQUIRE(resolve((int64_t[]){5, 5}, (int64_t[]){3, 3}, (int64_t[]){3, 3}, &y) == KERF_ERROR_USAGE);
    for (int i = 0; i < 3; ++i) {
        const int64_t height = i == 1 ? 13 : 12;
        REQUIRE(resolve((int64_t[]){height, 16}, (int64_t[]){3, 3}, (int64_t[]){3, 3}, &y) == KERF_OK);
        REQUIRE(y.dims[2] == height - 6);
        REQUIRE(y.dims[3] == 10);
    }
}

const kerf_test kerf_tests_golden_known_faults_conv2d[] = {
    {"known faults: conv2d: stated values", "[golden][conv2d]", stated_values, __FILE__, __LINE__},
    {"known faults: conv2d: sizes", "[golden][conv2d]", sizes, __FILE__, __LINE__},
    {0},
};
