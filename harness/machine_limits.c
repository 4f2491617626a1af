#include "harness/machine_limits.h"

#include "harness/doctor.h"
#include <stdio.h>
#include <stdlib.h>

static void warn(const kerf_error *problem, const char *consequence) {
    fprintf(stderr, "bench: warning: %s; %s\n", problem->message, consequence);
}

static kerf_status measure(bool quiet, const volatile sig_atomic_t *interrupted, kerf_kept_limits *kept, bool *found,
                           kerf_error *error) {
    kerf_doctor_measured *const measured = malloc(sizeof *measured);
    const kerf_doctor_plan plan = {.form = KERF_LIMITS_SHORT,
                                   .quiet = quiet,
                                   .why = ", as none are kept (bench doctor measures them better)",
                                   .interrupted = interrupted};
    kerf_error problem;
    kerf_status status = measured ? kerf_doctor_measure(&plan, measured, &problem)
                                  : kerf_fail(&problem, KERF_ERROR_MEMORY, "no memory for the limits of the machine");
    *found = status == KERF_OK;
    if (*found)
        *kept = measured->kept;
    else if (status == KERF_ERROR_INTERRUPTED)
        *error = problem;
    else
        warn(&problem, "times are not held against limits");
    free(measured);
    return status == KERF_ERROR_INTERRUPTED ? status : KERF_OK;
}

kerf_status kerf_machine_limits(bool quiet, const volatile sig_atomic_t *interrupted, kerf_kept_limits *kept,
                                bool *found, kerf_error *error) {
    const kerf_machine machine = kerf_machine_here();
    char path[512];
    kerf_text text = kerf_text_over(path, sizeof path);
    kerf_error problem;
    *found = false;
    if (kerf_limits_path(&machine, &text) && kerf_limits_read(path, &machine, found, kept, &problem) != KERF_OK)
        warn(&problem, "it is ignored");
    if (*found)
        return KERF_OK;
    KERF_TRY(measure(quiet, interrupted, kept, found, error));
    if (*found)
        kerf_machine_limits_keep(kept);
    return KERF_OK;
}

void kerf_machine_limits_keep(const kerf_kept_limits *kept) {
    const kerf_machine machine = kerf_machine_here();
    char path[512];
    kerf_text text = kerf_text_over(path, sizeof path);
    kerf_error problem;
    if (kerf_limits_path(&machine, &text) && kerf_limits_write(path, &machine, kept, &problem) != KERF_OK)
        warn(&problem, "the limits are not kept");
}
