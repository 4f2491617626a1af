/* What bench tells about rows besides their times. */
#include "tests/catch_shim.h"
#include "tests/cli/run.h"

#include <stdio.h>
#include <stdlib.h>
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

static void sweeps_are_tables_and_records(void) {
    const cli_result *const result =
        cli_bench("time --op grid_sampler_grad --variant naive,strided --sweep C=1,3 --sweep H=W=4..8 --time-budget 1 "
                  "--json --format table --case 'N=1 C=5 H=6 W=6 Ho=4 Wo=3'");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE(cli_count_lines(result->out, "{\"schema\":1,\"kind\":\"time\"") == 2 * 2 * 2 * 2);
    REQUIRE(strstr(result->out, "\"set\":\"sweep\",\"case\":\"N=1 C=3 H=8 W=8 Ho=4 Wo=3 "));
    REQUIRE_MESSAGE(cli_count_lines(result->out, "  C=1 H=4 W=4 ") == 2, "%s", result->out); /* hot and cold */
    REQUIRE(cli_count_lines(result->out, "  C=3 H=8 W=8 ") == 2);
    REQUIRE(!strstr(result->out, "  C=5"));
    REQUIRE(!strstr(result->out, "timed, fastest first"));
}

static void bad_sweeps_are_refused_before_anything_runs(void) {
    static const char *const sweeps[] = {"C=1..2000+1",
                                         "C=-1..2",
                                         "Q=1",
                                         "C=1..8x1",
                                         "C=3 --sweep C=4",
                                         "C=3 --set bench",
                                         "H=W=3,4 --dims N=1,W=4",
                                         "C=9223372036854775807",
                                         "N=2..2 --sweep H=W=0"};
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; ++i) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "time --op grid_sampler_grad --variant naive --quiet --sweep %s",
                 sweeps[i]);
        const cli_result *const result = cli_bench(arguments);
        REQUIRE_MESSAGE(result->exit_code == 2, "%s: %d %s", arguments, result->exit_code, result->err);
        REQUIRE(result->out[0] == '\0');
        REQUIRE_MESSAGE(strchr(result->err, '\n') == strrchr(result->err, '\n'), "%s", result->err);
    }
    /* A size that is a number, but not one that fits this machine. */
    const cli_result *const huge =
        cli_bench("time --op grid_sampler_grad --variant naive --quiet --sweep C=1..100000000000x100000000000");
    REQUIRE_MESSAGE(huge->exit_code == 1, "%d %s", huge->exit_code, huge->err);
    REQUIRE_MESSAGE(strstr(huge->err, "are free") && strchr(huge->err, '\n') == strrchr(huge->err, '\n'), "%s",
                    huge->err);
}

static bool has_objdump(void) {
    return system("objdump --version > /dev/null 2>&1") == 0;
}

static void annotate_shows_functions_and_instructions(void) {
    if (!has_objdump())
        SKIP("no objdump here");
    const cli_result *const result =
        cli_bench("annotate naive --op grid_sampler_grad --seconds 0.3 --quiet --case 'N=1 C=8 H=16 W=16 Ho=16 Wo=16'");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE(cli_count_lines(result->out, "naive@cpu on N=1 C=8 H=16 W=16 Ho=16 Wo=16 dtype=f32 ") == 1);
    REQUIRE(cli_count_lines(result->out, "functions") == 1);
    REQUIRE_MESSAGE(strstr(result->out, " %  ") && strstr(result->out, ":  "), "%s", result->out);
    REQUIRE(result->err[0] == '\0');
}

