#include "harness/machine_limits.h"

#include <stdio.h>

void kerf_machine_limits_kept(kerf_kept_limits *kept, bool *found) {
    const kerf_machine machine = kerf_machine_here();
    char path[512];
    kerf_text text = kerf_text_over(path, sizeof path);
    kerf_error problem;
    *found = false;
    if (kerf_limits_path(&machine, &text) && kerf_limits_read(path, &machine, found, kept, &problem) != KERF_OK)
        fprintf(stderr, "bench: warning: %s; it is ignored\n", problem.message);
}
