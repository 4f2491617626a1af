/* The oracle of grid_sampler where the working type is double. */
#include "kernels/grid_sampler/grid_sampler.h"
#include "reference/grid_sampling.h"

#include <tgmath.h>

typedef double real;
typedef long double wide;
#define HALF kerf_gs_real64
#include "reference/grid_sampling_axis.h"
#include "reference/grid_sampling_bounds.h"
#include "reference/grid_sampling_footprint.h"

#include "reference/grid_sampler_y.h"
