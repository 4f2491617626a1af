/* Hardware counters on a scripted system: what is asked for, what is summed, and what is said where they cannot be had.
 */
#include "harness/counters.h"
#include "harness/record_read.h"
#include "harness/timing_extra.h"

#include "tests/catch_shim.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { MAX_FILES = 32, FIRST_FILE = 100 };

typedef struct script {
    int n_threads, paranoid;
    int refuse_all;              /* errno of every open, or 0 */
    bool lacks[KERF_N_COUNTERS]; /* in the order of the counters: ENOENT */
    pid_t refused_thread;        /* EMFILE for this one */
    uint64_t enabled_ns[4], running_ns[4];
    int n_opens, n_open_now, n_files;
    int next_counter, leader_of[MAX_FILES], thread_of[MAX_FILES], counter_of[MAX_FILES];
    bool disabled[MAX_FILES], kernel_counted;
    int n_reset, n_started, n_stopped;
} script;

static int list_threads(void *state, pid_t ids[KERF_COUNTED_THREADS]) {
    const script *const s = state;
    for (int i = 0; i < s->n_threads; ++i)
        ids[i] = 10 + i;
    return s->n_threads;
}

static int open_event(void *state, struct perf_event_attr *attr, pid_t thread, int group) {
    script *const s = state;
    const int counter = s->next_counter++ % KERF_N_COUNTERS;
    ++s->n_opens;
    s->kernel_counted = s->kernel_counted || !attr->exclude_kernel || !attr->exclude_hv;
    if (s->refuse_all)
        return -s->refuse_all;
    if (s->lacks[counter])
        return -ENOENT;
    if (thread == s->refused_thread)
        return -EMFILE;
    const int at = s->n_files++;
    s->leader_of[at] = group < 0 ? FIRST_FILE + at : group;
    s->thread_of[at] = thread - 10;
    s->counter_of[at] = counter;
    s->disabled[at] = attr->disabled;
    ++s->n_open_now;
    return FIRST_FILE + at;
}

static int control(void *state, int group, unsigned long request) {
    script *const s = state;
    if (s->leader_of[group - FIRST_FILE] != group)
        return -EINVAL;
    s->n_reset += request == PERF_EVENT_IOC_RESET;
    s->n_started += request == PERF_EVENT_IOC_ENABLE;
    s->n_stopped += request == PERF_EVENT_IOC_DISABLE;
    return 0;
}

/* Counter c of thread t counts 1000 (c + 1) + t. */
static ssize_t read_group(void *state, int group, void *data, size_t bytes) {
    const script *const s = state;
    const int thread = s->thread_of[group - FIRST_FILE];
    uint64_t values[3 + KERF_N_COUNTERS] = {0, s->enabled_ns[thread], s->running_ns[thread]};
    for (int i = 0; i < s->n_files; ++i)
        if (s->leader_of[i] == group)
            values[3 + values[0]++] =
                s->enabled_ns[thread] == 0 ? 0 : (uint64_t)(1000 * (s->counter_of[i] + 1) + thread);
    const size_t filled = (3 + (size_t)values[0]) * sizeof values[0];
    if (filled > bytes)
        return -ENOSPC;
    memcpy(data, values, filled);
    return (ssize_t)filled;
}

static void close_event(void *state, int file) {
    (void)file;
    --((script *)state)->n_open_now;
}

static int paranoid(void *state) {
    return ((const script *)state)->paranoid;
}

static kerf_counter_system system_of(script *s) {
    return (kerf_counter_system){.state = s,
                                 .list_threads = list_threads,
                                 .open = open_event,
                                 .control = control,
                                 .read = read_group,
                                 .close = close_event,
                                 .paranoid = paranoid};
}

static kerf_counters *open_on(script *s, char why[200]) {
    const kerf_counter_system system = system_of(s);
    kerf_text text = kerf_text_over(why, 200);
    return kerf_counters_open(&system, &text);
}

static script two_threads(void) {
    return (script){.n_threads = 2, .paranoid = 2, .enabled_ns = {50, 50}, .running_ns = {50, 50}};
}

static void threads_are_summed(void) {
    script s = two_threads();
    char why[200];
    double value[KERF_N_COUNTERS];
    kerf_counters *const counters = open_on(&s, why);
    REQUIRE(counters != NULL);
    REQUIRE(!s.kernel_counted);
    REQUIRE(s.n_open_now == 2 * KERF_N_COUNTERS);
    for (int i = 0; i < s.n_files; ++i) /* a group starts and stops by its leader alone */
        REQUIRE(s.disabled[i] == (s.leader_of[i] == FIRST_FILE + i));
    kerf_counters_reset(counters);
    kerf_counters_start(counters);
    kerf_counters_stop(counters);
    kerf_counters_read(counters, value);
    REQUIRE(s.n_reset == 2 && s.n_started == 2 && s.n_stopped == 2);
    REQUIRE(value[KERF_COUNTER_CYCLES] == 2001);
    REQUIRE(value[KERF_COUNTER_BRANCH_MISSES] == 10001);
    kerf_counters_close(counters);
    REQUIRE(s.n_open_now == 0);
}

