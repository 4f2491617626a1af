/* The case sets that ship with grid_sampler_grad. */
#include "base/cpu.h"
#include "harness/casegen.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "tests/catch_shim.h"
#include <math.h>
#include <string.h>

static kerf_arena arena;
static const kerf_op *op;
static kerf_error error;

static bool is_ready(void) {
    if (arena.base)
        kerf_arena_rewind(&arena, 0);
    else if (kerf_arena_map_shared(&arena, 64u << 20, NULL) != KERF_OK)
        return false;
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "grid_sampler_grad");
    op = entry ? entry->op : NULL;
    return op != NULL;
}

static const char *find_set(const char *name) {
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "grid_sampler_grad");
    for (int i = 0; entry->cases[i]; i += 2)
        if (strcmp(entry->cases[i], name) == 0)
            return entry->cases[i + 1];
    return NULL;
}

static int count_lines(const char *text) {
    int n = 0;
    while (*text != '\0') {
        const size_t n_bytes = strcspn(text, "\n");
        n += n_bytes > 0 && *text != '#';
        text += n_bytes + (text[n_bytes] == '\n');
    }
    return n;
}

static bool read_set(const char *name, kerf_expansion expansion, kerf_case_list *list) {
    const char *const text = find_set(name);
    *list = (kerf_case_list){0};
    return text && kerf_cases_read(op, name, text, expansion, NULL, &arena, list, &error) == KERF_OK;
}

static void counts(void) {
    static const struct {
        const char *name;
        int least_lines;
        kerf_expansion expansion;
        int least, most;
    } sets[] = {
        {"smoke", 20, KERF_EXPAND_ALL, 20 * 72, 2000}, {"edge", 80, KERF_EXPAND_PAIRS, 80 * 12, 2000},
        {"bench", 12, KERF_EXPAND_PAIRS, 12, 40},      {"large", 10, KERF_EXPAND_PAIRS, 10, 40},
        {"models", 10, KERF_EXPAND_PAIRS, 10, 40},
    };
    REQUIRE(is_ready());
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        kerf_case_list list;
        REQUIRE_MESSAGE(read_set(sets[i].name, sets[i].expansion, &list), "%s: %s", sets[i].name, error.message);
        const int n_lines = count_lines(find_set(sets[i].name));
        REQUIRE_MESSAGE(n_lines >= sets[i].least_lines, "%s has %d lines", sets[i].name, n_lines);
        REQUIRE_MESSAGE(list.n >= sets[i].least && list.n <= sets[i].most, "%s has %d cases", sets[i].name, list.n);
    }
}

static void check_case(const kerf_case *c, const char *set) {
    char memory[2][4096];
    kerf_text text = kerf_text_over(memory[0], sizeof memory[0]), again = kerf_text_over(memory[1], sizeof memory[1]);
    kerf_case_print(c, &text);
    const size_t used = arena.used;
    kerf_problem problem;
    const kerf_status status = op->describe(c, &arena, &problem, &error);
    REQUIRE_MESSAGE(status == KERF_OK, "%s: '%s': %s", set, text.data, error.message);
    REQUIRE_MESSAGE(arena.used - used < 16384, "%s: '%s' takes %zu bytes", set, text.data, arena.used - used);
    kerf_case same;
    REQUIRE_MESSAGE(kerf_case_parse(op, text.data, &arena, &same, &error) == KERF_OK, "'%s': %s", text.data,
                    error.message);
    kerf_case_print(&same, &again);
    REQUIRE_MESSAGE(strcmp(text.data, again.data) == 0, "'%s' became '%s'", text.data, again.data);
    REQUIRE(kerf_case_hash(c) == kerf_case_hash(&same));
    arena.used = used;
}

static void every_case_is_described(void) {
    static const char *const sets[] = {"smoke", "edge", "bench", "large", "models"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        kerf_case_list list;
        REQUIRE(is_ready());
        REQUIRE_MESSAGE(read_set(sets[i], KERF_EXPAND_PAIRS, &list), "%s: %s", sets[i], error.message);
        for (int k = 0; k < list.n && !kerf_test_failed(); ++k)
            check_case(&list.at[k], sets[i]);
    }
}

/* Mode, type, fill, and each output alone: what trust in a run needs. */
static void smoke_covers(void) {
    REQUIRE(is_ready());
    kerf_case_list list;
    REQUIRE(read_set("smoke", KERF_EXPAND_ALL, &list));
    REQUIRE_MESSAGE(strcmp(op->fills[list.at[0].fill], "exact") == 0, "the first case is not exact");
    static bool seen[3][3][2][4][8], alone[2];
    memset(seen, 0, sizeof seen);
    int n_seen = 0;
    for (int i = 0; i < list.n; ++i) {
        const kerf_case *const c = &list.at[i];
        bool *const cell = &seen[c->attr[0].number][c->attr[1].number][c->attr[2].number][c->dtype][c->fill];
        n_seen += !*cell;
        *cell = true;
        if (c->want != 3)
            alone[c->want - 1] = true;
    }
    REQUIRE_MESSAGE(n_seen == 3 * 3 * 2 * 4 * 8, "%d of 576 combinations of mode, type and fill", n_seen);
    REQUIRE(alone[0] && alone[1]);
}

