/* Limits as they are kept per machine: one JSON file, written and read here alone. */
#ifndef KERF_HARNESS_LIMITS_FILE_H
#define KERF_HARNESS_LIMITS_FILE_H

#include "harness/limits.h"
#include <stdio.h>

/* What makes two measurements comparable. */
typedef struct kerf_machine {
    char cpu[128], isa[64];
    int processors;
} kerf_machine;

typedef enum kerf_limits_form { KERF_LIMITS_SHORT, KERF_LIMITS_FULL } kerf_limits_form;

typedef struct kerf_kept_limits {
    char utc[24]; /* ISO 8601 */
    kerf_limits_form form;
    kerf_interval same; /* ratio of two arms that are the same kernel */
    kerf_limits limits;
} kerf_kept_limits;

kerf_machine kerf_machine_here(void);

/* $XDG_DATA_HOME/kerf/machines/<hash>.json, or the same under $HOME/.local/share; false if neither is there. */
bool kerf_limits_path(const kerf_machine *machine, kerf_text *path);

/* Makes the folders, and replaces the file as a whole or not at all. */
kerf_status kerf_limits_write(const char *path, const kerf_machine *machine, const kerf_kept_limits *kept,
                              kerf_error *error);

/* The same text, to a stream. */
kerf_status kerf_limits_print(FILE *file, const kerf_machine *machine, const kerf_kept_limits *kept, kerf_error *error);

/* KERF_OK with *found false if there is no file. A file that is damaged or of another machine is an error that says
 * where; *kept is then not to be used. */
kerf_status kerf_limits_read(const char *path, const kerf_machine *machine, bool *found, kerf_kept_limits *kept,
                             kerf_error *error);

#endif
