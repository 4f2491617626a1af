/* The inner loops for one to four channels: a strip of samples against framed images (few_image.h), where no tap needs
 * a test. One channel: vectors over samples. Two to four: a quad holds a pixel and, where it has room, what follows;
 * grad is 0 there, so that dx gets back what was read. Taps are stored from left to right for the same reason.
 *
 * A tap that is skipped meets a 0 of the frame, which adds nothing to dgrid unless grad is not finite. The same
 * holds for what follows a pixel. Then dgrid comes out as NaN, and samples with a NaN are done again with care: tap by
 * tap, and only those that are there. */
#ifndef KERF_GRID_SAMPLER_GRAD_FEW_TAPS_H
#define KERF_GRID_SAMPLER_GRAD_FEW_TAPS_H

#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/variants/grid_sampler_grad/few_image.h"
#include "kernels/variants/grid_sampling/points.h"

enum { FEW_DX = 1u << KERF_GSG_DX, FEW_DGRID = 1u << KERF_GSG_DGRID };

/* Samples that are added to dx one after the other are so many apart. Vectors of neighbours overlap in part, and a load
 * would then wait until the store before it has left the processor. */
enum { APART = 8 };
#define FOR_SAMPLES_APART(i, n)                                                                                        \
    for (int64_t first = 0; first < APART; ++first)                                                                    \
        for (int64_t i = first; i < (n); i += APART)

typedef struct few_strip {
    const frame *frame;
    unsigned want;
    int64_t n; /* samples, at most STRIP */
    kerf_real *x, *dx;
    strip_axis x_axis, y_axis;
    int32_t place[STRIP];                     /* of the first tap in the frame, in elements; 0: dropped */
    kerf_real grad[(STRIP + KERF_LANES) * 4]; /* of one channel, or quads */
    kerf_real term_x[STRIP * 4]; /* of what a sample adds to dx or to dgrid: four parts, or the four dots of bilinear */
    kerf_real term_y[STRIP * 4];
    kerf_real slope_x[STRIP + KERF_LANES], slope_y[STRIP + KERF_LANES]; /* dgrid */
} few_strip;

/* Where the first taps lie. Cells beyond the margin have none inside, but for bicubic with padding: see be_careful. */
static void find_places(few_strip *s) {
    const frame *const f = s->frame;
    const int64_t before = f->taps / 4;
    const kerf_vec low = kerf_vec_set((kerf_real)(before - f->margin)), pitch = kerf_vec_set((kerf_real)f->pitch);
    const kerf_vec last_x = kerf_vec_set((kerf_real)(f->axis_x.extent - 1 + before));
    const kerf_vec last_y = kerf_vec_set((kerf_real)(f->axis_y.extent - 1 + before)), nowhere = kerf_vec_set(0);
    const kerf_vec origin = kerf_vec_set((kerf_real)((-before - frame_top(f)) * f->pitch + f->margin - before));
    for (int64_t i = 0; i < s->n; i += KERF_LANES) {
        const kerf_vec x = kerf_vec_load(s->x_axis.cell + i), y = kerf_vec_load(s->y_axis.cell + i);
        kerf_vec at = kerf_vec_fma(y, pitch, x + origin);
        kerf_real place[KERF_LANES];
        at = kerf_vec_select(kerf_vec_le(low, x), kerf_vec_select(kerf_vec_le(x, last_x), at, nowhere), nowhere);
        at = kerf_vec_select(kerf_vec_le(low, y), kerf_vec_select(kerf_vec_le(y, last_y), at, nowhere), nowhere);
        kerf_vec_store(place, at);
        for (int k = 0; k < KERF_LANES; ++k)
            s->place[i + k] = (int32_t)place[k] * (int32_t)f->channels;
    }
}

KERF_ALWAYS_INLINE void store_slopes_of(few_strip *s, int64_t i, kerf_vec x, kerf_vec y) {
    kerf_vec_store(s->slope_x + i, x * kerf_vec_load(s->x_axis.factor + i));
    kerf_vec_store(s->slope_y + i, y * kerf_vec_load(s->y_axis.factor + i));
}

/* One channel. */

