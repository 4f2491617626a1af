#include "kernels/variants/space_batch/cuda_grid_stride.h"
