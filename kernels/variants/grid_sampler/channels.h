/* Vectors over channels, for images whose channels lie side by side: cells and weights of a strip of samples in vectors
 * over the samples, then one sample after the other, all its channels.
 *
 * A tap that is skipped reads a row of zeros in place of a pixel. The last vector of a pixel begins so many channels
 * earlier that it ends with the pixel, and what both cover is written twice. With 2 or 3 channels a quad reaches into
 * the next pixel of the row; where there is none, the taps are copied first.
 *
 * Cost per sample and vector: 1, 4 or 16 loads, as many multiply-adds (bicubic: 20), one store. */
#ifndef KERF_GRID_SAMPLER_CHANNELS_H
#define KERF_GRID_SAMPLER_CHANNELS_H

#include "kernels/variants/grid_sampling/pack.h"
#include "kernels/variants/grid_sampling/points.h"

enum { MOST_CHANNELS = 512 };

static const kerf_real zero_pixel[MOST_CHANNELS];

typedef struct channel_strip {
    const kerf_grid_sampler_modes *modes;
    const kerf_axis *axis_x, *axis_y;
    int64_t n;           /* samples, at most STRIP */
    int64_t channels;    /* that are there, at most MOST_CHANNELS */
    int64_t width;       /* that are worked on: the same, or 4 where these are fewer */
    const char *x;       /* one image */
    int64_t row, column; /* from row to row and pixel to pixel of x, in bytes */
    kerf_real fast_x;    /* cells below it need no copies of their taps, see above */
    char *to;            /* first result */
    int64_t to_step;     /* to the next, in bytes */
    strip_axis x_axis, y_axis;
    kerf_real weight[STRIP * 4]; /* bilinear */
} channel_strip;

/* The taps of one sample: pixels and what they weigh. */
typedef struct four_taps {
    const char *pixel[4];
} four_taps;

/* The loop over the channels of a pixel: body(OF, c) for vectors (OF 0) or quads (OF 1). */
#define FOR_CHANNELS(width, body)                                                                                      \
    do {                                                                                                               \
        int64_t c_ = 0;                                                                                                \
        if ((width) >= KERF_LANES) {                                                                                   \
            for (; c_ + KERF_LANES <= (width); c_ += KERF_LANES)                                                       \
                body(vec, c_);                                                                                         \
            if (c_ < (width))                                                                                          \
                body(vec, (width)-KERF_LANES);                                                                         \
        } else {                                                                                                       \
            for (; c_ + 4 <= (width); c_ += 4)                                                                         \
                body(quad, c_);                                                                                        \
            if (c_ < (width))                                                                                          \
                body(quad, (width)-4);                                                                                 \
        }                                                                                                              \
    } while (0)

#define AT(pixel, c) ((pixel) + (c)*bytes_of(dtype))

KERF_ALWAYS_INLINE kerf_quad kerf_quad_set(kerf_real value) {
    return (kerf_quad){value, value, value, value};
}

KERF_ALWAYS_INLINE void blend_four(kerf_dtype dtype, int64_t width, const four_taps *at, const kerf_real *weight,
                                   char *to) {
#define BLEND(of, c)                                                                                                   \
    do {                                                                                                               \
        kerf_##of sum_ = kerf_##of##_set(weight[0]) * kerf_##of##_load_as(dtype, AT(at->pixel[0], c));                 \
        for (int k_ = 1; k_ < 4; ++k_)                                                                                 \
            sum_ += kerf_##of##_set(weight[k_]) * kerf_##of##_load_as(dtype, AT(at->pixel[k_], c));                    \
        kerf_##of##_store_as(dtype, AT(to, c), sum_);                                                                  \
    } while (0)
    FOR_CHANNELS(width, BLEND);
#undef BLEND
}

/* Row j of the taps adds weight_y[j] times the sum of its pixels. */
KERF_ALWAYS_INLINE void blend_rows(kerf_dtype dtype, int64_t width, const four_taps row[4], const kerf_real *weight_x,
                                   const kerf_real *weight_y, char *to) {
#define BLEND(of, c)                                                                                                   \
    do {                                                                                                               \
        kerf_##of sum_ = kerf_##of##_set(0);                                                                           \
        for (int j_ = 0; j_ < 4; ++j_) {                                                                               \
            kerf_##of line_ = kerf_##of##_set(weight_x[0]) * kerf_##of##_load_as(dtype, AT(row[j_].pixel[0], c));      \
            for (int k_ = 1; k_ < 4; ++k_)                                                                             \
                line_ += kerf_##of##_set(weight_x[k_]) * kerf_##of##_load_as(dtype, AT(row[j_].pixel[k_], c));         \
            sum_ += kerf_##of##_set(weight_y[j_]) * line_;                                                             \
        }                                                                                                              \
        kerf_##of##_store_as(dtype, AT(to, c), sum_);                                                                  \
    } while (0)
    FOR_CHANNELS(width, BLEND);
#undef BLEND
}

