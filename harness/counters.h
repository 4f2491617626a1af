/* What the processor's counters say of calls: cycles, instructions, misses of caches and branches, in user space, over
 * all threads of this process. Many machines (virtual ones above all) do not let us ask; then a reason is all there is.
 */
#ifndef KERF_HARNESS_COUNTERS_H
#define KERF_HARNESS_COUNTERS_H

#include "base/status.h"
#include "harness/record_extra.h"

#include <linux/perf_event.h>
#include <sys/types.h>

#define KERF_COUNTED_THREADS 1024

/* What is asked of the operating system, so that tests can script it. Failures are negative numbers of errno. */
typedef struct kerf_counter_system {
    void *state;
    int (*list_threads)(void *state, pid_t ids[KERF_COUNTED_THREADS]);
    int (*open)(void *state, struct perf_event_attr *attr, pid_t thread, int group); /* a file */
    int (*control)(void *state, int group, unsigned long request);                   /* PERF_EVENT_IOC_... */
    ssize_t (*read)(void *state, int group, void *data, size_t bytes);
    void (*close)(void *state, int file);
    int (*paranoid)(void *state); /* /proc/sys/kernel/perf_event_paranoid, INT_MIN where it is not there */
} kerf_counter_system;
kerf_counter_system kerf_counter_system_linux(void);

typedef struct kerf_counters kerf_counters;

/* Counters of the threads that there are now, stopped, to be given back by kerf_counters_close. NULL where the machine
 * or the system does not allow it, with the reason in `why`. */
kerf_counters *kerf_counters_open(const kerf_counter_system *system, kerf_text *why);
void kerf_counters_close(kerf_counters *counters); /* NULL is fine */

void kerf_counters_reset(kerf_counters *counters);
void kerf_counters_start(kerf_counters *counters);
void kerf_counters_stop(kerf_counters *counters);
/* Sums over the threads since the reset, scaled up where counters had to take turns; NAN where nothing is known. */
void kerf_counters_read(const kerf_counters *counters, double value[KERF_N_COUNTERS]);

#endif
