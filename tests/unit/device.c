/* Devices, and why a row cannot run here. */
#include "harness/device.h"

#include "base/cpu.h"
#include "tests/catch_shim.h"
#include <string.h>

static const char *why(const kerf_row *row, uint64_t isa) {
    static char memory[200];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    return kerf_row_unavailable(row, isa, &text);
}

static void hosts_are_there(void) {
    const kerf_row plain = {.bytes = sizeof plain, .device = KERF_DEVICE_CPU};
    const kerf_row sim = {.bytes = sizeof sim, .device = KERF_DEVICE_CUDA_SIM};
    REQUIRE(why(&plain, 0) == NULL);
    REQUIRE(why(&sim, 0) == NULL);
    REQUIRE(kerf_device_get(KERF_DEVICE_CPU)->allocate == NULL);
    REQUIRE(kerf_device_get(KERF_DEVICE_CUDA_SIM)->allocate == NULL);
}

static void what_is_lacking_is_named(void) {
    const kerf_row row = {.bytes = sizeof row, .isa_mask = KERF_ISA_AVX2 | KERF_ISA_AVX512, .device = KERF_DEVICE_CPU};
    REQUIRE(why(&row, KERF_ISA_AVX2 | KERF_ISA_AVX512) == NULL);
    REQUIRE(strcmp(why(&row, KERF_ISA_AVX2), "needs AVX-512, this processor has none") == 0);
    REQUIRE(strcmp(why(&row, 0), "needs AVX2 and AVX-512, this processor has none") == 0);
}

static void missing_comes_first(void) {
    const kerf_row row = {
        .bytes = sizeof row, .isa_mask = KERF_ISA_NEON, .device = KERF_DEVICE_CUDA, .missing = "built without nvcc"};
    REQUIRE(strcmp(why(&row, 0), "built without nvcc") == 0);
}

static void cuda_answers(void) {
    const kerf_device *const cuda = kerf_device_get(KERF_DEVICE_CUDA);
    REQUIRE(cuda->kind == KERF_DEVICE_CUDA);
    const char *const reason = cuda->unavailable();
    const bool worded =
        reason && (strstr(reason, "no CUDA device") == reason || strstr(reason, "built without") == reason);
    REQUIRE(!reason || worded);
    REQUIRE(cuda->unavailable() == reason);
}

const kerf_test kerf_tests_unit_device[] = {
    {"device: cpu and cuda_sim are always there", "[unit][device]", hosts_are_there, __FILE__, __LINE__},
    {"device: instruction sets that are lacking are named", "[unit][device]", what_is_lacking_is_named, __FILE__,
     __LINE__},
    {"device: a row that was not built says so first", "[unit][device]", missing_comes_first, __FILE__, __LINE__},
    {"device: cuda is there or says why not", "[unit][device]", cuda_answers, __FILE__, __LINE__},
    {0},
};
