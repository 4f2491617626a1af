#include "harness/record_tune.h"

const char *kerf_tune_phase_name(kerf_tune_phase phase) {
    static const char *const names[] = {"search", "final", "confirm"};
    return names[phase];
}

void kerf_record_print_tune(kerf_json *json, const kerf_recorded_tune *tune) {
    kerf_json_text(json, "phase", kerf_tune_phase_name(tune->phase));
    kerf_json_integer(json, "step", tune->step);
    kerf_json_integer(json, "configurations", tune->configurations);
    kerf_json_bool(json, "standard", tune->is_standard);
    if (tune->phase == KERF_TUNE_SEARCH)
        kerf_json_bool(json, "taken_over", tune->is_taken_over);
    else
        kerf_json_bool(json, "chosen", tune->is_chosen);
}
