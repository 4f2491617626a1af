/* What the verifier says of one row on one case. */
#ifndef KERF_HARNESS_VERDICT_H
#define KERF_HARNESS_VERDICT_H

#include "base/strided.h"
#include <stdint.h>

typedef enum kerf_verdict {
    KERF_PASS,
    KERF_FAIL,   /* a wrong result: value, class, unwritten, gap, input written */
    KERF_NONDET, /* other bits on a second run or with another number of threads, without the trait UNORDERED */
    KERF_CRASH,  /* signal, exit, or the memory limit */
    KERF_TIMEOUT,
    KERF_IMPLAUSIBLE, /* faster than the machine allows */
    KERF_SKIP,        /* refused, missing or without a device: `reason` says why */
    KERF_N_VERDICTS
} kerf_verdict;

const char *kerf_verdict_name(kerf_verdict verdict);

typedef struct kerf_finding {
    kerf_verdict verdict;
    const char *check; /* what found it: "value", "class", "unwritten", "gap", "input", "guard", ... ; "" on PASS */
    double ratio;      /* largest error / slack over all outputs and passes; 0 where all was exact */
    double spread;     /* UNORDERED rows: largest difference between two runs / slack; else 0 */
    int output;        /* index of the output with the worst element, -1 if none */
    int rank;          /* of that output */
    int64_t index[KERF_MAX_RANK]; /* worst element; the next four belong to it */
    double got, lo, hi, slack;
    int64_t n_bad, n_elements; /* of that output, in the pass that failed */
    int threads;               /* in that pass */
    const char *place;         /* "right", "left" or "aligned": where the buffers stood in that pass */
    char reason[200];          /* SKIP, CRASH, TIMEOUT: in words, with the numbers */
} kerf_finding;

#endif
