/* Nearest where the channels of x or y do not lie side by side: where the samples of a tile fall is found once, and
 * then the elements of each channel are copied as they are, whatever their type. */
#ifndef KERF_GRID_SAMPLER_NEAREST_H
#define KERF_GRID_SAMPLER_NEAREST_H

#include "kernels/variants/grid_sampling/pack.h"
#include "kernels/variants/grid_sampling/points.h"

enum { COPY_TILE = 1024 };

typedef struct copy_tile {
    int64_t n;
    bool all_there;
    int64_t offset[COPY_TILE]; /* in elements; where `there` is false 0 */
    bool there[COPY_TILE];
} copy_tile;

static void fill_copy_tile(const kerf_axis *axis_x, const kerf_axis *axis_y, const kerf_grid_sampler_modes *modes,
                           const pixels *grid, int64_t first, int64_t n, const int64_t *stride, copy_tile *to) {
    to->n = n;
    to->all_there = true;
    for (int64_t begin = 0; begin < n; begin += STRIP) {
        const int64_t count = n - begin < STRIP ? n - begin : STRIP;
        kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
        strip_axis at_x, at_y;
        load_points(grid, first + begin, count, x, y);
        find_cells_alone(axis_x, modes, x, count, &at_x);
        find_cells_alone(axis_y, modes, y, count, &at_y);
        for (int64_t i = 0; i < count; ++i) {
            const kerf_real cell_x = at_x.cell[i], cell_y = at_y.cell[i];
            const bool there = cell_x >= 0 && cell_x <= axis_x->last && cell_y >= 0 && cell_y <= axis_y->last;
            to->there[begin + i] = there;
            to->offset[begin + i] = there ? (int64_t)cell_y * stride[2] + (int64_t)cell_x * stride[3] : 0;
            to->all_there = to->all_there && there;
        }
    }
}

/* One channel. */
#define COPY_ELEMENTS(type)                                                                                            \
    do {                                                                                                               \
        const type *const from = (const type *)plane;                                                                  \
        const int64_t step = y->column_stride;                                                                         \
        for (int64_t done = 0, n; done < t->n; done += n) {                                                            \
            type *const to = (type *)(void *)pixels_run(y, channel, first + done, t->n - done, &n);                    \
            const int64_t *const offset = t->offset + done;                                                            \
            const bool *const there = t->there + done;                                                                 \
            if (t->all_there)                                                                                          \
                for (int64_t i = 0; i < n; ++i)                                                                        \
                    to[i * step] = from[offset[i]];                                                                    \
            else                                                                                                       \
                for (int64_t i = 0; i < n; ++i)                                                                        \
                    to[i * step] = there[i] ? from[offset[i]] : 0;                                                     \
        }                                                                                                              \
    } while (0)

static void copy_plane(const copy_tile *t, const void *plane, const pixels *y, int64_t channel, int64_t first) {
    if (y->element_bytes == 2)
        COPY_ELEMENTS(uint16_t);
    else if (y->element_bytes == 4)
        COPY_ELEMENTS(uint32_t);
    else
        COPY_ELEMENTS(uint64_t);
}

#endif
