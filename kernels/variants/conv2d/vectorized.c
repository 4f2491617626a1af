/* conv2d directly, without any matrix in between: a tile of up to MOST_PIXELS outputs of one row times a block of two
 * vectors of filters stays in registers while its taps and channels are summed; each step is two loads of weights, a
 * broadcast of one channel of each pixel, and two fused operations with it. Depthwise: vectors of channels instead of
 * broadcasts. Weights are packed ahead (plan.h); x is copied only if its channels do not lie side by side or are not of
 * the working type.
 *
 * Each output is summed over u, v, c in this order, over the taps that lie inside of the image and no others, whatever
 * tile it falls into: at the borders a tile is worked off tap by tap, for those of its pixels that see the tap.
 * Cost: 2 N M Ho Wo C/G kh kw operations. Source: the blocking is that of Georganas et al. 2018 (arXiv 1808.05567). */
#include "kernels/variants/conv2d/plan.h"

#include "kernels/split.h"

enum { IMAGE_AUTO, IMAGE_PACKED };

typedef struct conv_job {
    const kerf_launch *launch;
    conv_plan plan;
    const conv_cell *image, *weights, *bias;
    conv_cell *packed_image;
    int64_t tile, rows; /* pixels of a tile at most, output rows of a piece of work */
    int64_t n_chunks;   /* pieces of an image */
} conv_job;

/* The sums of a tile. */
typedef struct conv_sums {
    _Alignas(64) conv_cell at[MOST_PIXELS][BLOCK];
} conv_sums;

/* Taps [rows[0], rows[1]) x [columns[0], columns[1]) of `n` pixels that are `step` cells apart. */
typedef struct conv_strip {
    const conv_cell *x, *w; /* of the first pixel at tap (0,0); of the block */
    int64_t rows[2], columns[2];
    int64_t row_step, column_step, step; /* between taps and between pixels, in cells of the image */
    int64_t n_columns, n_channels;
} conv_strip;

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

KERF_ALWAYS_INLINE void sum_strip(const int n, const bool depthwise, const conv_strip *strip,
                                  conv_cell (*sums)[BLOCK]) {
    kerf_vec low[MOST_PIXELS], high[MOST_PIXELS];
    const int64_t step = strip->step, n_channels = strip->n_channels;
#pragma GCC unroll 12
    for (int p = 0; p < n; ++p) {
        low[p] = kerf_vec_load(&sums[p][0].real);
        high[p] = kerf_vec_load(&sums[p][KERF_LANES].real);
    }
    for (int64_t u = strip->rows[0]; u < strip->rows[1]; ++u)
        for (int64_t v = strip->columns[0]; v < strip->columns[1]; ++v) {
            const kerf_real *x = &strip->x[u * strip->row_step + v * strip->column_step].real;
            const kerf_real *w = &strip->w[(u * strip->n_columns + v) * n_channels * BLOCK].real;
            for (int64_t c = 0; c < n_channels; ++c, ++x, w += BLOCK) {
                const kerf_vec w_low = kerf_vec_load(w), w_high = kerf_vec_load(w + KERF_LANES);
#pragma GCC unroll 12
                for (int p = 0; p < n; ++p) {
                    const kerf_real *const pixel = x + p * step;
                    low[p] = kerf_vec_fma(depthwise ? kerf_vec_load(pixel) : kerf_vec_set(*pixel), w_low, low[p]);
                    high[p] = kerf_vec_fma(depthwise ? kerf_vec_load(pixel + KERF_LANES) : kerf_vec_set(*pixel), w_high,
                                           high[p]);
                }
            }
        }
#pragma GCC unroll 12
    for (int p = 0; p < n; ++p) {
        kerf_vec_store(&sums[p][0].real, low[p]);
        kerf_vec_store(&sums[p][KERF_LANES].real, high[p]);
    }
}

