#include "kernels/space_to_batch/space_to_batch.h"

#define KERF_OP  space_to_batch
#define KERF_WAY KERF_SPACE_TO_BATCH
#include "kernels/variants/space_batch/entry.h"
