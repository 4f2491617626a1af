/* Vectors over channels. The unit of work is a block of channels of one image: x and grad are transposed so that the
 * channels of a pixel lie side by side, dx is summed in the same layout and transposed back. An operand that already
 * lies so (channels-last, of the working type, whole vectors) is used in place.
 *
 * Cells and weights of a strip of samples are computed in vectors over the samples, grad is transposed a strip at a
 * time. The block is chosen from the problem alone, small enough for x and dx to stay in the L2 cache: ranks share the
 * blocks out and no element is written by two. With several blocks each leaves its part of dgrid in the scratch, and
 * these are added in the order of the blocks, so the bits do not depend on the number of ranks. Cost per sample, block
 * and tap: a load of x, a load and a store of dx, two multiply-adds per vector of channels. */
#include "base/checked.h"
#include "kernels/split.h"
#include "kernels/variants/grid_sampler_grad/few_channels.h"
#include "kernels/variants/grid_sampler_grad/pack.h"
#include "kernels/variants/grid_sampler_grad/taps.h"

#define WHOLE       (KERF_LANES > 4 ? KERF_LANES : 4) /* channels that blocks are multiples of */
#define LINE        (64 / (int)sizeof(kerf_real))     /* channels in a cache line */
#define CACHE_BYTES ((int64_t)1 << 20)                /* of packed x and dx that a block may take, in the L2 cache */
#define PLANES      (2 * LINE)                        /* channels that are packed together: enough pages for the TLB */
#define MAX_SLOTS   64

/* Windows (window.h) are for images of more bytes a block and of so many channels; every row number below is a real. */
#define WINDOW_BYTES          (1 << 15)
#define WINDOW_BYTES_IN_PLACE (1 << 20)
#define FEW_CHANNELS          16
#define MOST_ROWS             (1 << 22)

/* Beyond both, packing is refused: see refuses(). */
#define MOST_SPARSE_BYTES ((size_t)1 << 30)
#define PIXELS_PER_SAMPLE 64

/* How a problem is cut; depends on problem and config only. */
typedef struct grad_plan {
    const kerf_grid_sampler_modes *modes;
    const kerf_operand *grad, *x, *grid, *dx, *dgrid;
    unsigned want;
    int64_t n_images, n_channels, n_samples; /* samples of one image */
    int64_t block, n_blocks;
    int64_t n_slots; /* ranks that can work at once */
    bool x_in_place, dx_in_place, grad_in_place;
    bool parts;        /* dgrid is the sum of parts, one per block */
    int64_t n_spans;   /* strips of an image whose rows are found first; 0: all rows are at hand at all times */
    kerf_strided x_at; /* x without the axes along which it repeats itself */
    size_t x_elements, dx_elements, grad_elements, slot_elements; /* of the scratch of one rank; SIZE_MAX: overflow */
} grad_plan;

typedef struct grad_job {
    const grad_plan *plan;
    const kerf_launch *launch;
    kerf_axis axis_x, axis_y;
    int n_ranks;
    kerf_real *slots, *parts;
    row_span *spans; /* n_spans of each image */
} grad_job;

static int64_t round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

static int64_t padded_width(int64_t n_channels) {
    return n_channels > KERF_LANES / 2 ? round_up(n_channels, WHOLE) : round_up(n_channels, 4);
}

static bool channels_in_place(const kerf_operand *operand) {
    return operand->at.strides[1] == 1 && operand->at.dims[1] % WHOLE == 0 &&
           kerf_dtype_bytes(operand->dtype) == sizeof(kerf_real);
}

/* Channels of a unit. Where nothing is packed all of them: the channels of a pixel follow each other in memory, narrow
 * blocks would leave most sets of the caches unused, and two ranks would pull neighbouring lines from each other.
 * Packed, as many as stay in the cache, and fewer where there would be work for one rank only. */
static int64_t choose_block(const grad_plan *plan, int64_t wanted) {
    const int64_t channels = padded_width(plan->n_channels);
    const bool packs = !plan->grad_in_place || !plan->x_in_place || !plan->dx_in_place;
    int64_t block = wanted > 0 ? round_up(wanted, WHOLE) : packs ? PLANES : channels;
    if (wanted == 0 && packs) {
        const double n_pixels = (double)plan->x_at.dims[2] * (double)plan->x_at.dims[3] +
                                (double)plan->dx->at.dims[2] * (double)plan->dx->at.dims[3];
        if (n_pixels * sizeof(kerf_real) * PLANES > (double)CACHE_BYTES || (plan->n_images == 1 && block >= channels))
            block = LINE;
    }
    return block < channels ? block : channels > 0 ? channels : 1;
}

