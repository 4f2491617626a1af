#include "tests/cli/run.h"

#include "harness/limits_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
}

/* Limits that nothing reaches, so that `bench` need not measure any before it times. */
static void keep_limits(void) {
    static const kerf_interval fast = {.middle = 1e6, .low = 1e6, .high = 1e6};
    static kerf_kept_limits kept = {.utc = "2026-01-01T00:00:00Z",
                                    .form = KERF_LIMITS_SHORT,
                                    .same = {.middle = 1, .low = 1, .high = 1},
                                    .limits = {.n_teams = 1, .n_rounds = 9, .covered = 0.95}};
    kept.limits.team[0] = (kerf_limit_team){
        .threads = 1, .n_points = 1, .point[0] = {16 << 10, fast, fast, fast}, .f32 = fast, .f64 = fast};
    const kerf_machine machine = kerf_machine_here();
    char data[80], path[256];
    kerf_text text = kerf_text_over(path, sizeof path);
    snprintf(data, sizeof data, "%s/data", folder);
    setenv("XDG_DATA_HOME", data, 1);
    if (!kerf_limits_path(&machine, &text) || kerf_limits_write(path, &machine, &kept, NULL) != KERF_OK)
        abort();
}

const char *cli_folder(void) {
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/kerf-cli-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(remove_folder);
        keep_limits();
    }
    return folder;
}

static void read_back(const char *name, char *memory, size_t capacity) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", cli_folder(), name);
    FILE *const file = fopen(path, "r");
    const size_t n = file ? fread(memory, 1, capacity - 1, file) : 0;
    memory[n] = '\0';
    if (file)
        fclose(file);
}

const cli_result *cli_bench_with(const char *before, const char *arguments) {
    static cli_result result;
    static char command[8192];
    snprintf(command, sizeof command, "XDG_DATA_HOME='%s/data' %s '%s' %s >'%s/out' 2>'%s/err' </dev/null",
             cli_folder(), before, KERF_TEST_BENCH, arguments, cli_folder(), cli_folder());
    const int status = system(command);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_back("out", result.out, sizeof result.out);
    read_back("err", result.err, sizeof result.err);
    return &result;
}

const cli_result *cli_bench(const char *arguments) {
    return cli_bench_with("", arguments);
}

/* What a shell starts in the background ignores SIGINT, unless it is told not to. */
const cli_result *cli_bench_interrupted(const char *before, const char *when, const char *arguments) {
    char script[1024];
    snprintf(script, sizeof script,
             "%s sh -c 'env --default-signal=INT \"$@\" & bench=$!; n=0; until %s; do n=$((n + 1)); [ $n -lt 3000 ] || "
             "break; sleep 0.02; done; kill -INT $bench; wait $bench' sh",
             before, when);
    return cli_bench_with(script, arguments);
}

int cli_count_lines(const char *text, const char *line) {
    int n = 0;
    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        n += strncmp(at, line, strlen(line)) == 0;
    return n;
}
