/* The process in which calls are timed: works through the requested cases and tells the samples. */
#include "harness/timing_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef kerf_worker worker;
typedef kerf_worker_cell cell;

static void tell_failure(worker *w, int id, const char *message) {
    fprintf(w->answer, "fail %d %s\n", id,
            message[0] ? message : "the call returned an error, or the clock stood still");
}

static void tell_wrong(worker *w, int id, const kerf_finding *f) {
    fprintf(w->answer, "wrong %d %d %s %" PRId64 " %" PRId64 " %a %a %a %a %a", id, f->output, f->reason, f->n_bad,
            f->n_elements, f->ratio, f->got, f->lo, f->hi, f->slack);
    for (int axis = 0; axis < f->rank; ++axis)
        fprintf(w->answer, " %" PRId64, f->index[axis]);
    fputc('\n', w->answer);
}

static void tell_extra(worker *w, const cell *one) {
    const kerf_counter_system system = kerf_counter_system_linux();
    kerf_timing_extra extra;
    kerf_timing_turn_begin(w->turn, one->wanted->id);
    kerf_timing_extra_take(&w->request.wish, one->row, one->wanted->mode, one->sampler.batch, &w->clock, &system,
                           &extra);
    kerf_timing_turn_begin(w->turn, -1);
    kerf_timing_extra_print(&extra, one->wanted->id, w->answer);
}

static void tell_samples(worker *w, const cell *one) {
    const int id = one->wanted->id;
    if (one->error.message[0] || one->sampler.stop == KERF_STOP_ERROR) {
        tell_failure(w, id, one->error.message);
        return;
    }
    if (one->finding.verdict == KERF_FAIL) {
        tell_wrong(w, id, &one->finding);
        return;
    }
    for (int i = 0; i < one->sampler.n_samples; ++i) {
        const kerf_sample *const sample = &one->sampler.sample[i];
        fprintf(w->answer, "sample %d %d %" PRIu32 " %" PRIu64 "\n", id, sample->round, sample->batch,
                sample->total_ns);
    }
    tell_extra(w, one);
    fprintf(w->answer, "stop %d %s\n", id, kerf_stop_name(one->sampler.stop));
}

static void time_group(worker *w, kerf_cache_mode mode, cell *cells, int n) {
    kerf_error error = {.message = ""};
    const kerf_status status = kerf_timing_group_run(w, mode, cells, n, &error);
    for (int i = 0; i < n; ++i) {
        if (cells[i].wanted->mode != mode)
            continue;
        if (status != KERF_OK)
            cells[i].error = error;
        tell_samples(w, &cells[i]);
    }
    fflush(w->answer);
}

static bool has_mode(const kerf_requested_case *wanted, kerf_cache_mode mode) {
    for (const kerf_requested_cell *c = wanted->first; c; c = c->next)
        if (c->mode == mode)
            return true;
    return false;
}

/* NULL for one rank. */
static kerf_status team_of(worker *w, int n, const kerf_team **team, kerf_error *error) {
    *team = NULL;
    for (int i = 0; i < w->n_teams && n > 1; ++i) {
        *team = kerf_thread_team_get(w->teams[i]);
        if ((*team)->n == n)
            return KERF_OK;
    }
    if (n <= 1)
        return KERF_OK;
    if (w->n_teams == KERF_WORKER_TEAMS)
        return kerf_fail(error, KERF_ERROR_USAGE, "more than %d sizes of teams", KERF_WORKER_TEAMS);
    KERF_TRY(kerf_thread_team_open(n, &w->teams[w->n_teams], error));
    *team = kerf_thread_team_get(w->teams[w->n_teams++]);
    return KERF_OK;
}

/* Cells of the same row in both modes share its buffers: touching memory for the first time is what costs. */
static void open_row(worker *w, const kerf_timing_inputs *inputs, cell *cells, int at) {
    cell *const one = &cells[at];
    for (int i = 0; i < at && !one->row; ++i)
        if (cells[i].wanted->row == one->wanted->row && strcmp(cells[i].wanted->with, one->wanted->with) == 0)
            one->row = cells[i].row, one->error = cells[i].error;
    if (one->row)
        return;
    one->row = &one->own;
    kerf_timing_turn_begin(w->turn, one->wanted->id);
    const kerf_team *team = w->team;
    if (!one->wanted->threads || team_of(w, one->wanted->threads, &team, &one->error) == KERF_OK)
        kerf_timing_row_open(one->wanted->row, one->wanted->config, inputs, team, &w->rng, &one->own, &one->error);
}

static void time_opened_case(worker *w, const kerf_requested_case *wanted, kerf_timing_inputs *inputs, int n) {
    cell *const cells = KERF_ARENA_NEW(&w->arena, cell, n);
    if (!cells) {
        for (const kerf_requested_cell *c = wanted->first; c; c = c->next)
            tell_failure(w, c->id, "too many rows");
        return;
    }
    int at = 0;
    for (const kerf_requested_cell *c = wanted->first; c; c = c->next, ++at) {
        cells[at] = (cell){.w = w, .of = wanted, .wanted = c, .inputs = inputs};
        cells[at].sampler.timed = kerf_worker_cell_timed(&cells[at]);
        open_row(w, inputs, cells, at);
    }
    for (int mode = KERF_HOT; mode <= KERF_COLD; ++mode)
        if (has_mode(wanted, (kerf_cache_mode)mode))
            time_group(w, (kerf_cache_mode)mode, cells, n);
    for (int i = 0; i < n; ++i)
        kerf_timing_row_close(&cells[i].own);
}

