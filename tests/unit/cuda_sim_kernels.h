/* Kernels that show what the simulation of CUDA can do, for cuda_sim.c. Each function launches one. */
#ifndef KERF_TESTS_UNIT_CUDA_SIM_KERNELS_H
#define KERF_TESTS_UNIT_CUDA_SIM_KERNELS_H

#include "base/status.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds 1 to count[x + 8 (y + 6 z)] for each thread at (x, y, z) of a grid 2x3x2 of blocks 4x2x2: 192 numbers. */
kerf_status kerf_try_geometry(int32_t *count);
/* sums[b] = the sum of the 64 numbers of block b, added as a tree in shared memory. */
kerf_status kerf_try_tree(const int64_t *numbers, int64_t *sums, unsigned n_blocks);
/* Of 40 lanes in two warps, each of value 100 warp + lane: what arrives from below, above, across, and from lane 3 of
 * the own segment of 8; and the sum over the warp's first 8 lanes. */
typedef struct kerf_shuffled {
    int32_t up, down, across, third;
    int32_t sum;
} kerf_shuffled;
kerf_status kerf_try_shuffles(kerf_shuffled *lanes);
/* Of three threads: by how many bytes an automatic array that should lie at a multiple of 16 misses it. */
kerf_status kerf_try_alignment(int32_t *misaligned);
/* Halves of each warp meet apart from each other, at different lines, before all meet: 64 threads write 1. */
kerf_status kerf_try_halves(int32_t *done);
/* 100 threads: adds, maximum, minimum, exchange by comparison; and 100 times 1/4 onto 1024 in f16. */
typedef struct kerf_atomics {
    int32_t sum, largest, smallest, first;
    float f16_sum;
} kerf_atomics;
kerf_status kerf_try_atomics(kerf_atomics *result);

/* Counts the visits of each of n elements, and the blocks. */
kerf_status kerf_try_shares(int32_t n, int block, int items, int32_t *visits, uint32_t *blocks);

/* Each breaks a rule; the launch must fail. */
kerf_status kerf_try_some_at_barrier(unsigned n_threads, unsigned n_waiting);
kerf_status kerf_try_two_barriers(void);
kerf_status kerf_try_foreign_lane(void);
kerf_status kerf_try_lane_outside_its_mask(void);
kerf_status kerf_try_missing_lanes(void);
kerf_status kerf_try_barrier_in_a_loop_launch(void);
kerf_status kerf_try_block_of(unsigned n_threads);

#ifdef __cplusplus
}
#endif

#endif
