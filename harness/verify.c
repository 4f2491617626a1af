#include "harness/verify.h"

#include "base/cpu.h"
#include "harness/casegen.h"
#include "harness/device.h"
#include "harness/team.h"
#include "harness/trust.h"
#include "harness/verify_job.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_WORKERS = 256, MAX_AT_ONCE = 16 };

/* Address space that the arena begins with; a case that needs more (huge strides) gets a larger one and new children.
 */
static const size_t first_arena_bytes = (size_t)1 << 30;
/* Room beside the inputs: the problem, and what the oracle keeps for each element of an output. */
static const size_t oracle_bytes_per_element = 64;
static const size_t spare_bytes = (size_t)64 << 20;
/* What a child may hold beside its buffers, a device library's own memory included. */
static const size_t resident_allowance_bytes = (size_t)1 << 30;

/* One row's child. The child has a copy of this, and `bench` is filled there. */
typedef struct worker {
    kerf_worker process;
    const kerf_row *row;
    kerf_slot *slot;
    kerf_bench *bench;
    kerf_arena arena; /* what the child makes read-only */
    bool is_child_ready;
} worker;

struct kerf_verifier {
    kerf_verify_options options;
    kerf_arena arena, slots;
    kerf_thread_team *team; /* for the oracle; no thread may exist while a child is forked */
    kerf_trust trust;
    kerf_work work; /* of the last case */
    int n_workers;
    worker workers[MAX_WORKERS];
};

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

kerf_status kerf_verifier_open(const kerf_verify_options *options, kerf_verifier **result, kerf_error *error) {
    *result = NULL;
    kerf_verifier *const verifier = calloc(1, sizeof *verifier);
    if (!verifier)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for a verifier");
    verifier->options = *options;
    kerf_status status = kerf_arena_map_shared(&verifier->arena, first_arena_bytes, error);
    if (status == KERF_OK)
        status = kerf_arena_map_shared(&verifier->slots, MAX_WORKERS * sizeof(kerf_slot), error);
    if (status != KERF_OK) {
        kerf_verifier_close(verifier);
        return status;
    }
    *result = verifier;
    return KERF_OK;
}

static void stop_workers(kerf_verifier *verifier) {
    for (int i = 0; i < verifier->n_workers; ++i)
        kerf_worker_end(&verifier->workers[i].process, NULL);
}

static void close_team(kerf_verifier *verifier) {
    kerf_thread_team_close(verifier->team);
    verifier->team = NULL;
}

void kerf_verifier_close(kerf_verifier *verifier) {
    if (!verifier)
        return;
    stop_workers(verifier);
    close_team(verifier);
    kerf_arena_unmap(&verifier->arena);
    kerf_arena_unmap(&verifier->slots);
    kerf_trust_free(&verifier->trust);
    free(verifier);
}

int kerf_verifier_untrusted(const kerf_verifier *verifier,
                            void (*tell)(void *arg, const char *mode, const char *output), void *arg) {
    return kerf_trust_missing(&verifier->trust, tell, arg);
}

/* ---- workers ---------------------------------------------------------------------------------------------------- */

/* The first order finds the arena writable, as it is in the parent: a wild write must not reach what others rely on. */
static void serve(void *arg) {
    worker *const self = arg;
    if (!self->is_child_ready) {
        if (mprotect(self->arena.base, self->arena.size, PROT_READ) != 0)
            abort(); /* the parent then tells a crash, not a PASS that a wild write may have made */
        self->is_child_ready = true;
    }
    kerf_bench_judge(&self->bench, self->row, self->slot);
}

static worker *worker_of(kerf_verifier *verifier, const kerf_row *row) {
    for (int i = 0; i < verifier->n_workers; ++i)
        if (verifier->workers[i].row == row)
            return &verifier->workers[i];
    if (verifier->n_workers == MAX_WORKERS)
        return NULL;
    kerf_slot *const slot = KERF_ARENA_NEW(&verifier->slots, kerf_slot, 1);
    if (!slot)
        return NULL;
    worker *const added = &verifier->workers[verifier->n_workers++];
    *added = (worker){.row = row, .slot = slot};
    return added;
}

