/* How large a CUDA launch is: pure arithmetic, one rule for all ops, tried with scripted devices.
 * .cu files do not call this themselves: kernels/cuda_kernel.h asks the device and launches by the answer. */
#ifndef KERF_KERNELS_CUDA_LAUNCH_H
#define KERF_KERNELS_CUDA_LAUNCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the device says, about one kernel at one block size. Values below 1 count as 1. */
typedef struct kerf_cuda_limits {
    int64_t multiprocessors;
    int64_t resident_blocks; /* that one multiprocessor holds at a time */
    int64_t grid_blocks;     /* largest extent of a grid along x */
} kerf_cuda_limits;

typedef struct kerf_cuda_plan {
    uint32_t blocks; /* 0: nothing to launch */
    uint32_t block;  /* threads per block */
} kerf_cuda_plan;

/* Blocks for a grid-stride loop over n_elements: as many as the device holds at a time, never more than the work fills,
 * none for no work. block >= 1. */
kerf_cuda_plan kerf_cuda_plan_elements(int64_t n_elements, int64_t block, const kerf_cuda_limits *limits);

typedef enum kerf_cuda_index { KERF_INDEX_32, KERF_INDEX_64 } kerf_cuda_index;

/* 32 bits while every count and every offset, in both directions, is at most 2^31 - 1. Zero or negative
 * `lowest_offset`, zero or positive `highest_offset`. */
kerf_cuda_index kerf_cuda_index_for(int64_t n_elements, int64_t lowest_offset, int64_t highest_offset);

#ifdef __cplusplus
}
#endif

#endif
