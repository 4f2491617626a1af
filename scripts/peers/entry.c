#include "scripts/peers/entry.h"

#include "base/cpu.h"
#include "harness/casegen.h"
#include "harness/compare.h"
#include "harness/limits_file.h"
#include "harness/place.h"
#include "harness/row_limit.h"
#include "harness/team.h"
#include "harness/timing_buffers.h"
#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/registry.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { N_JUDGES = 2 }; /* the case as it is, and with accumulate=storage */

/* The entries of both ops, and the arguments of the one that is bound. */
typedef struct bound_row {
    kerf_status (*grad_memory)(const kerf_grid_sampler_grad_args *, kerf_memory *, kerf_error *);
    kerf_status (*grad_run)(const kerf_grid_sampler_grad_args *, kerf_error *);
    kerf_status (*forward_memory)(const kerf_grid_sampler_args *, kerf_memory *, kerf_error *);
    kerf_status (*forward_run)(const kerf_grid_sampler_args *, kerf_error *);
    kerf_grid_sampler_grad_args grad;
    kerf_grid_sampler_args forward;
    kerf_timing_block out[KERF_SAMPLING_MOST_OUT], scratch;
} bound_row;

struct kerf_peers {
    const kerf_op_entry *entry;
    kerf_case c;
    kerf_arena arena;
    kerf_thread_team *team;
    kerf_rng offsets;
    kerf_timing_inputs inputs;
    kerf_expect expect[N_JUDGES][KERF_SAMPLING_MOST_OUT];
    int n_rows;
    bound_row row[KERF_PEERS_ROWS];
};

static kerf_error last_error;

const char *kerf_peers_message(void) {
    return last_error.message;
}

static const char *op_name = "grid_sampler_grad";

int kerf_peers_use(const char *op) {
    if (strcmp(op, "grid_sampler") != 0 && strcmp(op, "grid_sampler_grad") != 0)
        return (int)kerf_fail(&last_error, KERF_ERROR_USAGE, "op `%s`: grid_sampler and grid_sampler_grad are known",
                              op);
    op_name = strcmp(op, "grid_sampler") == 0 ? "grid_sampler" : "grid_sampler_grad";
    return 0;
}

static bool is_forward(void) {
    return strcmp(op_name, "grid_sampler") == 0;
}

static int n_in(const kerf_peers *peers) {
    return peers->inputs.problem.n_in;
}
static int n_out(const kerf_peers *peers) {
    return peers->inputs.problem.n_out;
}

static const kerf_operand *operand_of(const kerf_peers *peers, int operand) {
    const kerf_problem *const problem = &peers->inputs.problem;
    return operand < n_in(peers) ? problem->in[operand] : problem->out[operand - n_in(peers)];
}

static bool is_wanted(const kerf_peers *peers, int output) {
    return peers->inputs.problem.want >> output & 1;
}

static const kerf_op_entry *find_entry(void) {
    return kerf_registry_find(kerf_registry_builtin(), op_name);
}

int kerf_peers_read(const char *path, void (*tell)(const char *text)) {
    kerf_arena arena;
    kerf_case_list list = {0};
    kerf_status status = kerf_arena_map_most(&arena, (size_t)1 << 30, (size_t)1 << 26, &last_error);
    if (status != KERF_OK)
        return (int)status;
    status = kerf_cases_read_file(find_entry()->op, path, KERF_EXPAND_ALL, &(kerf_case_filter){0}, &arena, &list,
                                  &last_error);
    for (int i = 0; status == KERF_OK && i < list.n; ++i) {
        char memory[4096];
        kerf_text text = kerf_text_over(memory, sizeof memory);
        kerf_case_print(&list.at[i], &text);
        tell(memory);
    }
    kerf_arena_unmap(&arena);
    return (int)status;
}

static struct { int n, cpu[CPU_SETSIZE]; } pinned;

void kerf_peers_pin(const int *cpus, int n) {
    pinned.n = n < CPU_SETSIZE ? n : CPU_SETSIZE;
    memcpy(pinned.cpu, cpus, (size_t)pinned.n * sizeof *cpus);
}