KERF_ALWAYS_INLINE void bilinear_single(few_strip *s, unsigned want) {
    const kerf_real *const x = s->x, *const below = x + s->frame->pitch;
    const kerf_vec one = kerf_vec_set(1);
    for (int64_t i = 0; i < s->n; i += KERF_LANES) {
        const kerf_vec g = kerf_vec_load(s->grad + i);
        const kerf_vec right = kerf_vec_load(s->x_axis.t + i), low = kerf_vec_load(s->y_axis.t + i);
        const kerf_vec left = one - right, top = one - low;
        if (want & FEW_DX)
            kerf_vec_store_quads(s->term_x + 4 * i, 4, top * left * g, top * right * g, low * left * g,
                                 low * right * g);
        if (want & FEW_DGRID) {
            kerf_vec upper[4], lower[4]; /* two of each are used */
            kerf_vec_load_quads_at(x, s->place + i, upper);
            kerf_vec_load_quads_at(below, s->place + i, lower);
            bilinear_slopes(upper[0] * g, upper[1] * g, lower[0] * g, lower[1] * g, right, low, &upper[2], &upper[3]);
            store_slopes_of(s, i, upper[2], upper[3]);
        }
    }
    if (!(want & FEW_DX))
        return;
    kerf_real *const dx = s->dx, *const dx_below = dx + s->frame->pitch;
    FOR_SAMPLES_APART(i, s->n) {
        const kerf_real *const term = s->term_x + 4 * i;
        kerf_real *const upper = dx + s->place[i], *const lower = dx_below + s->place[i];
        upper[0] += term[0];
        upper[1] += term[1];
        lower[0] += term[2];
        lower[1] += term[3];
    }
}

KERF_ALWAYS_INLINE void bicubic_single(few_strip *s, unsigned want) {
    const int64_t pitch = s->frame->pitch;
    for (int64_t i = 0; i < s->n; i += KERF_LANES) {
        const kerf_vec g = kerf_vec_load(s->grad + i), tx = kerf_vec_load(s->x_axis.t + i);
        const kerf_vec ty = kerf_vec_load(s->y_axis.t + i);
        kerf_vec weight[4];
        cubic_weights(tx, weight);
        if (want & FEW_DX)
            kerf_vec_store_quads(s->term_x + 4 * i, 4, weight[0], weight[1], weight[2], weight[3]);
        cubic_weights(ty, weight);
        for (int j = 0; j < 4; ++j)
            weight[j] *= g;
        if (want & FEW_DX)
            kerf_vec_store_quads(s->term_y + 4 * i, 4, weight[0], weight[1], weight[2], weight[3]);
        if (want & FEW_DGRID) {
            kerf_vec slope[4], column[4], column_y[4], pixel[4];
            cubic_slopes(ty, slope);
            for (int k = 0; k < 4; ++k)
                column[k] = column_y[k] = kerf_vec_set(0);
            for (int j = 0; j < 4; ++j) {
                kerf_vec_load_quads_at(s->x + j * pitch, s->place + i, pixel);
                slope[j] *= g;
                for (int k = 0; k < 4; ++k) {
                    column[k] = kerf_vec_fma(weight[j], pixel[k], column[k]);
                    column_y[k] = kerf_vec_fma(slope[j], pixel[k], column_y[k]);
                }
            }
            cubic_slopes(tx, slope);
            cubic_weights(tx, weight);
            store_slopes_of(s, i,
                            slope[0] * column[0] + slope[1] * column[1] + (slope[2] * column[2] + slope[3] * column[3]),
                            weight[0] * column_y[0] + weight[1] * column_y[1] +
                                (weight[2] * column_y[2] + weight[3] * column_y[3]));
        }
    }
    if (!(want & FEW_DX))
        return;
    FOR_SAMPLES_APART(i, s->n) {
        const kerf_quad weight = kerf_quad_load(s->term_x + 4 * i);
        kerf_real *const to = s->dx + s->place[i];
        for (int j = 0; j < 4; ++j)
            kerf_quad_store(to + j * pitch, kerf_quad_load(to + j * pitch) + s->term_y[4 * i + j] * weight);
    }
}

/* Two to four channels. */