static void time_case(worker *w, const kerf_requested_case *wanted) {
    int n = 0;
    for (const kerf_requested_cell *c = wanted->first; c; c = c->next)
        ++n;
    if (n == 0)
        return;
    const size_t mark = w->arena.used;
    kerf_timing_inputs inputs;
    kerf_error error = {.message = ""};
    w->turn->for_case = wanted->first->id;
    kerf_timing_turn_begin(w->turn, -1);
    if (kerf_timing_inputs_open(&wanted->c, n, &w->rng, &w->arena, &inputs, &error) == KERF_OK) {
        w->next_step = (uint64_t)inputs.n_sets; /* what warms a set is the step before its first */
        time_opened_case(w, wanted, &inputs, n);
        kerf_timing_inputs_close(&inputs);
    } else {
        for (const kerf_requested_cell *c = wanted->first; c; c = c->next)
            tell_failure(w, c->id, error.message);
        fflush(w->answer);
    }
    w->turn->for_case = -1;
    kerf_timing_turn_begin(w->turn, -1);
    kerf_arena_rewind(&w->arena, mark);
}

static kerf_status map_turn(const char *path, kerf_timing_turn **turn, kerf_error *error) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void *const map = file < 0 ? MAP_FAILED : mmap(NULL, sizeof **turn, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (map == MAP_FAILED)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot map `%s`, where the turns are told: %s", path,
                         strerror(errno));
    *turn = map;
    return KERF_OK;
}

static kerf_status work(worker *w, const kerf_registry *registry, FILE *request, kerf_error *error) {
    KERF_TRY(kerf_timing_request_read(request, registry, &w->arena, &w->request, error));
    if (w->request.turn_path)
        KERF_TRY(map_turn(w->request.turn_path, &w->turn, error));
    w->rng = kerf_rng_seeded(w->request.seed, (uint64_t)w->request.process);
    w->poison = kerf_rng_seeded(~w->request.seed, (uint64_t)w->request.process);
    w->draw_seed = kerf_rng_next(&w->poison);
    KERF_TRY(kerf_arena_map_most(&w->expected, (size_t)1 << 36, (size_t)1 << 26, error)); /* of address space */
    KERF_TRY(team_of(w, w->request.threads, &w->team, error));
    for (const kerf_requested_case *c = w->request.first; c; c = c->next)
        w->groups_left += has_mode(c, KERF_HOT) + has_mode(c, KERF_COLD);
    kerf_error no_loops = {.message = ""};
    if (kerf_timing_loops_open(&w->request, w->team, &w->loops, &no_loops) != KERF_OK)
        fprintf(stderr, "bench time-worker: %s; no limit is measured again\n", no_loops.message);
    const kerf_overhead overhead = kerf_timing_overhead(&w->clock);
    fprintf(w->answer, "overhead %a %a %a\n", overhead.sample_ns, overhead.call_ns, overhead.step_ns);
    for (const kerf_requested_case *c = w->request.first; c; c = c->next)
        time_case(w, c);
    kerf_limit_loops_close(w->loops);
    while (w->n_teams > 0)
        kerf_thread_team_close(w->teams[--w->n_teams]);
    fputs("end\n", w->answer);
    return fflush(w->answer) == 0 ? KERF_OK : kerf_fail(error, KERF_ERROR_FILE, "cannot write the samples");
}

int kerf_timing_work(const kerf_registry *registry, FILE *request, FILE *answer) {
    const size_t arena_bytes = (size_t)1 << 30; /* of address space; pages are taken as they are used */
    kerf_timing_turn unseen = {.cell = -1, .for_case = -1};
    worker w = {.answer = answer, .clock = kerf_clock_monotonic(), .turn = &unseen};
    w.begun_ns = w.clock.now_ns(w.clock.state);
    kerf_error error;
    kerf_status status = kerf_arena_map_shared(&w.arena, arena_bytes, &error);
    if (status == KERF_OK)
        status = work(&w, registry, request, &error);
    if (status != KERF_OK)
        fprintf(stderr, "bench time-worker: %s\n", error.message);
    if (w.turn != &unseen)
        munmap(w.turn, sizeof *w.turn);
    kerf_arena_unmap(&w.expected);
    kerf_arena_unmap(&w.arena);
    return status == KERF_OK ? 0 : status == KERF_ERROR_USAGE ? 2 : 1;
}

int kerf_timing_worker(const kerf_registry *registry) {
    signal(SIGINT, SIG_IGN); /* a terminal sends it to the parent too, which decides */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* What a row or a library prints must not end up between the samples. */
    FILE *const answer = fdopen(dup(STDOUT_FILENO), "w");
    if (!answer || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
    const int code = kerf_timing_work(registry, stdin, answer);
    return fclose(answer) == 0 ? code : 1;
}
