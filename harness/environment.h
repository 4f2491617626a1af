/* What disturbs or explains a measurement on this machine. */
#ifndef KERF_HARNESS_ENVIRONMENT_H
#define KERF_HARNESS_ENVIRONMENT_H

#include "base/arena.h"
#include "harness/record.h"

/* Reads the system once. Texts come from the arena; NULL when it is full. */
const kerf_environment *kerf_environment_read(kerf_arena *arena, uint64_t isa);

#endif
