/* kerf_time_cells over toy rows. The workers are forked here, not re-executed: this program has other things to do when
 * it is started again. */
#include "harness/google_benchmark_shim.h"
#include "harness/timing_protocol.h"
#include "tests/catch_shim.h"
#include "tests/unit/timing_toy.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- workers -------------------------------------------------------------------------------------------------------
 */

static kerf_status fork_worker(void *arg, int request, int answer, pid_t *worker, kerf_error *error) {
    (void)arg;
    fflush(NULL);
    *worker = fork();
    if (*worker < 0)
        return kerf_fail(error, KERF_ERROR_DEVICE, "cannot fork");
    if (*worker > 0)
        return KERF_OK;
    FILE *const in = fdopen(request, "r"), *const out = fdopen(answer, "w");
    _exit(in && out ? kerf_timing_work(&registry, in, out) : 99);
}

static kerf_status fork_silent(void *arg, int request, int answer, pid_t *worker, kerf_error *error) {
    (void)arg, (void)request, (void)answer;
    *worker = fork();
    if (*worker == 0)
        _exit(7);
    return *worker > 0 ? KERF_OK : kerf_fail(error, KERF_ERROR_DEVICE, "cannot fork");
}

typedef struct fixture {
    kerf_arena arena;
    kerf_case cases[2];
    kerf_timing_cell cells[24];
    int n;
    kerf_timing_options options;
    kerf_error error;
    int last_done, total;
} fixture;

static void add_case(fixture *f, const kerf_case *c, const int *numbers, int n) {
    for (int mode = KERF_HOT; mode <= KERF_COLD; ++mode)
        for (int i = 0; i < n; ++i)
            f->cells[f->n++] =
                (kerf_timing_cell){.entry = &entry, .c = c, .row = &rows[numbers[i]], .mode = (kerf_cache_mode)mode};
}

/* Two cases, each hot and cold, with these rows. */
static bool fixture_open(fixture *f, const char *first, const char *second, const int *numbers, int n) {
    memset(f, 0, sizeof *f);
    f->options = (kerf_timing_options){.processes = 3, .threads = 1, .budget_s = 0.05, .seed = 4};
    if (kerf_arena_map_shared(&f->arena, (size_t)16 << 20, &f->error) != KERF_OK ||
        kerf_case_parse(&doubling_op, first, &f->arena, &f->cases[0], &f->error) != KERF_OK ||
        kerf_case_parse(&doubling_op, second, &f->arena, &f->cases[1], &f->error) != KERF_OK)
        return false;
    add_case(f, &f->cases[0], numbers, n);
    add_case(f, &f->cases[1], numbers, n);
    return true;
}

static void note_progress(void *arg, int done, int total) {
    fixture *const f = arg;
    f->last_done = done;
    f->total = total;
}

static kerf_status time_with(fixture *f, kerf_timing_launcher launcher, const volatile int *interrupted) {
    return kerf_time_cells_with(&launcher, f->cells, f->n, &f->options, &f->arena, note_progress, f, interrupted,
                                &f->error);
}

static kerf_status time_forked(fixture *f) {
    return time_with(f, (kerf_timing_launcher){.start = fork_worker}, NULL);
}

static const char *fault_of_samples(const kerf_timing_cell *cell, int processes) {
    int per_process[8] = {0}, last_process = 0, last_round = -1;
    for (int i = 0; i < cell->n_samples; ++i) {
        const kerf_sample *const s = &cell->sample[i];
        if (s->process < last_process || s->process >= processes)
            return "processes are out of order";
        if (s->process == last_process && s->round <= last_round)
            return "rounds are out of order";
        if (s->batch == 0 || s->total_ns == 0 || (cell->mode == KERF_COLD && s->batch != 1))
            return "a batch that cannot be";
        last_process = s->process;
        last_round = s->round;
        ++per_process[s->process];
    }
    for (int p = 0; p < processes; ++p)
        if (per_process[p] < 3 || cell->stop[p] == KERF_STOP_NONE || cell->stop[p] == KERF_STOP_ERROR)
            return "a process has too few samples";
    return cell->reason[0] ? "there is a reason why there are no samples" : NULL;
}

static bool is_dropped(const kerf_timing_cell *cell, const char *why) {
    return cell->n_samples == 0 && strstr(cell->reason, why) != NULL;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------
 */

static void every_cell_gets_samples_of_every_process(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=5000 dtype=f32", (const int[]){DOUBLING, AGAIN}, 2));
    REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
    for (int i = 0; i < f.n; ++i)
        REQUIRE_MESSAGE(!fault_of_samples(&f.cells[i], 3), "cell %d: %s (%s)", i, fault_of_samples(&f.cells[i], 3),
                        f.cells[i].reason);
    REQUIRE(f.last_done == 3 * f.n && f.total == 3 * f.n);
    kerf_arena_unmap(&f.arena);
}

static void ranks_of_a_team_time_too(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING}, 1));
    f.options.threads = 2;
    REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
    for (int i = 0; i < f.n; ++i)
        REQUIRE(!fault_of_samples(&f.cells[i], 3));
    kerf_arena_unmap(&f.arena);
}

