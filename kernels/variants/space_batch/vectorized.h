/* Both ops with rows dealt and collected in vectors. Where places follow each other on both sides, a row goes through
 * the L1 cache a few KiB at a time, so that each line of memory is read once and written once; the ends of a row, where
 * a block is not whole, and rows with gaps are strided copies (copies.h). Results that exceed the caches are written
 * around them, by way of a staging buffer in L1 that makes whole lines out of short units.
 * Cost: the shuffles of one pass over the data. */
#include "kernels/stream.h"
#include "kernels/variants/space_batch/copies.h"
#include "kernels/variants/space_batch/interleave.h"

#define CHUNK_BYTES      ((int64_t)8 << 10)  /* dealt at a time */
#define AHEAD_BYTES      2048                /* that long units are called in ahead */
#define MAX_RUNS         16                  /* of a block that are dealt at once */
#define MIN_STREAM_BYTES 256                 /* of a run: shorter ones are mostly ends of lines */
#define STREAM_FROM      ((double)(8 << 20)) /* bytes of the result from which it is streamed */

enum { STORES_AUTO, STORES_CACHED, STORES_STREAMED };

static bool streams(const move_plan *plan, const kerf_launch *launch) {
    const int64_t stores = kerf_config_get(launch->config, "stores", STORES_AUTO);
    return stores == STORES_STREAMED || (stores == STORES_AUTO && plan->bytes >= STREAM_FROM);
}

/* The quotients of the piece whose blocks are whole: [*begin, *end). */
static void whole_blocks(const move_axis *row, const move_piece *piece, int64_t *begin, int64_t *end) {
    const int64_t first = row->before / row->block + (row->before % row->block != 0);
    const int64_t last = (row->extent + row->before) / row->block;
    *begin = piece->begin > first ? piece->begin : first;
    *end = piece->end < last ? piece->end : last;
    if (piece->is_pad || *begin >= *end)
        *begin = *end = piece->end;
}

/* n whole blocks; where the first unit of each run lies on the batch side, run bytes apart, and the first place in
 * space. */
typedef struct whole_rows {
    int64_t n, unit, block, run;
} whole_rows;

static int64_t chunk_of(const whole_rows *rows) {
    const int64_t n = CHUNK_BYTES / (rows->unit * rows->block);
    /* Chunks of whole lines keep the beginnings of those behind aligned like the first. */
    const int64_t lines = n * rows->unit / KERF_STREAM_LINE * KERF_STREAM_LINE / rows->unit;
    return lines > 0 ? lines : n > 0 ? n : 1;
}

static void deal(char *to, const char *from, const whole_rows *rows) {
    const int64_t chunk = chunk_of(rows);
    char *runs[MAX_RUNS];
    for (int64_t i = 0; i < rows->n; i += chunk) {
        const int64_t n = rows->n - i < chunk ? rows->n - i : chunk;
        for (int64_t o = 0; o < rows->block; ++o)
            runs[o] = to + o * rows->run + i * rows->unit;
        deal_units(runs, from + i * rows->block * rows->unit, n, (size_t)rows->unit, rows->block);
    }
}

static void collect(char *to, const char *from, const whole_rows *rows) {
    const int64_t chunk = chunk_of(rows);
    const char *runs[MAX_RUNS];
    for (int64_t i = 0; i < rows->n; i += chunk) {
        const int64_t n = rows->n - i < chunk ? rows->n - i : chunk;
        for (int64_t o = 0; o < rows->block; ++o)
            runs[o] = from + o * rows->run + i * rows->unit;
        collect_units(to + i * rows->block * rows->unit, runs, n, (size_t)rows->unit, rows->block);
    }
}

static void deal_streamed(char *to, const char *from, const whole_rows *rows) {
    _Alignas(KERF_STREAM_LINE) char stage[CHUNK_BYTES];
    const int64_t chunk = chunk_of(rows);
    char *runs[MAX_RUNS];
    for (int64_t o = 0; o < rows->block; ++o)
        runs[o] = stage + o * chunk * rows->unit;
    for (int64_t i = 0; i < rows->n; i += chunk) {
        const int64_t n = rows->n - i < chunk ? rows->n - i : chunk;
        deal_units(runs, from + i * rows->block * rows->unit, n, (size_t)rows->unit, rows->block);
        for (int64_t o = 0; o < rows->block; ++o)
            kerf_stream_copy(to + o * rows->run + i * rows->unit, runs[o], (size_t)(n * rows->unit),
                             from + ((i + chunk) * rows->block + o * chunk) * rows->unit);
    }
}

