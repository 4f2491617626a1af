/* The page of `bench report --html`: pieces that must be there, and what it must not do. */
#include "reports/html.h"

#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include "tests/unit/record_lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_PYTHON "env KERF_PYTHON=/nowhere/python3"
#define HOSTILE   "<script>alert(1)</script>\\\"'><img src=x>$\\\\frac{1}{&amp;"

static char page[4 << 20];

static const char *path_of(const char *name) {
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", cli_folder(), name);
    return path;
}

static bool shell(const char *format, const char *name) {
    char command[512];
    snprintf(command, sizeof command, format, path_of(name));
    return system(command) == 0;
}

static const cli_result *report(const char *before, const char *records, const char *folder) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, "report %s/%s --html %s/%s", cli_folder(), records, cli_folder(), folder);
    return cli_bench_with(before, arguments);
}

static void load(const char *name) {
    FILE *const file = fopen(path_of(name), "r");
    const size_t n = file ? fread(page, 1, sizeof page - 1, file) : 0;
    page[n] = '\0';
    if (file)
        fclose(file);
}

static void write_records(const char *name) {
    FILE *const file = fopen(path_of(name), "w");
    REQUIRE(file != NULL);
    for (int i = 0; i < N_RECORD_LINES; ++i)
        fprintf(file, "%s\n", record_lines[i]);
    REQUIRE(fclose(file) == 0);
}

static void write_hostile(const char *name) {
    FILE *const file = fopen(path_of(name), "w");
    REQUIRE(file != NULL);
    fprintf(file, "%s\n", record_lines[0]);
    for (int i = 0; i < 5; ++i)
        fprintf(file,
                "{\"schema\":1,\"kind\":\"%s\",\"op\":\"" HOSTILE "\",\"set\":\"" HOSTILE "\",\"case\":\"N=%d " HOSTILE
                "\",\"row\":\"" HOSTILE "\",\"mode\":\"" HOSTILE "\",\"config\":\"" HOSTILE "\",\"verdict\":\"%s\","
                "\"reason\":\"" HOSTILE "\",\"check\":\"" HOSTILE "\",\"output\":\"" HOSTILE "\",\"repeat\":\"" HOSTILE
                "\"%s}\n",
                i == 0  ? "verify"
                : i < 3 ? "time"
                        : "tune",
                i, i == 0 || i == 3 ? "FAIL" : "PASS",
                i == 0   ? ""
                : i == 3 ? ",\"phase\":\"final\""
                         : ",\"phase\":\"final\",\"time_ns\":{\"middle\":5,\"low\":4,\"high\":6},\"covered\":0.9,"
                           "\"ratio_to_naive\":{\"middle\":2,\"low\":1,\"high\":3},\"samples\":[[0,0,5,1]]");
    fprintf(file,
            "{\"schema\":1,\"kind\":\"trust\",\"op\":\"a\",\"mode\":\"" HOSTILE "\",\"output\":\"" HOSTILE "\"}\n");
    REQUIRE(fclose(file) == 0);
}

static int count(const char *part) {
    int n = 0;
    for (const char *at = page; (at = strstr(at, part)); at += strlen(part))
        ++n;
    return n;
}

static void the_page_tells_what_the_records_do(void) {
    NEEDS_JANSSON;
    write_records("page.jsonl");
    const cli_result *const result = report(NO_PYTHON, "page.jsonl", "told");
    REQUIRE_MESSAGE(result->exit_code == 0 && result->out[0] == '\0', "%d: %s", result->exit_code, result->err);
    REQUIRE_MESSAGE(strstr(result->err, "told/index.html"), "%s", result->err);
    load("told/index.html");
    REQUIRE(strncmp(page, KERF_PAGE_START, strlen(KERF_PAGE_START)) == 0 && strstr(page, "</html>\n"));
    REQUIRE(strstr(page, "outcome, exit 4") && strstr(page, "wrong results") && strstr(page, "A &quot;CPU&quot;"));
    REQUIRE(strstr(page, "<th scope=\"row\">vectorized.avx2@cpu"));
    REQUIRE(strstr(page, "1.23 \xc2\xb5s") && strstr(page, "1.20 \xe2\x80\x93 1.30 \xc2\xb5s"));
    REQUIRE(strstr(page, "bench verify</code>") && strstr(page, "Not trusted"));
    REQUIRE(strstr(page, "with <code>threads=2</code>, check <i>run</i>: signal 11") &&
            strstr(page, "bench tune</code>") && strstr(page, "<dt>went wrong</dt><dd>3</dd>"));
    REQUIRE(count("<table>") == count("<caption>") && count("<table>") == count("</table>"));
    REQUIRE(!strstr(page, "http:") && !strstr(page, "https:") && !strstr(page, "src="));
    /* What is missing is said, and how to get it. */
    REQUIRE(strstr(page, "KERF_PYTHON") && strstr(page, "python3-matplotlib"));
    REQUIRE(strstr(page, "<li>Ranking</li>") && strstr(page, "<li>Roofline</li>") && !strstr(page, "class=\"plot\""));
}

