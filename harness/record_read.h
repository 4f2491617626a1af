/* Reads records back from the lines that kerf_record_print_json wrote. The lines may come from anywhere: what is not as
 * docs/record.md says is refused with file, line and field, never believed. Needs libjansson. */
#ifndef KERF_HARNESS_RECORD_READ_H
#define KERF_HARNESS_RECORD_READ_H

#include "base/arena.h"
#include "harness/record.h"

typedef struct kerf_record_file {
    kerf_records records; /* in the order of the file; they and their texts lie in the arena */
    int64_t n_unknown;    /* lines of kinds that this program does not know, left out */
    bool cut;             /* the last line was not whole (a run that was killed) and is left out */
} kerf_record_file;

/* `path` "-" is standard input. KERF_ERROR_FILE also for a file without a record, and in a build without libjansson. */
kerf_status kerf_record_read_file(const char *path, kerf_arena *arena, kerf_record_file *file, kerf_error *error);

/* One line without its newline. *known is false (and the record empty) for a kind that this program does not know.
 * Control characters in texts become `?`. */
kerf_status kerf_record_parse(const char *line, size_t n_bytes, kerf_arena *arena, kerf_record *record, bool *known,
                              kerf_error *error);

#endif
