/* The process in which one kernel is held against itself, and how it is started. */
#include "harness/doctor_same.h"

#include "base/cpu.h"
#include "harness/limit_loops.h"
#include "harness/spawn.h"
#include "harness/team.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the process */

static kerf_status compare(const kerf_doctor_pair *pair, int process, const kerf_team *team, double *ratio,
                           kerf_error *error) {
    const kerf_clock clock = kerf_clock_monotonic();
    kerf_limit_loops *loops[2];
    KERF_TRY(kerf_limit_loops_open_on(kerf_cpu_isa(), team, pair->bytes, &loops[0], error));
    kerf_status status = kerf_limit_loops_open_on(kerf_cpu_isa(), team, pair->bytes, &loops[1], error);
    if (status == KERF_OK) {
        const kerf_limit_device arms[] = {kerf_limit_loops_device(loops[0]), kerf_limit_loops_device(loops[1])};
        status = kerf_doctor_arms(pair, arms, &clock, process, ratio, error);
        kerf_limit_loops_close(loops[1]);
    }
    kerf_limit_loops_close(loops[0]);
    return status;
}

kerf_status kerf_doctor_worker(FILE *request, FILE *answer, kerf_error *error) {
    kerf_doctor_pair pair;
    kerf_thread_team *team = NULL;
    int process;
    double ratio;
    if (fscanf(request, "%zu %d %" SCNu32 " %" SCNu64 " %" SCNu64 " %d", &pair.bytes, &pair.threads, &pair.passes,
               &pair.process_ns, &pair.seed, &process) != 6 ||
        pair.bytes > (size_t)1 << 30 || pair.threads < 1 || pair.threads > 4096)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "doctor-worker: expected bytes, threads, passes, nanoseconds, seed and number of the process "
                         "on standard input");
    if (pair.threads > 1)
        KERF_TRY(kerf_thread_team_open(pair.threads, &team, error));
    const kerf_status status = compare(&pair, process, team ? kerf_thread_team_get(team) : NULL, &ratio, error);
    kerf_thread_team_close(team);
    if (status == KERF_OK)
        fprintf(answer, "%a\n", ratio);
    return status;
}

/* ---- from the process that asks */

static kerf_status open_files(const kerf_doctor_pair *pair, int process, int pipes[4], kerf_error *error) {
    if (pipe2(&pipes[0], O_CLOEXEC) != 0)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(&pipes[2], O_CLOEXEC) != 0) {
        close(pipes[0]);
        close(pipes[1]);
        return kerf_fail(error, KERF_ERROR_FILE, "cannot make a pipe: %s", strerror(errno));
    }
    /* One short line: it fits into the pipe. */
    dprintf(pipes[1], "%zu %d %" PRIu32 " %" PRIu64 " %" PRIu64 " %d\n", pair->bytes, pair->threads, pair->passes,
            pair->process_ns, pair->seed, process);
    close(pipes[1]);
    return KERF_OK;
}

/* Until the process ends, which it does soon. */
static void read_answer(int file, char *line, size_t bytes, const volatile sig_atomic_t *interrupted) {
    size_t n = 0;
    while (n + 1 < bytes && !(interrupted && *interrupted)) {
        const ssize_t got = read(file, line + n, bytes - 1 - n);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    line[n] = '\0';
}

static kerf_status run_again(void *arg, const kerf_doctor_pair *pair, int process, double *ratio, kerf_error *error) {
    static const char *const arguments[] = {"bench", "doctor-worker", NULL};
    const volatile sig_atomic_t *const interrupted = arg;
    int pipes[4], wait_status = 0;
    pid_t worker;
    char line[64] = "";
    KERF_TRY(open_files(pair, process, pipes, error));
    const kerf_status status = kerf_spawn_self(arguments, pipes[0], pipes[3], &worker, error);
    close(pipes[0]);
    close(pipes[3]);
    if (status == KERF_OK) {
        read_answer(pipes[2], line, sizeof line, interrupted);
        if (interrupted && *interrupted)
            kill(worker, SIGKILL);
        while (waitpid(worker, &wait_status, 0) < 0 && errno == EINTR)
            ;
    }
    close(pipes[2]);
    KERF_TRY(status);
    if (interrupted && *interrupted)
        return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted while one kernel was held against itself");
    if (sscanf(line, "%lf", ratio) != 1 || !(*ratio > 0))
        return kerf_fail(error, KERF_ERROR_DEVICE, "the process that holds one kernel against itself gave no answer");
    return KERF_OK;
}

kerf_doctor_launcher kerf_doctor_re_execute(const volatile sig_atomic_t *interrupted) {
    return (kerf_doctor_launcher){.run = run_again, .arg = (void *)(uintptr_t)interrupted};
}
