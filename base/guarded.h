/* Buffers between two inaccessible pages, so that an access outside ends in a fault at the culprit. */
#ifndef KERF_BASE_GUARDED_H
#define KERF_BASE_GUARDED_H

#include "base/status.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kerf_guarded {
    unsigned char *usable; /* first byte behind the lower guard */
    size_t usable_bytes;   /* whole pages */
} kerf_guarded;

typedef enum kerf_place {
    KERF_PLACE_RIGHT,   /* last byte before the upper guard, as near as the alignment allows */
    KERF_PLACE_LEFT,    /* first byte behind the lower guard */
    KERF_PLACE_ALIGNED, /* a multiple of 64, and no further aligned than that: 64 bytes behind the lower guard */
} kerf_place;

/* Maps at least `bytes` + 128 usable bytes, private to the process, readable and writable. Pages cost memory once they
 * are touched. The mapping is grown or kept by kerf_guarded_ensure, which loses the old content when it grows. */
kerf_status kerf_guarded_ensure(kerf_guarded *buffer, size_t bytes, kerf_error *error);
void kerf_guarded_unmap(kerf_guarded *buffer);

/* Where `bytes` of data begin under `place`; `alignment` is a power of two up to 64. */
unsigned char *kerf_guarded_at(const kerf_guarded *buffer, size_t bytes, size_t alignment, kerf_place place);

void kerf_guarded_read_only(const kerf_guarded *buffer);
void kerf_guarded_writable(const kerf_guarded *buffer);
void kerf_guarded_forget(const kerf_guarded *buffer); /* drops all pages: they read as zero and are not resident */
/* Number of resident pages of the mappings that [begin, begin + bytes) lies in; 0 where the system does not tell. */
size_t kerf_guarded_resident_pages(const unsigned char *begin, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
