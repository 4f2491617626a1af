/* The oracle of grid_sampler_grad where the working type is double. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "reference/grid_sampling.h"

#include "base/checked.h"
#include <tgmath.h>

typedef double real;
typedef long double wide;
#define HALF kerf_gsg_real64
#include "reference/grid_sampler_grad_half.h"