static kerf_status order(kerf_verifier *verifier, worker *one, const kerf_job *job, const kerf_config *config,
                         int at_once, kerf_error *error) {
    if (one->process.pid == 0) {
        close_team(verifier);
        one->arena = verifier->arena;
        KERF_TRY(kerf_worker_start(&one->process, serve, one, &one->slot->fault, error));
    }
    kerf_slot *const slot = one->slot;
    slot->job = job;
    slot->config = config;
    slot->fault.signal = 0;
    slot->need_bytes = 0;
    slot->is_alone = at_once == 1;
    slot->is_deferred = false;
    slot->n_windows = 0;
    slot->finding = (kerf_finding){.check = "", .output = -1, .place = ""};
    kerf_worker_order(&one->process);
    return KERF_OK;
}

/* ---- the rows of one case --------------------------------------------------------------------------------------- */

/* Rows in flight. */
typedef struct flight {
    worker *worker;
    int row; /* index of its finding */
    double deadline_s;
} flight;

typedef struct round {
    kerf_verifier *verifier;
    const kerf_job *job;
    const kerf_row *const *rows;
    const kerf_config *const *configs; /* NULL: the defaults for all */
    kerf_finding *findings;
    int n_rows, next, n_flights, at_once, n_deferred;
    flight flights[MAX_AT_ONCE];
    int deferred[MAX_WORKERS]; /* rows that are to run alone */
} round_of_rows;

static bool is_flying(const round_of_rows *all, const kerf_row *row) {
    for (int i = 0; i < all->n_flights; ++i)
        if (all->flights[i].worker->row == row)
            return true;
    return false;
}

static kerf_status launch(round_of_rows *all, int index, kerf_error *error) {
    char memory[160];
    kerf_text why = kerf_text_over(memory, sizeof memory);
    const kerf_row *const row = all->rows[index];
    const char *const unavailable = kerf_row_unavailable(row, all->verifier->options.isa, &why);
    if (unavailable) {
        all->findings[index] = kerf_finding_skip(unavailable);
        return KERF_OK;
    }
    worker *const one = worker_of(all->verifier, row);
    if (!one)
        return kerf_fail(error, KERF_ERROR_USAGE, "more than %d rows in one run; name fewer with --variant",
                         MAX_WORKERS);
    KERF_TRY(order(all->verifier, one, all->job, all->configs ? all->configs[index] : NULL, all->at_once, error));
    all->flights[all->n_flights++] =
        (flight){.worker = one, .row = index, .deadline_s = kerf_monotonic_s() + all->verifier->options.timeout_s};
    return KERF_OK;
}

static void land(round_of_rows *all, int i) {
    const flight *const one = &all->flights[i];
    if (one->worker->slot->is_deferred && all->n_deferred < MAX_WORKERS)
        all->deferred[all->n_deferred++] = one->row;
    all->findings[one->row] = one->worker->slot->finding;
    all->flights[i] = all->flights[--all->n_flights];
}

static bool takes_too_much(const worker *one) {
    const size_t resident = kerf_worker_resident_bytes(&one->process);
    const size_t allowed = one->slot->need_bytes + resident_allowance_bytes;
    if (resident <= allowed)
        return false;
    kerf_slot_tell_memory(one->slot, resident, allowed);
    return true;
}

/* True: the row of flight i is done, one way or another, and its finding is in the slot. */
static bool has_landed(const round_of_rows *all, int i, bool said) {
    const flight *const one = &all->flights[i];
    kerf_slot *const slot = one->worker->slot;
    const double timeout_s = all->verifier->options.timeout_s;
    if (said && kerf_worker_answered(&one->worker->process))
        return true;
    if (said) {
        char memory[80];
        kerf_text how = kerf_text_over(memory, sizeof memory);
        const int signal = kerf_worker_end(&one->worker->process, &how);
        kerf_slot_tell_crash(slot, signal, memory);
        return true;
    }
    if (kerf_monotonic_s() > one->deadline_s) {
        kerf_worker_end(&one->worker->process, NULL);
        kerf_slot_tell_timeout(slot, timeout_s);
        return true;
    }
    if (!takes_too_much(one->worker))
        return false;
    kerf_worker_end(&one->worker->process, NULL);
    return true;
}

static void wait_for_some(round_of_rows *all) {
    const double look_again_s = 0.05;
    const kerf_worker *processes[MAX_AT_ONCE];
    bool said[MAX_AT_ONCE] = {false};
    for (int i = 0; i < all->n_flights; ++i)
        processes[i] = &all->flights[i].worker->process;
    const bool any_said = kerf_workers_wait(processes, all->n_flights, look_again_s, said);
    for (int i = all->n_flights - 1; i >= 0; --i)
        if ((said[i] || !any_said) && has_landed(all, i, said[i])) /* time and memory are looked at in quiet moments */
            land(all, i);
}