static size_t block_elements(int64_t rows, int64_t columns, int64_t width) {
    size_t n_pixels, elements;
    if (!kerf_mul_size((size_t)rows, (size_t)columns, &n_pixels) || !kerf_add_size(n_pixels, KERF_LANES, &n_pixels) ||
        !kerf_mul_size(n_pixels, (size_t)width, &elements) || elements > SIZE_MAX / 64)
        return SIZE_MAX / 64; /* the sum of three does not overflow; no machine has it */
    return (elements + LINE - 1) / LINE * LINE;
}

/* Finding the rows costs about as much as a few channels do. */
static bool worth_windows(const grad_plan *plan) {
    const double height = (double)plan->dx->at.dims[2], n_pixels = height * (double)plan->dx->at.dims[3];
    const bool in_place = plan->x_in_place && plan->dx_in_place;
    return plan->n_channels >= FEW_CHANNELS && height < MOST_ROWS &&
           n_pixels * (double)plan->block * sizeof(kerf_real) >= (in_place ? WINDOW_BYTES_IN_PLACE : WINDOW_BYTES);
}

static grad_plan plan_of(const kerf_problem *problem, const kerf_config *config) {
    grad_plan plan = {.modes = problem->self, .want = (unsigned)problem->want};
    plan.grad = problem->in[KERF_GSG_GRAD];
    plan.x = problem->in[KERF_GSG_X];
    plan.grid = problem->in[KERF_GSG_GRID];
    plan.dx = problem->out[KERF_GSG_DX];
    plan.dgrid = problem->out[KERF_GSG_DGRID];
    plan.n_images = plan.x->at.dims[0];
    plan.n_channels = plan.x->at.dims[1];
    plan.n_samples = plan.grid->at.dims[1] * plan.grid->at.dims[2];
    plan.x_at = kerf_strided_unique(&plan.x->at);
    const bool dgrid_from_x = plan.want & WANT_DGRID && plan.modes->interpolation != KERF_NEAREST;
    if (!dgrid_from_x)
        plan.want &= WANT_DX;
    plan.x_in_place = channels_in_place(plan.x);
    plan.dx_in_place = channels_in_place(plan.dx);
    plan.grad_in_place = channels_in_place(plan.grad);
    plan.block = choose_block(&plan, kerf_config_get(config, "channel_block", 0));
    plan.n_blocks = (plan.n_channels + plan.block - 1) / plan.block;
    /* Ranks that add to neighbouring lines of one pixel would take them from each other at every sample. */
    plan.dx_in_place = plan.dx_in_place && plan.n_blocks <= 1;
    plan.parts = dgrid_from_x && plan.n_blocks > 1;
    const int64_t width = plan.block < plan.n_channels ? plan.block : padded_width(plan.n_channels);
    if (dgrid_from_x && !plan.x_in_place)
        plan.x_elements = block_elements(plan.x_at.dims[2], plan.x_at.dims[3], width);
    if (plan.want & WANT_DX && !plan.dx_in_place)
        plan.dx_elements = block_elements(plan.dx->at.dims[2], plan.dx->at.dims[3], width);
    plan.grad_elements = plan.grad_in_place ? 0 : block_elements(1, CHUNK, width);
    plan.slot_elements = plan.x_elements + plan.dx_elements + plan.grad_elements + block_elements(1, 4, width);
    if (worth_windows(&plan))
        plan.n_spans = (plan.n_samples + STRIP - 1) / STRIP;
    plan.n_slots = plan.n_images * plan.n_blocks < MAX_SLOTS ? plan.n_images * plan.n_blocks : MAX_SLOTS;
    return plan;
}

typedef struct unit {
    int64_t n, block; /* which image, which block of channels */
    int64_t channel, channels, width;
} unit;

static unit unit_of(const grad_plan *plan, int64_t number) {
    unit u = {.n = number / plan->n_blocks, .block = number % plan->n_blocks};
    u.channel = u.block * plan->block;
    u.channels = plan->n_channels - u.channel < plan->block ? plan->n_channels - u.channel : plan->block;
    u.width = padded_width(u.channels);
    return u;
}

