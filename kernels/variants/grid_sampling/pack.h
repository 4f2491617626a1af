/* Pixels with their channels side by side, as the inner loops want them: copies between an operand of any type and
 * strides and a packed block of kerf_reals, `pitch` elements from one pixel to the next. Both ways read four channels a
 * whole vector of pixels at a time: planes of 2^k bytes share their cache sets, so a line is used up while it is there.
 */
#ifndef KERF_GRID_SAMPLER_GRAD_PACK_H
#define KERF_GRID_SAMPLER_GRAD_PACK_H

#include "base/strided.h"
#include "kernels/vector.h"

/* One batch item of an operand: rows of pixels. */
typedef struct pixels {
    kerf_dtype dtype;
    int element_bytes;
    char *data; /* of channel 0 of the first pixel */
    int64_t rows, columns;
    int64_t row_stride, column_stride, channel_stride;
} pixels;

/* Item n of an operand whose axes are (batch, rows, columns, channels) in the given order. Rows that follow each other
 * like columns become one long row. */
static pixels pixels_of(const kerf_strided *at, kerf_dtype dtype, const void *data, int64_t n, int row_axis,
                        int channel_axis) {
    pixels p = {.dtype = dtype, .element_bytes = (int)kerf_dtype_bytes(dtype)};
    p.data = (char *)data + n * at->strides[0] * p.element_bytes;
    p.rows = at->dims[row_axis];
    p.columns = at->dims[row_axis + 1];
    p.row_stride = at->strides[row_axis];
    p.column_stride = at->strides[row_axis + 1];
    p.channel_stride = at->strides[channel_axis];
    if (p.rows == 1 || p.row_stride == p.columns * p.column_stride) {
        p.columns *= p.rows;
        p.rows = 1;
    }
    return p;
}

/* Address of channel `channel` of pixel number `first`, and how many of the `n` pixels from there lie in its row. */
static char *pixels_run(const pixels *p, int64_t channel, int64_t first, int64_t n, int64_t *in_row) {
    const int64_t row = p->rows == 1 ? 0 : first / p->columns, column = first - row * p->columns;
    *in_row = n < p->columns - column ? n : p->columns - column;
    return p->data + (row * p->row_stride + column * p->column_stride + channel * p->channel_stride) * p->element_bytes;
}

typedef union run_room {
    kerf_real reals[KERF_LANES];
    uint16_t halves[KERF_LANES];
} run_room;

/* Up to KERF_LANES elements, `stride` apart; the lanes beyond n are 0. */
KERF_ALWAYS_INLINE kerf_vec load_run(kerf_dtype dtype, const char *from, int64_t stride, int64_t n) {
    if (stride == 1 && n >= KERF_LANES)
        return kerf_vec_load_as(dtype, from);
    run_room room = {{0}};
    if (n > KERF_LANES)
        n = KERF_LANES;
    if (dtype == KERF_F16 || dtype == KERF_BF16)
        for (int64_t i = 0; i < n; ++i)
            room.halves[i] = ((const uint16_t *)(const void *)from)[i * stride];
    else
        for (int64_t i = 0; i < n; ++i)
            room.reals[i] = ((const kerf_real *)(const void *)from)[i * stride];
    return kerf_vec_load_as(dtype, &room);
}

KERF_ALWAYS_INLINE void store_run(kerf_dtype dtype, char *to, int64_t stride, int64_t n, kerf_vec v) {
    if (stride == 1 && n >= KERF_LANES) {
        kerf_vec_store_as(dtype, to, v);
        return;
    }
    run_room room;
    kerf_vec_store_as(dtype, &room, v);
    if (n > KERF_LANES)
        n = KERF_LANES;
    if (dtype == KERF_F16 || dtype == KERF_BF16)
        for (int64_t i = 0; i < n; ++i)
            ((uint16_t *)(void *)to)[i * stride] = room.halves[i];
    else
        for (int64_t i = 0; i < n; ++i)
            ((kerf_real *)(void *)to)[i * stride] = room.reals[i];
}

/* A packed block and the part of an operand that it is a copy of. */
typedef struct pack_range {
    int64_t first, n;          /* pixels */
    int64_t channel, channels; /* those beyond, up to the pitch, are 0 in the block */
    kerf_real *block;
    int64_t pitch; /* a multiple of 4 */
} pack_range;

