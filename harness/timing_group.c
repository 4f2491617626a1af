#include "harness/timing_group.h"

#include "harness/google_benchmark_shim.h"

typedef kerf_worker worker;
typedef kerf_worker_cell cell;

typedef struct group {
    worker *w;
    kerf_sampler **sampler;
    int n;
    uint64_t wall_ns;
    cell *cells; /* all of the case */
    int n_cells;
    bool closes; /* with a round in which the last calls are checked */
} group;

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static kerf_status call_row(void *arg) {
    const cell *const one = arg;
    const kerf_status status = one->row->variant->run(&one->row->launch);
    kerf_timing_set_called(one->set);
    return status;
}

/* Bringing the buffers in from memory at 10 GB/s takes 0.1 ns per byte: below 1 % of a call as long as this. */
static bool is_slow(const cell *one) {
    const double slow_ns_per_byte = 10;
    const kerf_sample *const first = &one->sampler.sample[0];
    return one->sampler.n_samples > 0 &&
           (double)first->total_ns > slow_ns_per_byte * one->row->touched_bytes * first->batch;
}

/* Whether a sample is checked is drawn when it has been taken: before, nobody knows. */
static void offer_last_sample(cell *one) {
    if (one->check.row && one->sampler.n_samples > one->n_offered)
        kerf_timing_check_offer(&one->check, one->called_step, one->w->draw_seed);
    one->n_offered = one->sampler.n_samples;
}

static void use_step(cell *one, uint64_t step) {
    const int set = kerf_timing_inputs_go_to(one->inputs, step);
    one->set = &one->inputs->set[set];
    kerf_timing_row_use(one->row, set);
}

/* All rows get the same inputs in a round, and other ones in the next. */
static uint64_t step_of(const cell *one) {
    return one->w->first_step + (uint64_t)(one->sampler.round + 1);
}

static void use_step_of_round(cell *one, uint32_t calls) {
    worker *const w = one->w;
    one->called_step = step_of(one);
    use_step(one, one->called_step);
    /* The warm-up doubles its calls, all on the same step: the first half of twice as many is new to each. */
    kerf_timing_set_begin(one->set, one->sampler.round < 0 ? 2 * calls : calls);
    if (w->next_step <= one->called_step)
        w->next_step = one->called_step + 1;
}

/* Hot is the state that a call leaves to the next call of the same row on the same buffers, so a row whose turn begins
 * makes one first. The warm-up needs none, and a slow row would spend half of its time on what does not show. The
 * inputs of that call are those that the set had before, so that it cannot do the work of the timed ones. */
static void make_hot(void *arg, uint32_t calls) {
    cell *const one = arg;
    const int n_sets = one->inputs->n_sets;
    offer_last_sample(one);
    kerf_timing_turn_begin(one->w->turn, one->wanted->id);
    if ((n_sets > 1 || one->w->last_called != one) && one->sampler.batch > 0 && !is_slow(one)) {
        use_step(one, step_of(one) - (uint64_t)n_sets);
        one->row->variant->run(&one->row->launch); /* an error shows again when the call is timed */
    }
    one->w->last_called = one;
    use_step_of_round(one, calls);
}

static void make_cold(void *arg, uint32_t calls) {
    cell *const one = arg;
    offer_last_sample(one);
    kerf_timing_turn_begin(one->w->turn, one->wanted->id);
    use_step_of_round(one, calls);
    kerf_timing_row_evict(one->row);
}

kerf_timed kerf_worker_cell_timed(kerf_worker_cell *one) {
    return (kerf_timed){.arg = one, .prepare = one->wanted->mode == KERF_HOT ? make_hot : make_cold, .call = call_row};
}

/* ---- overhead --------------------------------------------------------------------------------------------------- */

static kerf_status do_nothing(const kerf_launch *launch) {
    (void)launch;
    return KERF_OK;
}

