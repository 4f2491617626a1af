#include "kernels/variants/space_batch/vectorized.h"
