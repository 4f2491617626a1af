/* The registry: which ops there are, and which implementations of each. A value that is handed in: the built-in one,
 * one of a test, or one that a plug-in returns. */
#ifndef KERF_KERNELS_REGISTRY_H
#define KERF_KERNELS_REGISTRY_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a right result is, per output, elements in row-major order of the logical index.
 * KERF_BITS: `bits` holds the packed output itself. KERF_BOUND: a result within [lo, hi] widened by slack is right;
 * lo NaN: must be NaN; lo = hi = +-Inf: must be that infinity; slack +Inf: written, but anything is right. */
typedef enum kerf_expect_kind {
    KERF_EXPECT_NOTHING, /* the output is not wanted */
    KERF_EXPECT_BITS,
    KERF_EXPECT_BOUND
} kerf_expect_kind;

typedef struct kerf_expect {
    kerf_expect_kind kind;
    int64_t n_elements;
    const void *bits;
    const double *lo, *hi, *slack;
} kerf_expect;

/* Fills one expect per output; the arrays come from the arena. `in` as in kerf_launch. */
typedef kerf_status (*kerf_oracle)(const kerf_problem *, const void *const in[], kerf_expect out[], const kerf_team *,
                                   kerf_arena *, kerf_error *);

typedef enum kerf_device_kind {
    KERF_DEVICE_CPU,
    KERF_DEVICE_CUDA,
    KERF_DEVICE_CUDA_SIM, /* CUDA source run on the host: verified, never timed */
} kerf_device_kind;

/* One implementation as it was built. The ISA mask is checked before any function of the object is called. */
typedef struct kerf_row {
    uint32_t bytes;
    const char *name;  /* "vectorized" */
    const char *isa;   /* "avx2"; "" where the object needs nothing special */
    uint64_t isa_mask; /* KERF_ISA_... that the object needs */
    kerf_device_kind device;
    const char *missing;                         /* why it could not be built; NULL if it was */
    const kerf_variant *variant[KERF_N_CLASSES]; /* NULL where it is missing */
} kerf_row;

typedef struct kerf_op_entry {
    uint32_t bytes;
    const kerf_op *op;
    kerf_oracle oracle;
    const kerf_row *const *rows; /* NULL-terminated, in order of preference */
    const char *const *cases;    /* {set name, text, ...}: case sets of the op, NULL-terminated */
} kerf_op_entry;

#define KERF_ABI_VERSION 1u

typedef struct kerf_registry {
    uint32_t bytes;
    uint32_t abi_version;
    const kerf_op_entry *const *ops; /* NULL-terminated */
} kerf_registry;

const kerf_registry *kerf_registry_builtin(void);
const kerf_op_entry *kerf_registry_find(const kerf_registry *registry, const char *op_name);

/* A plug-in exports this one function. Its entries may name a built-in op (op->name is compared; op and oracle may then
 * be NULL-operation shells) to add rows to it, or bring ops of their own. */
typedef const kerf_registry *(*kerf_plugin_function)(void);
#define KERF_PLUGIN_SYMBOL "kerf_plugin"

/* "vectorized.avx2@cpu": the part of a key that names a row. */
void kerf_row_print(const kerf_row *row, kerf_text *text);
const char *kerf_device_name(kerf_device_kind device);

#ifdef __cplusplus
}
#endif

#endif
