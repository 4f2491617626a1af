/* Faults of public libraries in space_to_batch and batch_to_space, each with the input that shows it and the right
 * result: what the reports and the public tests say. Through the C entries and on every row of this machine. */
#include "base/cpu.h"
#include "kernels/batch_to_space/batch_to_space.h"
#include "kernels/entry.h"
#include "kernels/registry.h"
#include "kernels/space_to_batch/space_to_batch.h"
#include "tests/catch_shim.h"

#include <string.h>

extern const kerf_test kerf_tests_golden_known_faults_space_batch[];

enum { MOST_AXES = 6, MOST = 96 };

typedef struct fault {
    const char *source;
    kerf_space_batch_way way;
    int rank, n_blocks;
    int64_t shape[MOST_AXES], block[MOST_AXES], margins[2 * MOST_AXES];
    int32_t first;            /* x holds first, first + 1, ... */
    int64_t right[MOST_AXES]; /* shape of the result*/
    int refused;
    int from, n_right; /* y[from], ... against value[0], ...: elements that are compared */
    int32_t value[MOST];
} fault;

static const fault faults[] = {
    {.source = "CVE-2022-29203, TensorFlow: the product of blocks and batch overflows",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 3,
     .n_blocks = 2,
     .shape = {10, 19, 22},
     .block = {1879048192, 1879048192},
     .refused = 1},
    {.source = "armnn 179: crops subtracted before the block is multiplied",
     .way = KERF_BATCH_TO_SPACE,
     .rank = 4,
     .n_blocks = 2,
     .shape = {4, 2, 2, 1},
     .block = {2, 2},
     .margins = {0, 1, 0, 1},
     .right = {1, 3, 3, 1},
     .n_right = 9,
     .value = {0, 4, 1, 8, 12, 9, 2, 6, 3}},
    {.source = "ComputeLibrary 670: one block for both axes",
     .way = KERF_BATCH_TO_SPACE,
     .rank = 4,
     .n_blocks = 2,
     .shape = {6, 1, 1, 1},
     .block = {2, 3},
     .right = {1, 2, 3, 1},
     .n_right = 6,
     .value = {0, 1, 2, 3, 4, 5}},
    {.source = "tvm 6670: a crop ignored unless the first is not 0",
     .way = KERF_BATCH_TO_SPACE,
     .rank = 4,
     .n_blocks = 2,
     .shape = {4, 1, 1, 1},
     .block = {2, 2},
     .margins = {0, 0, 0, 1},
     .right = {1, 2, 1, 1},
     .n_right = 2,
     .value = {0, 2}},
    {.source = "tfjs 597: divisibility tested before the paddings are added",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 2,
     .shape = {1, 3, 3, 1},
     .block = {2, 2},
     .margins = {0, 1, 0, 1},
     .first = 1,
     .right = {4, 2, 2, 1},
     .n_right = 16,
     .value = {1, 3, 7, 9, 2, 0, 8, 0, 4, 6, 0, 0, 5, 0, 0, 0}},
    {.source = "tfjs 4.22: crops larger than the axis accepted",
     .way = KERF_BATCH_TO_SPACE,
     .rank = 4,
     .n_blocks = 2,
     .shape = {4, 1, 1, 1},
     .block = {2, 2},
     .margins = {2, 1, 0, 0},
     .refused = 1},
    {.source = "TensorFlow's batchtospace test: crops larger than the axis",
     .way = KERF_BATCH_TO_SPACE,
     .rank = 4,
     .n_blocks = 2,
     .shape = {4, 2, 3, 1},
     .block = {2, 2},
     .margins = {3, 2, 0, 0},
     .refused = 1},
    {.source = "deeplearning4j 6447: no axis behind the blocks refused",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 3,
     .shape = {1, 2, 5, 5},
     .block = {1, 1, 2},
     .margins = {0, 0, 0, 0, 1, 2},
     .right = {2, 2, 5, 4},
     .n_right = 4,
     .value = {0, 1, 3, 0}},
    {.source = "deeplearning4j 6447, the second half",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 3,
     .shape = {1, 2, 5, 5},
     .block = {1, 1, 2},
     .margins = {0, 0, 0, 0, 1, 2},
     .right = {2, 2, 5, 4},
     .from = 40,
     .n_right = 4,
     .value = {0, 2, 4, 0}},
    {.source = "TensorFlow's spacetobatch test: an axis of size 0 behind the blocks",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 1,
     .shape = {3, 1, 2, 0},
     .block = {3},
     .margins = {0, 2},
     .right = {9, 1, 2, 0}},
    {.source = "the same: a block axis of size 0",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 1,
     .shape = {3, 0, 2, 5},
     .block = {3},
     .right = {9, 0, 2, 5}},
    {.source = "the same, padded up from nothing",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 1,
     .shape = {3, 0, 2, 5},
     .block = {3},
     .margins = {1, 2},
     .right = {9, 1, 2, 5},
     .n_right = 90},
    {.source = "TensorFlow's limit: five block axes, here taken",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 6,
     .n_blocks = 5,
     .shape = {1, 2, 2, 2, 2, 2},
     .block = {2, 2, 2, 2, 2},
     .right = {32, 1, 1, 1, 1, 1},
     .n_right = 32,
     .value = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
               16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
    {.source = "tflite-micro 1646: padding left as the memory was",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 2,
     .shape = {1, 2, 2, 1},
     .block = {3, 3},
     .margins = {1, 0, 1, 0},
     .first = 1,
     .right = {9, 1, 1, 1},
     .n_right = 9,
     .value = {0, 0, 0, 0, 1, 2, 0, 3, 4}},
    {.source = "tflite-micro 3185: the shape that the model stored, not the one that follows",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 2,
     .shape = {1, 8, 8, 1},
     .block = {2, 2},
     .right = {4, 4, 4, 1},
     .n_right = 8,
     .value = {0, 2, 4, 6, 16, 18, 20, 22}},
    {.source = "the same: another shape is refused",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 2,
     .shape = {1, 8, 8, 1},
     .block = {2, 2},
     .right = {1, 8, 8, 1},
     .refused = 1},
    {.source = "BatchToSpaceOp's write-up: the order of the axes given as destinations",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 4,
     .n_blocks = 2,
     .shape = {2, 2, 4, 1},
     .block = {2, 2},
     .first = 1,
     .right = {8, 1, 2, 1},
     .n_right = 16,
     .value = {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16}},
    {.source = "TensorFlow's tests: block 1 is a copy",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 2,
     .n_blocks = 1,
     .shape = {2, 2},
     .block = {1},
     .right = {2, 2},
     .n_right = 4,
     .value = {0, 1, 2, 3}},
    {.source = "TensorFlow's tests: no block axis is a copy",
     .way = KERF_SPACE_TO_BATCH,
     .rank = 1,
     .n_blocks = 0,
     .shape = {2},
     .right = {2},
     .n_right = 2,
     .value = {0, 1}},
};

static kerf_strided packed(int rank, const int64_t *dims) {
    kerf_strided at = {.rank = rank};
    memcpy(at.dims, dims, (size_t)rank * sizeof *dims);
    kerf_strided_pack(&at);
    return at;
}

static kerf_status run_entry(const fault *f, const int32_t *x, int32_t *y, kerf_error *error) {
    const kerf_space_batch_args args = {.bytes = sizeof args,
                                        .dtype = KERF_I32,
                                        .request = {.block_shape = f->block,
                                                    .n_block_shape = f->n_blocks,
                                                    .margins = f->margins,
                                                    .n_margins = 2 * f->n_blocks},
                                        .x = x,
                                        .y = y,
                                        .x_at = packed(f->rank, f->shape),
                                        .y_at = packed(f->rank, f->right)};
    return (f->way == KERF_SPACE_TO_BATCH ? kerf_space_to_batch : kerf_batch_to_space)(&args, error);
}

static bool is_right(const fault *f, const int32_t *y) {
    return memcmp(y + f->from, f->value, (size_t)f->n_right * sizeof *y) == 0;
}

static void check_rows(const fault *f, const int32_t *x, int32_t *y) {
    const bool to_batch = f->way == KERF_SPACE_TO_BATCH;
    const kerf_op_entry *const entry =
        kerf_registry_find(kerf_registry_builtin(), to_batch ? "space_to_batch" : "batch_to_space");
    const kerf_space_batch_request request = {.way = f->way,
                                              .block_shape = f->block,
                                              .n_block_shape = f->n_blocks,
                                              .margins = f->margins,
                                              .n_margins = 2 * f->n_blocks};
    const kerf_strided x_at = packed(f->rank, f->shape);
    kerf_space_batch self;
    kerf_strided y_at;
    REQUIRE(kerf_space_batch_resolve(&request, KERF_I32, &x_at, &self, &y_at, NULL) == KERF_OK);
    kerf_strided_pack(&y_at);
    const kerf_operand from = kerf_entry_operand("x", KERF_IN, &x_at, KERF_I32);
    const kerf_operand to = kerf_entry_operand("y", KERF_OUT, &y_at, KERF_I32);
    const kerf_operand *const in[] = {&from}, *const out[] = {&to};
    const kerf_problem problem = {.bytes = sizeof problem,
                                  .op = entry->op,
                                  .self = &self,
                                  .n_in = 1,
                                  .n_out = 1,
                                  .in = in,
                                  .out = out,
                                  .want = 1};
    const kerf_launch launch = {
        .bytes = sizeof launch, .problem = &problem, .in = (const void *const[]){x}, .out = (void *const[]){y}};
    for (const kerf_row *const *row = entry->rows; *row; ++row) {
        const kerf_variant *const variant = (*row)->variant[kerf_dtype_class(KERF_I32)];
        kerf_text why = kerf_text_over((char[200]){""}, 200);
        if ((*row)->missing || (*row)->device == KERF_DEVICE_CUDA ||
            ((*row)->isa_mask & kerf_cpu_isa()) != (*row)->isa_mask || !variant ||
            (variant->refuses && variant->refuses(&problem, NULL, &why)))
            continue;
        memset(y, 0x7f, MOST * 4 * sizeof *y);
        REQUIRE_MESSAGE(variant->run(&launch) == KERF_OK && is_right(f, y), "%s: row %d", f->source,
                        (int)(row - entry->rows));
    }
}

static void faults_are_not_repeated(void) {
    static int32_t x[1 << 13], y[MOST * 4];
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        const fault *const f = &faults[i];
        kerf_error error = {""};
        for (int32_t k = 0; k < 1 << 13; ++k)
            x[k] = f->first + k;
        memset(y, 0x7f, sizeof y);
        const kerf_status status = run_entry(f, x, y, &error);
        if (f->refused) {
            REQUIRE_MESSAGE(status == KERF_ERROR_USAGE && y[0] == 0x7f7f7f7f, "%s", f->source);
            continue;
        }
        REQUIRE_MESSAGE(status == KERF_OK, "%s: %s", f->source, error.message);
        REQUIRE_MESSAGE(is_right(f, y), "%s", f->source);
        check_rows(f, x, y);
    }
}

const kerf_test kerf_tests_golden_known_faults_space_batch[] = {
    {"known faults: space and batch", "[golden][space_batch]", faults_are_not_repeated, __FILE__, __LINE__},
    {0},
};
