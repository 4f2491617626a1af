#include "tests/catch_shim.h"
#include <stddef.h>

#define KERF_TESTS(group, name) extern const kerf_test kerf_tests_##group##_##name[];
#include "tests/tests.def"
#undef KERF_TESTS

#define KERF_TESTS(group, name) kerf_tests_##group##_##name,
static const kerf_test *const tables[] = {
#include "tests/tests.def"
    NULL,
};

int main(int argc, char **argv) {
    return kerf_test_session(argc, argv, tables);
}
