/* Vectors over samples, for images whose rows lie element by element: a tile of samples is prepared once, and then all
 * channels pass over it, one plane after the other.
 *
 * No tap is tested against the bounds. The taps of an axis lie in a window of 2 or 4 pixels that is moved until it is
 * inside the image, and the weights move with it: a tap that is skipped has none, taps that padding puts on one pixel
 * add up. A pixel of the window that no tap falls on then has weight 0, which adds nothing unless the pixel is not
 * finite. That makes the result NaN, and vectors with a NaN are done again with care.
 *
 * Cost per LANES samples and channel: 2 LANES loads of pairs (bilinear) or 4 LANES of quads (bicubic), half as many
 * shuffles, 6 or 20 multiply-adds, one store. */
#ifndef KERF_GRID_SAMPLER_PLANAR_H
#define KERF_GRID_SAMPLER_PLANAR_H

#include "kernels/variants/grid_sampling/pack.h"
#include "kernels/variants/grid_sampling/points.h"

enum { TILE = 512, MOST_TAPS = 4, TILE_ROOM = TILE + KERF_LANES };

typedef struct tile {
    int64_t n;                 /* samples, at most TILE; what is beyond them, up to whole vectors, has weights 0 */
    int taps;                  /* of an axis */
    int32_t offset[TILE_ROOM]; /* of the first pixel of the window from the first of the plane, in elements */
    kerf_real wx[MOST_TAPS][TILE_ROOM], wy[MOST_TAPS][TILE_ROOM];
} tile;

/* Bilinear, one axis: the first pixel of each window, and what its two pixels weigh: 1 - |v - pixel|, or nothing. NaN,
 * a dropped sample, has the first window and no weight. */
KERF_ALWAYS_INLINE void place_bilinear_as(kerf_padding padding, const kerf_axis *axis, const kerf_real *g, int64_t n,
                                          kerf_real *first, kerf_real *weight_0, kerf_real *weight_1) {
    const kerf_vec zero = kerf_vec_set(0), one = kerf_vec_set(1), most = kerf_vec_set((kerf_real)(axis->extent - 2));
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        kerf_vec slope, v = vector_coordinate(axis, kerf_vec_load(g + i));
        v = vector_pad(axis, padding, v, &slope);
        const kerf_vec cell = kerf_vec_floor(v), above = kerf_vec_select(kerf_vec_le(zero, cell), cell, zero);
        const kerf_vec at = kerf_vec_min(most, above), distance = v - at;
        const kerf_vec w0 = one - kerf_vec_abs(distance), w1 = one - kerf_vec_abs(distance - one);
        kerf_vec_store(first + i, at);
        kerf_vec_store(weight_0 + i, kerf_vec_select(kerf_vec_le(zero, w0), w0, zero));
        kerf_vec_store(weight_1 + i, kerf_vec_select(kerf_vec_le(zero, w1), w1, zero));
    }
}

static void place_bilinear(const kerf_axis *axis, kerf_padding padding, const kerf_real *g, int64_t n, kerf_real *first,
                           kerf_real *weight_0, kerf_real *weight_1) {
    if (padding == KERF_PAD_ZEROS)
        place_bilinear_as(KERF_PAD_ZEROS, axis, g, n, first, weight_0, weight_1);
    else
        place_bilinear_as(padding, axis, g, n, first, weight_0, weight_1);
}

/* A sample with taps outside the image, or a dropped one. */
static void place_padded(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, kerf_real cell,
                         const kerf_real tap_weight[4], kerf_real *first, kerf_real (*weight)[TILE_ROOM], int64_t i) {
    int64_t index[4], least = axis->extent;
    const int64_t base = kerf_is_finite(cell) ? kerf_axis_cubic_base(axis, modes->padding, cell) : 0;
    for (int k = 0; k < 4; ++k) {
        index[k] = -1;
        if (kerf_is_finite(cell))
            index[k] = kerf_axis_cubic_tap(axis, modes->padding, modes->corners, base - 1 + k);
        if (index[k] >= 0 && index[k] < least)
            least = index[k];
        weight[k][i] = 0;
    }
    if (least > axis->extent - 4)
        least = axis->extent - 4;
    *first = (kerf_real)least;
    for (int k = 0; k < 4; ++k)
        if (index[k] >= 0)
            weight[index[k] - least][i] += tap_weight[k];
}

static void place_bicubic(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, const kerf_real *g, int64_t n,
                          kerf_real *first, kerf_real (*weight)[TILE_ROOM], int64_t begin) {
    const kerf_real most = (kerf_real)(axis->extent - 3);
    strip_axis cells, *const at = &cells;
    find_cells_alone(axis, modes, g, n, at);
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        kerf_vec w[4];
        cubic_weights(kerf_vec_load(at->t + i), w);
        kerf_vec_store(first + i, kerf_vec_load(at->cell + i) - kerf_vec_set(1));
        for (int k = 0; k < 4; ++k)
            kerf_vec_store(weight[k] + begin + i, w[k]);
    }
    for (int64_t i = 0; i < n; ++i) {
        const kerf_real cell = at->cell[i];
        if (cell >= 1 && cell <= most)
            continue;
        const kerf_real taps[4] = {weight[0][begin + i], weight[1][begin + i], weight[2][begin + i],
                                   weight[3][begin + i]};
        place_padded(axis, modes, cell, taps, &first[i], weight, begin + i);
    }
}

