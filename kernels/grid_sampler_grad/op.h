/* What the files of this op share. Not part of the interface. */
#ifndef KERF_KERNELS_GRID_SAMPLER_GRAD_OP_H
#define KERF_KERNELS_GRID_SAMPLER_GRAD_OP_H

#include "kernels/grid_sampler_grad/grid_sampler_grad.h"

kerf_work kerf_gsg_work(const kerf_problem *problem, const void *const in[]);

#endif
