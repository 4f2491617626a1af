/* Rules that the operands of every op obey, for describe() and for C entries. KERF_ERROR_USAGE with one line. */
#ifndef KERF_KERNELS_OPERAND_H
#define KERF_KERNELS_OPERAND_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Far below what an int64_t holds, so that sums of a few offsets in bytes cannot overflow, and far above any memory. */
#define KERF_MAX_REACH (INT64_C(1) << 60)

/* No element lies further from another than KERF_MAX_REACH bytes. */
kerf_status kerf_operand_check_reach(const kerf_operand *operand, kerf_error *error);
/* No two elements share memory, as an output needs it. */
kerf_status kerf_operand_check_disjoint(const kerf_operand *operand, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
