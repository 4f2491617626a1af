#include "harness/annotate_sample.h"

#include "harness/clock.h"
#include "harness/counters.h"
#include "harness/team.h"
#include "harness/timing_buffers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { MAX_PROBES = 64, PERIOD_NS = 997000, STUCK_S = 60 };

void kerf_histogram_add(kerf_histogram *histogram, uint64_t address) {
    uint64_t at = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 48;
    _Static_assert(KERF_HISTOGRAM_SLOTS == (size_t)1 << 16, "the hash has as many bits");
    __atomic_fetch_add(&histogram->n_samples, 1, __ATOMIC_RELAXED);
    for (int probe = 0; probe < MAX_PROBES; ++probe, at = (at + 1) % KERF_HISTOGRAM_SLOTS) {
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&histogram->slot[at].address, &found, address, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            found == address) {
            __atomic_fetch_add(&histogram->slot[at].count, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    __atomic_fetch_add(&histogram->n_lost, 1, __ATOMIC_RELAXED);
}

/* ---- in the process that runs the row -----------------------------------------------------------------------------
 */

static kerf_histogram *filled; /* by the handler, set before the first timer */

static void take_down(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
#if defined(__x86_64__)
    const uint64_t address = (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    const uint64_t address = ((const ucontext_t *)context)->uc_mcontext.pc;
#else
    const uint64_t address = 0;
#endif
    kerf_histogram_add(filled, address);
}

/* A timer of wall time per thread: those of processor time look only at the ticks of the kernel, 250 a second. The
 * periods differ so that threads that work in step are not met in step. */
static kerf_status start_timers(kerf_histogram *histogram, kerf_error *error) {
    const struct sigaction action = {.sa_sigaction = take_down, .sa_flags = SA_SIGINFO | SA_RESTART};
    const kerf_counter_system system = kerf_counter_system_linux();
    pid_t threads[KERF_COUNTED_THREADS];
    const int n = system.list_threads(system.state, threads);
    filled = histogram;
    int failure = n <= 0 || sigaction(SIGPROF, &action, NULL) != 0;
    for (int i = 0; i < n && !failure; ++i) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
        event.sigev_notify_thread_id = threads[i];
        const struct timespec period = {.tv_nsec = PERIOD_NS + 131 * i};
        const struct itimerspec times = {.it_interval = period, .it_value = period};
        timer_t timer;
        failure = timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &times, NULL) != 0;
    }
    return failure ? kerf_fail(error, KERF_ERROR_DEVICE, "cannot set timers for %d threads: %s", n, strerror(errno))
                   : KERF_OK;
}

static kerf_status call_for(const kerf_timing_row *row, double seconds, kerf_sampled *sampled, kerf_error *error) {
    const kerf_clock clock = kerf_clock_monotonic();
    const uint64_t first_ns = clock.now_ns(clock.state);
    do {
        if (row->variant->run(&row->launch) != KERF_OK)
            return kerf_fail(error, KERF_ERROR_DEVICE, "the row returned an error");
        ++sampled->n_calls;
        sampled->ns = kerf_clock_elapsed_ns(first_ns, clock.now_ns(clock.state));
    } while ((double)sampled->ns < seconds * 1e9);
    return KERF_OK;
}

static kerf_status run_row(const kerf_row *from, const kerf_case *c, int threads, double seconds, kerf_sampled *sampled,
                           kerf_error *error) {
    kerf_arena arena;
    kerf_rng rng = kerf_rng_seeded(c->seed, 1);
    kerf_timing_inputs inputs;
    kerf_timing_row row;
    kerf_thread_team *team = NULL;
    KERF_TRY(kerf_arena_map_shared(&arena, (size_t)1 << 24, error));
    KERF_TRY(kerf_timing_inputs_open(c, 0, &rng, &arena, &inputs, error));
    if (threads > 1)
        KERF_TRY(kerf_thread_team_open(threads, &team, error));
    KERF_TRY(kerf_timing_row_open(from, NULL, &inputs, team ? kerf_thread_team_get(team) : NULL, &rng, &row, error));
    if (row.variant->run(&row.launch) != KERF_OK) /* brings the buffers in, before anything is taken down */
        return kerf_fail(error, KERF_ERROR_DEVICE, "the row returned an error");
    KERF_TRY(start_timers(&sampled->histogram, error));
    return call_for(&row, seconds, sampled, error);
}

/* ---- in the process that waits ------------------------------------------------------------------------------------
 */

static kerf_status wait_for(pid_t child, double seconds, const volatile sig_atomic_t *interrupted, int *wait_status,
                            kerf_error *error) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (double waited_s = 0; waitpid(child, wait_status, WNOHANG) == 0; waited_s += 0.01) {
        const bool stuck = waited_s > seconds + STUCK_S;
        if (!*interrupted && !stuck) {
            nanosleep(&pause, NULL);
            continue;
        }
        kill(child, SIGKILL);
        waitpid(child, wait_status, 0);
        if (*interrupted)
            return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted");
        return kerf_fail(error, KERF_ERROR_DEVICE, "the row did not return within %d s; bench verify looks closer",
                         STUCK_S);
    }
    return KERF_OK;
}

static kerf_status sample_apart(const kerf_row *row, const kerf_case *c, int threads, double seconds,
                                const volatile sig_atomic_t *interrupted, kerf_sampled *sampled, kerf_error *error) {
    const pid_t parent = getpid(), child = fork();
    if (child < 0)
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        for (int number = 1; number < NSIG; ++number)
            signal(number, number == SIGINT ? SIG_IGN : SIG_DFL); /* a terminal interrupts both; the parent decides */
        dup2(STDERR_FILENO, STDOUT_FILENO);
        _exit(run_row(row, c, threads, seconds, sampled, &sampled->error) == KERF_OK ? 0 : 1);
    }
    int wait_status = 0;
    KERF_TRY(wait_for(child, seconds, interrupted, &wait_status, error));
    if (WIFSIGNALED(wait_status))
        return kerf_fail(error, KERF_ERROR_DEVICE, "the row crashed: signal %d (%s); bench verify looks closer",
                         WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    if (WEXITSTATUS(wait_status) == 0)
        return KERF_OK;
    return kerf_fail(error, KERF_ERROR_DEVICE, "%s",
                     sampled->error.message[0] ? sampled->error.message : "the row ended its process");
}

kerf_status kerf_annotate_sample(const kerf_row *row, const kerf_case *c, int threads, double seconds,
                                 const volatile sig_atomic_t *interrupted, kerf_sampled **sampled, kerf_error *error) {
    *sampled = NULL;
    void *const map = mmap(NULL, sizeof **sampled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the samples");
    const kerf_status status = sample_apart(row, c, threads, seconds, interrupted, map, error);
    if (status == KERF_OK)
        *sampled = map;
    else
        kerf_sampled_unmap(map);
    return status;
}

void kerf_sampled_unmap(kerf_sampled *sampled) {
    munmap(sampled, sizeof *sampled);
}
