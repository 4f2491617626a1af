/* Where the elements of a strided array lie. Extents and strides are in elements; the pointer of an array addresses its
 * element (0,...,0), so negative strides reach below it. */
#ifndef KERF_BASE_STRIDED_H
#define KERF_BASE_STRIDED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KERF_MAX_RANK 12

typedef struct kerf_strided {
    int rank;
    int64_t dims[KERF_MAX_RANK];
    int64_t strides[KERF_MAX_RANK];
} kerf_strided;

/* Product of the dims; false when it overflows or a dim is negative. */
bool kerf_strided_count(const kerf_strided *array, int64_t *n_elements);
/* Row-major strides for the dims that stand in `array`. */
void kerf_strided_pack(kerf_strided *array);
/* Lowest and highest offset of an element, both 0 for an empty array; false when an offset or their distance
 * overflows. */
bool kerf_strided_span(const kerf_strided *array, int64_t *lowest, int64_t *highest);
/* Offset of the element with this row-major number, and its index along each axis. */
int64_t kerf_strided_offset(const kerf_strided *array, int64_t number);
void kerf_strided_index(const kerf_strided *array, int64_t number, int64_t index[KERF_MAX_RANK]);
/* The same array with every axis of stride 0 cut to one element: each memory element once. */
kerf_strided kerf_strided_unique(const kerf_strided *array);
/* True when no two elements share an address for sure: sorted by |stride|, each stride steps over all that the smaller
 * ones reach. Exotic interleavings that happen not to collide are answered false. */
bool kerf_strided_disjoint(const kerf_strided *array);
/* True when an element of `a` (at a_data, a_bytes each) shares a byte with one of `b`; both obey kerf_strided_disjoint
 * or have zero strides; where that cannot be decided the answer is true. */
bool kerf_strided_share(const kerf_strided *a, const void *a_data, int64_t a_bytes, const kerf_strided *b,
                        const void *b_data, int64_t b_bytes);

/* Walks the elements in row-major order without a division per element:
 *   for (kerf_walk walk = kerf_walk_begin(&array); !walk.done; kerf_walk_next(&walk)) use(walk.offset, walk.number); */
typedef struct kerf_walk {
    const kerf_strided *array;
    int64_t offset, number;
    int64_t index[KERF_MAX_RANK];
    bool done;
} kerf_walk;

kerf_walk kerf_walk_begin(const kerf_strided *array);
void kerf_walk_next(kerf_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
