#include "base/arena.h"

#include "base/checked.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

kerf_status kerf_arena_map_shared(kerf_arena *arena, size_t bytes, kerf_error *error) {
    void *const base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot reserve %zu bytes of address space: %s", bytes,
                         strerror(errno));
    *arena = (kerf_arena){.base = base, .size = bytes};
    return KERF_OK;
}

kerf_status kerf_arena_map_most(kerf_arena *arena, size_t most, size_t least, kerf_error *error) {
    for (size_t bytes = most; bytes > least; bytes /= 2)
        if (kerf_arena_map_shared(arena, bytes, NULL) == KERF_OK)
            return KERF_OK;
    return kerf_arena_map_shared(arena, least, error);
}

void kerf_arena_unmap(kerf_arena *arena) {
    if (arena->base)
        munmap(arena->base, arena->size);
    *arena = (kerf_arena){0};
}

void *kerf_arena_alloc(kerf_arena *arena, size_t bytes, size_t alignment) {
    size_t begin, end;
    if (!kerf_add_size(arena->used, alignment - 1, &begin))
        return NULL;
    begin &= ~(alignment - 1);
    if (!kerf_add_size(begin, bytes, &end) || end > arena->size)
        return NULL;
    arena->used = end;
    return arena->base + begin;
}

char *kerf_arena_copy_text(kerf_arena *arena, const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *const copy = kerf_arena_alloc(arena, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void kerf_arena_rewind(kerf_arena *arena, size_t used) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first_page = (used + page - 1) / page * page;
    const size_t zeroed_by_hand = arena->used < first_page ? arena->used : first_page;
    memset(arena->base + used, 0, zeroed_by_hand - used);
    /* Returning pages is a system call and a fault for each page later: small remainders are cheaper to clear. */
    const size_t worth_returning_bytes = (size_t)1 << 20;
    if (arena->used > first_page) {
        const size_t rest = arena->used - first_page;
        if (rest < worth_returning_bytes || madvise(arena->base + first_page, rest, MADV_REMOVE) != 0)
            memset(arena->base + first_page, 0, rest);
    }
    arena->used = used;
}
