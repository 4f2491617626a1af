/* What a tune record says besides what all records of rows say. */
#ifndef KERF_HARNESS_RECORD_TUNE_H
#define KERF_HARNESS_RECORD_TUNE_H

#include "base/json.h"

typedef enum kerf_tune_phase {
    KERF_TUNE_SEARCH, /* one configuration, once */
    KERF_TUNE_FINAL,  /* one of the fastest, head to head with the default */
    KERF_TUNE_CONFIRM /* the fastest of these alone with the default */
} kerf_tune_phase;
const char *kerf_tune_phase_name(kerf_tune_phase phase);

typedef struct kerf_recorded_tune {
    kerf_tune_phase phase;
    int64_t step;           /* of the search, from 1 on */
    int64_t configurations; /* of the space on this case */
    bool is_standard;       /* the default configuration of the case */
    bool is_taken_over;     /* SEARCH: measured by an earlier run */
    bool is_chosen;         /* FINAL, CONFIRM: the result, in the last phase that there is */
} kerf_recorded_tune;

void kerf_record_print_tune(kerf_json *json, const kerf_recorded_tune *tune);

#endif
