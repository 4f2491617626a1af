/* Kernels that `bench time` must find: each is right in the few calls of one verified case. What they compute is the
 * planted kernel `honest`. They keep state in static memory, as no honest kernel may. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "tests/planted/planted.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const kerf_variant kerf_planted_honest_0, kerf_planted_honest_1;

enum { N_HONEST_CALLS = 20 }; /* the verifier makes about 5 on one case */

static const kerf_variant *honest_for(const kerf_problem *problem) {
    return problem->in[KERF_GSG_X]->dtype == KERF_F64 ? &kerf_planted_honest_1 : &kerf_planted_honest_0;
}

static bool refuses(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    return honest_for(problem)->refuses(problem, config, why);
}

static kerf_memory memory(const kerf_problem *problem, const kerf_config *config) {
    return honest_for(problem)->memory(problem, config);
}

static kerf_status run_honest(const kerf_launch *launch) {
    return honest_for(launch->problem)->run(launch);
}

static size_t bytes_of(const kerf_launch *launch, int output) {
    const kerf_operand *const operand = launch->problem->out[output];
    int64_t lowest, highest;
    if (!launch->out[output] || !kerf_strided_span(&operand->at, &lowest, &highest) || lowest < 0)
        return 0;
    return (size_t)(highest + 1) * kerf_dtype_bytes(operand->dtype);
}

/* ---- idle ------------------------------------------------------------------------------------------------------- */

static kerf_status run_idles(const kerf_launch *launch) {
    static int n_calls;
    return n_calls++ < N_HONEST_CALLS ? run_honest(launch) : KERF_OK;
}

static kerf_status run_halves(const kerf_launch *launch) {
    static int n_calls;
    if (n_calls++ < N_HONEST_CALLS)
        return run_honest(launch);
    kerf_problem problem = *launch->problem;
    kerf_launch half = *launch;
    void *const out[KERF_GSG_N_OUT] = {[KERF_GSG_DX] = launch->out[KERF_GSG_DX]};
    problem.want &= UINT64_C(1) << KERF_GSG_DX;
    half.problem = &problem;
    half.out = out;
    return problem.want ? run_honest(&half) : KERF_OK;
}

static bool holds_nan(const kerf_launch *launch) {
    for (int o = 0; o < KERF_GSG_N_OUT; ++o)
        if (bytes_of(launch, o) > 0) {
            const double value = kerf_dtype_load(launch->problem->out[o]->dtype, launch->out[o]);
            return value != value;
        }
    return true;
}

static kerf_status run_watched(const kerf_launch *launch) {
    static int n_calls;
    return n_calls++ < N_HONEST_CALLS || holds_nan(launch) ? run_honest(launch) : KERF_OK;
}

/* Calls that follow each other at once are those of a batch: the first one's results lie there already. */
static kerf_status run_idles_in_batches(const kerf_launch *launch) {
    static uint64_t returned_ns;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    const kerf_status status = now_ns - returned_ns < 150 ? KERF_OK : run_honest(launch);
    clock_gettime(CLOCK_MONOTONIC, &now);
    returned_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return status;
}

/* ---- replay ----------------------------------------------------------------------------------------------------- */

typedef struct memo {
    uint64_t key;
    void *out[KERF_GSG_N_OUT];
    size_t bytes[KERF_GSG_N_OUT];
} memo;

static kerf_status run_again(const kerf_launch *launch, memo *last, uint64_t key) {
    bool is_known = last->key == key;
    for (int o = 0; o < KERF_GSG_N_OUT; ++o)
        is_known = is_known && last->bytes[o] == bytes_of(launch, o);
    const kerf_status status = is_known ? KERF_OK : run_honest(launch);
    for (int o = 0; o < KERF_GSG_N_OUT; ++o) {
        const size_t bytes = bytes_of(launch, o);
        if (is_known && bytes > 0)
            memcpy(launch->out[o], last->out[o], bytes);
        if (is_known)
            continue;
        free(last->out[o]);
        last->out[o] = malloc(bytes + 1);
        last->bytes[o] = last->out[o] ? bytes : 0;
        if (last->out[o] && bytes > 0)
            memcpy(last->out[o], launch->out[o], bytes);
    }
    last->key = key;
    return status;
}

static kerf_status run_replays_pointers(const kerf_launch *launch) {
    static memo last;
    uint64_t key = kerf_hash_bytes(KERF_HASH_START, launch->in, KERF_GSG_N_IN * sizeof *launch->in);
    key = kerf_hash_bytes(key, launch->out, KERF_GSG_N_OUT * sizeof *launch->out);
    return run_again(launch, &last, key);
}

static kerf_status run_replays_content(const kerf_launch *launch) {
    static memo last;
    const kerf_operand *const grid = launch->problem->in[KERF_GSG_GRID];
    const int64_t bytes = (int64_t)kerf_dtype_bytes(grid->dtype);
    uint64_t key = KERF_HASH_START;
    for (kerf_walk walk = kerf_walk_begin(&grid->at); !walk.done; kerf_walk_next(&walk))
        key = kerf_hash_bytes(key, (const char *)launch->in[KERF_GSG_GRID] + walk.offset * bytes, (uint64_t)bytes);
    return run_again(launch, &last, key);
}

/* ---- what was computed from inputs before ------------------------------------------------------------------------ */

/* Goes on with the content that an input had when its address was new. Verification fills new memory for each case. */
static kerf_status run_with_old(const kerf_launch *launch, int input) {
    enum { N_KEPT = 8 };
    static int n_calls, n_kept;
    static struct {
        const void *address;
        void *copy;
    } kept[N_KEPT];
    const kerf_operand *const operand = launch->problem->in[input];
    int64_t lowest, highest;
    if (n_calls++ < N_HONEST_CALLS || !kerf_strided_span(&operand->at, &lowest, &highest) || lowest < 0)
        return run_honest(launch);
    int at = 0;
    while (at < n_kept && kept[at].address != launch->in[input])
        ++at;
    if (at == N_KEPT)
        return run_honest(launch);
    if (at == n_kept) {
        const size_t bytes = (size_t)(highest + 1) * kerf_dtype_bytes(operand->dtype);
        kept[at].copy = malloc(bytes);
        if (!kept[at].copy)
            return run_honest(launch);
        kept[at].address = launch->in[input];
        memcpy(kept[at].copy, launch->in[input], bytes);
        ++n_kept;
    }
    const void *in[KERF_GSG_N_IN];
    memcpy(in, launch->in, sizeof in);
    in[input] = kept[at].copy;
    kerf_launch old = *launch;
    old.in = in;
    return run_honest(&old);
}

static kerf_status run_keeps_grid(const kerf_launch *launch) {
    return run_with_old(launch, KERF_GSG_GRID);
}

static kerf_status run_keeps_x(const kerf_launch *launch) {
    return run_with_old(launch, KERF_GSG_X);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

#define TIMED(label, explanation)                                                                                      \
    static const kerf_variant label##_variant = {.bytes = sizeof(kerf_variant),                                        \
                                                 .summary = explanation,                                               \
                                                 .refuses = refuses,                                                   \
                                                 .memory = memory,                                                     \
                                                 .run = run_##label};
#include "tests/planted/timed.def"
#undef TIMED

const kerf_row *const kerf_planted_timed_rows[] = {
#define TIMED(label, ...)                                                                                              \
    &(const kerf_row){                                                                                                 \
        .bytes = sizeof(kerf_row), .name = #label, .isa = "", .variant = {&label##_variant, &label##_variant}},
#include "tests/planted/timed.def"
#undef TIMED
    NULL};
