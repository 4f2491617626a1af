/* Records read back: what was written comes back the same, and nothing else is believed. */
#include "harness/record_read.h"

#include "base/rng.h"
#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include "tests/unit/record_lines.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N_MUTATED 20000
#define MAX_LINE  2048

static kerf_arena arena;

static void map_arena(void) {
    kerf_error error;
    if (!arena.base)
        REQUIRE_MESSAGE(kerf_arena_map_shared(&arena, (size_t)1 << 30, &error) == KERF_OK, "%s", error.message);
    kerf_arena_rewind(&arena, 0);
}

static void every_kind_comes_back(void) {
    map_arena();
    for (int i = 0; i < N_RECORD_LINES; ++i) {
        char printed[MAX_LINE];
        kerf_record record;
        bool known = false;
        kerf_error error = {""};
        const kerf_status status =
            kerf_record_parse(record_lines[i], strlen(record_lines[i]), &arena, &record, &known, &error);
        REQUIRE_MESSAGE(status == KERF_OK && known, "%s: %s", record_lines[i], error.message);
        record_print(record, printed, sizeof printed);
        REQUIRE_MESSAGE(strcmp(printed, record_lines[i]) == 0, "%s\n%s", printed, record_lines[i]);
    }
}

static void fields_stand_where_they_belong(void) {
    map_arena();
    kerf_record record;
    bool known;
    kerf_error error;
    REQUIRE(kerf_record_parse(record_lines[4], strlen(record_lines[4]), &arena, &record, &known, &error) == KERF_OK);
    REQUIRE(record.kind == KERF_RECORD_TIME && strcmp(record.row, "vectorized.avx2@cpu") == 0);
    REQUIRE(record.case_hash == UINT64_C(0xfedcba9876543210) && record.threads == 2);
    REQUIRE(record.time_ns.low == 1200 && record.speed_ratio.high == 4.5 && record.covered == 0.96875);
    REQUIRE(record.n_samples == 2 && record.sample[1].batch == UINT32_MAX && record.sample[0].total_ns == 9000000000);
    REQUIRE(kerf_record_parse(record_lines[2], strlen(record_lines[2]), &arena, &record, &known, &error) == KERF_OK);
    REQUIRE(record.finding.verdict == KERF_FAIL && isinf(record.finding.ratio) && isnan(record.finding.got));
    REQUIRE(record.finding.rank == 4 && record.finding.index[3] == 4294967296 && record.finding.index[2] == -2);
}

static void unknown_fields_are_kept_and_kinds_left_out(void) {
    map_arena();
    static const char line[] = "{\"schema\":1,\"kind\":\"end\",\"exit_code\":0,\"mood\":{\"good\":[1]}}";
    static const char other[] = "{\"schema\":1,\"kind\":\"dream\",\"exit_code\":\"none\"}";
    kerf_record record;
    bool known = false;
    kerf_error error;
    REQUIRE(kerf_record_parse(line, strlen(line), &arena, &record, &known, &error) == KERF_OK && known);
    char printed[MAX_LINE];
    kerf_text text = kerf_text_over(printed, sizeof printed);
    kerf_record_print_json(&record, &text);
    REQUIRE_MESSAGE(strncmp(printed, line, strlen(line)) == 0 && strcmp(printed + strlen(line), "\n") == 0, "%s",
                    printed);
    REQUIRE(kerf_record_parse(other, strlen(other), &arena, &record, &known, &error) == KERF_OK && !known);
}