static void pin_rank(void *arg, int rank) {
    (void)arg;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)pinned.cpu[rank % pinned.n], &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* The threads are started where all processors are seen: a team counts them to know whether its ranks may spin. */
static kerf_status open_team(kerf_peers *peers, int threads) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < pinned.n; ++i)
        CPU_SET((size_t)pinned.cpu[i], &all);
    if (pinned.n > 0)
        sched_setaffinity(0, sizeof all, &all);
    if (threads > 1)
        KERF_TRY(kerf_thread_team_open(threads, &peers->team, &last_error));
    if (pinned.n > 0)
        kerf_team_run(peers->team ? kerf_thread_team_get(peers->team) : NULL, pin_rank, NULL);
    return KERF_OK;
}

static kerf_status open_case(kerf_peers *peers, const char *line, int threads) {
    /* Address space only: what the oracle needs depends on the case. */
    KERF_TRY(kerf_arena_map_most(&peers->arena, (size_t)1 << 36, (size_t)1 << 28, &last_error));
    peers->entry = find_entry();
    KERF_TRY(kerf_case_parse(peers->entry->op, line, &peers->arena, &peers->c, &last_error));
    KERF_TRY(kerf_timing_inputs_open(&peers->c, 0, &peers->offsets, &peers->arena, &peers->inputs, &last_error));
    return open_team(peers, threads);
}

kerf_peers *kerf_peers_open(const char *line, int threads, uint64_t offsets) {
    kerf_peers *const peers = calloc(1, sizeof *peers);
    if (!peers) {
        kerf_fail(&last_error, KERF_ERROR_MEMORY, "no memory for a case");
        return NULL;
    }
    peers->offsets = kerf_rng_seeded(offsets, 0);
    if (open_case(peers, line, threads) == KERF_OK)
        return peers;
    kerf_peers_close(peers);
    return NULL;
}

void kerf_peers_close(kerf_peers *peers) {
    for (int r = 0; r < peers->n_rows; ++r) {
        for (int o = 0; o < KERF_SAMPLING_MOST_OUT; ++o)
            kerf_timing_block_unmap(&peers->row[r].out[o]);
        kerf_timing_block_unmap(&peers->row[r].scratch);
    }
    kerf_timing_inputs_close(&peers->inputs);
    kerf_thread_team_close(peers->team);
    kerf_arena_unmap(&peers->arena);
    free(peers);
}

void kerf_peers_describe(const kerf_peers *peers, int operand, kerf_peers_operand *result) {
    const kerf_strided *const at = &operand_of(peers, operand)->at;
    *result = (kerf_peers_operand){0};
    if (operand < n_in(peers))
        result->data = peers->inputs.set[0].block[operand].data;
    kerf_strided_count(at, &result->n_elements);
    memcpy(result->dims, at->dims, sizeof result->dims);
    memcpy(result->strides, at->strides, sizeof result->strides);
}

double kerf_peers_bytes(const kerf_peers *peers) {
    double bytes = 0;
    for (int i = 0; i < n_in(peers) + n_out(peers); ++i) {
        const kerf_strided at = kerf_strided_unique(&operand_of(peers, i)->at);
        int64_t n;
        if ((i < n_in(peers) || is_wanted(peers, i - n_in(peers))) && kerf_strided_count(&at, &n))
            bytes += (double)n * (double)kerf_dtype_bytes(peers->c.dtype);
    }
    return bytes;
}

static const kerf_kept_limits *kept_limits(void) {
    static kerf_kept_limits kept;
    static bool found, asked;
    const kerf_machine machine = kerf_machine_here();
    char path[512];
    kerf_text text = kerf_text_over(path, sizeof path);
    if (!asked && kerf_limits_path(&machine, &text))
        found = kerf_limits_read(path, &machine, &found, &kept, &last_error) == KERF_OK && found;
    asked = true;
    return found ? &kept : NULL;
}

double kerf_peers_limit_ns(const kerf_peers *peers, int threads) {
    const kerf_kept_limits *const kept = kept_limits();
    const kerf_problem *const problem = &peers->inputs.problem;
    if (!kept || !problem->op->work)
        return 0;
    const kerf_limited what = {.work = problem->op->work(problem, peers->inputs.set[0].in),
                               .mode = KERF_HOT,
                               .dtype = peers->c.dtype,
                               .threads = threads};
    return kerf_row_limit_of(&kept->limits, &what).ns;
}

