/* From grid values to cells and weights, a vector of samples at a time: kernels/grid_sampling_coordinate.h for
 * KERF_LANES samples. The coordinate is the folded form fma(g, f, (S - 1) / 2). */
#ifndef KERF_GRID_SAMPLING_POINTS_H
#define KERF_GRID_SAMPLING_POINTS_H

#include "kernels/grid_sampling_coordinate.h"
#include "kernels/vector.h"

#define STRIP                                                                                                          \
    64 /* samples that are worked on together: a multiple of KERF_LANES, and their data stays in the L1 cache */

/* One axis of a strip. The cell is floor(v) (nearest: v rounded) as a real, NaN where the sample is dropped and not yet
 * held against the bounds; what is computed from it is finite all the same. */
typedef struct strip_axis {
    kerf_real cell[STRIP];
    kerf_real factor[STRIP];     /* f s */
    kerf_real t[STRIP];          /* bilinear */
    kerf_real weight[STRIP * 4]; /* bicubic, four per sample */
    kerf_real slope[STRIP * 4];
} strip_axis;

/* |v - low| mod 2 span. The quotient is off by one at most while it is far below 2^24 (2^53), and the remainder by
 * fused multiply-add is then exact, as fmod's is; beyond that fmod itself. */
KERF_ALWAYS_INLINE kerf_vec vector_mod(kerf_vec a, kerf_real fold) {
    const kerf_vec d = kerf_vec_set(fold), zero = kerf_vec_set(0), q = kerf_vec_floor(a / d);
    if (kerf_vec_all(kerf_vec_le(q, kerf_vec_set(KERF_CLASS == 0 ? (kerf_real)0x1p20 : (kerf_real)0x1p48)))) {
        kerf_vec m = kerf_vec_fma(zero - q, d, a);
        m = kerf_vec_select(kerf_vec_le(zero, m), m, m + d);
        return kerf_vec_select(kerf_vec_le(d, m), m - d, m);
    }
    kerf_real lane[KERF_LANES];
    kerf_vec_store(lane, a);
    for (int i = 0; i < KERF_LANES; ++i)
        lane[i] = KERF_REAL(fmod)(lane[i], fold);
    return kerf_vec_load(lane);
}

KERF_ALWAYS_INLINE kerf_vec vector_mirror(const kerf_axis *axis, kerf_vec v, kerf_vec *slope) {
    const kerf_vec low = kerf_vec_set(axis->low), span = kerf_vec_set(axis->span), one = kerf_vec_set(1);
    const kerf_vec minus = kerf_vec_set(-1);
    if (axis->span == 0) {
        *slope = kerf_vec_set(0);
        return v - v; /* 0, and NaN where v is not finite */
    }
    const kerf_vec m = vector_mod(kerf_vec_abs(v - low), 2 * axis->span);
    const kerf_mask odd = kerf_vec_le(span, m);
    const kerf_vec side = kerf_vec_select(kerf_vec_le(low, v), one, minus);
    *slope = side * kerf_vec_select(odd, minus, one);
    return kerf_vec_select(odd, span + span - m, m) + low;
}

KERF_ALWAYS_INLINE kerf_vec vector_pad(const kerf_axis *axis, kerf_padding padding, kerf_vec v, kerf_vec *slope) {
    const kerf_vec zero = kerf_vec_set(0), last = kerf_vec_set(axis->last);
    *slope = kerf_vec_set(1);
    if (padding == KERF_PAD_ZEROS)
        return v;
    if (padding == KERF_PAD_REFLECTION)
        v = vector_mirror(axis, v, slope);
    *slope = kerf_vec_select(kerf_vec_le(v, zero), zero, kerf_vec_select(kerf_vec_le(last, v), zero, *slope));
    return kerf_vec_max(zero, kerf_vec_min(last, v));
}

KERF_ALWAYS_INLINE kerf_vec vector_coordinate(const kerf_axis *axis, kerf_vec g) {
    return kerf_vec_fma(g, kerf_vec_set(axis->factor), kerf_vec_set((kerf_real)(axis->extent - 1) / 2));
}

