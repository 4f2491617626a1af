#include "harness/timing_extra.h"

#include "harness/stats.h"

#include <inttypes.h>
#include <math.h>

enum { MIN_STRETCHES = 3, MAX_STRETCHES = 64, MAX_PROCESSES = 64 };
#define MAX_NS UINT64_C(20000000)

static void evict(void *arg) {
    kerf_timing_row_evict(arg);
}

static bool count_calls(const kerf_timing_row *row, bool cold, uint32_t batch, const kerf_clock *clock,
                        kerf_counters *counters, kerf_recorded_counters *result) {
    const uint64_t first_ns = clock->now_ns(clock->state);
    uint64_t counted_ns = 0, now_ns = first_ns;
    kerf_counters_reset(counters);
    for (int n = 0; n < MIN_STRETCHES || (n < MAX_STRETCHES && kerf_clock_elapsed_ns(first_ns, now_ns) < MAX_NS); ++n) {
        if (cold)
            kerf_timing_row_evict(row);
        kerf_counters_start(counters);
        const uint64_t begin_ns = clock->now_ns(clock->state);
        for (uint32_t call = 0; call < batch; ++call)
            if (row->variant->run(&row->launch) != KERF_OK)
                return false;
        now_ns = clock->now_ns(clock->state);
        kerf_counters_stop(counters);
        counted_ns += kerf_clock_elapsed_ns(begin_ns, now_ns);
        result->n_calls += batch;
    }
    kerf_counters_read(counters, result->value);
    result->cycles_per_ns = counted_ns > 0 ? result->value[KERF_COUNTER_CYCLES] / (double)counted_ns : NAN;
    for (int i = 0; i < KERF_N_COUNTERS; ++i)
        result->value[i] /= (double)result->n_calls;
    return true;
}

void kerf_timing_extra_take(const kerf_timing_wish *wish, const kerf_timing_row *row, kerf_cache_mode mode,
                            uint32_t batch, const kerf_clock *clock, const kerf_counter_system *system,
                            kerf_timing_extra *extra) {
    const bool cold = mode == KERF_COLD;
    *extra = (kerf_timing_extra){.split = {.n_calls = 0}};
    /* Hot: what the calls before this one left in the caches may be of another row. */
    if (!(wish->split || wish->counters) || (!cold && row->variant->run(&row->launch) != KERF_OK))
        return;
    const kerf_split_subject subject = {.launch = &row->launch,
                                        .run = row->variant->run,
                                        .prepare = cold ? evict : NULL,
                                        .arg = (void *)(uintptr_t)row};
    if (wish->split && kerf_split_measure(&subject, clock, &extra->split) != KERF_OK)
        extra->split.n_calls = 0;
    if (!wish->counters)
        return;
    char memory[200];
    kerf_text unsaid = kerf_text_over(memory, sizeof memory);
    kerf_counters *const counters = kerf_counters_open(system, &unsaid);
    if (counters && !count_calls(row, cold, cold || batch == 0 ? 1 : batch, clock, counters, &extra->counters))
        extra->counters.n_calls = 0;
    kerf_counters_close(counters);
}

void kerf_timing_extra_print(const kerf_timing_extra *extra, int cell, FILE *answer) {
    const kerf_recorded_split *const split = &extra->split;
    const kerf_recorded_counters *const counters = &extra->counters;
    if (split->n_calls > 0)
        fprintf(answer, "split %d %d %a %a %a %a\n", cell, split->n_calls, split->call_ns, split->pack_ns,
                split->compute_ns, split->unpack_ns);
    if (counters->n_calls == 0)
        return;
    fprintf(answer, "counted %d %" PRId64 " %a", cell, counters->n_calls, counters->cycles_per_ns);
    for (int i = 0; i < KERF_N_COUNTERS; ++i)
        fprintf(answer, " %a", counters->value[i]);
    fputc('\n', answer);
}

bool kerf_timing_extra_read(const char *line, int *cell, kerf_timing_extra *extra) {
    *extra = (kerf_timing_extra){.split = {.n_calls = 0}};
    kerf_recorded_split *const split = &extra->split;
    kerf_recorded_counters *const counters = &extra->counters;
    double *const value = counters->value;
    _Static_assert(KERF_N_COUNTERS == 5, "the line has a place for each");
    if (sscanf(line, "split %d %d %lf %lf %lf %lf", cell, &split->n_calls, &split->call_ns, &split->pack_ns,
               &split->compute_ns, &split->unpack_ns) == 6)
        return true;
    *split = (kerf_recorded_split){0};
    if (sscanf(line, "counted %d %" SCNd64 " %lf %lf %lf %lf %lf %lf", cell, &counters->n_calls,
               &counters->cycles_per_ns, &value[0], &value[1], &value[2], &value[3], &value[4]) == 8)
        return true;
    *counters = (kerf_recorded_counters){0};
    return false;
}

static double middle_of(const kerf_timing_extra *of_process, int n, size_t value_at) {
    double known[MAX_PROCESSES];
    int n_known = 0;
    for (int i = 0; i < n; ++i) {
        const double value = *(const double *)(const void *)((const char *)&of_process[i] + value_at);
        if (!isnan(value))
            known[n_known++] = value;
    }
    return n_known > 0 ? kerf_median(known, n_known) : NAN;
}

#define MIDDLE(member) middle_of(given, n, offsetof(kerf_timing_extra, member))

static void middle_split(const kerf_timing_extra *of_process, int n_processes, kerf_recorded_split *split) {
    kerf_timing_extra given[MAX_PROCESSES];
    int n = 0, n_calls = 0;
    for (int i = 0; i < n_processes && n < MAX_PROCESSES; ++i)
        if (of_process[i].split.n_calls > 0) {
            given[n++] = of_process[i];
            n_calls += of_process[i].split.n_calls;
        }
    if (n > 0)
        *split = (kerf_recorded_split){n_calls, MIDDLE(split.call_ns), MIDDLE(split.pack_ns), MIDDLE(split.compute_ns),
                                       MIDDLE(split.unpack_ns)};
}

static void middle_counters(const kerf_timing_extra *of_process, int n_processes, kerf_recorded_counters *counters) {
    kerf_timing_extra given[MAX_PROCESSES];
    int n = 0;
    for (int i = 0; i < n_processes && n < MAX_PROCESSES; ++i)
        if (of_process[i].counters.n_calls > 0) {
            given[n++] = of_process[i];
            counters->n_calls += of_process[i].counters.n_calls;
        }
    if (n == 0)
        return;
    counters->cycles_per_ns = MIDDLE(counters.cycles_per_ns);
    for (int k = 0; k < KERF_N_COUNTERS; ++k)
        counters->value[k] =
            middle_of(given, n, offsetof(kerf_timing_extra, counters.value) + (size_t)k * sizeof(double));
}

kerf_timing_extra kerf_timing_extra_middle(const kerf_timing_extra *of_process, int n_processes) {
    kerf_timing_extra middle = {.split = {.n_calls = 0}};
    middle_split(of_process, n_processes, &middle.split);
    middle_counters(of_process, n_processes, &middle.counters);
    return middle;
}
