#define KERF_CLASS 0
#include "tests/planted/conv2d.h"
