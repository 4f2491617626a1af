#include "kernels/grid_sampling_work.h"

#include <string.h>

/* In double for every type: at a kink another cell may be counted, which has as many taps or changes little. */
#define KERF_CLASS 1
#include "kernels/grid_sampling_coordinate.h"

/* Which pixels were touched, by their number modulo the size of the set: for an image of up to that many pixels a
 * count, beyond it still a lower bound. */
#define SET_BITS (1 << 18)

typedef struct pixel_set {
    uint64_t word[SET_BITS / 64];
    double n_pixels;
} pixel_set;

typedef struct counting {
    const kerf_strided *image;
    unsigned what;
    pixel_set pixels;
    kerf_sampling_counts *counts;
} counting;

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

static void count_sample(counting *c, const axis_use *x, const axis_use *y) {
    const kerf_strided *const image = c->image;
    double weighted = 0, sloped = 0;
    for (int j = 0; j < y->n; ++j)
        for (int i = 0; i < x->n; ++i) {
            const bool weighs = c->what & KERF_COUNT_WEIGHTS && x->weight[i] != 0 && y->weight[j] != 0;
            const bool slopes = c->what & KERF_COUNT_SLOPES &&
                                ((x->slope[i] != 0 && y->weight[j] != 0) || (x->weight[i] != 0 && y->slope[j] != 0));
            weighted += weighs;
            sloped += slopes;
            if (slopes || (weighs && c->what & KERF_COUNT_READS))
                touch(&c->pixels,
                      (image->strides[2] ? y->index[j] * image->dims[3] : 0) + (image->strides[3] ? x->index[i] : 0));
        }
    c->counts->samples += weighted > 0 || sloped > 0;
    c->counts->taps_weighted += weighted;
    c->counts->taps_sloped += sloped;
}

kerf_sampling_counts kerf_sampling_count(const kerf_operand *x, const kerf_operand *grid, const void *points,
                                         const kerf_grid_sampler_modes *modes, unsigned what) {
    const kerf_strided *const image = &x->at;
    const int64_t bytes = (int64_t)kerf_dtype_bytes(grid->dtype), step = grid->at.strides[3] * bytes;
    const kerf_axis axis_y = kerf_axis_of(image->dims[2], modes->corners);
    const kerf_axis axis_x = kerf_axis_of(image->dims[3], modes->corners);
    kerf_sampling_counts counts = {0};
    counting state = {.image = image, .what = what, .counts = &counts};
    kerf_strided samples = grid->at;
    samples.dims[3] = 1;
    int64_t n = 0;
    for (kerf_walk walk = kerf_walk_begin(&samples); !walk.done; kerf_walk_next(&walk)) {
        const char *const point = (const char *)points + walk.offset * bytes;
        const double gx = kerf_dtype_load(grid->dtype, point), gy = kerf_dtype_load(grid->dtype, point + step);
        kerf_axis_taps taps_x, taps_y;
        if (walk.index[0] != n && image->strides[0] != 0)
            forget(&state.pixels, image);
        n = walk.index[0];
        /* A coordinate that overflows in float may be dropped, and one coordinate is enough to drop a sample. */
        if (fabs(gx) < 1e18 && fabs(gy) < 1e18 && kerf_axis_find(&axis_x, modes, gx, &taps_x) &&
            kerf_axis_find(&axis_y, modes, gy, &taps_y) && taps_x.n > 0 && taps_y.n > 0) {
            const axis_use use_x = use_of(&taps_x, image->dims[3]), use_y = use_of(&taps_y, image->dims[2]);
            count_sample(&state, &use_x, &use_y);
            ++counts.coordinates;
        }
        ++counts.coordinates;
    }
    counts.pixels = state.pixels.n_pixels;
    return counts;
}

double kerf_sampling_unique(const kerf_strided *at) {
    const kerf_strided unique = kerf_strided_unique(at);
    int64_t count;
    return kerf_strided_count(&unique, &count) ? (double)count : 0;
}

double kerf_sampling_sharing(const kerf_strided *at, int but) {
    double shared = 1;
    for (int axis = 0; axis < KERF_SAMPLING_RANK; ++axis)
        if (axis != but && at->strides[axis] == 0 && at->dims[axis] > 1)
            shared *= (double)at->dims[axis];
    return shared;
}
