/* A piece of a row as one strided copy per remainder of its block. */
#ifndef KERF_VARIANTS_SPACE_BATCH_COPIES_H
#define KERF_VARIANTS_SPACE_BATCH_COPIES_H

#include "kernels/variants/space_batch/plan.h"
#include "kernels/variants/space_batch/units.h"

static inline void copy_piece(const move_plan *plan, const kerf_launch *launch, const move_piece *piece) {
    const move_axis *const row = &plan->row;
    const bool to_batch = plan->self->way == KERF_SPACE_TO_BATCH;
    const size_t bytes = kerf_dtype_bytes(launch->problem->in[0]->dtype), unit = (size_t)plan->unit;
    char *const to = launch->out[0];
    const char *const from = launch->in[0];
    for (int64_t o = 0; o < row->block; ++o) {
        int64_t low, high;
        existing_places(row, piece, o, &low, &high);
        const int64_t in_space = piece->space + (low * row->block + o - row->before) * row->space;
        const int64_t in_batch = piece->batch + o * row->offset, step = row->block * row->space;
        if (!to_batch) {
            copy_units(to + in_space, step, from + in_batch + low * row->batch, row->batch, high - low, unit);
            continue;
        }
        fill_units(to + in_batch + piece->begin * row->batch, row->batch, low - piece->begin, unit, plan->self->pad,
                   bytes);
        copy_units(to + in_batch + low * row->batch, row->batch, from + in_space, step, high - low, unit);
        fill_units(to + in_batch + high * row->batch, row->batch, piece->end - high, unit, plan->self->pad, bytes);
    }
}

#endif
