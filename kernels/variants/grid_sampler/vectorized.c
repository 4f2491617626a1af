/* Three ways, chosen from the problem alone. Where the channels of x lie side by side: vectors over channels
 * (channels.h). Where its rows do: vectors over samples (planar.h); bicubic of many channels is packed to the first,
 * since its 16 taps cost more than moving x and y. Nearest copies elements (nearest.h) or whole pixels.
 *
 * x is read where it lies. In another type or other strides it is packed into the scratch, a block of channels of one
 * image at a time, and all ranks work on that block. Each element of y is computed by itself, so the bits depend
 * neither on the number of ranks nor on how the samples are shared out. */
#include "kernels/split.h"
#include "kernels/variants/grid_sampler/nearest.h"
#include "kernels/variants/grid_sampler/plan.h"

/* Channels of a unit of work. */
#define CHUNK_CHANNELS 8

typedef struct sample_job {
    const sample_plan *plan;
    const kerf_launch *launch;
    kerf_axis axis_x, axis_y;
    kerf_real *packed;
    /* What is at hand: channels of images. */
    int64_t image, n_images, channel, n_channels;
} sample_job;

static pixels image_of(const kerf_operand *operand, const void *data, int64_t n) {
    return pixels_of(&operand->at, operand->dtype, data, n, 2, 1);
}

static pixels points_of(const sample_job *job, int64_t n) {
    const kerf_operand *const grid = job->plan->grid;
    return pixels_of(&grid->at, grid->dtype, job->launch->in[KERF_GS_GRID], n, 1, 3);
}

/* ---- channels side by side ---------------------------------------------------------------------------------------
 */

static int64_t packed_pitch(const sample_job *job) {
    return (job->n_channels + 3) / 4 * 4;
}

/* Where x is read from, but for the channel. */
static void point_at_image(const sample_job *job, int64_t n, channel_strip *s, kerf_dtype *dtype) {
    const sample_plan *const plan = job->plan;
    const int64_t *const stride = plan->x->at.strides;
    if (plan->packs) {
        *dtype = KERF_CLASS == 0 ? KERF_F32 : KERF_F64;
        s->x = (const char *)job->packed;
        s->column = packed_pitch(job) * (int64_t)sizeof(kerf_real);
        s->row = s->column * plan->packed_columns;
        return;
    }
    const int64_t bytes = (int64_t)kerf_dtype_bytes(plan->x->dtype);
    *dtype = plan->x->dtype;
    s->x = (const char *)job->launch->in[KERF_GS_X] + (n * stride[0] + job->channel) * bytes;
    s->column = stride[3] * bytes;
    s->row = stride[2] * bytes;
}

/* Pixels of two or three channels, four elements apart in the buffer, to where they lie side by side: each quad ends in
 * the next pixel, which follows. */
KERF_ALWAYS_INLINE void store_dense_as(kerf_dtype dtype, int64_t channels, char *to, int64_t n, const kerf_real *from) {
    const int64_t bytes = bytes_of(dtype);
    for (int64_t i = 0; i < n - 1; ++i, to += channels * bytes, from += 4)
        kerf_quad_store_as(dtype, to, kerf_quad_load(from));
    for (int64_t c = 0; c < channels; ++c)
        kerf_real_store(dtype, to, c, from[c]);
}

static void store_buffer(const pixels *y, const kerf_real *buffer, int64_t first, int64_t n, int64_t channel,
                         int64_t channels, int64_t pitch) {
    if (channels < 4 && y->channel_stride == 1 && y->column_stride == channels) {
        for (int64_t done = 0, in_row; done < n; done += in_row) {
            char *const to = pixels_run(y, channel, first + done, n - done, &in_row);
            FOR_DTYPE(y->dtype, store_dense_as, channels, to, in_row, buffer + done * pitch);
        }
        return;
    }
    const pack_range range = {first, n, channel, channels, (kerf_real *)(uintptr_t)buffer, pitch};
    unpack(y, &range);
}

/* Channels of a strip to where they belong: directly where those of y lie side by side in the type of x. */
static void sample_channels(const sample_job *job, const pixels *y, kerf_dtype dtype, int64_t first, channel_strip *s) {
    const int64_t bytes = (int64_t)kerf_dtype_bytes(dtype), n_channels = job->n_channels;
    const bool direct = job->plan->direct && y->dtype == dtype;
    const int64_t block = direct ? MOST_CHANNELS : BLOCK;
    const char *const x = s->x;
    kerf_real buffer[(STRIP + KERF_LANES) * BLOCK];
    for (int64_t done = 0; done < n_channels; done += s->channels) {
        const int64_t rest = n_channels - done, channel = job->channel + done;
        int64_t in_row;
        s->channels = rest < block ? rest : block;
        /* A short rest would not fill a vector. */
        if (rest > block && rest < block + KERF_LANES)
            s->channels = block - KERF_LANES;
        s->width = s->channels < 4 ? 4 : s->channels;
        s->x = x + done * bytes;
        if (direct) {
            s->to = pixels_run(y, channel, first, s->n, &in_row);
            s->to_step = y->column_stride * bytes;
            blend_strip(dtype, s);
            continue;
        }
        const int64_t pitch = (s->width + 3) / 4 * 4;
        s->to = (char *)buffer;
        s->to_step = pitch * (int64_t)sizeof(kerf_real);
        blend_strip(dtype, s);
        store_buffer(y, buffer, first, s->n, channel, s->channels, pitch);
    }
    s->x = x;
}

