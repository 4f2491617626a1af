/* What bench tells about rows besides their times. */
#include "tests/catch_shim.h"
#include "tests/cli/run.h"

#include <string.h>

#define TINY "--case 'N=1 C=8 H=6 W=5 Ho=4 Wo=3 fill=uniform'"

static void splits_are_shown_and_recorded(void) {
    const cli_result *result = cli_bench(
        "time --op grid_sampler_grad --variant naive,vectorized --split --time-budget 1 --json --format table " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->out, "split of a call") != NULL, "%s", result->out);
    const char *const vectorized = strstr(result->out, "\"row\":\"vectorized");
    if (vectorized) /* some vector unit is there */
        REQUIRE_MESSAGE(strstr(vectorized, "\"compute\":") != NULL, "%s", result->out);
    /* naive says no phases, hot and cold. */
    const char *const dashes = "  naive@cpu";
    int n = 0;
    for (const char *at = result->out; (at = strstr(at, dashes)); at += strlen(dashes))
        n += strspn(at + strlen(dashes), " -") > 50;
    REQUIRE_MESSAGE(n == 2, "%d: %s", n, result->out);
    REQUIRE(!strstr(result->out, "\"counters\""));
}

static void counters_are_shown_or_the_reason(void) {
    const cli_result *const result =
        cli_bench("time --op grid_sampler_grad --variant naive --counters --time-budget 1 --json --format table " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->out, "hardware counters") != NULL, "%s", result->out);
    REQUIRE(strstr(result->out, "\"counters\":{\"reason\":\"") || strstr(result->out, "\"counters\":{\"calls\":"));
    REQUIRE(!strstr(result->out, "\"split\""));
}

static void asking_where_nothing_is_timed_is_refused(void) {
    static const char *const asked[] = {"verify --op grid_sampler_grad --split", "doctor --counters", "list --split",
                                        "time --op grid_sampler_grad --split -- --benchmark_list_tests",
                                        "time --op grid_sampler_grad --split=3"};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
        const cli_result *const result = cli_bench(asked[i]);
        REQUIRE_MESSAGE(result->exit_code == 2, "%s: %d %s", asked[i], result->exit_code, result->err);
        REQUIRE(result->out[0] == '\0');
        REQUIRE_MESSAGE(strchr(result->err, '\n') == strrchr(result->err, '\n'), "%s", result->err);
    }
}

const kerf_test kerf_tests_cli_profiling[] = {
    {"profiling: splits are shown and recorded", "[cli][time]", splits_are_shown_and_recorded, __FILE__, __LINE__},
    {"profiling: counters are shown or the reason", "[cli][time]", counters_are_shown_or_the_reason, __FILE__,
     __LINE__},
    {"profiling: asking where nothing is timed is refused", "[cli]", asking_where_nothing_is_timed_is_refused, __FILE__,
     __LINE__},
    {0},
};
