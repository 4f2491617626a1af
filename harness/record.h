/* Records: all that a run says, one value per line of its file. Reports are made from these alone. docs/record.md
 * describes the JSON form field by field. Texts belong to the arena of the run. */
#ifndef KERF_HARNESS_RECORD_H
#define KERF_HARNESS_RECORD_H

#include "base/json.h"
#include "base/status.h"
#include "harness/record_extra.h"
#include "harness/record_tune.h"
#include "harness/verdict.h"
#include <stdint.h>

#define KERF_RECORD_SCHEMA     1
#define KERF_RECORD_LINE_BYTES ((size_t)1 << 24) /* longest line, written or read */

typedef enum kerf_record_kind {
    KERF_RECORD_RUN,    /* first line: where, when, with what */
    KERF_RECORD_VERIFY, /* one row on one case */
    KERF_RECORD_TIME,   /* one row on one case in one cache mode */
    KERF_RECORD_TUNE,   /* one configuration of a row on one case in one cache mode */
    KERF_RECORD_TRUST,  /* an output in a mode that no case of the set pins down */
    KERF_RECORD_END     /* last line: how the run ended */
} kerf_record_kind;

/* KERF_RECORD_RUN. Texts are "unknown" where the system does not tell. */
typedef struct kerf_environment {
    const char *cpu, *isa, *caches, *governor, *kernel, *compiler, *flags, *build_id;
    const char *virtual_machine; /* "yes", "no" */
    const char *flush_to_zero;   /* "on", "off" */
    int processors;              /* that this process may run on */
    double load_1min;
    uint64_t memory_available_bytes;
} kerf_environment;

typedef struct kerf_estimate {
    double middle, low, high;
} kerf_estimate;

typedef struct kerf_recorded_sample {
    uint64_t total_ns;
    uint32_t batch;
    uint16_t process, round;
} kerf_recorded_sample;

/* What a process found the timed loop itself to take. */
typedef struct kerf_recorded_overhead {
    double sample_ns; /* of a sample of one call that does nothing */
    double call_ns;   /* of each further call in a batch */
} kerf_recorded_overhead;

typedef struct kerf_record {
    kerf_record_kind kind;
    const char *line;                    /* as it was read from a file, without newline; NULL for what this run says */
    const char *command;                 /* RUN: the arguments as they came */
    const char *utc;                     /* RUN: start, ISO 8601 */
    const char *version;                 /* RUN: of Kerf */
    const kerf_environment *environment; /* RUN */
    int threads;                         /* RUN, VERIFY (ranks of the largest team), TIME */
    uint64_t seed;                       /* RUN: of the order of rows */

    const char *op, *set, *case_text; /* VERIFY, TIME */
    uint64_t case_hash;
    const char *row;      /* "vectorized.avx2@cpu" */
    const char *mode;     /* "verify", "hot", "cold"; TRUST: the attributes */
    const char *config;   /* "threads=2" */
    const char *output;   /* VERIFY, TIME: name of the output of the finding, or NULL; TRUST: the output */
    const char *repeat;   /* VERIFY, TIME: the command that repeats it; NULL on PASS and SKIP */
    kerf_finding finding; /* VERIFY; TIME: verdict, ratio and reason of the case that was timed */

    kerf_estimate time_ns;     /* TIME: of one call; low and high are the interval */
    double covered;            /* TIME: confidence of the interval */
    kerf_estimate speed_ratio; /* TIME: time of naive / time of this row, paired by process; middle 0: no naive row */
    bool speed_unresolved;     /* TIME: the two times differ by less than the clock can tell */
    double resolution_ns;      /* TIME: what two such times must differ by to be told apart */
    const char *stop;          /* TIME: why each process stopped, "narrow,time,..." */
    double flops, read_bytes, written_bytes; /* TIME: least work of the case; all 0: not known */
    double limit_ns;                         /* TIME: no call can be faster; 0: not known */
    const char *limit_by;                    /* "read", "write", "copy", "flops" */
    size_t limit_bytes;                      /* working set whose rate was used; 0 for flops */
    bool limit_again;                        /* measured again in the same rounds as the row */
    kerf_estimate share;                     /* limit / time */
    const kerf_recorded_sample *sample;
    int n_samples;
    const kerf_recorded_overhead *overhead; /* TIME: one per process, to be subtracted from samples */
    int n_overheads;
    const kerf_recorded_extra *extra; /* TIME: split and counters, or NULL */

    const kerf_recorded_tune *tune;  /* TUNE, which has what VERIFY and TIME have up to `covered`, and samples, too */
    kerf_estimate ratio_to_standard; /* TUNE: time of the default configuration / time of this one, paired by process;
                                        middle 0: not known */

    int exit_code;                         /* END */
    double seconds;                        /* END: wall time of the run */
    int64_t n_passed, n_failed, n_skipped; /* END: of VERIFY */
} kerf_record;

/* One JSON object on one line, with the newline; a record that was read keeps the fields that this program does not
 * know. text->cut is set if it did not fit. */
void kerf_record_print_json(const kerf_record *record, kerf_text *text);

/* Records of a run, in order. */
typedef struct kerf_records {
    const kerf_record *const *at;
    int n;
} kerf_records;

#endif