static void run_strips(void *arg, int rank) {
    const sample_job *const job = arg;
    const sample_plan *const plan = job->plan;
    const int64_t n_strips = (plan->n_samples + STRIP - 1) / STRIP;
    channel_strip s = {.modes = plan->modes, .axis_x = &job->axis_x, .axis_y = &job->axis_y};
    s.fast_x = job->axis_x.last - (!plan->packs && plan->n_channels < 4 ? 1 : 0);
    int64_t number, end;
    kerf_team_share(job->n_images * n_strips, kerf_team_size(job->launch->team), rank, &number, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_COMPUTE);
    for (; number < end; ++number) {
        const int64_t n = job->image + number / n_strips, first = number % n_strips * STRIP;
        const pixels grid = points_of(job, n), y = image_of(plan->y, job->launch->out[KERF_GS_Y], n);
        kerf_dtype dtype;
        s.n = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        point_at_image(job, n, &s, &dtype);
        place_strip(&grid, first, &s);
        sample_channels(job, &y, dtype, first, &s);
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

/* pack() writes whole vectors of pixels, which must not reach into what another rank packs: ranks share vectors of one
 * long row, or rows, which then lie a vector apart. */
static void pack_channels(void *arg, int rank) {
    const sample_job *const job = arg;
    const sample_plan *const plan = job->plan;
    const pixels x = image_of(plan->x, job->launch->in[KERF_GS_X], job->image);
    const int n_ranks = kerf_team_size(job->launch->team);
    const int64_t pitch = packed_pitch(job), n_pixels = plan->height * plan->width;
    pack_range range = {.channel = job->channel, .channels = job->n_channels, .pitch = pitch};
    int64_t i, end;
    kerf_split_phase(job->launch, rank, KERF_SPLIT_PACK);
    if (x.rows == 1) {
        kerf_team_share((n_pixels + KERF_LANES - 1) / KERF_LANES, n_ranks, rank, &i, &end);
        range.first = i * KERF_LANES;
        range.n = (end * KERF_LANES < n_pixels ? end * KERF_LANES : n_pixels) - range.first;
        range.block = job->packed + range.first * pitch;
        pack(&x, &range);
    } else {
        kerf_team_share(plan->height, n_ranks, rank, &i, &end);
        for (; i < end; ++i) {
            range.first = i * plan->width;
            range.n = plan->width;
            range.block = job->packed + i * plan->packed_columns * pitch;
            pack(&x, &range);
        }
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

/* ---- planes ------------------------------------------------------------------------------------------------------
 */

/* Units are chunks of channels of a tile of an image; the tile stays while they follow each other. */
static void run_tiles(void *arg, int rank) {
    const sample_job *const job = arg;
    const sample_plan *const plan = job->plan;
    const int64_t *const stride = plan->x->at.strides, bytes = (int64_t)kerf_dtype_bytes(plan->x->dtype);
    const bool copies = plan->way == WAY_COPY;
    const int64_t tile_samples = copies ? COPY_TILE : TILE;
    const int64_t n_tiles = (plan->n_samples + tile_samples - 1) / tile_samples;
    const int64_t n_chunks = (job->n_channels + CHUNK_CHANNELS - 1) / CHUNK_CHANNELS;
    const int64_t row_stride = plan->packs ? plan->width : stride[2];
    union {
        tile blend;
        copy_tile copy;
    } t;
    int64_t unit, end, filled = -1;
    kerf_team_share(job->n_images * n_tiles * n_chunks, kerf_team_size(job->launch->team), rank, &unit, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_COMPUTE);
    for (; unit < end; ++unit) {
        const int64_t number = unit / n_chunks, n = job->image + number / n_tiles;
        const int64_t first = number % n_tiles * tile_samples, chunk = unit % n_chunks * CHUNK_CHANNELS;
        const int64_t rest = plan->n_samples - first, n_samples = rest < tile_samples ? rest : tile_samples;
        const int64_t last = chunk + CHUNK_CHANNELS < job->n_channels ? chunk + CHUNK_CHANNELS : job->n_channels;
        const pixels y = image_of(plan->y, job->launch->out[KERF_GS_Y], n);
        if (number != filled) {
            const pixels grid = points_of(job, n);
            if (copies)
                fill_copy_tile(&job->axis_x, &job->axis_y, plan->modes, &grid, first, n_samples, stride, &t.copy);
            else
                fill_tile(&job->axis_x, &job->axis_y, plan->modes, &grid, first, n_samples, row_stride, &t.blend);
            filled = number;
        }
        for (int64_t c = chunk; c < last; ++c) {
            const int64_t channel = job->channel + c;
            const char *const from =
                (const char *)job->launch->in[KERF_GS_X] + (n * stride[0] + channel * stride[1]) * bytes;
            const int64_t n_pixels = plan->height * plan->width, ahead = c + 1 < last ? 1 : 0;
            if (copies)
                copy_plane(&t.copy, from, ahead * stride[1], &y, channel, first);
            else if (plan->packs)
                blend_plane(&t.blend, job->packed + c * n_pixels, row_stride, ahead * n_pixels, &y, channel, first);
            else
                blend_plane(&t.blend, (const kerf_real *)(const void *)from, row_stride, ahead * stride[1], &y, channel,
                            first);
        }
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

KERF_ALWAYS_INLINE void convert_run(kerf_dtype dtype, const char *from, int64_t stride, int64_t n, kerf_real *to) {
    int64_t i = 0;
    for (; i + KERF_LANES <= n; i += KERF_LANES)
        kerf_vec_store(to + i, load_run(dtype, from + i * stride * bytes_of(dtype), stride, KERF_LANES));
    if (i < n) {
        kerf_real room[KERF_LANES];
        kerf_vec_store(room, load_run(dtype, from + i * stride * bytes_of(dtype), stride, n - i));
        memcpy(to + i, room, (size_t)(n - i) * sizeof *room);
    }
}

static void convert_planes(void *arg, int rank) {
    const sample_job *const job = arg;
    const sample_plan *const plan = job->plan;
    const pixels x = image_of(plan->x, job->launch->in[KERF_GS_X], job->image);
    const int64_t n_pixels = plan->height * plan->width;
    int64_t element, end, n;
    kerf_team_share(job->n_channels * n_pixels, kerf_team_size(job->launch->team), rank, &element, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_PACK);
    for (; element < end; element += n) {
        const int64_t c = element / n_pixels, pixel = element % n_pixels;
        const int64_t rest = n_pixels - pixel < end - element ? n_pixels - pixel : end - element;
        const char *const from = pixels_run(&x, job->channel + c, pixel, rest, &n);
        FOR_DTYPE(x.dtype, convert_run, from, x.column_stride, n, job->packed + element);
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

/* ---- variant ------------------------------------------------------------------------------------------------------
 */

/* A few samples of a huge image: copying it whole would cost far more memory and time than the samples do. */
static bool refuses(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    const sample_plan plan = plan_of(problem, config);
    const double n_pixels = (double)plan.height * (double)plan.width;
    if (plan.scratch_bytes <= MOST_SPARSE_BYTES || n_pixels <= PIXELS_PER_SAMPLE * (double)plan.n_samples)
        return false;
    kerf_text_printf(why, "would pack images of %.0f pixels, %zu bytes of scratch, for %lld samples each", n_pixels,
                     plan.scratch_bytes, (long long)plan.n_samples);
    return true;
}

static kerf_memory memory(const kerf_problem *problem, const kerf_config *config) {
    return (kerf_memory){.scratch_bytes = plan_of(problem, config).scratch_bytes, .alignment = 64};
}

static kerf_status run(const kerf_launch *launch) {
    const sample_plan plan = plan_of(launch->problem, launch->config);
    sample_job job = {.plan = &plan, .launch = launch, .packed = launch->scratch};
    if (!launch->out[KERF_GS_Y] || plan.n_images == 0 || plan.n_channels == 0 || plan.n_samples == 0)
        return KERF_OK;
    job.axis_y = kerf_axis_of(plan.height, plan.modes->corners);
    job.axis_x = kerf_axis_of(plan.width, plan.modes->corners);
    void (*const work)(void *, int) = plan.way == WAY_CHANNELS ? run_strips : run_tiles;
    if (!plan.packs) {
        job.n_images = plan.n_images;
        job.n_channels = plan.n_channels;
        kerf_team_run(launch->team, work, &job);
        return KERF_OK;
    }
    job.n_images = 1;
    for (job.image = 0; job.image < plan.n_images; ++job.image)
        for (job.channel = 0; job.channel < plan.n_channels; job.channel += plan.block) {
            const int64_t rest = plan.n_channels - job.channel;
            job.n_channels = rest < plan.block ? rest : plan.block;
            kerf_team_run(launch->team, plan.way == WAY_CHANNELS ? pack_channels : convert_planes, &job);
            kerf_team_run(launch->team, work, &job);
        }
    return KERF_OK;
}

static const kerf_parameter *const parameters[] = {
    KERF_PARAMETER("pack_from", FEW_CHANNELS, 2, 4, 8, 16, 32, 1 << 20), /* channels, from which on x is packed */
    KERF_PARAMETER("channel_block", BLOCK, 16, 32, 64, 128, 256),        /* channels that are packed together */
    NULL,
};
static const char *const constraints[] = {
    "channel_block == 64 || channel_block < 2 * C", /* what is beyond it means the same: all channels */
    NULL,
};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters, .constraints = constraints};

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "vectors over samples, or over channels where those lie side by side",
    .refuses = refuses,
    .space = &space,
    .memory = memory,
    .run = run,
};