/* Three configs of one row in each case; the second does not fit its team. */
static void configs_of_a_row_are_cells_of_their_own(void) {
    static fixture f;
    static const kerf_setting settings[] = {{"ranks", 1}, {"ranks", 2}, {"ranks", 3}};
    kerf_config configs[3];
    REQUIRE(
        fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", (const int[]){CONFIGURED, CONFIGURED, CONFIGURED}, 3));
    for (int i = 0; i < f.n; ++i) {
        configs[i % 3] = (kerf_config){.bytes = sizeof(kerf_config), .n = 1, .setting = &settings[i % 3]};
        f.cells[i].config = &configs[i % 3];
        f.cells[i].threads = i % 3 == 1 ? 4 : i % 3 + 1;
    }
    REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
    for (int i = 0; i < f.n; ++i) {
        if (i % 3 == 1)
            REQUIRE_MESSAGE(is_dropped(&f.cells[i], "returned an error"), "cell %d: %s", i, f.cells[i].reason);
        else
            REQUIRE_MESSAGE(!fault_of_samples(&f.cells[i], 3), "cell %d: %s (%s)", i, fault_of_samples(&f.cells[i], 3),
                            f.cells[i].reason);
    }
    kerf_arena_unmap(&f.arena);
}

static void rows_that_end_the_process_are_dropped_and_the_rest_is_timed(void) {
    static const struct {
        int row;
        const char *reason;
        bool crashed;
    } ends[] = {{KILLED, "signal 9", true}, {LEAVING, "status 3", true}, {FAILING, "returned an error", false}};
    for (int e = 0; e < 3; ++e) {
        static fixture f;
        REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING, ends[e].row, AGAIN}, 3));
        REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
        for (int i = 0; i < f.n; ++i) {
            if (f.cells[i].row == &rows[ends[e].row])
                REQUIRE_MESSAGE(is_dropped(&f.cells[i], ends[e].reason), "cell %d: %s", i, f.cells[i].reason);
            else
                REQUIRE_MESSAGE(!fault_of_samples(&f.cells[i], 3), "%s", fault_of_samples(&f.cells[i], 3));
            REQUIRE(f.cells[i].crashed == (ends[e].crashed && f.cells[i].row == &rows[ends[e].row]));
        }
        kerf_arena_unmap(&f.arena);
    }
}

/* A large case changes in few elements only: it is the poison that shows what one left out. */
static void rows_that_are_wrong_when_timed_are_dropped(void) {
    for (int row = SKIPPING; row <= WATCHED; ++row) {
        static fixture f;
        REQUIRE(fixture_open(&f, "N=20000 dtype=f32", "N=10 dtype=f32", (const int[]){DOUBLING, row}, 2));
        REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
        for (int i = 0; i < f.n; ++i) {
            const kerf_timing_cell *const cell = &f.cells[i];
            REQUIRE_MESSAGE((cell->wrong_on != NULL) == (cell->row == &rows[row]), "cell %d: %s", i, cell->reason);
            REQUIRE_MESSAGE(cell->wrong_on || !fault_of_samples(cell, 3), "%s", fault_of_samples(cell, 3));
            if (!cell->wrong_on)
                continue;
            const int64_t n = cell->wrong_on->dim[0];
            REQUIRE(is_dropped(cell, "wrong") && !cell->crashed);
            REQUIRE(cell->finding.verdict == KERF_FAIL && strcmp(cell->finding.check, "timed") == 0);
            REQUIRE(cell->finding.output == 0 && cell->finding.rank == 1 && cell->finding.n_bad > 0);
            REQUIRE(cell->finding.n_elements == n);
            REQUIRE(cell->finding.index[0] >= 0 && cell->finding.index[0] < n);
            REQUIRE(fabs(cell->finding.lo) == 2 * (double)(cell->finding.index[0] + 1) && cell->finding.slack == 0);
        }
        kerf_arena_unmap(&f.arena);
    }
}

static void case_that_dies_while_it_is_made_is_dropped(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=13 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING, AGAIN}, 2));
    REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
    for (int i = 0; i < f.n; ++i)
        REQUIRE(i < f.n / 2 ? is_dropped(&f.cells[i], "signal 9") : !fault_of_samples(&f.cells[i], 3));
    kerf_arena_unmap(&f.arena);
}