static void begin_nothing(void *arg, uint32_t calls) {
    kerf_timing_set_begin(((const cell *)arg)->set, calls);
}

kerf_overhead kerf_timing_overhead(const kerf_clock *clock) {
    static const kerf_variant nothing = {.bytes = sizeof(kerf_variant), .summary = "", .run = do_nothing};
    kerf_timing_row row = {.variant = &nothing};
    kerf_timing_set set = {.spare = 0};
    for (int i = 0; i < KERF_TIMING_FLIPS; ++i)
        set.flip[i] = (kerf_timing_flip){.at = &set.spare, .bits = 1};
    cell one = {.row = &row, .set = &set};
    return kerf_sampler_overhead(&(kerf_timed){.arg = &one, .prepare = begin_nothing, .call = call_row}, clock);
}

/* ---- sampling --------------------------------------------------------------------------------------------------- */

static double sample_group(void *arg) {
    group *const g = arg;
    uint64_t timed_ns = 0;
    kerf_sample_rounds(g->sampler, g->n, g->wall_ns, &g->w->clock, &g->w->rng, NULL);
    if (g->closes) {
        for (int i = 0; i < g->n_cells; ++i)
            offer_last_sample(&g->cells[i]);
        kerf_sample_closing_round(g->sampler, g->n, &g->w->clock, &g->w->rng);
        for (int i = 0; i < g->n_cells; ++i)
            g->cells[i].has_last = g->cells[i].sampler.n_samples > g->cells[i].n_offered;
    }
    for (int i = 0; i < g->n; ++i)
        timed_ns += g->sampler[i]->timed_ns;
    return (double)timed_ns * 1e-9;
}

/* The part of the process's budget that is still there, in equal parts for the groups that are still to come. */
static uint64_t share_ns(worker *w) {
    const uint64_t spent_ns = kerf_clock_elapsed_ns(w->begun_ns, w->clock.now_ns(w->clock.state));
    const uint64_t left_ns = w->request.budget_ns > spent_ns ? w->request.budget_ns - spent_ns : 0;
    return left_ns / (uint64_t)w->groups_left--;
}

