/* A unit of work: some channels and samples of one image, from what is fetched to what is stored. */
#ifndef KERF_GRID_SAMPLER_GRAD_UNIT_H
#define KERF_GRID_SAMPLER_GRAD_UNIT_H

#include "kernels/split.h"
#include "kernels/variants/grid_sampler_grad/plan.h"

typedef struct grad_job {
    const grad_plan *plan;
    const kerf_launch *launch;
    kerf_axis axis_x, axis_y;
    int n_ranks;
    kerf_real *slots, *parts;
    row_span *spans; /* n_spans of each image */
    /* Where the image is halved: rows from `border` on are touched by samples of the second half only. Its samples up
     * to `apart_end` sum into rows of their own, which are added to dx at last. */
    bool halved;
    int64_t border, apart_end;
    row_span apart_rows;
    kerf_real *apart;
} grad_job;

typedef struct unit {
    int64_t n, block; /* which image, which block of channels */
    int64_t channel, channels, width;
    int64_t first_sample, end_sample;
    row_span rows; /* of dx that nobody else touches */
    bool apart;    /* they are job->apart */
} unit;

static unit unit_of(const grad_plan *plan, int64_t number) {
    unit u = {.n = number / plan->n_blocks, .block = number % plan->n_blocks};
    u.channel = u.block * plan->block;
    u.channels = plan->n_channels - u.channel < plan->block ? plan->n_channels - u.channel : plan->block;
    u.width = padded_width(u.channels);
    u.end_sample = plan->n_samples;
    u.rows.end = plan->dx->at.dims[2];
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

/* How many rows job->apart has room for: a power of two. */
static int64_t apart_rows(const grad_plan *plan) {
    int64_t rows = 1;
    while (2 * rows <= plan->dx->at.dims[2] / APART_PART)
        rows *= 2;
    return rows;
}

static window open_window(const grad_job *job, const unit *u, kerf_real *room) {
    const grad_plan *const plan = job->plan;
    const kerf_launch *const launch = job->launch;
    const int64_t columns = plan->dx->at.dims[3];
    window w = {.rows = plan->dx->at.dims[2], .step = columns < CHUNK ? CHUNK / columns : 1};
    w.fetched = w.cleared = w.stored = u->rows.first;
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
    if (u->apart)
        w.dx = image_packed(job->apart, plan->dx->at.dims, plan->dx->at.strides, u->width, apart_rows(plan));
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
    const int64_t height = u->rows.end, columns = plan->dx->at.dims[3];
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
    for (int64_t first = u->first_sample; first < u->end_sample; first += s.n) {
        s.n = u->end_sample - first < STRIP ? u->end_sample - first : STRIP;
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
    move_window(job, rank, u, &w, u->rows.end, 0);
    kerf_split_phase(launch, rank, KERF_SPLIT_NONE);
}

#endif
