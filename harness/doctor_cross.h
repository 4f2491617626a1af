/* One kernel timed twice: by the library that hosts us, in its own automatic loop, and by our sampler. */
#ifndef KERF_HARNESS_DOCTOR_CROSS_H
#define KERF_HARNESS_DOCTOR_CROSS_H

#include "base/status.h"
#include <signal.h>
#include <stdio.h>

/* Prints one line, and a second one where the two differ by more than `reach`, which is what one kernel differs from
 * itself. Without Google Benchmark it says so. */
kerf_status kerf_doctor_cross(int threads, double reach, const volatile sig_atomic_t *interrupted, FILE *file,
                              kerf_error *error);

#endif
