/* Searches: each is asked for the next configuration of a table and told what came of it. A search runs nothing, knows
 * no variant and no clock, and has no memory but its state; so it can be tried on recorded tables. */
#ifndef KERF_HARNESS_SEARCH_H
#define KERF_HARNESS_SEARCH_H

#include "base/rng.h"
#include "harness/space.h"

typedef enum kerf_outcome_kind {
    KERF_OUTCOME_TIMED,   /* right, and `cost` says how slow */
    KERF_OUTCOME_REFUSED, /* by the variant, with a reason */
    KERF_OUTCOME_WRONG,   /* a wrong result, a crash, a hang, or faster than the machine allows */
    KERF_OUTCOME_UNTIMED  /* right, but there is no time for other reasons */
} kerf_outcome_kind;

typedef struct kerf_outcome {
    kerf_outcome_kind kind;
    double cost; /* lower is better; of any unit that is the same for all configurations of the table */
} kerf_outcome;

typedef struct kerf_search_budget {
    int64_t evaluations; /* at most so many configurations will be asked for */
} kerf_search_budget;

typedef struct kerf_search {
    const char *name, *summary;
    /* Of what begin() fills; 0 where it overflows. */
    size_t (*state_bytes)(const kerf_search_space *space, const kerf_search_budget *budget);
    /* `state` is zeroed and aligned for any type. Space and budget stay where they are as long as the state is used. */
    void (*begin)(void *state, const kerf_search_space *space, const kerf_search_budget *budget, kerf_rng rng);
    /* The number of a configuration that was neither asked for nor told before, or -1: there is none that is worth it.
     * May be called several times before the outcomes are told: configurations are measured side by side. */
    int64_t (*ask)(void *state);
    /* In any order; also of configurations that were not asked for, because an earlier run measured them. Each once. */
    void (*tell)(void *state, int64_t config, const kerf_outcome *outcome);
} kerf_search;

/* The built-in searches, NULL-terminated. */
extern const kerf_search *const kerf_searches[];
/* KERF_ERROR_USAGE: an unknown name, with those that there are. */
kerf_status kerf_search_find(const char *name, const kerf_search **search, kerf_error *error);

#endif