/* Modulo 2^32, as the compiler makes vectors of it. */
static void sum_whole_strip(int64_t n, const conv_strip *strip, conv_cell (*sums)[BLOCK]) {
    for (int64_t u = strip->rows[0]; u < strip->rows[1]; ++u)
        for (int64_t v = strip->columns[0]; v < strip->columns[1]; ++v)
            for (int64_t c = 0; c < strip->n_channels; ++c) {
                const conv_cell *const x = &strip->x[u * strip->row_step + v * strip->column_step + c];
                const conv_cell *const w = &strip->w[((u * strip->n_columns + v) * strip->n_channels + c) * BLOCK];
                for (int64_t p = 0; p < n; ++p)
                    for (int lane = 0; lane < BLOCK; ++lane)
                        sums[p][lane].whole = (int32_t)((uint32_t)sums[p][lane].whole +
                                                        (uint32_t)(x[p * strip->step].whole * w[lane].whole));
            }
}

#define CASE(n, depthwise)                                                                                             \
    case n:                                                                                                            \
        sum_strip(n, depthwise, strip, sums);                                                                          \
        return;
#define CASES_6(depthwise)                                                                                             \
    CASE(1, depthwise)                                                                                                 \
    CASE(2, depthwise) CASE(3, depthwise) CASE(4, depthwise) CASE(5, depthwise) CASE(6, depthwise)
#if MOST_PIXELS == 6
#define CASES(depthwise) CASES_6(depthwise)
#elif MOST_PIXELS == 8
#define CASES(depthwise) CASES_6(depthwise) CASE(7, depthwise) CASE(8, depthwise)
#else
#define CASES(depthwise)                                                                                               \
    CASES_6(depthwise)                                                                                                 \
    CASE(7, depthwise)                                                                                                 \
    CASE(8, depthwise)                                                                                                 \
    CASE(9, depthwise) CASE(10, depthwise) CASE(11, depthwise) CASE(12, depthwise)
#endif

KERF_NEVER_INLINE void sum_dense_strip(int64_t n, const conv_strip *strip, conv_cell (*sums)[BLOCK]) {
    switch (n) {
        CASES(false)
    default:
        return;
    }
}

KERF_NEVER_INLINE void sum_depthwise_strip(int64_t n, const conv_strip *strip, conv_cell (*sums)[BLOCK]) {
    switch (n) {
        CASES(true)
    default:
        return;
    }
}

