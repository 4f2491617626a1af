/* space_to_batch and batch_to_space: published examples, what is refused and how, and callers that change their lists.
 */
#include "kernels/batch_to_space/batch_to_space.h"
#include "kernels/space_to_batch/space_to_batch.h"
#include "tests/catch_shim.h"

#include <stdio.h>
#include <string.h>

extern const kerf_test kerf_tests_unit_space_batch[];

typedef kerf_status (*entry)(const kerf_space_batch_args *, kerf_error *);

static kerf_strided packed(int rank, const int64_t *dims) {
    kerf_strided at = {.rank = rank};
    memcpy(at.dims, dims, (size_t)rank * sizeof *dims);
    kerf_strided_pack(&at);
    return at;
}
#define DIMS(...) packed(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})
#define LIST(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

/* ---- examples of TensorFlow's documentation of SpaceToBatchND and BatchToSpaceND */

typedef struct example {
    kerf_strided space, batch;
    int n_margins;
    int64_t margins[4];
    int32_t in_space[16], in_batch[24]; /* what each side holds */
} example;

static void check_example(const example *e) {
    int32_t y[24];
    kerf_error error = {""};
    kerf_space_batch_args args = {.bytes = sizeof args,
                                  .dtype = KERF_I32,
                                  .request = {.block_shape = (const int64_t[]){2, 2}, .n_block_shape = 2},
                                  .x = e->in_space,
                                  .y = y,
                                  .x_at = e->space,
                                  .y_at = e->batch};
    args.request.margins = e->margins;
    args.request.n_margins = e->n_margins;
    int64_t n_space = 0, n_batch = 0;
    REQUIRE(kerf_strided_count(&e->space, &n_space) && kerf_strided_count(&e->batch, &n_batch));
    REQUIRE_MESSAGE(kerf_space_to_batch(&args, &error) == KERF_OK, "%s", error.message);
    REQUIRE(memcmp(y, e->in_batch, (size_t)n_batch * sizeof *y) == 0);
    args.x = e->in_batch;
    args.x_at = e->batch;
    args.y_at = e->space;
    REQUIRE_MESSAGE(kerf_batch_to_space(&args, &error) == KERF_OK, "%s", error.message);
    REQUIRE(memcmp(y, e->in_space, (size_t)n_space * sizeof *y) == 0);
}

