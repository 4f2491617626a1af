/* Which rows and which cases a command line means. Lists and texts live in the arena that is handed in; names of sets
 * and files may point into the options. */
#ifndef KERF_HARNESS_SELECT_H
#define KERF_HARNESS_SELECT_H

#include "base/arena.h"
#include "harness/options.h"

typedef struct kerf_selected_row {
    const kerf_row *row;
    const char *text;        /* "vectorized.avx2@cpu" */
    const char *unavailable; /* why it cannot run on this machine, or NULL */
    int n_failed;            /* cases that it did not pass so far */
    int n_timeouts;          /* of these */
} kerf_selected_row;

typedef struct kerf_row_list {
    kerf_selected_row *at;
    int n;
} kerf_row_list;

/* The rows of the entry that the comma-separated `names` mean (NULL: all): a name, name.isa, or either with @device. */
kerf_status kerf_select_rows(const kerf_op_entry *entry, const char *names, uint64_t isa, kerf_arena *arena,
                             kerf_row_list *rows, kerf_error *error);

typedef struct kerf_selected_set {
    const char *name;
    kerf_case_list cases;
} kerf_selected_set;

typedef struct kerf_set_list {
    kerf_selected_set *at;
    int n;
    int64_t n_cases;
} kerf_set_list;

/* The cases of --case, --cases or --set, or else of the comma-separated `sets`; narrowed by the filter. No case at all
 * is KERF_ERROR_USAGE. Cases of a set that the overridden dims make impossible are left out; if nothing is left, the
 * reason of the last one is the error. */
kerf_status kerf_select_cases(const kerf_options *options, const kerf_op_entry *entry, const char *sets,
                              kerf_arena *arena, kerf_set_list *list, kerf_error *error);

kerf_status kerf_select_op(const kerf_registry *registry, const char *name, const kerf_op_entry **entry,
                           kerf_error *error);

#endif
