#include "harness/verdict.h"

const char *kerf_verdict_name(kerf_verdict verdict) {
    static const char *const names[KERF_N_VERDICTS] = {"PASS",    "FAIL",        "NONDET", "CRASH",
                                                       "TIMEOUT", "IMPLAUSIBLE", "SKIP"};
    return (unsigned)verdict < KERF_N_VERDICTS ? names[verdict] : "unknown";
}
