#include "kernels/batch_to_space/batch_to_space.h"

#define KERF_OP  batch_to_space
#define KERF_WAY KERF_BATCH_TO_SPACE
#include "kernels/variants/space_batch/entry.h"
