/* The inner loops: a strip of samples against one image and its gradient, a block of channels side by side.
 *
 * Everything that needs x is one dot product of x and grad over the channels for each tap; both axes of dgrid are sums
 * of these dots, weighted afterwards. A tap that is skipped has dot 0, so it adds nothing even where grad is not
 * finite. */
#ifndef KERF_GRID_SAMPLER_GRAD_TAPS_H
#define KERF_GRID_SAMPLER_GRAD_TAPS_H

#include "kernels/variants/grid_sampler_grad/window.h"

/* A block of channels is so many whole vectors, or, where they would be half empty, so many quads. */
typedef enum tap_unit { WHOLE_VECTORS, WHOLE_QUADS } tap_unit;

enum { WANT_DX = 1u << KERF_GSG_DX, WANT_DGRID = 1u << KERF_GSG_DGRID };

/* Of row `iy` and column `ix`. */
KERF_ALWAYS_INLINE kerf_real *pixel_at(const image *of, int64_t iy, int64_t ix) {
    return of->at + ((iy & of->mask) * of->row + ix * of->column);
}

typedef struct strip {
    const kerf_axis *axis_x, *axis_y;
    const kerf_grid_sampler_modes *modes;
    unsigned want;
    int64_t n;     /* samples, at most STRIP */
    int64_t width; /* channels: a multiple of KERF_LANES or, if smaller, of 4 */
    const kerf_real *grad;
    int64_t grad_step; /* from sample to sample */
    image x, dx;
    kerf_real *nowhere; /* four pixels for what skipped taps would add to dx */
    strip_axis x_axis, y_axis;
    kerf_real weight[STRIP * 4]; /* bilinear: of the four taps, row by row */
    kerf_real dot[STRIP * 4];    /* bilinear: of the four taps; bicubic: four parts of dgrid's x */
    kerf_real dot_y[STRIP * 4];  /* bicubic: four parts of dgrid's y */
} strip;

/* Where four taps are. A tap that is skipped reads grad in place of x, writes nowhere, and its dot becomes 0. */
typedef struct four_taps {
    const kerf_real *x[4];
    kerf_real *dx[4];
} four_taps;

/* No two of the taps share a pixel, so all of dx is loaded before any of it is stored: rows whose distance is a
 * multiple of 4 KiB would otherwise wait for each other. */
KERF_ALWAYS_INLINE kerf_quad add_four(tap_unit unit, int64_t n_units, unsigned want, const kerf_real *grad,
                                      four_taps at, const kerf_real *weight) {
    if (unit == WHOLE_VECTORS) {
        kerf_vec sum[4], w[4], to[4];
        for (int k = 0; k < 4; ++k) {
            sum[k] = kerf_vec_set(0);
            w[k] = kerf_vec_set(weight[k]);
        }
        for (int64_t c = 0; c < n_units * KERF_LANES; c += KERF_LANES) {
            const kerf_vec g = kerf_vec_load(grad + c);
            if (want & WANT_DGRID)
                for (int k = 0; k < 4; ++k)
                    sum[k] = kerf_vec_fma(kerf_vec_load(at.x[k] + c), g, sum[k]);
            if (want & WANT_DX) {
                for (int k = 0; k < 4; ++k)
                    to[k] = kerf_vec_fma(w[k], g, kerf_vec_load(at.dx[k] + c));
                for (int k = 0; k < 4; ++k)
                    kerf_vec_store(at.dx[k] + c, to[k]);
            }
        }
        return want & WANT_DGRID ? kerf_vec_sum4(sum[0], sum[1], sum[2], sum[3]) : (kerf_quad){0};
    }
    kerf_quad sum[4] = {{0}, {0}, {0}, {0}}, to[4];
    for (int64_t c = 0; c < n_units * 4; c += 4) {
        const kerf_quad g = kerf_quad_load(grad + c);
        if (want & WANT_DGRID)
            for (int k = 0; k < 4; ++k)
                sum[k] += kerf_quad_load(at.x[k] + c) * g;
        if (want & WANT_DX) {
            for (int k = 0; k < 4; ++k)
                to[k] = kerf_quad_load(at.dx[k] + c) + weight[k] * g;
            for (int k = 0; k < 4; ++k)
                kerf_quad_store(at.dx[k] + c, to[k]);
        }
    }
    return want & WANT_DGRID ? kerf_quad_sum4(sum[0], sum[1], sum[2], sum[3]) : (kerf_quad){0};
}

