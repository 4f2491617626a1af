/* The parent's side: spreads the cells over worker processes, one after another, and hands out what came back. */
#include "harness/spawn.h"
#include "harness/timing_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int n_pending(const kerf_timing_run *r) {
    int n = 0;
    for (int i = 0; i < r->n; ++i)
        n += kerf_timing_is_pending(r, i);
    return n;
}

/* Each worker finishes or costs at least one cell, so this ends. */
static kerf_status run_process(kerf_timing_run *r, kerf_error *error) {
    memset(r->done, 0, (size_t)r->n * sizeof *r->done);
    for (int n = n_pending(r), left; n > 0; n = left) {
        KERF_TRY(kerf_timing_worker_run(r, error));
        left = n_pending(r);
        if (left == n)
            return kerf_fail(error, KERF_ERROR_DEVICE, "the timing process ended without an answer");
    }
    return KERF_OK;
}

static kerf_status give_samples(kerf_timing_run *r, kerf_arena *arena, kerf_error *error) {
    for (size_t i = 0; i < r->n_arrivals; ++i)
        r->cells[r->arrivals[i].cell].n_samples += !kerf_timing_is_dropped(r, r->arrivals[i].cell);
    for (int i = 0; i < r->n; ++i) {
        kerf_timing_cell *const cell = &r->cells[i];
        cell->sample = KERF_ARENA_NEW(arena, kerf_sample, cell->n_samples);
        cell->n_samples = 0;
        if (!cell->sample) {
            for (int k = i; k < r->n; ++k)
                r->cells[k].n_samples = 0;
            return kerf_fail(error, KERF_ERROR_MEMORY, "no room for the samples of %d cells", r->n);
        }
    }
    for (size_t i = 0; i < r->n_arrivals; ++i) {
        kerf_timing_cell *const cell = &r->cells[r->arrivals[i].cell];
        if (!kerf_timing_is_dropped(r, r->arrivals[i].cell))
            cell->sample[cell->n_samples++] = r->arrivals[i].sample;
    }
    return KERF_OK;
}

static kerf_status turn_open(kerf_timing_run *r, kerf_error *error) {
    r->turn_file = memfd_create("kerf-timing-turn", MFD_CLOEXEC);
    void *map = MAP_FAILED;
    if (r->turn_file >= 0 && ftruncate(r->turn_file, sizeof *r->turn) == 0)
        map = mmap(NULL, sizeof *r->turn, PROT_READ | PROT_WRITE, MAP_SHARED, r->turn_file, 0);
    if (map != MAP_FAILED) {
        r->turn = map;
        return KERF_OK;
    }
    if (r->turn_file >= 0)
        close(r->turn_file);
    return kerf_fail(error, KERF_ERROR_FILE, "cannot map memory to share with timing processes: %s", strerror(errno));
}

static kerf_status prepare_limits(const kerf_timing_options *options, kerf_arena *arena, kerf_error *error) {
    for (int i = 0; i < options->n_limits; ++i) {
        options->limit[i].rate = KERF_ARENA_NEW(arena, double, options->processes);
        if (!options->limit[i].rate)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no room for %d limits", options->n_limits);
    }
    return KERF_OK;
}

static kerf_status prepare_cells(kerf_timing_run *r, kerf_arena *arena, kerf_error *error) {
    for (int i = 0; i < r->n; ++i) {
        kerf_timing_cell *const cell = &r->cells[i];
        const char *const cannot = cell->mode == KERF_COLD ? kerf_cache_cannot_evict() : NULL;
        cell->n_samples = 0;
        cell->reason[0] = '\0';
        cell->crashed = false;
        cell->wrong_on = NULL;
        const bool wishes = r->options->wish.split || r->options->wish.counters;
        cell->stop = KERF_ARENA_NEW(arena, kerf_stop, r->options->processes);
        cell->overhead = KERF_ARENA_NEW(arena, kerf_overhead, r->options->processes);
        cell->extra = wishes ? KERF_ARENA_NEW(arena, kerf_timing_extra, r->options->processes) : NULL;
        if (!cell->stop || !cell->overhead || (wishes && !cell->extra))
            return kerf_fail(error, KERF_ERROR_MEMORY, "no room for %d cells to time", r->n);
        for (int p = 0; p < r->options->processes; ++p)
            cell->stop[p] = KERF_STOP_NONE, cell->overhead[p] = (kerf_overhead){0};
        if (cell->row->device != KERF_DEVICE_CPU)
            kerf_timing_drop(r, i, "only rows that run on the CPU are timed");
        else if (cannot)
            kerf_timing_drop(r, i, cannot);
    }
    return KERF_OK;
}

kerf_status kerf_time_cells_with(const kerf_timing_launcher *launcher, kerf_timing_cell cells[], int n,
                                 const kerf_timing_options *options, kerf_arena *arena,
                                 void (*progress)(void *arg, int done, int total), void *arg,
                                 const volatile sig_atomic_t *interrupted, kerf_error *error) {
    kerf_timing_run r = {.launcher = launcher,
                         .cells = cells,
                         .n = n,
                         .options = options,
                         .progress = progress,
                         .progress_arg = arg,
                         .interrupted = interrupted,
                         .clock = kerf_clock_monotonic()};
    if (n == 0)
        return KERF_OK;
    r.begun_ns = r.clock.now_ns(r.clock.state);
    KERF_TRY(prepare_cells(&r, arena, error));
    KERF_TRY(prepare_limits(options, arena, error));
    KERF_TRY(turn_open(&r, error));
    r.done = calloc((size_t)n, sizeof *r.done);
    kerf_status status = r.done ? KERF_OK : kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d cells", n);
    for (; status == KERF_OK && r.process < options->processes; ++r.process)
        status = run_process(&r, error);
    kerf_error no_room;
    if (give_samples(&r, arena, &no_room) != KERF_OK && status == KERF_OK)
        status = kerf_fail(error, KERF_ERROR_MEMORY, "%s", no_room.message);
    free(r.done);
    free(r.arrivals);
    munmap(r.turn, sizeof *r.turn);
    close(r.turn_file);
    return status;
}

/* bench time-worker [--plugin PATH]... */
static const char **arguments_for_worker(const char *const *plugins) {
    size_t n = 0, at = 0;
    while (plugins && plugins[n])
        ++n;
    const char **const result = calloc(2 * n + 3, sizeof *result);
    if (!result)
        return NULL;
    result[at++] = "bench";
    result[at++] = "time-worker";
    for (size_t i = 0; i < n; ++i) {
        result[at++] = "--plugin";
        result[at++] = plugins[i];
    }
    return result;
}

static kerf_status start_this_program(void *arg, int request, int answer, pid_t *worker, kerf_error *error) {
    const kerf_timing_options *const options = arg;
    const char **const arguments = arguments_for_worker(options->plugins);
    if (!arguments)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to start a process");
    const kerf_status status = kerf_spawn_self(arguments, request, answer, worker, error);
    free(arguments);
    return status;
}

kerf_status kerf_time_cells(kerf_timing_cell cells[], int n, const kerf_timing_options *options, kerf_arena *arena,
                            void (*progress)(void *arg, int done, int total), void *arg,
                            const volatile sig_atomic_t *interrupted, kerf_error *error) {
    const kerf_timing_launcher launcher = {.start = start_this_program, .arg = (void *)(uintptr_t)options};
    return kerf_time_cells_with(&launcher, cells, n, options, arena, progress, arg, interrupted, error);
}
