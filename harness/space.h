/* What can be tuned on one case, as a table of configurations: several implementations, each with its parameters, less
 * what constraints and the person exclude. A search sees this table and nothing else, so a recorded table is the same
 * to it as one that is measured. */
#ifndef KERF_HARNESS_SPACE_H
#define KERF_HARNESS_SPACE_H

#include "kernels/kernel.h"

enum { KERF_MAX_TUNED = 24 };
#define KERF_MOST_CONFIGS ((int64_t)1 << 20)

typedef struct kerf_tuned_value {
    int64_t value;
    const char *name; /* of a choice; NULL: a number */
} kerf_tuned_value;

typedef struct kerf_tuned {
    const char *name;
    const kerf_tuned_value *value;
    int n_values;
} kerf_tuned;

/* Parameter 0 is `variant`, whose values are the parts; parts that have a parameter of the same name and values share
 * it. A config is a value for each parameter; those that do not belong to its variant have none. */
typedef struct kerf_search_space {
    int n_parameters;
    kerf_tuned parameter[KERF_MAX_TUNED];
    int64_t n_configs;
    const char *emptied;  /* why a part has no configuration here: the first one's reason, or NULL */
    const int16_t *index; /* n_parameters for each config: which value of the parameter, -1: none */
} kerf_search_space;

/* A name that constraints may use. */
typedef struct kerf_symbol {
    const char *name;
    int64_t value;
} kerf_symbol;

typedef struct kerf_space_part {
    const char *name;           /* "vectorized.avx2@cpu" */
    const kerf_space *space;    /* of the variant; NULL: it has no parameters */
    int most_threads;           /* `threads` is a parameter with the values 1, 2, 4, ... and this one; 0: it is none */
    const kerf_symbol *symbols; /* the last one has no name */
} kerf_space_part;

typedef struct kerf_space_request {
    const kerf_space_part *parts;
    int n_parts;
    const char *const *restrictions; /* "name=value,value": only these; NULL-terminated, or NULL */
    const char *const *constraints;  /* of the person, beside the variants' own; NULL-terminated, or NULL */
} kerf_space_request;

/* Counts first and enumerates then, without the product of all values: parameters that no constraint ties together are
 * enumerated apart, and a constraint is evaluated as soon as its last parameter has a value. A constraint applies to
 * the parts that have all parameters it names. KERF_ERROR_USAGE: an unknown name or value with those that are allowed,
 * a space that is too large, or one that is empty with the constraint that empties it. */
kerf_status kerf_search_space_build(const kerf_space_request *request, kerf_arena *arena, kerf_search_space *space,
                                    kerf_error *error);

/* Of configuration `config`: its variant, the setting of each other parameter, and "threads=2,channel_block=16". */
int kerf_search_space_variant(const kerf_search_space *space, int64_t config);
kerf_status kerf_search_space_config(const kerf_search_space *space, int64_t config, kerf_arena *arena, kerf_config *to,
                                     kerf_error *error);
void kerf_search_space_print(const kerf_search_space *space, int64_t config, kerf_text *text);

/* The same for the defaults of a part. */
kerf_status kerf_space_standard(const kerf_space_part *part, kerf_arena *arena, kerf_config *to, kerf_error *error);
void kerf_space_print_standard(const kerf_space_part *part, kerf_text *text);

#endif