/* ---- our entry ------------------------------------------------------------------------------------------------- */

static kerf_status bind_functions(const char *path, bound_row *row) {
    /* Local: several builds of the library keep their symbols to themselves. */
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return kerf_fail(&last_error, KERF_ERROR_FILE, "cannot load the library: %s", dlerror());
    *(void **)&row->grad_memory = dlsym(library, "kerf_grid_sampler_grad_memory");
    *(void **)&row->grad_run = dlsym(library, "kerf_grid_sampler_grad");
    *(void **)&row->forward_memory = dlsym(library, "kerf_grid_sampler_memory");
    *(void **)&row->forward_run = dlsym(library, "kerf_grid_sampler");
    if (is_forward() ? !row->forward_memory || !row->forward_run : !row->grad_memory || !row->grad_run)
        return kerf_fail(&last_error, KERF_ERROR_FILE, "%s is no libkerf_kernels: it lacks kerf_%s", path, op_name);
    return KERF_OK;
}

static kerf_tensor tensor_of(const kerf_peers *peers, int operand) {
    kerf_tensor tensor = {.at = operand_of(peers, operand)->at};
    if (operand < n_in(peers))
        tensor.data = peers->inputs.set[0].block[operand].data;
    return tensor;
}

static kerf_status bind_output(kerf_peers *peers, bound_row *row, int output, kerf_tensor *to) {
    const int operand = n_in(peers) + output;
    *to = tensor_of(peers, operand);
    if (!is_wanted(peers, output))
        return KERF_OK;
    KERF_TRY(kerf_timing_operand_map(operand_of(peers, operand), &peers->offsets, &row->out[output], &last_error));
    to->data = row->out[output].data;
    return KERF_OK;
}

static kerf_status bind_arguments(kerf_peers *peers, bound_row *row, kerf_memory *memory) {
    const kerf_grid_sampler_modes modes = *(const kerf_grid_sampler_modes *)peers->inputs.problem.self;
    const kerf_team *const team = peers->team ? kerf_thread_team_get(peers->team) : NULL;
    const kerf_dtype dtype = peers->c.dtype;
    if (is_forward()) {
        row->forward =
            (kerf_grid_sampler_args){.bytes = sizeof row->forward, .dtype = dtype, .modes = modes, .team = team};
        row->forward.x = tensor_of(peers, KERF_GS_X);
        row->forward.grid = tensor_of(peers, KERF_GS_GRID);
        KERF_TRY(bind_output(peers, row, KERF_GS_Y, &row->forward.y));
        return row->forward_memory(&row->forward, memory, &last_error);
    }
    row->grad = (kerf_grid_sampler_grad_args){.bytes = sizeof row->grad, .dtype = dtype, .modes = modes, .team = team};
    row->grad.grad = tensor_of(peers, KERF_GSG_GRAD);
    row->grad.x = tensor_of(peers, KERF_GSG_X);
    row->grad.grid = tensor_of(peers, KERF_GSG_GRID);
    KERF_TRY(bind_output(peers, row, KERF_GSG_DX, &row->grad.dx));
    KERF_TRY(bind_output(peers, row, KERF_GSG_DGRID, &row->grad.dgrid));
    return row->grad_memory(&row->grad, memory, &last_error);
}

static kerf_status bind_row(kerf_peers *peers, const char *path, bound_row *row) {
    kerf_memory memory;
    KERF_TRY(bind_functions(path, row));
    KERF_TRY(bind_arguments(peers, row, &memory));
    if (memory.scratch_bytes > INT64_MAX)
        return kerf_fail(&last_error, KERF_ERROR_MEMORY, "the scratch of this case overflows");
    const kerf_operand scratch = {.bytes = sizeof scratch,
                                  .name = "scratch",
                                  .dtype = KERF_U8,
                                  .at = {.rank = 1, .dims = {(int64_t)memory.scratch_bytes}, .strides = {1}}};
    KERF_TRY(kerf_timing_operand_map(&scratch, &peers->offsets, &row->scratch, &last_error));
    memset(row->scratch.data, 0, memory.scratch_bytes);
    row->grad.scratch = row->forward.scratch = row->scratch.data;
    row->grad.scratch_bytes = row->forward.scratch_bytes = memory.scratch_bytes;
    return KERF_OK;
}