/* What a unit works on: the rows of x and dx that are at hand, see window.h. */
typedef struct window {
    image x, dx;
    int64_t rows;                     /* of dx that fit at once; a power of two, or all */
    int64_t step;                     /* rows that come and go together: some CHUNK pixels */
    int64_t fetched, cleared, stored; /* the rows of x and dx below are there; those of dx below are finished */
} window;

static image image_in_place(const kerf_operand *operand, const void *data, const unit *u) {
    const int64_t *const stride = operand->at.strides;
    return (image){(kerf_real *)(uintptr_t)data + u->n * stride[0] + u->channel, stride[2], stride[3], -1};
}

/* `rows` at hand, or all: -1 where row r is row number r & -1. */
static image image_packed(kerf_real *room, const int64_t *dims, const int64_t *stride, int64_t width, int64_t rows) {
    const int64_t mask = rows < dims[2] ? rows - 1 : -1;
    return (image){room, stride[2] == 0 ? 0 : dims[3] * width, stride[3] == 0 ? 0 : width, mask};
}

static window open_window(const grad_job *job, const unit *u, kerf_real *room) {
    const grad_plan *const plan = job->plan;
    const kerf_launch *const launch = job->launch;
    const int64_t columns = plan->dx->at.dims[3];
    window w = {.rows = plan->dx->at.dims[2], .step = columns < CHUNK ? CHUNK / columns : 1};
    if (plan->n_spans > 0) {
        const row_span *const spans = job->spans + u->n * plan->n_spans;
        int64_t most = 1, rows = 1;
        for (int64_t i = 0; i < plan->n_spans; ++i)
            most = spans[i].end - spans[i].first > most ? spans[i].end - spans[i].first : most;
        while (rows < most + 2 * w.step)
            rows *= 2;
        w.rows = rows < w.rows ? rows : w.rows;
    }
    w.x = plan->x_in_place ? image_in_place(plan->x, launch->in[KERF_GSG_X], u)
                           : image_packed(room, plan->x_at.dims, plan->x->at.strides, u->width, w.rows);
    w.dx = plan->dx_in_place
               ? image_in_place(plan->dx, launch->out[KERF_GSG_DX], u)
               : image_packed(room + plan->x_elements, plan->dx->at.dims, plan->dx->at.strides, u->width, w.rows);
    return w;
}

/* The rows from `first` on, to `end` at most, that follow each other at hand. */
static int64_t rows_in_turn(const image *of, int64_t first, int64_t end) {
    const int64_t rest = of->mask < 0 ? end - first : of->mask + 1 - (first & of->mask);
    return rest < end - first ? rest : end - first;
}

/* Rows [first, end) of x with the channels of the unit side by side. */
static void fetch_x(const grad_plan *plan, const kerf_launch *launch, const unit *u, const image *x, int64_t first,
                    int64_t end) {
    const pixels from = pixels_of(&plan->x_at, plan->x->dtype, launch->in[KERF_GSG_X], u->n, 2, 1);
    const int64_t columns = plan->x_at.dims[3];
    for (int64_t n; first < end; first += n) {
        n = rows_in_turn(x, first, end);
        const pack_range range = {first * columns, n * columns,           u->channel,
                                  u->channels,     pixel_at(x, first, 0), u->width};
        pack(&from, &range);
    }
}

static void clear_dx(const image *dx, int64_t columns, int64_t width, int64_t first, int64_t end) {
    for (; first < end; ++first) {
        kerf_real *to = pixel_at(dx, first, 0);
        if (dx->column == width)
            memset(to, 0, (size_t)(columns * width) * sizeof *to);
        else
            for (int64_t x = 0; x < columns; ++x, to += dx->column)
                for (int64_t c = 0; c < width; c += KERF_LANES)
                    kerf_vec_store(to + c, kerf_vec_set(0));
    }
}

