/* Sweeps: one case in many sizes.
 *
 *   sweep  = dim { "=" dim } "=" values          H=W=16..512x2: both have the same size
 *   values = first ".." last [ "x" factor | "+" step ] | size { "," size }
 *
 * 1..256x2 is 1, 2, 4, ... up to 256, x2 is what is meant where nothing stands; 16..64+16 is 16, 32, 48, 64. */
#ifndef KERF_HARNESS_CASEGEN_SWEEP_H
#define KERF_HARNESS_CASEGEN_SWEEP_H

#include "harness/casegen.h"

#define KERF_SWEEP_SIZES 64  /* of one sweep */
#define KERF_SWEEP_CASES 256 /* of all together */

typedef struct kerf_sweep {
    uint32_t dims; /* bit d: dim d of the op has these sizes */
    int n_sizes;
    int64_t size[KERF_SWEEP_SIZES]; /* no two alike */
} kerf_sweep;

/* KERF_ERROR_USAGE with one line. */
kerf_status kerf_sweep_parse(const kerf_op *op, const char *text, kerf_sweep *sweep, kerf_error *error);

/* Each base case in all sizes of all sweeps (NULL-terminated texts): the last sweep runs fastest. */
kerf_status kerf_sweep_expand(const kerf_op *op, const char *const *texts, const kerf_case_list *base,
                              kerf_arena *arena, kerf_case_list *cases, kerf_error *error);

#endif
