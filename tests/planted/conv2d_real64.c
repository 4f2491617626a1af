#define KERF_CLASS 1
#include "tests/planted/conv2d.h"
