/* Child processes that work through orders, so that what crashes or hangs is the child. */
#ifndef KERF_HARNESS_ISOLATE_H
#define KERF_HARNESS_ISOLATE_H

#include "base/status.h"
#include <stdint.h>
#include <sys/types.h>

/* Where a child notes an invalid access before it dies; lies in memory that is shared with the parent. */
typedef enum kerf_access { KERF_ACCESS_UNKNOWN, KERF_ACCESS_READ, KERF_ACCESS_WRITE } kerf_access;

typedef struct kerf_fault {
    volatile int signal; /* 0: none was noted */
    volatile kerf_access access;
    volatile bool has_address;
    volatile uintptr_t address;
} kerf_fault;

/* pid 0: not running. */
typedef struct kerf_worker {
    pid_t pid;
    int channel;
} kerf_worker;

/* Forks a child that calls serve(arg) for each order. Call while the process has one thread. The child has a process
 * group and signal handlers of its own, no file of the parent but standard error, and dies with the parent. */
kerf_status kerf_worker_start(kerf_worker *worker, void (*serve)(void *arg), void *arg, kerf_fault *fault,
                              kerf_error *error);
/* Lets the child serve once. A child that is gone is noticed by the wait. */
void kerf_worker_order(const kerf_worker *worker);
/* Waits until one of the workers answers or dies, at most timeout_s; said[i] tells which did. False: none. */
bool kerf_workers_wait(const kerf_worker *const workers[], int n, double timeout_s, bool said[]);
/* After said[i]: true if it was an answer. */
bool kerf_worker_answered(const kerf_worker *worker);
/* Ends the child and whatever it started, and says how it died: "killed by SIGSEGV", "exited with status 3". Returns
 * the signal, 0 if it exited. */
int kerf_worker_end(kerf_worker *worker, kerf_text *how);
/* Private memory of the child, 0 if that cannot be read. */
size_t kerf_worker_resident_bytes(const kerf_worker *worker);

/* In the child: no more than `bytes` of address space on top of what it has; SIZE_MAX lifts the limit. Does nothing in
 * sanitizer builds, which reserve terabytes: the parent watches the resident size there. */
void kerf_child_limit_memory(size_t bytes);
/* In the child, by kerf_worker_start only: leaves the parent's handlers, files and process group. */
void kerf_child_enter(pid_t parent, int channel, kerf_fault *fault);

const char *kerf_signal_name(int signal);
double kerf_monotonic_s(void);

#endif
