/* Compiles a CUDA source for the host: device cuda_sim. CMake builds this file once per .cu file and element class,
 * since a build system takes one language per file name. */
#include "kernels/cuda_sim.h"

#include KERF_CUDA_SOURCE
