#include "harness/timing_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void describe_end(int wait_status, bool stuck, char *text, size_t bytes) {
    if (stuck)
        snprintf(text, bytes, "did not return within %d s while it was timed", KERF_TIMING_STUCK_S);
    else if (WIFSIGNALED(wait_status))
        snprintf(text, bytes, "crashed while it was timed: signal %d (%s)", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    else
        snprintf(text, bytes, "ended the process with status %d while it was timed", WEXITSTATUS(wait_status));
}

/* Whose turn it was is dropped on that case in both cache modes; during the set-up of a case, the whole case. */
static kerf_status drop_culprit(kerf_timing_run *r, int wait_status, bool stuck, kerf_error *error) {
    char reason[sizeof r->cells[0].reason];
    describe_end(wait_status, stuck, reason, sizeof reason);
    const int cell = r->turn->cell, for_case = r->turn->for_case;
    const int named = cell >= 0 ? cell : for_case;
    if (named < 0 || named >= r->n || kerf_timing_is_dropped(r, named))
        return kerf_fail(error, KERF_ERROR_DEVICE, "the timing process %s; no row was running", reason);
    for (int i = 0; i < r->n; ++i)
        if (r->cells[i].c == r->cells[named].c &&
            (cell < 0 || kerf_timing_is_same_row(&r->cells[i], &r->cells[named]))) {
            kerf_timing_drop(r, i, reason);
            r->cells[i].crashed = cell >= 0;
        }
    return KERF_OK;
}

/* What came of cells that are not complete is forgotten: the next worker times them again. */
static void forget_incomplete(kerf_timing_run *r) {
    size_t kept = 0;
    for (size_t i = 0; i < r->n_arrivals; ++i) {
        const kerf_timing_arrival *const a = &r->arrivals[i];
        if (a->sample.process != r->process || r->done[a->cell])
            r->arrivals[kept++] = *a;
    }
    r->n_arrivals = kept;
}

static kerf_status start_worker(kerf_timing_run *r, int *answer_file, pid_t *worker, kerf_error *error) {
    int request = -1, pipe_ends[2];
    *r->turn = (kerf_timing_turn){.cell = -1, .for_case = -1};
    KERF_TRY(kerf_timing_request_open(r, &request, error));
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        close(request);
        return kerf_fail(error, KERF_ERROR_FILE, "cannot make a pipe: %s", strerror(errno));
    }
    const kerf_status status = r->launcher->start(r->launcher->arg, request, pipe_ends[1], worker, error);
    close(request);
    close(pipe_ends[1]);
    if (status != KERF_OK)
        close(pipe_ends[0]);
    *answer_file = pipe_ends[0];
    return status;
}

kerf_status kerf_timing_worker_run(kerf_timing_run *r, kerf_error *error) {
    int file = -1, wait_status = 0;
    pid_t worker;
    bool ended, stuck;
    KERF_TRY(start_worker(r, &file, &worker, error));
    const kerf_status status = kerf_timing_answer_read(r, file, &ended, &stuck, error);
    if (status != KERF_OK || stuck || kerf_timing_is_interrupted(r))
        kill(worker, SIGKILL);
    close(file);
    while (waitpid(worker, &wait_status, 0) < 0 && errno == EINTR)
        ;
    forget_incomplete(r);
    if (status != KERF_OK)
        return status;
    /* A terminal interrupts the worker too, and may reach it first. */
    if (kerf_timing_is_interrupted(r) || (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGINT))
        return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted while timing");
    return ended ? KERF_OK : drop_culprit(r, wait_status, stuck, error);
}
