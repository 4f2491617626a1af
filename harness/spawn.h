/* This program again, by its own file: it gets a new address layout, and what it does hangs on nothing of the caller.
 */
#ifndef KERF_HARNESS_SPAWN_H
#define KERF_HARNESS_SPAWN_H

#include "base/status.h"
#include <sys/types.h>

/* `arguments` from "bench" on, NULL-terminated; the two files become its standard input and output. */
kerf_status kerf_spawn_self(const char *const *arguments, int request, int answer, pid_t *worker, kerf_error *error);

#endif
