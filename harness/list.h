/* `bench list`: what there is, what is missing here, and why. */
#ifndef KERF_HARNESS_LIST_H
#define KERF_HARNESS_LIST_H

#include "harness/options.h"
#include <stdio.h>

/* Without options->op: ops and rows. With it: which row takes which element type. */
kerf_status kerf_list(const kerf_options *options, const kerf_registry *registry, FILE *file, kerf_error *error);

#endif
