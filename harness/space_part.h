/* Between the sources of a space: one part with its values, and its constraints tied to them. */
#ifndef KERF_HARNESS_SPACE_PART_H
#define KERF_HARNESS_SPACE_PART_H

#include "harness/expression.h"
#include "harness/space.h"

enum { KERF_MAX_CONSTRAINTS = 32 };

/* Name i of the expression is parameter[i], or the number constant[i] where that is -1. */
typedef struct kerf_tied_constraint {
    kerf_expression expression;
    int parameter[KERF_MAX_EXPRESSION_NAMES];
    int64_t constant[KERF_MAX_EXPRESSION_NAMES];
} kerf_tied_constraint;

typedef struct kerf_open_part {
    const kerf_space_part *from;
    kerf_tuned tuned[KERF_MAX_TUNED];
    int n;
    kerf_tied_constraint *constraint;
    int n_constraints;
} kerf_open_part;

/* The parameters with the values that the restrictions leave, the variant's constraints and then the person's. */
kerf_status kerf_space_part_open(const kerf_space_request *request, int part, kerf_arena *arena, kerf_open_part *open,
                                 kerf_error *error);

/* Of the constraints whose bit is set in `mask`: how many configurations hold them all, which are written to `found`
 * (n_parameters indices each, if it is not NULL). -1: more than KERF_MOST_CONFIGS, or too many to look at. */
int64_t kerf_space_part_count(const kerf_open_part *part, uint32_t mask, kerf_arena *arena, int16_t *found);

#endif