/* Taps of one row, of which the padding may have put several on one pixel: one after the other. */
KERF_ALWAYS_INLINE kerf_quad add_four_in_turn(tap_unit unit, int64_t n_units, unsigned want, const kerf_real *grad,
                                              four_taps at, const kerf_real *weight, kerf_real *nowhere) {
    four_taps one = at;
    const int64_t width = n_units * (unit == WHOLE_VECTORS ? KERF_LANES : 4);
    for (int k = 0; k < 4 && want & WANT_DX; ++k) {
        for (int j = 0; j < 4; ++j)
            one.dx[j] = j == k ? at.dx[k] : nowhere + j * width;
        add_four(unit, n_units, WANT_DX, grad, one, weight);
    }
    return add_four(unit, n_units, want & WANT_DGRID, grad, at, weight);
}

/* The dots of the taps that are there; 0 for the others, even if grad times grad is not finite. */
KERF_ALWAYS_INLINE kerf_quad without_skipped(kerf_quad dot, const bool there[4]) {
    kerf_real part[4];
    kerf_quad_store(part, dot);
    for (int k = 0; k < 4; ++k)
        part[k] = there[k] ? part[k] : (kerf_real)0;
    return kerf_quad_load(part);
}

KERF_ALWAYS_INLINE void bilinear_samples(tap_unit unit, int64_t n_units, unsigned want, strip *s) {
    const kerf_real last_x = s->axis_x->last, last_y = s->axis_y->last;
    const image x = s->x, dx = s->dx;
    const int64_t n = s->n, grad_step = s->grad_step, width = s->width;
    const kerf_real *grad = s->grad;
    kerf_real *const nowhere = s->nowhere;
    for (int64_t i = 0; i < n; ++i, grad += grad_step) {
        const kerf_real cell_x = s->x_axis.cell[i], cell_y = s->y_axis.cell[i];
        kerf_real *const dot = s->dot + 4 * i;
        four_taps at;
        if (cell_x >= 0 && cell_x < last_x && cell_y >= 0 && cell_y < last_y) {
            const int64_t ix = (int64_t)cell_x, iy = (int64_t)cell_y;
            const kerf_real *const from = pixel_at(&x, iy, ix), *const from_below = pixel_at(&x, iy + 1, ix);
            kerf_real *const to = pixel_at(&dx, iy, ix), *const to_below = pixel_at(&dx, iy + 1, ix);
            at = (four_taps){{from, from + x.column, from_below, from_below + x.column},
                             {to, to + dx.column, to_below, to_below + dx.column}};
            kerf_quad_store(dot, add_four(unit, n_units, want, grad, at, s->weight + 4 * i));
            continue;
        }
        kerf_quad_store(dot, (kerf_quad){0});
        if (!(cell_x >= -1 && cell_x <= last_x && cell_y >= -1 && cell_y <= last_y))
            continue;
        bool there[4];
        for (int k = 0; k < 4; ++k) {
            const int64_t ix = (int64_t)cell_x + k % 2, iy = (int64_t)cell_y + k / 2;
            there[k] = kerf_axis_holds(s->axis_x, ix) && kerf_axis_holds(s->axis_y, iy);
            at.x[k] = there[k] ? pixel_at(&x, iy, ix) : grad;
            at.dx[k] = there[k] ? pixel_at(&dx, iy, ix) : nowhere + k * width;
        }
        kerf_quad_store(dot, without_skipped(add_four(unit, n_units, want, grad, at, s->weight + 4 * i), there));
    }
}

/* The pixels of the four taps of one axis, -1 where a tap is skipped. */
typedef enum cubic_place { CUBIC_INSIDE, CUBIC_PADDED, CUBIC_DROPPED } cubic_place;

