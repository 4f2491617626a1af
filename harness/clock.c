#include "harness/clock.h"

#include <time.h>

static uint64_t monotonic_ns(void *state) {
    (void)state;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

kerf_clock kerf_clock_monotonic(void) {
    return (kerf_clock){.now_ns = monotonic_ns, .resolution_ns = kerf_clock_resolution_ns(monotonic_ns, 0)};
}

uint64_t kerf_clock_resolution_ns(uint64_t (*now_ns)(void *state), void *state) {
    const int readings = 10000, steps_wanted = 100;
    uint64_t smallest = 0, last = now_ns(state);
    for (int i = 0, steps = 0; i < readings && steps < steps_wanted; ++i) {
        const uint64_t now = now_ns(state), step = kerf_clock_elapsed_ns(last, now);
        last = now;
        if (step == 0)
            continue;
        ++steps;
        if (smallest == 0 || step < smallest)
            smallest = step;
    }
    return smallest;
}
