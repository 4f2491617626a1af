/* An op that doubles its input, and rows that do so more or less well. */
#ifndef KERF_TESTS_UNIT_TIMING_TOY_H
#define KERF_TESTS_UNIT_TIMING_TOY_H

#include "harness/timing_protocol.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

#define DEADLY_SETUP 13 /* an extent whose inputs cannot be made */

static kerf_status toy_describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    kerf_operand *const operands = KERF_ARENA_NEW(arena, kerf_operand, 2);
    const kerf_operand **const lists = KERF_ARENA_NEW(arena, const kerf_operand *, 2);
    if (!operands || !lists)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory");
    if (c->dim[0] < 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "N must be positive");
    for (int i = 0; i < 2; ++i) {
        operands[i] = (kerf_operand){.bytes = sizeof(kerf_operand),
                                     .name = i ? "y" : "x",
                                     .role = i ? KERF_OUT : KERF_IN,
                                     .dtype = c->dtype,
                                     .alignment = 4,
                                     .at = {.rank = 1, .dims = {c->dim[0]}, .strides = {i ? 1 : -1}}};
        lists[i] = &operands[i];
    }
    *problem = (kerf_problem){.bytes = sizeof(kerf_problem),
                              .op = c->op,
                              .n_in = 1,
                              .n_out = 1,
                              .in = &lists[0],
                              .out = &lists[1],
                              .want = c->want};
    return KERF_OK;
}

static void toy_fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    (void)rng;
    const int64_t n = problem->in[0]->at.dims[0];
    if (n == DEADLY_SETUP)
        kill(getpid(), SIGKILL);
    float *const x = in[0];
    for (int64_t i = 0; i < n; ++i)
        x[-i] = (float)(i + 1);
}

static bool is_multiple_of_64(const void *address) {
    return (uintptr_t)address % 64 == 0;
}

static kerf_status toy_oracle(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                              const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    (void)team;
    const int64_t n = problem->in[0]->at.dims[0];
    const float *const x = in[0];
    double *const right = KERF_ARENA_NEW(arena, double, n), *const none = KERF_ARENA_NEW(arena, double, n);
    if (!right || !none)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory");
    for (int64_t i = 0; i < n; ++i)
        right[i] = 2 * (double)x[-i];
    out[0] = (kerf_expect){.kind = KERF_EXPECT_BOUND, .n_elements = n, .lo = right, .hi = right, .slack = none};
    return KERF_OK;
}

/* Fails unless its buffers are as promised. */
static kerf_status doubling_run(const kerf_launch *launch) {
    const int64_t n = launch->problem->in[0]->at.dims[0];
    const float *const x = launch->in[0];
    float *const y = launch->out[0];
    float *const scratch = launch->scratch;
    if (!is_multiple_of_64(x) || !is_multiple_of_64(y) || !is_multiple_of_64(scratch))
        return KERF_ERROR_DEVICE;
    for (int64_t i = 0; i < n; ++i) {
        if (fabsf(x[-i]) != (float)(i + 1))
            return KERF_ERROR_DEVICE;
        y[i] = scratch[i] = 2 * x[-i];
    }
    return KERF_OK;
}

static kerf_memory doubling_memory(const kerf_problem *problem, const kerf_config *config) {
    (void)config;
    return (kerf_memory){.scratch_bytes = 4 * (size_t)problem->in[0]->at.dims[0], .alignment = 64};
}

static int n_calls; /* of the rows below, in this worker */

static kerf_status killed_run(const kerf_launch *launch) {
    if (++n_calls == 5)
        kill(getpid(), SIGKILL);
    return doubling_run(launch);
}

static kerf_status leaving_run(const kerf_launch *launch) {
    (void)launch;
    _exit(3);
}

static kerf_status failing_run(const kerf_launch *launch) {
    (void)launch;
    return KERF_ERROR_DEVICE;
}

/* Right for 4 calls; then it leaves one element as it was. */
static kerf_status skipping_run(const kerf_launch *launch) {
    float *const last = (float *)launch->out[0] + launch->problem->out[0]->at.dims[0] - 1;
    const float before = *last;
    const kerf_status status = doubling_run(launch);
    if (++n_calls > 4)
        *last = before;
    return status;
}

/* Right for 4 calls, and whenever it sees NaN. */
static kerf_status watched_run(const kerf_launch *launch) {
    const float *const y = launch->out[0];
    return ++n_calls <= 4 || isnan(y[0]) ? doubling_run(launch) : KERF_OK;
}

