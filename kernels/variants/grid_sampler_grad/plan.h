/* How a problem is cut into units of work, and how much scratch that takes. Depends on the problem and the config only.
 */
#ifndef KERF_GRID_SAMPLER_GRAD_PLAN_H
#define KERF_GRID_SAMPLER_GRAD_PLAN_H

#include "base/checked.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/variants/grid_sampler_grad/taps.h"
#include "kernels/variants/grid_sampling/pack.h"

#define WHOLE       (KERF_LANES > 4 ? KERF_LANES : 4) /* channels that blocks are multiples of */
#define LINE        (64 / (int)sizeof(kerf_real))     /* channels in a cache line */
#define CACHE_BYTES ((int64_t)1 << 22)                /* of packed x and dx that a block may take at most */
#define PLANES      (4 * LINE)                        /* channels that are packed together, of many images */
#define MANY_IMAGES 4
#define MAX_SLOTS   64

/* Windows (window.h) are for images of more bytes a block and of so many channels; every row number below is a real. */
#define WINDOW_BYTES          (1 << 15)
#define WINDOW_BYTES_IN_PLACE (1 << 20)
#define FEW_CHANNELS          16
#define HALVED_BYTES          (1 << 18) /* of an image whose samples are shared by two ranks */
#define APART_PART            4         /* ... at most one row in so many is summed twice */
#define MOST_ROWS             (1 << 22)

/* Beyond both, packing is refused: see refuses(). */
#define MOST_SPARSE_BYTES ((size_t)1 << 30)
#define PIXELS_PER_SAMPLE 64

typedef struct grad_plan {
    const kerf_grid_sampler_modes *modes;
    const kerf_operand *grad, *x, *grid, *dx, *dgrid;
    unsigned want;
    int64_t n_images, n_channels, n_samples; /* samples of one image */
    int64_t block, n_blocks;
    int64_t n_slots; /* ranks that can work at once */
    bool x_in_place, dx_in_place, grad_in_place;
    bool parts;        /* dgrid is the sum of parts, one per block */
    bool halves;       /* one image, where it lies: two ranks can take half of the samples each, see halve() */
    int64_t n_spans;   /* strips of an image whose rows are found first; 0: all rows are at hand at all times */
    kerf_strided x_at; /* x without the axes along which it repeats itself */
    size_t apart_elements;
    size_t x_elements, dx_elements, grad_elements, slot_elements; /* of the scratch of one rank; SIZE_MAX: overflow */
} grad_plan;

static int64_t round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

static int64_t padded_width(int64_t n_channels) {
    return n_channels > KERF_LANES / 2 ? round_up(n_channels, WHOLE) : round_up(n_channels, 4);
}

static bool channels_in_place(const kerf_operand *operand) {
    return operand->at.strides[1] == 1 && operand->at.dims[1] % WHOLE == 0 &&
           kerf_dtype_bytes(operand->dtype) == sizeof(kerf_real);
}

/* Channels of a unit. Where nothing is packed all of them: the channels of a pixel follow each other in memory, narrow
 * blocks would leave most sets of the caches unused, and two ranks would pull neighbouring lines from each other.
 * Packed, as many as nearly stay in the cache, and fewer where there would be work for few ranks only. */
static int64_t choose_block(const grad_plan *plan, int64_t wanted) {
    const int64_t channels = padded_width(plan->n_channels);
    const bool packs = !plan->grad_in_place || !plan->x_in_place || !plan->dx_in_place;
    int64_t block = wanted > 0 ? round_up(wanted, WHOLE) : channels;
    if (wanted == 0 && packs) {
        const double n_pixels = (double)plan->x_at.dims[2] * (double)plan->x_at.dims[3] +
                                (double)plan->dx->at.dims[2] * (double)plan->dx->at.dims[3];
        block = plan->n_images >= MANY_IMAGES ? PLANES : PLANES / 2;
        while (block > LINE && (n_pixels * sizeof(kerf_real) * (double)block > (double)CACHE_BYTES ||
                                (plan->n_images == 1 && block >= channels)))
            block /= 2;
    }
    return block < channels ? block : channels > 0 ? channels : 1;
}

static size_t block_elements(int64_t rows, int64_t columns, int64_t width) {
    size_t n_pixels, elements;
    if (!kerf_mul_size((size_t)rows, (size_t)columns, &n_pixels) || !kerf_add_size(n_pixels, KERF_LANES, &n_pixels) ||
        !kerf_mul_size(n_pixels, (size_t)width, &elements) || elements > SIZE_MAX / 64)
        return SIZE_MAX / 64; /* the sum of three does not overflow; no machine has it */
    return (elements + LINE - 1) / LINE * LINE;
}

