/* Nearest where the channels of x or y do not lie side by side: where the samples of a tile fall is found once, and
 * then the elements of each channel are copied as they are, whatever their type. */
#ifndef KERF_GRID_SAMPLER_NEAREST_H
#define KERF_GRID_SAMPLER_NEAREST_H

#include "kernels/variants/grid_sampling/pack.h"
#include "kernels/variants/grid_sampling/points.h"

enum { COPY_TILE = 1024 };

typedef struct copy_tile {
    int64_t n, n_dropped;
    int64_t offset[COPY_TILE]; /* in elements; 0 where the sample is dropped */
    int32_t dropped[COPY_TILE];
} copy_tile;

/* Offsets of up to STRIP samples, where they fit 32 bits and where they do not. */
#define PUT_OFFSETS(type)                                                                                              \
    for (int64_t i = 0; i < n; ++i)                                                                                    \
    offset[i] = (type)y[i] * (type)stride[2] + (type)x[i] * (type)stride[3]

static void put_offsets(const kerf_real *x, const kerf_real *y, int64_t n, const int64_t *stride, bool small,
                        int64_t *offset) {
    if (small)
        PUT_OFFSETS(int32_t);
    else
        PUT_OFFSETS(int64_t);
}

static bool fits_32_bits(int64_t extent, int64_t stride) {
    return extent <= (1 << 24) && (stride < 0 ? -stride : stride) <= INT32_MAX / 2 / extent;
}

/* One axis: the pixel, or 0 where it is outside; `outside` grows by 1 then. */
KERF_ALWAYS_INLINE kerf_vec place_nearest(const kerf_axis *axis, kerf_padding padding, kerf_vec g, kerf_vec *outside) {
    const kerf_vec zero = kerf_vec_set(0), one = kerf_vec_set(1), last = kerf_vec_set(axis->last);
    kerf_vec slope;
    const kerf_vec v = kerf_vec_round(vector_pad(axis, padding, vector_coordinate(axis, g), &slope));
    const kerf_mask above = kerf_vec_le(zero, v), below = kerf_vec_le(v, last);
    *outside += kerf_vec_select(above, kerf_vec_select(below, zero, one), one);
    return kerf_vec_select(above, kerf_vec_select(below, v, zero), zero);
}

/* Points become pixels; where one is outside, both are 0 and `outside` is not. */
KERF_ALWAYS_INLINE void place_nearest_as(kerf_padding padding, const kerf_axis *axis_x, const kerf_axis *axis_y,
                                         int64_t n, kerf_real *x, kerf_real *y, kerf_real *outside, bool *any) {
    const kerf_vec zero = kerf_vec_set(0);
    kerf_vec all = zero;
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        kerf_vec out = zero;
        const kerf_vec at_x = place_nearest(axis_x, padding, kerf_vec_load(x + i), &out);
        const kerf_vec at_y = place_nearest(axis_y, padding, kerf_vec_load(y + i), &out);
        const kerf_mask there = kerf_vec_le(out, zero);
        kerf_vec_store(x + i, kerf_vec_select(there, at_x, zero));
        kerf_vec_store(y + i, kerf_vec_select(there, at_y, zero));
        kerf_vec_store(outside + i, out);
        all += out;
    }
    *any = !kerf_vec_all(kerf_vec_le(all, zero));
}

static void fill_copy_tile(const kerf_axis *axis_x, const kerf_axis *axis_y, const kerf_grid_sampler_modes *modes,
                           const pixels *grid, int64_t first, int64_t n, const int64_t *stride, copy_tile *to) {
    const bool small = fits_32_bits(axis_x->extent, stride[3]) && fits_32_bits(axis_y->extent, stride[2]);
    to->n = n;
    to->n_dropped = 0;
    for (int64_t begin = 0; begin < n; begin += STRIP) {
        const int64_t count = n - begin < STRIP ? n - begin : STRIP;
        kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES], outside[STRIP];
        bool any;
        load_points(grid, first + begin, count, x, y);
        if (modes->padding == KERF_PAD_ZEROS)
            place_nearest_as(KERF_PAD_ZEROS, axis_x, axis_y, count, x, y, outside, &any);
        else
            place_nearest_as(modes->padding, axis_x, axis_y, count, x, y, outside, &any);
        for (int64_t i = 0; i < count && any; ++i)
            if (outside[i] > 0)
                to->dropped[to->n_dropped++] = (int32_t)(begin + i);
        put_offsets(x, y, count, stride, small, to->offset + begin);
    }
}

/* One channel: samples that are dropped get some element first, and 0 afterwards. The next plane is called in
 * meanwhile, a line for every so many samples: its part of the tile is too short for the processor to see where it
 * leads. */
enum { SAMPLES_A_LINE = 16 };

#define COPY_ELEMENTS(type)                                                                                            \
    do {                                                                                                               \
        const type *const from = (const type *)plane;                                                                  \
        int64_t k = 0;                                                                                                 \
        for (int64_t done = 0, n; done < t->n; done += n) {                                                            \
            type *const to = (type *)(void *)pixels_run(y, channel, first + done, t->n - done, &n);                    \
            const int64_t *const offset = t->offset + done;                                                            \
            int64_t i = 0;                                                                                             \
            for (; i + SAMPLES_A_LINE <= n; i += SAMPLES_A_LINE) {                                                     \
                __builtin_prefetch(from + ahead + offset[i]);                                                          \
                for (int64_t lane = 0; lane < SAMPLES_A_LINE; ++lane)                                                  \
                    to[(i + lane) * step] = from[offset[i + lane]];                                                    \
            }                                                                                                          \
            for (; i < n; ++i)                                                                                         \
                to[i * step] = from[offset[i]];                                                                        \
            for (; k < t->n_dropped && t->dropped[k] < done + n; ++k)                                                  \
                to[(t->dropped[k] - done) * step] = 0;                                                                 \
        }                                                                                                              \
    } while (0)

KERF_ALWAYS_INLINE void copy_plane_by(const copy_tile *t, const void *plane, int64_t ahead, const pixels *y,
                                      int64_t step, int64_t channel, int64_t first) {
    if (y->element_bytes == 2)
        COPY_ELEMENTS(uint16_t);
    else if (y->element_bytes == 4)
        COPY_ELEMENTS(uint32_t);
    else
        COPY_ELEMENTS(uint64_t);
}

static void copy_plane(const copy_tile *t, const void *plane, int64_t ahead, const pixels *y, int64_t channel,
                       int64_t first) {
    if (y->column_stride == 1)
        copy_plane_by(t, plane, ahead, y, 1, channel, first);
    else
        copy_plane_by(t, plane, ahead, y, y->column_stride, channel, first);
}

#endif
