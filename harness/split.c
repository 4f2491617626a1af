#include "harness/split.h"

#include "harness/stats.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_CALLS = 3, MAX_CALLS = 15 };
#define MAX_NS UINT64_C(20000000)

/* Values of each call: column KERF_SPLIT_NONE holds the whole call. */
typedef struct split_calls {
    double ns[KERF_N_SPLITS][MAX_CALLS];
    int n;
    bool said; /* some rank was in some phase */
} split_calls;

static uint64_t in_phases_ns(const kerf_split_rank *rank) {
    return rank->ns[KERF_SPLIT_PACK] + rank->ns[KERF_SPLIT_COMPUTE] + rank->ns[KERF_SPLIT_UNPACK];
}

static void keep_call(split_calls *calls, const kerf_split *split, uint64_t call_ns) {
    const kerf_split_rank *slowest = &split->rank[0];
    for (int r = 1; r < split->n_ranks; ++r)
        if (in_phases_ns(&split->rank[r]) > in_phases_ns(slowest))
            slowest = &split->rank[r];
    calls->said = calls->said || in_phases_ns(slowest) > 0;
    for (int kind = KERF_SPLIT_PACK; kind < KERF_N_SPLITS; ++kind)
        calls->ns[kind][calls->n] = (double)slowest->ns[kind];
    calls->ns[KERF_SPLIT_NONE][calls->n++] = (double)call_ns;
}

static kerf_status run_calls(const kerf_split_subject *subject, const kerf_clock *clock, kerf_split *split,
                             split_calls *calls) {
    kerf_launch launch = *subject->launch;
    launch.bytes = sizeof launch;
    launch.split = split;
    const uint64_t first_ns = clock->now_ns(clock->state);
    for (uint64_t now_ns = first_ns;
         calls->n < MIN_CALLS || (calls->n < MAX_CALLS && kerf_clock_elapsed_ns(first_ns, now_ns) < MAX_NS);) {
        memset(split->rank, 0, (size_t)split->n_ranks * sizeof *split->rank);
        if (subject->prepare)
            subject->prepare(subject->arg);
        const uint64_t begin_ns = clock->now_ns(clock->state);
        KERF_TRY(subject->run(&launch));
        now_ns = clock->now_ns(clock->state);
        keep_call(calls, split, kerf_clock_elapsed_ns(begin_ns, now_ns));
    }
    return KERF_OK;
}

kerf_status kerf_split_measure(const kerf_split_subject *subject, const kerf_clock *clock,
                               kerf_recorded_split *result) {
    *result = (kerf_recorded_split){0};
    const int n_ranks = kerf_team_size(subject->launch->team);
    kerf_split split = {.bytes = sizeof split, .n_ranks = n_ranks, .now_ns = clock->now_ns, .state = clock->state};
    split.rank = aligned_alloc(_Alignof(kerf_split_rank), (size_t)n_ranks * sizeof *split.rank);
    if (!split.rank)
        return KERF_ERROR_MEMORY;
    split_calls calls = {.n = 0};
    const kerf_status status = run_calls(subject, clock, &split, &calls);
    free(split.rank);
    if (status != KERF_OK || !calls.said)
        return status;
    *result = (kerf_recorded_split){.n_calls = calls.n,
                                    .call_ns = kerf_median(calls.ns[KERF_SPLIT_NONE], calls.n),
                                    .pack_ns = kerf_median(calls.ns[KERF_SPLIT_PACK], calls.n),
                                    .compute_ns = kerf_median(calls.ns[KERF_SPLIT_COMPUTE], calls.n),
                                    .unpack_ns = kerf_median(calls.ns[KERF_SPLIT_UNPACK], calls.n)};
    return KERF_OK;
}
