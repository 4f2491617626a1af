/* Threads that a team's ranks run on: made once, reused for every call. Not for use across fork(). */
#ifndef KERF_HARNESS_TEAM_H
#define KERF_HARNESS_TEAM_H

#include "base/status.h"
#include "kernels/kernel.h"

typedef struct kerf_thread_team kerf_thread_team;

/* n >= 1 ranks, the caller being rank 0; n may exceed the processors. */
kerf_status kerf_thread_team_open(int n, kerf_thread_team **team, kerf_error *error);
const kerf_team *kerf_thread_team_get(const kerf_thread_team *team);
void kerf_thread_team_close(kerf_thread_team *team);

/* n ranks one after another on the calling thread, last rank first: an order that a right kernel does not notice. */
typedef struct kerf_serial_team {
    kerf_team team;
} kerf_serial_team;
kerf_serial_team kerf_serial_team_of(int n);

#endif
