#include "harness/record_extra.h"

const char *kerf_counter_name(kerf_counter counter) {
    static const char *const names[KERF_N_COUNTERS] = {
        [KERF_COUNTER_CYCLES] = "cycles",
        [KERF_COUNTER_INSTRUCTIONS] = "instructions",
        [KERF_COUNTER_L1D_MISSES] = "l1d_misses",
        [KERF_COUNTER_LLC_MISSES] = "llc_misses",
        [KERF_COUNTER_BRANCH_MISSES] = "branch_misses",
    };
    return names[counter];
}

static void print_split(kerf_json *json, const kerf_recorded_split *split) {
    kerf_json_object(json, "split");
    kerf_json_integer(json, "calls", split->n_calls);
    if (split->n_calls > 0) {
        kerf_json_real(json, "call", split->call_ns);
        kerf_json_real(json, "pack", split->pack_ns);
        kerf_json_real(json, "compute", split->compute_ns);
        kerf_json_real(json, "unpack", split->unpack_ns);
    }
    kerf_json_end_object(json);
}

static void print_counters(kerf_json *json, const kerf_recorded_counters *counters, const char *uncounted) {
    kerf_json_object(json, "counters");
    if (uncounted) {
        kerf_json_text(json, "reason", uncounted);
    } else {
        kerf_json_integer(json, "calls", counters->n_calls);
        for (int i = 0; i < KERF_N_COUNTERS && counters->n_calls > 0; ++i)
            kerf_json_real(json, kerf_counter_name((kerf_counter)i), counters->value[i]);
        if (counters->n_calls > 0)
            kerf_json_real(json, "cycles_per_ns", counters->cycles_per_ns);
    }
    kerf_json_end_object(json);
}

void kerf_record_print_extra(kerf_json *json, const kerf_recorded_extra *extra) {
    if (extra->asked_split)
        print_split(json, &extra->split);
    if (extra->asked_counters)
        print_counters(json, &extra->counters, extra->uncounted);
}
