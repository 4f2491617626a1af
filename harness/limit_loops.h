/* The loops that the limits of this processor are measured with: the widest instruction set it has. */
#ifndef KERF_HARNESS_LIMIT_LOOPS_H
#define KERF_HARNESS_LIMIT_LOOPS_H

#include "harness/limits.h"
#include "kernels/kernel.h"

typedef struct kerf_limit_loops kerf_limit_loops;

/* Threads for each of the teams and memory for working sets of up to `most_bytes`, touched and filled. */
kerf_status kerf_limit_loops_open(uint64_t isa, const int threads[], int n_teams, size_t most_bytes,
                                  kerf_limit_loops **loops, kerf_error *error);
/* The same on a team that is there (NULL: one thread) and must outlive the loops. */
kerf_status kerf_limit_loops_open_on(uint64_t isa, const kerf_team *team, size_t most_bytes, kerf_limit_loops **loops,
                                     kerf_error *error);
/* Drops the memory that a call over `bytes` touches from all caches. */
void kerf_limit_loops_evict(const kerf_limit_loops *loops, size_t bytes);
/* `bytes` beyond the memory there is are cut; `threads` is one of the teams. */
kerf_limit_device kerf_limit_loops_device(kerf_limit_loops *loops);
void kerf_limit_loops_close(kerf_limit_loops *loops);

#endif
