/* What a .cu file includes: the same source is built by nvcc for the device and, behind kernels/cuda_sim.h, by the
 * host's compiler. Both offer KERF_LAUNCH(kernel, grid, block, stream, arguments...)          the kernel's threads do
 * not wait for each other KERF_LAUNCH_MEETING(kernel, grid, block, stream, arguments...)  they do: barriers, shuffles
 * with a kerf_status as their value, and below it what all ops share. Kernels stand in an anonymous namespace. */
#ifndef KERF_KERNELS_CUDA_KERNEL_H
#define KERF_KERNELS_CUDA_KERNEL_H

#include "kernels/cuda_launch.h"
#include "kernels/kernel.h"
#include <type_traits>

#ifdef KERF_CUDA_SIM

/* Atomic sums come in a fixed order, and a launch has ended when it returns. */
#define KERF_CUDA_TRAITS 0u

#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define KERF_CUDA_TRAITS (KERF_TRAIT_UNORDERED | KERF_TRAIT_ASYNC)

template <typename... Given>
kerf_status kerf_cuda_launch(void (*kernel)(Given...), dim3 grid, dim3 block, void *stream,
                             std::type_identity_t<Given>... given) {
    kernel<<<grid, block, 0, static_cast<cudaStream_t>(stream)>>>(given...);
    /* Only looked at: the one who synchronises tells it in words. */
    return cudaPeekAtLastError() == cudaSuccess ? KERF_OK : KERF_ERROR_DEVICE;
}

#define KERF_LAUNCH(kernel, grid, block, stream, ...)                                                                  \
    kerf_cuda_launch((kernel), (grid), (block), (stream)__VA_OPT__(, ) __VA_ARGS__)
#define KERF_LAUNCH_MEETING KERF_LAUNCH

template <typename... Given>
kerf_status kerf_cuda_ask_limits(void (*kernel)(Given...), int block, kerf_cuda_limits *limits) {
    int device = 0, multiprocessors = 0, grid_blocks = 0, resident_blocks = 0;
    const bool told = cudaGetDevice(&device) == cudaSuccess &&
                      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess &&
                      cudaDeviceGetAttribute(&grid_blocks, cudaDevAttrMaxGridDimX, device) == cudaSuccess &&
                      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident_blocks, kernel, block, 0) == cudaSuccess;
    *limits = {multiprocessors, resident_blocks, grid_blocks};
    return told ? KERF_OK : KERF_ERROR_DEVICE;
}

#endif

/* How a launch is cut: threads of a block, and elements that each of them has at least, as far as there are so many. */
struct kerf_cuda_shape {
    int block, items;
};

/* By the parameters `block` and `items` of a config, which every variant may list. */
inline kerf_cuda_shape kerf_cuda_shape_of(const kerf_config *config) {
    return {static_cast<int>(kerf_config_get(config, "block", 256)),
            static_cast<int>(kerf_config_get(config, "items", 1))};
}

inline constexpr int64_t kerf_cuda_blocks[] = {64, 128, 256, 512, 1024}, kerf_cuda_items[] = {1, 2, 4, 8};

/* Those parameters, for the space of a variant; `largest` is what the launch bounds of its kernels allow. */
constexpr kerf_parameter kerf_cuda_block_parameter(int largest) {
    int n = 0;
    for (int64_t block : kerf_cuda_blocks)
        n += block <= largest;
    return {.bytes = sizeof(kerf_parameter),
            .name = "block",
            .values = kerf_cuda_blocks,
            .choices = nullptr,
            .n_values = n,
            .standard = 256};
}

inline constexpr kerf_parameter kerf_cuda_items_parameter = {.bytes = sizeof(kerf_parameter),
                                                             .name = "items",
                                                             .values = kerf_cuda_items,
                                                             .choices = nullptr,
                                                             .n_values = 4,
                                                             .standard = 1};

/* Launches a kernel whose threads share n_elements out by kerf_for_elements. */
template <typename... Given>
kerf_status kerf_launch_elements(void (*kernel)(Given...), int64_t n_elements, kerf_cuda_shape shape, void *stream,
                                 std::type_identity_t<Given>... given) {
    if (n_elements == 0)
        return KERF_OK;
    kerf_cuda_limits limits;
    KERF_TRY(kerf_cuda_ask_limits(kernel, shape.block, &limits));
    const int64_t n_shares = n_elements / shape.items + (n_elements % shape.items != 0);
    const kerf_cuda_plan plan = kerf_cuda_plan_elements(n_shares, shape.block, &limits);
    return KERF_LAUNCH(kernel, dim3(plan.blocks), dim3(plan.block), stream, given...);
}

/* The grid-stride loop: work(number) for this thread's share of the numbers in [0, n). Index is int32_t or int64_t; the
 * last step never leaves its range. */
template <typename Index, typename Work> __device__ __forceinline__ void kerf_for_elements(Index n, const Work &work) {
    using counter = std::make_unsigned_t<Index>;
    const counter end = static_cast<counter>(n), step = static_cast<counter>(gridDim.x) * blockDim.x;
    for (counter i = static_cast<counter>(blockIdx.x) * blockDim.x + threadIdx.x;
         i<end; i = end - i> step ? i + step : end)
        work(static_cast<Index>(i));
}

/* Extents count even where the array is empty: an Index has to hold each of them. */
inline bool kerf_cuda_needs_64_bits(const kerf_strided &array) {
    int64_t count = 0, lowest = 0, highest = 0;
    if (!kerf_strided_count(&array, &count) || !kerf_strided_span(&array, &lowest, &highest))
        return true;
    for (int i = 0; i < array.rank; ++i)
        count = array.dims[i] > count ? array.dims[i] : count;
    return kerf_cuda_index_for(count, lowest, highest) == KERF_INDEX_64;
}

inline bool kerf_cuda_needs_64_bits(const kerf_problem *problem) {
    bool wide = false;
    for (int i = 0; i < problem->n_in; ++i)
        wide |= kerf_cuda_needs_64_bits(problem->in[i]->at);
    for (int i = 0; i < problem->n_out; ++i)
        wide |= kerf_cuda_needs_64_bits(problem->out[i]->at);
    return wide;
}

/* ---- element types ------------------------------------------------------------------------------------------------
 */

__device__ __forceinline__ float kerf_widen(float value) {
    return value;
}
__device__ __forceinline__ double kerf_widen(double value) {
    return value;
}
__device__ __forceinline__ float kerf_widen(__half value) {
    return __half2float(value);
}
__device__ __forceinline__ float kerf_widen(__nv_bfloat16 value) {
    return __bfloat162float(value);
}

__device__ __forceinline__ void kerf_narrow(float value, float *element) {
    *element = value;
}
__device__ __forceinline__ void kerf_narrow(double value, double *element) {
    *element = value;
}
__device__ __forceinline__ void kerf_narrow(float value, __half *element) {
    *element = __float2half_rn(value);
}
__device__ __forceinline__ void kerf_narrow(float value, __nv_bfloat16 *element) {
    *element = __float2bfloat16_rn(value);
}

#endif
