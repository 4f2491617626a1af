/* One line of each kind of record, and what must hold of any bytes that are read as a record. */
#ifndef KERF_TESTS_UNIT_RECORD_LINES_H
#define KERF_TESTS_UNIT_RECORD_LINES_H

#include "harness/record_read.h"
#include <string.h>

#define RECORD_HEAD(kind) "{\"schema\":1,\"kind\":\"" kind "\","
#define RECORD_IDENTITY(mode)                                                                                          \
    "\"op\":\"grid_sampler_grad\",\"set\":\"bench\",\"case\":\"N=1 C=3 "                                               \
    "dtype=f32\",\"case_hash\":\"0xfedcba9876543210\""                                                                 \
    ",\"row\":\"vectorized.avx2@cpu\",\"mode\":\"" mode "\",\"config\":\"threads=2\","

static const char *const record_lines[] = {
    RECORD_HEAD(
        "run") "\"utc\":\"2026-11-30T12:00:00Z\",\"version\":\"0.1.0\",\"command\":\"bench --op x\",\"threads\":2,"
               "\"order_seed\":\"0x0000000000000001\",\"environment\":{\"cpu\":\"A \\\"CPU\\\"\",\"isa\":\"avx2\","
               "\"processors\":2,\"caches\":\"L1 32 KiB\",\"governor\":\"unknown\",\"virtual_machine\":\"yes\","
               "\"kernel\":\"6.1\",\"compiler\":\"gcc 12\",\"flags\":\"-O3\",\"build_id\":\"0af3\","
               "\"flush_to_zero\":\"off\",\"load_1min\":0.25,\"memory_available_bytes\":8589934592}}",
    RECORD_HEAD("verify") RECORD_IDENTITY("verify") "\"verdict\":\"PASS\",\"error_over_slack\":0.275,"
                                                    "\"spread_over_slack\":0.125}",
    RECORD_HEAD("verify")
        RECORD_IDENTITY("verify") "\"verdict\":\"FAIL\",\"error_over_slack\":null,\"check\":\"value\","
                                  "\"threads\":1,\"place\":\"right\",\"output\":\"dx\","
                                  "\"index\":[0,1,-2,4294967296],\"got\":null,\"low\":-1.5,\"high\":1e-300,"
                                  "\"slack\":0,\"bad_elements\":20,\"elements\":72,"
                                  "\"repeat\":\"bench verify\"}",
    RECORD_HEAD("verify") RECORD_IDENTITY("verify") "\"verdict\":\"SKIP\",\"error_over_slack\":0,"
                                                    "\"reason\":\"needs an AArch64 build\"}",
    RECORD_HEAD("time")
        RECORD_IDENTITY("hot") "\"verdict\":\"PASS\",\"error_over_slack\":0.275,\"threads\":2,"
                               "\"time_ns\":{\"middle\":1234.5,\"low\":1.2e+03,\"high\":1300.25},"
                               "\"covered\":0.96875,\"ratio_to_naive\":{\"middle\":4,\"low\":3.5,"
                               "\"high\":4.5},\"ratio_unresolved\":true,\"work\":{\"flops\":1e+06,\"read_bytes\":4096,"
                               "\"written_bytes\":12.5},\"limit\":{\"ns\":617.25,\"by\":\"copy\","
                               "\"level\":1048576,\"again\":true},\"share\":{\"middle\":0.5,\"low\":0.25,"
                               "\"high\":0.625},\"stop\":\"narrow,time\","
                               "\"split\":{\"calls\":7,\"call\":1.25e+03,\"pack\":125,\"compute\":1024,"
                               "\"unpack\":64.5},\"counters\":{\"calls\":3,\"cycles\":4096,"
                               "\"instructions\":8192,\"l1d_misses\":12,\"llc_misses\":null,"
                               "\"branch_misses\":0,\"cycles_per_ns\":2.5},"
                               "\"resolution_ns\":2.5,\"overhead_ns\":[[27,1.5],[0,0]],"
                               "\"samples\":[[0,0,9000000000,7],[5,65535,1,4294967295]]}",
    RECORD_HEAD("time")
        RECORD_IDENTITY("cold") "\"verdict\":\"FAIL\",\"error_over_slack\":3,\"reason\":\"a timed call was "
                                "wrong\",\"threads\":2,\"check\":\"timed\",\"output\":\"dgrid\",\"index\":[],"
                                "\"got\":1,\"low\":0,\"high\":0,\"slack\":0,\"bad_elements\":1,"
                                "\"elements\":2,\"repeat\":\"bench time\"}",
    RECORD_HEAD("tune") RECORD_IDENTITY("cold") "\"verdict\":\"CRASH\",\"error_over_slack\":0,"
                                                "\"reason\":\"signal 11\",\"phase\":\"search\",\"step\":1,"
                                                "\"configurations\":12,\"standard\":false,\"taken_over\":true,"
                                                "\"check\":\"run\",\"threads\":2,\"place\":\"left\","
                                                "\"repeat\":\"bench tune\"}",
    RECORD_HEAD("tune")
        RECORD_IDENTITY("hot") "\"verdict\":\"PASS\",\"error_over_slack\":0.5,\"phase\":\"final\",\"step\":3,"
                               "\"configurations\":12,\"standard\":true,\"chosen\":true,"
                               "\"time_ns\":{\"middle\":1234.5,\"low\":1.2e+03,\"high\":1300.25},"
                               "\"ratio_to_standard\":{\"middle\":1,\"low\":1,\"high\":1},\"covered\":0.96875,"
                               "\"resolution_ns\":2.5,\"overhead_ns\":[[27,1.5]],\"samples\":[[0,0,9000000000,7]]}",
    RECORD_HEAD("tune")
        RECORD_IDENTITY("hot") "\"verdict\":\"PASS\",\"error_over_slack\":0.5,\"phase\":\"confirm\",\"step\":3,"
                               "\"configurations\":12,\"standard\":false,\"chosen\":false,"
                               "\"time_ns\":{\"middle\":1234.5,\"low\":1.2e+03,\"high\":1300.25}}",
    RECORD_HEAD("trust") "\"op\":\"grid_sampler_grad\",\"mode\":\"padding_mode=zeros\",\"output\":\"dx\"}",
    RECORD_HEAD("end") "\"exit_code\":4,\"seconds\":12.5,\"passed\":10,\"failed\":1,\"skipped\":2}",
};
#define N_RECORD_LINES ((int)(sizeof record_lines / sizeof record_lines[0]))

