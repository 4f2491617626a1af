#include "harness/report.h"

#include "harness/record_read.h"
#include "harness/report_page.h"
#include "harness/sink.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Names of runs' files begin with the time, so the last by name is the newest. */
static kerf_status find_newest(kerf_text *path, kerf_error *error) {
    if (!kerf_sink_folder(path))
        return kerf_fail(error, KERF_ERROR_FILE,
                         "neither XDG_DATA_HOME nor HOME names a folder of runs; name a file of "
                         "records: bench report FILE");
    char newest[256] = "";
    DIR *const folder = opendir(path->data);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *const ending = strrchr(entry->d_name, '.');
        if (ending && strcmp(ending, ".jsonl") == 0 && strcmp(entry->d_name, newest) > 0)
            strcpy(newest, entry->d_name);
    }
    if (folder)
        closedir(folder);
    if (!newest[0])
        return kerf_fail(error, KERF_ERROR_FILE,
                         "no run is kept in '%.200s'; run bench --op OP first, or name a file: bench report FILE",
                         path->data);
    kerf_text_printf(path, "/%s", newest);
    return path->cut ? kerf_fail(error, KERF_ERROR_FILE, "the path of the newest run is too long") : KERF_OK;
}

/* What was left out is said. */
static void warn(const char *path, const kerf_record_file *file) {
    if (file->cut)
        fprintf(stderr, "bench: warning: '%s': the last line is not whole and left out; the run was ended\n", path);
    if (file->n_unknown > 0)
        fprintf(stderr, "bench: warning: '%s': %lld line%s of kinds that this bench does not know left out\n", path,
                (long long)file->n_unknown, file->n_unknown == 1 ? "" : "s");
}

static kerf_status add_file(kerf_sink *sink, const char *path, kerf_error *error) {
    kerf_record_file file;
    KERF_TRY(kerf_record_read_file(path, &sink->arena, &file, error));
    warn(path, &file);
    for (int i = 0; i < file.records.n; ++i)
        KERF_TRY(kerf_sink_add(sink, file.records.at[i], error));
    return KERF_OK;
}

/* By any name: also through a link. */
static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static kerf_status check_outputs(const kerf_options *options, const char *const *files, int n_files,
                                 kerf_error *error) {
    for (int o = 0; o < options->n_outputs; ++o)
        for (int i = 0; options->output[o].path && i < n_files; ++i)
            if (is_same_file(options->output[o].path, files[i]))
                return kerf_fail(error, KERF_ERROR_USAGE,
                                 "--out '%.200s' would replace the records that are read; name another file",
                                 options->output[o].path);
    return KERF_OK;
}

static kerf_status write_page(kerf_sink *sink, const kerf_options *options, const volatile sig_atomic_t *interrupted,
                              kerf_error *error) {
    kerf_page_folder folder;
    const kerf_records records = {.at = sink->record, .n = sink->n};
    kerf_status status = kerf_page_folder_open(&folder, options->html, error);
    if (status == KERF_OK)
        status = kerf_page_write(&folder, &records, &sink->arena, interrupted, error);
    kerf_page_folder_close(&folder);
    if (status == KERF_OK && !options->quiet)
        fprintf(stderr, "page: %s/index.html\n", options->html);
    return status;
}

kerf_status kerf_report(const kerf_options *options, const volatile sig_atomic_t *interrupted, kerf_error *error) {
    char newest[700];
    kerf_text text = kerf_text_over(newest, sizeof newest);
    const char *const newest_file = newest;
    const char *const *files = options->file;
    int n_files = options->n_files;
    if (n_files == 0) {
        KERF_TRY(find_newest(&text, error));
        files = &newest_file;
        n_files = 1;
    }
    KERF_TRY(check_outputs(options, files, n_files, error));
    kerf_sink sink;
    KERF_TRY(kerf_sink_open(&sink, options, error));
    kerf_status status = KERF_OK;
    for (int i = 0; i < n_files && status == KERF_OK; ++i) {
        status = add_file(&sink, files[i], error);
        if (*interrupted)
            status = kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted");
    }
    if (status == KERF_OK && options->html)
        status = write_page(&sink, options, interrupted, error);
    if (status != KERF_OK) {
        kerf_sink_discard(&sink);
        return status;
    }
    return kerf_sink_close(&sink, error);
}
