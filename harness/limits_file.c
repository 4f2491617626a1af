#include "harness/limits_file.h"

#include "base/cpu.h"
#include "base/json.h"
#include "base/rng.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA   1
#define CAPACITY ((size_t)256 << 10) /* the largest file is about 100 KiB */

static const char *const form_names[] = {"short", "full"};

kerf_machine kerf_machine_here(void) {
    const uint64_t isa = kerf_cpu_isa();
    kerf_machine machine = {.processors = kerf_cpu_count()};
    kerf_text text = kerf_text_over(machine.cpu, sizeof machine.cpu);
    kerf_text_printf(&text, "%s", kerf_cpu_model());
    text = kerf_text_over(machine.isa, sizeof machine.isa);
    kerf_text_printf(&text, "%s%s%s", isa & KERF_ISA_AVX512 ? "avx512 " : "", isa & KERF_ISA_AVX2 ? "avx2 " : "",
                     isa & KERF_ISA_NEON ? "neon " : "");
    if (text.length)
        machine.isa[text.length - 1] = '\0';
    else
        kerf_text_printf(&text, "none");
    return machine;
}

bool kerf_limits_path(const kerf_machine *machine, kerf_text *path) {
    const char *const data = getenv("XDG_DATA_HOME"), *const home = getenv("HOME");
    uint64_t hash = kerf_hash_bytes(KERF_HASH_START, machine->cpu, strlen(machine->cpu) + 1);
    hash = kerf_hash_bytes(hash, machine->isa, strlen(machine->isa) + 1);
    hash = kerf_hash_bytes(hash, &machine->processors, sizeof machine->processors);
    if (data && data[0] == '/')
        kerf_text_printf(path, "%s", data);
    else if (home && home[0] == '/')
        kerf_text_printf(path, "%s/.local/share", home);
    else
        return false;
    kerf_text_printf(path, "/kerf/machines/%016" PRIx64 ".json", hash);
    return !path->cut;
}

/* ---- writing */

static void print_interval(kerf_json *json, const char *name, kerf_interval interval) {
    kerf_json_array(json, name);
    kerf_json_real(json, NULL, interval.middle);
    kerf_json_real(json, NULL, interval.low);
    kerf_json_real(json, NULL, interval.high);
    kerf_json_end_array(json);
}

static void print_team(kerf_json *json, const kerf_limit_team *team) {
    kerf_json_object(json, NULL);
    kerf_json_integer(json, "threads", team->threads);
    print_interval(json, "f32", team->f32);
    print_interval(json, "f64", team->f64);
    kerf_json_array(json, "points");
    for (int i = 0; i < team->n_points; ++i) {
        kerf_json_object(json, NULL);
        kerf_json_integer(json, "bytes", (int64_t)team->point[i].bytes);
        print_interval(json, "read", team->point[i].read);
        print_interval(json, "write", team->point[i].write);
        print_interval(json, "copy", team->point[i].copy);
        kerf_json_end_object(json);
    }
    kerf_json_end_array(json);
    kerf_json_end_object(json);
}

static void print_file(kerf_text *text, const kerf_machine *machine, const kerf_kept_limits *kept) {
    kerf_json json = kerf_json_over(text);
    kerf_json_object(&json, NULL);
    kerf_json_integer(&json, "schema", SCHEMA);
    kerf_json_text(&json, "cpu", machine->cpu);
    kerf_json_text(&json, "isa", machine->isa);
    kerf_json_integer(&json, "processors", machine->processors);
    kerf_json_text(&json, "utc", kept->utc);
    kerf_json_text(&json, "form", form_names[kept->form]);
    kerf_json_integer(&json, "rounds", kept->limits.n_rounds);
    kerf_json_real(&json, "covered", kept->limits.covered);
    print_interval(&json, "same", kept->same);
    kerf_json_array(&json, "teams");
    for (int i = 0; i < kept->limits.n_teams; ++i)
        print_team(&json, &kept->limits.team[i]);
    kerf_json_end_array(&json);
    kerf_json_end_object(&json);
    kerf_text_printf(text, "\n");
}

