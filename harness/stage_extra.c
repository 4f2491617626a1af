#include "harness/stage_extra.h"

static bool asks_counters(const kerf_run *run) {
    return run->options->counters || run->options->verbose;
}

kerf_timing_wish kerf_stage_wish(kerf_run *run) {
    kerf_timing_wish wish = {.split = run->options->split};
    if (!asks_counters(run))
        return wish;
    char memory[200];
    kerf_text why = kerf_text_over(memory, sizeof memory);
    const kerf_counter_system system = kerf_counter_system_linux();
    kerf_counters *const counters = kerf_counters_open(&system, &why);
    wish.counters = counters != NULL;
    kerf_counters_close(counters);
    run->uncounted = wish.counters ? NULL : kerf_arena_copy_text(&run->sink.arena, memory);
    return wish;
}

const kerf_recorded_extra *kerf_stage_extra(kerf_run *run, const kerf_timing_cell *cell, int n_processes) {
    if (!run->options->split && !asks_counters(run))
        return NULL;
    kerf_recorded_extra *const extra = KERF_ARENA_NEW(&run->sink.arena, kerf_recorded_extra, 1);
    if (!extra)
        return NULL;
    *extra = (kerf_recorded_extra){
        .asked_split = run->options->split, .asked_counters = asks_counters(run), .uncounted = run->uncounted};
    if (cell->extra) {
        const kerf_timing_extra middle = kerf_timing_extra_middle(cell->extra, n_processes);
        extra->split = middle.split;
        extra->counters = middle.counters;
    }
    return extra;
}