static void hostile_names_stay_text(void) {
    NEEDS_JANSSON;
    write_hostile("hostile.jsonl");
    const cli_result *const result = report(NO_PYTHON, "hostile.jsonl", "hostile");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    load("hostile/index.html");
    REQUIRE(count("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x&gt;$\\frac{1}{&amp;amp;") >= 24);
    REQUIRE(!strstr(page, "<script>alert") && !strstr(page, "<img") && count("<script>") == 1);
}

/* Only where some Python has matplotlib. */
static void figures_are_drawn(void) {
    NEEDS_JANSSON;
    if (system("/usr/bin/python3 -c 'import matplotlib' 2>/dev/null") != 0)
        SKIP("/usr/bin/python3 has no matplotlib");
    write_records("drawn.jsonl");
    write_hostile("hostile.jsonl");
    REQUIRE(shell("cd $(dirname %s) && cat hostile.jsonl >>drawn.jsonl", "drawn.jsonl"));
    const cli_result *const result = report("", "drawn.jsonl", "drawn");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    load("drawn/index.html");
    const char *const missing = strstr(page, "figure is missing");
    REQUIRE_MESSAGE(!missing, "%.300s", missing);
    /* Ranking, share, roofline, error and split of the first run, ranking and error of the second. */
    REQUIRE_MESSAGE(count("<div class=\"plot\" role=\"img\"") == 7, "%d", count("<div class=\"plot\" role=\"img\""));
    REQUIRE(count("<svg viewBox=") == 7 && strstr(page, "var(--ink)") && !strstr(page, "#010203"));
    REQUIRE(count("<script>") == 1 && !strstr(page, "<img") && !strstr(page, "http:") && !strstr(page, "<!--"));
    /* Not set as a fraction. */
    REQUIRE(strstr(page, ">&lt;script&gt;alert(1)&lt;/script&gt;\"'&gt;&lt;img src=x&gt;$"));
}

static void folders_of_others_are_left_alone(void) {
    NEEDS_JANSSON;
    write_records("page.jsonl");
    REQUIRE(shell("f=%s; mkdir -p $f && echo mine >$f/notes.txt", "foreign"));
    const cli_result *result = report(NO_PYTHON, "page.jsonl", "foreign");
    REQUIRE_MESSAGE(result->exit_code == 1 && cli_count_lines(result->err, "") == 1, "%s", result->err);
    REQUIRE_MESSAGE(strstr(result->err, "'notes.txt'") && strstr(result->err, "another folder"), "%s", result->err);
    REQUIRE(shell("test \"$(ls %s)\" = notes.txt", "foreign"));
    REQUIRE(shell("f=%s; mkdir -p $f && echo '<html>' >$f/index.html", "mine"));
    result = report(NO_PYTHON, "page.jsonl", "mine");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "'index.html'"), "%s", result->err);
    REQUIRE(shell("grep -qx '<html>' %s/index.html", "mine"));
    result = report(NO_PYTHON, "page.jsonl", "page.jsonl");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "is no folder"), "%s", result->err);
    result = report(NO_PYTHON, "page.jsonl", "none/there");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "cannot be made"), "%s", result->err);
}

static void an_old_page_is_replaced(void) {
    NEEDS_JANSSON;
    write_records("page.jsonl");
    REQUIRE(report(NO_PYTHON, "page.jsonl", "again")->exit_code == 0);
    REQUIRE(shell("echo half >%s/.index.html.part", "again"));
    write_hostile("hostile.jsonl");
    const cli_result *const result = report(NO_PYTHON, "hostile.jsonl", "again");
    REQUIRE_MESSAGE(result->exit_code == 0, "%s", result->err);
    load("again/index.html");
    REQUIRE(strstr(page, "alert(1)") && !strstr(page, "vectorized.avx2@cpu"));
    REQUIRE(shell("test \"$(ls -A %s)\" = index.html", "again"));
}

