/* Holds times against the limits of the machine. */
#include "harness/stage_time.h"

#include "harness/machine_limits.h"
#include "harness/timing_figures.h"
#include <math.h>
#include <string.h>

/* A reason that falls may leave another one, on the next working set; more rounds than this no honest machine needs. */
#define MOST_PASSES 3

kerf_status kerf_stage_find_limits(kerf_run *run, kerf_error *error) {
    kerf_kept_limits *const kept = KERF_ARENA_NEW(&run->arena, kerf_kept_limits, 1);
    bool found;
    if (!kept)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the limits of the machine");
    KERF_TRY(kerf_machine_limits(run->options->quiet, run->interrupted, kept, &found, error));
    run->limits = found ? kept : NULL;
    return KERF_OK;
}

static kerf_limited limited_of(const kerf_run *run, const kerf_timed_case *timed, kerf_cache_mode mode) {
    return (kerf_limited){.work = timed->work, .mode = mode, .dtype = timed->c->dtype, .threads = run->threads};
}

/* ---- who is too fast */

typedef struct hold {
    kerf_run *run;
    kerf_timing_cell *cells;
    kerf_held_cell *held;
    int n;
    double *memory;         /* room for the samples of any cell */
    kerf_row_limit *reason; /* per cell: by which it cannot be believed, ns 0: it can */
    kerf_timing_cell *again;
    int *again_of; /* the number of the cell that again[i] repeats */
    int n_again, n_groups;
    kerf_timing_limit *loop;
    int n_loops;
} hold;

static double time_of(const hold *h, const kerf_timing_cell *cell) {
    return kerf_timing_figures_of(cell, KERF_TIME_PROCESSES, h->memory).time_ns.middle;
}

static bool has_time(const kerf_timing_cell *cell) {
    return cell->n_samples > 0 && !cell->wrong_on;
}

static int find_reasons(hold *h) {
    int n = 0;
    for (int i = 0; i < h->n; ++i) {
        h->reason[i].ns = 0;
        if (!has_time(&h->cells[i]) || h->held[i].implausible)
            continue;
        const kerf_limited what = limited_of(h->run, h->held[i].of, h->cells[i].mode);
        h->reason[i] = kerf_row_limit_against(&h->run->limits->limits, &what, time_of(h, &h->cells[i]));
        n += h->reason[i].ns > 0;
    }
    return n;
}

/* ---- timing them again */

static bool same_group(const kerf_timing_cell *a, const kerf_timing_cell *b) {
    return a->c == b->c && a->mode == b->mode;
}

static void ask_for_loops(hold *h, int cell) {
    const kerf_limited what = limited_of(h->run, h->held[cell].of, h->cells[cell].mode);
    kerf_limit_kind kinds[KERF_ROW_LIMIT_LOOPS];
    kerf_timing_limit loop = {.c = h->cells[cell].c, .mode = h->cells[cell].mode};
    const int n = kerf_row_limit_loops(&h->reason[cell], &what, kinds, &loop.bytes);
    for (int i = 0; i < n; ++i) {
        int at = 0;
        loop.kind = kinds[i];
        while (at < h->n_loops && !(h->loop[at].c == loop.c && h->loop[at].mode == loop.mode &&
                                    h->loop[at].kind == loop.kind && h->loop[at].bytes == loop.bytes))
            ++at;
        if (at == h->n_loops)
            h->loop[h->n_loops++] = loop;
    }
}

/* All rows of a group with a doubtful one: they take turns, and ratios are paired. Cells of a group stand together. */
static void choose_again(hold *h) {
    h->n_again = h->n_groups = h->n_loops = 0;
    for (int begin = 0, end; begin < h->n; begin = end) {
        bool is_doubtful = false;
        for (end = begin; end < h->n && same_group(&h->cells[begin], &h->cells[end]); ++end)
            is_doubtful = is_doubtful || h->reason[end].ns > 0;
        h->n_groups += is_doubtful;
        for (int i = begin; i < end && is_doubtful; ++i) {
            if (h->reason[i].ns > 0)
                ask_for_loops(h, i);
            if (!has_time(&h->cells[i]))
                continue;
            const kerf_timing_cell *const cell = &h->cells[i];
            h->again[h->n_again] = (kerf_timing_cell){.entry = cell->entry,
                                                      .c = cell->c,
                                                      .row = cell->row,
                                                      .mode = cell->mode,
                                                      .config = cell->config,
                                                      .threads = cell->threads};
            h->again_of[h->n_again++] = i;
        }
    }
}