int kerf_peers_bind(kerf_peers *peers, const char *path) {
    if (peers->n_rows == KERF_PEERS_ROWS) {
        kerf_fail(&last_error, KERF_ERROR_USAGE, "at most %d rows", KERF_PEERS_ROWS);
        return -1;
    }
    const int row = peers->n_rows++;
    if (bind_row(peers, path, &peers->row[row]) != KERF_OK)
        return -1;
    kerf_peers_poison(peers, row);
    return row;
}

int kerf_peers_run(kerf_peers *peers, int row) {
    const bound_row *const bound = &peers->row[row];
    return (int)(is_forward() ? bound->forward_run(&bound->forward, &last_error)
                              : bound->grad_run(&bound->grad, &last_error));
}

void kerf_peers_poison(kerf_peers *peers, int row) {
    for (int o = 0; o < n_out(peers); ++o) {
        const kerf_operand *const operand = operand_of(peers, n_in(peers) + o);
        kerf_extent extent;
        if (!is_wanted(peers, o) || kerf_extent_of(operand, &extent, NULL) != KERF_OK)
            continue;
        const kerf_poison poison = kerf_poison_of(operand->dtype, &peers->offsets);
        kerf_poison_elements(&poison, operand, &extent, peers->row[row].out[o].data);
    }
}

/* ---- the oracle ------------------------------------------------------------------------------------------------ */

void kerf_peers_gather(const kerf_peers *peers, int row, int operand, void *packed) {
    kerf_extent extent;
    if (kerf_extent_of(operand_of(peers, operand), &extent, NULL) == KERF_OK)
        kerf_place_gather(operand_of(peers, operand), &extent, packed, peers->row[row].out[operand - n_in(peers)].data);
}

int kerf_peers_expect(kerf_peers *peers, int storage) {
    kerf_grid_sampler_modes modes = *(const kerf_grid_sampler_modes *)peers->inputs.problem.self;
    kerf_problem problem = peers->inputs.problem;
    if (storage)
        modes.accumulate = KERF_ACCUMULATE_STORAGE;
    problem.self = &modes;
    const kerf_team *const team = peers->team ? kerf_thread_team_get(peers->team) : NULL;
    return (int)peers->entry->oracle(&problem, peers->inputs.set[0].in, peers->expect[storage != 0], team,
                                     &peers->arena, &last_error);
}

void kerf_peers_judge(const kerf_peers *peers, int storage, int operand, const void *packed,
                      kerf_peers_verdict *verdict) {
    const int output = operand - n_in(peers);
    *verdict = (kerf_peers_verdict){0};
    if (!is_wanted(peers, output))
        return;
    const kerf_expect *const expect = &peers->expect[storage != 0][output];
    const kerf_comparison found = kerf_compare_output(expect, peers->c.dtype, packed);
    verdict->ratio = found.ratio;
    verdict->n_bad = found.n_bad;
    verdict->n_elements = expect->n_elements;
    const unsigned char *element = packed;
    for (int64_t i = 0; i < expect->n_elements; ++i, element += kerf_dtype_bytes(peers->c.dtype)) {
        if (isfinite(expect->lo[i]) && isfinite(expect->hi[i]))
            verdict->largest = fmax(verdict->largest, fmax(fabs(expect->lo[i]), fabs(expect->hi[i])));
        if (!(kerf_compare_element(expect, peers->c.dtype, i, element) > 1))
            continue;
        const double got = kerf_dtype_load(peers->c.dtype, element), lo = expect->lo[i], hi = expect->hi[i];
        if (isfinite(got) && isfinite(lo) && isfinite(hi))
            verdict->error = fmax(verdict->error, fmax(lo - got, got - hi));
        else
            ++verdict->n_class;
    }
}

uint64_t kerf_peers_isa(void) {
    return kerf_cpu_isa();
}

const char *kerf_peers_cpu(void) {
    return kerf_cpu_model();
}
