/* Where a row runs: memory, copies, synchronisation. Devices are initialised when they are first asked for something.
 */
#ifndef KERF_HARNESS_DEVICE_H
#define KERF_HARNESS_DEVICE_H

#include "base/status.h"
#include "kernels/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kerf_device {
    kerf_device_kind kind;
    /* NULL if work can run here, else why not ("no CUDA device: ..."). The process stays fit to be forked: CUDA, which
     * does not survive a fork, is tried in a child, once. */
    const char *(*unavailable)(void);
    /* Device memory of `bytes`; a host device has none of its own and these four are NULL. */
    kerf_status (*allocate)(size_t bytes, void **memory, kerf_error *error);
    void (*release)(void *memory);
    kerf_status (*copy_in)(void *device, const void *host, size_t bytes, kerf_error *error);
    kerf_status (*copy_out)(void *host, const void *device, size_t bytes, kerf_error *error);
    /* Waits until all work that was queued is done, and tells an error of that work. NULL where there is
     * nothing to wait for and nothing to tell. */
    kerf_status (*synchronise)(kerf_error *error);
} kerf_device;

extern const kerf_device kerf_device_cuda; /* only in builds with nvcc; ask kerf_device_get */

const kerf_device *kerf_device_get(kerf_device_kind kind);
/* Why the row cannot run on this machine (missing object, ISA, device), or NULL. Never calls into the row's object. */
const char *kerf_row_unavailable(const kerf_row *row, uint64_t isa, kerf_text *memory);

#ifdef __cplusplus
}
#endif

#endif
