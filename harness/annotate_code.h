/* From addresses to code: which loaded file and function they lie in, and its instructions, as objdump shows them. */
#ifndef KERF_HARNESS_ANNOTATE_CODE_H
#define KERF_HARNESS_ANNOTATE_CODE_H

#include "base/arena.h"
#include "harness/annotate_sample.h"

/* A sampled address as it stands in its file. */
typedef struct kerf_code_point {
    const char *file; /* NULL: of no loaded file */
    uint64_t address, count;
} kerf_code_point;

typedef struct kerf_code_points {
    kerf_code_point *at; /* by file, then address */
    int n;
} kerf_code_points;

typedef struct kerf_code_function {
    const char *file;
    uint64_t begin, end, count;
    char name[96]; /* printable */
} kerf_code_function;

typedef struct kerf_code_line {
    uint64_t address, count;
    uint64_t target; /* of a jump, else 0 */
    bool shown;
    char text[112]; /* printable */
} kerf_code_line;

#define KERF_CODE_FUNCTIONS 256
#define KERF_CODE_LINES     32768

/* Whether there is an objdump to ask. */
kerf_status kerf_code_check(kerf_error *error);

kerf_status kerf_code_locate(const kerf_histogram *histogram, kerf_arena *arena, kerf_code_points *points,
                             kerf_error *error);

/* Functions that hold points, most samples first. What lies in none is one entry per file, with begin == end. Asks
 * objdump. `functions` has room for KERF_CODE_FUNCTIONS. */
kerf_status kerf_code_functions(const kerf_code_points *points, kerf_code_function *functions, int *n,
                                kerf_error *error);

/* The instructions of a function; at most KERF_CODE_LINES of them. */
kerf_status kerf_code_lines(const kerf_code_function *function, const kerf_code_points *points, kerf_code_line *lines,
                            int *n, kerf_error *error);

/* Marks as shown what holds `share` of the samples: the instructions with most of them, the smallest loop around each
 * (of at most 160 instructions), and some lines before and behind. */
void kerf_code_mark(kerf_code_line *lines, int n, double share);

/* One line of `objdump -t`: a function with its range; false for all else. */
bool kerf_code_parse_symbol(const char *line, kerf_code_function *function);
/* One line of `objdump -d --no-show-raw-insn`; false for what is no instruction. */
bool kerf_code_parse_line(const char *text, kerf_code_line *line);

#endif
