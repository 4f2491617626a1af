/* In which state the caches are when a timed call begins. */
#ifndef KERF_HARNESS_CACHE_H
#define KERF_HARNESS_CACHE_H

#include <stddef.h>

typedef enum kerf_cache_mode {
    KERF_HOT, /* the same buffers again and again */
    KERF_COLD /* everything that the call touches lies in memory only */
} kerf_cache_mode;
const char *kerf_cache_mode_name(kerf_cache_mode mode);

/* Writes back and drops every cache line of [begin, begin + bytes) from all levels, on all processors. Call
 * kerf_cache_evicted after the last range: it returns when all of them are done. */
void kerf_cache_evict(const void *begin, size_t bytes);
void kerf_cache_evicted(void);

/* NULL, or why this build cannot empty the caches. */
const char *kerf_cache_cannot_evict(void);

#endif
