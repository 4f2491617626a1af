/* CUDA source on the host. A .cu file that is compiled as C++ with this header forced in front of it
 *   c++ -std=c++20 -x c++ -DKERF_CUDA_SIM=1 -include kernels/cuda_sim.h file.cu
 * needs no CUDA header, runs on the processor and gives the same bits each time: blocks one after another, threads in
 * order.
 *
 * KERF_LAUNCH runs the threads of a block in a plain loop. A kernel whose threads meet (__syncthreads, __syncwarp,
 * shuffles) is launched by KERF_LAUNCH_MEETING, which gives each thread a stack of its own; threads that miss each
 * other there are found, and the launch fails with words. __shared__ variables are not initialised and may not be
 * extern. Everything is local to the calling thread of the host, so launches may be concurrent. */
#ifndef KERF_KERNELS_CUDA_SIM_H
#define KERF_KERNELS_CUDA_SIM_H

#ifdef __cplusplus
extern "C" {
#endif

/* What was wrong with the last launch of this host thread, NULL if nothing; valid until its next launch. */
const char *kerf_sim_fault(void);

#ifdef __cplusplus
}

#include "base/dtype.h"
#include "base/status.h"
#include "kernels/cuda_launch.h"
#include <cmath>
#include <cstring>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static __thread

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
};

/* The thread of the device that is running. */
struct kerf_sim_place {
    dim3 thread, block, block_size, grid_size;
};
extern __thread kerf_sim_place kerf_sim_at;
#define threadIdx kerf_sim_at.thread
#define blockIdx  kerf_sim_at.block
#define blockDim  kerf_sim_at.block_size
#define gridDim   kerf_sim_at.grid_size
constexpr int warpSize = 32;

/* ---- launch -------------------------------------------------------------------------------------------------------
 */

enum kerf_sim_threads { KERF_SIM_LOOP, KERF_SIM_FIBERS };
kerf_status kerf_sim_run(kerf_sim_threads threads, dim3 grid, dim3 block, void (*body)(const void *), const void *self);

template <typename... Given>
kerf_status kerf_sim_launch(kerf_sim_threads threads, void (*kernel)(Given...), dim3 grid, dim3 block,
                            std::type_identity_t<Given>... given) {
    const auto body = [&] { kernel(given...); };
    return kerf_sim_run(
        threads, grid, block, [](const void *self) { (*static_cast<decltype(&body)>(self))(); }, &body);
}

/* Both have the status of the launch as their value. The stream is of no use here. */
#define KERF_LAUNCH(kernel, grid, block, stream, ...)                                                                  \
    ((void)(stream), kerf_sim_launch(KERF_SIM_LOOP, (kernel), (grid), (block)__VA_OPT__(, ) __VA_ARGS__))
#define KERF_LAUNCH_MEETING(kernel, grid, block, stream, ...)                                                          \
    ((void)(stream), kerf_sim_launch(KERF_SIM_FIBERS, (kernel), (grid), (block)__VA_OPT__(, ) __VA_ARGS__))

/* A device so small that grid-stride loops take several turns. */
template <typename... Given> kerf_status kerf_cuda_ask_limits(void (*)(Given...), int, kerf_cuda_limits *limits) {
    *limits = {2, 2, 0x7fffffff};
    return KERF_OK;
}

/* ---- meeting points -----------------------------------------------------------------------------------------------
 */

void kerf_sim_meet_block(int line);
void kerf_sim_meet_warp(int line, unsigned mask = 0xffffffffu);
/* Hands `value` (at most 8 bytes) to whoever asks for this lane's, and takes that of lane `source`. */
void kerf_sim_exchange(int line, unsigned mask, int source, void *value, size_t bytes);
int kerf_sim_lane(void);

#define __syncthreads() kerf_sim_meet_block(__LINE__)
#define __syncwarp(...) kerf_sim_meet_warp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)

template <typename T> T kerf_sim_shuffle(int line, unsigned mask, T value, int source) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    kerf_sim_exchange(line, mask, source, &value, sizeof value);
    return value;
}

/* A lane outside of the segment of `width` lanes becomes the own one, as on the device. */
inline int kerf_sim_up(int by, int width) {
    const int lane = kerf_sim_lane();
    return lane % width < by ? lane : lane - by;
}
inline int kerf_sim_down(int by, int width) {
    const int lane = kerf_sim_lane();
    return lane % width + by >= width ? lane : lane + by;
}
inline int kerf_sim_xor(int with, int width) {
    const int lane = kerf_sim_lane(), other = lane ^ with;
    return other / width > lane / width ? lane : other;
}
inline int kerf_sim_in_segment(int source, int width) {
    return kerf_sim_lane() / width * width + (source & (width - 1));
}
inline int kerf_sim_width(int width = warpSize) {
    return width;
}
#define __shfl_sync(mask, value, source, ...)                                                                          \
    kerf_sim_shuffle(__LINE__, mask, value, kerf_sim_in_segment(source, kerf_sim_width(__VA_ARGS__)))
#define __shfl_up_sync(mask, value, by, ...)                                                                           \
    kerf_sim_shuffle(__LINE__, mask, value, kerf_sim_up(by, kerf_sim_width(__VA_ARGS__)))
#define __shfl_down_sync(mask, value, by, ...)                                                                         \
    kerf_sim_shuffle(__LINE__, mask, value, kerf_sim_down(by, kerf_sim_width(__VA_ARGS__)))
#define __shfl_xor_sync(mask, value, with, ...)                                                                        \
    kerf_sim_shuffle(__LINE__, mask, value, kerf_sim_xor(with, kerf_sim_width(__VA_ARGS__)))

/* ---- types, loads, atomics ----------------------------------------------------------------------------------------
 */

struct __half {
    uint16_t bits;
};
struct __nv_bfloat16 {
    uint16_t bits;
};
inline float __half2float(__half value) {
    return kerf_f16_to_f32(value.bits);
}
inline __half __float2half_rn(float value) {
    return {kerf_f16_from_f32(value)};
}
inline float __bfloat162float(__nv_bfloat16 value) {
    return kerf_bf16_to_f32(value.bits);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
    return {kerf_bf16_from_f32(value)};
}
inline __half operator+(__half a, __half b) {
    return __float2half_rn(__half2float(a) + __half2float(b));
}
inline __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
}

template <typename T> T __ldg(const T *address) {
    return *address;
}

template <typename T> T atomicExch(T *address, std::type_identity_t<T> value) {
    const T old = *address;
    *address = value;
    return old;
}
template <typename T> T atomicAdd(T *address, std::type_identity_t<T> value) {
    return atomicExch(address, static_cast<T>(*address + value));
}
template <typename T> T atomicMax(T *address, std::type_identity_t<T> value) {
    return atomicExch(address, *address < value ? value : *address);
}
template <typename T> T atomicMin(T *address, std::type_identity_t<T> value) {
    return atomicExch(address, value < *address ? value : *address);
}
template <typename T> T atomicCAS(T *address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return atomicExch(address, *address == expected ? value : *address);
}

#endif
#endif