/* Before anything is written, and while the figures are drawn. */
static void nothing_is_left_half_written(void) {
    NEEDS_JANSSON;
    FILE *const newer = fopen(path_of("newer.jsonl"), "w");
    REQUIRE(newer != NULL);
    fprintf(newer, "%s\n{\"schema\":2,\"kind\":\"end\"}\n", record_lines[0]);
    REQUIRE(fclose(newer) == 0);
    const cli_result *result = report(NO_PYTHON, "newer.jsonl", "left");
    REQUIRE_MESSAGE(result->exit_code == 1 && strstr(result->err, "schema 2"), "%s", result->err);
    REQUIRE(!shell("test -e %s", "left"));
    write_records("page.jsonl");
    REQUIRE(shell("f=%s; printf '#!/bin/sh\\n: >\"$0.runs\"\\nexec sleep 300\\n' >$f && chmod +x $f", "sleeper"));
    char before[256], when[256], arguments[512];
    snprintf(before, sizeof before, "env KERF_PYTHON=%s", path_of("sleeper"));
    snprintf(when, sizeof when, "[ -e %s.runs ]", path_of("sleeper"));
    snprintf(arguments, sizeof arguments, "report --quiet %s/page.jsonl --html %s/left", cli_folder(), cli_folder());
    result = cli_bench_interrupted(before, when, arguments);
    REQUIRE_MESSAGE(result->exit_code == 130 && strcmp(result->err, "bench: interrupted\n") == 0, "%d: %s",
                    result->exit_code, result->err);
    REQUIRE(!shell("test -e %s", "left"));
}

static void a_program_that_draws_nonsense_costs_its_figures(void) {
    NEEDS_JANSSON;
    write_records("page.jsonl");
    static const char *const scripts[] = {"echo nonsense", "echo '{\"figures\":[{\"svg\":\"<script>x</script>\"}]}'",
                                          "echo 'no such font' >&2; exit 1", "kill -SEGV $$"};
    static const char *const told[] = {"plot.py gave no drawing", "plot.py gave no drawing", "no such font",
                                       "plot.py failed"};
    for (int i = 0; i < 4; ++i) {
        FILE *const script = fopen(path_of("nonsense"), "w");
        REQUIRE(script != NULL);
        fprintf(script, "#!/bin/sh\n%s\n", scripts[i]);
        REQUIRE(fclose(script) == 0 && shell("chmod +x %s", "nonsense"));
        char before[256];
        snprintf(before, sizeof before, "env KERF_PYTHON=%s", path_of("nonsense"));
        const cli_result *const result = report(before, "page.jsonl", "nonsense_page");
        REQUIRE_MESSAGE(result->exit_code == 0, "%s: %s", scripts[i], result->err);
        load("nonsense_page/index.html");
        REQUIRE_MESSAGE(strstr(page, told[i]) && count("<script>") == 1, "%s", scripts[i]);
    }
}

/* The page allows one script, by its hash. */
static void the_script_is_the_one_that_is_allowed(void) {
    if (system("python3 -c pass") != 0)
        SKIP("no python3");
    REQUIRE(system("python3 -c 'import base64, hashlib, sys; data = open(\"" KERF_TEST_SOURCE
                   "/reports/page.js\", \"rb\").read(); "
                   "sys.exit(base64.b64encode(hashlib.sha256(data).digest()).decode() != \"" KERF_PAGE_JS_HASH
                   "\")'") == 0);
}

const kerf_test kerf_tests_cli_report_page[] = {
    {"report: the page tells what the records do", "[cli][report]", the_page_tells_what_the_records_do, __FILE__,
     __LINE__},
    {"report: hostile names stay text", "[cli][report]", hostile_names_stay_text, __FILE__, __LINE__},
    {"report: figures are drawn", "[cli][report]", figures_are_drawn, __FILE__, __LINE__},
    {"report: folders of others are left alone", "[cli][report]", folders_of_others_are_left_alone, __FILE__, __LINE__},
    {"report: an old page is replaced as a whole", "[cli][report]", an_old_page_is_replaced, __FILE__, __LINE__},
    {"report: nothing is left half written", "[cli][report]", nothing_is_left_half_written, __FILE__, __LINE__},
    {"report: a program that draws nonsense costs its figures", "[cli][report]",
     a_program_that_draws_nonsense_costs_its_figures, __FILE__, __LINE__},
    {"report: the script of the page is the one that is allowed", "[cli][report]",
     the_script_is_the_one_that_is_allowed, __FILE__, __LINE__},
    {0},
};
