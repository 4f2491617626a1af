/* Where time comes from. A clock is a value that is handed in, so that tests can script it. */
#ifndef KERF_HARNESS_CLOCK_H
#define KERF_HARNESS_CLOCK_H

#include <stdint.h>

typedef struct kerf_clock {
    uint64_t (*now_ns)(void *state);
    void *state;
    uint64_t resolution_ns; /* what two readings must differ by at least to be told apart, reading the clock included */
} kerf_clock;

/* Real time that never runs backwards, with its resolution measured. */
kerf_clock kerf_clock_monotonic(void);

/* The smallest step seen between consecutive readings; 0 if the clock stands still. */
uint64_t kerf_clock_resolution_ns(uint64_t (*now_ns)(void *state), void *state);

/* From `begin` to `end`; 0 where the clock stood still or ran backwards. */
static inline uint64_t kerf_clock_elapsed_ns(uint64_t begin, uint64_t end) {
    return end > begin ? end - begin : 0;
}

#endif