static void examples(void) {
    const example all[] = {
        {DIMS(1, 2, 2, 1), DIMS(4, 1, 1, 1), 0, {0}, {1, 2, 3, 4}, {1, 2, 3, 4}},
        {DIMS(1, 2, 2, 3),
         DIMS(4, 1, 1, 3),
         4,
         {0},
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
        {DIMS(1, 4, 4, 1),
         DIMS(4, 2, 2, 1),
         0,
         {0},
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
         {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16}},
        {DIMS(2, 2, 4, 1),
         DIMS(8, 1, 3, 1),
         4,
         {0, 0, 2, 0},
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
         {0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        check_example(&all[i]);
}

/* ---- refusals */

typedef struct refusal {
    kerf_strided input;
    kerf_space_batch_request request;
    const char *says;
} refusal;

/* Of a way, an input, what is said, and the two LISTs of the request. */
#define TRY(way, in, text, ...)                                                                                        \
    { .input = in, .request = {way, __VA_ARGS__, 0, 0, false}, .says = text }
#define S2B(in, text, ...) TRY(KERF_SPACE_TO_BATCH, in, text, __VA_ARGS__)
#define B2S(in, text, ...) TRY(KERF_BATCH_TO_SPACE, in, text, __VA_ARGS__)
#define NO_MARGINS         NULL, 0
#define BIG                (INT64_C(1) << 62)

static void refusals(void) {
    const refusal all[] = {
        S2B(DIMS(1, 4, 4, 1), "block 0 of axis 2 must be at least 1", LIST(2, 0), NO_MARGINS),
        S2B(DIMS(1, 4, 4, 1), "block -2 of axis 1 must be at least 1", LIST(-2, -2), NO_MARGINS),
        S2B(DIMS(1, 5, 4, 1), "axis 1 of size 5 with paddings 0 and 0 is not a multiple of its block 2: pad 1 more",
            LIST(2, 2), NO_MARGINS),
        S2B(DIMS(1, 4, 4, 1), "paddings -1 and 1 of axis 2 must be at least 0", LIST(2, 2), LIST(0, 0, -1, 1)),
        S2B(DIMS(1, 4, 4, 1), "paddings has 3 numbers: it takes 4", LIST(2, 2), LIST(0, 0, 0)),
        S2B(DIMS(1, 4, 4, 1), "passes 2^63 - 1", LIST(2, 2), LIST(INT64_MAX, INT64_MAX, 0, 0)),
        S2B(DIMS(1, 4, 4, 1), "block_shape has 4 axes but the input of rank 4 has 3", LIST(2, 2, 1, 1), NO_MARGINS),
        S2B(DIMS(1, 4, 4), "product of block_shape passes 2^63 - 1 at axis 2, block 2", LIST(BIG, 2), NO_MARGINS),
        S2B(DIMS(4, 0, 0), "batch 4 times the blocks' product 4611686018427387904 passes", LIST(BIG, 1), NO_MARGINS),
        S2B(DIMS(1, BIG, 4), "passes 2^63 - 1", LIST(1), LIST(0, BIG)),
        S2B(DIMS(1, -1, 4), "axis 1 of the input has size -1", LIST(1), NO_MARGINS),
        S2B(DIMS(1, 4, 4), "a list is NULL or its length negative", NULL, 2, NO_MARGINS),
        S2B(DIMS(1, 4, 4), "a list is NULL or its length negative", NULL, -1, NULL, -2),
        S2B(DIMS(1, 4, 4), "a list is NULL or its length negative", LIST(2), NULL, 2),
        S2B(DIMS(7), "block_shape has 1 axes but the input of rank 1 has 0", LIST(1), NO_MARGINS),
        B2S(DIMS(6, 2, 2, 1), "batch 6 is not a multiple of the blocks' product 4", LIST(2, 2), NO_MARGINS),
        B2S(DIMS(4, 2, 2, 1), "crops 3 and 2 of axis 1 take more than its 4 elements", LIST(2, 2), LIST(3, 2, 0, 0)),
        B2S(DIMS(4, 2, 2, 1), "take more than its 4 elements", LIST(2, 2), LIST(0, 0, INT64_MAX, INT64_MAX)),
        B2S(DIMS(4, 2, 2, 1), "crops 0 and -1 of axis 2 must be at least 0", LIST(2, 2), LIST(0, 0, 0, -1)),
        B2S(DIMS(0, BIG, 2, 1), "axis 1 of size 4611686018427387904 times its block 2 passes", LIST(2, 1), NO_MARGINS),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        kerf_space_batch self;
        kerf_strided output;
        kerf_error error = {""};
        REQUIRE_MESSAGE(kerf_space_batch_resolve(&all[i].request, KERF_F32, &all[i].input, &self, &output, &error) ==
                            KERF_ERROR_USAGE,
                        "%zu: was taken", i);
        REQUIRE_MESSAGE(strstr(error.message, all[i].says), "%zu: %s", i, error.message);
    }
}

static kerf_status resolve_legacy(int64_t size, kerf_strided input, kerf_error *error) {
    const kerf_space_batch_request request = {.way = KERF_SPACE_TO_BATCH, .block_size = size};
    kerf_space_batch self;
    kerf_strided output;
    return kerf_space_batch_resolve(&request, KERF_F32, &input, &self, &output, error);
}

static void legacy_form(void) {
    kerf_error error = {""};
    CHECK(resolve_legacy(2, DIMS(1, 4, 4, 1), &error) == KERF_OK);
    CHECK(resolve_legacy(1, DIMS(1, 4, 4, 1), &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "block_size=1 must be at least 2") != NULL);
    CHECK(resolve_legacy(2, DIMS(1, 4, 4), &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "rank 4, not 3") != NULL);
}

/* Five block axes between the first and the last that do something are too many for TensorFlow, four are not. */
static void limits_of_tensorflow(void) {
    kerf_space_batch self;
    kerf_strided output;
    kerf_error error = {""};
    const kerf_strided input = DIMS(1, 2, 2, 2, 2, 2, 2, 1);
    kerf_space_batch_request request = {.way = KERF_SPACE_TO_BATCH,
                                        .block_shape = (const int64_t[]){1, 2, 1, 1, 2, 1},
                                        .n_block_shape = 6,
                                        .tensorflow_limits = true};
    CHECK(kerf_space_batch_resolve(&request, KERF_F32, &input, &self, &output, &error) == KERF_OK);
    request.block_shape = (const int64_t[]){2, 1, 1, 1, 2, 1};
    CHECK(kerf_space_batch_resolve(&request, KERF_F32, &input, &self, &output, &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "block axes 1 to 5 are 5: TensorFlow takes at most 4") != NULL);
    request.tensorflow_limits = false;
    CHECK(kerf_space_batch_resolve(&request, KERF_F32, &input, &self, &output, &error) == KERF_OK);
}

/* What is refused by the entry leaves the output alone. */
static void entry_refuses(void) {
    int32_t x[4] = {1, 2, 3, 4}, y[4] = {9, 9, 9, 9};
    kerf_error error = {""};
    const kerf_space_batch_args right = {.bytes = sizeof right,
                                         .dtype = KERF_I32,
                                         .request = {.block_shape = (const int64_t[]){2}, .n_block_shape = 1},
                                         .x = x,
                                         .y = y,
                                         .x_at = DIMS(1, 4),
                                         .y_at = DIMS(2, 2)};
    kerf_space_batch_args wrong = right;
    wrong.y_at = DIMS(2, 3);
    CHECK(kerf_space_to_batch(&wrong, &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "axis 1 of y has size 3: it must have 2") != NULL);
    wrong = right;
    wrong.y = x;
    CHECK(kerf_space_to_batch(&wrong, &error) == KERF_ERROR_USAGE);
    CHECK(strstr(error.message, "share memory") != NULL);
    wrong = right;
    wrong.y_at.strides[0] = 1;
    CHECK(kerf_space_to_batch(&wrong, &error) == KERF_ERROR_USAGE);
    wrong = right;
    wrong.x = NULL;
    CHECK(kerf_space_to_batch(&wrong, &error) == KERF_ERROR_USAGE);
    wrong = right;
    wrong.bytes = 8;
    CHECK(kerf_space_to_batch(&wrong, &error) == KERF_ERROR_USAGE);
    wrong = right;
    wrong.dtype = (kerf_dtype)99;
    CHECK(kerf_space_to_batch(&wrong, &error) == KERF_ERROR_USAGE);
    for (int i = 0; i < 4; ++i)
        CHECK(y[i] == 9);
    CHECK(kerf_space_to_batch(&right, &error) == KERF_OK);
    CHECK(y[0] == 1 && y[1] == 3 && y[2] == 2 && y[3] == 4);
}

/* ---- a caller that changes its lists while the call runs */

static int64_t changing_block[1];

static void change_and_run(const kerf_team *team, void (*work)(void *arg, int rank), void *arg) {
    changing_block[0] = 1;
    for (int rank = 0; rank < team->n; ++rank)
        work(arg, rank);
}

static void move_by_the_callers_list(void *arg, int rank) {
    const kerf_space_batch_args *const args = arg;
    const int64_t block = args->request.block_shape[0], n = args->x_at.dims[1];
    for (int64_t i = 0; rank == 0 && i < n; ++i)
        ((int32_t *)args->y)[i % block * (n / block) + i / block] = ((const int32_t *)args->x)[i];
}

/* Planted: what it was checked with is not what it uses. */
static kerf_status entry_that_reads_again(const kerf_space_batch_args *args, kerf_error *error) {
    (void)error;
    kerf_space_batch_args copy = *args; /* of the pointers only */
    kerf_team_run(args->team, move_by_the_callers_list, &copy);
    return KERF_OK;
}

static bool keeps_to_what_it_was_given(entry run) {
    static const int32_t right[] = {1, 3, 5, 2, 4, 6};
    int32_t x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    kerf_error error = {""};
    const kerf_team team = {.n = 2, .run = change_and_run};
    const kerf_space_batch_args args = {.bytes = sizeof args,
                                        .dtype = KERF_I32,
                                        .request = {.block_shape = changing_block, .n_block_shape = 1},
                                        .x = x,
                                        .y = y,
                                        .x_at = DIMS(1, 6),
                                        .y_at = DIMS(2, 3),
                                        .team = &team};
    changing_block[0] = 2;
    return run(&args, &error) == KERF_OK && memcmp(y, right, sizeof y) == 0;
}

static void lists_are_read_once(void) {
    CHECK(keeps_to_what_it_was_given(kerf_space_to_batch));
    CHECK(!keeps_to_what_it_was_given(entry_that_reads_again));
}

const kerf_test kerf_tests_unit_space_batch[] = {
    {"space batch: published examples both ways", "[unit][space_batch]", examples, __FILE__, __LINE__},
    {"space batch: what is refused names axis and values", "[unit][space_batch]", refusals, __FILE__, __LINE__},
    {"space batch: the legacy form takes rank 4 and blocks from 2", "[unit][space_batch]", legacy_form, __FILE__,
     __LINE__},
    {"space batch: limits of TensorFlow on request", "[unit][space_batch]", limits_of_tensorflow, __FILE__, __LINE__},
    {"space batch: the entries refuse before they write", "[unit][space_batch]", entry_refuses, __FILE__, __LINE__},
    {"space batch: a caller that changes its lists meanwhile", "[unit][space_batch]", lists_are_read_once, __FILE__,
     __LINE__},
    {0},
};
