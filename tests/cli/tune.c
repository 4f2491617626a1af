/* `bench tune` as a person runs it. */
#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TINY  "--case 'N=1 C=2 H=4 W=4 Ho=3 Wo=3 dtype=f32 fill=exact' "
#define TUNE  "tune --op grid_sampler_grad --threads 1 --time-budget 1 "
#define TUNED TUNE "--plugin '" KERF_TEST_PLANTED "' --variant tuned " TINY

static int count_texts(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        ++n;
    return n;
}

/* Where a configuration was ahead in the finals, it and the default were measured once more. 1 if so, 0 if not, -1
 * where there is not one result, in the last phase. */
static int has_confirmation(const char *records) {
    const char *const chosen = strstr(records, "\"chosen\":true"), *const again =
                                                                       strstr(records, "\"phase\":\"confirm\"");
    const int n = count_texts(records, "\"phase\":\"confirm\"");
    return (n == 0 || n == 2) && chosen && chosen > again && count_texts(records, "\"chosen\":true") == 1 ? n / 2 : -1;
}

static void a_case_has_one_result(void) {
    const cli_result *const result = cli_bench(TUNE "--variant naive,strided --json " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"phase\":\"search\"") == 2, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"phase\":\"final\"") == 2);
    REQUIRE(count_texts(result->out, "\"standard\":true") == 2 + has_confirmation(result->out));
    REQUIRE(strstr(result->out, "\"config\":\"threads=1\"") && strstr(result->out, "\"samples\":[[0,0,"));
    REQUIRE(strstr(result->out, "\"ratio_to_standard\":{\"middle\":1,\"low\":1,\"high\":1}"));
}

static void tables_show_the_result(void) {
    const cli_result *const result = cli_bench(TUNE "--variant naive " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->out, "  * naive@cpu") && strstr(result->out, "threads=1  (default)"), "%s",
                    result->out);
    REQUIRE_MESSAGE(strstr(result->out, "1 configuration tried, of a space of 1, 0 refused, 0 wrong"), "%s",
                    result->out);
}

static void csv_has_every_phase(void) {
    const cli_result *const result = cli_bench(TUNE "--variant naive --format csv " TINY);
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->out, "tune,grid_sampler_grad,--case,") == 2, "%s", result->out);
    REQUIRE_MESSAGE(count_texts(result->out, ",search,1,0,1,1,1\r\n") == 1 &&
                        count_texts(result->out, ",final,1,1,1,") == 1,
                    "%s", result->out);
}

/* 4 ways and 3 repeats: wrong and crashing ones are verified, told and never timed. */
static void wrong_configurations_are_outcomes(void) {
    const cli_result *const result = cli_bench(TUNED "--json");
    REQUIRE_MESSAGE(result->exit_code == 4, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"phase\":\"search\"") == 12, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"verdict\":\"FAIL\"") == 3);
    REQUIRE(count_texts(result->out, "\"verdict\":\"CRASH\"") == 3);
    REQUIRE(count_texts(result->out, "\"verdict\":\"SKIP\",\"error_over_slack\":0,\"reason\":\"refused for") == 3);
    REQUIRE(count_texts(result->out, "\"phase\":\"final\"") == 3);
    REQUIRE_MESSAGE(has_confirmation(result->out) >= 0, "%s", result->out);
    REQUIRE_MESSAGE(strstr(result->err, "FAIL tuned@cpu threads=1,how=wrong,repeat=1"), "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->err, "repeat: bench tune --op grid_sampler_grad --variant tuned@cpu --threads 1 "
                                        "--param threads=1 --param how=wrong --param repeat=1"),
                    "%s", result->err);
}

static void the_space_can_be_narrowed(void) {
    const cli_result *const result =
        cli_bench(TUNED "--param how=honest,refused --constraint 'repeat >= 2 && how != refused' --json");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"phase\":\"search\"") == 2, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"configurations\":2,") == 4 + 2 * has_confirmation(result->out));
}

/* The default is measured even where the space is without it. */
static void the_default_is_always_there(void) {
    const cli_result *const result = cli_bench(TUNED "--param repeat=4 --param how=honest --json");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    const int n = 2 + has_confirmation(result->out);
    REQUIRE_MESSAGE(count_texts(result->out, "\"config\":\"threads=1,how=honest,repeat=2\"") == n, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"standard\":true") == n && count_texts(result->out, "repeat=4\"") == n);
}

static void searches_and_their_size(void) {
    const cli_result *const result = cli_bench(TUNED "--param how=honest --search random --evaluations 2 --json");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"phase\":\"search\"") == 2, "%s", result->out);
}

static void check_refused(const char *arguments, int exit_code, const char *part, const char *other) {
    const cli_result *const result = cli_bench(arguments);
    REQUIRE_MESSAGE(result->exit_code == exit_code, "%s: exit %d: %s", arguments, result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, part) && strstr(result->err, other), "%s: %s", arguments, result->err);
    REQUIRE_MESSAGE(cli_count_lines(result->err, "") == 1 && result->out[0] == '\0', "%s: %s%s", arguments, result->err,
                    result->out);
}

