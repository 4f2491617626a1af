#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include <stdio.h>
#include <string.h>

#define TINY "--case 'N=1 C=2 H=4 W=4 Ho=3 Wo=3 dtype=f32 fill=exact'"

/* One line on standard error that holds all the parts, nothing on standard output, and this exit code. */
static void check_refused(const char *arguments, int exit_code, const char *part, const char *other) {
    const cli_result *const result = cli_bench(arguments);
    REQUIRE_MESSAGE(result->exit_code == exit_code, "%s: exit %d: %s", arguments, result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, part) && strstr(result->err, other), "%s: %s", arguments, result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "") == 1, "%s: %s", arguments, result->err);
    REQUIRE_MESSAGE(result->out[0] == '\0', "%s: %s", arguments, result->out);
}

static void wrong_words_are_named(void) {
    check_refused("--op grid_sampler_grd", 2, "'grid_sampler_grd'", "did you mean 'grid_sampler_grad'");
    check_refused("verify --op grid_sampler_grad --variant vectorised", 2, "'vectorised'", "did you mean 'vectorized'");
    check_refused("verify --op grid_sampler_grad --attr paddin_mode=zeros", 2, "'paddin_mode'", "padding_mode");
    check_refused("verify --op grid_sampler_grad --attr padding_mode=zero", 2, "'zero'", "reflection");
    check_refused("verify --op grid_sampler_grad --dtype f31", 2, "'f31'", "f32");
    check_refused("verify --op grid_sampler_grad --fill smoth", 2, "'smoth'", "smooth");
    check_refused("verify --op grid_sampler_grad --set smok", 2, "'smok'", "smoke");
    check_refused("verfy --op grid_sampler_grad", 2, "'verfy'", "did you mean 'verify'");
    check_refused("--opp grid_sampler_grad", 2, "'--opp'", "did you mean '--op'");
    check_refused("verify", 2, "no op", "bench list");
    check_refused("verify --op", 2, "--op needs a value", "OP");
    check_refused("verify --op grid_sampler_grad --threads 0", 2, "--threads '0'", "1");
    check_refused("verify --op grid_sampler_grad --threads 2x", 2, "--threads '2x'", "1");
    check_refused("verify --op grid_sampler_grad --time-budget -1", 2, "--time-budget '-1'", "above 0");
    check_refused("verify --op grid_sampler_grad --format xml", 2, "'xml'", "json");
    check_refused("verify --op grid_sampler_grad --out json", 2, "--out 'json'", "FORMAT=PATH");
    check_refused("verify --op grid_sampler_grad --set smoke " TINY, 2, "--set", "exclude");
    check_refused("verify --op grid_sampler_grad --plugin /nowhere.so", 2, "/nowhere.so", "--plugin");
}

static void what_would_be_ignored_is_refused(void) {
    check_refused("list --json", 2, "--json", "list");
    check_refused("verify --op grid_sampler_grad --time-budget 3", 2, "--time-budget", "verify");
    check_refused("verify --op grid_sampler_grad --seed 1 --seed 2", 2, "--seed", "twice");
    check_refused("verify --op grid_sampler_grad --threads 0x2", 2, "'0x2'", "whole numbers");
    check_refused("verify --op grid_sampler_grad --variant naive,", 2, "''", "vectorized");
    check_refused("verify --op grid_sampler_grad --out csv=/tmp/k --out json=/tmp/k", 2, "'/tmp/k'", "twice");
    check_refused("verify --op grid_sampler_grad -- --benchmark_filter=x", 2, "Google Benchmark", "bench time");
    check_refused("time --op grid_sampler_grad --json -- --benchmark_filter=x", 2, "--json", "--benchmark_format");
    check_refused("verify --op grid_sampler_grad --set ''", 2, "--set", "no case");
}

/* An implementation that cannot run here is no success. */
static void nothing_to_run_is_an_error(void) {
    const cli_result *const result =
        cli_bench_with("KERF_ISA=none", "verify --op grid_sampler_grad --variant vectorized");
    REQUIRE_MESSAGE(result->exit_code == 1, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "cannot run here"), "%s", result->err);
    REQUIRE(cli_count_lines(result->err, "") == 1);
}

static void one_bad_output_costs_no_other(void) {
    char arguments[256], path[96];
    snprintf(path, sizeof path, "%s/kept.csv", cli_folder());
    snprintf(arguments, sizeof arguments,
             "verify --op grid_sampler_grad --variant naive --out csv=%s " TINY " >/dev/full #", path);
    const cli_result *const result = cli_bench(arguments);
    REQUIRE_MESSAGE(result->exit_code == 1, "exit %d", result->exit_code);
    FILE *const csv = fopen(path, "r");
    REQUIRE(csv != NULL);
    fclose(csv);
}

