/* Case texts: parsing, printing, expanding. The grammar is in docs/cases.md.
 *
 * One line is `key=value` fields separated by blanks, in any order: attributes, dims, dtype, layout, fill, want, seed;
 * the op is known from the file or stands first. Attributes that are left out have their defaults. `*` as the value of
 * an enum attribute or of dtype leaves it open. All text is hostile until it is parsed. */
#ifndef KERF_HARNESS_CASEGEN_H
#define KERF_HARNESS_CASEGEN_H

#include "base/arena.h"
#include "kernels/registry.h"

/* How open fields are closed: every combination, or so that every pair of values of two fields occurs. */
typedef enum kerf_expansion { KERF_EXPAND_ALL, KERF_EXPAND_PAIRS } kerf_expansion;

/* What the user narrowed down; NULL or 0 where he did not. Lists are comma-separated as they came from the command
 * line. */
typedef struct kerf_case_filter {
    const char *dtypes, *layouts, *fills,
        *wants;               /* a case that is not in the list is left out; open fields are narrowed */
    const char *const *attrs; /* "k=v", NULL-terminated: as above */
    const char *dims;         /* "N=4,C=32": overrides the dims of each case, duplicates fall together */
    const char *seed;         /* overrides */
} kerf_case_filter;

typedef struct kerf_case_list {
    kerf_case *at;
    int n;
} kerf_case_list;

/* One closed case. Texts are copied into the arena. KERF_ERROR_USAGE: what was given, what is allowed, the nearest
 * name. */
kerf_status kerf_case_parse(const kerf_op *op, const char *text, kerf_arena *arena, kerf_case *result,
                            kerf_error *error);

/* Every case that the lines of `text` mean, in order, without repetitions, appended to `list`. `name` (a file or a set)
 * and the line number begin each message. `#` starts a comment. Fields that `filter` rules out are left out. */
kerf_status kerf_cases_read(const kerf_op *op, const char *name, const char *text, kerf_expansion expansion,
                            const kerf_case_filter *filter, kerf_arena *arena, kerf_case_list *list, kerf_error *error);
/* The same from a file of the user (at most 16 MiB, no NUL bytes). */
kerf_status kerf_cases_read_file(const kerf_op *op, const char *path, kerf_expansion expansion,
                                 const kerf_case_filter *filter, kerf_arena *arena, kerf_case_list *list,
                                 kerf_error *error);

/* Canonical text, without the op: attributes that differ from their default in declared order, dims, dtype, layout (if
 * not nchw), fill, want (if not all), seed. Parses back to the same case. */
void kerf_case_print(const kerf_case *c, kerf_text *text);
uint64_t kerf_case_hash(const kerf_case *c); /* of the op's name and the canonical text */
/* Only the attributes with named values, all of them, for grouping by mode: "interpolation_mode=bilinear ...". Numbers
 * and lists are sizes. */
void kerf_case_print_mode(const kerf_case *c, kerf_text *text);

/* The nearest of the NULL-terminated names by edit distance, or NULL if none is near. */
const char *kerf_nearest_name(const char *given, const char *const *names);

#endif