/* Both axes can be windowed, and offsets are 32-bit integers. */
static bool can_window(const kerf_grid_sampler_modes *modes, int64_t height, int64_t width, int64_t row_stride) {
    const int64_t taps = modes->interpolation == KERF_BICUBIC ? 4 : 2,
                  magnitude = row_stride < 0 ? -row_stride : row_stride;
    return height >= taps && width >= taps && width <= (1 << 24) && height <= (1 << 24) &&
           magnitude <= (INT32_MAX - width) / height;
}

/* Samples [first, first + n) of an image, from its points. */
static void fill_tile(const kerf_axis *axis_x, const kerf_axis *axis_y, const kerf_grid_sampler_modes *modes,
                      const pixels *grid, int64_t first, int64_t n, int64_t row_stride, tile *to) {
    to->n = n;
    to->taps = modes->interpolation == KERF_BICUBIC ? 4 : 2;
    for (int64_t begin = 0; begin < n; begin += STRIP) {
        const int64_t count = n - begin < STRIP ? n - begin : STRIP;
        kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
        kerf_real row[STRIP], column[STRIP];
        load_points(grid, first + begin, count, x, y);
        if (to->taps == 4) {
            place_bicubic(axis_x, modes, x, count, column, to->wx, begin);
            place_bicubic(axis_y, modes, y, count, row, to->wy, begin);
        } else {
            place_bilinear(axis_x, modes->padding, x, count, column, to->wx[0] + begin, to->wx[1] + begin);
            place_bilinear(axis_y, modes->padding, y, count, row, to->wy[0] + begin, to->wy[1] + begin);
        }
        for (int64_t i = 0; i < count; ++i)
            to->offset[begin + i] = (int32_t)row[i] * (int32_t)row_stride + (int32_t)column[i];
    }
    for (int64_t i = n; i < n + KERF_LANES; ++i) {
        to->offset[i] = 0;
        for (int k = 0; k < to->taps; ++k)
            to->wx[k][i] = to->wy[k][i] = 0;
    }
}

KERF_ALWAYS_INLINE kerf_vec blend_window(int taps, const tile *t, int64_t i, const kerf_real *plane,
                                         int64_t row_stride) {
    kerf_vec wx[4], sum = kerf_vec_set(0);
    for (int k = 0; k < taps; ++k)
        wx[k] = kerf_vec_load(t->wx[k] + i);
    for (int j = 0; j < taps; ++j, plane += row_stride) {
        kerf_vec pixel[4];
        if (taps == 4)
            kerf_vec_load_quads_at(plane, t->offset + i, pixel);
        else
            kerf_vec_load_pairs_at(plane, t->offset + i, pixel);
        kerf_vec row = wx[0] * pixel[0];
        for (int k = 1; k < taps; ++k)
            row = kerf_vec_fma(wx[k], pixel[k], row);
        sum = kerf_vec_fma(kerf_vec_load(t->wy[j] + i), row, sum);
    }
    return sum;
}

/* One vector of samples again, pixel by pixel, without those that weigh nothing. */
KERF_NEVER_INLINE kerf_vec blend_with_care(const tile *t, int64_t first, const kerf_real *plane, int64_t row_stride) {
    kerf_real sum[KERF_LANES] = {0};
    for (int64_t lane = 0; lane < KERF_LANES; ++lane) {
        const int64_t i = first + lane;
        for (int j = 0; j < t->taps; ++j)
            for (int k = 0; k < t->taps; ++k)
                if (t->wy[j][i] != 0 && t->wx[k][i] != 0)
                    sum[lane] += t->wy[j][i] * t->wx[k][i] * plane[t->offset[i] + j * row_stride + k];
    }
    return kerf_vec_load(sum);
}

/* The samples of the tile, which are number `first` and so on of the image, for one channel. The next plane, `ahead`
 * elements further, is called in meanwhile, a line for every 16 samples: its part of the tile is too short for the
 * processor to see where it leads. */
KERF_ALWAYS_INLINE void blend_plane_as(kerf_dtype dtype, int taps, const tile *t, const kerf_real *plane,
                                       int64_t row_stride, int64_t ahead, const pixels *y, int64_t channel,
                                       int64_t first) {
    const int64_t step = y->column_stride * y->element_bytes;
    for (int64_t done = 0, n; done < t->n; done += n) {
        char *const to = pixels_run(y, channel, first + done, t->n - done, &n);
        for (int64_t i = 0; i < n; i += KERF_LANES) {
            kerf_vec v = blend_window(taps, t, done + i, plane, row_stride);
            if (i % 16 == 0)
                for (int j = 0; j < taps; j += taps - 1)
                    __builtin_prefetch(plane + ahead + t->offset[done + i] + j * row_stride);
            if (__builtin_expect(!kerf_vec_all(kerf_vec_le(v, v)), 0))
                v = blend_with_care(t, done + i, plane, row_stride);
            store_run(dtype, to + i * step, y->column_stride, n - i, v);
        }
    }
}

static void blend_plane(const tile *t, const kerf_real *plane, int64_t row_stride, int64_t ahead, const pixels *y,
                        int64_t channel, int64_t first) {
    if (t->taps == 4)
        FOR_DTYPE(y->dtype, blend_plane_as, 4, t, plane, row_stride, ahead, y, channel, first);
    else
        FOR_DTYPE(y->dtype, blend_plane_as, 2, t, plane, row_stride, ahead, y, channel, first);
}

#endif
