#include "harness/team.h"

#include "base/cpu.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A call costs about a microsecond while the threads still spin from the last one, and a wake-up through the system
 * once they sleep. */
enum { SPINS = 2000 };

typedef struct member {
    kerf_thread_team *team;
    pthread_t thread;
    int rank;
} member;

struct kerf_thread_team {
    kerf_team team; /* first: kerf_team_run hands its address back */
    int spins;
    void (*work)(void *arg, int rank);
    void *arg;
    _Atomic uint32_t call;    /* counts the calls; a change starts the ranks */
    _Atomic uint32_t pending; /* ranks of this call that have not returned */
    _Atomic int sleepers, caller_sleeps;
    bool closing;
    int n_started;
    member members[];
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int n) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

/* Returns once *word is no longer `value`. Whoever changes the word wakes only if `sleepers` says so: both sides write
 * one of the two words and then read the other, in sequential consistency, so that one of them sees the other. */
static void wait_while(_Atomic uint32_t *word, uint32_t value, _Atomic int *sleepers, int spins) {
    for (int i = 0; i < spins; ++i) {
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            return;
        relax();
    }
    atomic_fetch_add(sleepers, 1);
    while (atomic_load(word) == value)
        futex_wait(word, value);
    atomic_fetch_sub(sleepers, 1);
}

static void *serve(void *arg) {
    const member *const self = arg;
    kerf_thread_team *const team = self->team;
    for (uint32_t seen = 0;; ++seen) {
        wait_while(&team->call, seen, &team->sleepers, team->spins);
        if (team->closing)
            return NULL;
        team->work(team->arg, self->rank);
        if (atomic_fetch_sub(&team->pending, 1) == 1 && atomic_load(&team->caller_sleeps))
            futex_wake(&team->pending, 1);
    }
}

static void start_ranks(kerf_thread_team *team) {
    atomic_fetch_add(&team->call, 1);
    if (atomic_load(&team->sleepers))
        futex_wake(&team->call, INT_MAX);
}

static void run_threads(const kerf_team *base, void (*work)(void *arg, int rank), void *arg) {
    kerf_thread_team *const team = (kerf_thread_team *)base;
    team->work = work;
    team->arg = arg;
    atomic_store(&team->pending, (uint32_t)(team->team.n - 1));
    start_ranks(team);
    work(arg, 0);
    for (uint32_t left; (left = atomic_load(&team->pending)) != 0;)
        wait_while(&team->pending, left, &team->caller_sleeps, team->spins);
}

kerf_status kerf_thread_team_open(int n, kerf_thread_team **result, kerf_error *error) {
    *result = NULL;
    if (n < 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "%d threads were asked for; at least 1 is needed", n);
    kerf_thread_team *const team = calloc(1, sizeof *team + (size_t)n * sizeof team->members[0]);
    if (!team)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for a team of %d threads", n);
    team->team = (kerf_team){.n = n, .run = run_threads};
    team->spins = n <= kerf_cpu_count() ? SPINS : 0;
    for (int rank = 1; rank < n; ++rank) {
        member *const one = &team->members[rank];
        *one = (member){.team = team, .rank = rank};
        const int code = pthread_create(&one->thread, NULL, serve, one);
        if (code != 0) {
            kerf_thread_team_close(team);
            return kerf_fail(error, KERF_ERROR_MEMORY, "cannot start thread %d of %d: %s; use fewer --threads",
                             rank + 1, n, strerror(code));
        }
        team->n_started = rank;
    }
    *result = team;
    return KERF_OK;
}

const kerf_team *kerf_thread_team_get(const kerf_thread_team *team) {
    return &team->team;
}

void kerf_thread_team_close(kerf_thread_team *team) {
    if (!team)
        return;
    team->closing = true;
    start_ranks(team);
    for (int rank = 1; rank <= team->n_started; ++rank)
        pthread_join(team->members[rank].thread, NULL);
    free(team);
}

static void run_serial(const kerf_team *team, void (*work)(void *arg, int rank), void *arg) {
    for (int rank = team->n - 1; rank >= 0; --rank)
        work(arg, rank);
}

kerf_serial_team kerf_serial_team_of(int n) {
    return (kerf_serial_team){.team = {.n = n < 1 ? 1 : n, .run = run_serial}};
}
