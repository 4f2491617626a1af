/* One half of the oracle: everything for one working type. The including file sets `real`, `wide` and HALF, the name of
 * what it defines. Sums and weights are formed in `wide`; coordinates in both. */
#include "reference/grid_sampling_axis.h"
#include "reference/grid_sampling_bounds.h"
#include "reference/grid_sampling_footprint.h"

#include "reference/grid_sampler_grad_dgrid.h"
#include "reference/grid_sampler_grad_dx.h"

static bool half_scratch_bytes(const kerf_sampling_call *call, size_t *bytes) {
    const int64_t nx = call->w < MAX_PIXELS ? call->w : MAX_PIXELS, ny = call->h < MAX_PIXELS ? call->h : MAX_PIXELS;
    const size_t pixels = (size_t)(nx * ny), for_dgrid = sizeof(dgrid_room) + pixels * sizeof(tap_sum);
    size_t for_dx = 0;
    if (call->out[KERF_GSG_DX].lo) {
        int64_t elements = 0;
        size_t sums = 0;
        if (!kerf_mul_i64(call->h, call->w, &elements) || !kerf_mul_i64(elements, call->block_planes, &elements) ||
            !kerf_mul_size((size_t)elements, sizeof(pixel_sum), &sums) ||
            !kerf_add_size(sums, sizeof(dx_room) + pixels * sizeof(footprint), &for_dx))
            return false;
    }
    const size_t line = 64, most = for_dx > for_dgrid ? for_dx : for_dgrid;
    if (!kerf_add_size(most, line - 1, bytes))
        return false;
    *bytes = *bytes / line * line;
    return true;
}

static void half_run(const kerf_sampling_call *call) {
    if (call->out[KERF_GSG_DX].lo)
        run_dx(call);
    if (call->out[KERF_GSG_DGRID].lo)
        run_dgrid(call);
}

const kerf_sampling_half HALF = {half_scratch_bytes, half_run, sizeof(pixel_sum)};