KERF_ALWAYS_INLINE void bilinear_quads(few_strip *s, unsigned want) {
    const kerf_real *const x = s->x;
    kerf_real *const dx = s->dx;
    const int64_t pixel = s->frame->channels, row = pixel * s->frame->pitch;
    const kerf_vec one = kerf_vec_set(1);
    kerf_real weights[STRIP * 4];
    for (int64_t i = 0; i < s->n && want & FEW_DX; i += KERF_LANES) {
        const kerf_vec right = kerf_vec_load(s->x_axis.t + i), low = kerf_vec_load(s->y_axis.t + i);
        const kerf_vec left = one - right, top = one - low;
        kerf_vec_store_quads(weights + 4 * i, 4, top * left, top * right, low * left, low * right);
    }
    FOR_SAMPLES_APART(i, s->n) {
        const kerf_quad g = kerf_quad_load(s->grad + 4 * i);
        const kerf_real *const from = x + s->place[i];
        kerf_real *const to = dx + s->place[i];
        if (want & FEW_DGRID)
            kerf_quad_store(s->term_x + 4 * i,
                            kerf_quad_sum4(kerf_quad_load(from) * g, kerf_quad_load(from + pixel) * g,
                                           kerf_quad_load(from + row) * g, kerf_quad_load(from + row + pixel) * g));
        if (want & FEW_DX) {
            kerf_quad sum[4];
            for (int k = 0; k < 4; ++k)
                sum[k] = kerf_quad_load(to + k / 2 * row + k % 2 * pixel) + weights[4 * i + k] * g;
            for (int k = 0; k < 4; ++k)
                kerf_quad_store(to + k / 2 * row + k % 2 * pixel, sum[k]);
        }
    }
    for (int64_t i = 0; i < s->n && want & FEW_DGRID; i += KERF_LANES) {
        kerf_vec dot[4], slope_x, slope_y;
        kerf_vec_load_quads(s->term_x + 4 * i, 4, dot);
        bilinear_slopes(dot[0], dot[1], dot[2], dot[3], kerf_vec_load(s->x_axis.t + i), kerf_vec_load(s->y_axis.t + i),
                        &slope_x, &slope_y);
        store_slopes_of(s, i, slope_x, slope_y);
    }
}

KERF_ALWAYS_INLINE void bicubic_quads(few_strip *s, unsigned want) {
    const int64_t pixel = s->frame->channels, row = pixel * s->frame->pitch;
    find_cubic(s->n, &s->x_axis);
    find_cubic(s->n, &s->y_axis);
    FOR_SAMPLES_APART(i, s->n) {
        const kerf_quad g = kerf_quad_load(s->grad + 4 * i);
        const kerf_real *const from = s->x + s->place[i], *const weight_x = s->x_axis.weight + 4 * i;
        const kerf_real *const weight_y = s->y_axis.weight + 4 * i;
        kerf_real *const to = s->dx + s->place[i];
        kerf_quad weight[4];
        for (int j = 0; j < 4; ++j)
            weight[j] = weight_y[j] * g;
        if (want & FEW_DGRID) {
            kerf_quad column[4], column_y[4], sum_x = {0}, sum_y = {0};
            for (int j = 0; j < 4; ++j) {
                const kerf_quad slope = s->y_axis.slope[4 * i + j] * g;
                for (int k = 0; k < 4; ++k) {
                    const kerf_quad x = kerf_quad_load(from + j * row + pixel * k);
                    column[k] = j == 0 ? weight[0] * x : column[k] + weight[j] * x;
                    column_y[k] = j == 0 ? slope * x : column_y[k] + slope * x;
                }
            }
            for (int k = 0; k < 4; ++k) {
                sum_x += s->x_axis.slope[4 * i + k] * column[k];
                sum_y += weight_x[k] * column_y[k];
            }
            kerf_quad_store(s->term_x + 4 * i, sum_x);
            kerf_quad_store(s->term_y + 4 * i, sum_y);
        }
        for (int j = 0; j < 4 && want & FEW_DX; ++j) {
            kerf_quad sum[4];
            for (int k = 0; k < 4; ++k)
                sum[k] = kerf_quad_load(to + j * row + pixel * k) + weight_x[k] * weight[j];
            for (int k = 0; k < 4; ++k)
                kerf_quad_store(to + j * row + pixel * k, sum[k]);
        }
    }
    for (int64_t i = 0; i < s->n && want & FEW_DGRID; i += KERF_LANES) {
        kerf_vec x[4], y[4];
        kerf_vec_load_quads(s->term_x + 4 * i, 4, x);
        kerf_vec_load_quads(s->term_y + 4 * i, 4, y);
        store_slopes_of(s, i, (x[0] + x[1]) + (x[2] + x[3]), (y[0] + y[1]) + (y[2] + y[3]));
    }
}

/* The one tap of nearest; only dx depends on it. */
static void nearest_samples_of_few(few_strip *s) {
    if (s->frame->channels == 1)
        for (int64_t i = 0; i < s->n; ++i)
            s->dx[s->place[i]] += s->grad[i];
    else
        FOR_SAMPLES_APART(i, s->n) {
            kerf_real *const to = s->dx + s->place[i];
            kerf_quad_store(to, kerf_quad_load(to) + kerf_quad_load(s->grad + 4 * i));
        }
}