static void edge_covers(void) {
    REQUIRE(is_ready());
    kerf_case_list list;
    REQUIRE(read_set("edge", KERF_EXPAND_PAIRS, &list));
    static const int64_t channels[] = {0, 1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 64, 65};
    for (size_t k = 0; k < sizeof channels / sizeof *channels; ++k) {
        bool found = false;
        for (int i = 0; i < list.n; ++i)
            found |= list.at[i].dim[1] == channels[k];
        REQUIRE_MESSAGE(found, "no case has C=%d", (int)channels[k]);
    }
    static bool seen[3][3][2][4];
    memset(seen, 0, sizeof seen);
    int n_seen = 0;
    for (int i = 0; i < list.n; ++i) {
        const kerf_case *const c = &list.at[i];
        bool *const cell = &seen[c->attr[0].number][c->attr[1].number][c->attr[2].number][c->dtype];
        n_seen += !*cell;
        *cell = true;
    }
    REQUIRE_MESSAGE(n_seen == 72, "%d of 72 combinations of mode and type", n_seen);
}

static bool bench_has(const kerf_case_list *list, bool (*holds)(const kerf_case *c, int64_t value), int64_t value) {
    for (int i = 0; i < list->n; ++i)
        if (holds(&list->at[i], value))
            return true;
    return false;
}

static bool has_channels(const kerf_case *c, int64_t value) {
    return c->dim[1] == value;
}
static bool has_batch(const kerf_case *c, int64_t value) {
    return c->dim[0] == value;
}
static bool has_mode(const kerf_case *c, int64_t value) {
    return c->attr[0].number == value;
}
static bool has_dtype(const kerf_case *c, int64_t value) {
    return (int64_t)c->dtype == value;
}
static bool has_layout(const kerf_case *c, int64_t value) {
    return strcmp(c->layout, value ? "nhwc" : "nchw") == 0;
}

static void bench_covers(void) {
    static const struct {
        bool (*holds)(const kerf_case *c, int64_t value);
        int64_t value;
    } rows[] = {{has_channels, 1}, {has_channels, 3}, {has_channels, 32},    {has_channels, 64},   {has_channels, 256},
                {has_batch, 1},    {has_batch, 8},    {has_mode, 0},         {has_mode, 1},        {has_mode, 2},
                {has_layout, 0},   {has_layout, 1},   {has_dtype, KERF_F32}, {has_dtype, KERF_F16}};
    REQUIRE(is_ready());
    kerf_case_list list;
    REQUIRE(read_set("bench", KERF_EXPAND_ALL, &list));
    REQUIRE_MESSAGE(list.n == count_lines(find_set("bench")), "a case of bench is open");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        REQUIRE_MESSAGE(bench_has(&list, rows[i].holds, rows[i].value), "row %zu", i);
}

/* The scratch of the case in copies of x, grad and dx, all packed in the type that is computed in. */
static double copies_of(const kerf_case *c, const kerf_row *row) {
    kerf_problem problem;
    if (op->describe(c, &arena, &problem, &error) != KERF_OK)
        return INFINITY;
    const int class = kerf_dtype_class(c->dtype);
    double n = 0;
    const kerf_operand *const packed[] = {problem.in[KERF_GSG_X], problem.in[KERF_GSG_GRAD], problem.out[KERF_GSG_DX]};
    for (int i = 0; i < 3; ++i) {
        int64_t count = 0;
        if (!kerf_strided_count(&packed[i]->at, &count))
            return INFINITY;
        n += (double)count;
    }
    return (double)row->variant[class]->memory(&problem, NULL).scratch_bytes / (n * (class == 0 ? 4 : 8));
}

/* What is beyond one: frames around small images. */
static void scratch_is_about_one_packed_copy(void) {
    static const char *const sets[] = {"bench", "large", "models"};
    REQUIRE(is_ready());
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "grid_sampler_grad");
    for (int s = 0; s < 3; ++s) {
        kerf_case_list list;
        REQUIRE(read_set(sets[s], KERF_EXPAND_PAIRS, &list));
        for (int64_t i = 0; i < list.n; ++i)
            for (const kerf_row *const *row = entry->rows; *row; ++row) {
                if (strcmp((*row)->name, "vectorized") != 0 || (*row)->missing || (*row)->isa_mask & ~kerf_cpu_isa())
                    continue;
                char memory[4096];
                kerf_text text = kerf_text_over(memory, sizeof memory);
                kerf_case_print(&list.at[i], &text);
                const double copies = copies_of(&list.at[i], *row);
                REQUIRE_MESSAGE(copies <= 4.0 / 3, "%s %s: %.3g copies", (*row)->isa, memory, copies);
            }
    }
}

#define TEST(name, run)                                                                                                \
    { "case sets: " name, "[unit][cases]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_unit_case_sets[] = {
    TEST("each has its number of lines and cases", counts),
    TEST("every case is described and has one canonical text", every_case_is_described),
    TEST("smoke has every mode and type with every fill", smoke_covers),
    TEST("edge has the channel counts and every mode and type", edge_covers),
    TEST("bench has the layouts, channels, modes and types that it must", bench_covers),
    TEST("the scratch of vectorized is about one packed copy", scratch_is_about_one_packed_copy),
    {0},
};
