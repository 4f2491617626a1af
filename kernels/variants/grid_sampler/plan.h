/* Which of the ways a problem goes, and what it takes. Depends on the problem and the config only. */
#ifndef KERF_GRID_SAMPLER_PLAN_H
#define KERF_GRID_SAMPLER_PLAN_H

#include "base/checked.h"
#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/variants/grid_sampler/channels.h"
#include "kernels/variants/grid_sampler/planar.h"

typedef enum sample_way {
    WAY_CHANNELS, /* channels.h */
    WAY_PLANAR,   /* planar.h */
    WAY_COPY      /* nearest.h */
} sample_way;

/* From so many on, moving x to channels side by side and y back costs less than it gains. */
#define FEW_CHANNELS 8
/* Channels that are worked on together where results pass through a buffer, and usually packed together. */
#define BLOCK 64
/* Bytes of planes that are converted together: some of the L2 cache. */
#define PLANES_BYTES (1 << 20)

/* Beyond both, packing is refused: see refuses(). */
#define MOST_SPARSE_BYTES ((size_t)1 << 30)
#define PIXELS_PER_SAMPLE 64

typedef struct sample_plan {
    const kerf_grid_sampler_modes *modes;
    const kerf_operand *x, *grid, *y;
    sample_way way;
    bool direct;                                            /* y needs no buffer, if it is of the type of x */
    bool packs;                                             /* x, into the scratch */
    int64_t n_images, n_channels, height, width, n_samples; /* samples of one image */
    int64_t packed_columns;                                 /* from row to row of what is packed, in pixels */
    int64_t block;                                          /* channels that are packed together */
    size_t scratch_bytes;                                   /* SIZE_MAX: overflow */
} sample_plan;

static bool is_working(const kerf_operand *operand) {
    return kerf_dtype_bytes(operand->dtype) == sizeof(kerf_real);
}

/* Two or three channels: a quad ends in the next pixel. */
static bool channels_lie_together(const kerf_operand *operand) {
    const int64_t n_channels = operand->at.dims[1], step = operand->at.strides[3];
    return n_channels > 1 && operand->at.strides[1] == 1 && (n_channels >= 4 || step >= n_channels);
}

/* Results go where they belong without a buffer: one long row of pixels, whose channels fill quads or are copied. */
static bool goes_directly(const kerf_operand *y, kerf_interpolation interpolation) {
    const bool one_row = y->at.dims[2] == 1 || y->at.strides[2] == y->at.dims[3] * y->at.strides[3];
    return channels_lie_together(y) && one_row && (y->at.dims[1] >= 4 || interpolation == KERF_NEAREST);
}

static void choose_way(sample_plan *plan, int64_t few_channels) {
    const kerf_operand *const x = plan->x;
    const kerf_interpolation interpolation = plan->modes->interpolation;
    const bool together = channels_lie_together(x), in_rows = is_working(x) && x->at.strides[3] == 1;
    plan->direct = goes_directly(plan->y, interpolation);
    if (interpolation == KERF_NEAREST) {
        plan->way = together && plan->direct ? WAY_CHANNELS : WAY_COPY;
        return;
    }
    const bool fits = can_window(plan->modes, plan->height, plan->width, in_rows ? x->at.strides[2] : plan->width);
    plan->way = together || plan->n_channels >= few_channels || !fits ? WAY_CHANNELS : WAY_PLANAR;
    if (plan->way == WAY_PLANAR)
        plan->packs = !in_rows;
    else
        plan->packs = !together || !(is_working(x) || plan->direct);
}

static sample_plan plan_of(const kerf_problem *problem, const kerf_config *config) {
    sample_plan plan = {.modes = problem->self, .x = problem->in[KERF_GS_X], .grid = problem->in[KERF_GS_GRID]};
    plan.y = problem->out[KERF_GS_Y];
    plan.n_images = plan.x->at.dims[0];
    plan.n_channels = plan.x->at.dims[1];
    plan.height = plan.x->at.dims[2];
    plan.width = plan.x->at.dims[3];
    plan.n_samples = plan.grid->at.dims[1] * plan.grid->at.dims[2];
    choose_way(&plan, kerf_config_get(config, "pack_from", FEW_CHANNELS));
    if (!plan.packs || plan.n_samples == 0 || plan.n_images == 0 || plan.n_channels == 0)
        return plan;
    size_t n_pixels, elements;
    const bool one_row = plan.height == 1 || plan.x->at.strides[2] == plan.width * plan.x->at.strides[3];
    plan.packed_columns = plan.width + (plan.way == WAY_CHANNELS && !one_row ? KERF_LANES : 0);
    if (!kerf_mul_size((size_t)plan.height, (size_t)plan.packed_columns, &n_pixels) ||
        !kerf_add_size(n_pixels, KERF_LANES, &n_pixels)) {
        plan.scratch_bytes = SIZE_MAX;
        return plan;
    }
    int64_t most = kerf_config_get(config, "channel_block", BLOCK);
    if (plan.way == WAY_PLANAR)
        most = n_pixels * sizeof(kerf_real) > PLANES_BYTES ? 1 : (int64_t)(PLANES_BYTES / sizeof(kerf_real) / n_pixels);
    plan.block = plan.n_channels < most ? plan.n_channels : most;
    const int64_t pitch = plan.way == WAY_PLANAR ? plan.block : (plan.block + 3) / 4 * 4;
    if (!kerf_mul_size(n_pixels, (size_t)pitch, &elements) ||
        !kerf_mul_size(elements, sizeof(kerf_real), &plan.scratch_bytes))
        plan.scratch_bytes = SIZE_MAX;
    return plan;
}

#endif
