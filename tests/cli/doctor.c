#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kept = "kept in ";

static void the_short_form_tells_all(void) {
    const cli_result *const result = cli_bench("doctor --quick");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->out, "  level 1") >= 1 && strstr(result->out, "GB/s"), "%s", result->out);
    REQUIRE(strstr(result->out, "GFLOP/s") && strstr(result->out, "working set"));
    REQUIRE(strstr(result->out, "what disturbs timing here") && strstr(result->out, "one kernel against itself"));
    REQUIRE_MESSAGE(strstr(result->out, ", 6 processes): ratio "), "%s", result->out);
    REQUIRE_MESSAGE(strstr(result->out, "Google Benchmark's own loop against our sampler"), "%s", result->out);
    REQUIRE(cli_count_lines(result->out, "   1 %: ") == 1 && cli_count_lines(result->out, "  10 %: ") == 1);
    REQUIRE_MESSAGE(cli_count_lines(result->out, kept) == 1, "%s", result->out);
}

/* The kept file is named; what is in it after some damage costs a line, not the run. */
static void a_damaged_file_is_one_warning(void) {
    char path[256] = "", command[320];
    const cli_result *result = cli_bench_with("KERF_ISA=none", "doctor --quick --threads 1 --quiet");
    REQUIRE_MESSAGE(result->exit_code == 0 && result->err[0] == '\0', "%s", result->err);
    const char *const line = strstr(result->out, kept);
    REQUIRE(line && sscanf(line + strlen(kept), "%255s", path) == 1);
    snprintf(command, sizeof command, "printf '{\"schema\":1,\"cpu\":\"\\033[2J' >'%s'", path);
    REQUIRE(system(command) == 0);
    result = cli_bench_with("KERF_ISA=none", "doctor --quick --threads 1 --quiet");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "") == 1 && cli_count_lines(result->err, "bench: warning: ") == 1,
                    "%s", result->err);
    REQUIRE(!strstr(result->err, "\033") && strstr(result->err, "ignored") && strstr(result->err, path));
}

static void json_is_the_kept_file(void) {
    char command[320];
    const cli_result *result = cli_bench_with("KERF_ISA=none", "doctor --quick --threads 1 --quiet --json");
    REQUIRE_MESSAGE(result->exit_code == 0 && result->err[0] == '\0', "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strncmp(result->out, "{\"schema\":1,\"cpu\":", 18) == 0, "%.80s", result->out);
    snprintf(command, sizeof command, "cmp -s '%s/out' \"$(grep -l '\"isa\":\"none\"' '%s'/data/kerf/machines/*)\"",
             cli_folder(), cli_folder());
    REQUIRE(system(command) == 0);
}

static void wrong_words_are_refused(void) {
    static const char *const wrong[] = {"doctor grid_sampler_grad",
                                        "doctor --op grid_sampler_grad",
                                        "doctor --set smoke",
                                        "doctor --time-budget 3",
                                        "doctor --format csv",
                                        "doctor --out table=/tmp/kerf-doctor.txt",
                                        "list --quick",
                                        "--op grid_sampler_grad --quick"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        const cli_result *const result = cli_bench(wrong[i]);
        REQUIRE_MESSAGE(result->exit_code == 2 && cli_count_lines(result->err, "bench: ") == 1, "%s: %d: %s", wrong[i],
                        result->exit_code, result->err);
    }
    const cli_result *const worker = cli_bench("doctor-worker"); /* nothing on its standard input */
    REQUIRE_MESSAGE(worker->exit_code == 2 && strstr(worker->err, "expected bytes, threads"), "%s", worker->err);
    const cli_result *const isa = cli_bench_with("KERF_ISA=avx-2", "doctor --quick");
    REQUIRE_MESSAGE(isa->exit_code == 2 && strstr(isa->err, "KERF_ISA='avx-2': allowed are"), "%s", isa->err);
    REQUIRE(cli_bench_with("KERF_ISA=avx512,avx2,none", "list")->exit_code == 0);
}

