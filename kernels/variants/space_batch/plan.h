/* How both ops are walked: a list of loops that the axes of the problem become.
 *
 * Block axes of block 1 without margins are plain axes; plain axes that follow each other on both sides become one;
 * what is contiguous on both sides becomes the unit that is moved as one. Of the block axes that are left the innermost
 * is the row. A row is a run of `block * quotients` places on the side of space, and on the side of the batch as many,
 * in `block` runs. Everything else counts rows, and ranks share out pieces of rows. Offsets are in bytes. */
#ifndef KERF_VARIANTS_SPACE_BATCH_PLAN_H
#define KERF_VARIANTS_SPACE_BATCH_PLAN_H

#include "kernels/space_batch.h"
#include <string.h>

#define MIN_PIECE_BYTES (INT64_C(16) << 10)
#define ENOUGH_PIECES   64 /* for ranks to share out evenly */

/* Place s of the axis, first <= s < first + count, lies at s * space; with p = s + before at p / block * batch + p %
 * block * offset on the other side. A plain axis has block 1. `extent`: places that exist in space. */
typedef struct move_axis {
    int64_t first, count, extent, block, before, space, batch, offset;
} move_axis;

typedef struct move_plan {
    const kerf_space_batch *self;
    int64_t unit; /* bytes */
    move_axis row;
    int n_outer;
    move_axis outer[KERF_MAX_RANK]; /* outermost first */
    int64_t n_rows, n_pieces;       /* pieces of each row */
    double bytes;                   /* moved in all */
} move_plan;

static inline move_axis plain_axis(int64_t count, int64_t space, int64_t batch) {
    return (move_axis){.count = count, .extent = count, .block = 1, .space = space, .batch = batch};
}

static inline move_axis block_axis(const kerf_space_batch *self, int k, int64_t extent, int64_t space, int64_t batch,
                                   int64_t offset) {
    move_axis axis = {.count = extent, .extent = extent, .space = space, .batch = batch, .offset = offset};
    axis.block = self->block[k];
    axis.before = self->before[k];
    if (self->way == KERF_SPACE_TO_BATCH) {
        axis.first = -axis.before;
        axis.count = extent + self->before[k] + self->after[k];
    }
    return axis;
}

/* The axes of the problem in their order, one for each but those of extent 1. */
static inline int axes_of(const kerf_space_batch *self, const kerf_strided *space, const kerf_strided *batch,
                          int64_t bytes, move_axis axes[KERF_MAX_RANK]) {
    int n = 0;
    int64_t offset = space->dims[0] * batch->strides[0] * bytes; /* of the innermost block's next place */
    for (int axis = space->rank - 1; axis >= 0; --axis) {
        const int64_t in_space = space->strides[axis] * bytes, in_batch = batch->strides[axis] * bytes;
        move_axis *const to = &axes[KERF_MAX_RANK - 1 - n];
        const int k = axis - 1;
        const bool blocked = k >= 0 && k < self->n_blocks && (self->block[k] > 1 || self->before[k] || self->after[k]);
        if (blocked) {
            *to = block_axis(self, k, space->dims[axis], in_space, in_batch, offset);
            offset *= self->block[k];
        } else {
            *to = plain_axis(space->dims[axis], in_space, in_batch);
        }
        n += blocked || space->dims[axis] != 1;
    }
    memmove(axes, axes + KERF_MAX_RANK - n, (size_t)n * sizeof *axes);
    return n;
}

static inline bool is_plain(const move_axis *axis) {
    return axis->block == 1 && axis->before == 0 && axis->count == axis->extent;
}

/* Plain neighbours that follow each other on both sides become one. */
static inline int merge_axes(move_axis axes[], int n) {
    int kept = 0;
    for (int i = 0; i < n; ++i) {
        move_axis *const last = &axes[kept - 1];
        if (kept > 0 && is_plain(last) && is_plain(&axes[i]) && last->space == axes[i].count * axes[i].space &&
            last->batch == axes[i].count * axes[i].batch)
            *last = plain_axis(last->count * axes[i].count, axes[i].space, axes[i].batch);
        else
            axes[kept++] = axes[i];
    }
    return kept;
}

