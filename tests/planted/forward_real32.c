#define KERF_CLASS 0
#include "tests/planted/forward.h"
