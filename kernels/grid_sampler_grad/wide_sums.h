/* Where the scalar and CUDA variants sum dx: in dx itself, or, for f16 and bf16, in scratch of the working type that is
 * rounded once at the end. */
#ifndef KERF_GRID_SAMPLER_GRAD_WIDE_SUMS_H
#define KERF_GRID_SAMPLER_GRAD_WIDE_SUMS_H

#include "base/checked.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/real.h"

static inline bool kerf_sums_in_place(kerf_dtype dtype) {
    return kerf_dtype_bytes(dtype) == sizeof(kerf_real);
}

/* kerf_variant.memory: one sum per element of dx where it is wanted and cannot hold them. */
static inline kerf_memory kerf_wide_sums_memory(const kerf_problem *problem, const kerf_config *config) {
    const kerf_operand *const dx = problem->out[KERF_GSG_DX];
    int64_t count = 0;
    size_t bytes = 0;
    (void)config;
    if (problem->want >> KERF_GSG_DX & 1 && !kerf_sums_in_place(dx->dtype) &&
        (!kerf_strided_count(&dx->at, &count) || !kerf_mul_size((size_t)count, sizeof(kerf_real), &bytes)))
        bytes = SIZE_MAX;
    kerf_memory memory = {bytes, 0, sizeof(kerf_real)};
    return memory;
}

#endif