static bool make_folders_above(const char *path) {
    char folder[512];
    kerf_text text = kerf_text_over(folder, sizeof folder);
    kerf_text_printf(&text, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash && !text.cut; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return !text.cut;
}

static bool write_all(int file, const char *data, size_t bytes) {
    while (bytes > 0) {
        const ssize_t n = write(file, data, bytes);
        if (n <= 0)
            return false;
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

static kerf_status replace(const char *path, const char *data, size_t bytes, kerf_error *error) {
    char temporary[600];
    kerf_text text = kerf_text_over(temporary, sizeof temporary);
    kerf_text_printf(&text, "%s.%ld.part", path, (long)getpid());
    const int file =
        make_folders_above(path) ? open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;
    if (file < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "'%s' cannot be written: %s", path, strerror(errno));
    const bool written = write_all(file, data, bytes);
    if (close(file) == 0 && written && rename(temporary, path) == 0)
        return KERF_OK;
    const int reason = errno;
    unlink(temporary);
    return kerf_fail(error, KERF_ERROR_FILE, "'%s' cannot be written: %s", path, strerror(reason));
}

/* The text is to be freed, also after a failure. */
static kerf_status make_text(const kerf_machine *machine, const kerf_kept_limits *kept, kerf_text *text,
                             kerf_error *error) {
    char *const data = malloc(CAPACITY);
    *text = (kerf_text){0};
    if (!data)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to keep the limits");
    *text = kerf_text_over(data, CAPACITY);
    print_file(text, machine, kept);
    return text->cut ? kerf_fail(error, KERF_ERROR_FILE, "the limits do not fit into their file") : KERF_OK;
}

kerf_status kerf_limits_write(const char *path, const kerf_machine *machine, const kerf_kept_limits *kept,
                              kerf_error *error) {
    kerf_text text;
    kerf_status status = make_text(machine, kept, &text, error);
    if (status == KERF_OK)
        status = replace(path, text.data, text.length, error);
    free(text.data);
    return status;
}

kerf_status kerf_limits_print(FILE *file, const kerf_machine *machine, const kerf_kept_limits *kept,
                              kerf_error *error) {
    kerf_text text;
    const kerf_status status = make_text(machine, kept, &text, error);
    if (status == KERF_OK)
        fputs(text.data, file);
    free(text.data);
    return status;
}

/* ---- reading: exactly what is written above, in that order. Once something is not as it must be, `bad` says what and
 * everything behind it does nothing. */

typedef struct reader {
    const char *begin, *at; /* terminated by '\0' */
    const char *bad;
    int64_t schema;
} reader;

static void expect(reader *r, const char *token) {
    const size_t length = strlen(token);
    if (r->bad)
        return;
    if (strncmp(r->at, token, length) != 0)
        r->bad = token;
    else
        r->at += length;
}

static bool accept(reader *r, const char *token) {
    const size_t length = strlen(token);
    if (r->bad || strncmp(r->at, token, length) != 0)
        return false;
    r->at += length;
    return true;
}

static void read_text(reader *r, const char *name, const char *value) {
    char memory[1024];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_json json = kerf_json_over(&text);
    kerf_json_text(&json, name, value);
    if (r->bad || strncmp(r->at, memory, text.length) != 0)
        r->bad = r->bad ? r->bad : "the same processor, instruction sets and number of processors";
    else
        r->at += text.length;
}

/* A number as JSON has it: no hexadecimal, no infinity, no NaN. */
static double read_number(reader *r, double least, double most) {
    char *end = NULL;
    if (r->bad)
        return 0;
    const size_t length = strspn(r->at, "0123456789+-.eE");
    const double value = length > 0 && length < 32 ? strtod(r->at, &end) : NAN;
    if (!(value >= least && value <= most) || end != r->at + length) {
        r->bad = "a number in its range";
        return 0;
    }
    r->at = end;
    return value;
}

static int64_t read_integer(reader *r, const char *name, int64_t least, int64_t most) {
    expect(r, name);
    const double value = read_number(r, (double)least, (double)most);
    if (!r->bad && value != floor(value))
        r->bad = "a whole number";
    return r->bad ? least : (int64_t)value;
}

static kerf_interval read_interval(reader *r, const char *name) {
    const double least = 1e-6, most = 1e9;
    kerf_interval interval;
    expect(r, name);
    expect(r, "[");
    interval.middle = read_number(r, least, most);
    expect(r, ",");
    interval.low = read_number(r, least, most);
    expect(r, ",");
    interval.high = read_number(r, least, most);
    expect(r, "]");
    if (!r->bad && !(interval.low <= interval.middle && interval.middle <= interval.high))
        r->bad = "an interval around its middle";
    return interval;
}

static void read_points(reader *r, kerf_limit_team *team) {
    expect(r, ",\"points\":[");
    do {
        if (!r->bad && team->n_points == KERF_LIMIT_SIZES)
            r->bad = "fewer sizes";
        if (r->bad)
            return;
        const int64_t above = team->n_points > 0 ? (int64_t)team->point[team->n_points - 1].bytes + 1 : 1;
        kerf_limit_point *const point = &team->point[team->n_points++];
        point->bytes = (size_t)read_integer(r, "{\"bytes\":", above, INT64_C(1) << 50);
        point->read = read_interval(r, ",\"read\":");
        point->write = read_interval(r, ",\"write\":");
        point->copy = read_interval(r, ",\"copy\":");
        expect(r, "}");
    } while (accept(r, ","));
    expect(r, "]");
}

static void read_teams(reader *r, kerf_limits *limits) {
    expect(r, ",\"teams\":[");
    do {
        if (!r->bad && limits->n_teams == KERF_LIMIT_TEAMS)
            r->bad = "fewer teams";
        if (r->bad)
            return;
        const int above = limits->n_teams > 0 ? limits->team[limits->n_teams - 1].threads + 1 : 1;
        kerf_limit_team *const team = &limits->team[limits->n_teams++];
        team->threads = (int)read_integer(r, "{\"threads\":", above, 1 << 16);
        team->f32 = read_interval(r, ",\"f32\":");
        team->f64 = read_interval(r, ",\"f64\":");
        read_points(r, team);
        expect(r, "}");
    } while (accept(r, ","));
    expect(r, "]");
}

static void read_utc(reader *r, char utc[24]) {
    expect(r, ",\"utc\":\"");
    const size_t length = r->bad ? 0 : strspn(r->at, "0123456789-:TZ");
    if (!r->bad && (length == 0 || length > 23))
        r->bad = "a time";
    if (r->bad)
        return;
    memcpy(utc, r->at, length);
    utc[length] = '\0';
    r->at += length;
    expect(r, "\"");
}

static void read_content(reader *r, const kerf_machine *machine, kerf_kept_limits *kept) {
    *kept = (kerf_kept_limits){0};
    r->schema = read_integer(r, "{\"schema\":", 1, INT32_MAX);
    if (!r->bad && r->schema != SCHEMA)
        r->bad = "another schema";
    expect(r, ",");
    read_text(r, "cpu", machine->cpu);
    expect(r, ",");
    read_text(r, "isa", machine->isa);
    read_integer(r, ",\"processors\":", machine->processors, machine->processors);
    read_utc(r, kept->utc);
    expect(r, ",\"form\":\"");
    kept->form = accept(r, "short") ? KERF_LIMITS_SHORT : KERF_LIMITS_FULL;
    if (kept->form == KERF_LIMITS_FULL)
        expect(r, "full");
    expect(r, "\"");
    kept->limits.n_rounds = (int)read_integer(r, ",\"rounds\":", 1, KERF_LIMIT_ROUNDS);
    expect(r, ",\"covered\":");
    kept->limits.covered = read_number(r, 0, 1);
    kept->same = read_interval(r, ",\"same\":");
    read_teams(r, &kept->limits);
    expect(r, "}\n");
    if (!r->bad && *r->at)
        r->bad = "the end";
}

static kerf_status read_file(const char *path, char *data, bool *found, kerf_error *error) {
    /* Not blocking: a pipe of that name must not hold the program up. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *found = file >= 0;
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? KERF_OK
                   : kerf_fail(error, KERF_ERROR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    struct stat status;
    size_t bytes = 0;
    ssize_t n = -1;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        while ((n = read(file, data + bytes, CAPACITY - bytes)) > 0)
            bytes += (size_t)n;
    close(file);
    if (n < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "'%s' cannot be read; a file was expected", path);
    data[bytes < CAPACITY ? bytes : CAPACITY - 1] = '\0';
    if (bytes == CAPACITY || strlen(data) != bytes)
        return kerf_fail(error, KERF_ERROR_FILE, "'%s' is no file of limits: %s", path,
                         bytes == CAPACITY ? "it is too long" : "it holds a zero byte");
    return KERF_OK;
}

kerf_status kerf_limits_read(const char *path, const kerf_machine *machine, bool *found, kerf_kept_limits *kept,
                             kerf_error *error) {
    char *const data = malloc(CAPACITY);
    *found = false;
    if (!data)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to read the limits");
    kerf_status status = read_file(path, data, found, error);
    if (status == KERF_OK && *found) {
        reader r = {.begin = data, .at = data};
        read_content(&r, machine, kept);
        if (r.schema > SCHEMA)
            status =
                kerf_fail(error, KERF_ERROR_FILE, "'%s' has schema %lld, which is newer than this bench (schema %d)",
                          path, (long long)r.schema, SCHEMA);
        else if (r.bad)
            status = kerf_fail(error, KERF_ERROR_FILE, "'%s' is damaged or of another machine: byte %td: expected %s",
                               path, r.at - r.begin, strcmp(r.bad, "}\n") == 0 ? "}" : r.bad);
    }
    *found = *found && status == KERF_OK;
    free(data);
    return status;
}
