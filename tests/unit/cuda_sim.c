/* The simulation itself: what a right kernel gives, and that a wrong one is found. */
#include "kernels/cuda_sim.h"

#include "tests/catch_shim.h"
#include "tests/unit/cuda_sim_kernels.h"
#include <pthread.h>
#include <string.h>

static bool fault_says(const char *text) {
    return kerf_sim_fault() && strstr(kerf_sim_fault(), text);
}

static void every_thread_runs_once(void) {
    int32_t count[8 * 6 * 4] = {0};
    REQUIRE(kerf_try_geometry(count) == KERF_OK);
    for (int i = 0; i < 8 * 6 * 4; ++i)
        REQUIRE_MESSAGE(count[i] == 1, "thread %d ran %d times", i, (int)count[i]);
}

#define N_BLOCKS 5

static kerf_status tree_is_right(void) {
    int64_t numbers[64 * N_BLOCKS], sums[N_BLOCKS];
    for (int i = 0; i < 64 * N_BLOCKS; ++i)
        numbers[i] = (int64_t)i * i;
    const kerf_status status = kerf_try_tree(numbers, sums, N_BLOCKS);
    for (int b = 0; b < N_BLOCKS; ++b) {
        int64_t expected = 0;
        for (int i = 0; i < 64; ++i)
            expected += numbers[64 * b + i];
        if (status != KERF_OK || sums[b] != expected)
            return KERF_ERROR_DEVICE;
    }
    return KERF_OK;
}

static void shared_memory_and_barriers(void) {
    REQUIRE(tree_is_right() == KERF_OK);
}

static void stacks_are_aligned(void) {
    int32_t misaligned[3];
    REQUIRE(kerf_try_alignment(misaligned) == KERF_OK);
    for (int i = 0; i < 3; ++i)
        REQUIRE(misaligned[i] == 0);
}

static void lanes_exchange(void) {
    kerf_shuffled lanes[40];
    REQUIRE(kerf_try_shuffles(lanes) == KERF_OK);
    for (int i = 0; i < 40; ++i) {
        const int base = 100 * (i / 32), lane = i % 32, segment = lane / 8 * 8;
        REQUIRE(lanes[i].up == base + (lane == 0 ? 0 : lane - 1));
        REQUIRE(lanes[i].down == base + (lane % 8 + 2 < 8 ? lane + 2 : lane));
        REQUIRE(lanes[i].across == base + (lane ^ 1));
        REQUIRE(lanes[i].third == base + segment + 3);
        if (lane % 8 == 0)
            REQUIRE(lanes[i].sum == 8 * (base + segment) + 28);
    }
}

static void parts_of_a_warp_meet(void) {
    int32_t done[64] = {0};
    REQUIRE(kerf_try_halves(done) == KERF_OK);
    for (int i = 0; i < 64; ++i)
        REQUIRE(done[i] == 1);
}

static void atomics_keep_every_update(void) {
    kerf_atomics result;
    REQUIRE(kerf_try_atomics(&result) == KERF_OK);
    REQUIRE(result.sum == 4950);
    REQUIRE(result.largest == 99);
    REQUIRE(result.smallest == -99);
    REQUIRE(result.first == 0);
    REQUIRE(result.f16_sum == 1024); /* each sum is rounded: 1024 + 1/4 is 1024 in f16 */
}

static void divergence_is_found(void) {
    REQUIRE(kerf_try_some_at_barrier(64, 64) == KERF_OK);
    REQUIRE(kerf_try_some_at_barrier(64, 0) == KERF_OK);
    REQUIRE(kerf_try_some_at_barrier(64, 63) == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("threads miss each other in block (0,0,0)") && fault_says("thread 63 has ended"));
    REQUIRE(kerf_try_some_at_barrier(64, 1) == KERF_ERROR_DEVICE);
    REQUIRE(kerf_try_two_barriers() == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("thread 0 waits at line") && fault_says("thread 7 waits at line"));
    REQUIRE(kerf_try_missing_lanes() == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("threads miss each other"));
}

static void wrong_lanes_are_found(void) {
    REQUIRE(kerf_try_foreign_lane() == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("takes a value from lane 4, which does not take part"));
    REQUIRE(kerf_try_lane_outside_its_mask() == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("lane 1 is not among the lanes that it names"));
}

