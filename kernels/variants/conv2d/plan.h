/* How vectorized.c sees a problem: filters in blocks of two vectors, the image as rows of pixels with all channels side
 * by side, tiles of a few pixels of one output row. Weights lie ahead of the run in
 *   [block][kh][kw][channel of the group][BLOCK], then the bias [block][BLOCK],
 * where blocks begin anew with each group and what is behind its last filter is 0. */
#ifndef KERF_VARIANTS_CONV2D_PLAN_H
#define KERF_VARIANTS_CONV2D_PLAN_H

#include "base/checked.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/vector.h"

#define BLOCK (2 * KERF_LANES)
#if defined(__AVX512F__)
#define MOST_PIXELS 12
#elif defined(__AVX2__)
#define MOST_PIXELS 6
#else
#define MOST_PIXELS 8
#endif

/* What all kernels of a row work on; i8 is widened to i32, which is as wide. */
typedef union conv_cell {
    kerf_real real;
    int32_t whole;
} conv_cell;

typedef struct conv_plan {
    const kerf_conv2d *self;
    const kerf_operand *x, *w, *bias, *y; /* bias NULL: there is none */
    int64_t n_groups, n_blocks;           /* blocks of one group */
    int64_t n_channels;                   /* of one group */
    int64_t n_filters;                    /* of one group */
    bool depthwise;                       /* one filter for each channel: a block is one of channels */
    bool in_place;                        /* x is read where it lies */
    int64_t image[4];                     /* strides along N, channels, H, W of what is read */
    int64_t image_cells;                  /* of the packed image */
    int64_t weight_cells;                 /* of one block */
    int64_t height, width;                /* of y; 1 and all pixels where rows follow each other */
} conv_plan;

static bool has_unit_stride(const kerf_strided *at, int axis) {
    return at->dims[axis] == 1 || at->strides[axis] == 1;
}

static inline int64_t round_up(int64_t value, int64_t to) {
    return (value + to - 1) / to * to;
}

/* x as it lies, or as rows of pixels whose channels fill whole blocks where a kernel reads blocks of them. */
static bool plan_image(conv_plan *plan, int64_t image_choice) {
    const kerf_strided *const x = &plan->x->at;
    const bool readable = plan->x->dtype == (sizeof(kerf_real) == sizeof(float) ? KERF_F32 : KERF_F64) &&
                          has_unit_stride(x, 1) && (!plan->depthwise || x->dims[1] % BLOCK == 0);
    plan->in_place = readable && image_choice != 1;
    if (plan->in_place) {
        for (int axis = 0; axis < 4; ++axis)
            plan->image[axis] = axis == 1 ? 1 : x->strides[axis];
        return true;
    }
    plan->image[1] = 1;
    if (!kerf_add_i64(x->dims[1], plan->depthwise ? BLOCK - 1 : 0, &plan->image[3]))
        return false;
    plan->image[3] = plan->depthwise ? plan->image[3] / BLOCK * BLOCK : plan->image[3];
    return kerf_mul_i64(plan->image[3], x->dims[3], &plan->image[2]) &&
           kerf_mul_i64(plan->image[2], x->dims[2], &plan->image[0]) &&
           kerf_mul_i64(plan->image[0], x->dims[0], &plan->image_cells);
}

/* 1 x 1 kernels on rows that follow each other see one long row. */
static void plan_rows(conv_plan *plan) {
    const kerf_conv2d *const self = plan->self;
    const int64_t *const x = plan->x->at.dims, *const y = plan->y->at.dims, *const strides = plan->y->at.strides;
    plan->height = y[2];
    plan->width = y[3];
    if (plan->w->at.dims[2] == 1 && plan->w->at.dims[3] == 1 && x[2] == y[2] && x[3] == y[3] && self->stride[0] == 1 &&
        self->stride[1] == 1 && plan->image[2] == x[3] * plan->image[3] && strides[2] == y[3] * strides[3]) {
        plan->width = y[2] * y[3];
        plan->height = 1;
    }
}

/* False: a size overflows. */
static bool plan_of(const kerf_problem *problem, int64_t image_choice, conv_plan *plan) {
    *plan = (conv_plan){
        .self = problem->self, .x = problem->in[KERF_CONV2D_X], .w = problem->in[KERF_CONV2D_W], .y = problem->out[0]};
    if (plan->self->has_bias)
        plan->bias = problem->in[KERF_CONV2D_BIAS];
    const int64_t *const w = plan->w->at.dims, n_groups = plan->self->groups;
    plan->depthwise = w[1] == 1 && n_groups > 1 && w[0] == n_groups && plan->x->dtype != KERF_I8;
    plan->n_groups = plan->depthwise ? 1 : n_groups;
    plan->n_channels = w[1];
    plan->n_filters = w[0] / plan->n_groups;
    plan->n_blocks = plan->n_filters / BLOCK + (plan->n_filters % BLOCK != 0);
    int64_t taps;
    if (!kerf_mul_i64(w[2], w[3], &taps) || !kerf_mul_i64(taps, plan->n_channels, &taps) ||
        !kerf_mul_i64(taps, BLOCK, &plan->weight_cells) || !plan_image(plan, image_choice))
        return false;
    plan_rows(plan);
    return true;
}

/* Filter of lane `lane` of a block; n_filters or more: none. */
static inline int64_t filter_in_group(int64_t block, int64_t lane) {
    return block * BLOCK + lane;
}

#endif