static void control_characters_are_defused(void) {
    map_arena();
    static const char line[] = "{\"schema\":1,\"kind\":\"trust\",\"op\":\"\\u001b[2J\\u0007a\\nb\",\"mode\":\"\\u009b"
                               "x\\u202ey\\u2066\",\"output\":\"\xc3\xa4<b>\"}";
    kerf_record record;
    bool known;
    kerf_error error = {""};
    REQUIRE_MESSAGE(kerf_record_parse(line, strlen(line), &arena, &record, &known, &error) == KERF_OK, "%s",
                    error.message);
    REQUIRE_MESSAGE(strcmp(record.op, "?[2J?a?b") == 0 && strcmp(record.mode, "?x?y?") == 0, "%s %s", record.op,
                    record.mode);
    REQUIRE(strcmp(record.output, "\xc3\xa4<b>") == 0);
}

#define TIME(rest)                                                                                                     \
    "{\"schema\":1,\"kind\":\"time\",\"op\":\"a\",\"set\":\"b\",\"case\":\"c\",\"row\":\"d\",\"mode\":\"hot\"," rest "}"

static void damage_is_named(void) {
    static const struct {
        const char *line, *named;
    } damaged[] = {
        {"", "JSON"},
        {"{\"schema\":1,\"kind\":\"end\"", "JSON"},
        {"[1]", "`schema`"},
        {"{\"kind\":\"end\"}", "`schema`"},
        {"{\"schema\":\"1\",\"kind\":\"end\"}", "`schema`"},
        {"{\"schema\":1,\"kind\":7}", "`kind`"},
        {"{\"schema\":2,\"kind\":\"end\"}", "schema 2, this bench reads schema 1"},
        {"{\"schema\":1,\"kind\":\"end\",\"kind\":\"run\"}", "duplicate"},
        {"{\"schema\":1,\"kind\":\"end\",\"seconds\":1e999}", "real number overflow"},
        {"{\"schema\":1,\"kind\":\"end\",\"exit_code\":99999999999999999999}", "too big"},
        {"{\"schema\":1,\"kind\":\"end\",\"exit_code\":99999999999}", "`exit_code`"},
        {"{\"schema\":1,\"kind\":\"end\",\"seconds\":\"long\"}", "`seconds`"},
        {"{\"schema\":1,\"kind\":\"run\",\"environment\":[]}", "`environment`"},
        {"{\"schema\":1,\"kind\":\"run\",\"environment\":{\"cpu\":1}}", "`cpu`"},
        {"{\"schema\":1,\"kind\":\"run\",\"order_seed\":\"1\"}", "`order_seed`"},
        {"{\"schema\":1,\"kind\":\"trust\",\"op\":\"a\",\"mode\":\"b\"}", "`output`"},
        {TIME("\"config\":\"\""), "`verdict`"},
        {TIME("\"verdict\":\"WORSE\""), "IMPLAUSIBLE"},
        {TIME("\"verdict\":\"PASS\",\"samples\":[[0,0,1]]"), "`samples`"},
        {TIME("\"verdict\":\"PASS\",\"samples\":[[0,0,1,0]]"), "`samples`"},
        {TIME("\"verdict\":\"PASS\",\"samples\":[[0,65536,1,1]]"), "`samples`"},
        {TIME("\"verdict\":\"PASS\",\"samples\":[[0,0,1,1]]"), "`time_ns`"},
        {TIME("\"verdict\":\"PASS\",\"samples\":7"), "`samples`"},
        {TIME("\"verdict\":\"PASS\",\"time_ns\":{\"middle\":-1,\"low\":0,\"high\":0}"), "`time_ns`"},
        {TIME("\"verdict\":\"FAIL\",\"output\":\"o\",\"index\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "`index`"},
        {TIME("\"verdict\":\"FAIL\",\"output\":\"o\",\"index\":[\"1\"]"), "`index`"},
        {"{\"schema\":1,\"kind\":\"end\",\"x\":\"\\u0000\"}", "JSON"},
        {"{\"schema\":1,\"kind\":\"end\",\"x\":\"\xff\"}", "JSON"},
    };
    map_arena();
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; ++i) {
        kerf_record record;
        bool known;
        kerf_error error = {""};
        const kerf_status status =
            kerf_record_parse(damaged[i].line, strlen(damaged[i].line), &arena, &record, &known, &error);
        REQUIRE_MESSAGE(status == KERF_ERROR_FILE && strstr(error.message, damaged[i].named), "%s: %s", damaged[i].line,
                        error.message);
    }
}

/* Nesting that would exhaust a stack. */
static void depth_is_refused(void) {
    static char line[1 << 20];
    map_arena();
    memset(line, '[', sizeof line);
    kerf_record record;
    bool known;
    kerf_error error = {""};
    REQUIRE(kerf_record_parse(line, sizeof line, &arena, &record, &known, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "depth"), "%s", error.message);
}

static void a_full_arena_is_told(void) {
    map_arena();
    kerf_arena small = {.base = arena.base, .size = 40};
    kerf_record record;
    bool known;
    kerf_error error = {""};
    REQUIRE(kerf_record_parse(record_lines[0], strlen(record_lines[0]), &small, &record, &known, &error) ==
            KERF_ERROR_MEMORY);
}

static size_t mutate(unsigned char *line, size_t n, kerf_rng *rng) {
    static const char *const pieces[] = {"null",
                                         "\"",
                                         "{}",
                                         "[",
                                         "]",
                                         "}",
                                         ",",
                                         ":",
                                         "-1",
                                         "1e999",
                                         "0x",
                                         "0",
                                         "\\",
                                         "\\u",
                                         "\n",
                                         "\"\":",
                                         "true",
                                         "1e-400",
                                         "9223372036854775808"};
    const size_t at = kerf_rng_below(rng, n);
    switch (kerf_rng_below(rng, 5)) {
    case 0:
        line[at] = (unsigned char)kerf_rng_below(rng, 256);
        return n;
    case 1:
        return at + 1;
    case 2: {
        const size_t n_removed = 1 + kerf_rng_below(rng, n - at < 12 ? n - at : 12);
        memmove(line + at, line + at + n_removed, n - at - n_removed);
        return n - n_removed > 0 ? n - n_removed : 1;
    }
    default: {
        const char *const piece = pieces[kerf_rng_below(rng, sizeof pieces / sizeof pieces[0])];
        const size_t n_piece = strlen(piece);
        if (n + n_piece > MAX_LINE)
            return n;
        memmove(line + at + n_piece, line + at, n - at);
        memcpy(line + at, piece, n_piece);
        return n + n_piece;
    }
    }
}

static void mutated_lines(void) {
    map_arena();
    kerf_rng rng = kerf_rng_seeded(1, 0);
    unsigned char line[MAX_LINE];
    const char *fault = NULL;
    size_t n = 0;
    for (int i = 0; i < N_MUTATED && !fault; ++i) {
        const char *const seed = record_lines[kerf_rng_below(&rng, N_RECORD_LINES)];
        n = strlen(seed);
        memcpy(line, seed, n);
        for (uint64_t left = kerf_rng_below(&rng, 4); left > 0; --left)
            n = mutate(line, n, &rng);
        fault = record_line_fault(line, n, &arena);
    }
    REQUIRE_MESSAGE(!fault, "%s, for the line '%.*s'", fault, (int)n, (const char *)line);
}

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s.jsonl", cli_folder(), name);
    return path;
}

