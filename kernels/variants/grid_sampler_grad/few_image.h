/* Images of one to four channels in a frame, for loops that test no bounds: around the image lies a margin, so that
 * each tap of a sample near it has a place, and above it rows for samples that are dropped. x is copied in with zeros
 * around it or, where bicubic pads, with the pixels that the padding puts there; what dx collects in the frame is
 * thrown away or, where bicubic pads, added to those pixels. The channels of a pixel follow each other, and the next
 * pixel them. */
#ifndef KERF_GRID_SAMPLER_GRAD_FEW_IMAGE_H
#define KERF_GRID_SAMPLER_GRAD_FEW_IMAGE_H

#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/grid_sampling_coordinate.h"
#include "kernels/variants/grid_sampling/pack.h"

typedef struct frame {
    const kerf_grid_sampler_modes *modes;
    kerf_axis axis_x, axis_y;
    int64_t channels;
    int64_t taps, margin; /* taps along an axis; as many rows are for dropped samples */
    int64_t pitch;        /* pixels from row to row */
    int64_t pixels;       /* of all rows, and what whole vectors read beyond them */
} frame;

/* Pixels from row to row: two rows that samples touch together should not lie a multiple of 4 KiB apart, or loads would
 * wait for stores that they have nothing to do with. */
static int64_t frame_pitch(int64_t width, int64_t pixel_bytes) {
    enum { PAGE = 4096, NEAR = 128 };
    int64_t pitch = width;
    for (;; pitch += 1 + 48 / pixel_bytes) {
        bool apart = true;
        for (int64_t rows = 1; rows < 4; ++rows)
            apart &= (rows * pitch * pixel_bytes + NEAR) % PAGE >= 2 * NEAR;
        if (apart || pitch * pixel_bytes < PAGE / 4)
            return pitch;
    }
}

static frame frame_of(const kerf_grid_sampler_modes *modes, int64_t height, int64_t width, int64_t channels) {
    frame f = {.modes = modes, .channels = channels};
    f.axis_x = kerf_axis_of(width, modes->corners);
    f.axis_y = kerf_axis_of(height, modes->corners);
    f.taps = modes->interpolation == KERF_NEAREST ? 1 : modes->interpolation == KERF_BILINEAR ? 2 : 4;
    f.margin = f.taps - 1;
    f.pitch = frame_pitch(width + 2 * f.margin, channels * (int64_t)sizeof(kerf_real));
    f.pixels = (f.taps + height + 2 * f.margin) * f.pitch + KERF_LANES;
    return f;
}

/* Rows from this one on, up to axis_y.extent + margin, are those of the frame. */
static int64_t frame_top(const frame *f) {
    return -f->margin - f->taps;
}

static kerf_real *frame_at(const frame *f, kerf_real *room, int64_t y, int64_t x) {
    return room + ((y - frame_top(f)) * f->pitch + x + f->margin) * f->channels;
}

static bool frame_is_padded(const frame *f) {
    return f->modes->interpolation == KERF_BICUBIC && f->modes->padding != KERF_PAD_ZEROS;
}

/* The row or column of the image that lies at place i of the frame; -1: none. */
static int64_t frame_source(const frame *f, const kerf_axis *axis, int64_t i) {
    if (kerf_axis_holds(axis, i))
        return i;
    if (!frame_is_padded(f) || i < -f->margin)
        return -1;
    return kerf_axis_cubic_tap(axis, f->modes->padding, f->modes->corners, i);
}

static bool is_dense(const pixels *p, int64_t channels) {
    return p->channel_stride == 1 && p->column_stride == channels;
}

/* Elements `stride` apart, and nothing is written beyond them. */
KERF_ALWAYS_INLINE void fetch_elements(kerf_dtype dtype, const char *from, int64_t stride, int64_t n, kerf_real *to) {
    const int64_t step = stride * bytes_of(dtype);
    int64_t i = 0;
    for (; i + KERF_LANES <= n; i += KERF_LANES)
        kerf_vec_store(to + i, load_run(dtype, from + i * step, stride, KERF_LANES));
    if (i < n) {
        kerf_real room[KERF_LANES];
        kerf_vec_store(room, load_run(dtype, from + i * step, stride, n - i));
        memcpy(to + i, room, (size_t)(n - i) * sizeof *room);
    }
}

/* Pixels of one row of an operand as quads: what is beyond the channels is 0. Up to KERF_LANES pixels more are written.
 */
KERF_ALWAYS_INLINE void fetch_quads(kerf_dtype dtype, const pixels *p, const char *from, int64_t n, int64_t channels,
                                    kerf_real *to) {
    const int64_t bytes = p->element_bytes, step = p->channel_stride * bytes, stride = p->column_stride;
    int64_t i = 0;
    if (is_dense(p, channels)) {
        /* A quad reaches into the next pixel, so the last one goes another way. */
        const kerf_quad zero = {0};
        for (; i < n - 1; ++i) {
            kerf_quad q = kerf_quad_load_as(dtype, from + i * channels * bytes);
            if (channels == 2)
                q = __builtin_shufflevector(q, zero, 0, 1, 4, 5);
            if (channels == 3)
                q = __builtin_shufflevector(q, zero, 0, 1, 2, 4);
            kerf_quad_store(to + 4 * i, q);
        }
    } else if (stride == 1) {
        for (; i + KERF_LANES <= n; i += KERF_LANES)
            pack_quads(dtype, from + i * bytes, 1, step, KERF_LANES, channels, to + 4 * i, 4);
    }
    for (; i < n; i += KERF_LANES)
        pack_quads(dtype, from + i * stride * bytes, stride, step, n - i, channels, to + 4 * i, 4);
}