KERF_ALWAYS_INLINE cubic_place cubic_taps(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, kerf_real cell,
                                          int64_t index[4]) {
    if (cell >= 1 && cell < axis->last && (int64_t)cell + 2 < axis->extent) {
        for (int k = 0; k < 4; ++k)
            index[k] = (int64_t)cell - 1 + k;
        return CUBIC_INSIDE;
    }
    if (!kerf_is_finite(cell))
        return CUBIC_DROPPED;
    const int64_t base = kerf_axis_cubic_base(axis, modes->padding, cell);
    for (int k = 0; k < 4; ++k)
        index[k] = kerf_axis_cubic_tap(axis, modes->padding, modes->corners, base - 1 + k);
    return CUBIC_PADDED;
}

/* A row of four taps, of which some are skipped or share a pixel. One function for all widths: copies of it in every
 * loop would be most of the object and of the time to compile it. */
KERF_NEVER_INLINE kerf_quad cubic_row_padded(tap_unit unit, int64_t n_units, unsigned want, const strip *s,
                                             const kerf_real *grad, int64_t iy, const int64_t ix[4],
                                             const kerf_real *weight) {
    four_taps at;
    bool there[4];
    for (int k = 0; k < 4; ++k) {
        there[k] = ix[k] >= 0;
        at.x[k] = there[k] ? pixel_at(&s->x, iy, ix[k]) : grad;
        at.dx[k] = there[k] ? pixel_at(&s->dx, iy, ix[k]) : s->nowhere + k * s->width;
    }
    if (s->modes->padding == KERF_PAD_ZEROS)
        return without_skipped(add_four(unit, n_units, want, grad, at, weight), there);
    return add_four_in_turn(unit, n_units, want, grad, at, weight, s->nowhere);
}

KERF_ALWAYS_INLINE void bicubic_samples(tap_unit unit, int64_t n_units, unsigned want, strip *s) {
    const image x = s->x, dx = s->dx;
    const int64_t n = s->n, grad_step = s->grad_step;
    const kerf_real *grad = s->grad;
    for (int64_t i = 0; i < n; ++i, grad += grad_step) {
        int64_t ix[4], iy[4];
        kerf_quad sum_x = {0}, sum_y = {0};
        const kerf_quad weight_x = kerf_quad_load(s->x_axis.weight + 4 * i);
        const cubic_place place_x = cubic_taps(s->axis_x, s->modes, s->x_axis.cell[i], ix);
        const cubic_place place_y = cubic_taps(s->axis_y, s->modes, s->y_axis.cell[i], iy);
        for (int j = 0; j < 4 && place_x != CUBIC_DROPPED && place_y != CUBIC_DROPPED; ++j) {
            kerf_real weight[4];
            kerf_quad dot;
            const kerf_real weight_y = s->y_axis.weight[4 * i + j], slope_y = s->y_axis.slope[4 * i + j];
            if (iy[j] < 0)
                continue;
            kerf_quad_store(weight, weight_y * weight_x);
            if (place_x == CUBIC_INSIDE) {
                const kerf_real *const from = pixel_at(&x, iy[j], ix[0]);
                kerf_real *const to = pixel_at(&dx, iy[j], ix[0]);
                const four_taps at = {{from, from + x.column, from + 2 * x.column, from + 3 * x.column},
                                      {to, to + dx.column, to + 2 * dx.column, to + 3 * dx.column}};
                dot = add_four(unit, n_units, want, grad, at, weight);
            } else {
                dot = cubic_row_padded(unit, n_units, want, s, grad, iy[j], ix, weight);
            }
            if (want & WANT_DGRID) {
                sum_x += weight_y * dot;
                sum_y += slope_y * dot;
            }
        }
        if (want & WANT_DGRID) {
            kerf_quad_store(s->dot + 4 * i, sum_x * kerf_quad_load(s->x_axis.slope + 4 * i));
            kerf_quad_store(s->dot_y + 4 * i, sum_y * weight_x);
        }
    }
}