static void sum_any_strip(const conv_plan *plan, int64_t n, const conv_strip *strip, conv_cell (*sums)[BLOCK]) {
    if (plan->x->dtype == KERF_I8)
        sum_whole_strip(n, strip, sums);
    else if (plan->depthwise)
        sum_depthwise_strip(n, strip, sums);
    else
        sum_dense_strip(n, strip, sums);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

/* Taps of a row of y: where rows follow each other, all of the one there is. */
static void find_taps(const conv_plan *plan, int axis, int64_t out, int64_t taps[2]) {
    const bool merged = plan->height != plan->y->at.dims[2];
    taps[0] = 0;
    taps[1] = 1;
    if (!merged)
        kerf_conv2d_taps(plan->self, axis, plan->x->at.dims[axis + 2], plan->w->at.dims[axis + 2], out, &taps[0],
                         &taps[1]);
}

/* A tile whose pixels do not all see the same taps: tap by tap, each for the pixels that see it. */
static void sum_border(const conv_plan *plan, conv_strip strip, int64_t column, int64_t n, conv_cell (*sums)[BLOCK]) {
    const int64_t rows[2] = {strip.rows[0], strip.rows[1]};
    int64_t taps[MOST_PIXELS][2];
    for (int64_t p = 0; p < n; ++p)
        find_taps(plan, 1, column + p, taps[p]);
    const conv_cell *const first = strip.x;
    for (int64_t u = rows[0]; u < rows[1]; ++u)
        for (int64_t v = 0; v < strip.n_columns; ++v) {
            int64_t begin = 0, end = n;
            while (begin < n && !(v >= taps[begin][0] && v < taps[begin][1]))
                ++begin;
            while (end > begin && !(v >= taps[end - 1][0] && v < taps[end - 1][1]))
                --end;
            if (begin == end)
                continue;
            strip.rows[0] = u;
            strip.rows[1] = u + 1;
            strip.columns[0] = v;
            strip.columns[1] = v + 1;
            strip.x = first + begin * strip.step;
            sum_any_strip(plan, end - begin, &strip, sums + begin);
        }
}

static void store_tile(const conv_job *job, int64_t offset, int64_t n, int64_t n_lanes, conv_cell (*sums)[BLOCK]) {
    const kerf_operand *const y = job->plan.y;
    const int64_t filter_step = y->at.strides[1], pixel_step = y->at.strides[3];
    for (int64_t p = 0; p < n; ++p) {
        const int64_t at = offset + p * pixel_step;
        char *const to = (char *)job->launch->out[0] + at * (int64_t)kerf_dtype_bytes(y->dtype);
        if (y->dtype == KERF_I32) {
            for (int64_t lane = 0; lane < n_lanes; ++lane)
                ((int32_t *)job->launch->out[0])[at + lane * filter_step] = sums[p][lane].whole;
        } else if (filter_step == 1 && n_lanes == BLOCK) {
            kerf_vec_store_as(y->dtype, to, kerf_vec_load(&sums[p][0].real));
            kerf_vec_store_as(y->dtype, to + KERF_LANES * kerf_dtype_bytes(y->dtype),
                              kerf_vec_load(&sums[p][KERF_LANES].real));
        } else {
            for (int64_t lane = 0; lane < n_lanes; ++lane)
                kerf_real_store(y->dtype, job->launch->out[0], at + lane * filter_step, sums[p][lane].real);
        }
    }
}

/* One row of y for one block of filters. */
static void convolve_row(const conv_job *job, int64_t image, int64_t block_number, int64_t row) {
    const conv_plan *const plan = &job->plan;
    const kerf_conv2d *const self = plan->self;
    const int64_t group = block_number / plan->n_blocks, block = block_number % plan->n_blocks;
    const int64_t left = plan->n_filters - block * BLOCK, n_lanes = left < BLOCK ? left : BLOCK;
    const int64_t channel = plan->depthwise ? block * BLOCK : group * plan->n_channels;
    const int64_t *const y_strides = plan->y->at.strides;
    conv_strip strip = {.w = job->weights + block_number * plan->weight_cells,
                        .row_step = self->dilation[0] * plan->image[2],
                        .column_step = self->dilation[1] * plan->image[3],
                        .step = self->stride[1] * plan->image[3],
                        .n_columns = plan->w->at.dims[3],
                        .n_channels = plan->n_channels};
    find_taps(plan, 0, row, strip.rows);
    const int64_t x_row = row * self->stride[0] - self->pads[KERF_TOP];
    const int64_t y_offset =
        image * y_strides[0] + (group * plan->n_filters + block * BLOCK) * y_strides[1] + row * y_strides[2];
    const int64_t n_tiles = (plan->width + job->tile - 1) / job->tile;
    conv_sums sums;
    for (int64_t tile = 0; tile < n_tiles; ++tile) {
        int64_t column, end, first[2], last[2];
        kerf_team_share(plan->width, n_tiles, tile, &column, &end);
        for (int64_t p = 0; p < end - column; ++p)
            memcpy(sums.at[p], job->bias + block_number * BLOCK, sizeof sums.at[p]);
        find_taps(plan, 1, column, first);
        find_taps(plan, 1, end - 1, last);
        strip.x = job->image + (image * plan->image[0] + channel + x_row * plan->image[2] +
                                (column * self->stride[1] - self->pads[KERF_LEFT]) * plan->image[3]);
        strip.columns[0] = 0;
        strip.columns[1] = strip.n_columns;
        if (first[0] == 0 && first[1] == strip.n_columns && last[0] == 0 && last[1] == strip.n_columns)
            sum_any_strip(plan, end - column, &strip, sums.at);
        else
            sum_border(plan, strip, column, end - column, sums.at);
        store_tile(job, y_offset + column * y_strides[3], end - column, n_lanes, sums.at);
    }
}

/* Pieces of work are some rows of one image times one block, the blocks of the same rows after each other. */
static void convolve_share(void *arg, int rank) {
    const conv_job *const job = arg;
    const conv_plan *const plan = &job->plan;
    const int64_t n_blocks = plan->n_groups * plan->n_blocks;
    int64_t piece, end;
    kerf_split_phase(job->launch, rank, KERF_SPLIT_COMPUTE);
    kerf_team_share(plan->y->at.dims[0] * job->n_chunks * n_blocks, kerf_team_size(job->launch->team), rank, &piece,
                    &end);
    for (; piece < end; ++piece) {
        const int64_t chunk = piece / n_blocks, first = chunk % job->n_chunks * job->rows;
        const int64_t last = first + job->rows < plan->height ? first + job->rows : plan->height;
        for (int64_t row = first; row < last; ++row)
            convolve_row(job, chunk / job->n_chunks, piece % n_blocks, row);
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

/* ---- packing ---------------------------------------------------------------------------------------------------- */

static conv_cell load_cell(const kerf_operand *operand, const void *data, int64_t offset) {
    if (operand->dtype == KERF_I8)
        return (conv_cell){.whole = ((const int8_t *)data)[offset]};
    if (operand->dtype == KERF_I32)
        return (conv_cell){.whole = ((const int32_t *)data)[offset]};
    return (conv_cell){.real = kerf_real_load(operand->dtype, data, offset)};
}

static void pack_share(void *arg, int rank) {
    const conv_job *const job = arg;
    const conv_plan *const plan = &job->plan;
    const kerf_strided *const x = &plan->x->at;
    int64_t row, end;
    kerf_split_phase(job->launch, rank, KERF_SPLIT_PACK);
    kerf_team_share(x->dims[0] * x->dims[2], kerf_team_size(job->launch->team), rank, &row, &end);
    for (; row < end; ++row)
        for (int64_t column = 0; column < x->dims[3]; ++column) {
            const int64_t from =
                row / x->dims[2] * x->strides[0] + row % x->dims[2] * x->strides[2] + column * x->strides[3];
            conv_cell *const to = job->packed_image + row * plan->image[2] + column * plan->image[3];
            for (int64_t c = 0; c < plan->image[3]; ++c)
                to[c] = c < x->dims[1] ? load_cell(plan->x, job->launch->in[KERF_CONV2D_X], from + c * x->strides[1])
                                       : (conv_cell){0};
        }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

static void pack_block(const conv_plan *plan, const void *const in[], int64_t group, int64_t block, conv_cell *to) {
    const kerf_strided *const w = &plan->w->at;
    for (int64_t u = 0; u < w->dims[2]; ++u)
        for (int64_t v = 0; v < w->dims[3]; ++v)
            for (int64_t c = 0; c < plan->n_channels; ++c)
                for (int64_t lane = 0; lane < BLOCK; ++lane) {
                    const int64_t filter = filter_in_group(block, lane);
                    const int64_t from = (group * plan->n_filters + filter) * w->strides[0] + c * w->strides[1] +
                                         u * w->strides[2] + v * w->strides[3];
                    *to++ = filter < plan->n_filters ? load_cell(plan->w, in[KERF_CONV2D_W], from) : (conv_cell){0};
                }
}

static kerf_status prepare(const kerf_launch *launch, void *packed) {
    conv_plan plan;
    if (!packed || !plan_of(launch->problem, kerf_config_get(launch->config, "image", IMAGE_AUTO), &plan))
        return KERF_OK;
    const int64_t n_blocks = plan.n_groups * plan.n_blocks;
    conv_cell *const weights = packed, *const bias = weights + n_blocks * plan.weight_cells;
    for (int64_t number = 0; number < n_blocks; ++number) {
        const int64_t group = number / plan.n_blocks, block = number % plan.n_blocks;
        pack_block(&plan, launch->in, group, block, weights + number * plan.weight_cells);
        for (int64_t lane = 0; lane < BLOCK; ++lane) {
            const int64_t filter = filter_in_group(block, lane);
            const bool there = plan.bias && filter < plan.n_filters;
            bias[number * BLOCK + lane] = there
                                              ? load_cell(plan.bias, launch->in[KERF_CONV2D_BIAS],
                                                          (group * plan.n_filters + filter) * plan.bias->at.strides[0])
                                              : (conv_cell){0};
        }
    }
    return KERF_OK;
}

/* ---- the variant ------------------------------------------------------------------------------------------------ */

static const kerf_parameter *const parameters[] = {
#if MOST_PIXELS == 6
    KERF_PARAMETER("tile", 6, 3, 4, 5, 6),
#else
    KERF_PARAMETER("tile", MOST_PIXELS, 4, 6, 8, MOST_PIXELS),
#endif
    KERF_PARAMETER("rows", 0, 0, 1, 2, 4, 8, 16, 64),
    KERF_CHOICE("image", "auto", "packed"),
    NULL,
};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters};

static kerf_memory memory(const kerf_problem *problem, const kerf_config *config) {
    conv_plan plan;
    int64_t cells, n_blocks, packed = 0, scratch = 0;
    const bool fits = plan_of(problem, kerf_config_get(config, "image", IMAGE_AUTO), &plan) &&
                      kerf_mul_i64(plan.n_groups, plan.n_blocks, &n_blocks) &&
                      kerf_add_i64(plan.weight_cells, BLOCK, &cells) && kerf_mul_i64(cells, n_blocks, &cells) &&
                      kerf_mul_i64(cells, sizeof(conv_cell), &packed) &&
                      kerf_mul_i64(plan.image_cells, sizeof(conv_cell), &scratch);
    return (kerf_memory){.packed_bytes = fits ? (size_t)packed : SIZE_MAX,
                         .scratch_bytes = fits ? (size_t)scratch : SIZE_MAX,
                         .alignment = 64};
}

/* Rows of y whose part of x takes half of a usual second-level cache, and that give each rank some pieces. */
static int64_t rows_of(const conv_plan *plan, int n_ranks) {
    const int64_t cache_bytes = 256 << 10;
    const int64_t row_bytes = plan->image[3] * plan->x->at.dims[3] * plan->self->stride[0] * (int64_t)sizeof(conv_cell);
    const int64_t fit = plan->height != plan->y->at.dims[2] || row_bytes == 0 ? plan->height : cache_bytes / row_bytes;
    const int64_t fair = (plan->height + n_ranks - 1) / n_ranks;
    const int64_t rows = fit < fair ? fit : fair;
    return rows > 1 ? rows : 1;
}

static kerf_status run(const kerf_launch *launch) {
    conv_job job = {.launch = launch, .weights = launch->packed};
    int64_t n_out;
    if (!launch->out[0] || !kerf_strided_count(&launch->problem->out[0]->at, &n_out) || n_out == 0 ||
        !plan_of(launch->problem, kerf_config_get(launch->config, "image", IMAGE_AUTO), &job.plan))
        return KERF_OK;
    const conv_plan *const plan = &job.plan;
    job.bias = job.weights + plan->n_groups * plan->n_blocks * plan->weight_cells;
    job.tile = kerf_config_get(launch->config, "tile", MOST_PIXELS);
    job.rows = kerf_config_get(launch->config, "rows", 0);
    if (job.rows == 0)
        job.rows = rows_of(plan, kerf_team_size(launch->team));
    job.n_chunks = (plan->height + job.rows - 1) / job.rows;
    job.image = launch->in[KERF_CONV2D_X];
    if (!plan->in_place) {
        job.packed_image = launch->scratch;
        job.image = launch->scratch;
        kerf_team_run(launch->team, pack_share, &job);
    }
    kerf_team_run(launch->team, convolve_share, &job);
    return KERF_OK;
}

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .traits = KERF_TRAIT_SLICE_INVARIANT,
    .summary = "register tiles of pixels and filters, weights packed ahead",
    .space = &space,
    .memory = memory,
    .prepare = prepare,
    .run = run,
};