static kerf_status run_rows(round_of_rows *all, const volatile sig_atomic_t *interrupted, kerf_error *error) {
    kerf_status status = KERF_OK;
    while (status == KERF_OK && (all->next < all->n_rows || all->n_flights > 0 || all->n_deferred > 0)) {
        if (interrupted && *interrupted) {
            status = kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted");
        } else if (all->next < all->n_rows && all->n_flights < all->at_once && !is_flying(all, all->rows[all->next])) {
            status = launch(all, all->next++, error);
        } else if (all->n_flights == 0) {
            all->at_once = 1;
            status = launch(all, all->deferred[--all->n_deferred], error);
        } else {
            wait_for_some(all);
        }
    }
    for (int i = 0; i < all->n_flights; ++i)
        kerf_worker_end(&all->flights[i].worker->process, NULL);
    return status;
}

/* ---- the case --------------------------------------------------------------------------------------------------- */

/* What a case takes: memory that is touched, and address space of the arena. */
typedef struct budget {
    size_t resident_bytes, arena_bytes;
} budget;

static kerf_status describe(const kerf_op_entry *entry, kerf_job *job, kerf_arena *arena, kerf_error *error) {
    job->problem = (kerf_problem){.bytes = sizeof job->problem};
    KERF_TRY(entry->op->describe(&job->c, arena, &job->problem, error));
    const kerf_problem *const problem = &job->problem;
    if (problem->n_in > KERF_MAX_OPERANDS || problem->n_out > KERF_MAX_OPERANDS)
        return kerf_fail(error, KERF_ERROR_USAGE, "op %s has more than %d operands", entry->op->name,
                         KERF_MAX_OPERANDS);
    for (int i = 0; i < problem->n_in; ++i)
        KERF_TRY(kerf_extent_of(problem->in[i], &job->in_extent[i], error));
    for (int o = 0; o < problem->n_out; ++o) {
        if (problem->out[o]->role == KERF_INOUT)
            return kerf_fail(error, KERF_ERROR_USAGE, "op %s: %s is read and written; only pure outputs are verified",
                             entry->op->name, problem->out[o]->name);
        KERF_TRY(kerf_extent_of(problem->out[o], &job->out_extent[o], error));
    }
    return KERF_OK;
}

static size_t saturated_sum(size_t a, size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* Inputs lie in the arena and once more in the child; an output in the child, with three packed copies of it, and in
 * the oracle's figures. */
static budget budget_of(const kerf_job *job) {
    budget sum = {.resident_bytes = 0, .arena_bytes = spare_bytes};
    for (int i = 0; i < job->problem.n_in; ++i) {
        sum.resident_bytes = saturated_sum(sum.resident_bytes, 2 * job->in_extent[i].resident_bytes);
        sum.arena_bytes = saturated_sum(sum.arena_bytes, job->in_extent[i].span_bytes + 4096);
    }
    for (int o = 0; o < job->problem.n_out; ++o) {
        if (!(job->problem.want >> o & 1))
            continue;
        const kerf_extent *const extent = &job->out_extent[o];
        size_t per_element, oracle;
        per_element = 3 * extent->element_bytes + oracle_bytes_per_element;
        if (__builtin_mul_overflow((size_t)extent->n_elements, per_element, &oracle))
            oracle = SIZE_MAX;
        sum.resident_bytes = saturated_sum(sum.resident_bytes, saturated_sum(extent->resident_bytes, oracle));
        sum.arena_bytes = saturated_sum(sum.arena_bytes, saturated_sum(oracle, oracle));
    }
    return sum;
}

kerf_status kerf_verify_peak_bytes(const kerf_op_entry *entry, const kerf_case *c, size_t *bytes, kerf_error *error) {
    kerf_arena arena = {0};
    KERF_TRY(kerf_arena_map_shared(&arena, (size_t)1 << 20, error));
    kerf_job job = {.entry = entry, .c = *c};
    const kerf_status status = describe(entry, &job, &arena, error);
    *bytes = status == KERF_OK ? budget_of(&job).resident_bytes : 0;
    kerf_arena_unmap(&arena);
    return status;
}

static kerf_status check_memory(size_t need_bytes, kerf_error *error) {
    const size_t available = need_bytes <= KERF_SMALL_BYTES ? SIZE_MAX : kerf_memory_available();
    if (need_bytes <= available)
        return KERF_OK;
    char memory[80];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "the case needs ");
    kerf_print_bytes(&text, (double)need_bytes);
    kerf_text_printf(&text, ", ");
    kerf_print_bytes(&text, (double)available);
    return kerf_fail(error, KERF_ERROR_MEMORY, "%s are free; use smaller --dims", memory);
}