/* One tap of weight 1; only dx depends on it. */
KERF_ALWAYS_INLINE void nearest_samples(tap_unit unit, int64_t n_units, unsigned want, strip *s) {
    const kerf_real last_x = s->axis_x->last, last_y = s->axis_y->last;
    const kerf_real *grad = s->grad;
    (void)want;
    for (int64_t i = 0; i < s->n; ++i, grad += s->grad_step) {
        const kerf_real cell_x = s->x_axis.cell[i], cell_y = s->y_axis.cell[i];
        if (!(cell_x >= 0 && cell_x <= last_x && cell_y >= 0 && cell_y <= last_y))
            continue;
        kerf_real *const to = pixel_at(&s->dx, (int64_t)cell_y, (int64_t)cell_x);
        if (unit == WHOLE_VECTORS)
            for (int64_t c = 0; c < n_units * KERF_LANES; c += KERF_LANES)
                kerf_vec_store(to + c, kerf_vec_load(to + c) + kerf_vec_load(grad + c));
        else
            for (int64_t c = 0; c < n_units * 4; c += 4)
                kerf_quad_store(to + c, kerf_quad_load(to + c) + kerf_quad_load(grad + c));
    }
}

/* Copies of a loop over samples for the usual widths and for what is wanted. */
#define FOR_WIDTH(samples, want, s)                                                                                    \
    do {                                                                                                               \
        if ((s)->width % KERF_LANES != 0)                                                                              \
            samples(WHOLE_QUADS, (s)->width / 4, want, s);                                                             \
        else if ((s)->width == KERF_LANES)                                                                             \
            samples(WHOLE_VECTORS, 1, want, s);                                                                        \
        else if ((s)->width == 2 * KERF_LANES)                                                                         \
            samples(WHOLE_VECTORS, 2, want, s);                                                                        \
        else                                                                                                           \
            samples(WHOLE_VECTORS, (s)->width / KERF_LANES, want, s);                                                  \
    } while (0)
#define FOR_WANT(samples, s)                                                                                           \
    do {                                                                                                               \
        if ((s)->want == WANT_DX)                                                                                      \
            FOR_WIDTH(samples, WANT_DX, s);                                                                            \
        else if ((s)->want == WANT_DGRID)                                                                              \
            FOR_WIDTH(samples, WANT_DGRID, s);                                                                         \
        else                                                                                                           \
            FOR_WIDTH(samples, WANT_DX | WANT_DGRID, s);                                                               \
    } while (0)

static void add_samples(strip *s) {
    if (s->modes->interpolation == KERF_BILINEAR)
        FOR_WANT(bilinear_samples, s);
    else if (s->modes->interpolation == KERF_BICUBIC)
        FOR_WANT(bicubic_samples, s);
    else
        FOR_WIDTH(nearest_samples, WANT_DX, s);
}

/* Bilinear: the weights of the four taps from those of the axes. */
static void find_weights(strip *s) {
    const kerf_vec one = kerf_vec_set(1);
    for (int64_t i = 0; i < s->n; i += KERF_LANES) {
        const kerf_vec x = kerf_vec_load(s->x_axis.t + i), y = kerf_vec_load(s->y_axis.t + i);
        const kerf_vec left = one - x, top = one - y;
        kerf_vec_store_quads(s->weight + 4 * i, 4, top * left, top * x, y * left, y * x);
    }
}

/* dgrid of the strip from the dots. */
static void find_slopes(const strip *s, kerf_real *to_x, kerf_real *to_y) {
    for (int64_t i = 0; i < s->n; i += KERF_LANES) {
        kerf_vec dot[4], x, y;
        kerf_vec_load_quads(s->dot + 4 * i, 4, dot);
        if (s->modes->interpolation == KERF_BILINEAR) {
            bilinear_slopes(dot[0], dot[1], dot[2], dot[3], kerf_vec_load(s->x_axis.t + i),
                            kerf_vec_load(s->y_axis.t + i), &x, &y);
        } else {
            x = (dot[0] + dot[1]) + (dot[2] + dot[3]);
            kerf_vec_load_quads(s->dot_y + 4 * i, 4, dot);
            y = (dot[0] + dot[1]) + (dot[2] + dot[3]);
        }
        kerf_vec_store(to_x + i, x * kerf_vec_load(s->x_axis.factor + i));
        kerf_vec_store(to_y + i, y * kerf_vec_load(s->y_axis.factor + i));
    }
}

#endif
