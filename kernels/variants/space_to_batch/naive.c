#include "kernels/variants/space_batch/naive.h"
