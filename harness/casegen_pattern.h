/* What the files of casegen share: a line before its open fields are closed. Internal to harness/casegen*.c. */
#ifndef KERF_HARNESS_CASEGEN_PATTERN_H
#define KERF_HARNESS_CASEGEN_PATTERN_H

#include "harness/casegen.h"

#define KERF_CASE_MAX_LINE_BYTES 4096
#define KERF_CASE_MAX_COUNT      1000000
#define KERF_CASE_MAX_VALUES     64 /* of an enum attribute: its values are the bits of a word */

/* Values that are still possible. `c` is closed once every set below has one member. */
typedef struct kerf_case_pattern {
    kerf_case c;
    uint64_t attr_values[KERF_MAX_ATTRS]; /* enum attributes: bit v is value v; others: unused */
    uint64_t dtypes;                      /* bit d is kerf_dtype d */
} kerf_case_pattern;

/* A filter that was checked against the op. */
typedef struct kerf_case_sieve kerf_case_sieve;

/* Cuts `text` into its fields in place. The layout and other texts are copied into the arena. */
kerf_status kerf_case_pattern_parse(const kerf_op *op, char *text, kerf_arena *arena, kerf_case_pattern *pattern,
                                    kerf_error *error);
/* How many cases the full expansion has; UINT64_MAX where that overflows. */
uint64_t kerf_case_pattern_count(const kerf_case_pattern *pattern);
/* Calls take(arg, case) for each case of the expansion, in an order that depends on the pattern alone. */
kerf_status kerf_case_pattern_expand(const kerf_case_pattern *pattern, kerf_expansion expansion,
                                     kerf_status (*take)(void *arg, const kerf_case *c), void *arg, kerf_error *error);

/* NULL as a filter lets everything through. */
kerf_status kerf_case_sieve_make(const kerf_op *op, const kerf_case_filter *filter, kerf_arena *arena,
                                 const kerf_case_sieve **sieve, kerf_error *error);
/* Narrows the pattern; false when nothing of it is left. */
bool kerf_case_sieve_apply(const kerf_case_sieve *sieve, kerf_case_pattern *pattern);

/* Values of single fields; each error names the value and what is allowed. */
kerf_status kerf_case_read_attr(const kerf_attr_spec *spec, const char *text, kerf_arena *arena, kerf_attr *value,
                                kerf_error *error);
kerf_status kerf_case_read_dtype(const kerf_op *op, const char *text, kerf_dtype *dtype, kerf_error *error);
kerf_status kerf_case_read_layout(const kerf_op *op, const char *text, kerf_arena *arena, const char **layout,
                                  kerf_error *error);
kerf_status kerf_case_read_fill(const kerf_op *op, const char *text, int *fill, kerf_error *error);
kerf_status kerf_case_read_want(const kerf_op *op, const char *text, uint64_t *want, kerf_error *error);
kerf_status kerf_case_read_size(const char *name, const char *text, int64_t *size, kerf_error *error);
kerf_status kerf_case_read_seed(const char *text, uint64_t *seed, kerf_error *error);

bool kerf_attr_same(const kerf_attr_spec *spec, const kerf_attr *a, const kerf_attr *b);
int kerf_name_count(const char *const *names);
int kerf_name_find(const char *const *names, const char *given); /* -1: none */
int kerf_attr_spec_count(const kerf_op *op);
uint64_t kerf_want_all(const kerf_op *op);
uint64_t kerf_attr_all_values(const kerf_attr_spec *spec);
uint64_t kerf_dtype_all_values(const kerf_op *op);

/* "unknown WHAT 'GIVEN' of OWNER; did you mean 'NEAR'? WHATs: a b c" */
kerf_status kerf_fail_unknown(kerf_error *error, const char *what, const char *given, const char *owner,
                              const char *const *names);
/* The text as it may stand in a message: printable, at most 40 bytes. */
typedef struct kerf_shown {
    char text[48];
} kerf_shown;
kerf_shown kerf_show(const char *given);

#endif
