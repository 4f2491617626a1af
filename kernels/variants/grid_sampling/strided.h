/* What the strided variants of grid_sampler and grid_sampler_grad share: strides by name, and a sample as a list of
 * offsets. */
#ifndef KERF_GRID_SAMPLING_STRIDED_H
#define KERF_GRID_SAMPLING_STRIDED_H

#include "kernels/grid_sampling_coordinate.h"

#define MAX_TAPS 16
#define INLINE   static inline __attribute__((always_inline))

typedef struct strides {
    int64_t n, c, y, x; /* of grid and dgrid: n, y, x and, as c, the two components */
} strides;

/* One instantiation per type that this object works on, so that no element asks for its type. */
#if KERF_CLASS == 0
#define FOR_DTYPE(dtype, function, ...)                                                                                \
    (dtype == KERF_F16    ? function(KERF_F16, __VA_ARGS__)                                                            \
     : dtype == KERF_BF16 ? function(KERF_BF16, __VA_ARGS__)                                                           \
                          : function(KERF_F32, __VA_ARGS__))
#else
#define FOR_DTYPE(dtype, function, ...) function(KERF_F64, __VA_ARGS__)
#endif

INLINE void list_offsets(const kerf_axis_taps *x, const kerf_axis_taps *y, const strides *stride, int64_t *offset) {
    for (int j = 0; j < y->n; ++j)
        for (int i = 0; i < x->n; ++i)
            *offset++ = y->index[j] * stride->y + x->index[i] * stride->x;
}

/* A stride that is never taken may be any number; as 0 it cannot overflow a running offset. */
static inline strides taken_strides(const kerf_strided *at, int n, int c, int y, int x) {
    int64_t count, taken[4] = {0};
    if (kerf_strided_count(at, &count) && count > 0)
        for (int axis = 0; axis < 4; ++axis)
            taken[axis] = at->dims[axis] > 1 ? at->strides[axis] : 0;
    return (strides){.n = taken[n], .c = taken[c], .y = taken[y], .x = taken[x]};
}

#endif