/* Rows are what the innermost block axis makes; without one, the innermost axis, or one place. */
static inline void choose_row(move_plan *plan, int n, const move_axis axes[]) {
    int row = n - 1;
    for (int i = n - 1; i >= 0; --i)
        if (!is_plain(&axes[i])) {
            row = i;
            break;
        }
    plan->row = n > 0 ? axes[row] : plain_axis(1, plan->unit, plan->unit);
    for (int i = 0; i < n; ++i)
        if (i != row)
            plan->outer[plan->n_outer++] = axes[i];
}

/* Runs of the batch side are this long; those that crops leave empty count. */
static inline int64_t quotients_of(const move_axis *axis) {
    const int64_t places = axis->first + axis->count + axis->before;
    return places / axis->block + (places % axis->block != 0);
}

static inline void cut_rows(move_plan *plan) {
    const int64_t row_bytes = plan->row.count * plan->unit, quotients = quotients_of(&plan->row);
    plan->n_rows = 1;
    for (int i = 0; i < plan->n_outer; ++i)
        plan->n_rows *= plan->outer[i].count;
    plan->bytes = (double)plan->n_rows * (double)row_bytes;
    const int64_t by_size = row_bytes / MIN_PIECE_BYTES, wanted = ENOUGH_PIECES / (plan->n_rows > 0 ? plan->n_rows : 1);
    plan->n_pieces = by_size < wanted ? by_size : wanted;
    plan->n_pieces = plan->n_pieces < quotients ? plan->n_pieces : quotients;
    plan->n_pieces = plan->n_pieces > 1 ? plan->n_pieces : 1;
}

static inline move_plan plan_of(const kerf_problem *problem) {
    const kerf_space_batch *const self = problem->self;
    const bool to_batch = self->way == KERF_SPACE_TO_BATCH;
    const kerf_operand *const space = to_batch ? problem->in[0] : problem->out[0];
    const kerf_operand *const batch = to_batch ? problem->out[0] : problem->in[0];
    move_plan plan = {.self = self, .unit = (int64_t)kerf_dtype_bytes(space->dtype)};
    move_axis axes[KERF_MAX_RANK];
    int n = axes_of(self, &space->at, &batch->at, plan.unit, axes);
    n = merge_axes(axes, n);
    /* With no other axis it is the row: one straight copy, which ranks share out. */
    if (n > 1 && is_plain(&axes[n - 1]) && axes[n - 1].space == plan.unit && axes[n - 1].batch == plan.unit)
        plan.unit *= axes[--n].count;
    choose_row(&plan, n, axes);
    cut_rows(&plan);
    return plan;
}

/* Rows in order, without a division each: where the outer axes stand, and the offsets that they add up to. */
typedef struct move_rows {
    int64_t place[KERF_MAX_RANK], quotient[KERF_MAX_RANK], remainder[KERF_MAX_RANK];
    int64_t space[KERF_MAX_RANK + 1], batch[KERF_MAX_RANK + 1];
    int outside[KERF_MAX_RANK + 1]; /* how many of the axes before stand outside */
} move_rows;

static inline void stand_at(const move_axis *axis, move_rows *rows, int i, int64_t number) {
    const int64_t p = axis->first + number + axis->before;
    rows->place[i] = axis->first + number;
    rows->quotient[i] = p / axis->block;
    rows->remainder[i] = p % axis->block;
}

/* `depth` is plan->n_outer, known to the compiler where it is small. */
static inline __attribute__((always_inline)) void add_up(const move_plan *plan, move_rows *rows, int from, int depth) {
    for (int i = from; i < depth; ++i) {
        const move_axis *const axis = &plan->outer[i];
        rows->space[i + 1] = rows->space[i] + rows->place[i] * axis->space;
        rows->batch[i + 1] = rows->batch[i] + rows->quotient[i] * axis->batch + rows->remainder[i] * axis->offset;
        rows->outside[i + 1] = rows->outside[i] + (rows->place[i] < 0 || rows->place[i] >= axis->extent);
    }
}

static inline __attribute__((always_inline)) void rows_from(const move_plan *plan, int64_t number, move_rows *rows,
                                                            int depth) {
    rows->space[0] = rows->batch[0] = 0;
    rows->outside[0] = 0;
    for (int i = depth - 1; i >= 0; --i) {
        stand_at(&plan->outer[i], rows, i, number % plan->outer[i].count);
        number /= plan->outer[i].count;
    }
    add_up(plan, rows, 0, depth);
}