/* Prints the record, its line left aside, into `printed` (without the newline). */
static inline void record_print(kerf_record record, char *printed, size_t capacity) {
    kerf_text text = kerf_text_over(printed, capacity);
    record.line = NULL;
    kerf_record_print_json(&record, &text);
    if (text.length > 0 && !text.cut)
        printed[text.length - 1] = '\0';
}

/* NULL, or what is wrong: a line is refused in words, or it is a record that prints as one line, which reads back as
 * the same record. */
static inline const char *record_line_fault(const unsigned char *data, size_t n_bytes, kerf_arena *arena) {
    static char once[1 << 16], again[1 << 16];
    kerf_record record;
    bool known;
    kerf_error error = {""};
    kerf_arena_rewind(arena, 0);
    if (kerf_record_parse((const char *)data, n_bytes, arena, &record, &known, &error) != KERF_OK)
        return error.message[0] && !strchr(error.message, '\n') ? NULL : "refused, but not in one line of words";
    if (!known)
        return NULL;
    record_print(record, once, sizeof once);
    if (strchr(once, '\n'))
        return "a record prints as more than one line";
    if (kerf_record_parse(once, strlen(once), arena, &record, &known, &error) != KERF_OK || !known)
        return "what was printed does not read back";
    record_print(record, again, sizeof again);
    return strcmp(once, again) == 0 ? NULL : "what was printed reads back as another record";
}

#endif
