/* The limits of this machine, for a run that holds its times against them. */
#ifndef KERF_HARNESS_MACHINE_LIMITS_H
#define KERF_HARNESS_MACHINE_LIMITS_H

#include "harness/limits_file.h"

/* Those that are kept; *found is false, with a warning on standard error where there is one to give, if there are
 * none. */
void kerf_machine_limits_kept(kerf_kept_limits *kept, bool *found);

#endif
