/* Spaces as tables: what is in them, what restrictions and constraints leave, and what is said when nothing is left. */
#include "harness/space.h"
#include "base/cpu.h"
#include "harness/casegen.h"
#include "harness/expression.h"
#include "kernels/registry.h"
#include "tests/catch_shim.h"
#include <stdio.h>
#include <string.h>

static const kerf_parameter *const tiles[] = {
    KERF_PARAMETER("tile", 8, 4, 8, 16, 32),
    KERF_PARAMETER("unroll", 1, 1, 2, 4),
    KERF_CHOICE("packing", "auto", "packed", "in_place"),
    NULL,
};
static const char *const tile_constraints[] = {"tile * unroll <= 32", "tile <= C", NULL};
static const kerf_space tile_space = {.bytes = sizeof tile_space, .parameters = tiles, .constraints = tile_constraints};
static const kerf_parameter *const blocks[] = {KERF_PARAMETER("block", 64, 64, 128, 256),
                                               KERF_PARAMETER("tile", 8, 4, 8, 16, 32), NULL};
static const kerf_space block_space = {.bytes = sizeof block_space, .parameters = blocks};
static const kerf_symbol symbols[] = {{"C", 16}, {"lanes", 8}, {0}};
static const kerf_space_part parts[] = {
    {.name = "tiled", .space = &tile_space, .most_threads = 3, .symbols = symbols},
    {.name = "plain", .most_threads = 3, .symbols = symbols},
    {.name = "blocked", .space = &block_space, .symbols = symbols},
};

typedef struct built {
    kerf_arena arena;
    kerf_search_space space;
    kerf_status status;
    kerf_error error;
} built;

/* The first n of `list`; the result is valid until the next call. */
static const built *build(const kerf_space_part *list, int n, const char *restriction, const char *constraint,
                          const char *other) {
    static built b;
    if (b.arena.base)
        kerf_arena_rewind(&b.arena, 0);
    else
        CHECK(kerf_arena_map_shared(&b.arena, (size_t)1 << 30, &b.error) == KERF_OK);
    const char *const restrictions[] = {restriction, NULL}, *const constraints[] = {constraint, other, NULL};
    const kerf_space_request request = {
        .parts = list, .n_parts = n, .restrictions = restrictions, .constraints = constraints};
    b.error.message[0] = '\0';
    b.status = kerf_search_space_build(&request, &b.arena, &b.space, &b.error);
    return &b;
}

static void every_config_is_there_once(void) {
    const built *const b = build(parts, 3, NULL, NULL, NULL);
    REQUIRE_MESSAGE(b->status == KERF_OK, "%s", b->error.message);
    /* tile 4, 8, 16 with unroll 1, 2, 4, less 16 * 4: 8 pairs, times 3 packings and threads 1, 2, 3. */
    REQUIRE(b->space.n_configs == 8 * 3 * 3 + 3 + 3 * 4);
    REQUIRE(b->space.n_parameters == 6); /* variant, threads, tile, unroll, packing, block */
    static char text[128][96];
    for (int i = 0; i < b->space.n_configs; ++i) {
        kerf_text to = kerf_text_over(text[i], sizeof text[i]);
        kerf_text_printf(&to, "%s:", parts[kerf_search_space_variant(&b->space, i)].name);
        kerf_search_space_print(&b->space, i, &to);
        for (int k = 0; k < i; ++k)
            REQUIRE_MESSAGE(strcmp(text[i], text[k]) != 0, "%s is there twice", text[i]);
    }
    REQUIRE_MESSAGE(strcmp(text[0], "tiled:threads=1,tile=4,unroll=1,packing=auto") == 0, "%s", text[0]);
    REQUIRE_MESSAGE(strcmp(text[72], "plain:threads=1") == 0, "%s", text[72]);
    REQUIRE_MESSAGE(strstr(text[75], "blocked:tile=4,block=64"), "%s", text[75]);
}

static void settings_carry_the_values(void) {
    const built *const b = build(parts, 1, "packing=in_place", "threads == 3 && tile == 16 && unroll == 2", NULL);
    REQUIRE_MESSAGE(b->status == KERF_OK && b->space.n_configs == 1, "%s", b->error.message);
    kerf_config config;
    kerf_arena arena = b->arena;
    kerf_error error;
    REQUIRE(kerf_search_space_config(&b->space, 0, &arena, &config, &error) == KERF_OK);
    REQUIRE(kerf_config_get(&config, "threads", 0) == 3 && kerf_config_get(&config, "tile", 0) == 16);
    REQUIRE(kerf_config_get(&config, "unroll", 0) == 2 && kerf_config_get(&config, "packing", 0) == 2);
    REQUIRE(config.n == 4);
}

