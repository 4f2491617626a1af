/* What the files of the op share. */
#ifndef KERF_KERNELS_CONV2D_OP_H
#define KERF_KERNELS_CONV2D_OP_H

#include "kernels/conv2d/conv2d.h"

kerf_work kerf_conv2d_work(const kerf_problem *problem, const void *const in[]);

#endif
