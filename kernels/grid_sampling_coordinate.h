/* One axis of the grid sampler: from a grid value to the taps that it touches, in the working type of the object. For
 * variants, in C and in CUDA C++. The rules stand in grid_sampler_grad.h and grid_sampler.h.
 *
 *   const kerf_axis axis = kerf_axis_of(width, corners);
 *   kerf_axis_taps taps;
 *   if (kerf_axis_find(&axis, modes, gx, &taps))      // false: the sample is dropped, on both axes
 *       for (int k = 0; k < taps.n; ++k) use(taps.index[k], taps.weight[k]);
 *
 * Taps that the padding skips are not listed. The steps are functions of their own for variants that need only some. */
#ifndef KERF_KERNELS_GRID_SAMPLER_GRAD_COORDINATE_H
#define KERF_KERNELS_GRID_SAMPLER_GRAD_COORDINATE_H

#include "kernels/grid_sampling.h"
#include "kernels/real.h"

#if defined(__CUDACC__)
#define KERF_INLINE static inline __host__ __device__
#else
#define KERF_INLINE static inline
#endif

/* Magnitude below which a coordinate may become an int64_t; kerf_sampling_check keeps extents far below it. */
#define KERF_CAST_LIMIT ((kerf_real)0x1p62)

typedef struct kerf_axis {
    int64_t extent;      /* S */
    int64_t period;      /* the images of an index under reflection repeat after so many */
    kerf_real size;      /* S */
    kerf_real last;      /* S - 1, or the largest value of the type below it */
    kerf_real factor;    /* f */
    kerf_real low, span; /* reflection mirrors at low and at low + span */
} kerf_axis;

typedef struct kerf_axis_taps {
    int n;
    int64_t index[4];
    kerf_real weight[4];
    kerf_real slope[4]; /* d weight / d t */
    kerf_real factor;   /* f s: what a sum of slopes is multiplied by */
} kerf_axis_taps;

/* A product that is rounded here and not fused into what follows: the cell and the weights of a sample come from the
 * same number. */
KERF_INLINE kerf_real kerf_rounded_product(kerf_real a, kerf_real b) {
#if !defined(__CUDA_ARCH__)
    return kerf_settled(a * b);
#elif KERF_CLASS == 0
    return __fmul_rn(a, b);
#else
    return __dmul_rn(a, b);
#endif
}

KERF_INLINE kerf_axis kerf_axis_of(int64_t extent, kerf_corners corners) {
    const bool aligned = corners == KERF_CORNERS_ALIGNED;
    kerf_axis axis;
    axis.extent = extent;
    axis.period = aligned ? 2 * (extent - 1) : 2 * extent;
    axis.size = (kerf_real)extent;
    axis.last = (kerf_real)(extent - 1);
    if ((int64_t)axis.last > extent - 1)
        axis.last = KERF_REAL(nextafter)(axis.last, (kerf_real)0);
    axis.span = (kerf_real)(aligned ? extent - 1 : extent);
    axis.low = aligned ? (kerf_real)0 : (kerf_real)-0.5;
    axis.factor = axis.span / 2;
    return axis;
}

/* v; not finite where g is not, and where the product overflows. */
KERF_INLINE kerf_real kerf_axis_coordinate(const kerf_axis *axis, kerf_corners corners, kerf_real g) {
    if (corners == KERF_CORNERS_ALIGNED)
        return kerf_rounded_product((g + 1) / 2, axis->span);
    return kerf_rounded_product((g + 1) * axis->size - 1, (kerf_real)0.5);
}

KERF_INLINE bool kerf_is_finite(kerf_real v) {
    return KERF_REAL(fabs)(v) < (kerf_real)INFINITY;
}

KERF_INLINE kerf_real kerf_axis_mirror(const kerf_axis *axis, kerf_real v, kerf_real *slope) {
    const kerf_real distance = KERF_REAL(fabs)(v - axis->low), fold = 2 * axis->span;
    if (axis->span == 0) {
        *slope = 0;
        return 0;
    }
    const kerf_real m = distance < fold ? distance : KERF_REAL(fmod)(distance, fold);
    const bool odd = m >= axis->span;
    *slope = odd == (v < axis->low) ? (kerf_real)1 : (kerf_real)-1;
    return (odd ? fold - m : m) + axis->low;
}

/* Bilinear and nearest: moves v as the padding says and gives the slope s. False: the sample is dropped. */
KERF_INLINE bool kerf_axis_pad(const kerf_axis *axis, kerf_padding padding, kerf_real *v, kerf_real *slope) {
    *slope = 1;
    if (padding == KERF_PAD_ZEROS)
        return kerf_is_finite(*v);
    if (padding == KERF_PAD_REFLECTION) {
        if (!kerf_is_finite(*v))
            return false;
        *v = kerf_axis_mirror(axis, *v, slope);
    }
    if (*v != *v)
        return false;
    if (*v <= 0 || *v >= axis->last) {
        *v = *v <= 0 ? (kerf_real)0 : axis->last;
        *slope = 0;
    }
    return true;
}

KERF_INLINE bool kerf_axis_holds(const kerf_axis *axis, int64_t index) {
    return index >= 0 && index < axis->extent;
}

/* floor(v) as an integer; |v| < KERF_CAST_LIMIT. */
KERF_INLINE int64_t kerf_floor_index(kerf_real v) {
    const int64_t index = (int64_t)v;
    return index - ((kerf_real)index > v);
}

