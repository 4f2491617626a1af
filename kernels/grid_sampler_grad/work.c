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
    double coordinates;                   /* that decide which samples are dropped, and where the others lie */
    double samples;                       /* that need grad */
    double taps_scattered, taps_gathered; /* of dx and of dgrid */
    pixel_set pixels;                     /* that dgrid needs */
} grad_counts;

/* What an axis contributes: each pixel once, as border and reflection lead several taps to one. */
typedef struct axis_use {
    int n;
    int64_t index[4];
    double weight[4], slope[4];
} axis_use;

/* A weight that rounding in float may have made of nothing, or nothing of: it is not counted. */
static bool is_nothing(double weight, int64_t extent) {
    return fabs(weight) <= 1e-6 * (1 + (double)extent);
}

static axis_use use_of(const kerf_axis_taps *taps, int64_t extent) {
    axis_use use = {.n = 0};
    for (int tap = 0; tap < taps->n; ++tap) {
        int at = 0;
        while (at < use.n && use.index[at] != taps->index[tap])
            ++at;
        use.n += at == use.n;
        use.index[at] = taps->index[tap];
        use.weight[at] += taps->weight[tap];
        use.slope[at] += taps->slope[tap] * taps->factor;
    }
    for (int at = 0; at < use.n; ++at) {
        use.weight[at] = is_nothing(use.weight[at], extent) ? 0 : use.weight[at];
        use.slope[at] = is_nothing(use.slope[at], extent) ? 0 : use.slope[at];
    }
    return use;
}

static void touch(pixel_set *set, int64_t pixel) {
    uint64_t *const word = &set->word[pixel % SET_BITS / 64];
    const uint64_t bit = UINT64_C(1) << (pixel % 64);
    set->n_pixels += !(*word & bit);
    *word |= bit;
}

/* Only the words that an image can have touched: there may be many small images. */
static void forget(pixel_set *set, const kerf_strided *image) {
    const double n_pixels = (double)image->dims[2] * (double)image->dims[3];
    const size_t n_words = n_pixels < SET_BITS ? ((size_t)n_pixels + 63) / 64 : SET_BITS / 64;
    memset(set->word, 0, n_words * sizeof set->word[0]);
}

static void count_sample(const kerf_problem *problem, const axis_use *x, const axis_use *y, grad_counts *counts) {
    const kerf_strided *const image = &problem->in[KERF_GSG_X]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const bool wants_dx = problem->want >> KERF_GSG_DX & 1;
    const bool wants_dgrid = problem->want >> KERF_GSG_DGRID & 1 && modes->interpolation != KERF_NEAREST;
    double scattered = 0, gathered = 0;
    for (int j = 0; j < y->n; ++j)
        for (int i = 0; i < x->n; ++i) {
            scattered += wants_dx && x->weight[i] != 0 && y->weight[j] != 0;
            if (!wants_dgrid || !((x->slope[i] != 0 && y->weight[j] != 0) || (x->weight[i] != 0 && y->slope[j] != 0)))
                continue;
            ++gathered;
            touch(&counts->pixels,
                  (image->strides[2] ? y->index[j] * image->dims[3] : 0) + (image->strides[3] ? x->index[i] : 0));
        }
    counts->samples += scattered > 0 || gathered > 0;
    counts->taps_scattered += scattered;
    counts->taps_gathered += gathered;
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
            forget(&counts->pixels, image);
        n = walk.index[0];
        /* A coordinate that overflows in float may be dropped, and one coordinate is enough to drop a sample. */
        if (fabs(gx) < 1e18 && fabs(gy) < 1e18 && kerf_axis_find(&axis_x, modes, gx, &x) &&
            kerf_axis_find(&axis_y, modes, gy, &y) && x.n > 0 && y.n > 0) {
            const axis_use use_x = use_of(&x, image->dims[3]), use_y = use_of(&y, image->dims[2]);
            count_sample(problem, &use_x, &use_y, counts);
            ++counts->coordinates;
        }
        ++counts->coordinates;
    }
}

static double unique_elements(const kerf_strided *at) {
    const kerf_strided unique = kerf_strided_unique(at);
    int64_t count;
    return kerf_strided_count(&unique, &count) ? (double)count : 0;
}

/* By how many the memory elements of an operand are fewer than its indices, the axis `but` left aside. */
static double sharing(const kerf_strided *at, int but) {
    double shared = 1;
    for (int axis = 0; axis < KERF_GSG_RANK; ++axis)
        if (axis != but && at->strides[axis] == 0 && at->dims[axis] > 1)
            shared *= (double)at->dims[axis];
    return shared;
}

/* A multiplication and an addition per tap and channel for each output; nearest only adds. What lies in memory once can
 * be summed before: channels of grad or x for all taps, samples of grad or grid for all that share one. */
static double least_flops(const kerf_problem *problem, const grad_counts *counts) {
    const kerf_strided *const grad = &problem->in[KERF_GSG_GRAD]->at, *const x = &problem->in[KERF_GSG_X]->at;
    const kerf_strided *const grid = &problem->in[KERF_GSG_GRID]->at;
    const kerf_grid_sampler_modes *const modes = problem->self;
    const double per_tap = modes->interpolation == KERF_NEAREST ? 1 : 2, n_channels = (double)x->dims[1];
    const double scattered = counts->taps_scattered * (grad->strides[1] ? n_channels : 1);
    const bool is_flat = x->strides[2] == 0 || x->strides[3] == 0;
    const double gathered = is_flat ? 0 : counts->taps_gathered * (grad->strides[1] && x->strides[1] ? n_channels : 1);
    return per_tap * (scattered + gathered) / (sharing(grad, 1) * sharing(grid, 3));
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
    work.read_bytes = bytes * (ceil(counts.coordinates / sharing(grid, -1)) +
                               ceil(counts.samples / sharing(grad, 1)) * (grad->strides[1] ? n_channels : 1) +
                               counts.pixels.n_pixels * (x->strides[1] ? n_channels : 1));
    work.flops = least_flops(problem, &counts);
    return work;
}
