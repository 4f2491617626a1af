/* Google Benchmark's own command line, loop and reporters over our cells. */
#include "harness/google_benchmark_shim.h"
#include "harness/team.h"
#include "harness/timing.h"
#include "harness/timing_check.h"

/* Buffers are opened when a benchmark runs, so that a listing maps nothing, and
 * stay open for the next benchmark of the same case and row: the library calls
 * each several times while it looks for the number of iterations. */
typedef struct front_end {
    kerf_arena arena, expected;
    kerf_rng rng;
    const kerf_team *team;
    kerf_timing_inputs inputs;
    kerf_timing_row row;
    const kerf_case *opened_case;
    const kerf_row *opened_row;
    kerf_timing_cell *called; /* its last result lies in the outputs, not yet
                                 checked; NULL: none does */
    uint32_t n_changes;
    kerf_error error;
} front_end;

typedef struct loop {
    front_end *f;
    kerf_timing_cell *cell;
} loop;

/* Holds the last result of a cell that the library has left against the oracle.
 */
static kerf_status check_last(front_end *f) {
    kerf_timing_cell *const cell = f->called;
    kerf_timing_check check;
    kerf_expect expect[KERF_MAX_OPERANDS] = {{0}};
    f->called = NULL;
    if (!cell || !cell->entry->oracle)
        return KERF_OK;
    kerf_arena_rewind(&f->expected, 0);
    KERF_TRY(cell->entry->oracle(&f->inputs.problem, f->inputs.set[0].in, expect, f->team, &f->expected, &f->error));
    KERF_TRY(kerf_timing_check_open(&f->row, KERF_TIMING_CHECK_LAST, &f->rng, &check, &f->error));
    kerf_finding finding;
    const kerf_status status = kerf_timing_check_last(&check, expect, &finding, &f->error);
    kerf_timing_check_close(&check);
    if (status == KERF_OK && finding.verdict == KERF_FAIL) {
        cell->wrong_on = cell->c;
        cell->finding = finding;
        cell->finding.threads = kerf_team_size(f->team);
    }
    return status;
}

static void close_row(front_end *f) {
    if (f->opened_row)
        kerf_timing_row_close(&f->row);
    f->opened_row = NULL;
}

static void close_case(front_end *f) {
    close_row(f);
    if (f->opened_case)
        kerf_timing_inputs_close(&f->inputs);
    f->opened_case = NULL;
    kerf_arena_rewind(&f->arena, 0);
}

static const char *open_cell(void *arg) {
    const loop *const l = arg;
    front_end *const f = l->f;
    if (l->cell->row->device != KERF_DEVICE_CPU)
        return "rows of this device are not timed";
    if (f->called != l->cell && check_last(f) != KERF_OK)
        return f->error.message;
    if (f->opened_case != l->cell->c) {
        close_case(f);
        if (kerf_timing_inputs_open(l->cell->c, 0, &f->rng, &f->arena, &f->inputs, &f->error) != KERF_OK)
            return f->error.message;
        f->opened_case = l->cell->c;
    }
    if (f->opened_row != l->cell->row) {
        close_row(f);
        if (kerf_timing_row_open(l->cell->row, l->cell->config, &f->inputs, f->team, &f->rng, &f->row, &f->error) !=
            KERF_OK)
            return f->error.message;
        f->opened_row = l->cell->row;
    }
    f->called = l->cell;
    kerf_timing_inputs_go_to(&f->inputs, f->inputs.set[0].step + 1);
    return NULL;
}

/* Counted in a Gray code, so that no content comes again for a million calls.
 */
static void change_inputs(front_end *f) {
    kerf_timing_flip_once(&f->inputs.set[0].flip[__builtin_ctz(++f->n_changes | KERF_TIMING_CALLS)]);
}

static void call_hot(void *arg) {
    const loop *const l = arg;
    change_inputs(l->f);
    l->f->row.variant->run(&l->f->row.launch);
}

static void call_cold(void *arg) {
    const loop *const l = arg;
    l->f->row.variant->run(&l->f->row.launch);
}

static void make_cold(void *arg) {
    const loop *const l = arg;
    change_inputs(l->f);
    kerf_timing_row_evict(&l->f->row);
}

/* "op/case/row/mode", the report key of a cell without parameters. */
static const char *key_of(const kerf_timing_cell *cell, kerf_arena *names) {
    char memory[4096];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "%s/", cell->entry->op->name);
    kerf_case_print(cell->c, &text);
    kerf_text_printf(&text, "/");
    kerf_row_print(cell->row, &text);
    kerf_text_printf(&text, "/%s", kerf_cache_mode_name(cell->mode));
    return kerf_arena_copy_text(names, memory);
}

static kerf_status run_cells(front_end *f, kerf_arena *names, kerf_timing_cell cells[], int n, int argc, char **argv,
                             kerf_error *error) {
    kerf_loop_benchmark *const benchmarks = KERF_ARENA_NEW(names, kerf_loop_benchmark, n);
    loop *const loops = KERF_ARENA_NEW(names, loop, n);
    for (int i = 0; i < n; ++i) {
        const char *const name = benchmarks && loops ? key_of(&cells[i], names) : NULL;
        if (!name)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no room for %d benchmarks", n);
        loops[i] = (loop){.f = f, .cell = &cells[i]};
        benchmarks[i] = (kerf_loop_benchmark){.name = name,
                                              .arg = &loops[i],
                                              .open = open_cell,
                                              .prepare = cells[i].mode == KERF_COLD ? make_cold : NULL,
                                              .call = cells[i].mode == KERF_COLD ? call_cold : call_hot};
    }
    return kerf_google_benchmark_front_end(benchmarks, n, argc, argv, error);
}

kerf_status kerf_timing_front_end(kerf_timing_cell cells[], int n, int threads, int argc, char **argv,
                                  kerf_error *error) {
    front_end f = {.rng = kerf_rng_seeded(0, 0)};
    kerf_arena names;
    kerf_thread_team *team = NULL;
    const size_t arena_bytes = (size_t)1 << 28; /* of address space each */
    KERF_TRY(kerf_arena_map_shared(&names, arena_bytes, error));
    kerf_status status = kerf_arena_map_shared(&f.arena, arena_bytes, error);
    if (status == KERF_OK)
        status = kerf_arena_map_most(&f.expected, (size_t)1 << 36, (size_t)1 << 26, error);
    if (status == KERF_OK && threads > 1)
        status = kerf_thread_team_open(threads, &team, error);
    if (status == KERF_OK) {
        f.team = team ? kerf_thread_team_get(team) : NULL;
        status = run_cells(&f, &names, cells, n, argc, argv, error);
        if (status == KERF_OK && check_last(&f) != KERF_OK)
            status = kerf_fail(error, KERF_ERROR_DEVICE, "%s", f.error.message);
        close_case(&f);
    }
    if (team)
        kerf_thread_team_close(team);
    kerf_arena_unmap(&f.expected);
    kerf_arena_unmap(&f.arena);
    kerf_arena_unmap(&names);
    return status;
}
