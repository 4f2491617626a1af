#include "kernels/variants/space_batch/strided.h"