static void store_dx(const grad_plan *plan, const kerf_launch *launch, const unit *u, const image *dx, int64_t first,
                     int64_t end) {
    const pixels to = pixels_of(&plan->dx->at, plan->dx->dtype, launch->out[KERF_GSG_DX], u->n, 2, 1);
    const int64_t columns = plan->dx->at.dims[3];
    for (int64_t n; first < end; first += n) {
        n = rows_in_turn(dx, first, end);
        const pack_range range = {first * columns,        n * columns, u->channel, u->channels,
                                  pixel_at(dx, first, 0), u->width};
        unpack(&to, &range);
    }
}

/* dx of the rows below `first` is finished; x and dx of those from there to `end` are needed. Moves on by whole steps
 * of w->step rows. */
static void move_window(const grad_job *job, int rank, const unit *u, window *w, int64_t first, int64_t end) {
    const grad_plan *const plan = job->plan;
    const kerf_launch *const launch = job->launch;
    const int64_t height = plan->dx->at.dims[2], columns = plan->dx->at.dims[3];
    first = first < height ? first - first % w->step : height;
    while (plan->want & WANT_DX && w->stored < first) {
        const int64_t next = first < w->stored + w->rows ? first : w->stored + w->rows;
        if (w->cleared < next) {
            clear_dx(&w->dx, columns, u->width, w->cleared, next);
            w->cleared = next;
        }
        if (!plan->dx_in_place) {
            kerf_split_phase(launch, rank, KERF_SPLIT_UNPACK);
            store_dx(plan, launch, u, &w->dx, w->stored, next);
        }
        w->stored = next;
    }
    if (w->fetched >= end)
        return;
    end = end + w->step < height ? round_up(end, w->step) : height;
    kerf_split_phase(launch, rank, KERF_SPLIT_PACK);
    if (plan->want & WANT_DX && w->cleared < end) {
        clear_dx(&w->dx, columns, u->width, w->cleared, end);
        w->cleared = end;
    }
    if (plan->want & WANT_DGRID && !plan->x_in_place) {
        const int64_t x_height = plan->x_at.dims[2]; /* 1 where all rows are the same */
        fetch_x(plan, launch, u, &w->x, x_height == 1 || w->fetched > first ? w->fetched : first,
                end < x_height ? end : x_height);
    }
    w->fetched = end;
}

/* The rows that are needed for `n` samples from `first` on. */
static row_span span_of(const grad_job *job, const unit *u, int64_t first, int64_t n) {
    const grad_plan *const plan = job->plan;
    if (plan->n_spans == 0)
        return (row_span){0, plan->dx->at.dims[2]};
    const row_span *const spans = job->spans + u->n * plan->n_spans;
    return (row_span){spans[first / STRIP].first, spans[(first + n - 1) / STRIP].end};
}

/* grad of up to s->n samples from `first` on; makes the strip shorter where it would leave a row that lies in place.
 * Packed CHUNK samples at a time, of which a strip is a part. */
static void fetch_grad(const grad_plan *plan, const pixels *grad, const unit *u, int64_t first, kerf_real *room,
                       strip *s) {
    if (plan->grad_in_place) {
        s->grad = (const kerf_real *)(void *)pixels_run(grad, u->channel, first, s->n, &s->n);
        s->grad_step = grad->column_stride;
        return;
    }
    if (first % CHUNK == 0) {
        const int64_t rest = plan->n_samples - first;
        const pack_range range = {first, rest < CHUNK ? rest : CHUNK, u->channel, u->channels, room, u->width};
        pack(grad, &range);
    }
    s->grad = room + first % CHUNK * u->width;
    s->grad_step = u->width;
}

/* Where the part of dgrid lies that a block of channels adds to image n: x of all samples, then y. */
static kerf_real *part_at(const grad_job *job, int64_t n, int64_t block) {
    return job->parts + (n * job->plan->n_blocks + block) * 2 * job->plan->n_samples;
}

static void store_slopes(const grad_job *job, const pixels *dgrid, const unit *u, int64_t first, const strip *s) {
    const grad_plan *const plan = job->plan;
    kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
    find_slopes(s, x, y);
    if (!plan->parts) {
        store_points(dgrid, first, s->n, x, y);
        return;
    }
    kerf_real *const part = part_at(job, u->n, u->block) + first;
    memcpy(part, x, (size_t)s->n * sizeof *x);
    memcpy(part + plan->n_samples, y, (size_t)s->n * sizeof *y);
}

