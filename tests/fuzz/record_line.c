/* Lines of records come from files of others. For libFuzzer:
 *   clang -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/record_line.c \
 *       harness/record*.c harness/verdict.c base/arena.c base/json.c base/status.c -DKERF_HAVE_JANSSON=1 -ljansson -lm
 * tests/unit/record_read.c drives the same properties on every run of the tests. */
#include "tests/unit/record_lines.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
    static kerf_arena arena;
    if (!arena.base && kerf_arena_map_shared(&arena, 8u << 20, NULL) != KERF_OK)
        exit(1);
    const char *const fault = record_line_fault(data, n_bytes, &arena);
    if (fault) {
        fprintf(stderr, "%s\n", fault);
        abort();
    }
    return 0;
}
