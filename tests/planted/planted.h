/* Wrong kernels of grid_sampler_grad, grid_sampler and conv2d, to show that they are found; `honest` is the same code
 * without a fault. */
#ifndef KERF_TESTS_PLANTED_PLANTED_H
#define KERF_TESTS_PLANTED_PLANTED_H

#include "kernels/registry.h"

#define PLANTED(name, ...) PLANTED_##name,
typedef enum planted_fault {
#include "tests/planted/faults.def"
    PLANTED_N
} planted_fault;
#undef PLANTED

#define PLANTED(name, ...) PLANTED_FORWARD_##name,
typedef enum planted_forward_fault {
#include "tests/planted/forward.def"
    PLANTED_FORWARD_N
} planted_forward_fault;
#undef PLANTED

#define PLANTED(name, ...) PLANTED_CONV2D_##name,
typedef enum planted_conv2d_fault {
#include "tests/planted/conv2d.def"
    PLANTED_CONV2D_N
} planted_conv2d_fault;
#undef PLANTED

typedef struct planted_claim {
    const char *name, *what, *check, *fill; /* check is "" where nothing is wrong */
} planted_claim;

/* Both by planted_fault; the rows end with NULL. */
extern const planted_claim kerf_planted_claims[PLANTED_N];
extern const kerf_row *const kerf_planted_rows[PLANTED_N + 1];
/* Those of the forward, by planted_forward_fault. */
extern const planted_claim kerf_planted_forward_claims[PLANTED_FORWARD_N];
extern const kerf_row *const kerf_planted_forward_rows[PLANTED_FORWARD_N + 1];
/* Those of conv2d, by planted_conv2d_fault. */
extern const planted_claim kerf_planted_conv2d_claims[PLANTED_CONV2D_N];
extern const kerf_row *const kerf_planted_conv2d_rows[PLANTED_CONV2D_N + 1];

/* Those that pass when they are verified and must be found when they are timed; ends with NULL. */
extern const kerf_row *const kerf_planted_timed_rows[];

/* The op `claims`, whose results are right and whose calls are faster than they can be. */
extern const kerf_op_entry kerf_planted_claims_entry;

/* One with configurations, for `bench tune`; ends with NULL. */
extern const kerf_row *const kerf_planted_tuned_rows[];

/* Packed strides, unless they would leave the memory of x: that fault is found by the guards, this one by the values.
 */
static inline kerf_strided packed_if_inside(const kerf_strided *array) {
    kerf_strided packed = *array;
    int64_t lowest, highest, packed_lowest, packed_highest;
    kerf_strided_pack(&packed);
    const bool inside = kerf_strided_span(array, &lowest, &highest) &&
                        kerf_strided_span(&packed, &packed_lowest, &packed_highest) && lowest == 0 &&
                        packed_highest <= highest;
    return inside ? packed : *array;
}

#endif