/* A row that was wrong is believed nowhere. */
static void take_results(hold *h) {
    for (int k = 0; k < h->n_again; ++k) {
        const kerf_timing_cell *const again = &h->again[k];
        h->cells[h->again_of[k]] = *again;
        for (int i = 0; i < h->n && again->wrong_on; ++i)
            if (kerf_timing_is_same_row(&h->cells[i], again)) {
                h->cells[i].wrong_on = again->wrong_on;
                h->cells[i].finding = again->finding;
            }
    }
}

static const kerf_timing_limit *loop_of(const hold *h, const kerf_timing_cell *cell, kerf_limit_kind kind,
                                        size_t bytes) {
    for (int i = 0; i < h->n_loops; ++i)
        if (h->loop[i].c == cell->c && h->loop[i].mode == cell->mode && h->loop[i].kind == kind &&
            h->loop[i].bytes == bytes)
            return &h->loop[i];
    return NULL;
}

/* The upper end of what the processes reached; 0 if one of them reached nothing. */
static double reached(const kerf_timing_limit *loop) {
    double values[KERF_TIME_PROCESSES], covered;
    for (int p = 0; p < KERF_TIME_PROCESSES; ++p) {
        if (!(loop->rate[p] > 0))
            return 0;
        values[p] = loop->rate[p];
    }
    return kerf_timing_interval(values, KERF_TIME_PROCESSES, &covered).high;
}

/* Raises the limits by what the loops reached. False where a loop could not run: nothing can be said then. */
static bool raise_limits(hold *h, int cell, bool *raised) {
    const kerf_limited what = limited_of(h->run, h->held[cell].of, h->cells[cell].mode);
    kerf_limit_kind kinds[KERF_ROW_LIMIT_LOOPS];
    size_t bytes;
    const int n = kerf_row_limit_loops(&h->reason[cell], &what, kinds, &bytes);
    for (int i = 0; i < n; ++i) {
        const kerf_timing_limit *const loop = loop_of(h, &h->cells[cell], kinds[i], bytes);
        const double rate = loop ? reached(loop) : 0;
        if (!(rate > 0))
            return false;
        *raised |= kerf_row_limit_raise(&h->run->limits->limits, &what, &h->reason[cell], kinds[i], rate);
    }
    return true;
}

/* False where no limit could be measured. */
static bool judge(hold *h) {
    bool raised = false, measured = false;
    for (int i = 0; i < h->n; ++i) {
        if (!(h->reason[i].ns > 0))
            continue;
        h->held[i].again.ns = raise_limits(h, i, &raised) ? h->reason[i].ns : 0;
        measured = measured || h->held[i].again.ns > 0;
    }
    for (int i = 0; i < h->n; ++i) {
        if (!(h->reason[i].ns > 0) || !(h->held[i].again.ns > 0))
            continue;
        const kerf_limited what = limited_of(h->run, h->held[i].of, h->cells[i].mode);
        h->held[i].again = kerf_row_limit_again(&h->run->limits->limits, &what, &h->reason[i]);
        h->held[i].implausible =
            has_time(&h->cells[i]) && h->held[i].again.ns > KERF_IMPLAUSIBLE_SHARE * time_of(h, &h->cells[i]);
    }
    if (raised)
        kerf_machine_limits_keep(h->run->limits);
    return measured;
}

static void show_progress(void *argument, int done, int total) {
    kerf_progress_step(argument, done, total);
}

static kerf_status time_again(hold *h, const kerf_timing_options *options, int n_doubtful, kerf_error *error) {
    const double least_s = 1, most_s = 10;
    kerf_run *const run = h->run;
    int n_groups = 0;
    for (int i = 0; i < h->n; ++i)
        n_groups += i == 0 || !same_group(&h->cells[i - 1], &h->cells[i]);
    kerf_timing_options again = *options;
    again.processes = KERF_TIME_PROCESSES; /* a search times in one */
    again.limit = h->loop;
    again.n_limits = h->n_loops;
    again.budget_s = fmin(fmax(options->budget_s * h->n_groups / n_groups, least_s), most_s);
    kerf_progress_begin(&run->progress, run->options->quiet,
                        "%d time%s beyond the limit of the machine: measuring both again, in turns, about %.0f s",
                        n_doubtful, n_doubtful == 1 ? " is" : "s are", again.budget_s);
    const kerf_status status = kerf_time_cells(h->again, h->n_again, &again, &run->arena, show_progress, &run->progress,
                                               run->interrupted, error);
    kerf_progress_clear(&run->progress);
    return status;
}