static void impossible_dims_are_refused(void) {
#define WITH(dims) "verify --op grid_sampler_grad --case '" dims "'"
    check_refused(WITH("N=1 C=2 H=4 W=4 Ho=3"), 2, "Wo", "--case");
    check_refused(WITH("N=1 C=2 H=0 W=4 Ho=3 Wo=3"), 2, "H", "0");
    check_refused(WITH("N=-1 C=2 H=4 W=4 Ho=3 Wo=3"), 2, "N", "-1");
    check_refused(WITH("N=99999999999999999999 C=2 H=4 W=4 Ho=3 Wo=3"), 2, "N", "99999999999999999999");
    check_refused(WITH("N=4000000000 C=4000000000 H=4000000000 W=4 Ho=3 Wo=3"), 2, "4000000000", "");
    check_refused(WITH("N=1 C=2 H=4 W=4 Ho=3 Wo=3 layout=dx=zero"), 2, "dx", "zero");
    check_refused("verify --op grid_sampler_grad --dims N=4,N=5", 2, "N", "twice");
    check_refused("verify --op grid_sampler_grad --dims K=4", 2, "'K'", "N");
    check_refused("verify --op grid_sampler_grad --dims H=0", 2, "H", "0");
    check_refused(WITH("N=100000 C=1000 H=1000 W=1000 Ho=3 Wo=3"), 1, "GiB", "free");
}

static void a_tiny_case_passes(void) {
    const cli_result *const result = cli_bench("verify --op grid_sampler_grad --variant naive,strided " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->out, "naive@cpu") && strstr(result->out, "strided@cpu"), "%s", result->out);
    REQUIRE(!strstr(result->out, "vectorized"));
    REQUIRE(strstr(result->err, "records: "));
}

static void formats_agree(void) {
    char arguments[512];
    snprintf(arguments, sizeof arguments,
             "verify --op grid_sampler_grad --variant naive --json --out csv=%s/a.csv --out table=%s/a.txt " TINY,
             cli_folder(), cli_folder());
    const cli_result *const result = cli_bench(arguments);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE(cli_count_lines(result->out, "{\"schema\":1,\"kind\":\"run\"") == 1);
    REQUIRE(cli_count_lines(result->out, "{\"schema\":1,\"kind\":\"verify\"") == 1);
    REQUIRE(cli_count_lines(result->out, "{\"schema\":1,\"kind\":\"end\"") == 1);
    char path[96], line[512] = "";
    snprintf(path, sizeof path, "%s/a.csv", cli_folder());
    FILE *const csv = fopen(path, "r");
    REQUIRE(csv != NULL);
    REQUIRE(fgets(line, sizeof line, csv) && fgets(line, sizeof line, csv));
    fclose(csv);
    REQUIRE_MESSAGE(strncmp(line, "verify,grid_sampler_grad,--case,", 32) == 0 &&
                        strstr(line, ",naive@cpu,verify,,PASS,"),
                    "%s", line);
}

static void unwritable_output_is_told_first(void) {
    check_refused("verify --op grid_sampler_grad --out json=/nowhere/x.jsonl " TINY, 1, "/nowhere/x.jsonl", "--out");
    check_refused("verify --op grid_sampler_grad --out json=/tmp " TINY, 1, "/tmp", "--out");
}

static void no_home_is_a_warning(void) {
    const cli_result *const result =
        cli_bench_with("env -u HOME -u XDG_DATA_HOME", "verify --op grid_sampler_grad --variant naive " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->err, "warning") && strstr(result->err, "--out"), "%s", result->err);
}

static void case_files_name_file_and_line(void) {
    char path[96], arguments[256], expected[128];
    snprintf(path, sizeof path, "%s/mine.txt", cli_folder());
    FILE *const file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("# fine\nN=1 C=1 H=2 W=2 Ho=2 Wo=2\nN=1 C=1 H=2 W=2 Ho=2 Wo=2 fill=nothing\n", file);
    fclose(file);
    snprintf(arguments, sizeof arguments, "verify --op grid_sampler_grad --cases %s", path);
    snprintf(expected, sizeof expected, "%s:3", path);
    check_refused(arguments, 2, expected, "'nothing'");
    check_refused("verify --op grid_sampler_grad --cases /nowhere.txt", 1, "/nowhere.txt", "");
}