static void turns_are_scaled_and_sleepers_add_nothing(void) {
    script s = two_threads();
    char why[200];
    double value[KERF_N_COUNTERS];
    s.enabled_ns[0] = 60;
    s.running_ns[0] = 20;
    s.enabled_ns[1] = s.running_ns[1] = 0;
    kerf_counters *const counters = open_on(&s, why);
    REQUIRE(counters != NULL);
    kerf_counters_read(counters, value);
    REQUIRE(value[KERF_COUNTER_INSTRUCTIONS] == 6000);
    s.running_ns[0] = 0; /* somebody else had the counters all the time */
    kerf_counters_read(counters, value);
    REQUIRE(isnan(value[KERF_COUNTER_INSTRUCTIONS]));
    kerf_counters_close(counters);
}

static void what_a_machine_lacks_is_left_out(void) {
    script s = two_threads();
    char why[200];
    double value[KERF_N_COUNTERS];
    s.lacks[KERF_COUNTER_CYCLES] = s.lacks[KERF_COUNTER_LLC_MISSES] = true;
    kerf_counters *const counters = open_on(&s, why);
    REQUIRE(counters != NULL);
    kerf_counters_read(counters, value);
    REQUIRE(isnan(value[KERF_COUNTER_CYCLES]));
    REQUIRE(isnan(value[KERF_COUNTER_LLC_MISSES]));
    REQUIRE(value[KERF_COUNTER_INSTRUCTIONS] == 4001);
    REQUIRE(value[KERF_COUNTER_BRANCH_MISSES] == 10001);
    kerf_counters_close(counters);
    REQUIRE(s.n_open_now == 0);
}

