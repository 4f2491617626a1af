/* The limits of this machine, for a run that holds its times against them. */
#ifndef KERF_HARNESS_MACHINE_LIMITS_H
#define KERF_HARNESS_MACHINE_LIMITS_H

#include "harness/limits_file.h"
#include <signal.h>

/* Those that are kept; if there are none, measures the short form and keeps it. What goes wrong is a warning on
 * standard error: *found is false then. Fails only when *interrupted became non-zero. */
kerf_status kerf_machine_limits(bool quiet, const volatile sig_atomic_t *interrupted, kerf_kept_limits *kept,
                                bool *found, kerf_error *error);

/* Keeps limits that were raised; what goes wrong is a warning. */
void kerf_machine_limits_keep(const kerf_kept_limits *kept);

#endif
