#include "harness/counters.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One group per thread: what is in a group is counted over the same stretches of time, so ratios mean something. */
typedef struct thread_group {
    int file[KERF_N_COUNTERS]; /* -1: not counted */
    int leader;
    int n; /* files, in the order of the counters: so they stand in what is read */
} thread_group;

struct kerf_counters {
    kerf_counter_system system;
    int n_threads;
    thread_group thread[];
};

#define CACHE_MISSES(cache)                                                                                            \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static struct perf_event_attr attributes_of(kerf_counter counter) {
    static const struct {
        uint32_t type;
        uint64_t config;
    } events[KERF_N_COUNTERS] = {
        [KERF_COUNTER_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        [KERF_COUNTER_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        [KERF_COUNTER_L1D_MISSES] = {PERF_TYPE_HW_CACHE, CACHE_MISSES(L1D)},
        [KERF_COUNTER_LLC_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
        [KERF_COUNTER_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    };
    struct perf_event_attr attr = {.size = sizeof attr, .type = events[counter].type};
    attr.config = events[counter].config;
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.exclude_kernel = attr.exclude_hv = 1;
    return attr;
}

static void tell_why_not(const kerf_counter_system *system, int failure, kerf_text *why) {
    const int paranoid = system->paranoid(system->state);
    switch (failure) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        kerf_text_printf(why, "this machine shows no hardware counters, as many virtual machines do");
        break;
    case ENOSYS:
        kerf_text_printf(why, "this kernel has no performance events");
        break;
    case EPERM:
    case EACCES:
        if (paranoid > 2)
            kerf_text_printf(why,
                             "not permitted: kernel.perf_event_paranoid is %d, sysctl kernel.perf_event_paranoid=2 "
                             "allows it",
                             paranoid);
        else
            kerf_text_printf(why, "not permitted, though kernel.perf_event_paranoid would allow it: a container or a "
                                  "security policy forbids it");
        break;
    default:
        kerf_text_printf(why, "the system refuses them: %s", strerror(failure));
        break;
    }
}

/* An event that this machine does not have is left out. Returns the first failure, or 0. */
static int open_group(const kerf_counter_system *system, pid_t thread, thread_group *group) {
    int first_failure = 0;
    *group = (thread_group){.leader = -1};
    for (int i = 0; i < KERF_N_COUNTERS; ++i) {
        struct perf_event_attr attr = attributes_of((kerf_counter)i);
        attr.disabled = group->leader < 0;
        const int file = system->open(system->state, &attr, thread, group->leader);
        group->file[i] = file < 0 ? -1 : file;
        if (file < 0 && first_failure == 0)
            first_failure = -file;
        if (file < 0)
            continue;
        group->leader = group->leader < 0 ? file : group->leader;
        ++group->n;
    }
    return first_failure;
}

kerf_counters *kerf_counters_open(const kerf_counter_system *system, kerf_text *why) {
    pid_t ids[KERF_COUNTED_THREADS];
    const int n = system->list_threads(system->state, ids);
    kerf_counters *const counters = n > 0 ? calloc(1, sizeof *counters + (size_t)n * sizeof counters->thread[0]) : NULL;
    if (!counters) {
        kerf_text_printf(why, "the threads of this process cannot be listed");
        return NULL;
    }
    counters->system = *system;
    for (int t = 0; t < n; ++t) {
        const int failure = open_group(system, ids[t], &counters->thread[t]);
        ++counters->n_threads;
        /* A thread without what the first one has would make sums that look complete. */
        if (counters->thread[t].n > 0 && counters->thread[t].n == counters->thread[0].n)
            continue;
        tell_why_not(system, failure, why);
        kerf_counters_close(counters);
        return NULL;
    }
    return counters;
}

void kerf_counters_close(kerf_counters *counters) {
    for (int t = 0; counters && t < counters->n_threads; ++t)
        for (int i = KERF_N_COUNTERS - 1; i >= 0; --i) /* the leader last */
            if (counters->thread[t].file[i] >= 0)
                counters->system.close(counters->system.state, counters->thread[t].file[i]);
    free(counters);
}

static void control_all(kerf_counters *counters, unsigned long request) {
    for (int t = 0; t < counters->n_threads; ++t)
        counters->system.control(counters->system.state, counters->thread[t].leader, request);
}

void kerf_counters_reset(kerf_counters *counters) {
    control_all(counters, PERF_EVENT_IOC_RESET);
}

void kerf_counters_start(kerf_counters *counters) {
    control_all(counters, PERF_EVENT_IOC_ENABLE);
}

void kerf_counters_stop(kerf_counters *counters) {
    control_all(counters, PERF_EVENT_IOC_DISABLE);
}

/* What a read of a group gives (perf_event_open(2)). */
typedef struct group_values {
    uint64_t n, enabled_ns, running_ns;
    uint64_t value[KERF_N_COUNTERS];
} group_values;

void kerf_counters_read(const kerf_counters *counters, double value[KERF_N_COUNTERS]) {
    for (int i = 0; i < KERF_N_COUNTERS; ++i)
        value[i] = counters->thread[0].file[i] < 0 ? NAN : 0;
    for (int t = 0; t < counters->n_threads; ++t) {
        const thread_group *const group = &counters->thread[t];
        group_values read = {0};
        const size_t bytes = sizeof read - (KERF_N_COUNTERS - (size_t)group->n) * sizeof read.value[0];
        const bool came =
            counters->system.read(counters->system.state, group->leader, &read, sizeof read) == (ssize_t)bytes &&
            read.n == (uint64_t)group->n;
        const bool never_ran = came && read.enabled_ns == 0; /* the thread slept all the time */
        /* Somebody else had the counters: what this thread did is not known. */
        const double scale = came && read.running_ns > 0 ? (double)read.enabled_ns / (double)read.running_ns : NAN;
        for (int i = 0, at = 0; i < KERF_N_COUNTERS; ++i)
            if (group->file[i] >= 0 && at++ < KERF_N_COUNTERS && !never_ran)
                value[i] += (double)read.value[at - 1] * scale;
    }
}