#define LINE_BYTES 64
#define WAYS       8 /* of the smallest L1 cache: it keeps so many lines of planes that are 2^k bytes apart */

/* A few planes at a time are followed over so many pixels: a processor fetches few streams ahead by itself, and the
 * packed pixels stay in the L2 cache until their other channels come. */
#define CHUNK 256

/* How far ahead of the copy planes are fetched, in bytes, for where the processor's own fetching starts anew. Into the
 * L2 cache only: lines of planes would push each other out of a set of the L1 cache before they are read. */
#define AHEAD   256
#define INTO_L2 2

/* Pixels whose channels lie side by side in the operand too. */
KERF_ALWAYS_INLINE void pack_pixels(kerf_dtype dtype, const char *from, int64_t column_bytes, int64_t element_bytes,
                                    int64_t n, int64_t channels, kerf_real *to, int64_t pitch) {
    for (int64_t i = 0; i < n; ++i, from += column_bytes, to += pitch)
        for (int64_t c = 0; c < pitch; c += KERF_LANES)
            kerf_vec_store(to + c, load_run(dtype, from + c * element_bytes, 1, channels - c));
}

/* KERF_LANES pixels, or n if those are fewer, of four planes that are `step` bytes apart. */
KERF_ALWAYS_INLINE void pack_quads(kerf_dtype dtype, const char *from, int64_t column_stride, int64_t step, int64_t n,
                                   int64_t n_planes, kerf_real *to, int64_t pitch) {
    kerf_vec row[4];
    for (int k = 0; k < 4; ++k)
        row[k] = k < n_planes ? load_run(dtype, from + k * step, column_stride, n) : kerf_vec_set(0);
    kerf_vec_store_quads(to, pitch, row[0], row[1], row[2], row[3]);
}

/* Four pixels of KERF_LANES planes of the working type. */
KERF_ALWAYS_INLINE void pack_vectors(const char *from, int64_t step, kerf_real *to, int64_t pitch) {
    kerf_vec pixel[4];
    kerf_vec_load_quads((const kerf_real *)(const void *)from, step / (int64_t)sizeof(kerf_real), pixel);
    for (int k = 0; k < 4; ++k)
        kerf_vec_store(to + k * pitch, pixel[k]);
}

/* kerf_dtype_bytes as a constant. */
KERF_ALWAYS_INLINE int64_t bytes_of(kerf_dtype dtype) {
    return dtype == KERF_F16 || dtype == KERF_BF16 ? 2 : (int64_t)sizeof(kerf_real);
}

/* Whole lines of planes; returns how many pixels that were. */
KERF_ALWAYS_INLINE int64_t pack_lines(kerf_dtype dtype, const char *from, int64_t step, int64_t n, kerf_real *to,
                                      int64_t pitch) {
    const int64_t bytes = bytes_of(dtype), line = LINE_BYTES / bytes, n_whole = n / line * line;
    const bool vectors = KERF_LANES <= WAYS && bytes == sizeof(kerf_real) && pitch % KERF_LANES == 0;
    const int planes = vectors ? KERF_LANES : 4;
    for (int64_t c = 0; c < pitch; c += planes, from += planes * step)
        for (int64_t i = 0; i < n_whole; i += line) {
            if (vectors)
                for (int64_t k = i; k < i + line; k += 4)
                    pack_vectors(from + k * bytes, step, to + k * pitch + c, pitch);
            else
                for (int64_t k = i; k < i + line; k += KERF_LANES)
                    pack_quads(dtype, from + k * bytes, 1, step, KERF_LANES, 4, to + k * pitch + c, pitch);
            for (int k = 0; k < planes; ++k)
                __builtin_prefetch(from + i * bytes + k * step + AHEAD, 0, INTO_L2);
        }
    return n_whole;
}