static void annotate_refuses_in_one_line(void) {
    static const struct {
        const char *before, *arguments;
        int exit_code;
        const char *words;
    } refused[] = {
        {"", "annotate --op grid_sampler_grad", 2, "no variant"},
        {"", "annotate naive", 2, "no op"},
        {"", "annotate naiv --op grid_sampler_grad", 2, "did you mean 'naive'"},
        {"", "annotate naive,strided --op grid_sampler_grad", 2, "one row"},
        {"", "annotate naive strided extra --op grid_sampler_grad", 2, "unexpected argument"},
        {"", "annotate naive@cuda --op grid_sampler_grad", 2, "variant"},
        {"", "annotate naive --op grid_sampler_grad --seconds 0", 2, "--seconds"},
        {"", "annotate naive --op grid_sampler_grad --seconds nan", 2, "--seconds"},
        {"", "annotate naive --op grid_sampler_grad --case N=1", 2, "missing sizes"},
        {"", "annotate naive --op grid_sampler_grad --split", 2, "means nothing"},
        {"", "annotate cuda_grid_stride@cuda_sim --op grid_sampler_grad", 2, "no row that runs"},
        {"", "annotate naive --op grid_sampler_grad --case 'N=100000000 C=1000 H=1000 W=100 Ho=1 Wo=1'", 1, "are free"},
        {"PATH=/nowhere", "annotate naive --op grid_sampler_grad --seconds 0.1", 1, "binutils"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        const cli_result *const result = cli_bench_with(refused[i].before, refused[i].arguments);
        REQUIRE_MESSAGE(result->exit_code == refused[i].exit_code, "%s: %d %s", refused[i].arguments, result->exit_code,
                        result->err);
        REQUIRE_MESSAGE(strstr(result->err, refused[i].words), "%s: %s", refused[i].arguments, result->err);
        REQUIRE(result->out[0] == '\0');
        REQUIRE_MESSAGE(strchr(result->err, '\n') == strrchr(result->err, '\n'), "%s", result->err);
    }
}

/* One that fails at once, and one that fails on files. */
static void a_failing_objdump_is_an_error(void) {
    static const char *const scripts[] = {"exit 3", "[ \"$1\" = --version ] || exit 3"};
    static const char *const told[] = {"objdump --version failed (exit code 3)", "objdump -t /"};
    for (int i = 0; i < 2; ++i) {
        char command[256], before[128];
        snprintf(command, sizeof command,
                 "mkdir -p '%s/bin' && printf '#!/bin/sh\n%%s\n' '%s' >'%s/bin/objdump' && chmod +x '%s/bin/objdump'",
                 cli_folder(), scripts[i], cli_folder(), cli_folder());
        REQUIRE(system(command) == 0);
        snprintf(before, sizeof before, "PATH='%s/bin':$PATH", cli_folder());
        const cli_result *const result =
            cli_bench_with(before, "annotate naive --op grid_sampler_grad --seconds 0.1 --quiet "
                                   "--case 'N=1 C=8 H=16 W=16 Ho=16 Wo=16'");
        REQUIRE_MESSAGE(result->exit_code == 1 && result->out[0] == '\0', "%s: exit %d: %s", scripts[i],
                        result->exit_code, result->out);
        REQUIRE_MESSAGE(strstr(result->err, told[i]) && cli_count_lines(result->err, "") == 1, "%s", result->err);
    }
}

const kerf_test kerf_tests_cli_profiling[] = {
    {"profiling: splits are shown and recorded", "[cli][time]", splits_are_shown_and_recorded, __FILE__, __LINE__},
    {"profiling: counters are shown or the reason", "[cli][time]", counters_are_shown_or_the_reason, __FILE__,
     __LINE__},
    {"profiling: asking where nothing is timed is refused", "[cli]", asking_where_nothing_is_timed_is_refused, __FILE__,
     __LINE__},
    {"profiling: sweeps are tables and records", "[cli][time]", sweeps_are_tables_and_records, __FILE__, __LINE__},
    {"profiling: bad sweeps are refused before anything runs", "[cli]", bad_sweeps_are_refused_before_anything_runs,
     __FILE__, __LINE__},
    {"profiling: annotate shows functions and instructions", "[cli][annotate]",
     annotate_shows_functions_and_instructions, __FILE__, __LINE__},
    {"profiling: a failing objdump is an error", "[cli][annotate]", a_failing_objdump_is_an_error, __FILE__, __LINE__},
    {"profiling: annotate refuses in one line", "[cli][annotate]", annotate_refuses_in_one_line, __FILE__, __LINE__},
    {0},
};
