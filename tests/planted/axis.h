/* What the planted kernels of both ops share: one axis with its faults, elements by strides, and lazy results. */
#ifndef KERF_TESTS_PLANTED_AXIS_H
#define KERF_TESTS_PLANTED_AXIS_H

#include "kernels/grid_sampling_coordinate.h"

typedef struct axis_faults {
    bool edge_slope, mirror_sign, missing_clip, truncation, half_up, neighbour, nan_kept, cubic_clamped;
    bool wrong_mirror, other_cubic;
} axis_faults;

static int64_t at(const kerf_strided *array, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    return i0 * array->strides[0] + i1 * array->strides[1] + i2 * array->strides[2] + i3 * array->strides[3];
}

static bool pad(const axis_faults *faults, kerf_padding padding, const kerf_axis *axis, kerf_real *v,
                kerf_real *slope) {
    const kerf_real before = *v;
    *slope = 1;
    if (padding == KERF_PAD_ZEROS)
        return kerf_is_finite(*v);
    if (padding == KERF_PAD_REFLECTION) {
        if (!kerf_is_finite(*v))
            return false;
        kerf_axis mirrors = *axis;
        if (faults->wrong_mirror) {
            mirrors.low = 0;
            mirrors.span = axis->last;
        }
        *v = kerf_axis_mirror(&mirrors, *v, slope);
        if (faults->mirror_sign)
            *slope = KERF_REAL(fabs)(*slope);
        if (faults->missing_clip)
            return true;
    }
    if (*v != *v)
        return false;
    if (*v <= 0 || *v >= axis->last) {
        *v = *v <= 0 ? 0 : axis->last;
        if (!(faults->edge_slope && before == *v))
            *slope = 0;
    }
    return true;
}

/* The outer weights of A = -1/2 in place of those of A = -3/4, which are all of the negative ones. */
static void change_cubic(kerf_axis_taps *taps) {
    for (int k = 0; k < taps->n; ++k)
        taps->weight[k] *= taps->weight[k] < 0 ? (kerf_real)2 / 3 : 1;
}

static bool find(const axis_faults *faults, const kerf_grid_sampler_modes *modes, const kerf_axis *axis, kerf_real g,
                 kerf_axis_taps *taps) {
    kerf_real v = kerf_axis_coordinate(axis, modes->corners, g), slope;
    taps->n = 0;
    if (faults->nan_kept && v != v)
        v = 0;
    if (modes->interpolation == KERF_BICUBIC) {
        if (faults->cubic_clamped && modes->padding == KERF_PAD_BORDER)
            v = v <= 0 ? 0 : v >= axis->last ? axis->last : v;
        const bool found = kerf_axis_find_cubic(axis, modes, v, taps);
        if (faults->other_cubic)
            change_cubic(taps);
        return found;
    }
    const bool kept = pad(faults, modes->padding, axis, &v, &slope);
    taps->factor = axis->factor * slope;
    if (!kept || !(KERF_REAL(fabs)(v) < KERF_CAST_LIMIT))
        return kept;
    if (modes->interpolation == KERF_NEAREST) {
        const int64_t index = faults->half_up ? kerf_floor_index(v + (kerf_real)0.5) : kerf_round_index(v);
        if (kerf_axis_holds(axis, index))
            kerf_axis_add_tap(taps, index, 1, 0);
        return true;
    }
    const int64_t index = faults->truncation ? (int64_t)v : kerf_floor_index(v);
    const kerf_real t = v - (kerf_real)index;
    if (kerf_axis_holds(axis, index))
        kerf_axis_add_tap(taps, index, 1 - t, -1);
    if (kerf_axis_holds(axis, index + 1) || (faults->neighbour && kerf_axis_holds(axis, index)))
        kerf_axis_add_tap(taps, index + 1, t, 1);
    return true;
}

/* The lazy ones: every element is `value`, or the same element of the input. */
static void write_all(kerf_real *to, const kerf_strided *to_at, const kerf_real *from, const kerf_strided *from_at,
                      kerf_real value) {
    for (kerf_walk walk = kerf_walk_begin(to_at); !walk.done; kerf_walk_next(&walk))
        to[walk.offset] = from ? from[at(from_at, walk.index[0], walk.index[1], walk.index[2], walk.index[3])] : value;
}

static void clamp_in_place(kerf_real *data, const kerf_strided *data_at) {
    for (kerf_walk walk = kerf_walk_begin(data_at); !walk.done; kerf_walk_next(&walk))
        if (data[walk.offset] > 1)
            data[walk.offset] = 1;
}

static bool refuses_narrow(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    (void)config;
    const kerf_dtype dtype = problem->in[0]->dtype;
    if (kerf_dtype_bytes(dtype) == sizeof(kerf_real))
        return false;
    kerf_text_printf(why, "planted kernels compute f32 and f64, not %s", kerf_dtype_name(dtype));
    return true;
}

#endif
