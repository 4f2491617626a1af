#define KERF_CUDA_SIM 1 /* as CMake does for .cu files */
#include "kernels/cuda_sim.h"

#include "kernels/cuda_kernel.h"
#include "tests/unit/cuda_sim_kernels.h"

namespace {

__global__ void geometry(int32_t *count) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    count[x + width * (y + height * z)] += 1;
}

__global__ void tree(const int64_t *numbers, int64_t *sums) {
    __shared__ int64_t partial[64];
    const unsigned i = threadIdx.x;
    partial[i] = numbers[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (i < half)
            partial[i] += partial[i + half];
        __syncthreads();
    }
    if (i == 0)
        sums[blockIdx.x] = partial[0];
}

__global__ void shuffles(kerf_shuffled *lanes) {
    const int32_t lane = static_cast<int32_t>(threadIdx.x) % warpSize;
    const int32_t value = 100 * (static_cast<int32_t>(threadIdx.x) / warpSize) + lane;
    /* The second warp has 8 lanes: a source that does not exist would be an error. */
    const unsigned all = 0xffffffffu;
    kerf_shuffled mine;
    mine.up = __shfl_up_sync(all, value, 1);
    mine.down = __shfl_down_sync(all, value, 2, 8);
    mine.across = __shfl_xor_sync(all, value, 1);
    mine.third = __shfl_sync(all, value, 3, 8);
    mine.sum = value;
    for (int by = 4; by > 0; by /= 2)
        mine.sum += __shfl_down_sync(all, mine.sum, by, 8);
    lanes[threadIdx.x] = mine;
}

__global__ void alignment(int32_t *misaligned) {
    alignas(16) volatile char local[16] = {0};
    /* Volatile, or the compiler answers what it believes. */
    const volatile uintptr_t address = reinterpret_cast<uintptr_t>(&local[0]);
    __syncthreads();
    misaligned[threadIdx.x] = static_cast<int32_t>(address % 16);
}

__global__ void halves(int32_t *done) {
    __shared__ int32_t seen[64];
    const unsigned i = threadIdx.x;
    seen[i] = 1;
    if (i % 32 < 16) {
        __syncwarp(0x0000ffffu);
        seen[i] += seen[i ^ 1];
        __syncwarp(0x0000ffffu);
    } else {
        __syncwarp(0xffff0000u);
    }
    __syncwarp();
    __syncthreads();
    done[i] = seen[i ^ 16] + seen[i] >= 3;
}

__global__ void atomics(kerf_atomics *result, __half *sum) {
    const int32_t i = static_cast<int32_t>(threadIdx.x);
    atomicAdd(&result->sum, i);
    atomicMax(&result->largest, i);
    atomicMin(&result->smallest, -i);
    atomicCAS(&result->first, -1, i);
    atomicAdd(sum, __float2half_rn(0.25f));
}

__global__ void some_at_barrier(unsigned n_waiting) {
    if (threadIdx.x < n_waiting)
        __syncthreads();
}

__global__ void two_barriers() {
    if (threadIdx.x < 7)
        __syncthreads();
    else
        __syncthreads();
}

__global__ void foreign_lane() {
    if (threadIdx.x < 4)
        (void)__shfl_sync(0xfu, 1, 4);
}

__global__ void lane_outside_its_mask() {
    __syncwarp(0x1u);
}

__global__ void missing_lanes() {
    if (threadIdx.x < 4)
        __syncwarp(0xffu);
}

__global__ void shares(int32_t n, int32_t *visits, uint32_t *blocks) {
    *blocks = gridDim.x;
    kerf_for_elements(n, [&](int32_t i) { ++visits[i]; });
}

} // namespace

kerf_status kerf_try_shares(int32_t n, int block, int items, int32_t *visits, uint32_t *blocks) {
    return kerf_launch_elements(shares, n, kerf_cuda_shape{block, items}, nullptr, n, visits, blocks);
}

kerf_status kerf_try_geometry(int32_t *count) {
    return KERF_LAUNCH(geometry, dim3(2, 3, 2), dim3(4, 2, 2), nullptr, count);
}

kerf_status kerf_try_tree(const int64_t *numbers, int64_t *sums, unsigned n_blocks) {
    return KERF_LAUNCH_MEETING(tree, dim3(n_blocks), dim3(64), nullptr, numbers, sums);
}

kerf_status kerf_try_shuffles(kerf_shuffled *lanes) {
    return KERF_LAUNCH_MEETING(shuffles, dim3(1), dim3(40), nullptr, lanes);
}

kerf_status kerf_try_alignment(int32_t *misaligned) {
    return KERF_LAUNCH_MEETING(alignment, dim3(1), dim3(3), nullptr, misaligned);
}

kerf_status kerf_try_halves(int32_t *done) {
    return KERF_LAUNCH_MEETING(halves, dim3(1), dim3(64), nullptr, done);
}

kerf_status kerf_try_atomics(kerf_atomics *result) {
    *result = {0, -1, 1, -1, 0};
    __half sum = __float2half_rn(1024);
    const kerf_status status = KERF_LAUNCH(atomics, dim3(1), dim3(100), nullptr, result, &sum);
    result->f16_sum = __half2float(sum);
    return status;
}

kerf_status kerf_try_some_at_barrier(unsigned n_threads, unsigned n_waiting) {
    return KERF_LAUNCH_MEETING(some_at_barrier, dim3(2), dim3(n_threads), nullptr, n_waiting);
}

kerf_status kerf_try_two_barriers(void) {
    return KERF_LAUNCH_MEETING(two_barriers, dim3(1), dim3(64), nullptr);
}

kerf_status kerf_try_foreign_lane(void) {
    return KERF_LAUNCH_MEETING(foreign_lane, dim3(1), dim3(32), nullptr);
}

kerf_status kerf_try_lane_outside_its_mask(void) {
    return KERF_LAUNCH_MEETING(lane_outside_its_mask, dim3(1), dim3(2), nullptr);
}

kerf_status kerf_try_missing_lanes(void) {
    return KERF_LAUNCH_MEETING(missing_lanes, dim3(1), dim3(32), nullptr);
}

kerf_status kerf_try_barrier_in_a_loop_launch(void) {
    return KERF_LAUNCH(some_at_barrier, dim3(1), dim3(4), nullptr, 4);
}

kerf_status kerf_try_block_of(unsigned n_threads) {
    return KERF_LAUNCH(some_at_barrier, dim3(1), dim3(n_threads), nullptr, 0);
}