/* v rounded half to even as an integer, whatever the rounding mode of the thread; |v| < KERF_CAST_LIMIT. */
KERF_INLINE int64_t kerf_round_index(kerf_real v) {
    const int64_t index = kerf_floor_index(v);
    const kerf_real rest = v - (kerf_real)index;
    return index + (rest > (kerf_real)0.5 || (rest == (kerf_real)0.5 && index % 2 != 0));
}

/* The weights of the taps floor(v) - 1 .. floor(v) + 2, the cubics of the header in factored form: fewer roundings. */
KERF_INLINE void kerf_cubic_weights(kerf_real t, kerf_real weight[4]) {
    const kerf_real a = (kerf_real)-0.75, r = 1 - t;
    weight[0] = a * t * r * r;
    weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    weight[2] = ((a + 2) * r - (a + 3)) * r * r + 1;
    weight[3] = a * r * t * t;
}

KERF_INLINE void kerf_cubic_slopes(kerf_real t, kerf_real slope[4]) {
    const kerf_real a = (kerf_real)-0.75, r = 1 - t;
    slope[0] = a * r * (1 - 3 * t);
    slope[1] = t * (3 * (a + 2) * t - 2 * (a + 3));
    slope[2] = r * (2 * (a + 3) - 3 * (a + 2) * r);
    slope[3] = a * t * (2 - 3 * t);
}

/* floor(v) for the taps of bicubic. Beyond the integers any value that the padding treats alike will do: far outside
 * for zeros, beyond the edge for border, and under reflection the same place of another period. */
KERF_INLINE int64_t kerf_axis_cubic_base(const kerf_axis *axis, kerf_padding padding, kerf_real v) {
    if (KERF_REAL(fabs)(v) < KERF_CAST_LIMIT)
        return kerf_floor_index(v);
    if (padding == KERF_PAD_REFLECTION && axis->period > 0)
        return (int64_t)KERF_REAL(fmod)(v, (kerf_real)axis->period);
    return v < 0 ? -((int64_t)1 << 62) : (int64_t)1 << 62;
}

/* Bicubic: where the padding puts a tap, -1 where it is skipped. */
KERF_INLINE int64_t kerf_axis_cubic_tap(const kerf_axis *axis, kerf_padding padding, kerf_corners corners,
                                        int64_t index) {
    if (kerf_axis_holds(axis, index))
        return index;
    if (padding == KERF_PAD_ZEROS)
        return -1;
    if (padding == KERF_PAD_BORDER)
        return index < 0 ? 0 : axis->extent - 1;
    if (axis->period == 0)
        return 0;
    /* Mirrored at 0, or halfway between -1 and 0. */
    const int64_t twin = corners == KERF_CORNERS_ALIGNED ? 0 : 1;
    const int64_t m = (index < 0 ? -index - twin : index) % axis->period;
    return m < axis->extent ? m : axis->period - twin - m;
}

KERF_INLINE void kerf_axis_add_tap(kerf_axis_taps *taps, int64_t index, kerf_real weight, kerf_real slope) {
    taps->index[taps->n] = index;
    taps->weight[taps->n] = weight;
    taps->slope[taps->n] = slope;
    ++taps->n;
}

KERF_INLINE bool kerf_axis_find_cubic(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, kerf_real v,
                                      kerf_axis_taps *taps) {
    taps->n = 0;
    taps->factor = axis->factor;
    if (!kerf_is_finite(v))
        return false;
    kerf_real weight[4], slope[4];
    const int64_t base = kerf_axis_cubic_base(axis, modes->padding, v);
    const kerf_real t = KERF_REAL(fabs)(v) < KERF_CAST_LIMIT ? v - (kerf_real)base : (kerf_real)0;
    kerf_cubic_weights(t, weight);
    kerf_cubic_slopes(t, slope);
    for (int k = 0; k < 4; ++k) {
        const int64_t index = kerf_axis_cubic_tap(axis, modes->padding, modes->corners, base - 1 + k);
        if (index >= 0)
            kerf_axis_add_tap(taps, index, weight[k], slope[k]);
    }
    return true;
}

/* The taps of one axis. False: the sample is dropped; taps->n is then 0. */
KERF_INLINE bool kerf_axis_find(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, kerf_real g,
                                kerf_axis_taps *taps) {
    kerf_real v = kerf_axis_coordinate(axis, modes->corners, g), slope;
    if (modes->interpolation == KERF_BICUBIC)
        return kerf_axis_find_cubic(axis, modes, v, taps);
    taps->n = 0;
    const bool kept = kerf_axis_pad(axis, modes->padding, &v, &slope);
    taps->factor = axis->factor * slope;
    if (!kept || !(KERF_REAL(fabs)(v) < KERF_CAST_LIMIT))
        return kept;
    if (modes->interpolation == KERF_NEAREST) {
        const int64_t index = kerf_round_index(v);
        if (kerf_axis_holds(axis, index))
            kerf_axis_add_tap(taps, index, 1, 0);
        return true;
    }
    const int64_t index = kerf_floor_index(v);
    const kerf_real t = v - (kerf_real)index;
    if (kerf_axis_holds(axis, index))
        kerf_axis_add_tap(taps, index, 1 - t, -1);
    if (kerf_axis_holds(axis, index + 1))
        kerf_axis_add_tap(taps, index + 1, t, 1);
    return true;
}

#endif
