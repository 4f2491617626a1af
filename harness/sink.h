/* Where the records of a run go: the run's own file line by line, and the reports at the end. */
#ifndef KERF_HARNESS_SINK_H
#define KERF_HARNESS_SINK_H

#include "base/arena.h"
#include "harness/options.h"
#include "harness/record.h"
#include <stdio.h>

/* A file of --out: written beside its place, which it takes when it is complete. */
typedef struct kerf_out_file {
    FILE *file; /* NULL: not open */
    const char *path;
    char temporary[520];
} kerf_out_file;

/* Refuses what is there and is no file, such as a device. */
kerf_status kerf_out_file_open(const char *path, kerf_out_file *out, kerf_error *error);
kerf_status kerf_out_file_close(kerf_out_file *out, kerf_error *error);
/* Leaves its place as it was; does nothing where it is not open. */
void kerf_out_file_discard(kerf_out_file *out);

typedef struct kerf_sink {
    kerf_arena arena; /* of the records and their texts */
    const kerf_record **record;
    int n, capacity;
    char *line;   /* one JSON line at a time */
    int run_file; /* -1: none */
    char run_path[512];
    kerf_out_file out[KERF_MAX_REPEATS]; /* of options->output; not open for standard output */
    const kerf_options *options;
} kerf_sink;

/* The folder of the runs' files; false if neither XDG_DATA_HOME nor HOME names one. */
bool kerf_sink_folder(kerf_text *path);
/* Opens every output before the run starts, so that a path that cannot be written costs no measurement. `bench report`
 * makes no file of a run. */
kerf_status kerf_sink_open(kerf_sink *sink, const kerf_options *options, kerf_error *error);
/* Keeps a copy of the record (its texts must live as long as the sink) and appends its line to the run's file, which is
 * given up with a warning when it cannot grow. */
kerf_status kerf_sink_add(kerf_sink *sink, const kerf_record *record, kerf_error *error);
/* Writes all reports, whichever of them fails, and names the run's file on standard error. Frees everything, also after
 * an error. */
kerf_status kerf_sink_close(kerf_sink *sink, kerf_error *error);
/* Frees everything without writing a report. */
void kerf_sink_discard(kerf_sink *sink);

#endif
