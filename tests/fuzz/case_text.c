/* Case texts are hostile until they are parsed. For libFuzzer:
 *   clang -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/case_text.c \
 *       harness/casegen*.c kernels/layout.c base/arena.c base/dtype.c base/rng.c base/status.c base/strided.c -lm
 * tests/unit/casegen_fuzz.c drives the same properties on every run of the tests. */
#include "tests/unit/casegen_toy.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    static kerf_arena arena;
    if (!arena.base && kerf_arena_map_shared(&arena, 8u << 20, NULL) != KERF_OK)
        exit(1);
    const char *const fault = case_text_fault(data, n_bytes, &arena);
    if (fault) {
        fprintf(stderr, "%s\n", fault);
        abort();
    }
    return 0;
}
