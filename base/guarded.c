#include "base/guarded.h"

#include "base/checked.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

kerf_status kerf_guarded_ensure(kerf_guarded *buffer, size_t bytes, kerf_error *error) {
    const size_t page = page_bytes();
    size_t padded;
    if (!kerf_add_size(bytes, 128 + page - 1 + 2 * page, &padded))
        return kerf_fail(error, KERF_ERROR_MEMORY, "a buffer of %zu bytes exceeds the address space", bytes);
    const size_t usable_bytes = (padded - 2 * page) / page * page;
    if (buffer->usable && buffer->usable_bytes >= usable_bytes)
        return KERF_OK;
    kerf_guarded_unmap(buffer);
    unsigned char *const map =
        mmap(NULL, usable_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot map a buffer of %zu bytes: %s", usable_bytes,
                         strerror(errno));
    if (mprotect(map + page, usable_bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, usable_bytes + 2 * page);
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot open a buffer of %zu bytes: %s", usable_bytes,
                         strerror(errno));
    }
    *buffer = (kerf_guarded){.usable = map + page, .usable_bytes = usable_bytes};
    return KERF_OK;
}

void kerf_guarded_unmap(kerf_guarded *buffer) {
    if (buffer->usable)
        munmap(buffer->usable - page_bytes(), buffer->usable_bytes + 2 * page_bytes());
    *buffer = (kerf_guarded){0};
}

unsigned char *kerf_guarded_at(const kerf_guarded *buffer, size_t bytes, size_t alignment, kerf_place place) {
    switch (place) {
    case KERF_PLACE_RIGHT:
        return buffer->usable + ((buffer->usable_bytes - bytes) & ~(alignment - 1));
    case KERF_PLACE_LEFT:
        return buffer->usable;
    case KERF_PLACE_ALIGNED:
        break;
    }
    return buffer->usable + 64;
}

/* A protection that silently does not hold would let a wrong kernel pass. */
static void protect(const kerf_guarded *buffer, int protection) {
    if (mprotect(buffer->usable, buffer->usable_bytes, protection) != 0)
        abort();
}

void kerf_guarded_read_only(const kerf_guarded *buffer) {
    protect(buffer, PROT_READ);
}

void kerf_guarded_writable(const kerf_guarded *buffer) {
    protect(buffer, PROT_READ | PROT_WRITE);
}

void kerf_guarded_forget(const kerf_guarded *buffer) {
    madvise(buffer->usable, buffer->usable_bytes, MADV_DONTNEED);
}

size_t kerf_guarded_resident_pages(const unsigned char *begin, size_t bytes) {
    /* The kernel walks its page tables for this and skips what is empty; mincore would visit every page of a span of
     * many GiB. */
    FILE *const maps = fopen("/proc/self/smaps", "r");
    if (!maps)
        return 0;
    char line[512];
    bool inside = false;
    size_t resident_kib = 0;
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        size_t kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            inside = from < (uintptr_t)begin + bytes && (uintptr_t)begin < to;
        else if (inside && sscanf(line, "Rss: %zu kB", &kib) == 1)
            resident_kib += kib;
    }
    fclose(maps);
    return resident_kib * 1024 / page_bytes();
}
