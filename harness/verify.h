/* Holds rows against the oracle. Every row runs in a child process of its own, which works through the cases; a case
 * that crashes, hangs or eats the memory costs that case only. What is checked is in docs/verification.md. */
#ifndef KERF_HARNESS_VERIFY_H
#define KERF_HARNESS_VERIFY_H

#include "harness/verdict.h"
#include "kernels/registry.h"
#include <signal.h>

typedef struct kerf_verifier kerf_verifier;

typedef struct kerf_verify_options {
    int threads;      /* ranks of the largest team; teams of 1..threads are tried */
    double timeout_s; /* of one row on one case */
    uint64_t isa;     /* instruction sets that rows may use, kerf_cpu_isa() */
} kerf_verify_options;

/* Call while the process has one thread. The rows of `registry` must outlive the verifier. */
kerf_status kerf_verifier_open(const kerf_verify_options *options, kerf_verifier **verifier, kerf_error *error);
void kerf_verifier_close(kerf_verifier *verifier);

/* Bytes that the case takes at its peak, oracle, inputs and one row's buffers included: what is refused when it does
 * not fit. */
kerf_status kerf_verify_peak_bytes(const kerf_op_entry *entry, const kerf_case *c, size_t *bytes, kerf_error *error);

/* KERF_ERROR_MEMORY with both sizes if that is more than is free now. */
kerf_status kerf_verify_check_memory(const kerf_op_entry *entry, const kerf_case *c, kerf_error *error);

/* Runs the oracle once and each of the n rows on the case; findings[i] belongs to rows[i]. KERF_ERROR_MEMORY before any
 * allocation if the case does not fit, with both sizes. KERF_ERROR_USAGE if describe refuses the case.
 * KERF_ERROR_INTERRUPTED when *interrupted became non-zero. */
kerf_status kerf_verify_case(kerf_verifier *verifier, const kerf_op_entry *entry, const kerf_case *c,
                             const kerf_row *const rows[], int n, kerf_finding findings[],
                             const volatile sig_atomic_t *interrupted, kerf_error *error);

/* The same where rows[i] has the config configs[i]; NULL is the defaults. A row may come several times. */
kerf_status kerf_verify_configs(kerf_verifier *verifier, const kerf_op_entry *entry, const kerf_case *c,
                                const kerf_row *const rows[], const kerf_config *const configs[], int n,
                                kerf_finding findings[], const volatile sig_atomic_t *interrupted, kerf_error *error);

/* The least work of the case that was verified last; all zero if its op does not tell. */
kerf_work kerf_verifier_work(const kerf_verifier *verifier);

/* Trust belongs to the set of cases verified so far: an output in a mode is trusted once some case would catch the
 * result "all zero", every constant and every copy of an input of that shape (all zero may pass where the output is
 * always zero). Calls `tell` for each output and mode that was wanted and is not trusted; returns their number. */
int kerf_verifier_untrusted(const kerf_verifier *verifier,
                            void (*tell)(void *arg, const char *mode, const char *output), void *arg);

#endif