static kerf_status read_back(const char *name, const char *content, size_t n_bytes, kerf_record_file *file,
                             kerf_error *error) {
    FILE *const out = fopen(path_of(name), "w");
    if (!out || fwrite(content, 1, n_bytes, out) != n_bytes || fclose(out) != 0)
        abort();
    map_arena();
    return kerf_record_read_file(path_of(name), &arena, file, error);
}

static void a_file_is_read_line_by_line(void) {
    static char content[N_RECORD_LINES * MAX_LINE];
    kerf_text text = kerf_text_over(content, sizeof content);
    for (int i = 0; i < N_RECORD_LINES; ++i)
        kerf_text_printf(&text, "%s\n%s", record_lines[i], i == 2 ? "\n{\"schema\":1,\"kind\":\"dream\"}\n" : "");
    kerf_record_file file;
    kerf_error error = {""};
    REQUIRE_MESSAGE(read_back("whole", content, text.length, &file, &error) == KERF_OK, "%s", error.message);
    REQUIRE(file.records.n == N_RECORD_LINES && file.n_unknown == 1 && !file.cut);
    REQUIRE(file.records.at[0]->kind == KERF_RECORD_RUN && file.records.at[N_RECORD_LINES - 1]->exit_code == 4);
    /* Killed while it wrote: every shorter file is whole up to its last line. */
    for (size_t n = strlen(record_lines[0]) + 1; n < text.length; n += 37) {
        REQUIRE_MESSAGE(read_back("short", content, n, &file, &error) == KERF_OK, "%zu bytes: %s", n, error.message);
        REQUIRE(file.records.n >= 1 && file.records.n <= N_RECORD_LINES);
        const bool between = content[n - 1] == '\n' || content[n] == '\n';
        REQUIRE_MESSAGE(file.cut != between, "%zu bytes", n);
    }
}