static void collect_streamed(char *to, const char *from, const whole_rows *rows) {
    _Alignas(KERF_STREAM_LINE) char stage[CHUNK_BYTES];
    const int64_t chunk = chunk_of(rows);
    const char *runs[MAX_RUNS];
    for (int64_t i = 0; i < rows->n; i += chunk) {
        const int64_t n = rows->n - i < chunk ? rows->n - i : chunk, group = rows->block * rows->unit;
        for (int64_t o = 0; o < rows->block; ++o)
            runs[o] = from + o * rows->run + i * rows->unit;
        collect_units(stage, runs, n, (size_t)rows->unit, rows->block);
        for (int64_t o = 0; o < rows->block; ++o) /* what is collected next, a run at a time */
            kerf_stream_copy(to + i * group + o * n * rows->unit, stage + o * n * rows->unit, (size_t)(n * rows->unit),
                             runs[o] + n * rows->unit);
    }
}

/* Units that are long themselves, in the order of the side of space. */
static void copy_long_units(char *to, const char *from, const whole_rows *rows, kerf_space_batch_way way) {
    for (int64_t i = 0; i < rows->n; ++i)
        for (int64_t o = 0; o < rows->block; ++o) {
            const int64_t in_space = (i * rows->block + o) * rows->unit, in_batch = o * rows->run + i * rows->unit;
            if (way == KERF_SPACE_TO_BATCH)
                kerf_stream_copy(to + in_batch, from + in_space, (size_t)rows->unit, from + in_space + AHEAD_BYTES);
            else
                kerf_stream_copy(to + in_space, from + in_batch, (size_t)rows->unit,
                                 from + in_batch + AHEAD_BYTES / rows->block);
        }
}

static void move_whole_blocks(const move_plan *plan, const kerf_launch *launch, const move_piece *piece) {
    const move_axis *const row = &plan->row;
    const kerf_space_batch_way way = plan->self->way;
    const whole_rows rows = {piece->end - piece->begin, plan->unit, row->block, row->offset};
    const int64_t in_space = piece->space + (piece->begin * row->block - row->before) * row->space;
    const int64_t in_batch = piece->batch + piece->begin * row->batch;
    const bool to_batch = way == KERF_SPACE_TO_BATCH;
    char *const to = (char *)launch->out[0] + (to_batch ? in_batch : in_space);
    const char *const from = (const char *)launch->in[0] + (to_batch ? in_space : in_batch);
    const int64_t run_bytes = to_batch ? rows.n * rows.unit : rows.n * rows.unit * rows.block;
    const bool fits_stage = rows.unit * rows.block <= CHUNK_BYTES;
    const bool whole_lines = ((uintptr_t)to | (uintptr_t)rows.unit | (uintptr_t)rows.run) % KERF_STREAM_LINE == 0;
    if (!streams(plan, launch) || run_bytes < MIN_STREAM_BYTES || (!fits_stage && rows.unit < MIN_STREAM_BYTES))
        (to_batch ? deal : collect)(to, from, &rows);
    else if (rows.unit >= MIN_STREAM_BYTES || whole_lines)
        copy_long_units(to, from, &rows, way);
    else
        (to_batch ? deal_streamed : collect_streamed)(to, from, &rows);
}

static void move_piece_of_row(const move_plan *plan, const kerf_launch *launch, const move_piece *piece) {
    const move_axis *const row = &plan->row;
    move_piece part = *piece;
    int64_t begin, end;
    if (row->space != plan->unit || row->batch != plan->unit || row->block > MAX_RUNS) {
        copy_piece(plan, launch, piece);
        return;
    }
    whole_blocks(row, piece, &begin, &end);
    part.end = begin;
    copy_piece(plan, launch, &part);
    if (begin == end)
        return;
    part.begin = begin;
    part.end = end;
    move_whole_blocks(plan, launch, &part);
    part.begin = end;
    part.end = piece->end;
    copy_piece(plan, launch, &part);
}

static void move_rank(void *arg, int rank) {
    const move_job *const job = arg;
    move_pieces(job->plan, job->launch, rank, move_piece_of_row);
    kerf_stream_end();
}

static kerf_status run(const kerf_launch *launch) {
    return run_moves(launch, move_rank);
}

static const kerf_parameter *const parameters[] = {
    KERF_CHOICE("stores", "auto", "cached", "streamed"), /* auto: streamed from STREAM_FROM on */
    NULL,
};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters};

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "rows dealt and collected in vectors, large results streamed",
    .space = &space,
    .run = run,
};
