/* The planted kernels as rows, and as a plug-in that adds them to the op:
 *     bench verify --op grid_sampler_grad --plugin ./planted.so --variant truncation */
#include "tests/planted/planted.h"

#define PLANTED(name, ...) extern const kerf_variant kerf_planted_##name##_0, kerf_planted_##name##_1;
#include "tests/planted/faults.def"
#undef PLANTED

const planted_claim kerf_planted_claims[PLANTED_N] = {
#define PLANTED(name, what, check, fill) {#name, what, check, fill},
#include "tests/planted/faults.def"
#undef PLANTED
};

const kerf_row *const kerf_planted_rows[PLANTED_N + 1] = {
#define PLANTED(label, ...)                                                                                            \
    &(const kerf_row){.bytes = sizeof(kerf_row),                                                                       \
                      .name = #label,                                                                                  \
                      .isa = "",                                                                                       \
                      .variant = {&kerf_planted_##label##_0, &kerf_planted_##label##_1}},
#include "tests/planted/faults.def"
#undef PLANTED
};

#define PLANTED(name, ...) extern const kerf_variant kerf_planted_forward_##name##_0, kerf_planted_forward_##name##_1;
#include "tests/planted/forward.def"
#undef PLANTED

const planted_claim kerf_planted_forward_claims[PLANTED_FORWARD_N] = {
#define PLANTED(name, what, check, fill) {#name, what, check, fill},
#include "tests/planted/forward.def"
#undef PLANTED
};

const kerf_row *const kerf_planted_forward_rows[PLANTED_FORWARD_N + 1] = {
#define PLANTED(label, ...)                                                                                            \
    &(const kerf_row){.bytes = sizeof(kerf_row),                                                                       \
                      .name = #label,                                                                                  \
                      .isa = "",                                                                                       \
                      .variant = {&kerf_planted_forward_##label##_0, &kerf_planted_forward_##label##_1}},
#include "tests/planted/forward.def"
#undef PLANTED
};

#define PLANTED(name, ...) extern const kerf_variant kerf_planted_conv2d_##name##_0, kerf_planted_conv2d_##name##_1;
#include "tests/planted/conv2d.def"
#undef PLANTED

const planted_claim kerf_planted_conv2d_claims[PLANTED_CONV2D_N] = {
#define PLANTED(name, what, check, fill) {#name, what, check, fill},
#include "tests/planted/conv2d.def"
#undef PLANTED
};

const kerf_row *const kerf_planted_conv2d_rows[PLANTED_CONV2D_N + 1] = {
#define PLANTED(label, ...)                                                                                            \
    &(const kerf_row){.bytes = sizeof(kerf_row),                                                                       \
                      .name = #label,                                                                                  \
                      .isa = "",                                                                                       \
                      .variant = {&kerf_planted_conv2d_##label##_0, &kerf_planted_conv2d_##label##_1}},
#include "tests/planted/conv2d.def"
#undef PLANTED
};

static const kerf_op forward_shell = {.bytes = sizeof(kerf_op), .name = "grid_sampler"};
static const kerf_op_entry forward = {
    .bytes = sizeof(kerf_op_entry), .op = &forward_shell, .rows = kerf_planted_forward_rows};

static const kerf_op conv2d_shell = {.bytes = sizeof(kerf_op), .name = "conv2d"};
static const kerf_op_entry conv2d = {
    .bytes = sizeof(kerf_op_entry), .op = &conv2d_shell, .rows = kerf_planted_conv2d_rows};

static const kerf_op shell = {.bytes = sizeof(kerf_op), .name = "grid_sampler_grad"};
static const kerf_op_entry entry = {.bytes = sizeof(kerf_op_entry), .op = &shell, .rows = kerf_planted_rows};
static const kerf_op_entry timed = {.bytes = sizeof(kerf_op_entry), .op = &shell, .rows = kerf_planted_timed_rows};
static const kerf_op_entry tuned = {.bytes = sizeof(kerf_op_entry), .op = &shell, .rows = kerf_planted_tuned_rows};
static const kerf_op_entry *const entries[] = {&entry, &forward, &conv2d, &timed, &tuned, &kerf_planted_claims_entry,
                                               NULL};
static const kerf_registry registry = {.bytes = sizeof(kerf_registry), .abi_version = KERF_ABI_VERSION, .ops = entries};

const kerf_registry *kerf_plugin(void);
const kerf_registry *kerf_plugin(void) {
    return &registry;
}