static void what_is_no_file_of_records_is_named(void) {
    kerf_record_file file;
    kerf_error error = {""};
    REQUIRE(read_back("empty", "", 0, &file, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "holds no record"), "%s", error.message);
    REQUIRE(read_back("csv", "kind,op\r\nx,y\r\n", 14, &file, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "line 1: expected a record"), "%s", error.message);
    const char *const end = record_lines[N_RECORD_LINES - 1];
    char middle[512];
    snprintf(middle, sizeof middle, "%s\n{\"schema\":1,\n%s\n", end, end);
    REQUIRE(read_back("middle", middle, strlen(middle), &file, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "line 2"), "%s", error.message);
    snprintf(middle, sizeof middle, "%s\n%s\n", end, end);
    middle[strlen(end) / 2] = '\0';
    REQUIRE(read_back("zero", middle, 2 * strlen(end) + 2, &file, &error) == KERF_ERROR_FILE);
    REQUIRE(kerf_record_read_file("/nowhere/x", &arena, &file, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "/nowhere/x"), "%s", error.message);
    REQUIRE(kerf_record_read_file("/tmp", &arena, &file, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "cannot be read"), "%s", error.message);
    REQUIRE(kerf_record_read_file("/dev/zero", &arena, &file, &error) == KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "longer than 16 MiB"), "%s", error.message);
}

const kerf_test kerf_tests_unit_record_read[] = {
    {"records: every kind reads back as it was printed", "[unit][record]", every_kind_comes_back, __FILE__, __LINE__},
    {"records: fields stand where they belong", "[unit][record]", fields_stand_where_they_belong, __FILE__, __LINE__},
    {"records: unknown fields are kept and unknown kinds left out", "[unit][record]",
     unknown_fields_are_kept_and_kinds_left_out, __FILE__, __LINE__},
    {"records: control characters in texts are defused", "[unit][record]", control_characters_are_defused, __FILE__,
     __LINE__},
    {"records: damage is named with its field", "[unit][record]", damage_is_named, __FILE__, __LINE__},
    {"records: deep nesting is refused", "[unit][record]", depth_is_refused, __FILE__, __LINE__},
    {"records: a full arena is told", "[unit][record]", a_full_arena_is_told, __FILE__, __LINE__},
    {"records: mutated lines are read or refused and nothing else", "[unit][record][fuzz]", mutated_lines, __FILE__,
     __LINE__},
    {"records: a file is read line by line up to a cut one", "[unit][record]", a_file_is_read_line_by_line, __FILE__,
     __LINE__},
    {"records: what is no file of records is named", "[unit][record]", what_is_no_file_of_records_is_named, __FILE__,
     __LINE__},
    {0},
};