/* Before the measurement, which would have lines on standard error. */
static void a_file_that_cannot_be_written_is_refused(void) {
    static const char *const paths[] = {"json=/tmp", "json=/nowhere/x.json"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; ++i) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "doctor --quick --out %s", paths[i]);
        const cli_result *const result = cli_bench(arguments);
        REQUIRE_MESSAGE(result->exit_code == 1 && result->out[0] == '\0', "%s: exit %d", paths[i], result->exit_code);
        REQUIRE_MESSAGE(cli_count_lines(result->err, "") == 1 && strstr(result->err, paths[i] + strlen("json=")),
                        "%s: %s", paths[i], result->err);
    }
}

static void help_names_the_short_form(void) {
    const cli_result *const result = cli_bench("doctor --help");
    REQUIRE(result->exit_code == 0 && strstr(result->out, "usage: bench doctor [--quick]"));
}

static void without_a_home_there_is_a_warning(void) {
    const cli_result *const result =
        cli_bench_with("env -u XDG_DATA_HOME -u HOME", "doctor --quick --threads 1 --quiet");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "not kept") && cli_count_lines(result->err, "bench: ") == 1, "%s", result->err);
}

static void an_interrupt_ends_it(void) {
    char when[128];
    snprintf(when, sizeof when, "grep -qs measuring %s/err", cli_folder());
    const cli_result *const result = cli_bench_interrupted("", when, "doctor");
    REQUIRE_MESSAGE(result->exit_code == 130 && result->out[0] == '\0', "exit %d", result->exit_code);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "bench: interrupted") == 1 && cli_count_lines(result->err, "") == 2,
                    "%s", result->err);
}

#define TINY "--case 'N=1 C=2 H=4 W=4 Ho=3 Wo=3 dtype=f32 fill=exact'"

/* Without limits of this machine a run that times measures them, once. */
static void a_first_run_measures_the_limits(void) {
    char before[96], command[128];
    snprintf(before, sizeof before, "env XDG_DATA_HOME='%s/first'", cli_folder());
    const char *const arguments = "time --op grid_sampler_grad --variant naive --time-budget 1 --json " TINY;
    const cli_result *result = cli_bench_with(before, arguments);
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "measuring the limits of this machine, about 5 s"), "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->out, "\"limit\":{\"ns\":") && strstr(result->out, "\"share\":{"), "%s", result->out);
    result = cli_bench_with(before, arguments);
    REQUIRE_MESSAGE(result->exit_code == 0 && !strstr(result->err, "measuring"), "%s", result->err);
    snprintf(command, sizeof command, "printf x >>\"$(echo '%s'/first/kerf/machines/*.json)\"", cli_folder());
    REQUIRE(system(command) == 0);
    result = cli_bench_with(before, arguments);
    REQUIRE_MESSAGE(strstr(result->err, "ignored") && strstr(result->err, "measuring"), "%s", result->err);
}

const kerf_test kerf_tests_cli_doctor[] = {
    {"doctor: a first timing run measures the limits", "[cli][doctor]", a_first_run_measures_the_limits, __FILE__,
     __LINE__},
    {"doctor: the short form tells all", "[cli][doctor]", the_short_form_tells_all, __FILE__, __LINE__},
    {"doctor: a damaged file is one warning", "[cli][doctor]", a_damaged_file_is_one_warning, __FILE__, __LINE__},
    {"doctor: json is the kept file", "[cli][doctor]", json_is_the_kept_file, __FILE__, __LINE__},
    {"doctor: wrong words are refused", "[cli][doctor]", wrong_words_are_refused, __FILE__, __LINE__},
    {"doctor: help names the short form", "[cli][doctor]", help_names_the_short_form, __FILE__, __LINE__},
    {"doctor: a file that cannot be written is refused", "[cli][doctor]", a_file_that_cannot_be_written_is_refused,
     __FILE__, __LINE__},
    {"doctor: without a home there is a warning", "[cli][doctor]", without_a_home_there_is_a_warning, __FILE__,
     __LINE__},
    {"doctor: an interrupt ends it", "[cli][doctor]", an_interrupt_ends_it, __FILE__, __LINE__},
    {0},
};
