/* A bump arena: memory that is given out piece by piece and taken back all at once. */
#ifndef KERF_BASE_ARENA_H
#define KERF_BASE_ARENA_H

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kerf_arena {
    unsigned char *base;
    size_t size, used;
} kerf_arena;

/* Reserves `bytes` of address space in a shared mapping: pages cost memory once they are touched, and children that
 * are forked later see what the parent writes. kerf_arena_unmap gives all of it back. */
kerf_status kerf_arena_map_shared(kerf_arena *arena, size_t bytes, kerf_error *error);
/* The same with as much of `most` as the system allows, halving down to `least`. */
kerf_status kerf_arena_map_most(kerf_arena *arena, size_t most, size_t least, kerf_error *error);
void kerf_arena_unmap(kerf_arena *arena);

/* Memory of `bytes` at `alignment` (a power of two), zeroed where the arena was mapped or reset by the functions here;
 * NULL when the arena is full. */
void *kerf_arena_alloc(kerf_arena *arena, size_t bytes, size_t alignment);
char *kerf_arena_copy_text(kerf_arena *arena, const char *text);

/* Forgets everything from `used` on and returns its whole pages to the system. */
void kerf_arena_rewind(kerf_arena *arena, size_t used);

#define KERF_ARENA_NEW(arena, type, n) ((type *)kerf_arena_alloc((arena), sizeof(type) * (size_t)(n), _Alignof(type)))

#ifdef __cplusplus
}
#endif

#endif
