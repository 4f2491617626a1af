#include "harness/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WAITED = 64 };

double kerf_monotonic_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *kerf_signal_name(int signal) {
    const char *const known = sigabbrev_np(signal);
    return known ? known : "unknown";
}

static void work(int channel, void (*serve)(void *arg), void *arg) {
    char order;
    while (read(channel, &order, 1) == 1) {
        serve(arg);
        if (send(channel, &order, 1, MSG_NOSIGNAL) != 1)
            break;
    }
    _exit(0);
}

kerf_status kerf_worker_start(kerf_worker *worker, void (*serve)(void *arg), void *arg, kerf_fault *fault,
                              kerf_error *error) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot open a channel to a child process: %s", strerror(errno));
    fflush(NULL); /* a child that calls exit() must not print the parent's text again */
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        kerf_child_enter(parent, ends[1], fault);
        work(ends[1], serve, arg);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot start a child process: %s", strerror(errno));
    }
    setpgid(pid, pid); /* the child does the same: whoever comes first */
    *worker = (kerf_worker){.pid = pid, .channel = ends[0]};
    return KERF_OK;
}

void kerf_worker_order(const kerf_worker *worker) {
    const char order = 1;
    while (send(worker->channel, &order, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

bool kerf_workers_wait(const kerf_worker *const workers[], int n, double timeout_s, bool said[]) {
    struct pollfd polled[MAX_WAITED];
    n = n < MAX_WAITED ? n : MAX_WAITED;
    for (int i = 0; i < n; ++i)
        polled[i] = (struct pollfd){.fd = workers[i]->channel, .events = POLLIN};
    const int timeout_ms = timeout_s <= 0 ? 0 : timeout_s >= 3600 ? 3600000 : (int)(timeout_s * 1e3) + 1;
    const int n_ready = poll(polled, (nfds_t)n, timeout_ms);
    for (int i = 0; i < n; ++i)
        said[i] = n_ready > 0 && polled[i].revents != 0;
    return n_ready > 0;
}

bool kerf_worker_answered(const kerf_worker *worker) {
    char answer;
    ssize_t got;
    while ((got = read(worker->channel, &answer, 1)) < 0 && errno == EINTR) {
    }
    return got == 1;
}

int kerf_worker_end(kerf_worker *worker, kerf_text *how) {
    if (worker->pid == 0)
        return 0;
    int state = 0;
    pid_t reaped = waitpid(worker->pid, &state, WNOHANG);
    kill(-worker->pid, SIGKILL); /* the child, and whatever it started */
    while (reaped <= 0 && (reaped = waitpid(worker->pid, &state, 0)) < 0 && errno == EINTR) {
    }
    close(worker->channel);
    *worker = (kerf_worker){0};
    if (how && WIFSIGNALED(state))
        kerf_text_printf(how, "killed by SIG%s", kerf_signal_name(WTERMSIG(state)));
    else if (how)
        kerf_text_printf(how, "exited with status %d", WEXITSTATUS(state));
    return WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

size_t kerf_worker_resident_bytes(const kerf_worker *worker) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)worker->pid);
    FILE *const file = fopen(path, "r");
    if (!file)
        return 0;
    unsigned long long size, resident = 0, shared = 0;
    const int n_read = fscanf(file, "%llu %llu %llu", &size, &resident, &shared);
    fclose(file);
    return n_read == 3 && resident > shared ? (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}