static void refusals_say_why(void) {
    static const struct {
        int failure, paranoid;
        const char *words;
    } refusals[] = {
        {ENOENT, 2, "no hardware counters"},
        {EOPNOTSUPP, 2, "no hardware counters"},
        {ENOSYS, INT_MIN, "no performance events"},
        {EACCES, 3, "perf_event_paranoid is 3"},
        {EPERM, 1, "container"},
        {EMFILE, 2, "refuses"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
        script s = two_threads();
        char why[200];
        s.refuse_all = refusals[i].failure;
        s.paranoid = refusals[i].paranoid;
        REQUIRE(open_on(&s, why) == NULL);
        REQUIRE_MESSAGE(strstr(why, refusals[i].words) != NULL, "'%s' for %d", why, refusals[i].failure);
        REQUIRE(strchr(why, '\n') == NULL);
        REQUIRE(s.n_open_now == 0);
    }
}

/* Sums that lack a thread would look complete. */
static void a_thread_that_cannot_be_counted_ends_it(void) {
    script s = two_threads();
    char why[200];
    s.refused_thread = 11;
    REQUIRE(open_on(&s, why) == NULL);
    REQUIRE(s.n_open_now == 0);
    s = two_threads();
    s.n_threads = 0;
    REQUIRE(open_on(&s, why) == NULL);
    REQUIRE(strstr(why, "threads") != NULL);
}

/* What the worker prints is what its parent reads, values that are not known included. */
static void lines_read_back(void) {
    kerf_timing_extra given = {.split = {3, 100, 20.5, 60, 7}, .counters = {.n_calls = 12, .cycles_per_ns = 3.25}};
    for (int i = 0; i < KERF_N_COUNTERS; ++i)
        given.counters.value[i] = 0.1 * i;
    given.counters.value[KERF_COUNTER_LLC_MISSES] = NAN;
    char memory[600] = "";
    FILE *const file = fmemopen(memory, sizeof memory, "w");
    REQUIRE(file != NULL);
    kerf_timing_extra_print(&given, 42, file);
    fclose(file);
    char *const second = strchr(memory, '\n');
    REQUIRE(second != NULL);
    *second = '\0';
    int cell = -1;
    kerf_timing_extra read;
    REQUIRE(kerf_timing_extra_read(memory, &cell, &read));
    REQUIRE(cell == 42 && read.split.n_calls == 3 && read.split.pack_ns == 20.5 && read.split.unpack_ns == 7);
    REQUIRE(read.counters.n_calls == 0);
    REQUIRE(kerf_timing_extra_read(second + 1, &cell, &read));
    REQUIRE(cell == 42 && read.counters.n_calls == 12 && read.counters.cycles_per_ns == 3.25);
    REQUIRE(read.counters.value[KERF_COUNTER_INSTRUCTIONS] == 0.1);
    REQUIRE(isnan(read.counters.value[KERF_COUNTER_LLC_MISSES]));
    REQUIRE(!kerf_timing_extra_read("split 1 2 3", &cell, &read));
    REQUIRE(!kerf_timing_extra_read("stop 1 time", &cell, &read));
}

static void the_middle_of_processes_skips_what_is_not_known(void) {
    kerf_timing_extra of_process[4] = {{.split = {.n_calls = 0}}};
    for (int i = 0; i < 3; ++i) {
        of_process[i].split = (kerf_recorded_split){2, 10 + i, 1 + i, 5, 2};
        of_process[i].counters.n_calls = 8;
        of_process[i].counters.cycles_per_ns = 3;
    }
    of_process[1].counters.value[KERF_COUNTER_CYCLES] = NAN;
    of_process[0].counters.value[KERF_COUNTER_CYCLES] = of_process[2].counters.value[KERF_COUNTER_CYCLES] = 700;
    const kerf_timing_extra middle = kerf_timing_extra_middle(of_process, 4);
    REQUIRE(middle.split.n_calls == 6);
    REQUIRE(middle.split.call_ns == 11 && middle.split.pack_ns == 2);
    REQUIRE(middle.counters.n_calls == 24 && middle.counters.cycles_per_ns == 3);
    REQUIRE(middle.counters.value[KERF_COUNTER_CYCLES] == 700);
    REQUIRE(kerf_timing_extra_middle(of_process + 3, 1).split.n_calls == 0);
}

#if KERF_HAVE_JANSSON
static kerf_record printed_and_read(const kerf_recorded_extra *extra, kerf_arena *arena) {
    static const kerf_recorded_sample sample = {.total_ns = 5, .batch = 1};
    const kerf_record given = {.kind = KERF_RECORD_TIME,
                               .op = "toy",
                               .set = "bench",
                               .case_text = "N=1",
                               .row = "naive@cpu",
                               .mode = "hot",
                               .config = "threads=1",
                               .time_ns = {5, 5, 5},
                               .stop = "time",
                               .sample = &sample,
                               .n_samples = 1,
                               .extra = extra};
    char memory[2000];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_record_print_json(&given, &text);
    kerf_record read;
    kerf_error error = {""};
    bool known = false;
    CHECK(kerf_record_parse(memory, strlen(memory), arena, &read, &known, &error) == KERF_OK);
    CHECK(known);
    return read;
}

static void records_read_back(void) {
    kerf_arena arena;
    REQUIRE(kerf_arena_map_shared(&arena, 1 << 20, NULL) == KERF_OK);
    kerf_recorded_extra extra = {.asked_split = true, .asked_counters = true, .split = {3, 10, 1.5, 7, 1}};
    extra.counters = (kerf_recorded_counters){.n_calls = 4, .value = {8, 9, NAN, 11, 12}, .cycles_per_ns = 3.5};
    kerf_record read = printed_and_read(&extra, &arena);
    REQUIRE(read.extra != NULL && read.extra->asked_split && read.extra->asked_counters);
    REQUIRE(read.extra->split.n_calls == 3 && read.extra->split.pack_ns == 1.5 && read.extra->split.unpack_ns == 1);
    REQUIRE(read.extra->counters.n_calls == 4 && read.extra->counters.cycles_per_ns == 3.5);
    REQUIRE(read.extra->counters.value[KERF_COUNTER_INSTRUCTIONS] == 9);
    REQUIRE(isnan(read.extra->counters.value[KERF_COUNTER_L1D_MISSES]));
    const kerf_recorded_extra uncounted = {.asked_counters = true, .uncounted = "because"};
    read = printed_and_read(&uncounted, &arena);
    REQUIRE(read.extra != NULL && !read.extra->asked_split && read.extra->asked_counters);
    REQUIRE(read.extra->uncounted && strcmp(read.extra->uncounted, "because") == 0);
    REQUIRE(printed_and_read(NULL, &arena).extra == NULL);
    kerf_arena_unmap(&arena);
}
#endif

const kerf_test kerf_tests_unit_counters[] = {
    {"counters: threads are summed", "[unit][counters]", threads_are_summed, __FILE__, __LINE__},
    {"counters: turns are scaled and sleepers add nothing", "[unit][counters]",
     turns_are_scaled_and_sleepers_add_nothing, __FILE__, __LINE__},
    {"counters: what a machine lacks is left out", "[unit][counters]", what_a_machine_lacks_is_left_out, __FILE__,
     __LINE__},
    {"counters: refusals say why", "[unit][counters]", refusals_say_why, __FILE__, __LINE__},
    {"counters: a thread that cannot be counted ends it", "[unit][counters]", a_thread_that_cannot_be_counted_ends_it,
     __FILE__, __LINE__},
    {"counters: lines of an answer read back", "[unit][counters]", lines_read_back, __FILE__, __LINE__},
    {"counters: the middle of processes skips what is not known", "[unit][counters]",
     the_middle_of_processes_skips_what_is_not_known, __FILE__, __LINE__},
#if KERF_HAVE_JANSSON
    {"counters: records with splits and counters read back", "[unit][counters]", records_read_back, __FILE__, __LINE__},
#endif
    {0},
};
