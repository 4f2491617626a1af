/* From sampled addresses to the lines that are shown. */
#include "harness/annotate_code.h"

#include "harness/casegen.h"
#include "tests/catch_shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void histograms_count(void) {
    kerf_histogram *const h = calloc(1, sizeof *h);
    REQUIRE(h != NULL);
    uint64_t count = 0, places = 0;
    for (uint64_t i = 0; i < 3000; ++i)
        kerf_histogram_add(h, 0x401000 + i % 1000);
    for (size_t i = 0; i < KERF_HISTOGRAM_SLOTS; ++i) {
        places += h->slot[i].address != 0;
        count += h->slot[i].count;
    }
    const bool right = h->n_samples == 3000 && h->n_lost == 0 && places == 1000 && count == 3000;
    /* More addresses than slots: what does not fit is counted as lost, and nothing else happens. */
    for (uint64_t i = 0; i < 2 * KERF_HISTOGRAM_SLOTS; ++i)
        kerf_histogram_add(h, 0x7f0000000000 + i);
    count = 0;
    for (size_t i = 0; i < KERF_HISTOGRAM_SLOTS; ++i)
        count += h->slot[i].count;
    const bool full = h->n_lost > 0 && count + h->n_lost == h->n_samples;
    free(h);
    REQUIRE(right);
    REQUIRE(full);
}

static void symbols_are_read(void) {
    kerf_code_function f;
    REQUIRE(kerf_code_parse_symbol("0000000000093200 l     F .text\t0000000000008a11              add_samples\n", &f));
    REQUIRE(f.begin == 0x93200 && f.end == 0x93200 + 0x8a11 && strcmp(f.name, "add_samples") == 0);
    REQUIRE(kerf_code_parse_symbol("00000000000a0870 g   iD  .text\t0000000000000052  GLIBC_2.2.5 memcpy\n", &f) ==
            false);
    REQUIRE(kerf_code_parse_symbol("00000000000a0870 g    DF .text\t0000000000000052  GLIBC_2.2.5 puts\n", &f));
    REQUIRE(strcmp(f.name, "GLIBC_2.2.5 puts") == 0);
    static const char *const not_functions[] = {"",
                                                "\n",
                                                "SYMBOL TABLE:\n",
                                                "0000000000001000 l    d  .text\t0000000000000000 .text\n",
                                                "0000000000001000 l     F .text\t0000000000000000 empty\n",
                                                "0000000000001000 l     F .text\n",
                                                "0000000000001000 l F\n",
                                                "ffffffffffffffff l     F .text\t0000000000000002 wraps\n",
                                                "0000000000001000 l     F .text\t0000000000000004\n"};
    for (size_t i = 0; i < sizeof not_functions / sizeof not_functions[0]; ++i)
        REQUIRE_MESSAGE(!kerf_code_parse_symbol(not_functions[i], &f), "%s", not_functions[i]);
    char hostile[600] = "0000000000001000 l     F .text\t0000000000000004 \x1b[2J";
    memset(hostile + strlen(hostile), 'a', 400);
    REQUIRE(kerf_code_parse_symbol(hostile, &f));
    REQUIRE(f.name[0] == '?' && strlen(f.name) == sizeof f.name - 1);
}

static void instructions_are_read(void) {
    kerf_code_line line;
    REQUIRE(kerf_code_parse_line("   936f8:\tjl     93670 <add_samples+0x470>\n", &line));
    REQUIRE(line.address == 0x936f8 && line.target == 0x93670 && line.count == 0 && !line.shown);
    REQUIRE(strcmp(line.text, "jl     93670 <add_samples+0x470>") == 0);
    REQUIRE(kerf_code_parse_line("   936fe:\tlea    -0x30(%rbp),%rsp\n", &line) && line.target == 0);
    REQUIRE(kerf_code_parse_line("   93700:\tcall   1040 <memset@plt>\n", &line) && line.target == 0);
    REQUIRE(kerf_code_parse_line("    1a20:\tb.ne\t1a08 <run+0x10>  // b.any\n", &line) && line.target == 0x1a08);
    REQUIRE(kerf_code_parse_line("    1a24:\tcbnz\tx1, 1a08 <run+0x10>\n", &line) && line.target == 0x1a08);
    REQUIRE(kerf_code_parse_line("    1a28:\tjmp    *%rax\n", &line) && line.target == 0);
    REQUIRE(!kerf_code_parse_line("0000000000093200 <add_samples>:\n", &line));
    REQUIRE(!kerf_code_parse_line("\n", &line));
    REQUIRE(!kerf_code_parse_line("bench:     file format elf64-x86-64\n", &line));
    REQUIRE(!kerf_code_parse_line("   93200:\n", &line));
}