/* Pixels of grad for a strip: single elements, or quads. */
KERF_ALWAYS_INLINE void fetch_grad_as(kerf_dtype dtype, const frame *f, const pixels *p, int64_t first, int64_t n,
                                      kerf_real *to) {
    for (int64_t done = 0, in_row; done < n; done += in_row) {
        const char *const from = pixels_run(p, 0, first + done, n - done, &in_row);
        if (f->channels == 1)
            fetch_elements(dtype, from, p->column_stride, in_row, to + done);
        else
            fetch_quads(dtype, p, from, in_row, f->channels, to + 4 * done);
    }
}

static void fetch_strip(const frame *f, const pixels *p, int64_t first, int64_t n, kerf_real *to) {
    FOR_DTYPE(p->dtype, fetch_grad_as, f, p, first, n, to);
}

/* Pixels of x as the frame holds them, and nothing beyond them. */
KERF_ALWAYS_INLINE void fetch_pixels_as(kerf_dtype dtype, const frame *f, const pixels *p, int64_t first, int64_t n,
                                        kerf_real *to) {
    enum { SOME = 8 * KERF_LANES };
    const int64_t channels = f->channels;
    kerf_real room[(SOME + KERF_LANES) * 4];
    for (int64_t done = 0, in_row; done < n; done += in_row) {
        const char *const from = pixels_run(p, 0, first + done, n - done, &in_row);
        if (channels == 1 || is_dense(p, channels)) {
            const int64_t stride = channels == 1 ? p->column_stride : 1;
            fetch_elements(dtype, from, stride, in_row * channels, to + done * channels);
            continue;
        }
        in_row = in_row < SOME ? in_row : SOME;
        fetch_quads(dtype, p, from, in_row, channels, room);
        kerf_real *pixel = to + done * channels;
        for (int64_t i = 0; i < in_row - 1; ++i, pixel += channels)
            kerf_quad_store(pixel, kerf_quad_load(room + 4 * i));
        memcpy(pixel, room + 4 * (in_row - 1), (size_t)channels * sizeof *pixel);
    }
}

static void fetch_pixels(const frame *f, const pixels *p, int64_t first, int64_t n, kerf_real *to) {
    FOR_DTYPE(p->dtype, fetch_pixels_as, f, p, first, n, to);
}

KERF_ALWAYS_INLINE void store_pixels_as(kerf_dtype dtype, const frame *f, const pixels *p, int64_t first, int64_t n,
                                        const kerf_real *from) {
    const int64_t bytes = p->element_bytes, channels = f->channels;
    for (int64_t done = 0, in_row; done < n; done += in_row) {
        char *const to = pixels_run(p, 0, first + done, n - done, &in_row);
        if (channels == 1 || is_dense(p, channels)) {
            const int64_t stride = channels == 1 ? p->column_stride : 1;
            for (int64_t i = 0; i < in_row * channels; i += KERF_LANES)
                store_run(dtype, to + i * stride * bytes, stride, in_row * channels - i,
                          kerf_vec_load(from + done * channels + i));
            continue;
        }
        for (int64_t i = 0; i < in_row; i += KERF_LANES)
            unpack_quads(dtype, to + i * p->column_stride * bytes, p->column_stride, p->channel_stride * bytes,
                         in_row - i, channels, from + (done + i) * channels, channels);
    }
}

static void store_pixels(const frame *f, const pixels *p, int64_t first, int64_t n, const kerf_real *from) {
    FOR_DTYPE(p->dtype, store_pixels_as, f, p, first, n, from);
}

/* Row y of the frame: a row of x with what lies to its left and right, or zeros. */
static void frame_fetch_row(const frame *f, const pixels *x, int64_t y, kerf_real *room) {
    const int64_t source = frame_source(f, &f->axis_y, y), width = f->axis_x.extent, channels = f->channels;
    kerf_real *const row = frame_at(f, room, y, -f->margin), *const image = row + f->margin * channels;
    const int64_t right = f->pitch - f->margin - width;
    if (source < 0) {
        memset(row, 0, (size_t)(f->pitch * channels) * sizeof *row);
        return;
    }
    memset(row, 0, (size_t)(f->margin * channels) * sizeof *row);
    memset(image + width * channels, 0, (size_t)(right * channels) * sizeof *row);
    fetch_pixels(f, x, source * width, width, image);
    for (int64_t i = 1; i <= f->margin && frame_is_padded(f); ++i) {
        memcpy(image - i * channels, image + frame_source(f, &f->axis_x, -i) * channels,
               (size_t)channels * sizeof *row);
        memcpy(image + (width - 1 + i) * channels, image + frame_source(f, &f->axis_x, width - 1 + i) * channels,
               (size_t)channels * sizeof *row);
    }
}

static void frame_add(kerf_real *to, const kerf_real *from, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        to[i] += from[i];
}

/* Adds the margin of dx to the pixels that the padding puts there. */
static void frame_fold(const frame *f, kerf_real *room) {
    const int64_t height = f->axis_y.extent, width = f->axis_x.extent, channels = f->channels;
    if (!frame_is_padded(f))
        return;
    for (int64_t i = 1; i <= f->margin; ++i)
        for (int side = 0; side < 2; ++side) {
            const int64_t y = side == 0 ? -i : height - 1 + i, to = frame_source(f, &f->axis_y, y);
            frame_add(frame_at(f, room, to, -f->margin), frame_at(f, room, y, -f->margin), f->pitch * channels);
        }
    for (int64_t y = 0; y < height; ++y)
        for (int64_t i = 1; i <= f->margin; ++i)
            for (int side = 0; side < 2; ++side) {
                const int64_t x = side == 0 ? -i : width - 1 + i, to = frame_source(f, &f->axis_x, x);
                frame_add(frame_at(f, room, y, to), frame_at(f, room, y, x), channels);
            }
}

#endif