KERF_ALWAYS_INLINE void pack_as(kerf_dtype dtype, const pixels *p, const pack_range *range) {
    const int64_t bytes = p->element_bytes, step = p->channel_stride * bytes, stride = p->column_stride;
    const int64_t pitch = range->pitch, channels = range->channels;
    kerf_real *to = range->block;
    for (int64_t done = 0, n; done < range->n; done += n, to += n * pitch) {
        const int64_t rest = range->n - done < CHUNK ? range->n - done : CHUNK;
        const char *const from = pixels_run(p, range->channel, range->first + done, rest, &n);
        if (p->channel_stride == 1 && pitch % KERF_LANES == 0) {
            pack_pixels(dtype, from, stride * bytes, bytes, n, channels, to, pitch);
            continue;
        }
        int64_t i = stride == 1 && channels == pitch ? pack_lines(dtype, from, step, n, to, pitch) : 0;
        for (; i < n; i += KERF_LANES)
            for (int64_t c = 0; c < pitch; c += 4)
                pack_quads(dtype, from + i * stride * bytes + c * step, stride, step, n - i, channels - c,
                           to + i * pitch + c, pitch);
    }
}

KERF_ALWAYS_INLINE void unpack_pixels(kerf_dtype dtype, char *to, int64_t column_bytes, int64_t element_bytes,
                                      int64_t n, int64_t channels, const kerf_real *from, int64_t pitch) {
    for (int64_t i = 0; i < n; ++i, to += column_bytes, from += pitch)
        for (int64_t c = 0; c < channels; c += KERF_LANES)
            store_run(dtype, to + c * element_bytes, 1, channels - c, kerf_vec_load(from + c));
}

KERF_ALWAYS_INLINE void unpack_quads(kerf_dtype dtype, char *to, int64_t column_stride, int64_t step, int64_t n,
                                     int64_t n_planes, const kerf_real *from, int64_t pitch) {
    kerf_vec row[4];
    kerf_vec_load_quads(from, pitch, row);
    for (int k = 0; k < 4 && k < n_planes; ++k)
        store_run(dtype, to + k * step, column_stride, n, row[k]);
}

KERF_ALWAYS_INLINE int64_t unpack_lines(kerf_dtype dtype, char *to, int64_t step, int64_t n, const kerf_real *from,
                                        int64_t pitch) {
    const int64_t bytes = bytes_of(dtype), line = LINE_BYTES / bytes, n_whole = n / line * line;
    for (int64_t c = 0; c < pitch; c += 4, to += 4 * step)
        for (int64_t i = 0; i < n_whole; i += line) {
            for (int64_t k = i; k < i + line; k += KERF_LANES)
                unpack_quads(dtype, to + k * bytes, 1, step, KERF_LANES, 4, from + k * pitch + c, pitch);
            for (int k = 0; k < 4; ++k)
                __builtin_prefetch(to + i * bytes + k * step + AHEAD, 1, INTO_L2);
        }
    return n_whole;
}

KERF_ALWAYS_INLINE void unpack_as(kerf_dtype dtype, const pixels *p, const pack_range *range) {
    const int64_t bytes = p->element_bytes, step = p->channel_stride * bytes, stride = p->column_stride;
    const int64_t pitch = range->pitch, channels = range->channels;
    const kerf_real *from = range->block;
    for (int64_t done = 0, n; done < range->n; done += n, from += n * pitch) {
        const int64_t rest = range->n - done < CHUNK ? range->n - done : CHUNK;
        char *const to = pixels_run(p, range->channel, range->first + done, rest, &n);
        if (p->channel_stride == 1 && pitch % KERF_LANES == 0) {
            unpack_pixels(dtype, to, stride * bytes, bytes, n, channels, from, pitch);
            continue;
        }
        int64_t i = stride == 1 && channels == pitch ? unpack_lines(dtype, to, step, n, from, pitch) : 0;
        for (; i < n; i += KERF_LANES)
            for (int64_t c = 0; c < channels; c += 4)
                unpack_quads(dtype, to + i * stride * bytes + c * step, stride, step, n - i, channels - c,
                             from + i * pitch + c, pitch);
    }
}

/* Copies of a function for each type that this object works on, so that no element asks for its type. */
#if KERF_CLASS == 0
#define FOR_DTYPE(dtype, function, ...)                                                                                \
    ((dtype) == KERF_F16    ? function(KERF_F16, __VA_ARGS__)                                                          \
     : (dtype) == KERF_BF16 ? function(KERF_BF16, __VA_ARGS__)                                                         \
                            : function(KERF_F32, __VA_ARGS__))
