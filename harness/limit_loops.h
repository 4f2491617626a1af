/* The loops that the limits of this processor are measured with: the widest instruction set it has. */
#ifndef KERF_HARNESS_LIMIT_LOOPS_H
#define KERF_HARNESS_LIMIT_LOOPS_H

#include "harness/limits.h"

typedef struct kerf_limit_loops kerf_limit_loops;

/* Threads for each of the teams and memory for working sets of up to `most_bytes`, touched and filled. */
kerf_status kerf_limit_loops_open(uint64_t isa, const int threads[], int n_teams, size_t most_bytes,
                                  kerf_limit_loops **loops, kerf_error *error);
/* `bytes` beyond the memory there is are cut; `threads` is one of the teams. */
kerf_limit_device kerf_limit_loops_device(kerf_limit_loops *loops);
void kerf_limit_loops_close(kerf_limit_loops *loops);

#endif
