/* The process in which calls are timed: all rows of a case and cache mode take turns inside one State of Google
 * Benchmark. */
#include "harness/google_benchmark_shim.h"
#include "harness/team.h"
#include "harness/timing_check.h"
#include "harness/timing_protocol.h"
#include "harness/timing_request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MAX_TEAMS = 32 };

typedef struct worker {
    kerf_timing_request request;
    FILE *answer;
    kerf_arena arena;
    kerf_clock clock;
    kerf_rng rng, poison;               /* poison: apart, so that the orders do not depend on what is checked */
    uint64_t draw_seed;                 /* of which timed calls are checked */
    kerf_arena expected;                /* of the oracle */
    kerf_thread_team *teams[MAX_TEAMS]; /* of different sizes */
    int n_teams;
    const kerf_team *team; /* of the request's size */
    kerf_timing_turn *turn;
    uint64_t begun_ns;
    uint64_t first_step; /* of the inputs, in this group: the warm-up's */
    uint64_t next_step;  /* no call on the case has seen its inputs yet */
    int groups_left;     /* a group: all rows of a case in one cache mode */
    struct cell *last_called;
} worker;

typedef struct cell {
    worker *w;
    const kerf_requested_case *of;
    const kerf_requested_cell *wanted;
    kerf_timing_inputs *inputs;
    kerf_timing_row own, *row; /* row: of an earlier cell if that has opened it already */
    kerf_error error;          /* why it cannot be timed, or "" */
    kerf_timing_check check;   /* opened while the cell's group is timed, if the case is checked */
    uint64_t called_step;      /* the inputs of the last sample */
    int n_offered;             /* samples that were offered to the check */
    kerf_finding finding;
    kerf_sampler sampler;
} cell;

typedef struct group {
    worker *w;
    kerf_sampler **sampler;
    int n;
    uint64_t wall_ns;
} group;

static kerf_status call_row(void *arg) {
    cell *const one = arg;
    return one->row->variant->run(&one->row->launch);
}

/* Bringing the buffers in from memory at 10 GB/s takes 0.1 ns per byte: below 1 % of a call as long as this. */
static bool is_slow(const cell *one) {
    const double slow_ns_per_byte = 10;
    const kerf_sample *const first = &one->sampler.sample[0];
    return one->sampler.n_samples > 0 &&
           (double)first->total_ns > slow_ns_per_byte * one->row->touched_bytes * first->batch;
}

static bool is_checked(const cell *one) {
    return one->of->check != KERF_TIMING_UNCHECKED && one->of->entry->oracle;
}

/* Whether a sample is checked is drawn when it has been taken: before, nobody knows. */
static void offer_last_sample(cell *one) {
    if (one->check.row && one->sampler.n_samples > one->n_offered)
        kerf_timing_check_offer(&one->check, one->called_step, one->w->draw_seed);
    one->n_offered = one->sampler.n_samples;
}

/* All rows get the same inputs in a round, and other ones in the next: a row that gives its last result again is wrong
 * from then on. */
static void change_inputs(cell *one) {
    worker *const w = one->w;
    one->called_step = w->first_step + (uint64_t)(one->sampler.round + 1);
    kerf_timing_inputs_go_to(one->inputs, one->called_step);
    if (w->next_step <= one->called_step)
        w->next_step = one->called_step + 1;
}

/* Hot is the state that a call leaves to the next call of the same row, so a row whose turn begins makes one first. The
 * warm-up needs none, and a slow row would spend half of its time on what does not show. The inputs change after that
 * call, so that it cannot do the work of the timed ones. */
static void make_hot(void *arg) {
    cell *const one = arg;
    offer_last_sample(one);
    kerf_timing_turn_begin(one->w->turn, one->wanted->id);
    if (one->w->last_called != one && one->sampler.batch > 0 && !is_slow(one)) {
        if (one->sampler.round >= 0) /* the inputs of the last round: another row may have changed them already */
            kerf_timing_inputs_go_to(one->inputs, one->w->first_step + (uint64_t)one->sampler.round);
        call_row(one); /* an error shows again when the call is timed */
    }
    one->w->last_called = one;
    change_inputs(one);
}

static void make_cold(void *arg) {
    cell *const one = arg;
    offer_last_sample(one);
    kerf_timing_turn_begin(one->w->turn, one->wanted->id);
    change_inputs(one);
    kerf_timing_row_evict(one->row);
}

static double sample_group(void *arg) {
    group *const g = arg;
    uint64_t timed_ns = 0;
    kerf_sample_rounds(g->sampler, g->n, g->wall_ns, &g->w->clock, &g->w->rng, NULL);
    for (int i = 0; i < g->n; ++i)
        timed_ns += g->sampler[i]->timed_ns;
    return (double)timed_ns * 1e-9;
}

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