kerf_status kerf_verify_check_memory(const kerf_op_entry *entry, const kerf_case *c, kerf_error *error) {
    size_t need_bytes;
    KERF_TRY(kerf_verify_peak_bytes(entry, c, &need_bytes, error));
    return check_memory(need_bytes, error);
}

/* The case with all that it points to, so that children forked earlier see it. */
static kerf_status copy_case(const kerf_case *c, kerf_case *copy, kerf_arena *arena, kerf_error *error) {
    *copy = *c;
    bool fits = true;
    for (int i = 0; c->op->attrs && c->op->attrs[i]; ++i) {
        const kerf_attr *const attr = &c->attr[i];
        if (attr->text)
            fits = (copy->attr[i].text = kerf_arena_copy_text(arena, attr->text)) && fits;
        if (attr->list && attr->n_list > 0) {
            int64_t *const list = KERF_ARENA_NEW(arena, int64_t, attr->n_list);
            if (list)
                memcpy(list, attr->list, (size_t)attr->n_list * sizeof *list);
            fits = list && fits;
            copy->attr[i].list = list;
        }
    }
    if (c->layout)
        fits = (copy->layout = kerf_arena_copy_text(arena, c->layout)) && fits;
    return fits ? KERF_OK : kerf_fail(error, KERF_ERROR_MEMORY, "the case's attributes do not fit in the arena");
}

/* The configs too, with their names. */
static kerf_status copy_configs(const kerf_config *const configs[], int n, const kerf_config *const **copies,
                                kerf_arena *arena, kerf_error *error) {
    const kerf_config **const list = KERF_ARENA_NEW(arena, const kerf_config *, n);
    bool fits = list != NULL;
    for (int i = 0; i < n && fits; ++i) {
        if (!configs[i])
            continue;
        kerf_config *const copy = KERF_ARENA_NEW(arena, kerf_config, 1);
        kerf_setting *const setting = KERF_ARENA_NEW(arena, kerf_setting, configs[i]->n + 1);
        fits = copy && setting;
        for (int k = 0; k < configs[i]->n && fits; ++k) {
            setting[k].name = kerf_arena_copy_text(arena, configs[i]->setting[k].name);
            setting[k].value = configs[i]->setting[k].value;
            fits = setting[k].name != NULL;
        }
        if (fits)
            *copy = (kerf_config){.bytes = sizeof *copy, .n = configs[i]->n, .setting = setting};
        list[i] = copy;
    }
    *copies = list;
    return fits ? KERF_OK : kerf_fail(error, KERF_ERROR_MEMORY, "%d configs do not fit in the arena", n);
}

/* Starts again with an arena of at least this size; the children that know the old one end. */
static kerf_status ensure_arena(kerf_verifier *verifier, size_t bytes, kerf_error *error) {
    if (bytes <= verifier->arena.size)
        return KERF_OK;
    size_t size = verifier->arena.size;
    while (size < bytes && size <= SIZE_MAX / 4)
        size *= 2;
    kerf_arena larger = {0};
    KERF_TRY(kerf_arena_map_shared(&larger, size, error));
    stop_workers(verifier);
    kerf_arena_unmap(&verifier->arena);
    verifier->arena = larger;
    return KERF_OK;
}

static kerf_status fill_inputs(kerf_job *job, kerf_arena *arena, kerf_error *error) {
    const kerf_problem *const problem = &job->problem;
    kerf_rng poison_rng = kerf_rng_seeded(job->c.seed, kerf_hash_bytes(KERF_HASH_START, "gaps", 4));
    for (int i = 0; i < problem->n_in; ++i) {
        const kerf_extent *const extent = &job->in_extent[i];
        unsigned char *const begin =
            kerf_arena_alloc(arena, extent->span_bytes, extent->density == KERF_SPARSE ? 4096 : 64);
        if (!begin)
            return kerf_fail(error, KERF_ERROR_MEMORY, "the input %s does not fit in the arena", problem->in[i]->name);
        const kerf_poison poison = kerf_poison_of(problem->in[i]->dtype, &poison_rng);
        if (extent->density == KERF_DENSE) /* who reads a gap gets NaN */
            kerf_poison_fill(&poison, begin, extent->span_bytes);
        job->in[i] = begin + extent->before_bytes;
    }
    kerf_rng rng = kerf_rng_seeded(job->c.seed, 0);
    job->entry->op->fill(problem, &rng, job->in);
    return KERF_OK;
}

