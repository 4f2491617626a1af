/* One device thread per sample (n, oy, ox), in a grid-stride loop; the thread walks the channels.
 *
 * dx is zeroed by a kernel of its own and then summed by atomic adds; dgrid belongs to the thread's sample, so it needs
 * none. f16 and bf16 sum dx in float scratch, which a third kernel rounds to the elements once. Neighbouring threads
 * have neighbouring ox: gradient, points and dgrid are read and written side by side if that axis is dense.
 *
 * Cost: one read of grad and, for dgrid, taps reads of x per sample and channel; taps atomic adds for dx. Indices have
 * 32 bits where counts and offsets allow it, else 64. Source: the rules are those of coordinate.h; the partition is
 * that of PyTorch's GridSampler.cu. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/grid_sampler_grad/wide_sums.h"
#include "kernels/variants/grid_sampling/cuda.h"

namespace {

/* Sum is the type in which dx is summed. dx and dgrid are NULL where they are not wanted. */
template <typename Element, typename Sum, typename Index> struct task {
    const Element *grad, *x, *grid;
    Sum *dx;
    Element *dgrid;
    view<Index> grad_at, x_at, grid_at, dx_at, dgrid_at;
    Index samples, channels, out_height, out_width;
    kerf_axis row, column;
    kerf_padding padding;
    kerf_corners corners;
};

/* ---- device: kernels ----------------------------------------------------------------------------------------------
 */

template <kerf_interpolation interpolation, typename Element, typename Sum, typename Index>
__device__ void scatter(const task<Element, Sum, Index> &todo, Index n, Index oy, Index ox) {
    constexpr int taps = taps_of<interpolation>;
    constexpr bool has_slope = interpolation != KERF_NEAREST;
    const Index point = n * todo.grid_at.stride[0] + oy * todo.grid_at.stride[1] + ox * todo.grid_at.stride[2];
    const kerf_real gx = kerf_widen(__ldg(todo.grid + point));
    const kerf_real gy = kerf_widen(__ldg(todo.grid + point + todo.grid_at.stride[3]));
    footprint<taps, Index> column, row;
    const bool kept = find<interpolation>(todo.column, todo.padding, todo.corners, gx, &column) &&
                      find<interpolation>(todo.row, todo.padding, todo.corners, gy, &row);
    const Index sample = n * todo.grad_at.stride[0] + oy * todo.grad_at.stride[2] + ox * todo.grad_at.stride[3];
    const bool slopes_wanted = has_slope && todo.dgrid;
    kerf_real sum_x = 0, sum_y = 0;
    for (Index c = 0; kept && c < todo.channels; ++c) {
        const kerf_real g = kerf_widen(__ldg(todo.grad + sample + c * todo.grad_at.stride[1]));
        const Index dx_plane = n * todo.dx_at.stride[0] + c * todo.dx_at.stride[1];
        const Index x_plane = n * todo.x_at.stride[0] + c * todo.x_at.stride[1];
        for (int j = 0; j < taps; ++j) {
            for (int i = 0; i < taps; ++i) {
                const Index iy = row.index[j], ix = column.index[i];
                if (iy < 0 || ix < 0)
                    continue;
                if (todo.dx)
                    atomicAdd(todo.dx + dx_plane + iy * todo.dx_at.stride[2] + ix * todo.dx_at.stride[3],
                              row.weight[j] * column.weight[i] * g);
                if (slopes_wanted) {
                    const kerf_real term =
                        g * kerf_widen(__ldg(todo.x + x_plane + iy * todo.x_at.stride[2] + ix * todo.x_at.stride[3]));
                    sum_x += row.weight[j] * column.slope[i] * term;
                    sum_y += row.slope[j] * column.weight[i] * term;
                }
            }
        }
    }
    if (!todo.dgrid)
        return;
    const Index at = n * todo.dgrid_at.stride[0] + oy * todo.dgrid_at.stride[1] + ox * todo.dgrid_at.stride[2];
    kerf_narrow(kept && has_slope ? column.factor * sum_x : kerf_real(0), todo.dgrid + at);
    kerf_narrow(kept && has_slope ? row.factor * sum_y : kerf_real(0), todo.dgrid + at + todo.dgrid_at.stride[3]);
}

template <kerf_interpolation interpolation, typename Element, typename Sum, typename Index>
__global__ void __launch_bounds__(largest_block, resident_blocks<interpolation>)
    scatter_samples(const task<Element, Sum, Index> todo) {
    kerf_for_elements(todo.samples, [&](Index i) {
        const Index row = i / todo.out_width;
        scatter<interpolation>(todo, row / todo.out_height, row % todo.out_height, i % todo.out_width);
    });
}

/* The elements of dx, and nothing between them. */
template <typename Index> struct image {
    view<Index> at;
    Index elements, channels, height, width;
};

template <typename Index> __device__ Index offset_of(const image<Index> &dx, Index i) {
    const Index row = i / dx.width, plane = row / dx.height;
    return plane / dx.channels * dx.at.stride[0] + plane % dx.channels * dx.at.stride[1] +
           row % dx.height * dx.at.stride[2] + i % dx.width * dx.at.stride[3];
}

template <typename Sum, typename Index>
__global__ void __launch_bounds__(largest_block) zero(Sum *sum, const image<Index> dx) {
    kerf_for_elements(dx.elements, [&](Index i) { sum[offset_of(dx, i)] = 0; });
}

