/* Lower bounds of work, from the grid as it is: samples that leave the image need neither gradient nor image. */
#include "kernels/grid_sampler_grad/op.h"

/* In double for every type: at a kink another cell may be counted, which has as many taps or changes little. */
#define KERF_CLASS 1
#include "kernels/grid_sampler_grad/coordinate.h"

/* Which pixels were touched, by their number modulo the size of the set: for an image of up to that many pixels a
 * count, beyond it still a lower bound. */
#define SET_BITS (1 << 18)

typedef struct pixel_set {
    uint64_t word[SET_BITS / 64];
    double n_pixels;
} pixel_set;

typedef struct grad_counts {
    double samples;                       /* that need grad */
    double taps_scattered, taps_gathered; /* of dx and of dgrid */
    pixel_set pixels;                     /* that dgrid needs */
} grad_counts;

static void touch(pixel_set *set, int64_t pixel) {
    uint64_t *const word = &set->word[pixel % SET_BITS / 64];
    const uint64_t bit = UINT64_C(1) << (pixel % 64);
    set->n_pixels += !(*word & bit);
    *word |= bit;
}

static void count_sample(const kerf_problem *problem, const kerf_axis_taps *x, const kerf_axis_taps *y,
                         grad_counts *counts) {
    const kerf_strided *const image = &problem->in[KERF_GSG_X]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const double n_taps = x->n * y->n;
    const bool scatters = problem->want >> KERF_GSG_DX & 1 && n_taps > 0;
    const bool gathers = problem->want >> KERF_GSG_DGRID & 1 && n_taps > 0 && modes->interpolation != KERF_NEAREST &&
                         (x->factor != 0 || y->factor != 0);
    counts->samples += scatters || gathers;
    if (scatters)
        counts->taps_scattered += n_taps;
    if (!gathers)
        return;
    counts->taps_gathered += n_taps;
    for (int j = 0; j < y->n; ++j)
        for (int i = 0; i < x->n; ++i)
            touch(&counts->pixels,
                  (image->strides[2] ? y->index[j] * image->dims[3] : 0) + (image->strides[3] ? x->index[i] : 0));
}

static void count_samples(const kerf_problem *problem, const void *grid, grad_counts *counts) {
    const kerf_operand *const operand = problem->in[KERF_GSG_GRID];
    const kerf_strided *const image = &problem->in[KERF_GSG_X]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype), step = operand->at.strides[3] * bytes;
    const kerf_axis axis_y = kerf_axis_of(image->dims[2], modes->corners);
    const kerf_axis axis_x = kerf_axis_of(image->dims[3], modes->corners);
    kerf_strided samples = operand->at;
    samples.dims[3] = 1;
    int64_t n = 0;
    for (kerf_walk walk = kerf_walk_begin(&samples); !walk.done; kerf_walk_next(&walk)) {
        const char *const point = (const char *)grid + walk.offset * bytes;
        const double gx = kerf_dtype_load(operand->dtype, point), gy = kerf_dtype_load(operand->dtype, point + step);
        kerf_axis_taps x, y;
        if (walk.index[0] != n && image->strides[0] != 0)
            memset(counts->pixels.word, 0, sizeof counts->pixels.word);
        n = walk.index[0];
        /* A coordinate that overflows in float may be dropped. */
        if (fabs(gx) < 1e18 && fabs(gy) < 1e18 && kerf_axis_find(&axis_x, modes, gx, &x) &&
            kerf_axis_find(&axis_y, modes, gy, &y))
            count_sample(problem, &x, &y, counts);
    }
}

static double unique_elements(const kerf_strided *at) {
    const kerf_strided unique = kerf_strided_unique(at);
    int64_t count;
    return kerf_strided_count(&unique, &count) ? (double)count : 0;
}

/* Elements of grad that so many samples need: where an axis has stride 0, as many samples share one. */
static double grad_elements(const kerf_strided *at, double n_samples) {
    double sharing = 1;
    for (int axis = 0; axis < KERF_GSG_RANK; ++axis)
        if (axis != 1 && at->strides[axis] == 0 && at->dims[axis] > 1)
            sharing *= (double)at->dims[axis];
    return ceil(n_samples / sharing) * (at->strides[1] ? (double)at->dims[1] : 1);
}

kerf_work kerf_gsg_work(const kerf_problem *problem, const void *const in[]) {
    const kerf_strided *const grad = &problem->in[KERF_GSG_GRAD]->at, *const x = &problem->in[KERF_GSG_X]->at;
    const kerf_strided *const grid = &problem->in[KERF_GSG_GRID]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const double bytes = (double)kerf_dtype_bytes(problem->in[KERF_GSG_X]->dtype), n_channels = (double)x->dims[1];
    kerf_work work = {0};
    for (int i = 0; i < problem->n_out; ++i)
        if (problem->want >> i & 1)
            work.written_bytes += bytes * unique_elements(&problem->out[i]->at);
    const uint64_t sloped = modes->interpolation == KERF_NEAREST ? 0 : UINT64_C(1) << KERF_GSG_DGRID;
    const bool needs_grid = problem->want & (UINT64_C(1) << KERF_GSG_DX | sloped);
    if (n_channels == 0 || !needs_grid)
        return work;
    grad_counts counts = {0};
    count_samples(problem, in[KERF_GSG_GRID], &counts);
    work.read_bytes = bytes * (unique_elements(grid) + grad_elements(grad, counts.samples) +
                               counts.pixels.n_pixels * (x->strides[1] ? n_channels : 1));
    /* A multiplication and an addition per tap and channel for each output; nearest only adds. */
    const double per_tap = modes->interpolation == KERF_NEAREST ? 1 : 2;
    work.flops = per_tap * n_channels * (counts.taps_scattered + counts.taps_gathered);
    return work;
}