/* Finding the rows costs about as much as a few channels do. */
static bool worth_windows(const grad_plan *plan) {
    const double height = (double)plan->dx->at.dims[2], n_pixels = height * (double)plan->dx->at.dims[3];
    const bool in_place = plan->x_in_place && plan->dx_in_place;
    return plan->n_channels >= FEW_CHANNELS && height < MOST_ROWS &&
           n_pixels * (double)plan->block * sizeof(kerf_real) >=
               (in_place && !plan->halves ? WINDOW_BYTES_IN_PLACE : WINDOW_BYTES);
}

static grad_plan plan_of(const kerf_problem *problem, const kerf_config *config) {
    grad_plan plan = {.modes = problem->self, .want = (unsigned)problem->want};
    plan.grad = problem->in[KERF_GSG_GRAD];
    plan.x = problem->in[KERF_GSG_X];
    plan.grid = problem->in[KERF_GSG_GRID];
    plan.dx = problem->out[KERF_GSG_DX];
    plan.dgrid = problem->out[KERF_GSG_DGRID];
    plan.n_images = plan.x->at.dims[0];
    plan.n_channels = plan.x->at.dims[1];
    plan.n_samples = plan.grid->at.dims[1] * plan.grid->at.dims[2];
    plan.x_at = kerf_strided_unique(&plan.x->at);
    const bool dgrid_from_x = plan.want & WANT_DGRID && plan.modes->interpolation != KERF_NEAREST;
    if (!dgrid_from_x)
        plan.want &= WANT_DX;
    const bool may_stay = kerf_config_get(config, "packing", 0) == 0;
    plan.x_in_place = may_stay && channels_in_place(plan.x);
    plan.dx_in_place = may_stay && channels_in_place(plan.dx);
    plan.grad_in_place = may_stay && channels_in_place(plan.grad);
    plan.block = choose_block(&plan, kerf_config_get(config, "channel_block", 0));
    plan.n_blocks = (plan.n_channels + plan.block - 1) / plan.block;
    /* Ranks that add to neighbouring lines of one pixel would take them from each other at every sample. */
    plan.dx_in_place = plan.dx_in_place && plan.n_blocks <= 1;
    plan.parts = dgrid_from_x && plan.n_blocks > 1;
    const int64_t width = plan.block < plan.n_channels ? plan.block : padded_width(plan.n_channels);
    if (dgrid_from_x && !plan.x_in_place)
        plan.x_elements = block_elements(plan.x_at.dims[2], plan.x_at.dims[3], width);
    if (plan.want & WANT_DX && !plan.dx_in_place)
        plan.dx_elements = block_elements(plan.dx->at.dims[2], plan.dx->at.dims[3], width);
    const int64_t chunk = plan.n_samples < CHUNK ? plan.n_samples : CHUNK;
    plan.grad_elements = plan.grad_in_place ? 0 : block_elements(1, chunk, width);
    plan.slot_elements = plan.x_elements + plan.dx_elements + plan.grad_elements + block_elements(1, 4, width);
    plan.halves = plan.n_images == 1 && plan.n_blocks == 1 && plan.dx->at.dims[2] >= APART_PART && plan.x_in_place &&
                  plan.dx_in_place && plan.grad_in_place &&
                  (double)plan.x_at.dims[2] * (double)plan.x_at.dims[3] * (double)plan.n_channels * sizeof(kerf_real) >=
                      HALVED_BYTES;
    if (plan.halves)
        plan.apart_elements = block_elements(plan.dx->at.dims[2] / APART_PART, plan.dx->at.dims[3], width);
    if (kerf_config_get(config, "rows", 0) == 0 && worth_windows(&plan))
        plan.n_spans = (plan.n_samples + STRIP - 1) / STRIP;
    const int64_t n_units = plan.halves ? 2 : plan.n_images * plan.n_blocks;
    plan.n_slots = n_units < MAX_SLOTS ? n_units : MAX_SLOTS;
    return plan;
}

static size_t parts_elements(const grad_plan *plan) {
    size_t elements;
    if (!plan->parts)
        return 0;
    if (!kerf_mul_size((size_t)(plan->n_images * plan->n_blocks), 2, &elements) ||
        !kerf_mul_size(elements, (size_t)plan->n_samples, &elements))
        return SIZE_MAX;
    return elements;
}

static size_t scratch_bytes(const grad_plan *plan) {
    size_t elements, bytes, span_bytes;
    if (!kerf_mul_size(plan->slot_elements, (size_t)plan->n_slots, &elements) ||
        !kerf_add_size(elements, parts_elements(plan), &elements) ||
        !kerf_add_size(elements, plan->apart_elements, &elements) ||
        !kerf_mul_size(elements, sizeof(kerf_real), &bytes) ||
        !kerf_mul_size((size_t)(plan->n_images * plan->n_spans), sizeof(row_span), &span_bytes) ||
        !kerf_add_size(bytes, span_bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}

#endif
