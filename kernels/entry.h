/* What the plain C entries of all ops share: arguments become operands, are checked, and find an implementation. */
#ifndef KERF_KERNELS_ENTRY_H
#define KERF_KERNELS_ENTRY_H

#include "kernels/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

kerf_operand kerf_entry_operand(const char *name, kerf_role role, const kerf_strided *at, kerf_dtype dtype);

/* The data is there if the operand has elements, and aligned to them. */
kerf_status kerf_entry_check_data(const kerf_operand *operand, const void *data, kerf_error *error);
/* The two share no byte. */
kerf_status kerf_entry_check_share(const kerf_operand *a, const void *a_data, const kerf_operand *b, const void *b_data,
                                   kerf_error *error);
kerf_status kerf_entry_check_team(const kerf_team *team, kerf_error *error);

/* The first row that runs on this processor, does not refuse the problem and packs nothing ahead. */
kerf_status kerf_entry_choose(const kerf_row *const rows[], const kerf_problem *problem, const kerf_variant **variant,
                              kerf_error *error);
/* The same where what `prepare` packs is at hand. */
kerf_status kerf_entry_choose_packing(const kerf_row *const rows[], const kerf_problem *problem,
                                      const kerf_variant **variant, kerf_error *error);

#ifdef __cplusplus
}
#endif

#endif
