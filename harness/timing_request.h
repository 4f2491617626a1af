/* The request of a timing worker, read and looked up. timing_protocol.h describes the lines. */
#ifndef KERF_HARNESS_TIMING_REQUEST_H
#define KERF_HARNESS_TIMING_REQUEST_H

#include "harness/timing.h"

#include <stdio.h>

typedef struct kerf_requested_cell {
    int id;
    kerf_cache_mode mode;
    const kerf_row *row;
    int threads;               /* 0: those of the request */
    const kerf_config *config; /* NULL: the defaults */
    const char *with;          /* both as they were written, "" where they were not */
    struct kerf_requested_cell *next;
} kerf_requested_cell;

/* A loop over this working set; KIND as kerf_limit_kind_name has it. */
typedef struct kerf_requested_limit {
    int id;
    kerf_cache_mode mode;
    kerf_limit_kind kind;
    size_t bytes;
    struct kerf_requested_limit *next;
} kerf_requested_limit;

/* Which calls on a case are held against the oracle in this process. */
typedef enum kerf_timing_check_kind {
    KERF_TIMING_CHECK_NAN = 1,     /* a drawn one, and one on outputs that hold NaN */
    KERF_TIMING_CHECK_NUMBERS = 2, /* a drawn one, and one on outputs that hold numbers */
    KERF_TIMING_CHECK_LAST = 4     /* the last one, all rows making theirs on the same inputs */
} kerf_timing_check_kind;

typedef struct kerf_requested_case {
    kerf_case c;
    unsigned checks; /* kerf_timing_check_kind, joined */
    const kerf_op_entry *entry;
    kerf_requested_cell *first, *last;
    kerf_requested_limit *first_limit;
    struct kerf_requested_case *next;
} kerf_requested_case;

typedef struct kerf_timing_request {
    int threads, process;
    uint64_t seed, budget_ns;
    const char *turn_path; /* NULL: nobody looks */
    kerf_timing_wish wish;
    kerf_requested_case *first, *last;
} kerf_timing_request;

/* Everything lives in the arena. KERF_ERROR_USAGE: a line that is not understood, with its number. */
kerf_status kerf_timing_request_read(FILE *file, const kerf_registry *registry, kerf_arena *arena,
                                     kerf_timing_request *request, kerf_error *error);

#endif
