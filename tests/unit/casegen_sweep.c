/* Sweeps: what a text means, and that no text does harm. */
#include "harness/casegen_sweep.h"

#include "base/rng.h"
#include "tests/catch_shim.h"

#include <string.h>

static const char *const dims[] = {"N", "C", NULL}, *const inputs[] = {"x", NULL}, *const outputs[] = {"y", NULL};
static const char *const fills[] = {"exact", NULL};
static const kerf_dtype dtypes[] = {KERF_F32};
static const kerf_op toy = {.bytes = sizeof toy,
                            .name = "toy",
                            .dims = dims,
                            .inputs = inputs,
                            .outputs = outputs,
                            .fills = fills,
                            .dtypes = dtypes,
                            .n_dtypes = 1};

static kerf_status parse(const char *text, kerf_sweep *sweep, kerf_error *error) {
    return kerf_sweep_parse(&toy, text, sweep, error);
}

static bool has_sizes(const kerf_sweep *sweep, int n, const int64_t *sizes) {
    return sweep->n_sizes == n && memcmp(sweep->size, sizes, (size_t)n * sizeof *sizes) == 0;
}
#define SIZES(...)                                                                                                     \
    (int)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)), (const int64_t[]) {                                       \
        __VA_ARGS__                                                                                                    \
    }

static void ranges_and_lists(void) {
    kerf_sweep sweep;
    REQUIRE(parse("C=1..10x3", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(1, 3, 9)));
    REQUIRE(parse("C=1..8", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(1, 2, 4, 8)));
    REQUIRE(parse("C=0..7+3", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(0, 3, 6)));
    REQUIRE(parse("C=5..5+1", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(5)));
    REQUIRE(parse("C=7", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(7)));
    REQUIRE(parse("C=3,1,0", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(3, 1, 0)));
    REQUIRE(sweep.dims == UINT32_C(1) << 1);
    REQUIRE(parse("C=N=2,4", &sweep, NULL) == KERF_OK && has_sizes(&sweep, SIZES(2, 4)) && sweep.dims == 3);
}

/* The last step of a range may leave the numbers there are. */
static void the_end_of_the_numbers(void) {
    kerf_sweep sweep;
    REQUIRE(parse("C=4611686018427387904..9223372036854775807x3", &sweep, NULL) == KERF_OK);
    REQUIRE(has_sizes(&sweep, SIZES(INT64_C(4611686018427387904))));
    REQUIRE(parse("C=9223372036854775806..9223372036854775807+1", &sweep, NULL) == KERF_OK);
    REQUIRE(has_sizes(&sweep, SIZES(INT64_MAX - 1, INT64_MAX)));
    REQUIRE(parse("C=1..9223372036854775807x2", &sweep, NULL) == KERF_OK);
    REQUIRE(sweep.n_sizes == 63);
}