static void defaults_are_told(void) {
    kerf_arena arena;
    kerf_error error;
    kerf_config config;
    char memory[96];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    REQUIRE(kerf_arena_map_shared(&arena, 1 << 16, &error) == KERF_OK);
    REQUIRE(kerf_space_standard(&parts[0], &arena, &config, &error) == KERF_OK);
    REQUIRE(config.n == 4 && kerf_config_get(&config, "threads", 0) == 3 && kerf_config_get(&config, "tile", 0) == 8);
    kerf_space_print_standard(&parts[0], &text);
    REQUIRE_MESSAGE(strcmp(memory, "threads=3,tile=8,unroll=1,packing=auto") == 0, "%s", memory);
    kerf_arena_unmap(&arena);
}

static void restrictions_and_constraints_narrow(void) {
    static const struct {
        const char *restriction, *constraint;
        int64_t n; /* of all three parts */
    } cases[] = {
        {"threads=2", NULL, 8 * 3 + 1 + 12},
        {"threads=3,1,3,1", NULL, 8 * 3 * 2 + 2 + 12},
        {"packing=packed,auto", NULL, 8 * 2 * 3 + 3 + 12},
        {"tile=16", NULL, 2 * 3 * 3 + 3 + 3}, /* of both parts that have it */
        {"block=128", NULL, 72 + 3 + 4},
        {NULL, "packing == packed", 8 * 3 + 3 + 12}, /* parts without it are left alone */
        {NULL, "packing != auto && tile == C", 2 * 2 * 3 + 3 + 12},
        {NULL, "tile >= lanes", (3 + 2) * 9 + 3 + 9},
        {NULL, "C > 100 || threads == 1", 24 + 1 + 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const built *const b = build(parts, 3, cases[i].restriction, cases[i].constraint, NULL);
        REQUIRE_MESSAGE(b->status == KERF_OK && b->space.n_configs == cases[i].n, "case %d: %lld configurations; %s",
                        (int)i, (long long)b->space.n_configs, b->error.message);
    }
}

static void what_is_unknown_is_named(void) {
    static const struct {
        const char *restriction, *constraint, *given, *allowed;
    } cases[] = {
        {"tyle=4", NULL, "'tyle'", "did you mean 'tile'"},
        {"tyle=4", NULL, "threads, tile, unroll, packing, block", "--variant"},
        {"variant=plain", NULL, "'variant'", "--variant"},
        {"tile=5", NULL, "'5'", "4, 8, 16, 32"},
        {"tile=4,x", NULL, "'x'", "4, 8, 16, 32"},
        {"packing=paked", NULL, "'paked'", "did you mean 'packed'"},
        {"tile=", NULL, "'tile='", "NAME=VALUE"},
        {"tile", NULL, "'tile'", "NAME=VALUE"},
        {"tile=4,", NULL, "''", "4, 8, 16, 32"},
        {"threads=4", NULL, "'4'", "1 to 3"},
        {"threads=0", NULL, "'0'", "1 to 3"},
        {"threads=two", NULL, "'two'", "1 to 3"},
        {NULL, "tyle < 3", "'tyle'", "did you mean 'tile'"},
        {NULL, "tile < Z", "'Z'", "lanes"},
        {NULL, "tile <", "'tile <'", "expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const built *const b = build(parts, 3, cases[i].restriction, cases[i].constraint, NULL);
        REQUIRE_MESSAGE(b->status == KERF_ERROR_USAGE, "case %d is not refused", (int)i);
        REQUIRE_MESSAGE(strstr(b->error.message, cases[i].given) && strstr(b->error.message, cases[i].allowed),
                        "case %d: %s", (int)i, b->error.message);
    }
}

static void what_empties_a_space_is_named(void) {
    static const struct {
        const char *restriction, *constraint, *other, *words, *more;
    } cases[] = {
        {NULL, "tile > 300", NULL, "'tile > 300' holds for none", "tiled"},
        {NULL, "tile > 8", "tile < 16", "'tile < 16' contradicts 'tile > 8'", "tiled"},
        {NULL, "tile == 32", NULL, "'tile == 32' contradicts 'tile <= C'", "tiled"},
        {"tile=32", NULL, NULL, "'tile <= C' holds for none of its values", "tiled"},
        {NULL, "tile * unroll > 16 && unroll == 4", "threads == 1 && tile < 8 ", "contradicts", "tile < 8 "},
        {NULL, "C == 3", NULL, "'C == 3' holds for none", "tiled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const built *const b = build(parts, 1, cases[i].restriction, cases[i].constraint, cases[i].other);
        REQUIRE_MESSAGE(b->status == KERF_ERROR_USAGE, "case %d is not refused", (int)i);
        REQUIRE_MESSAGE(strstr(b->error.message, cases[i].words) && strstr(b->error.message, cases[i].more),
                        "case %d: %s", (int)i, b->error.message);
    }
}

/* 16 parameters of 16 values are 2^64 configurations; one constraint per pair leaves one of each. */
static void a_huge_product_is_not_walked(void) {
    static const int64_t values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static kerf_parameter parameter[16];
    static char names[16][4], texts[8][40];
    const kerf_parameter *list[17] = {NULL};
    const char *constraints[9] = {NULL};
    for (int i = 0; i < 16; ++i) {
        snprintf(names[i], sizeof names[i], "p%d", i);
        parameter[i] =
            (kerf_parameter){.bytes = sizeof(kerf_parameter), .name = names[i], .values = values, .n_values = 16};
        list[i] = &parameter[i];
        snprintf(texts[i / 2], sizeof texts[i / 2], "p%d + p%d == 30", i / 2 * 2, i / 2 * 2 + 1);
        constraints[i / 2] = texts[i / 2];
    }
    const kerf_space tied = {.bytes = sizeof tied, .parameters = list, .constraints = constraints};
    const kerf_space loose = {.bytes = sizeof loose, .parameters = list};
    const kerf_space_part part = {.name = "tied", .space = &tied}, large = {.name = "large", .space = &loose};
    REQUIRE(build(&part, 1, NULL, NULL, NULL)->space.n_configs == 1);
    const built *const b = build(&large, 1, NULL, NULL, NULL);
    REQUIRE(b->status == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strstr(b->error.message, "too large") && strstr(b->error.message, "--constraint"), "%s",
                    b->error.message);
    /* The sum of all is looked at when the last one has a value: too many to try. */
    const char *const sum = "p0+p1+p2+p3+p4+p5+p6+p7+p8+p9+p10+p11+p12+p13+p14+p15 == 240";
    REQUIRE(build(&large, 1, NULL, sum, NULL)->status == KERF_ERROR_USAGE);
}

static void spaces_of_variants_are_sound(void) {
    const kerf_registry *const registry = kerf_registry_builtin();
    for (int o = 0; registry->ops[o]; ++o) {
        const kerf_op_entry *const entry = registry->ops[o];
        kerf_symbol of_dims[KERF_MAX_DIMS + 4] = {{0}};
        int n = 0;
        for (; entry->op->dims[n]; ++n)
            of_dims[n] = (kerf_symbol){entry->op->dims[n], 64};
        of_dims[n++] = (kerf_symbol){"element_bytes", 4};
        of_dims[n++] = (kerf_symbol){"lanes", 8};
        of_dims[n++] = (kerf_symbol){"processors", 4};
        for (int r = 0; entry->rows[r]; ++r) {
            for (int k = 0; k < KERF_N_CLASSES; ++k) {
                const kerf_variant *const variant = entry->rows[r]->variant[k];
                if (entry->rows[r]->missing || !variant || !variant->space)
                    continue;
                const kerf_space_part part = {
                    .name = entry->rows[r]->name, .space = variant->space, .symbols = of_dims};
                /* The default alone, through all of its variant's constraints. */
                char memory[400] = "1";
                kerf_text text = kerf_text_over(memory, sizeof memory);
                kerf_text_printf(&text, "1");
                for (int p = 0; variant->space->parameters[p]; ++p)
                    kerf_text_printf(&text, " && %s == %lld", variant->space->parameters[p]->name,
                                     (long long)variant->space->parameters[p]->standard);
                const built *const b = build(&part, 1, NULL, memory, NULL);
                REQUIRE_MESSAGE(b->status == KERF_OK && b->space.n_configs == 1, "%s of %s: %s", part.name,
                                entry->op->name, b->error.message);
            }
        }
    }
}

#define TEST(name, run)                                                                                                \
    { "space: " name, "[unit][tune]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_space[] = {
    TEST("every configuration is there once", every_config_is_there_once),
    TEST("settings carry the values", settings_carry_the_values),
    TEST("defaults are told", defaults_are_told),
    TEST("restrictions and constraints narrow it", restrictions_and_constraints_narrow),
    TEST("what is unknown is named with what is allowed", what_is_unknown_is_named),
    TEST("what empties it is named", what_empties_a_space_is_named),
    TEST("a huge product is not walked", a_huge_product_is_not_walked),
    TEST("defaults of the built-in variants satisfy their constraints", spaces_of_variants_are_sound),
    {0},
};
