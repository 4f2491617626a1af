#include "harness/record_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if KERF_HAVE_JANSSON

typedef struct lines {
    int file;
    char *data; /* KERF_RECORD_LINE_BYTES */
    size_t begin, end;
    int64_t number; /* of the line that was given last */
    bool ended;
} lines;

/* More bytes behind those that are there, which move to the front. */
static kerf_status fill(lines *in, kerf_error *error) {
    memmove(in->data, in->data + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    if (in->end == KERF_RECORD_LINE_BYTES)
        return kerf_fail(error, KERF_ERROR_FILE, "the line is longer than %zu MiB, no record is",
                         KERF_RECORD_LINE_BYTES >> 20);
    const ssize_t n = read(in->file, in->data + in->end, KERF_RECORD_LINE_BYTES - in->end);
    if (n < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot be read: %s", strerror(errno));
    in->end += (size_t)n;
    in->ended = n == 0;
    return KERF_OK;
}

/* The next line; *line is NULL behind the last one. *whole: it ends with a newline. */
static kerf_status next_line(lines *in, const char **line, size_t *n_bytes, bool *whole, kerf_error *error) {
    size_t searched = 0;
    const char *newline = NULL;
    ++in->number;
    for (;;) {
        const size_t n = in->end - in->begin;
        newline = n > searched ? memchr(in->data + in->begin + searched, '\n', n - searched) : NULL;
        if (newline || in->ended)
            break;
        searched = n;
        KERF_TRY(fill(in, error));
    }
    *whole = newline != NULL;
    *line = in->data + in->begin;
    *n_bytes = newline ? (size_t)(newline - *line) : in->end - in->begin;
    in->begin += *n_bytes + (newline ? 1 : 0);
    if (!newline && *n_bytes == 0)
        *line = NULL;
    return KERF_OK;
}

typedef struct list {
    const kerf_record **at;
    int n, capacity;
} list;

static kerf_status add(list *records, kerf_arena *arena, const kerf_record *record, kerf_error *error) {
    if (records->n == records->capacity) {
        const int capacity = records->capacity ? 2 * records->capacity : 1024;
        const kerf_record **const grown = KERF_ARENA_NEW(arena, const kerf_record *, capacity);
        if (!grown)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d records", capacity);
        if (records->n > 0)
            memcpy(grown, records->at, (size_t)records->n * sizeof *grown);
        records->at = grown;
        records->capacity = capacity;
    }
    kerf_record *const copy = KERF_ARENA_NEW(arena, kerf_record, 1);
    if (!copy)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d records", records->n);
    *copy = *record;
    records->at[records->n++] = copy;
    return KERF_OK;
}

static kerf_status read_lines(lines *in, kerf_arena *arena, kerf_record_file *file, kerf_error *error) {
    list records = {0};
    for (;;) {
        const char *line;
        size_t n_bytes;
        bool whole, known;
        KERF_TRY(next_line(in, &line, &n_bytes, &whole, error));
        if (!line)
            break;
        if (n_bytes == 0)
            continue;
        const size_t used = arena->used;
        kerf_record record;
        const kerf_status status = kerf_record_parse(line, n_bytes, arena, &record, &known, error);
        if (status != KERF_OK && !whole && records.n > 0) {
            file->cut = true;
            break;
        }
        KERF_TRY(status);
        file->n_unknown += !known;
        if (known)
            KERF_TRY(add(&records, arena, &record, error));
        else
            kerf_arena_rewind(arena, used);
    }
    file->records = (kerf_records){.at = records.at, .n = records.n};
    return KERF_OK;
}

kerf_status kerf_record_read_file(const char *path, kerf_arena *arena, kerf_record_file *file, kerf_error *error) {
    *file = (kerf_record_file){0};
    const bool standard_input = strcmp(path, "-") == 0;
    lines in = {.file = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)};
    if (in.file < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    in.data = malloc(KERF_RECORD_LINE_BYTES);
    kerf_error inner = {""};
    const kerf_status status =
        in.data ? read_lines(&in, arena, file, &inner)
                : kerf_fail(&inner, KERF_ERROR_MEMORY, "no memory for %zu bytes", KERF_RECORD_LINE_BYTES);
    free(in.data);
    if (!standard_input)
        close(in.file);
    if (status != KERF_OK)
        return kerf_fail(error, status, "'%.200s' line %lld: %s", path, (long long)in.number, inner.message);
    if (file->records.n == 0)
        return kerf_fail(error, KERF_ERROR_FILE, "'%s' holds no record; bench --out json=PATH writes such files", path);
    return KERF_OK;
}

#else

kerf_status kerf_record_parse(const char *line, size_t n_bytes, kerf_arena *arena, kerf_record *record, bool *known,
                              kerf_error *error) {
    (void)line, (void)n_bytes, (void)arena;
    *record = (kerf_record){0};
    *known = false;
    return kerf_fail(error, KERF_ERROR_FILE, "this bench was built without libjansson");
}

kerf_status kerf_record_read_file(const char *path, kerf_arena *arena, kerf_record_file *file, kerf_error *error) {
    (void)arena;
    *file = (kerf_record_file){0};
    return kerf_fail(error, KERF_ERROR_FILE,
                     "'%s' cannot be read: this bench was built without libjansson; install libjansson-dev, remove the "
                     "build folder and build again",
                     path);
}

#endif