/* A pixel and three elements more, which no load may leave. */
typedef struct copied_pixel {
    kerf_real room[8];
} copied_pixel;

/* A tap that may be skipped, or that a quad would read beyond. */
static const char *tap_of(const channel_strip *s, int64_t iy, int64_t ix, int64_t element_bytes, copied_pixel *copy) {
    if (iy < 0 || ix < 0)
        return (const char *)zero_pixel;
    const char *const pixel = s->x + iy * s->row + ix * s->column;
    if (s->channels >= 4)
        return pixel;
    memset(copy, 0, sizeof *copy);
    memcpy(copy, pixel, (size_t)(s->channels * element_bytes));
    return (const char *)copy;
}

KERF_NEVER_INLINE void bilinear_edge(kerf_dtype dtype, const channel_strip *s, int64_t i) {
    const kerf_real cell_x = s->x_axis.cell[i], cell_y = s->y_axis.cell[i];
    const bool near = cell_x >= -1 && cell_x <= s->axis_x->last && cell_y >= -1 && cell_y <= s->axis_y->last;
    copied_pixel copy[4];
    four_taps at;
    for (int k = 0; k < 4; ++k) {
        const int64_t ix = near ? (int64_t)cell_x + k % 2 : -1, iy = near ? (int64_t)cell_y + k / 2 : -1;
        const bool there = kerf_axis_holds(s->axis_x, ix) && kerf_axis_holds(s->axis_y, iy);
        at.pixel[k] = tap_of(s, there ? iy : -1, ix, bytes_of(dtype), &copy[k]);
    }
    blend_four(dtype, s->width, &at, s->weight + 4 * i, s->to + i * s->to_step);
}

KERF_ALWAYS_INLINE void bilinear_samples(kerf_dtype dtype, int64_t width, const channel_strip *s) {
    const kerf_real last_x = s->fast_x, last_y = s->axis_y->last;
    const int64_t row = s->row, column = s->column, n = s->n, to_step = s->to_step;
    const char *const x = s->x;
    char *to = s->to;
    for (int64_t i = 0; i < n; ++i, to += to_step) {
        const kerf_real cell_x = s->x_axis.cell[i], cell_y = s->y_axis.cell[i];
        if (cell_x >= 0 && cell_x < last_x && cell_y >= 0 && cell_y < last_y) {
            const char *const from = x + (int64_t)cell_y * row + (int64_t)cell_x * column, *const below = from + row;
            const four_taps at = {{from, from + column, below, below + column}};
            blend_four(dtype, width, &at, s->weight + 4 * i, to);
        } else {
            bilinear_edge(dtype, s, i);
        }
    }
}

KERF_NEVER_INLINE void bicubic_edge(kerf_dtype dtype, const channel_strip *s, int64_t i) {
    const kerf_real cell_x = s->x_axis.cell[i], cell_y = s->y_axis.cell[i];
    const bool kept = kerf_is_finite(cell_x) && kerf_is_finite(cell_y);
    const int64_t base_x = kept ? kerf_axis_cubic_base(s->axis_x, s->modes->padding, cell_x) : 0;
    const int64_t base_y = kept ? kerf_axis_cubic_base(s->axis_y, s->modes->padding, cell_y) : 0;
    int64_t ix[4], iy[4];
    copied_pixel copy[16];
    four_taps row[4];
    for (int k = 0; k < 4; ++k) {
        ix[k] = iy[k] = -1;
        if (kept) {
            ix[k] = kerf_axis_cubic_tap(s->axis_x, s->modes->padding, s->modes->corners, base_x - 1 + k);
            iy[k] = kerf_axis_cubic_tap(s->axis_y, s->modes->padding, s->modes->corners, base_y - 1 + k);
        }
    }
    for (int k = 0; k < 16; ++k)
        row[k / 4].pixel[k % 4] = tap_of(s, iy[k / 4], ix[k % 4], bytes_of(dtype), &copy[k]);
    blend_rows(dtype, s->width, row, s->x_axis.weight + 4 * i, s->y_axis.weight + 4 * i, s->to + i * s->to_step);
}

