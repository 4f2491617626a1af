#include "kernels/registry.h"
#include <string.h>

#define KERF_OP(name)                                                                                                  \
    extern const kerf_op kerf_op_##name;                                                                               \
    extern const kerf_row *const kerf_rows_##name[];                                                                   \
    extern const char *const kerf_case_sets_##name[];                                                                  \
    kerf_status kerf_oracle_##name(const kerf_problem *, const void *const in[], kerf_expect out[], const kerf_team *, \
                                   kerf_arena *, kerf_error *);
#include "kernels/ops.def"
#undef KERF_OP

#define KERF_OP(name)                                                                                                  \
    &(const kerf_op_entry){sizeof(kerf_op_entry), &kerf_op_##name, kerf_oracle_##name, kerf_rows_##name,               \
                           kerf_case_sets_##name},
static const kerf_op_entry *const ops[] = {
#include "kernels/ops.def"
    NULL,
};

static const kerf_registry builtin = {sizeof builtin, KERF_ABI_VERSION, ops};

const kerf_registry *kerf_registry_builtin(void) {
    return &builtin;
}

const kerf_op_entry *kerf_registry_find(const kerf_registry *registry, const char *op_name) {
    for (const kerf_op_entry *const *entry = registry->ops; *entry; ++entry)
        if (strcmp((*entry)->op->name, op_name) == 0)
            return *entry;
    return NULL;
}

const char *kerf_device_name(kerf_device_kind device) {
    switch (device) {
    case KERF_DEVICE_CPU:
        return "cpu";
    case KERF_DEVICE_CUDA:
        return "cuda";
    case KERF_DEVICE_CUDA_SIM:
        return "cuda_sim";
    }
    return "unknown";
}

void kerf_row_print(const kerf_row *row, kerf_text *text) {
    kerf_text_printf(text, "%s%s%s@%s", row->name, row->isa[0] ? "." : "", row->isa, kerf_device_name(row->device));
}