/* Once there are some records, of many. */
static void an_interrupt_keeps_the_records(void) {
    char arguments[256], path[96], before[128], when[256];
    snprintf(path, sizeof path, "%s/interrupted.jsonl", cli_folder());
    snprintf(arguments, sizeof arguments, "verify --op grid_sampler_grad --thorough --out json=%s", path);
    snprintf(before, sizeof before, "env XDG_DATA_HOME=%s/interrupted", cli_folder());
    snprintf(when, sizeof when, "[ \"$(cat %s/interrupted/kerf/runs/*.jsonl 2>/dev/null | wc -l)\" -gt 5 ]",
             cli_folder());
    const cli_result *const result = cli_bench_interrupted(before, when, arguments);
    REQUIRE_MESSAGE(result->exit_code == 130, "%d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "interrupted"), "%s", result->err);
    FILE *const file = fopen(path, "r");
    REQUIRE(file != NULL);
    static char line[1 << 16];
    int n = 0;
    bool whole = true, ended = false;
    while (fgets(line, sizeof line, file)) {
        whole = whole && line[0] == '{' && strstr(line, "}\n");
        ended = strstr(line, "\"kind\":\"end\",\"exit_code\":130") != NULL;
        ++n;
    }
    fclose(file);
    REQUIRE_MESSAGE(n > 2 && whole && ended, "%d lines, the last: %s", n, line);
}

static void too_many_threads_are_said(void) {
    const cli_result *const result = cli_bench("verify --op grid_sampler_grad --variant naive --threads 64 " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->err, "--threads 64 is more than"), "%s", result->err);
}

static void lists_name_what_is_missing(void) {
    const cli_result *result = cli_bench("list");
    REQUIRE(result->exit_code == 0);
    REQUIRE_MESSAGE(strstr(result->out, "naive@cpu") && strstr(result->out, "cuda_grid_stride@cuda_sim"), "%s",
                    result->out);
    REQUIRE_MESSAGE(strstr(result->out, "vectorized.neon@cpu") && strstr(result->out, "not here: "), "%s", result->out);
    result = cli_bench("list grid_sampler_grad");
    REQUIRE(result->exit_code == 0);
    REQUIRE_MESSAGE(strstr(result->out, "bf16") && strstr(result->out, "smoke"), "%s", result->out);
    result = cli_bench_with("KERF_ISA=none", "list");
    REQUIRE_MESSAGE(strstr(result->out, "vectorized.avx2@cpu") && strstr(result->out, "AVX2"), "%s", result->out);
}

static void help_is_everywhere(void) {
    static const char *const forms[] = {"--help", "help", "verify --help", "list --help", "time --help", "help verify"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        const cli_result *const result = cli_bench(forms[i]);
        REQUIRE_MESSAGE(result->exit_code == 0 && strstr(result->out, "usage: bench"), "%s: %s", forms[i], result->out);
    }
    REQUIRE(cli_bench("")->exit_code == 2);
    REQUIRE(strncmp(cli_bench("--version")->out, "kerf ", 5) == 0);
}

static void timing_writes_samples(void) {
    const cli_result *const result =
        cli_bench("time --op grid_sampler_grad --variant naive,strided --time-budget 2 --json " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    /* Two rows, hot and cold. */
    REQUIRE_MESSAGE(cli_count_lines(result->out, "{\"schema\":1,\"kind\":\"time\"") == 4, "%s", result->out);
    REQUIRE(strstr(result->out, "\"mode\":\"hot\"") && strstr(result->out, "\"mode\":\"cold\""));
    REQUIRE(strstr(result->out, "\"samples\":[[0,0,") && strstr(result->out, "[5,0,"));
    REQUIRE(strstr(result->out, "\"overhead_ns\":[[") && strstr(result->out, "\"resolution_ns\":"));
}

/* Rows that are right while they are verified: a call that was timed, or one more like it, gives them away. */
static void cheats_are_found_while_they_are_timed(void) {
    static const char *const cheats[] = {
#define TIMED(name, ...) #name,
#include "tests/planted/timed.def"
#undef TIMED
    };
    for (size_t i = 0; i < sizeof cheats / sizeof cheats[0]; ++i) {
        char arguments[512];
        snprintf(arguments, sizeof arguments,
                 "time --op grid_sampler_grad --threads 1 --plugin '%s' --variant naive,honest,%s --time-budget 1 "
                 "--format csv " TINY,
                 KERF_TEST_PLANTED, cheats[i]);
        const cli_result *const result = cli_bench(arguments);
        REQUIRE_MESSAGE(result->exit_code == 4, "%s: exit %d: %s%s", cheats[i], result->exit_code, result->out,
                        result->err);
        char row[64];
        snprintf(row, sizeof row, ",%s@cpu,verify,,PASS,", cheats[i]);
        REQUIRE_MESSAGE(strstr(result->out, row), "%s: %s", row, result->out);
        snprintf(row, sizeof row, ",%s@cpu,hot,threads=", cheats[i]);
        const char *const hot = strstr(result->out, row);
        REQUIRE_MESSAGE(hot && strstr(hot, ",FAIL,"), "%s: %s", row, result->out);
        REQUIRE_MESSAGE(strstr(result->out, "call was wrong: ") || strstr(result->out, "outputs was wrong: "), "%s",
                        result->out);
        REQUIRE(strstr(result->out, ",honest@cpu,hot,") && strstr(result->out, ",honest@cpu,cold,"));
        REQUIRE_MESSAGE(cli_count_lines(result->out, "time,") == 6, "%s", result->out);
    }
}

/* The record names the element. */
static void a_wrong_timed_call_is_recorded(void) {
    const cli_result *const result = cli_bench("time --op grid_sampler_grad --plugin '" KERF_TEST_PLANTED
                                               "' --variant idles --time-budget 1 --json " TINY);
    REQUIRE_MESSAGE(result->exit_code == 4, "exit %d: %s", result->exit_code, result->err);
    const char *const record = strstr(result->out, "\"kind\":\"time\"");
    REQUIRE_MESSAGE(record && strstr(record, "\"check\":\"timed\",\"output\":\"d"), "%s", result->out);
    REQUIRE(strstr(record, "\"index\":[0,") && strstr(record, "\"got\":") && strstr(record, "\"low\":"));
    REQUIRE(!strstr(record, "\"samples\""));
    const char *const repeat = "bench time --op grid_sampler_grad --variant idles@cpu --threads ";
    REQUIRE_MESSAGE(strstr(record, repeat) && strstr(result->err, repeat), "%s", result->err);
    REQUIRE(strstr(record, " --order-seed 1 --time-budget 1 --plugin ") && strstr(record, " --case "));
}

static void the_front_end_lists_our_rows(void) {
    const cli_result *const result =
        cli_bench("time --op grid_sampler_grad --variant naive " TINY " -- --benchmark_list_tests");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->out, "grid_sampler_grad/") && strstr(result->out, "/naive@cpu/hot"), "%s",
                    result->out);
}