static kerf_status host_group(group *g, const char *op_name, kerf_cache_mode mode, kerf_error *error) {
    const uint32_t max_batch = mode == KERF_COLD ? 1 : KERF_TIMING_CALLS;
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

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static kerf_status ask_oracle(worker *w, const cell *any, uint64_t step, kerf_expect expect[], kerf_error *error) {
    kerf_timing_inputs *const inputs = any->inputs;
    const int set = kerf_timing_inputs_go_to(inputs, step);
    kerf_arena_rewind(&w->expected, 0);
    return any->of->entry->oracle(&inputs->problem, inputs->set[set].in, expect, w->team, &w->expected, error);
}

/* Judges all cells whose last call had the inputs of this step; their results still lie in the outputs. */
static void check_last(worker *w, cell *cells, int n, uint64_t step) {
    kerf_expect expect[KERF_MAX_OPERANDS] = {{0}};
    kerf_error error = {.message = ""};
    const kerf_status status = ask_oracle(w, &cells[0], step, expect, &error);
    for (int i = 0; i < n; ++i) {
        cell *const one = &cells[i];
        if (!one->has_last || one->called_step != step)
            continue;
        one->has_last = false;
        if (status == KERF_OK)
            kerf_timing_check_last(&one->check, expect, &one->finding, &one->error);
        else
            one->error = error;
        if (one->finding.verdict != KERF_PASS || one->error.message[0])
            kerf_timing_check_close(&one->check);
    }
}

/* Judges all cells whose drawn call had the inputs of this step. */
static void check_drawn(worker *w, cell *cells, int n, uint64_t step) {
    kerf_expect expect[KERF_MAX_OPERANDS] = {{0}};
    kerf_error error = {.message = ""};
    const kerf_status status = ask_oracle(w, &cells[0], step, expect, &error);
    for (int i = 0; i < n; ++i) {
        cell *const one = &cells[i];
        if (!one->check.row || one->check.step != step)
            continue;
        kerf_timing_turn_begin(w->turn, one->wanted->id);
        if (status == KERF_OK)
            kerf_timing_check_drawn(&one->check, expect, one->wanted->mode == KERF_COLD ? kerf_timing_row_evict : NULL,
                                    &w->poison, &one->finding, &one->error);
        else
            one->error = error;
        kerf_timing_turn_begin(w->turn, -1);
        kerf_timing_check_close(&one->check);
    }
}

/* The last results first: poisoned calls write over them. */
static void check_group(worker *w, cell *cells, int n) {
    for (int i = 0; i < n; ++i)
        if (cells[i].check.row && cells[i].sampler.stop == KERF_STOP_ERROR)
            kerf_timing_check_close(&cells[i].check);
    for (int i = 0; i < n; ++i) {
        offer_last_sample(&cells[i]);
        if (!cells[i].check.row)
            cells[i].has_last = false;
    }
    for (int i = 0; i < n; ++i)
        if (cells[i].has_last)
            check_last(w, cells, n, cells[i].called_step);
    for (int i = 0; i < n; ++i)
        if (cells[i].check.row && !cells[i].check.has_kept)
            kerf_timing_check_close(&cells[i].check);
    for (int i = 0; i < n; ++i)
        if (cells[i].check.row)
            check_drawn(w, cells, n, cells[i].check.step);
}

static bool open_check(worker *w, cell *one) {
    const unsigned checks = one->of->entry->oracle ? one->of->checks : 0;
    return checks == 0 || kerf_timing_check_open(one->row, checks, &w->poison, &one->check, &one->error) == KERF_OK;
}

static void begin_loop(void *arg) {
    worker *const w = arg;
    kerf_timing_turn_begin(w->turn, -1);
    w->last_called = NULL;
}

/* NULL if there are none. */
static kerf_timing_loop *loops_of(worker *w, const kerf_requested_case *of, kerf_cache_mode mode, int *n) {
    *n = w->loops ? kerf_timing_loops_count(of, mode) : 0;
    kerf_timing_loop *const loops = *n > 0 ? KERF_ARENA_NEW(&w->arena, kerf_timing_loop, *n) : NULL;
    const kerf_timing_loop common = {
        .loops = w->loops, .turn = begin_loop, .turn_arg = w, .threads = w->request.threads};
    if (loops)
        kerf_timing_loops_prepare(of, mode, &common, loops);
    else
        *n = 0;
    return loops;
}

kerf_status kerf_timing_group_run(kerf_worker *w, kerf_cache_mode mode, kerf_worker_cell *cells, int n,
                                  kerf_error *error) {
    const kerf_requested_case *const of = cells[0].of;
    int n_loops;
    kerf_timing_loop *const loops = loops_of(w, of, mode, &n_loops);
    group g = {.w = w,
               .sampler = KERF_ARENA_NEW(&w->arena, kerf_sampler *, n + n_loops),
               .wall_ns = share_ns(w),
               .cells = cells,
               .n_cells = n,
               .closes = of->checks & KERF_TIMING_CHECK_LAST};
    if (!g.sampler)
        return kerf_fail(error, KERF_ERROR_MEMORY, "too many rows");
    for (int i = 0; i < n; ++i)
        if (cells[i].wanted->mode == mode && !cells[i].error.message[0] && open_check(w, &cells[i]))
            g.sampler[g.n++] = &cells[i].sampler;
    for (int i = 0; i < n_loops; ++i)
        g.sampler[g.n++] = &loops[i].sampler;
    const kerf_status status = g.n > 0 ? host_group(&g, of->entry->op->name, mode, error) : KERF_OK;
    check_group(w, cells, n);
    kerf_timing_loops_tell(loops, n_loops, w->answer);
    return status;
}
