/* `bench report`: the reports of old runs, made again from their records. */
#ifndef KERF_HARNESS_REPORT_H
#define KERF_HARNESS_REPORT_H

#include "harness/options.h"
#include <signal.h>

/* Reads options->file, or the newest file of a run, and writes options->output. */
kerf_status kerf_report(const kerf_options *options, const volatile sig_atomic_t *interrupted, kerf_error *error);

#endif