static inline __attribute__((always_inline)) void next_row(const move_plan *plan, move_rows *rows, int depth) {
    int i = depth - 1;
    for (; i >= 0; --i) {
        const move_axis *const axis = &plan->outer[i];
        if (++rows->place[i] == axis->first + axis->count) {
            stand_at(axis, rows, i, 0);
            continue;
        }
        if (++rows->remainder[i] == axis->block) {
            rows->remainder[i] = 0;
            ++rows->quotient[i];
        }
        break;
    }
    add_up(plan, rows, i > 0 ? i : 0, depth);
}

/* A piece of a row: the places of quotients [begin, end). Where place 0 would be on either side. */
typedef struct move_piece {
    int64_t begin, end;
    int64_t space, batch;
    bool is_pad; /* all of it */
} move_piece;

typedef void (*move_function)(const move_plan *, const kerf_launch *, const move_piece *);

static inline __attribute__((always_inline)) void move_share(const move_plan *plan, const kerf_launch *launch,
                                                             int64_t number, int64_t end, move_function move,
                                                             int depth) {
    const int64_t quotients = quotients_of(&plan->row);
    move_rows rows;
    rows_from(plan, number / plan->n_pieces, &rows, depth);
    for (int64_t k = number % plan->n_pieces; number < end; ++number) {
        move_piece piece = {.space = rows.space[depth], .batch = rows.batch[depth], .is_pad = rows.outside[depth] > 0};
        kerf_team_share(quotients, (int)plan->n_pieces, (int)k, &piece.begin, &piece.end);
        move(plan, launch, &piece);
        if (++k == plan->n_pieces) {
            k = 0;
            next_row(plan, &rows, depth);
        }
    }
}

/* Calls `move` with each piece that belongs to the rank. */
static inline __attribute__((always_inline)) void move_pieces(const move_plan *plan, const kerf_launch *launch,
                                                              int rank, move_function move) {
    int64_t number, end;
    kerf_team_share(plan->n_rows * plan->n_pieces, kerf_team_size(launch->team), rank, &number, &end);
    if (number >= end)
        return;
    switch (plan->n_outer) {
    case 0:
        move_share(plan, launch, number, end, move, 0);
        break;
    case 1:
        move_share(plan, launch, number, end, move, 1);
        break;
    case 2:
        move_share(plan, launch, number, end, move, 2);
        break;
    case 3:
        move_share(plan, launch, number, end, move, 3);
        break;
    case 4:
        move_share(plan, launch, number, end, move, 4);
        break;
    default:
        move_share(plan, launch, number, end, move, plan->n_outer);
        break;
    }
}

/* ---- the places of one remainder of a row
 * ---------------------------------------------------------------------------- */

/* Of the quotients [begin, end) those whose place with this remainder exists in space: [*low, *high). */
static inline void existing_places(const move_axis *row, const move_piece *piece, int64_t remainder, int64_t *low,
                                   int64_t *high) {
    const int64_t skipped = row->before - remainder; /* place of quotient q is q * block - skipped */
    const int64_t first = skipped > 0 ? skipped / row->block + (skipped % row->block != 0) : 0;
    const int64_t places = row->extent + skipped;
    const int64_t last = places > 0 ? places / row->block + (places % row->block != 0) : 0;
    *low = piece->begin > first ? piece->begin : first;
    *high = piece->end < last ? piece->end : last;
    if (piece->is_pad || *low > *high)
        *low = *high = piece->end;
}

/* ---- a call */

typedef struct move_job {
    const move_plan *plan;
    const kerf_launch *launch;
} move_job;

/* Plans the launch and runs `move_rank` on every rank of its team, with a move_job. */
static inline kerf_status run_moves(const kerf_launch *launch, void (*move_rank)(void *job, int rank)) {
    int64_t n_elements;
    if (!launch->out[0] || !kerf_strided_count(&launch->problem->out[0]->at, &n_elements) || n_elements == 0)
        return KERF_OK;
    const move_plan plan = plan_of(launch->problem);
    move_job job = {.plan = &plan, .launch = launch};
    kerf_team_run(launch->team, move_rank, &job);
    return KERF_OK;
}

#endif
