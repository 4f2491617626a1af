/* What the files of this op share: its shapes and its fills. Not part of the interface. */
#ifndef KERF_KERNELS_GRID_SAMPLER_GRAD_OP_H
#define KERF_KERNELS_GRID_SAMPLER_GRAD_OP_H

#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/layout.h"

/* The extents that a case names, in that order, and the one that is always 2. */
enum { KERF_GSG_N, KERF_GSG_C, KERF_GSG_H, KERF_GSG_W, KERF_GSG_HO, KERF_GSG_WO, KERF_GSG_N_DIMS };
#define KERF_GSG_TWO  KERF_GSG_N_DIMS
#define KERF_GSG_RANK 4

typedef struct kerf_gsg_shape {
    const char *name;
    kerf_channels channels;
    int dim[KERF_GSG_RANK];
} kerf_gsg_shape;

extern const char *const kerf_gsg_dim_names[KERF_GSG_N_DIMS + 1];
extern const kerf_gsg_shape kerf_gsg_inputs[KERF_GSG_N_IN], kerf_gsg_outputs[KERF_GSG_N_OUT];

/* The part of kerf_grid_sampler_grad_check that needs no strides. */
kerf_status kerf_gsg_check_dims(const kerf_problem *problem, kerf_error *error);

/* In the order of the op's fills. */
enum {
    KERF_GSG_EXACT,
    KERF_GSG_UNIFORM,
    KERF_GSG_SMOOTH,
    KERF_GSG_IDENTITY,
    KERF_GSG_ONE_CELL,
    KERF_GSG_OUT_OF_RANGE,
    KERF_GSG_KINKS,
    KERF_GSG_NON_FINITE
};

void kerf_gsg_fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]);
void kerf_gsg_fill_grid(const kerf_problem *problem, kerf_rng *rng, void *grid);
kerf_work kerf_gsg_work(const kerf_problem *problem, const void *const in[]);

#endif
