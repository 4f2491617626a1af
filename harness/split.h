/* Measures how calls of a row divide into packing, computing and unpacking (kernels/split.h), in calls of its own. */
#ifndef KERF_HARNESS_SPLIT_H
#define KERF_HARNESS_SPLIT_H

#include "harness/clock.h"
#include "harness/record_extra.h"
#include "kernels/split.h"

typedef struct kerf_split_subject {
    const kerf_launch *launch;
    kerf_status (*run)(const kerf_launch *);
    void (*prepare)(void *arg); /* untimed, before each call; may be NULL */
    void *arg;
} kerf_split_subject;

/* At least 3 calls, at most 15, and no new one after 20 ms. Of each call the rank counts that was longest in its
 * phases; result->n_calls is 0 where no rank said any. Fails as the call does, or for want of memory. */
kerf_status kerf_split_measure(const kerf_split_subject *subject, const kerf_clock *clock, kerf_recorded_split *result);

#endif
