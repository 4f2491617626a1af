/* Both ops: one device thread per element of the side with the blocks in its batch, in a grid-stride loop. Neighbouring
 * threads have neighbouring elements there, so that side is read or written side by side; the other through the
 * read-only path, or scattered. Axes behind the blocks that lie dense on both sides are one.
 *
 * Cost: each byte once, a division per axis and element. Indices have 32 bits where counts and offsets allow it, else
 * 64. Source: the partition is that of TensorFlow's spacetobatch_functor_gpu. */
#include "kernels/cuda_kernel.h"
#include "kernels/space_batch.h"

namespace {

struct alignas(16) bytes16 {
    uint64_t half[2];
};

template <typename Element> __device__ Element read_only(const Element *at) {
    return __ldg(at);
}
__device__ inline bytes16 read_only(const bytes16 *at) {
    return {{__ldg(at->half), __ldg(at->half + 1)}};
}

template <typename Index> struct axis {
    Index count, extent; /* on the side of the batch; in space */
    Index space, batch;  /* strides */
    Index block, before; /* block 0: not a block axis */
};

/* axes[0] is the batch, whose count is not used. */
template <typename Element, typename Index> struct task {
    const Element *from;
    Element *to;
    Element pad;
    Index elements, images, batch_stride, image_stride;
    int n_axes;
    axis<Index> axes[KERF_MAX_RANK];
};

/* Where element `i` of the batch side lies on both sides; false: it is outside of space. `depth` is n_axes, or 0 where
 * the compiler does not know it. */
template <int depth, typename Element, typename Index>
__device__ bool find(const task<Element, Index> &todo, Index i, Index *batch, Index *space) {
    const int n = depth > 0 ? depth : todo.n_axes;
    Index place[depth > 0 ? depth : KERF_MAX_RANK];
    for (int k = n - 1; k > 0; --k) {
        place[k] = i % todo.axes[k].count;
        i /= todo.axes[k].count;
    }
    bool inside = true;
    Index blocks = i / todo.images;
    *batch = i * todo.batch_stride;
    *space = i % todo.images * todo.image_stride;
    for (int k = n - 1; k > 0; --k) {
        const axis<Index> &axis = todo.axes[k];
        *batch += place[k] * axis.batch;
        if (axis.block > 0) {
            place[k] = place[k] * axis.block + blocks % axis.block - axis.before;
            blocks /= axis.block;
            inside = inside && place[k] >= 0 && place[k] < axis.extent;
        }
        *space += place[k] * axis.space;
    }
    return inside;
}

constexpr int largest_block = 1024;

template <int depth, typename Element, typename Index>
__global__ void __launch_bounds__(largest_block) to_batch(const task<Element, Index> todo) {
    kerf_for_elements(todo.elements, [&](Index i) {
        Index batch, space;
        const bool inside = find<depth>(todo, i, &batch, &space);
        todo.to[batch] = inside ? read_only(todo.from + space) : todo.pad;
    });
}

template <int depth, typename Element, typename Index>
__global__ void __launch_bounds__(largest_block) to_space(const task<Element, Index> todo) {
    kerf_for_elements(todo.elements, [&](Index i) {
        Index batch, space;
        if (find<depth>(todo, i, &batch, &space))
            todo.to[space] = read_only(todo.from + batch);
    });
}

/* ---- host ---------------------------------------------------------------------------------------------------------
 */

/* The stride of an axis with one element says nothing, and may be more than an Index holds. */
template <typename Index> Index stride_of(const kerf_strided &at, int k) {
    return at.dims[k] > 1 ? static_cast<Index>(at.strides[k]) : 0;
}

template <typename Element, typename Index>
void set_axes(const kerf_space_batch &self, const kerf_strided &space, const kerf_strided &batch,
              task<Element, Index> *todo) {
    todo->n_axes = 1;
    for (int k = 1; k < space.rank; ++k) {
        axis<Index> next{static_cast<Index>(batch.dims[k]),
                         static_cast<Index>(space.dims[k]),
                         stride_of<Index>(space, k),
                         stride_of<Index>(batch, k),
                         0,
                         0};
        axis<Index> &last = todo->axes[todo->n_axes - 1];
        if (k <= self.n_blocks) {
            next.block = static_cast<Index>(self.block[k - 1]);
            next.before = static_cast<Index>(self.before[k - 1]);
        } else if (todo->n_axes > 1 && last.block == 0 && last.space == next.count * next.space &&
                   last.batch == next.count * next.batch) {
            next.count *= last.count;
            last = next;
            continue;
        }
        todo->axes[todo->n_axes++] = next;
    }
}

template <int depth, typename Element, typename Index>
kerf_status launch_depth(const kerf_launch *launch, const task<Element, Index> &todo, bool is_to_batch) {
    void (*kernel)(task<Element, Index>) =
        is_to_batch ? to_batch<depth, Element, Index> : to_space<depth, Element, Index>;
    const kerf_cuda_shape shape = kerf_cuda_shape_of(launch->config);
    return kerf_launch_elements(kernel, todo.elements, shape, launch->stream, todo);
}

template <typename Element, typename Index> kerf_status run_indexed(const kerf_launch *launch) {
    const kerf_problem *problem = launch->problem;
    const auto &self = *static_cast<const kerf_space_batch *>(problem->self);
    const bool is_to_batch = self.way == KERF_SPACE_TO_BATCH;
    const kerf_strided &space = is_to_batch ? problem->in[0]->at : problem->out[0]->at;
    const kerf_strided &batch = is_to_batch ? problem->out[0]->at : problem->in[0]->at;
    task<Element, Index> todo;
    int64_t elements;
    todo.from = static_cast<const Element *>(launch->in[0]);
    todo.to = static_cast<Element *>(launch->out[0]);
    memcpy(&todo.pad, self.pad, sizeof todo.pad);
    todo.elements = kerf_strided_count(&batch, &elements) ? static_cast<Index>(elements) : 0;
    todo.images = static_cast<Index>(space.dims[0]);
    todo.image_stride = stride_of<Index>(space, 0);
    todo.batch_stride = stride_of<Index>(batch, 0);
    set_axes(self, space, batch, &todo);
    switch (todo.n_axes) { /* the batch, one to four block axes and what is behind them */
    case 2:
        return launch_depth<2>(launch, todo, is_to_batch);
    case 3:
        return launch_depth<3>(launch, todo, is_to_batch);
    case 4:
        return launch_depth<4>(launch, todo, is_to_batch);
    case 5:
        return launch_depth<5>(launch, todo, is_to_batch);
    default:
        return launch_depth<0>(launch, todo, is_to_batch);
    }
}

/* Places between the margins count too. */
bool needs_64_bits(const kerf_problem *problem) {
    const auto &self = *static_cast<const kerf_space_batch *>(problem->self);
    const kerf_strided &batch = (self.way == KERF_SPACE_TO_BATCH ? problem->out[0] : problem->in[0])->at;
    bool wide = kerf_cuda_needs_64_bits(problem);
    for (int k = 0; k < self.n_blocks; ++k)
        wide = wide || kerf_cuda_index_for(batch.dims[k + 1] * self.block[k], 0, 0) == KERF_INDEX_64;
    return wide;
}

template <typename Element> kerf_status run_typed(const kerf_launch *launch) {
    return needs_64_bits(launch->problem) ? run_indexed<Element, int64_t>(launch)
                                          : run_indexed<Element, int32_t>(launch);
}

kerf_status run(const kerf_launch *launch) {
    int64_t elements;
    if (!launch->out[0] || !kerf_strided_count(&launch->problem->out[0]->at, &elements) || elements == 0)
        return KERF_OK;
    switch (kerf_dtype_bytes(launch->problem->in[0]->dtype)) {
    case 1:
        return run_typed<uint8_t>(launch);
    case 2:
        return run_typed<uint16_t>(launch);
    case 4:
        return run_typed<uint32_t>(launch);
    case 8:
        return run_typed<uint64_t>(launch);
    default:
        return run_typed<bytes16>(launch);
    }
}

constexpr kerf_parameter block_parameter = kerf_cuda_block_parameter(largest_block);
const kerf_parameter *const parameters[] = {&block_parameter, &kerf_cuda_items_parameter, nullptr};
const kerf_space config_space = {.bytes = sizeof(kerf_space), .parameters = parameters, .constraints = nullptr};

} // namespace

extern "C" const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .traits = KERF_CUDA_TRAITS & ~KERF_TRAIT_UNORDERED,
    .summary = "CUDA, one thread per element of the batch side in a grid-stride loop",
    .refuses = nullptr,
    .space = &config_space,
    .memory = nullptr,
    .prepare = nullptr,
    .run = run,
};
