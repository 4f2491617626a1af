/* Where a row runs: memory, copies, synchronisation. */
#ifndef KERF_HARNESS_DEVICE_H
#define KERF_HARNESS_DEVICE_H

#include "base/status.h"
#include "kernels/registry.h"

typedef struct kerf_device {
    kerf_device_kind kind;
    /* NULL if work can run here, else why not ("no CUDA device"). May initialise the library behind the device. */
    const char *(*unavailable)(void);
    /* Device memory of `bytes`; a host device has none of its own and these four are NULL. */
    kerf_status (*allocate)(size_t bytes, void **memory, kerf_error *error);
    void (*release)(void *memory);
    kerf_status (*copy_in)(void *device, const void *host, size_t bytes, kerf_error *error);
    kerf_status (*copy_out)(void *host, const void *device, size_t bytes, kerf_error *error);
    /* Waits until all work that was queued is done, and tells an error of that work. NULL on a host device. */
    kerf_status (*synchronise)(kerf_error *error);
} kerf_device;

const kerf_device *kerf_device_get(kerf_device_kind kind);
/* Why the row cannot run on this machine (missing object, ISA, device), or NULL. Never calls into the row's object. */
const char *kerf_row_unavailable(const kerf_row *row, uint64_t isa, kerf_text *memory);

#endif
