#include "scripts/peers/entry.h"

#include "base/cpu.h"
#include "harness/casegen.h"
#include "harness/compare.h"
#include "harness/limit_loops.h"
#include "harness/limits_file.h"
#include "harness/place.h"
#include "harness/row_limit.h"
#include "harness/team.h"
#include "harness/timing_buffers.h"
#include "kernels/batch_to_space/batch_to_space.h"
#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/registry.h"
#include "kernels/space_to_batch/space_to_batch.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_JUDGES = 2 }; /* the case as it is, and with accumulate=storage */

typedef struct op_binding op_binding;

/* A row: the entry of one op with its arguments, or a copy (`loops`). */
typedef struct bound_row {
    const op_binding *op;
    void *memory, *run; /* functions of the type that the op has */
    union {
        kerf_grid_sampler_grad_args grad;
        kerf_grid_sampler_args forward;
        kerf_space_batch_args space;
    } args;
    kerf_limit_loops *loops;
    kerf_limit_kind copy;
    kerf_timing_block out[KERF_SAMPLING_MOST_OUT], scratch;
} bound_row;

/* What an op needs to be called through its plain C entry. */
struct op_binding {
    const char *name;
    bool has_memory; /* kerf_<name>_memory says what scratch a call takes */
    kerf_status (*bind)(kerf_peers *, bound_row *, kerf_memory *);
    void (*give_scratch)(bound_row *, void *data, size_t bytes);
    kerf_status (*call)(const bound_row *);
};

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

static const op_binding ops[4];
static const op_binding *op = &ops[0];

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
    return kerf_registry_find(kerf_registry_builtin(), op->name);
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
        kerf_limit_loops_close(peers->row[r].loops);
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
    result->rank = at->rank;
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
    char name[64];
    snprintf(name, sizeof name, "kerf_%s", op->name);
    row->run = dlsym(library, name);
    snprintf(name, sizeof name, "kerf_%s_memory", op->name);
    row->memory = dlsym(library, name);
    if (!row->run || (op->has_memory && !row->memory))
        return kerf_fail(&last_error, KERF_ERROR_FILE, "%s is no libkerf_kernels: it lacks kerf_%s", path, op->name);
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

static const kerf_team *team_of(const kerf_peers *peers) {
    return peers->team ? kerf_thread_team_get(peers->team) : NULL;
}

typedef kerf_status grad_memory(const kerf_grid_sampler_grad_args *, kerf_memory *, kerf_error *);
typedef kerf_status grad_run(const kerf_grid_sampler_grad_args *, kerf_error *);
typedef kerf_status forward_memory(const kerf_grid_sampler_args *, kerf_memory *, kerf_error *);
typedef kerf_status forward_run(const kerf_grid_sampler_args *, kerf_error *);
typedef kerf_status space_run(const kerf_space_batch_args *, kerf_error *);

static kerf_status bind_grad(kerf_peers *peers, bound_row *row, kerf_memory *memory) {
    kerf_grid_sampler_grad_args *const args = &row->args.grad;
    *args = (kerf_grid_sampler_grad_args){.bytes = sizeof *args, .dtype = peers->c.dtype, .team = team_of(peers)};
    args->modes = *(const kerf_grid_sampler_modes *)peers->inputs.problem.self;
    args->grad = tensor_of(peers, KERF_GSG_GRAD);
    args->x = tensor_of(peers, KERF_GSG_X);
    args->grid = tensor_of(peers, KERF_GSG_GRID);
    KERF_TRY(bind_output(peers, row, KERF_GSG_DX, &args->dx));
    KERF_TRY(bind_output(peers, row, KERF_GSG_DGRID, &args->dgrid));
    return (*(grad_memory **)&row->memory)(args, memory, &last_error);
}

static void give_grad(bound_row *row, void *data, size_t bytes) {
    row->args.grad.scratch = data;
    row->args.grad.scratch_bytes = bytes;
}

static kerf_status call_grad(const bound_row *row) {
    return (*(grad_run *const *)&row->run)(&row->args.grad, &last_error);
}

static kerf_status bind_forward(kerf_peers *peers, bound_row *row, kerf_memory *memory) {
    kerf_grid_sampler_args *const args = &row->args.forward;
    *args = (kerf_grid_sampler_args){.bytes = sizeof *args, .dtype = peers->c.dtype, .team = team_of(peers)};
    args->modes = *(const kerf_grid_sampler_modes *)peers->inputs.problem.self;
    args->x = tensor_of(peers, KERF_GS_X);
    args->grid = tensor_of(peers, KERF_GS_GRID);
    KERF_TRY(bind_output(peers, row, KERF_GS_Y, &args->y));
    return (*(forward_memory **)&row->memory)(args, memory, &last_error);
}

static void give_forward(bound_row *row, void *data, size_t bytes) {
    row->args.forward.scratch = data;
    row->args.forward.scratch_bytes = bytes;
}

static kerf_status call_forward(const bound_row *row) {
    return (*(forward_run *const *)&row->run)(&row->args.forward, &last_error);
}

