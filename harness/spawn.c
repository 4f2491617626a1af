#include "harness/spawn.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Google Benchmark reads defaults from the environment as the program starts: a user's BENCHMARK_REPETITIONS would
 * repeat our sampling. */
static char **environment_for_worker(void) {
    size_t n = 0, kept = 0;
    while (environ[n])
        ++n;
    char **const result = calloc(n + 1, sizeof *result);
    for (size_t i = 0; result && i < n; ++i)
        if (strncmp(environ[i], "BENCHMARK_", 10) != 0)
            result[kept++] = environ[i];
    return result;
}

static int spawn(const char *const *arguments, char **environment, int request, int answer, pid_t *worker) {
    posix_spawn_file_actions_t files;
    int failure = posix_spawn_file_actions_init(&files);
    if (failure)
        return failure;
    failure = posix_spawn_file_actions_adddup2(&files, request, STDIN_FILENO);
    if (!failure)
        failure = posix_spawn_file_actions_adddup2(&files, answer, STDOUT_FILENO);
    if (!failure)
        failure = posix_spawn(worker, "/proc/self/exe", &files, NULL, (char *const *)(uintptr_t)arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    return failure;
}

kerf_status kerf_spawn_self(const char *const *arguments, int request, int answer, pid_t *worker, kerf_error *error) {
    char **const environment = environment_for_worker();
    const int failure = environment ? spawn(arguments, environment, request, answer, worker) : ENOMEM;
    free(environment);
    if (failure)
        return kerf_fail(error, KERF_ERROR_DEVICE, "cannot start this program again to time in: %s", strerror(failure));
    return KERF_OK;
}
