/* Every rank runs exactly once per call, also when there are more ranks than processors. */
#include "harness/team.h"

#include "tests/catch_shim.h"
#include <stdatomic.h>
#include <time.h>

enum { MAX_RANKS = 33 };

typedef struct tally {
    _Atomic int runs[MAX_RANKS];
    int plain[MAX_RANKS]; /* each rank its own: a lost or doubled call shows, and a race too under a sanitizer */
    int order[MAX_RANKS];
    _Atomic int n_runs;
} tally;

static void count(void *arg, int rank) {
    tally *const all = arg;
    atomic_fetch_add(&all->runs[rank], 1);
    all->plain[rank] += 1;
    all->order[atomic_fetch_add(&all->n_runs, 1) % MAX_RANKS] = rank;
}

static void threads_run_each_rank_once(void) {
    for (int n = 1; n <= MAX_RANKS; n += n < 4 ? 1 : 7) {
        kerf_thread_team *team;
        REQUIRE(kerf_thread_team_open(n, &team, NULL) == KERF_OK);
        const kerf_team *const ranks = kerf_thread_team_get(team);
        tally all = {.n_runs = 0};
        const int n_calls = 500;
        bool complete = ranks->n == n;
        for (int call = 1; call <= n_calls; ++call) {
            kerf_team_run(ranks, count, &all);
            for (int rank = 0; rank < n; ++rank) /* read without atomics: the call has ended */
                complete = complete && all.plain[rank] == call;
        }
        kerf_thread_team_close(team);
        REQUIRE(complete);
        REQUIRE(all.n_runs == n * n_calls);
    }
}

/* Ranks that slept between two calls are woken. */
static void threads_wake_up(void) {
    kerf_thread_team *team;
    REQUIRE(kerf_thread_team_open(3, &team, NULL) == KERF_OK);
    tally all = {.n_runs = 0};
    for (int call = 0; call < 10; ++call) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        kerf_team_run(kerf_thread_team_get(team), count, &all);
    }
    kerf_thread_team_close(team);
    REQUIRE(all.plain[0] == 10 && all.plain[1] == 10 && all.plain[2] == 10);
}

static void no_team_of_none(void) {
    kerf_thread_team *team;
    kerf_error error;
    REQUIRE(kerf_thread_team_open(0, &team, &error) == KERF_ERROR_USAGE);
    REQUIRE(team == NULL);
    kerf_thread_team_close(team);
}

static void serial_runs_backwards(void) {
    const kerf_serial_team serial = kerf_serial_team_of(4);
    tally all = {.n_runs = 0};
    kerf_team_run(&serial.team, count, &all);
    for (int i = 0; i < 4; ++i)
        REQUIRE(all.order[i] == 3 - i);
}

static void shares_cover(void) {
    for (int64_t total = 0; total < 40; ++total)
        for (int n = 1; n < 10; ++n) {
            int64_t next = 0;
            for (int rank = 0; rank < n; ++rank) {
                int64_t begin, end;
                kerf_team_share(total, n, rank, &begin, &end);
                REQUIRE(begin == next && end - begin <= total / n + 1 && end - begin >= total / n);
                next = end;
            }
            REQUIRE(next == total);
        }
}

const kerf_test kerf_tests_unit_team[] = {
    {"team: threads run each rank once per call", "[unit][team]", threads_run_each_rank_once, __FILE__, __LINE__},
    {"team: threads that sleep wake up", "[unit][team]", threads_wake_up, __FILE__, __LINE__},
    {"team: no ranks are refused", "[unit][team]", no_team_of_none, __FILE__, __LINE__},
    {"team: a serial team runs the last rank first", "[unit][team]", serial_runs_backwards, __FILE__, __LINE__},
    {"team: shares cover the work without overlap", "[unit][team]", shares_cover, __FILE__, __LINE__},
    {0}};
