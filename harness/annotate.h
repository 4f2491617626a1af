/* `bench annotate VARIANT`: the instructions that a row spends its time in. */
#ifndef KERF_HARNESS_ANNOTATE_H
#define KERF_HARNESS_ANNOTATE_H

#include "harness/options.h"

#include <signal.h>
#include <stdio.h>

/* Runs the row on the first case that the options mean, samples where it is, and prints functions and hot loops. */
kerf_status kerf_annotate(const kerf_options *options, const kerf_registry *registry,
                          const volatile sig_atomic_t *interrupted, FILE *file, kerf_error *error);

#endif
