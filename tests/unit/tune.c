/* Which configuration becomes the result of tuning. */
#include "harness/tune.h"
#include "tests/catch_shim.h"

static void only_what_is_surely_not_slower_is_chosen(void) {
    static const struct {
        int n, chosen;
        double time_ns[3];
        kerf_interval ratio[3];
    } cases[] = {
        /* faster, and its interval says so */
        {2, 1, {100, 80}, {{1, 1, 1}, {1.25, 1.2, 1.3}}},
        /* faster by its median, but the interval reaches below 1 */
        {2, 0, {100, 80}, {{1, 1, 1}, {1.25, 0.99, 1.4}}},
        {2, 0, {100, 120}, {{1, 1, 1}, {0.83, 0.8, 0.9}}},
        /* the fastest is not sure, the second fastest is */
        {3, 2, {100, 70, 90}, {{1, 1, 1}, {1.4, 0.9, 1.5}, {1.11, 1.05, 1.2}}},
        {3, 1, {100, 70, 90}, {{1, 1, 1}, {1.4, 1.3, 1.5}, {1.11, 1.05, 1.2}}},
        /* never slower than the default by its own median, whatever the ratio says */
        {2, 0, {100, 101}, {{1, 1, 1}, {1.01, 1, 1.02}}},
        /* no figures: of one, of the default */
        {2, 0, {100, 0}, {{1, 1, 1}, {0, 0, 0}}},
        {2, -1, {0, 80}, {{0, 0, 0}, {0, 0, 0}}},
        {1, 0, {100}, {{1, 1, 1}}},
        {0, -1, {0}, {{0, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const int chosen = kerf_tune_choose(cases[i].time_ns, cases[i].ratio, cases[i].n);
        REQUIRE_MESSAGE(chosen == cases[i].chosen, "case %d: %d", (int)i, chosen);
    }
}

const kerf_test kerf_tests_unit_tune[] = {
    {"tune: only what is surely not slower than the default is chosen", "[unit][tune]",
     only_what_is_surely_not_slower_is_chosen, __FILE__, __LINE__},
    {0},
};
