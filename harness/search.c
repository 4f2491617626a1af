#include "harness/search.h"

#include "base/checked.h"
#include "harness/casegen.h"
#include <string.h>

/* ---- exhaustive, and random without repetition: both go through an order ----------------------------------------- */

typedef struct ordered_state {
    int64_t n, next;
    kerf_rng rng;
    bool shuffles;
    int32_t *order; /* n numbers: KERF_MOST_CONFIGS fits */
    uint8_t *done;  /* asked or told */
} ordered_state;

static size_t ordered_bytes(const kerf_search_space *space, const kerf_search_budget *budget) {
    (void)budget;
    size_t bytes;
    return kerf_mul_size((size_t)space->n_configs, sizeof(int32_t) + sizeof(uint8_t), &bytes) &&
                   kerf_add_size(bytes, sizeof(ordered_state), &bytes)
               ? bytes
               : 0;
}

static void ordered_begin(void *state, const kerf_search_space *space, kerf_rng rng, bool shuffles) {
    ordered_state *const s = state;
    *s = (ordered_state){.n = space->n_configs, .rng = rng, .shuffles = shuffles};
    s->order = (int32_t *)(s + 1);
    s->done = (uint8_t *)(s->order + s->n);
    for (int64_t i = 0; i < s->n; ++i)
        s->order[i] = (int32_t)i;
}

/* Shuffled as far as it is needed: each of the rest is as likely to be the next. */
static int64_t ordered_ask(void *state) {
    ordered_state *const s = state;
    while (s->next < s->n) {
        const int64_t at = s->next++;
        if (s->shuffles) {
            const int64_t other = at + (int64_t)kerf_rng_below(&s->rng, (uint64_t)(s->n - at));
            const int32_t config = s->order[other];
            s->order[other] = s->order[at];
            s->order[at] = config;
        }
        const int32_t config = s->order[at];
        if (s->done[config])
            continue;
        s->done[config] = 1;
        return config;
    }
    return -1;
}

static void ordered_tell(void *state, int64_t config, const kerf_outcome *outcome) {
    ordered_state *const s = state;
    (void)outcome;
    s->done[config] = 1;
}

static void exhaustive_begin(void *state, const kerf_search_space *space, const kerf_search_budget *budget,
                             kerf_rng rng) {
    (void)budget;
    ordered_begin(state, space, rng, false);
}

static void random_begin(void *state, const kerf_search_space *space, const kerf_search_budget *budget, kerf_rng rng) {
    (void)budget;
    ordered_begin(state, space, rng, true);
}

static const kerf_search exhaustive = {.name = "exhaustive",
                                       .summary = "every configuration in order",
                                       .state_bytes = ordered_bytes,
                                       .begin = exhaustive_begin,
                                       .ask = ordered_ask,
                                       .tell = ordered_tell};
static const kerf_search random_search = {.name = "random",
                                          .summary = "in random order, none twice",
                                          .state_bytes = ordered_bytes,
                                          .begin = random_begin,
                                          .ask = ordered_ask,
                                          .tell = ordered_tell};

const kerf_search *const kerf_searches[] = {&exhaustive, &random_search, NULL};

kerf_status kerf_search_find(const char *name, const kerf_search **search, kerf_error *error) {
    const char *names[16] = {0};
    char memory[200];
    kerf_text all = kerf_text_over(memory, sizeof memory);
    for (int i = 0; kerf_searches[i]; ++i) {
        *search = kerf_searches[i];
        if (strcmp((*search)->name, name) == 0)
            return KERF_OK;
        names[i] = (*search)->name;
        kerf_text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *const nearest = kerf_nearest_name(name, names);
    return kerf_fail(error, KERF_ERROR_USAGE, "--search '%.80s'%s%s%s; allowed are %s", name,
                     nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "", memory);
}