/* The taps of one axis that are there, from the strip: index, weight, and slope. */
static kerf_axis_taps careful_taps(const frame *f, const kerf_axis *axis, const strip_axis *strip, int64_t i) {
    const bool cubic = f->modes->interpolation == KERF_BICUBIC;
    const kerf_real cell = strip->cell[i], t = strip->t[i];
    kerf_real weight[4] = {1 - t, t}, slope[4] = {-1, 1};
    kerf_axis_taps taps = {.factor = strip->factor[i]};
    if (cubic) {
        kerf_cubic_weights(t, weight);
        kerf_cubic_slopes(t, slope);
    }
    if (!kerf_is_finite(cell) || (!cubic && !(cell >= -1 && cell <= axis->last)))
        return taps;
    const int64_t base = cubic ? kerf_axis_cubic_base(axis, f->modes->padding, cell) - 1 : (int64_t)cell;
    for (int64_t k = 0; k < f->taps; ++k) {
        const int64_t index = cubic ? kerf_axis_cubic_tap(axis, f->modes->padding, f->modes->corners, base + k)
                              : kerf_axis_holds(axis, base + k) ? base + k
                                                                : -1;
        if (index >= 0)
            kerf_axis_add_tap(&taps, index, weight[k], slope[k]);
    }
    return taps;
}

/* One sample, tap by tap. */
KERF_NEVER_INLINE void careful_sample(few_strip *s, int64_t i, unsigned want) {
    const frame *const f = s->frame;
    const kerf_axis_taps columns = careful_taps(f, &f->axis_x, &s->x_axis, i);
    const kerf_axis_taps rows = careful_taps(f, &f->axis_y, &s->y_axis, i);
    kerf_real sum_x = 0, sum_y = 0;
    for (int j = 0; j < rows.n && columns.n > 0; ++j)
        for (int k = 0; k < columns.n; ++k)
            for (int64_t c = 0; c < f->channels; ++c) {
                const kerf_real g = s->grad[f->channels == 1 ? i : 4 * i + c];
                if (want & FEW_DX)
                    frame_at(f, s->dx, rows.index[j], columns.index[k])[c] += rows.weight[j] * columns.weight[k] * g;
                if (want & FEW_DGRID) {
                    const kerf_real term = g * frame_at(f, s->x, rows.index[j], columns.index[k])[c];
                    sum_x += rows.weight[j] * columns.slope[k] * term;
                    sum_y += rows.slope[j] * columns.weight[k] * term;
                }
            }
    s->slope_x[i] = columns.factor * sum_x;
    s->slope_y[i] = rows.factor * sum_y;
}

static void be_careful(few_strip *s) {
    for (int64_t i = 0; i < s->n && s->want & FEW_DGRID; i += KERF_LANES) {
        const kerf_vec sum = kerf_vec_load(s->slope_x + i) + kerf_vec_load(s->slope_y + i);
        for (int64_t k = i; k < i + KERF_LANES && k < s->n && !kerf_vec_all(kerf_vec_le(sum, sum)); ++k)
            careful_sample(s, k, FEW_DGRID);
    }
    /* Bicubic puts taps of any distance on the image. */
    for (int64_t i = 0; i < s->n && frame_is_padded(s->frame); ++i)
        if (s->place[i] == 0)
            careful_sample(s, i, s->want);
}

#define FEW_FOR_WANT(samples, s)                                                                                       \
    ((s)->want == FEW_DX      ? samples(s, FEW_DX)                                                                     \
     : (s)->want == FEW_DGRID ? samples(s, FEW_DGRID)                                                                  \
                              : samples(s, FEW_DX | FEW_DGRID))

/* Adds the strip, whose cells and grad are there, to dx and leaves its dgrid. */
static void few_samples(few_strip *s) {
    const bool single = s->frame->channels == 1;
    find_places(s);
    if (s->frame->modes->interpolation == KERF_NEAREST) {
        nearest_samples_of_few(s);
        return;
    }
    if (s->frame->modes->interpolation == KERF_BILINEAR && single)
        FEW_FOR_WANT(bilinear_single, s);
    else if (s->frame->modes->interpolation == KERF_BILINEAR)
        FEW_FOR_WANT(bilinear_quads, s);
    else if (single)
        FEW_FOR_WANT(bicubic_single, s);
    else
        FEW_FOR_WANT(bicubic_quads, s);
    be_careful(s);
}

#endif