static void run_unit(const grad_job *job, int rank, const unit *u, kerf_real *room) {
    const grad_plan *const plan = job->plan;
    const kerf_launch *const launch = job->launch;
    const kerf_dtype dtype = plan->x->dtype;
    const pixels grad = pixels_of(&plan->grad->at, dtype, launch->in[KERF_GSG_GRAD], u->n, 2, 1);
    const pixels grid = pixels_of(&plan->grid->at, dtype, launch->in[KERF_GSG_GRID], u->n, 1, 3);
    pixels dgrid = grid;
    strip s = {.axis_x = &job->axis_x, .axis_y = &job->axis_y, .modes = plan->modes, .want = plan->want};
    kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
    kerf_split_phase(launch, rank, KERF_SPLIT_PACK);
    s.width = u->width;
    s.nowhere = room + plan->x_elements + plan->dx_elements + plan->grad_elements;
    memset(s.nowhere, 0, (size_t)(4 * u->width) * sizeof(kerf_real));
    window w = open_window(job, u, room);
    s.x = w.x;
    s.dx = w.dx;
    if (plan->want & WANT_DGRID)
        dgrid = pixels_of(&plan->dgrid->at, dtype, launch->out[KERF_GSG_DGRID], u->n, 1, 3);
    for (int64_t first = 0; first < plan->n_samples; first += s.n) {
        s.n = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        kerf_split_phase(launch, rank, KERF_SPLIT_PACK);
        const row_span span = span_of(job, u, first, s.n);
        move_window(job, rank, u, &w, span.first, span.end);
        fetch_grad(plan, &grad, u, first, room + plan->x_elements + plan->dx_elements, &s);
        kerf_split_phase(launch, rank, KERF_SPLIT_COMPUTE);
        load_points(&grid, first, s.n, x, y);
        find_cells(&job->axis_x, plan->modes, x, s.n, &s.x_axis);
        find_cells(&job->axis_y, plan->modes, y, s.n, &s.y_axis);
        if (plan->modes->interpolation == KERF_BILINEAR)
            find_weights(&s);
        add_samples(&s);
        if (plan->want & WANT_DGRID)
            store_slopes(job, &dgrid, u, first, &s);
    }
    move_window(job, rank, u, &w, plan->dx->at.dims[2], 0);
    kerf_split_phase(launch, rank, KERF_SPLIT_NONE);
}

static void find_spans(void *arg, int rank) {
    const grad_job *const job = arg;
    const grad_plan *const plan = job->plan;
    int64_t number, end;
    kerf_team_share(plan->n_images * plan->n_spans, kerf_team_size(job->launch->team), rank, &number, &end);
    for (; number < end; ++number) {
        const int64_t image_number = number / plan->n_spans, first = number % plan->n_spans * STRIP;
        const int64_t n = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        const pixels grid =
            pixels_of(&plan->grid->at, plan->grid->dtype, job->launch->in[KERF_GSG_GRID], image_number, 1, 3);
        kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
        load_points(&grid, first, n, x, y);
        job->spans[number] = touched_rows(&job->axis_y, plan->modes, y, n);
    }
}

static void run_units(void *arg, int rank) {
    const grad_job *const job = arg;
    int64_t number, end;
    if (rank >= job->n_ranks)
        return;
    kerf_team_share(job->plan->n_images * job->plan->n_blocks, job->n_ranks, rank, &number, &end);
    for (; number < end; ++number) {
        const unit u = unit_of(job->plan, number);
        run_unit(job, rank, &u, job->slots + (size_t)rank * job->plan->slot_elements);
    }
}

