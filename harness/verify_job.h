/* What the verifier's parent and its children share. The job lies in the verifier's arena, which children see
 * read-only; each child answers in its own slot. */
#ifndef KERF_HARNESS_VERIFY_JOB_H
#define KERF_HARNESS_VERIFY_JOB_H

#include "harness/isolate.h"
#include "harness/place.h"
#include "harness/verify.h"

/* One case as all rows get it. */
typedef struct kerf_job {
    const kerf_op_entry *entry;
    kerf_case c;
    kerf_problem problem;
    kerf_extent in_extent[KERF_MAX_OPERANDS], out_extent[KERF_MAX_OPERANDS];
    void *in[KERF_MAX_OPERANDS]; /* address of element (0,...,0) */
    kerf_expect expect[KERF_MAX_OPERANDS];
    int threads;
} kerf_job;

/* Memory that a row was given, so that an invalid access can be told in its terms. */
typedef struct kerf_window {
    const char *name;
    enum { KERF_WINDOW_IN, KERF_WINDOW_OUT, KERF_WINDOW_SCRATCH } kind;
    int output; /* its index, or -1 */
    uintptr_t begin, end;
} kerf_window;

enum { KERF_MAX_WINDOWS = 2 * KERF_MAX_OPERANDS + 2 };

typedef struct kerf_slot {
    const kerf_job *job;
    const kerf_config *config; /* beside the job; NULL: the defaults */
    kerf_fault fault;
    kerf_finding finding; /* place and threads are set before each pass: they stand even if it crashes */
    size_t need_bytes;    /* private memory that the row's buffers take */
    bool is_alone;        /* order: no other row runs meanwhile */
    bool is_deferred;     /* answer: needs much memory, so order it again alone; there is no finding yet */
    int n_windows;
    kerf_window window[KERF_MAX_WINDOWS];
} kerf_slot;

/* What takes more than this runs alone: memory that is free now must not be promised to two. */
#define KERF_SMALL_BYTES ((size_t)64 << 20)

/* Buffers and teams of a child, kept from case to case; made on first use. */
typedef struct kerf_bench kerf_bench;

/* In the child: holds the row against the job in the slot and leaves the finding there. */
void kerf_bench_judge(kerf_bench **bench, const kerf_row *row, kerf_slot *slot);

/* In the parent: turns the end of a child into the finding of what it was working on. */
void kerf_slot_tell_crash(kerf_slot *slot, int signal, const char *how);
void kerf_slot_tell_timeout(kerf_slot *slot, double timeout_s);
void kerf_slot_tell_memory(kerf_slot *slot, size_t resident_bytes, size_t allowed_bytes);

kerf_finding kerf_finding_skip(const char *reason);
/* "12.3 GiB" */
void kerf_print_bytes(kerf_text *text, double bytes);

#endif
