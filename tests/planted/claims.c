/* An op that copies its input and, as the attribute says, claims to have more work than it has. Every result is right,
 * so only the limit of the machine finds that its calls are too fast. */
#include "tests/planted/planted.h"

#include <string.h>
#include <time.h>

typedef enum claim { CLAIM_HONEST, CLAIM_FLOPS, CLAIM_BYTES, CLAIM_SOME } claim;

static kerf_status describe(const kerf_case *c, kerf_arena *arena, kerf_problem *problem, kerf_error *error) {
    kerf_operand *const operands = KERF_ARENA_NEW(arena, kerf_operand, 2);
    const kerf_operand **const lists = KERF_ARENA_NEW(arena, const kerf_operand *, 2);
    claim *const self = KERF_ARENA_NEW(arena, claim, 1);
    if (!operands || !lists || !self)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory");
    if (c->dim[0] < 1 || c->dim[0] > 1 << 24)
        return kerf_fail(error, KERF_ERROR_USAGE, "N must be 1 to 16777216");
    *self = (claim)c->attr[0].number;
    for (int i = 0; i < 2; ++i) {
        operands[i] = (kerf_operand){.bytes = sizeof(kerf_operand),
                                     .name = i ? "y" : "x",
                                     .role = i ? KERF_OUT : KERF_IN,
                                     .dtype = c->dtype,
                                     .alignment = 4,
                                     .at = {.rank = 1, .dims = {c->dim[0]}, .strides = {1}}};
        lists[i] = &operands[i];
    }
    *problem = (kerf_problem){.bytes = sizeof(kerf_problem),
                              .op = c->op,
                              .self = self,
                              .n_in = 1,
                              .n_out = 1,
                              .in = &lists[0],
                              .out = &lists[1],
                              .want = c->want};
    return KERF_OK;
}

static void fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    float *const x = in[0];
    for (int64_t i = 0; i < problem->in[0]->at.dims[0]; ++i)
        x[i] = 1 + (float)kerf_rng_unit(rng);
}

static kerf_work work(const kerf_problem *problem, const void *const in[]) {
    (void)in;
    const double bytes = 4 * (double)problem->in[0]->at.dims[0];
    switch (*(const claim *)problem->self) {
    case CLAIM_FLOPS:
        return (kerf_work){.flops = 1e18, .read_bytes = bytes, .written_bytes = bytes};
    case CLAIM_BYTES:
        return (kerf_work){.read_bytes = 1e18, .written_bytes = bytes};
    case CLAIM_SOME: /* no copy of some KiB is so slow, no machine needs 20 ms */
        return (kerf_work){.flops = 1e8, .read_bytes = bytes, .written_bytes = bytes};
    default:
        return (kerf_work){.read_bytes = bytes, .written_bytes = bytes};
    }
}

static kerf_status oracle(const kerf_problem *problem, const void *const in[], kerf_expect out[], const kerf_team *team,
                          kerf_arena *arena, kerf_error *error) {
    (void)team;
    const int64_t n = problem->in[0]->at.dims[0];
    float *const bits = KERF_ARENA_NEW(arena, float, n);
    if (!bits)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory");
    memcpy(bits, in[0], (size_t)n * sizeof *bits);
    out[0] = (kerf_expect){.kind = KERF_EXPECT_BITS, .n_elements = n, .bits = bits};
    return KERF_OK;
}

static kerf_status run_copy(const kerf_launch *launch) {
    memcpy(launch->out[0], launch->in[0], 4 * (size_t)launch->problem->in[0]->at.dims[0]);
    return KERF_OK;
}

/* Does what is claimed, or at least takes its time, unless it is told not to. */
static kerf_status run_pausing(const kerf_launch *launch) {
    const struct timespec pause = {.tv_nsec = 1000000 * (long)kerf_config_get(launch->config, "pause_ms", 20)};
    nanosleep(&pause, NULL);
    return run_copy(launch);
}

static bool refuses_pausing(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    (void)config;
    kerf_text_printf(why, "for claim=some only");
    return *(const claim *)problem->self != CLAIM_SOME;
}

static const kerf_parameter *const parameters[] = {KERF_PARAMETER("pause_ms", 20, 0, 20), NULL};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters};
static const kerf_variant pausing = {.bytes = sizeof(kerf_variant),
                                     .summary = "copies after a pause",
                                     .refuses = refuses_pausing,
                                     .space = &space,
                                     .run = run_pausing};
static const kerf_row pausing_row = {.bytes = sizeof(kerf_row), .name = "pausing", .isa = "", .variant = {&pausing}};

static const kerf_variant variant = {.bytes = sizeof(kerf_variant), .summary = "copies", .run = run_copy};
static const kerf_row row = {.bytes = sizeof(kerf_row), .name = "copy", .isa = "", .variant = {&variant}};
static const kerf_row *const row_list[] = {&row, &pausing_row, NULL};
static const char *const claims[] = {"honest", "flops", "bytes", "some", NULL};
static const kerf_attr_spec attr = {
    .bytes = sizeof(kerf_attr_spec), .name = "claim", .kind = KERF_ATTR_ENUM, .values = claims};
static const kerf_attr_spec *const attrs[] = {&attr, NULL};
static const char *const dims[] = {"N", NULL}, *const inputs[] = {"x", NULL}, *const outputs[] = {"y", NULL};
static const char *const fills[] = {"exact", NULL}, *const no_cases[] = {NULL};
static const kerf_dtype dtypes[] = {KERF_F32};
static const kerf_op claims_op = {.bytes = sizeof(kerf_op),
                                  .name = "claims",
                                  .summary = "a copy that may claim more work than it has",
                                  .attrs = attrs,
                                  .dims = dims,
                                  .inputs = inputs,
                                  .outputs = outputs,
                                  .fills = fills,
                                  .dtypes = dtypes,
                                  .n_dtypes = 1,
                                  .describe = describe,
                                  .fill = fill,
                                  .work = work};
const kerf_op_entry kerf_planted_claims_entry = {
    .bytes = sizeof(kerf_op_entry), .op = &claims_op, .oracle = oracle, .rows = row_list, .cases = no_cases};
