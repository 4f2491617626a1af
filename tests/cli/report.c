#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include "tests/unit/record_lines.h"
#include <stdio.h>
#include <stdlib.h>

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", cli_folder(), name);
    return path;
}

static void write_lines(const char *name, const char *const *line, int n) {
    FILE *const file = fopen(path_of(name), "w");
    REQUIRE(file != NULL);
    for (int i = 0; i < n; ++i)
        fprintf(file, "%s\n", line[i]);
    REQUIRE(fclose(file) == 0);
}

static const cli_result *report(const char *arguments, const char *name) {
    char all[512];
    snprintf(all, sizeof all, "report %s %s", arguments, path_of(name));
    return cli_bench(all);
}

static void a_run_is_reported_again(void) {
    NEEDS_JANSSON;
    static char table[1 << 20];
    const cli_result *result =
        cli_bench("verify --op grid_sampler_grad --variant naive --case 'N=1 C=2 H=4 W=4 Ho=3 Wo=3 dtype=f32'");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    strcpy(table, result->out);
    result = cli_bench("report");
    REQUIRE_MESSAGE(result->exit_code == 0 && result->err[0] == '\0', "%d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strcmp(result->out, table) == 0, "%s\n%s", result->out, table);
}

static void every_format_is_there(void) {
    NEEDS_JANSSON;
    write_lines("good.jsonl", record_lines, N_RECORD_LINES);
    const cli_result *result = report("", "good.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 0 && strstr(result->out, "vectorized.avx2@cpu"), "%s", result->err);
    result = report("--format csv", "good.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 0 && cli_count_lines(result->out, "time,grid_sampler_grad,") == 2, "%s",
                    result->out);
    result = report("--json", "good.jsonl");
    REQUIRE(result->exit_code == 0 && cli_count_lines(result->out, "{\"schema\":1,") == N_RECORD_LINES);
    REQUIRE(strncmp(result->out, record_lines[0], strlen(record_lines[0])) == 0);
}

static void what_is_left_out_is_said(void) {
    NEEDS_JANSSON;
    const char *const lines[] = {record_lines[7], "{\"schema\":1,\"kind\":\"dream\"}", "{\"schema\":1,\"kind\":\"en"};
    write_lines("left_out.jsonl", lines, 3);
    const cli_result *result = report("", "left_out.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "line 3"), "%s", result->err);
    char command[256];
    snprintf(command, sizeof command, "truncate -s -1 %s", path_of("left_out.jsonl"));
    REQUIRE(system(command) == 0);
    result = report("", "left_out.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 0 && cli_count_lines(result->err, "bench: warning: ") == 2, "%s", result->err);
    REQUIRE(strstr(result->err, "last line") && strstr(result->err, "1 line of kinds"));
}

static void its_input_is_not_replaced(void) {
    NEEDS_JANSSON;
    write_lines("kept.jsonl", record_lines, N_RECORD_LINES);
    char command[512];
    snprintf(command, sizeof command, "ln -sf kept.jsonl %s/link.jsonl", cli_folder());
    REQUIRE(system(command) == 0);
    static const char *const names[] = {"kept.jsonl", "link.jsonl"};
    for (int i = 0; i < 2; ++i) {
        snprintf(command, sizeof command, "report --out csv=%s/%s %s/kept.jsonl", cli_folder(), names[i], cli_folder());
        const cli_result *const result = cli_bench(command);
        REQUIRE_MESSAGE(result->exit_code == 2 && result->out[0] == '\0', "exit %d: %s", result->exit_code,
                        result->err);
        REQUIRE_MESSAGE(strstr(result->err, "would replace the records") && cli_count_lines(result->err, "") == 1, "%s",
                        result->err);
    }
    REQUIRE(report("--json", "kept.jsonl")->exit_code == 0);
}

static void bad_input_is_one_line(void) {
    NEEDS_JANSSON;
    const char *const newer[] = {record_lines[0], "{\"schema\":2,\"kind\":\"end\"}"};
    write_lines("newer.jsonl", newer, 2);
    const cli_result *result = report("", "newer.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 1 && cli_count_lines(result->err, "") == 1, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->err, "newer.jsonl' line 2") && strstr(result->err, "schema 2") &&
                        strstr(result->err, "schema 1"),
                    "%s", result->err);
    REQUIRE(result->out[0] == '\0');
    result = cli_bench("report /nowhere.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "/nowhere.jsonl"), "%s", result->err);
    result = cli_bench_with("env XDG_DATA_HOME=/nowhere", "report");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "/nowhere/kerf/runs"), "%s", result->err);
    result = cli_bench_with("env -u XDG_DATA_HOME -u HOME", "report");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "bench report FILE"), "%s", result->err);
    result = cli_bench("report --op grid_sampler_grad");
    REQUIRE_MESSAGE(result->exit_code == 2 && strstr(result->err, "--op"), "%s", result->err);
}

const kerf_test kerf_tests_cli_report[] = {
    {"report: a run is reported again as it was", "[cli][report]", a_run_is_reported_again, __FILE__, __LINE__},
    {"report: every format is made from a file", "[cli][report]", every_format_is_there, __FILE__, __LINE__},
    {"report: what is left out is said", "[cli][report]", what_is_left_out_is_said, __FILE__, __LINE__},
    {"report: its input is not replaced", "[cli][report]", its_input_is_not_replaced, __FILE__, __LINE__},
    {"report: bad input is one line", "[cli][report]", bad_input_is_one_line, __FILE__, __LINE__},
    {0},
};
