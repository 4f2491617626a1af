/* Constraint texts: expressions over whole numbers, such as "block * items <= 1024". Numbers, names, ( ), unary - and
 * !,
 * * / %, + -, one comparison (== != < <= > >=), &&, ||, in C's order and with C's meaning. Texts come from people and
 * files: whatever is in them is parsed or refused. */
#ifndef KERF_HARNESS_EXPRESSION_H
#define KERF_HARNESS_EXPRESSION_H

#include "base/status.h"
#include <stdint.h>

enum { KERF_MAX_EXPRESSION_NODES = 96, KERF_MAX_EXPRESSION_NAMES = 16, KERF_MAX_NAME_BYTES = 48 };

typedef struct kerf_expression_node {
    int kind;        /* private */
    int left, right; /* nodes */
    int64_t value;   /* a number, or which name */
} kerf_expression_node;

typedef struct kerf_expression {
    const char *text; /* as it was handed in */
    char name[KERF_MAX_EXPRESSION_NAMES][KERF_MAX_NAME_BYTES];
    int n_names;
    kerf_expression_node node[KERF_MAX_EXPRESSION_NODES];
    int n_nodes, root;
} kerf_expression;

/* KERF_ERROR_USAGE with the text, the place, and what is allowed. */
kerf_status kerf_expression_parse(const char *text, kerf_expression *expression, kerf_error *error);

/* Whether it is not 0 when name[i] has the value values[i]. False too where a sum overflows or something is divided by
 * zero; && and || do not look at their right side where the left one decides. */
bool kerf_expression_holds(const kerf_expression *expression, const int64_t values[]);

/* A letter or _, then letters, digits and _; shorter than KERF_MAX_NAME_BYTES. */
bool kerf_is_name(const char *text);

#endif
