/* Rows against the limit of the machine, on the command line. The op `claims` has right results and claims work that no
 * machine can do, so what comes out hangs on no real time. */
#include "harness/limits_file.h"

#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_result *time_claim(const char *claim, const char *more) {
    char arguments[512];
    snprintf(arguments, sizeof arguments,
             "time --op claims --plugin '%s' --time-budget 1 --case 'N=1024 dtype=f32 fill=exact claim=%s' %s",
             KERF_TEST_PLANTED, claim, more);
    return cli_bench(arguments);
}

static void an_honest_row_is_plausible(void) {
    const cli_result *const result = time_claim("honest", "--json");
    REQUIRE_MESSAGE(result->exit_code == 0 && !strstr(result->err, "IMPLAUSIBLE"), "exit %d: %s", result->exit_code,
                    result->err);
    REQUIRE(strstr(result->out, "\"work\":{\"flops\":0,\"read_bytes\":4096,\"written_bytes\":4096}"));
    REQUIRE(strstr(result->out, "\"again\":false") && strstr(result->out, "\"share\":{\"middle\":"));
}

/* The machine file holds limits that nothing reaches: what is said comes from this machine, measured in the same run.
 */
static void check_implausible(const char *claim, const char *by) {
    const cli_result *result = time_claim(claim, "--json");
    REQUIRE_MESSAGE(result->exit_code == 6, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "IMPLAUSIBLE copy@cpu hot: ") == 1, "%s", result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "  repeat: bench time --op claims --variant copy@cpu") == 2, "%s",
                    result->err);
    REQUIRE(strstr(result->out, "\"verdict\":\"IMPLAUSIBLE\"") && strstr(result->out, "\"check\":\"limit\""));
    REQUIRE_MESSAGE(strstr(result->out, by) && strstr(result->out, "\"again\":true"), "%s", result->out);
    REQUIRE(!strstr(result->out, "\"again\":false") && strstr(result->out, "\"samples\":[["));
    REQUIRE(strstr(result->out, "\"kind\":\"end\",\"exit_code\":6"));
}

static void impossible_operations_are_found(void) {
    check_implausible("flops", "\"by\":\"flops\",\"level\":0");
}

static void impossible_bytes_are_found(void) {
    check_implausible("bytes", "\"read_bytes\":1e+18");
}

static void the_table_does_not_rank_it(void) {
    const cli_result *const result = time_claim("flops", "");
    REQUIRE_MESSAGE(result->exit_code == 6, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->out, "times as fast as the machine allows: 1e+18 operations take"), "%s",
                    result->out);
    REQUIRE(!strstr(result->out, "geometric mean"));
}

#define TUNE                                                                                                           \
    "tune --op claims --plugin '" KERF_TEST_PLANTED                                                                    \
    "' --time-budget 1 --threads 1 --mode cold --case 'N=1024 dtype=f32 fill=exact claim=%s' --variant %s %s"

static const cli_result *tune_claim(const char *before, const char *claim, const char *row, const char *more) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, TUNE, claim, row, more);
    return cli_bench_with(before, arguments);
}

/* The default of the case, as there is one row: no configuration is the result, and no time is shown. */
static void tuning_does_not_choose_it(void) {
    const cli_result *result = tune_claim("", "flops", "copy", "--json");
    REQUIRE_MESSAGE(result->exit_code == 6, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "  repeat: bench tune --op claims --variant copy@cpu --threads 1 --mode cold "
                                        "--param threads=1 "),
                    "%s", result->err);
    const char *const verdict = strstr(result->out, "\"verdict\":\"IMPLAUSIBLE\"");
    REQUIRE_MESSAGE(verdict && strstr(verdict, "\"standard\":true") && strstr(verdict, "\"samples\":[["), "%s",
                    result->out);
    REQUIRE_MESSAGE(!strstr(result->out, "ratio_to_standard") && !strstr(result->out, "\"phase\":\"final\""), "%s",
                    result->out);
    result = tune_claim("", "flops", "copy", "");
    REQUIRE_MESSAGE(strstr(result->out, "IMPLAUSIBLE a call of") && !strstr(result->out, "  * "), "%s", result->out);
}

/* One configuration of two does less than the case asks for: the search leaves it, whatever its time. The kept limit is
 * so low that both are doubtful, and what is measured again clears the honest one. */
static void the_search_leaves_it(void) {
    char command[512], before[128];
    snprintf(command, sizeof command,
             "cd '%s' && mkdir -p slow/kerf/machines && for file in data/kerf/machines/*; do sed "
             "'s/\"f32\":[^]]*/\"f32\":[0.001,0.001,0.001/' \"$file\" >slow/\"${file#data/}\"; done",
             cli_folder());
    REQUIRE(system(command) == 0);
    snprintf(before, sizeof before, "env XDG_DATA_HOME='%s/slow'", cli_folder());
    const cli_result *const result = tune_claim(before, "some", "pausing", "--json");
    REQUIRE_MESSAGE(result->exit_code == 6, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "2 times are beyond the limit"), "%s", result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "IMPLAUSIBLE pausing@cpu cold: ") == 1 &&
                        strstr(result->err, "--param pause_ms=0 "),
                    "%s", result->err);
    const char *const verdict = strstr(result->out, "\"verdict\":\"IMPLAUSIBLE\"");
    REQUIRE_MESSAGE(verdict && strstr(verdict, "\"phase\":\"search\""), "%s", result->out);
    const char *const final = strstr(result->out, "\"phase\":\"final\"");
    REQUIRE_MESSAGE(final && strstr(final, "\"standard\":true,\"chosen\":true"), "%s", result->out);
    REQUIRE(!strstr(final, "pause_ms=0"));
}

const kerf_test kerf_tests_cli_limit[] = {
    {"limit: an honest row is plausible", "[cli][time][limits]", an_honest_row_is_plausible, __FILE__, __LINE__},
    {"limit: impossible operations are found", "[cli][time][limits]", impossible_operations_are_found, __FILE__,
     __LINE__},
    {"limit: impossible bytes are found", "[cli][time][limits]", impossible_bytes_are_found, __FILE__, __LINE__},
    {"limit: the table does not rank what is implausible", "[cli][time][limits]", the_table_does_not_rank_it, __FILE__,
     __LINE__},
    {"limit: tuning does not choose what is implausible", "[cli][tune][limits]", tuning_does_not_choose_it, __FILE__,
     __LINE__},
    {"limit: the search of tuning leaves what is implausible", "[cli][tune][limits]", the_search_leaves_it, __FILE__,
     __LINE__},
    {0},
};