static kerf_status ask_oracle(kerf_verifier *verifier, kerf_job *job, kerf_error *error) {
    const kerf_team *team = NULL;
    if (verifier->options.threads > 1 && !verifier->team)
        KERF_TRY(kerf_thread_team_open(verifier->options.threads, &verifier->team, error));
    if (verifier->team)
        team = kerf_thread_team_get(verifier->team);
    KERF_TRY(
        job->entry->oracle(&job->problem, (const void *const *)job->in, job->expect, team, &verifier->arena, error));
    char memory[240];
    kerf_text mode = kerf_text_over(memory, sizeof memory);
    kerf_case_print_mode(&job->c, &mode);
    return kerf_trust_note(&verifier->trust, memory, &job->problem, (const void *const *)job->in, job->expect, error);
}

/* Everything of the case is made in the arena, which the caller rewinds. */
static kerf_status make_job(kerf_verifier *verifier, const kerf_op_entry *entry, const kerf_case *c, kerf_job **result,
                            budget *need, kerf_error *error) {
    kerf_arena *const arena = &verifier->arena;
    kerf_job *const job = KERF_ARENA_NEW(arena, kerf_job, 1);
    job->entry = entry;
    job->threads = verifier->options.threads;
    KERF_TRY(copy_case(c, &job->c, arena, error));
    KERF_TRY(describe(entry, job, arena, error));
    *need = budget_of(job);
    *result = job;
    return check_memory(need->resident_bytes, error);
}

static kerf_status verify(kerf_verifier *verifier, const kerf_op_entry *entry, const kerf_case *c, round_of_rows *all,
                          const volatile sig_atomic_t *interrupted, kerf_error *error) {
    kerf_job *job;
    budget need;
    KERF_TRY(make_job(verifier, entry, c, &job, &need, error));
    if (need.arena_bytes > verifier->arena.size) {
        KERF_TRY(ensure_arena(verifier, need.arena_bytes, error));
        KERF_TRY(make_job(verifier, entry, c, &job, &need, error));
    }
    KERF_TRY(fill_inputs(job, &verifier->arena, error));
    if (entry->op->work)
        verifier->work = entry->op->work(&job->problem, (const void *const *)job->in);
    KERF_TRY(ask_oracle(verifier, job, error));
    if (all->configs)
        KERF_TRY(copy_configs(all->configs, all->n_rows, &all->configs, &verifier->arena, error));
    const int processors = kerf_cpu_count();
    all->job = job;
    all->at_once = need.resident_bytes > KERF_SMALL_BYTES ? 1 : processors < MAX_AT_ONCE ? processors : MAX_AT_ONCE;
    return run_rows(all, interrupted, error);
}

kerf_status kerf_verify_case(kerf_verifier *verifier, const kerf_op_entry *entry, const kerf_case *c,
                             const kerf_row *const rows[], int n, kerf_finding findings[],
                             const volatile sig_atomic_t *interrupted, kerf_error *error) {
    return kerf_verify_configs(verifier, entry, c, rows, NULL, n, findings, interrupted, error);
}

kerf_status kerf_verify_configs(kerf_verifier *verifier, const kerf_op_entry *entry, const kerf_case *c,
                                const kerf_row *const rows[], const kerf_config *const configs[], int n,
                                kerf_finding findings[], const volatile sig_atomic_t *interrupted, kerf_error *error) {
    round_of_rows all = {.verifier = verifier, .rows = rows, .configs = configs, .findings = findings, .n_rows = n};
    verifier->work = (kerf_work){0};
    const kerf_status status = verify(verifier, entry, c, &all, interrupted, error);
    kerf_arena_rewind(&verifier->arena, 0);
    return status;
}

kerf_work kerf_verifier_work(const kerf_verifier *verifier) {
    return verifier->work;
}