template <typename Element, typename Index>
__global__ void __launch_bounds__(largest_block)
    round_once(const float *sum, Element *elements, const image<Index> dx) {
    kerf_for_elements(dx.elements, [&](Index i) { kerf_narrow(__ldg(sum + i), elements + offset_of(dx, i)); });
}

/* ---- host ---------------------------------------------------------------------------------------------------------
 */

template <typename Index> image<Index> image_of(const kerf_strided &array) {
    const int64_t elements = array.dims[0] * array.dims[1] * array.dims[2] * array.dims[3];
    return {view_of<Index>(array), static_cast<Index>(elements), static_cast<Index>(array.dims[1]),
            static_cast<Index>(array.dims[2]), static_cast<Index>(array.dims[3])};
}

template <typename Element, typename Sum, typename Index>
kerf_status run_modes(const kerf_launch *launch, const task<Element, Sum, Index> &todo, kerf_cuda_shape shape) {
    void (*kernel)(task<Element, Sum, Index>) = scatter_samples<KERF_BILINEAR, Element, Sum, Index>;
    const auto *modes = static_cast<const kerf_grid_sampler_modes *>(launch->problem->self);
    if (modes->interpolation == KERF_NEAREST)
        kernel = scatter_samples<KERF_NEAREST, Element, Sum, Index>;
    else if (modes->interpolation == KERF_BICUBIC)
        kernel = scatter_samples<KERF_BICUBIC, Element, Sum, Index>;
    return kerf_launch_elements(kernel, todo.samples, shape, launch->stream, todo);
}

template <typename Element, typename Index> kerf_status run_indexed(const kerf_launch *launch) {
    constexpr bool through_scratch = sizeof(Element) < sizeof(kerf_real);
    using Sum = std::conditional_t<through_scratch, float, Element>;
    const kerf_problem *problem = launch->problem;
    const auto *modes = static_cast<const kerf_grid_sampler_modes *>(problem->self);
    const kerf_cuda_shape shape = kerf_cuda_shape_of(launch->config);
    const kerf_strided &grad_at = problem->in[KERF_GSG_GRAD]->at, &x_at = problem->in[KERF_GSG_X]->at;
    const kerf_strided &dx_at = problem->out[KERF_GSG_DX]->at;
    kerf_strided sum_at = dx_at;
    if (through_scratch)
        kerf_strided_pack(&sum_at);
    auto *dx = static_cast<Element *>(launch->out[KERF_GSG_DX]);
    Sum *sum = dx ? static_cast<Sum *>(through_scratch ? launch->scratch : dx) : nullptr;

    task<Element, Sum, Index> todo;
    todo.grad = static_cast<const Element *>(launch->in[KERF_GSG_GRAD]);
    todo.x = static_cast<const Element *>(launch->in[KERF_GSG_X]);
    todo.grid = static_cast<const Element *>(launch->in[KERF_GSG_GRID]);
    todo.dx = sum;
    todo.dgrid = static_cast<Element *>(launch->out[KERF_GSG_DGRID]);
    todo.grad_at = view_of<Index>(grad_at);
    todo.x_at = view_of<Index>(x_at);
    todo.grid_at = view_of<Index>(problem->in[KERF_GSG_GRID]->at);
    todo.dx_at = view_of<Index>(sum_at);
    todo.dgrid_at = view_of<Index>(problem->out[KERF_GSG_DGRID]->at);
    todo.samples = static_cast<Index>(grad_at.dims[0] * grad_at.dims[2] * grad_at.dims[3]);
    todo.channels = static_cast<Index>(grad_at.dims[1]);
    todo.out_height = static_cast<Index>(grad_at.dims[2]);
    todo.out_width = static_cast<Index>(grad_at.dims[3]);
    todo.row = kerf_axis_of(x_at.dims[2], modes->corners);
    todo.column = kerf_axis_of(x_at.dims[3], modes->corners);
    todo.padding = modes->padding;
    todo.corners = modes->corners;

    const image<Index> sums = image_of<Index>(sum_at);
    if (dx)
        KERF_TRY(kerf_launch_elements(zero<Sum, Index>, sums.elements, shape, launch->stream, sum, sums));
    KERF_TRY(run_modes(launch, todo, shape));
    if constexpr (through_scratch)
        if (dx)
            return kerf_launch_elements(round_once<Element, Index>, sums.elements, shape, launch->stream, sum, dx,
                                        image_of<Index>(dx_at));
    return KERF_OK;
}

template <typename Element> kerf_status run_typed(const kerf_launch *launch) {
    return kerf_cuda_needs_64_bits(launch->problem) ? run_indexed<Element, int64_t>(launch)
                                                    : run_indexed<Element, int32_t>(launch);
}

kerf_status run(const kerf_launch *launch) {
#if KERF_CLASS == 0
    if (launch->problem->in[KERF_GSG_X]->dtype == KERF_F16)
        return run_typed<__half>(launch);
    if (launch->problem->in[KERF_GSG_X]->dtype == KERF_BF16)
        return run_typed<__nv_bfloat16>(launch);
#endif
    return run_typed<kerf_real>(launch);
}

} // namespace

extern "C" const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .traits = KERF_CUDA_TRAITS,
    .summary = "CUDA, one thread per sample in a grid-stride loop, dx by atomic adds",
    .refuses = nullptr,
    .space = &space,
    .memory = kerf_wide_sums_memory,
    .prepare = nullptr,
    .run = run,
};