/* The part of the process's budget that is still there, in equal parts for the groups that are still to come. */
static uint64_t share_ns(worker *w) {
    const uint64_t spent_ns = kerf_clock_elapsed_ns(w->begun_ns, w->clock.now_ns(w->clock.state));
    const uint64_t left_ns = w->request.budget_ns > spent_ns ? w->request.budget_ns - spent_ns : 0;
    return left_ns / (uint64_t)w->groups_left--;
}

static kerf_status host_group(group *g, const char *op_name, kerf_cache_mode mode, kerf_error *error) {
    const uint32_t max_batch = mode == KERF_COLD ? 1 : UINT32_C(1) << 20;
    for (int i = 0; i < g->n; ++i)
        g->sampler[i]->rule = kerf_stop_rule_standard(&g->w->clock, g->wall_ns / (uint64_t)g->n, max_batch);
    char name[64];
    snprintf(name, sizeof name, "%.40s/%s", op_name, kerf_cache_mode_name(mode));
    const kerf_hosted_benchmark hosted = {.name = name, .body = sample_group, .arg = g};
    g->w->last_called = NULL;
    g->w->first_step = g->w->next_step;
    const kerf_status status = kerf_google_benchmark_host(&hosted, error);
    kerf_timing_turn_begin(g->w->turn, -1);
    return status;
}

/* Judges all cells whose drawn call had the inputs of this step. */
static void check_step(worker *w, cell *cells, int n, uint64_t step) {
    const kerf_requested_case *const of = cells[0].of;
    kerf_timing_inputs *const inputs = cells[0].inputs;
    kerf_expect expect[KERF_MAX_OPERANDS] = {{0}};
    kerf_error error = {.message = ""};
    kerf_timing_inputs_go_to(inputs, step);
    kerf_arena_rewind(&w->expected, 0);
    const kerf_status status = of->entry->oracle(&inputs->problem, inputs->in, expect, w->team, &w->expected, &error);
    for (int i = 0; i < n; ++i) {
        cell *const one = &cells[i];
        if (!one->check.row || one->check.step != step)
            continue;
        kerf_timing_turn_begin(w->turn, one->wanted->id);
        if (status == KERF_OK)
            kerf_timing_check_judge(&one->check, expect, of->check,
                                    one->wanted->mode == KERF_COLD ? kerf_timing_row_evict : NULL, &w->poison,
                                    &one->finding, &one->error);
        else
            one->error = error;
        kerf_timing_turn_begin(w->turn, -1);
        kerf_timing_check_close(&one->check);
    }
}

/* Each cell's last result still lies in its outputs. */
static void check_group(worker *w, cell *cells, int n) {
    for (int i = 0; i < n; ++i) {
        if (cells[i].check.row && cells[i].sampler.stop == KERF_STOP_ERROR)
            kerf_timing_check_close(&cells[i].check);
        else if (cells[i].check.row)
            offer_last_sample(&cells[i]);
    }
    for (int i = 0; i < n; ++i)
        if (cells[i].check.row)
            check_step(w, cells, n, cells[i].check.step);
}

static void time_group(worker *w, const char *op_name, kerf_cache_mode mode, cell *cells, int n) {
    group g = {.w = w, .sampler = KERF_ARENA_NEW(&w->arena, kerf_sampler *, n), .wall_ns = share_ns(w)};
    kerf_error error = {.message = ""};
    kerf_status status = KERF_OK;
    for (int i = 0; g.sampler && i < n; ++i)
        if (cells[i].wanted->mode == mode && !cells[i].error.message[0] &&
            (!is_checked(&cells[i]) ||
             kerf_timing_check_open(cells[i].row, &w->poison, &cells[i].check, &cells[i].error) == KERF_OK))
            g.sampler[g.n++] = &cells[i].sampler;
    if (!g.sampler)
        status = kerf_fail(&error, KERF_ERROR_MEMORY, "too many rows");
    else if (g.n > 0)
        status = host_group(&g, op_name, mode, &error);
    check_group(w, cells, n);
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
    if (w->n_teams == MAX_TEAMS)
        return kerf_fail(error, KERF_ERROR_USAGE, "more than %d sizes of teams", MAX_TEAMS);
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
        cells[at].sampler.timed =
            (kerf_timed){.arg = &cells[at], .prepare = c->mode == KERF_HOT ? make_hot : make_cold, .call = call_row};
        open_row(w, inputs, cells, at);
    }
    for (int mode = KERF_HOT; mode <= KERF_COLD; ++mode)
        if (has_mode(wanted, (kerf_cache_mode)mode))
            time_group(w, wanted->entry->op->name, (kerf_cache_mode)mode, cells, n);
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
    w->next_step = 0;
    kerf_timing_inputs inputs;
    kerf_error error = {.message = ""};
    w->turn->for_case = wanted->first->id;
    kerf_timing_turn_begin(w->turn, -1);
    if (kerf_timing_inputs_open(&wanted->c, &w->rng, &w->arena, &inputs, &error) == KERF_OK) {
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
    for (const kerf_requested_case *c = w->request.first; c; c = c->next)
        time_case(w, c);
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