static kerf_status make_room(hold *h, kerf_error *error) {
    kerf_arena *const arena = &h->run->arena;
    const int most_samples = KERF_TIME_PROCESSES * KERF_SAMPLER_MAX;
    h->memory = KERF_ARENA_NEW(arena, double, most_samples + 1);
    h->reason = KERF_ARENA_NEW(arena, kerf_row_limit, h->n);
    h->again = KERF_ARENA_NEW(arena, kerf_timing_cell, h->n);
    h->again_of = KERF_ARENA_NEW(arena, int, h->n);
    h->loop = KERF_ARENA_NEW(arena, kerf_timing_limit, h->n * KERF_ROW_LIMIT_LOOPS);
    if (!h->memory || !h->reason || !h->again || !h->again_of || !h->loop)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to hold %d times against the limits", h->n);
    return KERF_OK;
}

kerf_status kerf_stage_hold(kerf_run *run, const kerf_timing_options *options, kerf_timing_cell *cells,
                            kerf_held_cell *held, int n, kerf_error *error) {
    hold h = {.run = run, .cells = cells, .held = held, .n = n};
    if (!run->limits || n == 0)
        return KERF_OK;
    KERF_TRY(make_room(&h, error));
    for (int pass = 0; pass < MOST_PASSES; ++pass) {
        const int n_doubtful = find_reasons(&h);
        if (n_doubtful == 0)
            return KERF_OK;
        choose_again(&h);
        KERF_TRY(time_again(&h, options, n_doubtful, error));
        take_results(&h);
        if (!judge(&h))
            return KERF_OK;
    }
    return KERF_OK;
}

/* ---- recording */

static const char *activity_of(const char *limit_by) {
    return strcmp(limit_by, "read") == 0 ? "reading" : strcmp(limit_by, "write") == 0 ? "writing" : "moving all bytes";
}

static void tell_implausible(kerf_run *run, kerf_record *record) {
    kerf_finding *const finding = &record->finding;
    run->any_implausible = true;
    finding->verdict = KERF_IMPLAUSIBLE;
    finding->check = "limit";
    record->speed_ratio = record->ratio_to_standard = (kerf_estimate){0};
    if (!record->repeat)
        record->repeat = kerf_repeat_command(run, record, record->case_text);
    kerf_text text = kerf_text_over(finding->reason, sizeof finding->reason);
    kerf_text_printf(&text,
                     "a call of %.4g us is %.3g times as fast as the machine allows: ", record->time_ns.middle * 1e-3,
                     record->share.middle);
    if (record->limit_bytes > 0)
        kerf_text_printf(&text, "%s takes %.4g us, at the rate of working sets of %zu KiB",
                         activity_of(record->limit_by), record->limit_ns * 1e-3, record->limit_bytes >> 10);
    else
        kerf_text_printf(&text, "%.4g operations take %.4g us", record->flops, record->limit_ns * 1e-3);
    fprintf(stderr, "IMPLAUSIBLE %s %s: %s\n  case %s\n  repeat: %s\n", record->row, record->mode, finding->reason,
            record->case_text, record->repeat);
}

void kerf_stage_add_limit(kerf_run *run, const kerf_timed_case *timed, kerf_cache_mode mode, const kerf_held_cell *held,
                          kerf_record *record) {
    record->flops = timed->work.flops;
    record->read_bytes = timed->work.read_bytes;
    record->written_bytes = timed->work.written_bytes;
    if (!run->limits)
        return;
    const kerf_limited what = limited_of(run, timed, mode);
    const bool implausible = held && held->implausible;
    const kerf_row_limit limit = implausible ? held->again : kerf_row_limit_of(&run->limits->limits, &what);
    record->limit_ns = limit.ns;
    record->limit_by = limit.ns > 0 ? kerf_limit_by_name(limit.by) : NULL;
    record->limit_bytes = limit.bytes;
    record->limit_again = held && held->again.ns > 0 && held->again.by == limit.by && held->again.point == limit.point;
    const kerf_estimate *const time = &record->time_ns;
    if (limit.ns > 0 && time->middle > 0)
        record->share = (kerf_estimate){limit.ns / time->middle, limit.ns / time->high, limit.ns / time->low};
    if (implausible && record->n_samples > 0)
        tell_implausible(run, record);
}
