#include "base/guarded.h"

#include "base/checked.h"
#include <errno.h>
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

void kerf_guarded_read_only(const kerf_guarded *buffer) {
    mprotect(buffer->usable, buffer->usable_bytes, PROT_READ);
}

void kerf_guarded_writable(const kerf_guarded *buffer) {
    mprotect(buffer->usable, buffer->usable_bytes, PROT_READ | PROT_WRITE);
}

void kerf_guarded_forget(const kerf_guarded *buffer) {
    madvise(buffer->usable, buffer->usable_bytes, MADV_DONTNEED);
}

size_t kerf_guarded_resident_pages(const unsigned char *begin, size_t bytes) {
    const size_t page = page_bytes();
    unsigned char resident[4096];
    const uintptr_t first = (uintptr_t)begin / page * page;
    const uintptr_t end = ((uintptr_t)begin + bytes + page - 1) / page * page;
    size_t count = 0;
    for (uintptr_t at = first; at < end;) {
        size_t n_pages = (end - at) / page;
        n_pages = n_pages < sizeof resident ? n_pages : sizeof resident;
        if (mincore((void *)at, n_pages * page, resident) == 0)
            for (size_t i = 0; i < n_pages; ++i)
                count += resident[i] & 1;
        at += n_pages * page;
    }
    return count;
}