static void wrong_launches_are_found(void) {
    REQUIRE(kerf_try_barrier_in_a_loop_launch() == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("KERF_LAUNCH_MEETING"));
    REQUIRE(kerf_try_block_of(1024) == KERF_OK);
    REQUIRE(kerf_try_block_of(1025) == KERF_ERROR_DEVICE);
    REQUIRE(kerf_try_block_of(0) == KERF_ERROR_DEVICE);
    REQUIRE(fault_says("at least 1"));
}

/* The device of the simulation holds 4 blocks at a time. */
static void items_make_fewer_blocks(void) {
    static const struct {
        int n, block, items;
        uint32_t blocks;
    } cases[] = {{200, 64, 1, 4},  {200, 64, 2, 2}, {200, 64, 4, 1}, {200, 64, 8, 1}, {257, 64, 2, 3},
                 {1000, 64, 2, 4}, {1, 64, 8, 1},   {5, 1, 2, 3},    {5, 512, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int32_t visits[1000] = {0};
        uint32_t blocks = 0;
        REQUIRE(kerf_try_shares(cases[i].n, cases[i].block, cases[i].items, visits, &blocks) == KERF_OK);
        REQUIRE_MESSAGE(blocks == cases[i].blocks, "case %d: %u blocks", (int)i, blocks);
        for (int k = 0; k < 1000; ++k)
            REQUIRE(visits[k] == (k < cases[i].n));
    }
}

static void a_fault_is_over_with_the_next_launch(void) {
    REQUIRE(kerf_try_some_at_barrier(64, 63) == KERF_ERROR_DEVICE);
    REQUIRE(tree_is_right() == KERF_OK);
    REQUIRE(kerf_sim_fault() == NULL);
}

static void *many_trees(void *failed) {
    for (int i = 0; i < 20; ++i)
        *(bool *)failed |= tree_is_right() != KERF_OK;
    return NULL;
}

static void host_threads_do_not_meet(void) {
    pthread_t thread[3];
    bool failed[4] = {false, false, false, false};
    for (int i = 0; i < 3; ++i)
        REQUIRE(pthread_create(&thread[i], NULL, many_trees, &failed[i]) == 0);
    many_trees(&failed[3]);
    for (int i = 0; i < 3; ++i)
        REQUIRE(pthread_join(thread[i], NULL) == 0);
    for (int i = 0; i < 4; ++i)
        REQUIRE(!failed[i]);
}

const kerf_test kerf_tests_unit_cuda_sim[] = {
    {"cuda_sim: every thread of a launch runs once", "[unit][cuda]", every_thread_runs_once, __FILE__, __LINE__},
    {"cuda_sim: shared memory and barriers", "[unit][cuda]", shared_memory_and_barriers, __FILE__, __LINE__},
    {"cuda_sim: stacks of threads are aligned", "[unit][cuda]", stacks_are_aligned, __FILE__, __LINE__},
    {"cuda_sim: lanes of a warp exchange values", "[unit][cuda]", lanes_exchange, __FILE__, __LINE__},
    {"cuda_sim: parts of a warp meet on their own", "[unit][cuda]", parts_of_a_warp_meet, __FILE__, __LINE__},
    {"cuda_sim: atomics keep every update", "[unit][cuda]", atomics_keep_every_update, __FILE__, __LINE__},
    {"cuda_sim: divergence at a barrier is found", "[unit][cuda]", divergence_is_found, __FILE__, __LINE__},
    {"cuda_sim: lanes that do not take part are found", "[unit][cuda]", wrong_lanes_are_found, __FILE__, __LINE__},
    {"cuda_sim: launches that no device takes are found", "[unit][cuda]", wrong_launches_are_found, __FILE__, __LINE__},
    {"cuda_sim: more items of a thread make fewer blocks", "[unit][cuda]", items_make_fewer_blocks, __FILE__, __LINE__},
    {"cuda_sim: a fault is over with the next launch", "[unit][cuda]", a_fault_is_over_with_the_next_launch, __FILE__,
     __LINE__},
    {"cuda_sim: threads of the host launch at the same time", "[unit][cuda]", host_threads_do_not_meet, __FILE__,
     __LINE__},
    {0},
};