static void the_front_end_checks_last_calls(void) {
    const cli_result *const result = cli_bench("time --op grid_sampler_grad --threads 1 --plugin '" KERF_TEST_PLANTED
                                               "' --variant honest,idles " TINY " -- --benchmark_min_time=0.001");
    REQUIRE_MESSAGE(result->exit_code == 4, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "FAIL idles@cpu, check 'timed': the last timed call was wrong: d"), "%s",
                    result->err);
    REQUIRE(!strstr(result->err, "FAIL honest") && strstr(result->err, " -- --benchmark_min_time=0.001"));
}

const kerf_test kerf_tests_cli_bench[] = {
    {"cli: wrong words are named with the near one", "[cli]", wrong_words_are_named, __FILE__, __LINE__},
    {"cli: what would be ignored is refused", "[cli]", what_would_be_ignored_is_refused, __FILE__, __LINE__},
    {"cli: nothing to run is an error", "[cli]", nothing_to_run_is_an_error, __FILE__, __LINE__},
    {"cli: one bad output costs no other", "[cli]", one_bad_output_costs_no_other, __FILE__, __LINE__},
    {"cli: impossible dims are refused", "[cli]", impossible_dims_are_refused, __FILE__, __LINE__},
    {"cli: a tiny case passes", "[cli]", a_tiny_case_passes, __FILE__, __LINE__},
    {"cli: json and csv and table come from one run", "[cli]", formats_agree, __FILE__, __LINE__},
    {"cli: an output that cannot be written is told first", "[cli]", unwritable_output_is_told_first, __FILE__,
     __LINE__},
    {"cli: without a home there is a warning", "[cli]", no_home_is_a_warning, __FILE__, __LINE__},
    {"cli: a bad line of a case file is file and line", "[cli]", case_files_name_file_and_line, __FILE__, __LINE__},
    {"cli: an interrupt keeps the records", "[cli]", an_interrupt_keeps_the_records, __FILE__, __LINE__},
    {"cli: more threads than processors are said", "[cli]", too_many_threads_are_said, __FILE__, __LINE__},
    {"cli: lists name what is missing", "[cli]", lists_name_what_is_missing, __FILE__, __LINE__},
    {"cli: help is everywhere", "[cli]", help_is_everywhere, __FILE__, __LINE__},
    {"cli: timing writes samples", "[cli][time]", timing_writes_samples, __FILE__, __LINE__},
    {"cli: rows that cheat when they are timed are found", "[cli][time]", cheats_are_found_while_they_are_timed,
     __FILE__, __LINE__},
    {"cli: a wrong timed call is recorded with its element", "[cli][time]", a_wrong_timed_call_is_recorded, __FILE__,
     __LINE__},
    {"cli: the front end checks last calls", "[cli][time]", the_front_end_checks_last_calls, __FILE__, __LINE__},
    {"cli: the front end lists our rows", "[cli][time]", the_front_end_lists_our_rows, __FILE__, __LINE__},
    {0},
};
