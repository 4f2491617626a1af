#include "kernels/cuda_launch.h"

#include "tests/catch_shim.h"

static const kerf_cuda_limits h200_like = {.multiprocessors = 132, .resident_blocks = 8, .grid_blocks = INT32_MAX};

static void never_more_than_the_work_fills(void) {
    REQUIRE(kerf_cuda_plan_elements(1, 256, &h200_like).blocks == 1);
    REQUIRE(kerf_cuda_plan_elements(256, 256, &h200_like).blocks == 1);
    REQUIRE(kerf_cuda_plan_elements(257, 256, &h200_like).blocks == 2);
    REQUIRE(kerf_cuda_plan_elements(256 * 1055, 256, &h200_like).blocks == 1055);
    REQUIRE(kerf_cuda_plan_elements(257, 256, &h200_like).block == 256);
}

static void never_more_than_are_resident(void) {
    REQUIRE(kerf_cuda_plan_elements(256 * 1056, 256, &h200_like).blocks == 132 * 8);
    REQUIRE(kerf_cuda_plan_elements(256 * 1056 + 1, 256, &h200_like).blocks == 132 * 8);
    REQUIRE(kerf_cuda_plan_elements(INT64_MAX, 64, &h200_like).blocks == 132 * 8);
    const kerf_cuda_limits narrow_grid = {.multiprocessors = 132, .resident_blocks = 8, .grid_blocks = 1000};
    REQUIRE(kerf_cuda_plan_elements(INT64_MAX, 64, &narrow_grid).blocks == 1000);
}

static void no_launch_for_no_elements(void) {
    REQUIRE(kerf_cuda_plan_elements(0, 256, &h200_like).blocks == 0);
}

static void absurd_devices_do_no_harm(void) {
    const kerf_cuda_limits nothing = {0}, negative = {-1, -1, -1}, endless = {INT64_MAX, INT64_MAX, INT64_MAX};
    REQUIRE(kerf_cuda_plan_elements(1000, 1, &nothing).blocks == 1);
    REQUIRE(kerf_cuda_plan_elements(1000, 1, &negative).blocks == 1);
    REQUIRE(kerf_cuda_plan_elements(1000, 1, &endless).blocks == 1000);
    REQUIRE(kerf_cuda_plan_elements(INT64_MAX, 1, &endless).blocks == UINT32_MAX);
}

/* The rule stands for itself: blocks that all have work and are all resident, and the largest number of such. */
static void agrees_with_the_definition(void) {
    for (int64_t n = 0; n < 70; ++n) {
        for (int64_t block = 1; block < 9; ++block) {
            for (int64_t resident = 1; resident < 5; ++resident) {
                const kerf_cuda_limits limits = {3, resident, 7};
                int64_t expected = 0;
                while (expected * block < n && expected < 3 * resident && expected < 7)
                    ++expected;
                const kerf_cuda_plan plan = kerf_cuda_plan_elements(n, block, &limits);
                REQUIRE(plan.blocks == expected);
                REQUIRE(plan.block == block);
            }
        }
    }
}

static void index_is_narrow_up_to_its_last_value(void) {
    REQUIRE(kerf_cuda_index_for(0, 0, 0) == KERF_INDEX_32);
    REQUIRE(kerf_cuda_index_for(INT32_MAX, -INT32_MAX, INT32_MAX) == KERF_INDEX_32);
    REQUIRE(kerf_cuda_index_for(INT64_C(0x80000000), 0, 0) == KERF_INDEX_64);
    REQUIRE(kerf_cuda_index_for(1, 0, INT64_C(0x80000000)) == KERF_INDEX_64);
    REQUIRE(kerf_cuda_index_for(1, -INT64_C(0x80000000), 0) == KERF_INDEX_64);
    REQUIRE(kerf_cuda_index_for(1, INT64_MIN, INT64_MAX) == KERF_INDEX_64);
}

const kerf_test kerf_tests_unit_cuda_launch[] = {
    {"cuda_launch: no more blocks than the work fills", "[unit][cuda]", never_more_than_the_work_fills, __FILE__,
     __LINE__},
    {"cuda_launch: no more blocks than the device holds", "[unit][cuda]", never_more_than_are_resident, __FILE__,
     __LINE__},
    {"cuda_launch: nothing to launch for no elements", "[unit][cuda]", no_launch_for_no_elements, __FILE__, __LINE__},
    {"cuda_launch: absurd device figures do no harm", "[unit][cuda]", absurd_devices_do_no_harm, __FILE__, __LINE__},
    {"cuda_launch: sizes agree with their definition", "[unit][cuda]", agrees_with_the_definition, __FILE__, __LINE__},
    {"cuda_launch: 32-bit indices up to 2^31 - 1", "[unit][cuda]", index_is_narrow_up_to_its_last_value, __FILE__,
     __LINE__},
    {0},
};
