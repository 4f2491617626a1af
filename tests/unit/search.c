/* Searches on scripted tables: no row twice, what is told is not asked for, the same seed gives the same order. */
#include "harness/search.h"
#include "tests/catch_shim.h"
#include <stdlib.h>
#include <string.h>

enum { N = 50 };

static const kerf_search_space table = {.n_parameters = 1, .n_configs = N};
static const kerf_search_budget budget = {.evaluations = N};

static void *begun(const kerf_search *search, uint64_t seed) {
    void *const state = calloc(1, search->state_bytes(&table, &budget));
    if (state)
        search->begin(state, &table, &budget, kerf_rng_seeded(seed, 0));
    return state;
}

static void each_is_asked_once(void) {
    for (int s = 0; kerf_searches[s]; ++s) {
        const kerf_search *const search = kerf_searches[s];
        void *const state = begun(search, 1);
        bool seen[N] = {false};
        REQUIRE(state != NULL);
        for (int i = 0; i < N; ++i) {
            const int64_t config = search->ask(state);
            REQUIRE_MESSAGE(config >= 0 && config < N && !seen[config], "%s asks for %lld", search->name,
                            (long long)config);
            seen[config] = true;
            /* Told late, and not always as timed. */
            if (i % 3 == 2)
                search->tell(state, config, &(const kerf_outcome){.kind = (kerf_outcome_kind)(i % 4), .cost = i});
        }
        REQUIRE(search->ask(state) == -1 && search->ask(state) == -1);
        free(state);
    }
}

static void what_is_known_is_not_asked(void) {
    for (int s = 0; kerf_searches[s]; ++s) {
        const kerf_search *const search = kerf_searches[s];
        void *const state = begun(search, 7), *const fresh = begun(search, 7);
        REQUIRE(state && fresh);
        for (int64_t config = 0; config < N; config += 2)
            search->tell(state, config, &(const kerf_outcome){.cost = 1});
        /* The rest comes in the order in which a run that knows nothing asks. */
        for (int i = 0; i < N; ++i) {
            const int64_t config = search->ask(fresh);
            REQUIRE(config % 2 == 0 || search->ask(state) == config);
        }
        REQUIRE(search->ask(state) == -1);
        free(state);
        free(fresh);
    }
}

static void random_is_seeded_and_even(void) {
    const kerf_search *search;
    kerf_error error;
    int first[N] = {0}, n_same = 0;
    REQUIRE(kerf_search_find("random", &search, &error) == KERF_OK);
    for (uint64_t seed = 0; seed < 5000; ++seed) {
        void *const state = begun(search, seed), *const again = begun(search, seed);
        REQUIRE(state && again);
        const int64_t config = search->ask(state);
        n_same += config == search->ask(again) && search->ask(state) == search->ask(again);
        ++first[config];
        free(state);
        free(again);
    }
    REQUIRE(n_same == 5000);
    for (int i = 0; i < N; ++i) /* 100 expected, five standard deviations */
        REQUIRE_MESSAGE(first[i] > 50 && first[i] < 150, "row %d came first %d times", i, first[i]);
}

static void names(void) {
    const kerf_search *search;
    kerf_error error = {""};
    REQUIRE(kerf_search_find("exhaustive", &search, &error) == KERF_OK && search == kerf_searches[0]);
    REQUIRE(kerf_search_find("randm", &search, &error) == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strstr(error.message, "'randm'") && strstr(error.message, "exhaustive, random"), "%s",
                    error.message);
}

const kerf_test kerf_tests_unit_search[] = {
    {"search: each configuration is asked for once", "[unit][tune]", each_is_asked_once, __FILE__, __LINE__},
    {"search: what is told is not asked for", "[unit][tune]", what_is_known_is_not_asked, __FILE__, __LINE__},
    {"search: random is seeded and even", "[unit][tune]", random_is_seeded_and_even, __FILE__, __LINE__},
    {"search: an unknown name is refused", "[unit][tune]", names, __FILE__, __LINE__},
    {0},
};
