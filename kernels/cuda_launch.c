#include "kernels/cuda_launch.h"

#include <assert.h>
#include <stdbool.h>

static int64_t at_least_one(int64_t value) {
    return value < 1 ? 1 : value;
}

kerf_cuda_plan kerf_cuda_plan_elements(int64_t n_elements, int64_t block, const kerf_cuda_limits *limits) {
    assert(n_elements >= 0 && block >= 1 && block <= UINT32_MAX);
    const int64_t filled = n_elements / block + (n_elements % block != 0);
    const int64_t multiprocessors = at_least_one(limits->multiprocessors);
    int64_t most = at_least_one(limits->grid_blocks);
    if (most > UINT32_MAX)
        most = UINT32_MAX;
    /* A quotient instead of the product, which a device with absurd figures could make overflow. */
    if (at_least_one(limits->resident_blocks) <= most / multiprocessors)
        most = multiprocessors * at_least_one(limits->resident_blocks);
    const kerf_cuda_plan plan = {(uint32_t)(filled < most ? filled : most), (uint32_t)block};
    return plan;
}

kerf_cuda_index kerf_cuda_index_for(int64_t n_elements, int64_t lowest_offset, int64_t highest_offset) {
    const bool fits = n_elements <= INT32_MAX && highest_offset <= INT32_MAX && lowest_offset >= -INT32_MAX;
    return fits ? KERF_INDEX_32 : KERF_INDEX_64;
}