KERF_ALWAYS_INLINE void bicubic_samples(kerf_dtype dtype, int64_t width, const channel_strip *s) {
    const kerf_real last_x = s->fast_x - 1, last_y = s->axis_y->last - 1;
    const int64_t step = s->column;
    for (int64_t i = 0; i < s->n; ++i) {
        const kerf_real cell_x = s->x_axis.cell[i], cell_y = s->y_axis.cell[i];
        if (cell_x >= 1 && cell_x < last_x && cell_y >= 1 && cell_y < last_y) {
            const char *from = s->x + ((int64_t)cell_y - 1) * s->row + ((int64_t)cell_x - 1) * step;
            four_taps row[4];
            for (int j = 0; j < 4; ++j, from += s->row)
                row[j] = (four_taps){{from, from + step, from + 2 * step, from + 3 * step}};
            blend_rows(dtype, width, row, s->x_axis.weight + 4 * i, s->y_axis.weight + 4 * i, s->to + i * s->to_step);
        } else {
            bicubic_edge(dtype, s, i);
        }
    }
}

/* Nearest, from channels side by side to the same: whole pixels are copied, of usual sizes without a call. */
KERF_ALWAYS_INLINE void copy_pixels(const channel_strip *s, size_t n_bytes) {
    const kerf_real last_x = s->axis_x->last, last_y = s->axis_y->last;
    char *to = s->to;
    for (int64_t i = 0; i < s->n; ++i, to += s->to_step) {
        const kerf_real x = s->x_axis.cell[i], y = s->y_axis.cell[i];
        if (x >= 0 && x <= last_x && y >= 0 && y <= last_y)
            memcpy(to, s->x + (int64_t)y * s->row + (int64_t)x * s->column, n_bytes);
        else
            memset(to, 0, n_bytes);
    }
}

static void nearest_samples(const channel_strip *s, int64_t element_bytes) {
    const size_t n_bytes = (size_t)(s->channels * element_bytes);
    if (n_bytes == 6)
        copy_pixels(s, 6);
    else if (n_bytes == 12)
        copy_pixels(s, 12);
    else
        copy_pixels(s, n_bytes);
}

/* Bilinear: the weights of the four taps from those of the axes. */
static void find_weights(channel_strip *s) {
    const kerf_vec one = kerf_vec_set(1);
    for (int64_t i = 0; i < s->n; i += KERF_LANES) {
        const kerf_vec x = kerf_vec_load(s->x_axis.t + i), y = kerf_vec_load(s->y_axis.t + i);
        const kerf_vec left = one - x, top = one - y;
        kerf_vec_store_quads(s->weight + 4 * i, 4, top * left, top * x, y * left, y * x);
    }
}

/* Bicubic: those of one axis. */
static void find_cubic_weights(int64_t n, strip_axis *at) {
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        kerf_vec w[4];
        cubic_weights(kerf_vec_load(at->t + i), w);
        kerf_vec_store_quads(at->weight + 4 * i, 4, w[0], w[1], w[2], w[3]);
    }
}

KERF_ALWAYS_INLINE void blend_samples_as(kerf_dtype dtype, channel_strip *s) {
    if (s->modes->interpolation == KERF_BILINEAR) {
        if (s->width == 4 * KERF_LANES)
            bilinear_samples(dtype, 4 * KERF_LANES, s);
        else if (s->width == 4)
            bilinear_samples(dtype, 4, s);
        else
            bilinear_samples(dtype, s->width, s);
    } else if (s->width == 4) {
        bicubic_samples(dtype, 4, s);
    } else {
        bicubic_samples(dtype, s->width, s);
    }
}

/* Cells and weights of samples [first, first + s->n) of an image. */
static void place_strip(const pixels *grid, int64_t first, channel_strip *s) {
    kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
    load_points(grid, first, s->n, x, y);
    find_cells_alone(s->axis_x, s->modes, x, s->n, &s->x_axis);
    find_cells_alone(s->axis_y, s->modes, y, s->n, &s->y_axis);
    if (s->modes->interpolation == KERF_BICUBIC) {
        find_cubic_weights(s->n, &s->x_axis);
        find_cubic_weights(s->n, &s->y_axis);
    } else if (s->modes->interpolation == KERF_BILINEAR) {
        find_weights(s);
    }
}

/* All of them; `dtype` is the type of x and of what is written. */
static void blend_strip(kerf_dtype dtype, channel_strip *s) {
    if (s->modes->interpolation == KERF_NEAREST)
        nearest_samples(s, (int64_t)kerf_dtype_bytes(dtype));
    else
        FOR_DTYPE(dtype, blend_samples_as, s);
}

#endif