static void bad_input_is_one_line(void) {
    check_refused(TUNED "--param hw=honest", 2, "'hw'", "did you mean 'how'");
    check_refused(TUNED "--param how=onest", 2, "'onest'", "did you mean 'honest'");
    check_refused(TUNED "--param repeat=3", 2, "'3'", "1, 2, 4, 64");
    check_refused(TUNED "--param threads=2", 2, "'2'", "1 to 1");
    check_refused(TUNED "--param repeat=1 --param how=honest --param repeat=2", 2, "--param repeat is given twice",
                  "repeat=V,V");
    check_refused(TUNED "--param repeat", 2, "'repeat'", "NAME=VALUE");
    check_refused(TUNED "--constraint 'repeat <'", 2, "'repeat <'", "expected");
    check_refused(TUNED "--constraint 'rpeat < 3'", 2, "'rpeat'", "did you mean 'repeat'");
    check_refused(TUNED "--constraint 'repeat < 3' --constraint 'repeat > 3'", 2, "'repeat > 3' contradicts",
                  "'repeat < 3'");
    check_refused(TUNED "--constraint 'H > 4'", 2, "'H > 4' holds for none", "N=1 C=2 H=4");
    check_refused(TUNED "--param repeat=64", 2, "'repeat < 64 || H > 1000' holds for none", "tuned@cpu");
    check_refused(TUNED "--search bayes", 2, "'bayes'", "exhaustive, random");
    check_refused(TUNED "--evaluations 0", 2, "--evaluations '0'", "1");
    check_refused(TUNED "--mode warm", 2, "'warm'", "cold");
    check_refused("tune --op grid_sampler_grad --time-budget 0", 2, "--time-budget '0'", "above 0");
    check_refused("tune", 2, "no op", "bench list");
    check_refused("time --op grid_sampler_grad --param threads=1", 2, "--param", "bench time");
    check_refused("tune --op grid_sampler_grad --split", 2, "--split", "bench tune");
    check_refused(TUNED "--resume /nowhere/x.jsonl", 1, "/nowhere/x.jsonl", "--resume");
}

/* ---- an earlier run ---------------------------------------------------------------------------------------------- */

static const char *path_of(const char *name) {
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", cli_folder(), name);
    return path[turn];
}

static const cli_result *tune_to(const char *name, const char *more) {
    char arguments[1024];
    snprintf(arguments, sizeof arguments, TUNE "--variant naive,strided " TINY "--out json=%s %s", path_of(name), more);
    return cli_bench(arguments);
}

static bool edit(const char *to, const char *command, const char *from) {
    char line[1024];
    snprintf(line, sizeof line, "%s '%s' >'%s'", command, path_of(from), path_of(to));
    return system(line) == 0;
}

static void an_earlier_run_is_taken_over(void) {
    char more[512];
    const cli_result *result = tune_to("first.jsonl", "--json");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE(count_texts(result->out, "\"taken_over\":false") == 2);
    snprintf(more, sizeof more, "--json --resume '%s'", path_of("first.jsonl"));
    result = tune_to("second.jsonl", more);
    if (strstr(result->err, "libjansson"))
        SKIP("built without libjansson");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"taken_over\":true") == 2, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"phase\":\"final\"") == 2);
    REQUIRE_MESSAGE(has_confirmation(result->out) >= 0, "%s", result->out);
    /* A time that was never taken is asked for again. */
    REQUIRE(edit("untaken.jsonl", "sed '/\"row\":\"naive@cpu\"/s/\"verdict\":\"PASS\"/\"verdict\":\"SKIP\"/'",
                 "first.jsonl"));
    snprintf(more, sizeof more, "--json --resume '%s'", path_of("untaken.jsonl"));
    result = tune_to("again.jsonl", more);
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"taken_over\":true") == 1, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"taken_over\":false") == 1);
    /* What was killed while it wrote its last line. */
    REQUIRE(edit("killed.jsonl", "sh -c 'grep -v final \"$0\" | head -c -40'", "first.jsonl"));
    snprintf(more, sizeof more, "--json --resume '%s'", path_of("killed.jsonl"));
    result = tune_to("third.jsonl", more);
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "not whole"), "%s", result->err);
    REQUIRE(count_texts(result->out, "\"phase\":\"search\"") == 2);
}