enum { LINES = 400 };
static kerf_code_line lines[LINES];

static void fill_lines(void) {
    for (int i = 0; i < LINES; ++i)
        lines[i] = (kerf_code_line){.address = 0x1000 + 4 * (uint64_t)i};
}

static void loops_around_hot_lines_are_shown(void) {
    fill_lines();
    lines[120].target = lines[100].address; /* the inner loop */
    lines[200].target = lines[60].address;  /* the outer one */
    lines[390].target = lines[0].address;   /* too long to be shown */
    lines[110].count = 950;
    lines[300].count = 3; /* stray */
    lines[112].count = 47;
    kerf_code_mark(lines, LINES, 0.9);
    for (int i = 0; i < LINES; ++i)
        REQUIRE_MESSAGE(lines[i].shown == (i >= 100 && i <= 120), "line %d", i);
}

static void lines_without_a_loop_have_some_around_them(void) {
    fill_lines();
    lines[0].count = 10;
    lines[12].count = 10; /* close enough for one stretch: 0 to 15 */
    lines[LINES - 1].count = 10;
    lines[200].target = 5; /* of no line */
    kerf_code_mark(lines, LINES, 1.0);
    for (int i = 0; i < LINES; ++i)
        REQUIRE_MESSAGE(lines[i].shown == (i <= 15 || i >= LINES - 4), "line %d", i);
    fill_lines();
    kerf_code_mark(lines, LINES, 0.9);
    for (int i = 0; i < LINES; ++i)
        REQUIRE(!lines[i].shown);
    kerf_code_mark(lines, 0, 0.9);
}

static kerf_status run_well(const kerf_launch *launch) {
    (void)launch;
    return KERF_OK;
}

static kerf_status run_into_nothing(const kerf_launch *launch) {
    (void)launch;
    raise(SIGSEGV);
    return KERF_OK;
}

static kerf_status run_without_success(const kerf_launch *launch) {
    (void)launch;
    return KERF_ERROR_DEVICE;
}

/* What becomes of sampling a row that does this. */
static kerf_status sample(kerf_status (*run)(const kerf_launch *), uint64_t *n_calls, kerf_error *error) {
    static const volatile sig_atomic_t never = 0;
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "grid_sampler_grad");
    const kerf_variant variant = {.bytes = sizeof variant, .run = run};
    const kerf_row row = {.bytes = sizeof row, .name = "scripted", .isa = "", .variant = {&variant, &variant}};
    kerf_arena arena;
    kerf_case c;
    kerf_sampled *sampled = NULL;
    KERF_TRY(kerf_arena_map_shared(&arena, (size_t)1 << 20, error));
    KERF_TRY(kerf_case_parse(entry->op, "N=1 C=1 H=2 W=2 Ho=1 Wo=1", &arena, &c, error));
    const kerf_status status = kerf_annotate_sample(&row, &c, 1, 0.001, &never, &sampled, error);
    *n_calls = sampled ? sampled->n_calls : 0;
    if (sampled)
        kerf_sampled_unmap(sampled);
    kerf_arena_unmap(&arena);
    return status;
}

static void rows_that_fail_are_told(void) {
    kerf_error error = {""};
    uint64_t n_calls;
    REQUIRE_MESSAGE(sample(run_well, &n_calls, &error) == KERF_OK, "%s", error.message);
    REQUIRE(n_calls > 0);
    REQUIRE(sample(run_without_success, &n_calls, &error) == KERF_ERROR_DEVICE);
    REQUIRE_MESSAGE(strstr(error.message, "returned an error"), "%s", error.message);
    REQUIRE(sample(run_into_nothing, &n_calls, &error) == KERF_ERROR_DEVICE);
    REQUIRE_MESSAGE(strstr(error.message, "the row"), "%s", error.message); /* a sanitizer ends it in its own way */
}

const kerf_test kerf_tests_unit_annotate[] = {
    {"annotate: histograms count", "[unit][annotate]", histograms_count, __FILE__, __LINE__},
    {"annotate: symbols are read", "[unit][annotate]", symbols_are_read, __FILE__, __LINE__},
    {"annotate: instructions are read", "[unit][annotate]", instructions_are_read, __FILE__, __LINE__},
    {"annotate: loops around hot lines are shown", "[unit][annotate]", loops_around_hot_lines_are_shown, __FILE__,
     __LINE__},
    {"annotate: lines without a loop have some around them", "[unit][annotate]",
     lines_without_a_loop_have_some_around_them, __FILE__, __LINE__},
    {"annotate: rows that fail are told", "[unit][annotate]", rows_that_fail_are_told, __FILE__, __LINE__},
    {0},
};