/* The attributes of the case, resolved, as a request again; the pad value is always 0 here. */
static kerf_status bind_space(kerf_peers *peers, bound_row *row, kerf_memory *memory) {
    const kerf_space_batch *const space = peers->inputs.problem.self;
    const int operands = n_in(peers) + n_out(peers);
    kerf_space_batch_args *const args = &row->args.space;
    kerf_tensor y;
    int64_t *const margins = KERF_ARENA_NEW(&peers->arena, int64_t, 2 * KERF_SPACE_BATCH_BLOCKS);
    if (!margins)
        return kerf_fail(&last_error, KERF_ERROR_MEMORY, "no memory for the margins of a case");
    for (int k = 0; k < space->n_blocks; ++k) {
        margins[2 * k] = space->before[k];
        margins[2 * k + 1] = space->after[k];
    }
    KERF_TRY(bind_output(peers, row, 0, &y));
    const kerf_tensor x = tensor_of(peers, 0);
    *args = (kerf_space_batch_args){.bytes = sizeof *args,
                                    .dtype = peers->c.dtype,
                                    .request = {.block_shape = space->block,
                                                .n_block_shape = space->n_blocks,
                                                .margins = margins,
                                                .n_margins = 2 * space->n_blocks},
                                    .x = x.data,
                                    .y = y.data,
                                    .x_at = x.at,
                                    .y_at = operand_of(peers, operands - 1)->at,
                                    .team = team_of(peers)};
    *memory = (kerf_memory){0};
    return KERF_OK;
}

static void give_nothing(bound_row *row, void *data, size_t bytes) {
    (void)row, (void)data, (void)bytes;
}

static kerf_status call_space(const bound_row *row) {
    return (*(space_run *const *)&row->run)(&row->args.space, &last_error);
}

static const op_binding ops[4] = {
    {"grid_sampler_grad", true, bind_grad, give_grad, call_grad},
    {"grid_sampler", true, bind_forward, give_forward, call_forward},
    {"space_to_batch", false, bind_space, give_nothing, call_space},
    {"batch_to_space", false, bind_space, give_nothing, call_space},
};

int kerf_peers_use(const char *name) {
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i)
        if (strcmp(ops[i].name, name) == 0) {
            op = &ops[i];
            return 0;
        }
    return (int)kerf_fail(&last_error, KERF_ERROR_USAGE,
                          "op `%s`: grid_sampler, grid_sampler_grad, space_to_batch and batch_to_space are known",
                          name);
}

static kerf_status bind_row(kerf_peers *peers, const char *path, bound_row *row) {
    kerf_memory memory;
    KERF_TRY(bind_functions(path, row));
    row->op = op;
    KERF_TRY(op->bind(peers, row, &memory));
    if (memory.scratch_bytes > INT64_MAX)
        return kerf_fail(&last_error, KERF_ERROR_MEMORY, "the scratch of this case overflows");
    const kerf_operand scratch = {.bytes = sizeof scratch,
                                  .name = "scratch",
                                  .dtype = KERF_U8,
                                  .at = {.rank = 1, .dims = {(int64_t)memory.scratch_bytes}, .strides = {1}}};
    KERF_TRY(kerf_timing_operand_map(&scratch, &peers->offsets, &row->scratch, &last_error));
    memset(row->scratch.data, 0, memory.scratch_bytes);
    op->give_scratch(row, row->scratch.data, memory.scratch_bytes);
    return KERF_OK;
}

static bound_row *new_row(kerf_peers *peers) {
    if (peers->n_rows < KERF_PEERS_ROWS)
        return &peers->row[peers->n_rows++];
    kerf_fail(&last_error, KERF_ERROR_USAGE, "at most %d rows", KERF_PEERS_ROWS);
    return NULL;
}

int kerf_peers_bind(kerf_peers *peers, const char *path) {
    bound_row *const row = new_row(peers);
    if (!row || bind_row(peers, path, row) != KERF_OK)
        return -1;
    kerf_peers_poison(peers, peers->n_rows - 1);
    return peers->n_rows - 1;
}

int kerf_peers_bind_copy(kerf_peers *peers, int streamed) {
    bound_row *const row = new_row(peers);
    if (!row || kerf_limit_loops_open_on(kerf_cpu_isa(), team_of(peers), (size_t)kerf_peers_bytes(peers), &row->loops,
                                         &last_error) != KERF_OK)
        return -1;
    row->copy = streamed ? KERF_LIMIT_COPY_STREAMED : KERF_LIMIT_COPY;
    return peers->n_rows - 1;
}

int kerf_peers_run(kerf_peers *peers, int row) {
    const bound_row *const bound = &peers->row[row];
    if (!bound->loops)
        return (int)bound->op->call(bound);
    const kerf_limit_device device = kerf_limit_loops_device(bound->loops);
    device.run(device.state, bound->copy, (size_t)kerf_peers_bytes(peers), kerf_team_size(team_of(peers)), 1);
    return 0;
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
    kerf_problem problem = peers->inputs.problem;
    kerf_grid_sampler_modes modes;
    if (storage) { /* only the sampler's ops are asked this */
        modes = *(const kerf_grid_sampler_modes *)problem.self;
        modes.accumulate = KERF_ACCUMULATE_STORAGE;
        problem.self = &modes;
    }
    return (int)peers->entry->oracle(&problem, peers->inputs.set[0].in, peers->expect[storage != 0], team_of(peers),
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
    if (expect->kind == KERF_EXPECT_BITS)
        return;
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