static void a_foreign_file_is_refused(void) {
    static const struct {
        const char *edit, *part;
    } cases[] = {
        {"sed 's/\"cpu\":\"/\"cpu\":\"Other /'", "another machine"},
        {"sed 's/\"build_id\":\"./\"build_id\":\"z/'", "another build"},
        {"sed 's/\"schema\":1/\"schema\":2/'", "schema 2"},
        {"sed '2s/}$//'", "line 2"},
        {"sed 's/\"phase\":\"search\"/\"phase\":\"sarch\"/'", "phase"},
        {"sed 1d", "which machine and build"},
    };
    const cli_result *result = tune_to("whole.jsonl", "");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char arguments[1024];
        REQUIRE(edit("edited.jsonl", cases[i].edit, "whole.jsonl"));
        snprintf(arguments, sizeof arguments, TUNE "--variant naive,strided " TINY "--resume '%s'",
                 path_of("edited.jsonl"));
        result = cli_bench(arguments);
        if (strstr(result->err, "libjansson"))
            SKIP("built without libjansson");
        REQUIRE_MESSAGE(result->exit_code == 1 || result->exit_code == 2, "%s: exit %d", cases[i].edit,
                        result->exit_code);
        REQUIRE_MESSAGE(strstr(result->err, cases[i].part) && cli_count_lines(result->err, "") == 1, "%s: %s",
                        cases[i].edit, result->err);
    }
}

/* ---- configurations that are verified only ----------------------------------------------------------------------- */

static void verify_takes_parameters(void) {
    const cli_result *result = cli_bench(
        "verify --op grid_sampler_grad --variant naive,cuda_grid_stride@cuda_sim --param block=64,512 --param "
        "items=2,8 --json --case 'N=2 C=3 H=9 W=7 Ho=40 Wo=9 dtype=*'");
    REQUIRE_MESSAGE(result->exit_code == 0, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(count_texts(result->out, "\"row\":\"cuda_grid_stride@cuda_sim\"") == 16, "%s", result->out);
    REQUIRE(count_texts(result->out, "\"config\":\"block=512,items=8\",\"verdict\":\"PASS\"") == 4);
    REQUIRE(count_texts(result->out, "\"row\":\"naive@cpu\"") == 4 && count_texts(result->out, "\"config\":\"\"") == 4);
    result = cli_bench("verify --op grid_sampler_grad --variant vectorized --param packing=packed,auto --param "
                       "rows=as_needed,all --case 'N=2 C=32 H=9 W=20 Ho=40 Wo=9 dtype=* layout=nhwc'");
    REQUIRE_MESSAGE(result->exit_code == 0 || strstr(result->err, "cannot run here"), "exit %d: %s", result->exit_code,
                    result->err);
    result = cli_bench("verify --op grid_sampler_grad --plugin '" KERF_TEST_PLANTED
                       "' --variant tuned --param how=honest,wrong " TINY);
    REQUIRE_MESSAGE(result->exit_code == 4, "exit %d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "FAIL tuned@cpu how=wrong,repeat=2, check ") &&
                        strstr(result->err, " --param how=wrong --param repeat=2 --plugin "),
                    "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->out, "1 passed, 1 failed"), "%s", result->out);
}

static void bad_parameters_of_verify_are_one_line(void) {
    check_refused("verify --op grid_sampler_grad --param blok=64", 2, "'blok'", "did you mean 'block'");
    check_refused("verify --op grid_sampler_grad --param block=65", 2, "'65'", "64, 128, 256");
    check_refused("verify --op grid_sampler_grad --param block", 2, "'block'", "NAME=VALUE");
    check_refused("verify --op grid_sampler_grad --variant cuda_grid_stride@cuda_sim --param items=8 "
                  "--case 'N=1 C=2 H=4 W=4 Ho=1 Wo=2'",
                  2, "'items == 1 || items <= N * Ho * Wo' holds for none", "cuda_grid_stride@cuda_sim");
    check_refused("--op grid_sampler_grad --param block=64", 2, "--param", "leave it out");
}

static void help_lists_its_options(void) {
    const cli_result *const result = cli_bench("tune --help");
    REQUIRE(result->exit_code == 0 && strstr(result->out, "usage: bench tune --op OP"));
    REQUIRE_MESSAGE(strstr(result->out, "--constraint EXPR") && !strstr(result->out, "--split"), "%s", result->out);
}

#define TEST(name, run)                                                                                                \
    { "cli: tune: " name, "[cli][tune]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_cli_tune[] = {
    TEST("a case has one result", a_case_has_one_result),
    TEST("tables show the result", tables_show_the_result),
    TEST("csv has every phase", csv_has_every_phase),
    TEST("wrong configurations are outcomes", wrong_configurations_are_outcomes),
    TEST("the space can be narrowed", the_space_can_be_narrowed),
    TEST("the default is always there", the_default_is_always_there),
    TEST("a search asks for as many as it may", searches_and_their_size),
    TEST("bad input is one line", bad_input_is_one_line),
    TEST("an earlier run is taken over", an_earlier_run_is_taken_over),
    TEST("a foreign file is refused", a_foreign_file_is_refused),
    TEST("verify takes parameters", verify_takes_parameters),
    TEST("bad parameters of verify are one line", bad_parameters_of_verify_are_one_line),
    TEST("help lists its options", help_lists_its_options),
    {0},
};
