#include "harness/sink.h"

#include "reports/reports.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)1 << 36) /* address space; records cost memory as they come */
#define LINE_BYTES  KERF_RECORD_LINE_BYTES

/* Makes the folder and those above it; existing ones are fine. */
static bool make_folders(char *path) {
    for (char *slash = path + 1; *slash; ++slash) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

bool kerf_sink_folder(kerf_text *path) {
    const char *const data = getenv("XDG_DATA_HOME");
    const char *const home = getenv("HOME");
    if (data && data[0] == '/')
        kerf_text_printf(path, "%s/kerf/runs", data);
    else if (home && home[0] == '/')
        kerf_text_printf(path, "%s/.local/share/kerf/runs", home);
    return path->length > 0 && !path->cut;
}

static bool open_run_file(kerf_sink *sink) {
    char folder[400];
    kerf_text text = kerf_text_over(folder, sizeof folder);
    if (!kerf_sink_folder(&text) || !make_folders(folder))
        return false;
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    text = kerf_text_over(sink->run_path, sizeof sink->run_path);
    kerf_text_printf(&text, "%s/%s-%ld.jsonl", folder, stamp, (long)getpid());
    sink->run_file = open(sink->run_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return sink->run_file >= 0;
}

kerf_status kerf_out_file_open(const char *path, kerf_out_file *out, kerf_error *error) {
    *out = (kerf_out_file){.path = path};
    kerf_text text = kerf_text_over(out->temporary, sizeof out->temporary);
    kerf_text_printf(&text, "%s.%ld.part", path, (long)getpid());
    struct stat status;
    if (text.cut || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return kerf_fail(error, KERF_ERROR_FILE, "--out '%s': expected the path of a file that can be written", path);
    out->file = fopen(out->temporary, "we");
    if (!out->file)
        return kerf_fail(error, KERF_ERROR_FILE, "--out '%s' cannot be written: %s", path, strerror(errno));
    return KERF_OK;
}

kerf_status kerf_out_file_close(kerf_out_file *out, kerf_error *error) {
    FILE *const file = out->file;
    const bool written = fflush(file) == 0 && !ferror(file);
    out->file = NULL;
    if (fclose(file) == 0 && written && rename(out->temporary, out->path) == 0)
        return KERF_OK;
    const int reason = errno;
    unlink(out->temporary);
    return kerf_fail(error, KERF_ERROR_FILE, "--out '%s' cannot be written: %s", out->path, strerror(reason));
}

void kerf_out_file_discard(kerf_out_file *out) {
    if (!out->file)
        return;
    fclose(out->file);
    unlink(out->temporary);
    out->file = NULL;
}

void kerf_sink_discard(kerf_sink *sink) {
    for (int i = 0; i < sink->options->n_outputs; ++i)
        kerf_out_file_discard(&sink->out[i]);
    if (sink->run_file >= 0)
        close(sink->run_file);
    kerf_arena_unmap(&sink->arena);
    free(sink->record);
}

kerf_status kerf_sink_open(kerf_sink *sink, const kerf_options *options, kerf_error *error) {
    *sink = (kerf_sink){.run_file = -1, .options = options};
    kerf_status status = kerf_arena_map_most(&sink->arena, ARENA_BYTES, 16 * LINE_BYTES, error);
    bool has_json_file = false;
    for (int i = 0; i < options->n_outputs && status == KERF_OK; ++i) {
        if (!options->output[i].path)
            continue;
        status = kerf_out_file_open(options->output[i].path, &sink->out[i], error);
        has_json_file = has_json_file || options->output[i].format == KERF_FORMAT_JSON;
    }
    if (status != KERF_OK) {
        kerf_sink_discard(sink);
        return status;
    }
    sink->line = kerf_arena_alloc(&sink->arena, LINE_BYTES, 1); /* the arena is larger */
    if (options->command != KERF_COMMAND_REPORT && !open_run_file(sink) && !has_json_file)
        fprintf(stderr, "bench: warning: no folder for the records can be written (XDG_DATA_HOME, HOME); "
                        "--out json=PATH keeps them\n");
    return KERF_OK;
}

/* A run file that cannot grow any more costs a warning, not the run; the half line is taken back. */
static void append_line(kerf_sink *sink, const kerf_record *record) {
    kerf_text text = kerf_text_over(sink->line, LINE_BYTES);
    kerf_record_print_json(record, &text);
    const off_t end = lseek(sink->run_file, 0, SEEK_END);
    const ssize_t written = text.cut ? -1 : write(sink->run_file, sink->line, text.length);
    if (written == (ssize_t)text.length)
        return;
    const char *const reason = text.cut ? "a record is too long" : written < 0 ? strerror(errno) : "no space is left";
    fprintf(stderr, "bench: warning: '%s' ends here: %s\n", sink->run_path, reason);
    if (written > 0 && ftruncate(sink->run_file, end) != 0)
        fprintf(stderr, "bench: warning: its last line is not whole\n");
    close(sink->run_file);
    sink->run_file = -1;
}

kerf_status kerf_sink_add(kerf_sink *sink, const kerf_record *record, kerf_error *error) {
    if (sink->n == sink->capacity) {
        const int capacity = sink->capacity ? 2 * sink->capacity : 1024;
        const kerf_record **const grown = realloc(sink->record, (size_t)capacity * sizeof *grown);
        if (!grown)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d records", capacity);
        sink->record = grown;
        sink->capacity = capacity;
    }
    kerf_record *const copy = KERF_ARENA_NEW(&sink->arena, kerf_record, 1);
    if (!copy)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d records", sink->n);
    *copy = *record;
    sink->record[sink->n++] = copy;
    if (sink->run_file >= 0)
        append_line(sink, copy);
    return KERF_OK;
}

static void render(kerf_sink *sink, kerf_format format, FILE *file) {
    const kerf_records records = {.at = sink->record, .n = sink->n};
    switch (format) {
    case KERF_FORMAT_TABLE:
        kerf_report_terminal(&records, file, isatty(fileno(file)) && !getenv("NO_COLOR") ? KERF_COLOURED : KERF_PLAIN);
        break;
    case KERF_FORMAT_CSV:
        kerf_report_csv(&records, file);
        break;
    default:
        for (int i = 0; i < sink->n; ++i) {
            kerf_text text = kerf_text_over(sink->line, LINE_BYTES);
            kerf_record_print_json(sink->record[i], &text);
            fwrite(sink->line, 1, text.length, file);
        }
    }
}

static kerf_status finish_output(kerf_sink *sink, int i, kerf_error *error) {
    kerf_out_file *const out = &sink->out[i];
    render(sink, sink->options->output[i].format, out->file ? out->file : stdout);
    if (out->file)
        return kerf_out_file_close(out, error);
    return fflush(stdout) == 0 && !ferror(stdout)
               ? KERF_OK
               : kerf_fail(error, KERF_ERROR_FILE, "cannot write to standard output");
}

kerf_status kerf_sink_close(kerf_sink *sink, kerf_error *error) {
    kerf_status first = KERF_OK;
    for (int i = 0; i < sink->options->n_outputs; ++i) {
        kerf_error other;
        const kerf_status status = finish_output(sink, i, first == KERF_OK ? error : &other);
        first = first == KERF_OK ? status : first;
    }
    if (sink->run_file >= 0 && !sink->options->quiet)
        fprintf(stderr, "records: %s\n", sink->run_path);
    kerf_sink_discard(sink);
    return first;
}