/* Fails unless the size of its team is its config's. */
static kerf_status configured_run(const kerf_launch *launch) {
    const int wanted = (int)kerf_config_get(launch->config, "ranks", 0);
    return kerf_team_size(launch->team) == wanted ? doubling_run(launch) : KERF_ERROR_DEVICE;
}

static uint64_t content_of(const kerf_launch *launch) {
    const int64_t n = launch->problem->in[0]->at.dims[0];
    return kerf_hash_bytes(KERF_HASH_START, (const float *)launch->in[0] - (n - 1), (uint64_t)n * sizeof(float));
}

/* Fails where it could give a result again: one of its last 16 calls saw the same content. */
static kerf_status remembering_run(const kerf_launch *launch) {
    static uint64_t seen[16];
    const uint64_t now = content_of(launch);
    for (int i = 0; i < 16; ++i)
        if (seen[i] == now)
            return KERF_ERROR_DEVICE;
    seen[n_calls++ % 16] = now;
    return doubling_run(launch);
}

static struct {
    const void *in;
    void *out;
} place[8];
static int n_places; /* pairs of addresses that the next row has seen */

static kerf_status moving_run(const kerf_launch *launch) {
    int at = 0;
    while (at < n_places && (place[at].in != launch->in[0] || place[at].out != launch->out[0]))
        ++at;
    if (at == n_places && n_places < 8) {
        place[n_places].in = launch->in[0];
        place[n_places++].out = launch->out[0];
    }
    return doubling_run(launch);
}

#define VARIANT(run_function)                                                                                          \
    { .bytes = sizeof(kerf_variant), .summary = "toy", .memory = doubling_memory, .run = run_function }
static const kerf_variant doubling = VARIANT(doubling_run), killed = VARIANT(killed_run),
                          leaving = VARIANT(leaving_run), failing = VARIANT(failing_run),
                          skipping = VARIANT(skipping_run), watched = VARIANT(watched_run),
                          configured = VARIANT(configured_run), remembering = VARIANT(remembering_run),
                          moving = VARIANT(moving_run);

#define ROW(row_name, object, on)                                                                                      \
    {                                                                                                                  \
        .bytes = sizeof(kerf_row), .name = row_name, .isa = "", .device = on, .variant = { object }                    \
    }
enum { DOUBLING, AGAIN, KILLED, LEAVING, FAILING, DEVICE, SKIPPING, WATCHED, CONFIGURED, REMEMBERING, MOVING, N_ROWS };
static const kerf_row rows[N_ROWS] = {
    ROW("doubling", &doubling, KERF_DEVICE_CPU),     ROW("again", &doubling, KERF_DEVICE_CPU),
    ROW("killed", &killed, KERF_DEVICE_CPU),         ROW("leaving", &leaving, KERF_DEVICE_CPU),
    ROW("failing", &failing, KERF_DEVICE_CPU),       ROW("device", &doubling, KERF_DEVICE_CUDA),
    ROW("skipping", &skipping, KERF_DEVICE_CPU),     ROW("watched", &watched, KERF_DEVICE_CPU),
    ROW("configured", &configured, KERF_DEVICE_CPU), ROW("remembering", &remembering, KERF_DEVICE_CPU),
    ROW("moving", &moving, KERF_DEVICE_CPU),
};
static const kerf_row *const row_list[] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4],  &rows[5],
                                           &rows[6], &rows[7], &rows[8], &rows[9], &rows[10], NULL};

static const kerf_attr_spec *const no_attrs[] = {NULL};
static const char *const dims[] = {"N", NULL}, *const inputs[] = {"x", NULL}, *const outputs[] = {"y", NULL};
static const char *const fills[] = {"exact", NULL}, *const no_cases[] = {NULL};
static const kerf_dtype dtypes[] = {KERF_F32};
static const kerf_op doubling_op = {.bytes = sizeof(kerf_op),
                                    .name = "double",
                                    .attrs = no_attrs,
                                    .dims = dims,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .fills = fills,
                                    .dtypes = dtypes,
                                    .n_dtypes = 1,
                                    .describe = toy_describe,
                                    .fill = toy_fill};
static const kerf_op_entry entry = {
    .bytes = sizeof(kerf_op_entry), .op = &doubling_op, .oracle = toy_oracle, .rows = row_list, .cases = no_cases};
static const kerf_op_entry *const entries[] = {&entry, NULL};
static const kerf_registry registry = {.bytes = sizeof(kerf_registry), .abi_version = KERF_ABI_VERSION, .ops = entries};

#endif