/* dgrid from its parts, in the order of the blocks; without parts dgrid is 0: nearest, or no channels. */
static void add_parts(void *arg, int rank) {
    const grad_job *const job = arg;
    const grad_plan *const plan = job->plan;
    const int64_t n_strips = (plan->n_samples + STRIP - 1) / STRIP;
    int64_t number, end;
    kerf_team_share(plan->grid->at.dims[0] * n_strips, kerf_team_size(job->launch->team), rank, &number, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_UNPACK);
    for (; number < end; ++number) {
        const int64_t n = number / n_strips, first = number % n_strips * STRIP;
        const int64_t count = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        const pixels to = pixels_of(&plan->dgrid->at, plan->dgrid->dtype, job->launch->out[KERF_GSG_DGRID], n, 1, 3);
        kerf_real x[STRIP + KERF_LANES] = {0}, y[STRIP + KERF_LANES] = {0};
        for (int64_t block = 0; block < plan->n_blocks && plan->parts; ++block) {
            const kerf_real *const part = part_at(job, n, block) + first;
            for (int64_t i = 0; i < count; ++i) {
                x[i] += part[i];
                y[i] += part[plan->n_samples + i];
            }
        }
        store_points(&to, first, count, x, y);
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

static size_t parts_elements(const grad_plan *plan) {
    size_t elements;
    if (!plan->parts)
        return 0;
    if (!kerf_mul_size((size_t)(plan->n_images * plan->n_blocks), 2, &elements) ||
        !kerf_mul_size(elements, (size_t)plan->n_samples, &elements))
        return SIZE_MAX;
    return elements;
}

static size_t scratch_bytes(const grad_plan *plan) {
    size_t elements, bytes, span_bytes;
    if (!kerf_mul_size(plan->slot_elements, (size_t)plan->n_slots, &elements) ||
        !kerf_add_size(elements, parts_elements(plan), &elements) ||
        !kerf_mul_size(elements, sizeof(kerf_real), &bytes) ||
        !kerf_mul_size((size_t)(plan->n_images * plan->n_spans), sizeof(row_span), &span_bytes) ||
        !kerf_add_size(bytes, span_bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}

/* A few samples of a huge image: copying it whole would cost far more memory and time than the samples do. */
static bool refuses(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    if (few_channels(problem))
        return false;
    const grad_plan plan = plan_of(problem, config);
    const size_t bytes = scratch_bytes(&plan);
    const double n_pixels = (double)plan.x_at.dims[2] * (double)plan.x_at.dims[3];
    if (bytes <= MOST_SPARSE_BYTES || n_pixels <= PIXELS_PER_SAMPLE * (double)plan.n_samples)
        return false;
    kerf_text_printf(why, "would pack images of %.0f pixels, %zu bytes of scratch, for %lld samples each", n_pixels,
                     bytes, (long long)plan.n_samples);
    return true;
}

static kerf_memory memory(const kerf_problem *problem, const kerf_config *config) {
    if (few_channels(problem))
        return few_memory(problem);
    const grad_plan plan = plan_of(problem, config);
    return (kerf_memory){.scratch_bytes = scratch_bytes(&plan), .alignment = 64};
}

static kerf_status run(const kerf_launch *launch) {
    if (few_channels(launch->problem))
        return few_run(launch);
    const grad_plan plan = plan_of(launch->problem, launch->config);
    grad_job job = {.plan = &plan, .launch = launch, .slots = launch->scratch};
    job.axis_y = kerf_axis_of(plan.x->at.dims[2], plan.modes->corners);
    job.axis_x = kerf_axis_of(plan.x->at.dims[3], plan.modes->corners);
    const int n_team = kerf_team_size(launch->team);
    job.n_ranks = n_team < plan.n_slots ? n_team : (int)plan.n_slots;
    job.parts = job.slots + (size_t)plan.n_slots * plan.slot_elements;
    job.spans = (row_span *)(void *)(job.parts + parts_elements(&plan));
    if (plan.n_spans > 0 && plan.want) {
        kerf_team_run(launch->team, find_spans, &job);
        for (int64_t n = 0; n < plan.n_images; ++n)
            settle_spans(job.spans + n * plan.n_spans, plan.n_spans);
    }
    if (plan.want && job.n_ranks > 0)
        kerf_team_run(launch->team, run_units, &job);
    const bool no_units = job.n_ranks == 0 || !(plan.want & WANT_DGRID);
    if (launch->problem->want & WANT_DGRID && (plan.parts || no_units))
        kerf_team_run(launch->team, add_parts, &job);
    return KERF_OK;
}

static const kerf_parameter *const parameters[] = {
    KERF_PARAMETER("channel_block", 0, 0, 16, 32, 64, 128, 256), /* channels of a unit of work; 0: from the problem */
    NULL,
};
static const char *const constraints[] = {
    "channel_block == 0 || channel_block < 2 * C", /* what is beyond it means the same: all channels */
    NULL,
};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters, .constraints = constraints};

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "channels-last blocks, vectors over channels",
    .refuses = refuses,
    .space = &space,
    .memory = memory,
    .run = run,
};
