/* One device thread per sample (n, oy, ox), in a grid-stride loop; the thread walks the channels.
 *
 * Neighbouring threads have neighbouring ox: points and y are read and written side by side if that axis is dense.
 * Cost: the taps of x and one write of y per sample and channel; coordinates and weights once per sample. Indices have
 * 32 bits where counts and offsets allow it, else 64. Source: the rules are those of grid_sampling_coordinate.h; the
 * partition is that of PyTorch's GridSampler.cu. */
#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/variants/grid_sampling/cuda.h"

namespace {

template <typename Element, typename Index> struct task {
    const Element *x, *grid;
    Element *y;
    view<Index> x_at, grid_at, y_at;
    Index samples, channels, out_height, out_width;
    kerf_axis row, column;
    kerf_padding padding;
    kerf_corners corners;
};

template <kerf_interpolation interpolation, typename Element, typename Index>
__device__ void gather(const task<Element, Index> &todo, Index n, Index oy, Index ox) {
    constexpr int taps = taps_of<interpolation>;
    const Index point = n * todo.grid_at.stride[0] + oy * todo.grid_at.stride[1] + ox * todo.grid_at.stride[2];
    const kerf_real gx = kerf_widen(__ldg(todo.grid + point));
    const kerf_real gy = kerf_widen(__ldg(todo.grid + point + todo.grid_at.stride[3]));
    footprint<taps, Index> column, row;
    const bool kept = find<interpolation>(todo.column, todo.padding, todo.corners, gx, &column) &&
                      find<interpolation>(todo.row, todo.padding, todo.corners, gy, &row);
    const Index sample = n * todo.y_at.stride[0] + oy * todo.y_at.stride[2] + ox * todo.y_at.stride[3];
    for (Index c = 0; c < todo.channels; ++c) {
        const Index plane = n * todo.x_at.stride[0] + c * todo.x_at.stride[1];
        kerf_real sum = 0;
        for (int j = 0; kept && j < taps; ++j)
            for (int i = 0; i < taps; ++i) {
                const Index iy = row.index[j], ix = column.index[i];
                if (iy >= 0 && ix >= 0)
                    sum += row.weight[j] * column.weight[i] *
                           kerf_widen(__ldg(todo.x + plane + iy * todo.x_at.stride[2] + ix * todo.x_at.stride[3]));
            }
        kerf_narrow(sum, todo.y + sample + c * todo.y_at.stride[1]);
    }
}

template <kerf_interpolation interpolation, typename Element, typename Index>
__global__ void __launch_bounds__(largest_block, resident_blocks<interpolation>)
    gather_samples(const task<Element, Index> todo) {
    kerf_for_elements(todo.samples, [&](Index i) {
        const Index row = i / todo.out_width;
        gather<interpolation>(todo, row / todo.out_height, row % todo.out_height, i % todo.out_width);
    });
}

template <typename Element, typename Index> kerf_status run_indexed(const kerf_launch *launch) {
    const kerf_problem *problem = launch->problem;
    const auto *modes = static_cast<const kerf_grid_sampler_modes *>(problem->self);
    const kerf_strided &x_at = problem->in[KERF_GS_X]->at, &y_at = problem->out[KERF_GS_Y]->at;
    task<Element, Index> todo;
    todo.x = static_cast<const Element *>(launch->in[KERF_GS_X]);
    todo.grid = static_cast<const Element *>(launch->in[KERF_GS_GRID]);
    todo.y = static_cast<Element *>(launch->out[KERF_GS_Y]);
    if (!todo.y)
        return KERF_OK;
    todo.x_at = view_of<Index>(x_at);
    todo.grid_at = view_of<Index>(problem->in[KERF_GS_GRID]->at);
    todo.y_at = view_of<Index>(y_at);
    todo.samples = static_cast<Index>(y_at.dims[0] * y_at.dims[2] * y_at.dims[3]);
    todo.channels = static_cast<Index>(y_at.dims[1]);
    todo.out_height = static_cast<Index>(y_at.dims[2]);
    todo.out_width = static_cast<Index>(y_at.dims[3]);
    todo.row = kerf_axis_of(x_at.dims[2], modes->corners);
    todo.column = kerf_axis_of(x_at.dims[3], modes->corners);
    todo.padding = modes->padding;
    todo.corners = modes->corners;
    void (*kernel)(task<Element, Index>) = gather_samples<KERF_BILINEAR, Element, Index>;
    if (modes->interpolation == KERF_NEAREST)
        kernel = gather_samples<KERF_NEAREST, Element, Index>;
    else if (modes->interpolation == KERF_BICUBIC)
        kernel = gather_samples<KERF_BICUBIC, Element, Index>;
    const kerf_cuda_shape shape = kerf_cuda_shape_of(launch->config);
    return kerf_launch_elements(kernel, todo.samples, shape, launch->stream, todo);
}

template <typename Element> kerf_status run_typed(const kerf_launch *launch) {
    return kerf_cuda_needs_64_bits(launch->problem) ? run_indexed<Element, int64_t>(launch)
                                                    : run_indexed<Element, int32_t>(launch);
}

kerf_status run(const kerf_launch *launch) {
#if KERF_CLASS == 0
    if (launch->problem->in[KERF_GS_X]->dtype == KERF_F16)
        return run_typed<__half>(launch);
    if (launch->problem->in[KERF_GS_X]->dtype == KERF_BF16)
        return run_typed<__nv_bfloat16>(launch);
#endif
    return run_typed<kerf_real>(launch);
}

} // namespace

extern "C" const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .traits = KERF_CUDA_TRAITS & ~KERF_TRAIT_UNORDERED,
    .summary = "CUDA, one thread per sample in a grid-stride loop",
    .refuses = nullptr,
    .space = &space,
    .memory = nullptr,
    .prepare = nullptr,
    .run = run,
};
