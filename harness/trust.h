/* Whether the cases seen so far could tell a right result from a lazy one: all zero, all the same, or a copy of an
 * input. */
#ifndef KERF_HARNESS_TRUST_H
#define KERF_HARNESS_TRUST_H

#include "kernels/registry.h"

typedef struct kerf_trust_entry kerf_trust_entry;

typedef struct kerf_trust {
    kerf_trust_entry *entry;
    int n, capacity;
} kerf_trust;

/* Counts one case with what its oracle expects; `mode` names the attributes in less than 240 bytes. */
kerf_status kerf_trust_note(kerf_trust *trust, const char *mode, const kerf_problem *problem, const void *const in[],
                            const kerf_expect expect[], kerf_error *error);
/* Calls tell (unless NULL) for each mode and output that is not trusted; returns their number. */
int kerf_trust_missing(const kerf_trust *trust, void (*tell)(void *arg, const char *mode, const char *output),
                       void *arg);
void kerf_trust_free(kerf_trust *trust);

#endif
