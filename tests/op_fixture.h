/* What tests of several ops share. */
#ifndef KERF_TESTS_OP_FIXTURE_H
#define KERF_TESTS_OP_FIXTURE_H

#include "base/arena.h"
#include "kernels/registry.h"

/* The built-in op, with `arena` mapped or emptied; NULL: there is none of this name. */
static inline const kerf_op_entry *op_entry_anew(const char *name, kerf_arena *arena) {
    if (arena->base)
        kerf_arena_rewind(arena, 0);
    else
        (void)kerf_arena_map_shared(arena, 64u << 20, NULL);
    return kerf_registry_find(kerf_registry_builtin(), name);
}

/* "naive@cpu", in memory that the next call reuses. */
static inline const char *op_row_name(const kerf_row *row) {
    static char name[100];
    kerf_text text = kerf_text_over(name, sizeof name);
    kerf_row_print(row, &text);
    return name;
}

#endif