static void refused_with_one_line(void) {
    static const struct {
        const char *text, *words;
    } refused[] = {
        {"", "no dim"},
        {"C", "no dim"},
        {"=1", "unknown dim"},
        {"Q=1", "unknown dim"},
        {"C=", "not a size"},
        {"C=,", "not a size"},
        {"C=1,", "not a size"},
        {"C=-1", "not a size"},
        {"C=1.5", "not a size"},
        {"C=1 ,2", "not a size"},
        {"C=1..", "not a size"},
        {"C=..4", "not a size"},
        {"C=4..1", "ends"},
        {"C=1..4+0", "step"},
        {"C=1..4x1", "factor"},
        {"C=1..4x0", "factor"},
        {"C=0..4x2", "0 times"},
        {"C=1..4x", "not a"},
        {"C=1..4x2x2", "not a"},
        {"C=1..4+-1", "not a"},
        {"C=1..65+1", "64"},
        {"C=1,2,1", "twice"},
        {"C=C=1", "twice"},
        {"C==1", "unknown dim"},
        {"C=1...4", "not a"},
        {"C=1;N=2", "unknown"},
        {"C=9223372036854775808", "not a size"},
        {"C=1..18446744073709551616", "not a size"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        kerf_sweep sweep;
        kerf_error error = {""};
        REQUIRE_MESSAGE(parse(refused[i].text, &sweep, &error) == KERF_ERROR_USAGE, "'%s'", refused[i].text);
        REQUIRE_MESSAGE(strstr(error.message, refused[i].words), "'%s': %s", refused[i].text, error.message);
        REQUIRE(!strchr(error.message, '\n'));
    }
}

/* Texts made of the pieces of sweeps, and of any bytes: never more sizes than there is room for, no size twice, one
 * printable line where it is refused. */
static void hostile_texts(void) {
    static const char *const pieces[] = {"C",
                                         "N",
                                         "=",
                                         "..",
                                         ".",
                                         "x",
                                         "+",
                                         ",",
                                         "0",
                                         "1",
                                         "7",
                                         "64",
                                         "-",
                                         " ",
                                         "9223372036854775807",
                                         "99999999999999999999",
                                         "\n",
                                         "\x1b[2J",
                                         "\xff"};
    kerf_rng rng = kerf_rng_seeded(5, 0);
    int n_good = 0;
    for (int round = 0; round < 30000; ++round) {
        char text[700] = "";
        const int n = (int)kerf_rng_below(&rng, round % 100 == 0 ? 60 : 9);
        strcpy(text, round % 2 ? "C=" : "");
        for (int i = 0; i < n && strlen(text) < 600; ++i)
            strcat(text, pieces[kerf_rng_below(&rng, sizeof pieces / sizeof pieces[0])]);
        kerf_sweep sweep;
        kerf_error error = {""};
        const kerf_status status = parse(text, &sweep, &error);
        REQUIRE(status == KERF_OK || status == KERF_ERROR_USAGE);
        n_good += status == KERF_OK;
        for (const unsigned char *c = (const unsigned char *)error.message; *c; ++c)
            REQUIRE_MESSAGE(*c >= 0x20 && *c != 0x7f, "'%s'", error.message);
        if (status != KERF_OK)
            continue;
        REQUIRE(sweep.n_sizes >= 1 && sweep.n_sizes <= KERF_SWEEP_SIZES && sweep.dims != 0);
        for (int i = 0; i < sweep.n_sizes; ++i)
            for (int j = 0; j < i; ++j)
                REQUIRE(sweep.size[i] != sweep.size[j] && sweep.size[i] >= 0);
    }
    REQUIRE(n_good > 100);
}

static void cases_are_all_combinations(void) {
    kerf_arena arena;
    REQUIRE(kerf_arena_map_shared(&arena, 1 << 20, NULL) == KERF_OK);
    kerf_case_list base = {0}, cases;
    kerf_error error = {""};
    REQUIRE_MESSAGE(kerf_cases_read(&toy, "base", "N=1 C=2", KERF_EXPAND_ALL, NULL, &arena, &base, &error) == KERF_OK,
                    "%s", error.message);
    const char *const texts[] = {"N=1,5", "C=2..8", NULL};
    REQUIRE(kerf_sweep_expand(&toy, texts, &base, &arena, &cases, &error) == KERF_OK);
    REQUIRE(cases.n == 6);
    REQUIRE(cases.at[0].dim[0] == 1 && cases.at[0].dim[1] == 2);
    REQUIRE(cases.at[2].dim[0] == 1 && cases.at[2].dim[1] == 8);
    REQUIRE(cases.at[3].dim[0] == 5 && cases.at[3].dim[1] == 2);
    const char *const twice[] = {"N=1,5", "N=C=2..8", NULL}, *const many[] = {"N=1..40+1", "C=1..40+1", NULL};
    REQUIRE(kerf_sweep_expand(&toy, twice, &base, &arena, &cases, &error) == KERF_ERROR_USAGE);
    REQUIRE(strstr(error.message, "swept already"));
    REQUIRE(kerf_sweep_expand(&toy, many, &base, &arena, &cases, &error) == KERF_ERROR_USAGE);
    REQUIRE(strstr(error.message, "256 cases"));
    kerf_arena_unmap(&arena);
}

const kerf_test kerf_tests_unit_casegen_sweep[] = {
    {"sweep: ranges and lists", "[unit][sweep]", ranges_and_lists, __FILE__, __LINE__},
    {"sweep: the end of the numbers", "[unit][sweep]", the_end_of_the_numbers, __FILE__, __LINE__},
    {"sweep: bad texts are refused with one line", "[unit][sweep]", refused_with_one_line, __FILE__, __LINE__},
    {"sweep: hostile texts do no harm", "[unit][sweep]", hostile_texts, __FILE__, __LINE__},
    {"sweep: cases are all combinations", "[unit][sweep]", cases_are_all_combinations, __FILE__, __LINE__},
    {0},
};