#else
#define FOR_DTYPE(dtype, function, ...) ((void)(dtype), function(KERF_F64, __VA_ARGS__))
#endif

/* Writes whole vectors: the block has room for KERF_LANES pixels more than the range. */
static void pack(const pixels *from, const pack_range *range) {
    FOR_DTYPE(from->dtype, pack_as, from, range);
}

static void unpack(const pixels *to, const pack_range *range) {
    FOR_DTYPE(to->dtype, unpack_as, to, range);
}

KERF_ALWAYS_INLINE void load_pairs(kerf_dtype dtype, const char *from, kerf_vec *x, kerf_vec *y) {
    kerf_real room[2 * KERF_LANES];
    if (dtype != KERF_F16 && dtype != KERF_BF16) {
        kerf_vec_load_pairs((const kerf_real *)(const void *)from, x, y);
        return;
    }
    for (int i = 0; i < 2 * KERF_LANES; i += 4)
        kerf_quad_store(room + i, kerf_quad_load_as(dtype, from + 2 * i));
    kerf_vec_load_pairs(room, x, y);
}

KERF_ALWAYS_INLINE void store_pairs(kerf_dtype dtype, char *to, kerf_vec x, kerf_vec y) {
    kerf_real room[2 * KERF_LANES];
    if (dtype != KERF_F16 && dtype != KERF_BF16) {
        kerf_vec_store_pairs((kerf_real *)(void *)to, x, y);
        return;
    }
    kerf_vec_store_pairs(room, x, y);
    for (int i = 0; i < 2 * KERF_LANES; i += 4)
        kerf_quad_store_as(dtype, to + 2 * i, kerf_quad_load(room + i));
}

/* Points (x, y): the channels of a range of pixels to and from one array each, which has room for KERF_LANES more. */
KERF_ALWAYS_INLINE void load_points_as(kerf_dtype dtype, const pixels *p, int64_t first, int64_t n, kerf_real *x,
                                       kerf_real *y) {
    const int64_t bytes = p->element_bytes, step = p->channel_stride * bytes, stride = p->column_stride;
    const bool dense = p->channel_stride == 1 && stride == 2;
    for (int64_t done = 0, in_row; done < n; done += in_row) {
        const char *const from = pixels_run(p, 0, first + done, n - done, &in_row);
        for (int64_t i = 0; i < in_row; i += KERF_LANES) {
            const char *const at = from + i * stride * bytes;
            kerf_vec to_x, to_y;
            if (dense && in_row - i >= KERF_LANES) {
                load_pairs(dtype, at, &to_x, &to_y);
            } else {
                to_x = load_run(dtype, at, stride, in_row - i);
                to_y = load_run(dtype, at + step, stride, in_row - i);
            }
            kerf_vec_store(x + done + i, to_x);
            kerf_vec_store(y + done + i, to_y);
        }
    }
}

KERF_ALWAYS_INLINE void store_points_as(kerf_dtype dtype, const pixels *p, int64_t first, int64_t n, const kerf_real *x,
                                        const kerf_real *y) {
    const int64_t bytes = p->element_bytes, step = p->channel_stride * bytes, stride = p->column_stride;
    const bool dense = p->channel_stride == 1 && stride == 2;
    for (int64_t done = 0, in_row; done < n; done += in_row) {
        char *const to = pixels_run(p, 0, first + done, n - done, &in_row);
        for (int64_t i = 0; i < in_row; i += KERF_LANES) {
            char *const at = to + i * stride * bytes;
            const kerf_vec from_x = kerf_vec_load(x + done + i), from_y = kerf_vec_load(y + done + i);
            if (dense && in_row - i >= KERF_LANES) {
                store_pairs(dtype, at, from_x, from_y);
            } else {
                store_run(dtype, at, stride, in_row - i, from_x);
                store_run(dtype, at + step, stride, in_row - i, from_y);
            }
        }
    }
}

static void load_points(const pixels *from, int64_t first, int64_t n, kerf_real *x, kerf_real *y) {
    FOR_DTYPE(from->dtype, load_points_as, from, first, n, x, y);
}

static inline void store_points(const pixels *to, int64_t first, int64_t n, const kerf_real *x, const kerf_real *y) {
    FOR_DTYPE(to->dtype, store_points_as, to, first, n, x, y);
}

#endif
