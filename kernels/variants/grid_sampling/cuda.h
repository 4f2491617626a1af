/* What the CUDA variants of grid_sampler and grid_sampler_grad share: one axis of one sample in registers, views of
 * operands, the parameters `block` and `items`. For .cu files. */
#ifndef KERF_GRID_SAMPLING_CUDA_H
#define KERF_GRID_SAMPLING_CUDA_H

#include "kernels/cuda_kernel.h"
#include "kernels/grid_sampling_coordinate.h"

namespace {

template <typename Index> struct view { Index stride[4]; };

template <kerf_interpolation interpolation>
constexpr int taps_of = interpolation == KERF_NEAREST    ? 1
                        : interpolation == KERF_BILINEAR ? 2
                                                         : 4;

/* Unlike kerf_axis_taps it lists skipped taps too, as index -1: slots are then known to the compiler. */
template <int taps, typename Index> struct footprint {
    Index index[taps];
    kerf_real weight[taps], slope[taps], factor;
};

template <kerf_interpolation interpolation, int taps, typename Index>
__device__ bool find(const kerf_axis &axis, kerf_padding padding, kerf_corners corners, kerf_real g,
                     footprint<taps, Index> *found) {
    kerf_real v = kerf_axis_coordinate(&axis, corners, g), slope = 1;
    int64_t base = -2; /* of a finite coordinate beyond all integers: no tap is inside */
    if constexpr (interpolation == KERF_BICUBIC) {
        if (!kerf_is_finite(v))
            return false;
        base = kerf_axis_cubic_base(&axis, padding, v);
        const kerf_real t = fabs(v) < KERF_CAST_LIMIT ? v - static_cast<kerf_real>(base) : kerf_real(0);
        kerf_cubic_weights(t, found->weight);
        kerf_cubic_slopes(t, found->slope);
        for (int k = 0; k < taps; ++k)
            found->index[k] = static_cast<Index>(kerf_axis_cubic_tap(&axis, padding, corners, base - 1 + k));
    } else {
        if (!kerf_axis_pad(&axis, padding, &v, &slope))
            return false;
        if constexpr (interpolation == KERF_BILINEAR) {
            if (fabs(v) < KERF_CAST_LIMIT)
                base = kerf_floor_index(v);
            const kerf_real t = v - static_cast<kerf_real>(base);
            found->weight[0] = 1 - t;
            found->weight[1] = t;
            found->slope[0] = -1;
            found->slope[1] = 1;
        } else {
            if (fabs(v) < KERF_CAST_LIMIT)
                base = kerf_round_index(v);
            found->weight[0] = 1;
            found->slope[0] = 0;
        }
        for (int k = 0; k < taps; ++k)
            found->index[k] = static_cast<Index>(kerf_axis_holds(&axis, base + k) ? base + k : -1);
    }
    found->factor = axis.factor * slope;
    return true;
}

constexpr int largest_block = 512;

/* Blocks that a multiprocessor should hold at least. 0: as the compiler likes, which for bicubic in double would be two
 * and 800 bytes of spills. */
template <kerf_interpolation interpolation> constexpr int resident_blocks = interpolation == KERF_BICUBIC ? 1 : 0;

/* The stride of an axis with one element says nothing, and may be more than an Index holds. */
template <typename Index> view<Index> view_of(const kerf_strided &array) {
    view<Index> result;
    for (int i = 0; i < 4; ++i)
        result.stride[i] = array.dims[i] > 1 ? static_cast<Index>(array.strides[i]) : 0;
    return result;
}

constexpr kerf_parameter block_parameter = kerf_cuda_block_parameter(largest_block);
const kerf_parameter *const parameters[] = {&block_parameter, &kerf_cuda_items_parameter, nullptr};
/* No thread has more than there is. */
const char *const constraints[] = {"items == 1 || items <= N * Ho * Wo", nullptr};
const kerf_space space = {.bytes = sizeof(kerf_space), .parameters = parameters, .constraints = constraints};

} // namespace

#endif