static void case_that_is_refused_is_dropped_with_its_message(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=0 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING}, 1));
    REQUIRE_MESSAGE(time_forked(&f) == KERF_OK, "%s", f.error.message);
    REQUIRE(is_dropped(&f.cells[0], "N must be positive"));
    REQUIRE(!fault_of_samples(&f.cells[2], 3));
    kerf_arena_unmap(&f.arena);
}

static void device_rows_are_not_timed(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING, DEVICE}, 2));
    REQUIRE(time_forked(&f) == KERF_OK);
    REQUIRE(!fault_of_samples(&f.cells[0], 3));
    REQUIRE(is_dropped(&f.cells[1], "CPU"));
    kerf_arena_unmap(&f.arena);
}

static void worker_without_an_answer_is_an_error(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING}, 1));
    REQUIRE(time_with(&f, (kerf_timing_launcher){.start = fork_silent}, NULL) == KERF_ERROR_DEVICE);
    REQUIRE(strstr(f.error.message, "status 7"));
    for (int i = 0; i < f.n; ++i)
        REQUIRE(f.cells[i].n_samples == 0);
    kerf_arena_unmap(&f.arena);
}

static volatile int stop_asked;

static kerf_status fork_and_interrupt_the_second(void *arg, int request, int answer, pid_t *worker, kerf_error *error) {
    int *const n_started = arg;
    stop_asked = ++*n_started == 2;
    return fork_worker(NULL, request, answer, worker, error);
}

static void interruption_keeps_what_is_complete(void) {
    static fixture f;
    int n_started = 0;
    stop_asked = 0;
    REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", (const int[]){DOUBLING}, 1));
    const kerf_timing_launcher launcher = {.start = fork_and_interrupt_the_second, .arg = &n_started};
    REQUIRE(time_with(&f, launcher, &stop_asked) == KERF_ERROR_INTERRUPTED);
    for (int i = 0; i < f.n; ++i) {
        REQUIRE(f.cells[i].n_samples >= 3);
        REQUIRE(f.cells[i].sample[f.cells[i].n_samples - 1].process == 0);
        REQUIRE(f.cells[i].stop[1] == KERF_STOP_NONE);
    }
    kerf_arena_unmap(&f.arena);
}

static void no_cells_are_no_work(void) {
    static fixture f;
    REQUIRE(fixture_open(&f, "N=100 dtype=f32", "N=200 dtype=f32", NULL, 0));
    REQUIRE(time_forked(&f) == KERF_OK);
    kerf_arena_unmap(&f.arena);
}

static void unknown_argument_of_the_front_end_is_usage(void) {
    char unknown[] = "--benchmark_nothing", *arguments[] = {unknown, NULL};
    kerf_error error = {.message = ""};
    REQUIRE(kerf_timing_front_end(NULL, 0, 1, 1, arguments, &error) == KERF_ERROR_USAGE);
    REQUIRE(strstr(error.message, unknown));
}

static double count_body(void *arg) {
    ++*(int *)arg;
    return 1e-6;
}

static void hosted_body_runs_once_each_time(void) {
    kerf_error error;
    int n = 0;
    const kerf_hosted_benchmark hosted = {.name = "any name, with [strange] signs/hot", .body = count_body, .arg = &n};
    for (int i = 1; i <= 3; ++i) {
        REQUIRE(kerf_google_benchmark_host(&hosted, &error) == KERF_OK);
        REQUIRE(n == i);
    }
}

#define TEST(name, run)                                                                                                \
    { "timing: " name, "[unit][timing]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_timing[] = {
    TEST("every cell gets samples of every process", every_cell_gets_samples_of_every_process),
    TEST("ranks of a team time too", ranks_of_a_team_time_too),
    TEST("configs of a row are cells of their own", configs_of_a_row_are_cells_of_their_own),
    TEST("a row that ends the process is dropped and the rest is timed",
         rows_that_end_the_process_are_dropped_and_the_rest_is_timed),
    TEST("a row that is wrong when it is timed is dropped", rows_that_are_wrong_when_timed_are_dropped),
    TEST("a case that dies while it is made is dropped", case_that_dies_while_it_is_made_is_dropped),
    TEST("a case that is refused is dropped with its message", case_that_is_refused_is_dropped_with_its_message),
    TEST("device rows are not timed", device_rows_are_not_timed),
    TEST("a worker without an answer is an error", worker_without_an_answer_is_an_error),
    TEST("an interruption keeps what is complete", interruption_keeps_what_is_complete),
    TEST("no cells are no work", no_cells_are_no_work),
    TEST("an unknown argument of the front end is usage", unknown_argument_of_the_front_end_is_usage),
    TEST("a hosted body runs once each time", hosted_body_runs_once_each_time),
    {0},
};