KERF_ALWAYS_INLINE void cubic_weights(kerf_vec t, kerf_vec weight[4]) {
    const kerf_real a = (kerf_real)-0.75;
    const kerf_vec one = kerf_vec_set(1), r = one - t, va = kerf_vec_set(a), p = kerf_vec_set(a + 2);
    const kerf_vec q = kerf_vec_set(a + 3);
    weight[0] = va * t * r * r;
    weight[1] = (p * t - q) * t * t + one;
    weight[2] = (p * r - q) * r * r + one;
    weight[3] = va * r * t * t;
}

KERF_ALWAYS_INLINE void cubic_slopes(kerf_vec t, kerf_vec slope[4]) {
    const kerf_real a = (kerf_real)-0.75;
    const kerf_vec one = kerf_vec_set(1), two = one + one, three = kerf_vec_set(3), r = one - t, va = kerf_vec_set(a);
    const kerf_vec p3 = kerf_vec_set(3 * (a + 2)), q2 = kerf_vec_set(2 * (a + 3));
    slope[0] = va * r * (one - three * t);
    slope[1] = t * (p3 * t - q2);
    slope[2] = r * (q2 - p3 * r);
    slope[3] = va * t * (two - three * t);
}

/* dgrid of bilinear without its factors, from x times grad at the four taps. */
KERF_ALWAYS_INLINE void bilinear_slopes(kerf_vec upper_left, kerf_vec upper_right, kerf_vec lower_left,
                                        kerf_vec lower_right, kerf_vec tx, kerf_vec ty, kerf_vec *to_x,
                                        kerf_vec *to_y) {
    const kerf_vec one = kerf_vec_set(1);
    *to_x = (one - ty) * (upper_right - upper_left) + ty * (lower_right - lower_left);
    *to_y = (one - tx) * (lower_left - upper_left) + tx * (lower_right - upper_right);
}

KERF_ALWAYS_INLINE void find_cells_as(kerf_interpolation interpolation, kerf_padding padding, const kerf_axis *axis,
                                      const kerf_real *g, int64_t n, strip_axis *to) {
    const kerf_vec factor = kerf_vec_set(axis->factor), one = kerf_vec_set(1), zero = kerf_vec_set(0);
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        kerf_vec slope = one, v = vector_coordinate(axis, kerf_vec_load(g + i));
        if (interpolation != KERF_BICUBIC)
            v = vector_pad(axis, padding, v, &slope);
        const kerf_vec cell = interpolation == KERF_NEAREST ? kerf_vec_round(v) : kerf_vec_floor(v);
        const kerf_vec t = v - cell;
        kerf_vec_store(to->cell + i, cell);
        kerf_vec_store(to->factor + i, slope * factor);
        kerf_vec_store(to->t + i, kerf_vec_select(kerf_vec_le(t, one), t, zero));
    }
}

/* One axis of up to STRIP samples, from the grid values g, but for the weights of bicubic; whole vectors are read and
 * written. */
KERF_NEVER_INLINE void find_cells_alone(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, const kerf_real *g,
                                        int64_t n, strip_axis *to) {
    if (modes->interpolation == KERF_BICUBIC)
        find_cells_as(KERF_BICUBIC, KERF_PAD_ZEROS, axis, g, n, to);
    else if (modes->interpolation == KERF_NEAREST)
        find_cells_as(KERF_NEAREST, modes->padding, axis, g, n, to);
    else if (modes->padding == KERF_PAD_ZEROS)
        find_cells_as(KERF_BILINEAR, KERF_PAD_ZEROS, axis, g, n, to);
    else
        find_cells_as(KERF_BILINEAR, modes->padding, axis, g, n, to);
}

/* Bicubic: weights and slopes of the four taps along an axis whose cells are there. */
static inline void find_cubic(int64_t n, strip_axis *to) {
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        const kerf_vec t = kerf_vec_load(to->t + i);
        kerf_vec w[4], s[4];
        cubic_weights(t, w);
        cubic_slopes(t, s);
        kerf_vec_store_quads(to->weight + 4 * i, 4, w[0], w[1], w[2], w[3]);
        kerf_vec_store_quads(to->slope + 4 * i, 4, s[0], s[1], s[2], s[3]);
    }
}

static inline void find_cells(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, const kerf_real *g,
                              int64_t n, strip_axis *to) {
    find_cells_alone(axis, modes, g, n, to);
    if (modes->interpolation == KERF_BICUBIC)
        find_cubic(n, to);
}

#endif
