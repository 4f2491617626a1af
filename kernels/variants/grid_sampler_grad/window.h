/* The rows of an image that are at hand while the samples pass over it. Neighbouring samples mostly look at
 * neighbouring pixels, so x is fetched, and dx cleared, shortly before the first sample that touches a row, and dx
 * leaves after the last one: a few rows at a time, which stay in the cache, in a ring. Where the samples jump about,
 * the rows at hand are all of the image, and nothing is lost but finding that out. */
#ifndef KERF_GRID_SAMPLER_GRAD_WINDOW_H
#define KERF_GRID_SAMPLER_GRAD_WINDOW_H

#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/variants/grid_sampling/points.h"

/* Rows [first, end) of an image. */
typedef struct row_span {
    int64_t first, end;
} row_span;

/* Pixels with their channels side by side; strides in elements. Row r lies at row number r & mask. */
typedef struct image {
    kerf_real *at;
    int64_t row, column, mask;
} image;

/* The rows that up to STRIP samples touch, perhaps some more; none where all samples are dropped. The grid values are
 * in `y`, which has room for whole vectors. */
static row_span touched_rows(const kerf_axis *axis, const kerf_grid_sampler_modes *modes, const kerf_real *y,
                             int64_t n) {
    const kerf_vec last = kerf_vec_set(axis->last), zero = kerf_vec_set(0), twice = last + last;
    const kerf_real before = modes->interpolation == KERF_BICUBIC ? 1 : 0;
    const kerf_real after = modes->interpolation == KERF_NEAREST ? 0 : 1;
    kerf_vec lowest = last, highest = kerf_vec_set(-1);
    kerf_real low_lane[KERF_LANES], high_lane[KERF_LANES], low, high;
    strip_axis at;
    find_cells(axis, modes, y, n, &at);
    for (int64_t i = n; i % KERF_LANES != 0; ++i)
        at.cell[i] = at.cell[0];
    for (int64_t i = 0; i < n; i += KERF_LANES) {
        const kerf_vec cell = kerf_vec_load(at.cell + i);
        const kerf_mask there = kerf_vec_le(cell, cell);
        kerf_vec first = cell - kerf_vec_set(before), end = cell + kerf_vec_set(before + after);
        if (modes->interpolation == KERF_BICUBIC && modes->padding == KERF_PAD_REFLECTION) {
            const kerf_vec mirrored = twice - end;
            end = kerf_vec_max(zero - first, end);
            first = kerf_vec_min(mirrored, first);
        }
        first = kerf_vec_max(zero, kerf_vec_min(last, first));
        end = kerf_vec_max(zero, kerf_vec_min(last, end));
        lowest = kerf_vec_select(there, kerf_vec_min(lowest, first), lowest);
        highest = kerf_vec_select(there, kerf_vec_max(highest, end), highest);
    }
    kerf_vec_store(low_lane, lowest);
    kerf_vec_store(high_lane, highest);
    low = low_lane[0];
    high = high_lane[0];
    for (int i = 1; i < KERF_LANES; ++i) {
        low = low_lane[i] < low ? low_lane[i] : low;
        high = high_lane[i] > high ? high_lane[i] : high;
    }
    return (row_span){high < 0 ? axis->extent : (int64_t)low, (int64_t)high + 1};
}

/* From what each strip touches to what is at hand for it: rows from the lowest that is still to come to the highest so
 * far. */
static void settle_spans(row_span *spans, int64_t n) {
    for (int64_t i = 1; i < n; ++i)
        spans[i].end = spans[i].end > spans[i - 1].end ? spans[i].end : spans[i - 1].end;
    for (int64_t i = n - 1; i > 0; --i)
        spans[i - 1].first = spans[i - 1].first < spans[i].first ? spans[i - 1].first : spans[i].first;
}

#endif
