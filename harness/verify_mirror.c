#include "harness/verify_bench.h"

enum { ALIGNMENT = 64 };

static kerf_status ensure(const kerf_device *device, kerf_mirror *mirror, size_t bytes, kerf_error *error) {
    if (mirror->capacity_bytes >= bytes)
        return KERF_OK;
    if (mirror->memory)
        device->release(mirror->memory);
    *mirror = (kerf_mirror){0};
    KERF_TRY(device->allocate(bytes, &mirror->memory, error));
    mirror->capacity_bytes = bytes;
    return KERF_OK;
}

kerf_status kerf_mirror_upload(const kerf_device *device, kerf_mirror *mirror, const kerf_seat *seat,
                               kerf_error *error) {
    const size_t bytes = (size_t)(seat->last - seat->first);
    KERF_TRY(ensure(device, mirror, bytes + ALIGNMENT, error));
    /* As far from an aligned address as on the host: a kernel that wants more alignment than promised fails here too.
     */
    mirror->first = (unsigned char *)mirror->memory + (uintptr_t)seat->first % ALIGNMENT;
    return device->copy_in(mirror->first, seat->first, bytes, error);
}

kerf_status kerf_mirror_download(const kerf_device *device, const kerf_mirror *mirror, const kerf_seat *seat, void *to,
                                 kerf_error *error) {
    return device->copy_out(to, mirror->first, (size_t)(seat->last - seat->first), error);
}
