/* One device thread per element of y, in a grid-stride loop; the thread walks its taps and channels in order.
 *
 * Neighbouring threads have neighbouring columns of y: they read the same weights, and pixels side by side where the
 * axis W of x is dense and the stride is 1. Cost: 2 C/G kh kw operations and as many reads per element, which only the
 * caches share. Indices have 32 bits where counts, offsets and the padded image allow it, else 64. Source: the
 * definition; no tiles in shared memory, no tensor cores. */
#include "kernels/conv2d/conv2d.h"
#include "kernels/cuda_kernel.h"
#include "kernels/real.h"

namespace {

template <typename Index> struct view { Index stride[4]; };

/* What elements are summed in, and written as. */
template <typename Element> struct sums {
    using sum = kerf_real;
    using result = Element;
};
template <> struct sums<int8_t> {
    using sum = uint32_t;
    using result = uint32_t;
};

template <typename Element, typename Index> struct task {
    const Element *x, *w;
    const typename sums<Element>::result *bias;
    typename sums<Element>::result *y;
    view<Index> x_at, w_at, y_at;
    Index bias_stride, n_elements, filters, out_height, out_width;
    Index per_group, filters_per_group; /* channels of a filter, filters of a group */
    Index size[2], kernel[2], stride[2], dilation[2], pad[2];
};

#if KERF_CLASS == 0
/* Beside those of the types that are rounded. */
using ::kerf_narrow;
using ::kerf_widen;
__device__ __forceinline__ uint32_t kerf_widen(uint32_t value) {
    return value;
}
__device__ __forceinline__ void kerf_narrow(uint32_t value, uint32_t *element) {
    *element = value;
}

__device__ __forceinline__ uint32_t product(int8_t pixel, int8_t weight) {
    return static_cast<uint32_t>(pixel * weight);
}
#endif
template <typename Element> __device__ __forceinline__ kerf_real product(Element pixel, Element weight) {
    return kerf_widen(pixel) * kerf_widen(weight);
}

template <typename Element, typename Index>
__device__ void convolve(const task<Element, Index> &todo, Index n, Index m, Index oy, Index ox) {
    const Index channel = m / todo.filters_per_group * todo.per_group;
    const Index top = oy * todo.stride[0] - todo.pad[0], left = ox * todo.stride[1] - todo.pad[1];
    const Element *const image = todo.x + (n * todo.x_at.stride[0] + channel * todo.x_at.stride[1]);
    const Element *const filter = todo.w + m * todo.w_at.stride[0];
    typename sums<Element>::sum sum = 0;
    if (todo.bias)
        sum = kerf_widen(todo.bias[m * todo.bias_stride]);
    for (Index u = 0; u < todo.kernel[0]; ++u) {
        const Index row = top + u * todo.dilation[0];
        if (row < 0 || row >= todo.size[0])
            continue;
        for (Index v = 0; v < todo.kernel[1]; ++v) {
            const Index column = left + v * todo.dilation[1];
            if (column < 0 || column >= todo.size[1])
                continue;
            const Element *const pixel = image + (row * todo.x_at.stride[2] + column * todo.x_at.stride[3]);
            const Element *const weight = filter + (u * todo.w_at.stride[2] + v * todo.w_at.stride[3]);
            for (Index c = 0; c < todo.per_group; ++c)
                sum += product(__ldg(pixel + c * todo.x_at.stride[1]), __ldg(weight + c * todo.w_at.stride[1]));
        }
    }
    kerf_narrow(sum, todo.y + (n * todo.y_at.stride[0] + m * todo.y_at.stride[1] + oy * todo.y_at.stride[2] +
                               ox * todo.y_at.stride[3]));
}

constexpr int largest_block = 512;

template <typename Element, typename Index>
__global__ void __launch_bounds__(largest_block) convolve_elements(const task<Element, Index> todo) {
    kerf_for_elements(todo.n_elements, [&](Index i) {
        const Index row = i / todo.out_width, plane = row / todo.out_height;
        convolve(todo, plane / todo.filters, plane % todo.filters, row % todo.out_height, i % todo.out_width);
    });
}

/* The stride of an axis with one element says nothing, and may be more than an Index holds. */
template <typename Index> view<Index> view_of(const kerf_strided &array) {
    view<Index> result;
    for (int i = 0; i < 4; ++i)
        result.stride[i] = array.dims[i] > 1 ? static_cast<Index>(array.strides[i]) : 0;
    return result;
}

template <typename Element, typename Index> kerf_status run_indexed(const kerf_launch *launch) {
    const kerf_problem *problem = launch->problem;
    const auto *self = static_cast<const kerf_conv2d *>(problem->self);
    const kerf_strided &x_at = problem->in[KERF_CONV2D_X]->at, &w_at = problem->in[KERF_CONV2D_W]->at;
    const kerf_strided &y_at = problem->out[0]->at;
    using result = typename sums<Element>::result;
    task<Element, Index> todo = {};
    int64_t n_elements = 0;
    todo.y = static_cast<result *>(launch->out[0]);
    if (!todo.y || !kerf_strided_count(&y_at, &n_elements) || n_elements == 0)
        return KERF_OK;
    todo.x = static_cast<const Element *>(launch->in[KERF_CONV2D_X]);
    todo.w = static_cast<const Element *>(launch->in[KERF_CONV2D_W]);
    if (self->has_bias) {
        todo.bias = static_cast<const result *>(launch->in[KERF_CONV2D_BIAS]);
        const kerf_strided &bias_at = problem->in[KERF_CONV2D_BIAS]->at;
        todo.bias_stride = bias_at.dims[0] > 1 ? static_cast<Index>(bias_at.strides[0]) : 0;
    }
    todo.x_at = view_of<Index>(x_at);
    todo.w_at = view_of<Index>(w_at);
    todo.y_at = view_of<Index>(y_at);
    todo.n_elements = static_cast<Index>(n_elements);
    todo.filters = static_cast<Index>(y_at.dims[1]);
    todo.out_height = static_cast<Index>(y_at.dims[2]);
    todo.out_width = static_cast<Index>(y_at.dims[3]);
    todo.per_group = static_cast<Index>(w_at.dims[1]);
    todo.filters_per_group = static_cast<Index>(w_at.dims[0] / self->groups);
    for (int axis = 0; axis < 2; ++axis) {
        todo.size[axis] = static_cast<Index>(x_at.dims[axis + 2]);
        todo.kernel[axis] = static_cast<Index>(w_at.dims[axis + 2]);
        todo.stride[axis] = y_at.dims[axis + 2] > 1 ? static_cast<Index>(self->stride[axis]) : 0;
        todo.dilation[axis] = w_at.dims[axis + 2] > 1 ? static_cast<Index>(self->dilation[axis]) : 0;
        todo.pad[axis] = static_cast<Index>(self->pads[axis]);
    }
    void (*kernel)(task<Element, Index>) = convolve_elements<Element, Index>;
    return kerf_launch_elements(kernel, todo.n_elements, kerf_cuda_shape_of(launch->config), launch->stream, todo);
}

bool needs_64_bits(const kerf_problem *problem) {
    const auto *self = static_cast<const kerf_conv2d *>(problem->self);
    bool wide = kerf_cuda_needs_64_bits(problem);
    /* A tap lies anywhere in the padded image. */
    for (int axis = 0; axis < 2; ++axis)
        wide |= problem->in[KERF_CONV2D_X]->at.dims[axis + 2] + self->pads[axis] + self->pads[axis + 2] > INT32_MAX;
    return wide;
}

template <typename Element> kerf_status run_typed(const kerf_launch *launch) {
    return needs_64_bits(launch->problem) ? run_indexed<Element, int64_t>(launch)
                                          : run_indexed<Element, int32_t>(launch);
}

kerf_status run(const kerf_launch *launch) {
#if KERF_CLASS == 0
    switch (launch->problem->in[KERF_CONV2D_X]->dtype) {
    case KERF_F16:
        return run_typed<__half>(launch);
    case KERF_BF16:
        return run_typed<__nv_bfloat16>(launch);
    case KERF_I8:
        return run_typed<int8_t>(launch);
    default:
        break;
    }
#endif
    return run_typed<kerf_real>(launch);
}

constexpr kerf_parameter block_parameter = kerf_cuda_block_parameter(largest_block);
const kerf_parameter *const parameters[] = {&block_parameter, &kerf_cuda_items_parameter, nullptr};
const kerf_space space = {.bytes = sizeof(kerf_space), .parameters = parameters, .constraints = nullptr};

} // namespace

extern "C" const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .traits = (KERF_CUDA_TRAITS & ~KERF_TRAIT_UNORDERED) | KERF_TRAIT_SLICE_INVARIANT,
    .summary = "CUDA, one thread per element of y in a grid-stride loop",
    .refuses = nullptr,
    .space = &space,
    .memory = nullptr,
    .prepare = nullptr,
    .run = run,
};
