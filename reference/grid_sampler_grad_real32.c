/* The oracle of grid_sampler_grad where the working type is float. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "reference/grid_sampling.h"

#include "base/checked.h"
#include <tgmath.h>

typedef float real;
typedef double wide;
#define HALF kerf_gsg_real32
#include "reference/grid_sampler_grad_half.h"
