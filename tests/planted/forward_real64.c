#define KERF_CLASS 1
#include "tests/planted/forward.h"
