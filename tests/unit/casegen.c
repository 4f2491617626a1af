/* Case texts: what is read, how it is told when it is not, how open fields are closed. */
#include "tests/catch_shim.h"
#include "tests/unit/casegen_toy.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static kerf_arena arena;

static bool arena_is_ready(void) {
    if (arena.base)
        kerf_arena_rewind(&arena, 0);
    return arena.base || kerf_arena_map_shared(&arena, 64u << 20, NULL) == KERF_OK;
}

static const char *print(const kerf_case *c) {
    static char memory[8192];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(c, &text);
    return memory;
}

static kerf_status read_all(const char *text, kerf_expansion expansion, const kerf_case_filter *filter,
                            kerf_case_list *list, kerf_error *error) {
    return kerf_cases_read(&toy_op, "my.txt", text, expansion, filter, &arena, list, error);
}

static void canonical_texts(void) {
    static const struct {
        const char *given, *canonical;
    } texts[] = {
        {"N=1 Ho=2 Wo=3", "N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
        {"toy seed=0x10 fill=exact Wo=003\tHo=2  N=1 ", "N=1 Ho=2 Wo=3 dtype=f32 fill=exact seed=16"},
        {"mode=centre pad=zeros aligned=0 N=0 Ho=0 Wo=0", "N=0 Ho=0 Wo=0 dtype=f32 fill=uniform seed=1"},
        {"aligned=1 mode=upper N=1 Ho=2 Wo=3", "mode=high aligned=true N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
        {"N=1 Ho=2 Wo=9223372036854775807 seed=18446744073709551615",
         "N=1 Ho=2 Wo=9223372036854775807 dtype=f32 fill=uniform seed=18446744073709551615"},
        {"N=1 Ho=2 Wo=3 want=dgrid dtype=bf16", "N=1 Ho=2 Wo=3 dtype=bf16 fill=uniform want=dgrid seed=1"},
        {"N=1 Ho=2 Wo=3 want=dgrid+dx", "N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
        {"N=1 Ho=2 Wo=3 want=all layout=packed", "N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
        {"N=1 Ho=2 Wo=3 layout=dx=gap,grid=nchw,x=nhwc",
         "N=1 Ho=2 Wo=3 dtype=f32 layout=x=nhwc,dx=gap fill=uniform seed=1"},
        {"N=1 Ho=2 Wo=3 layout=x=packed", "N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
        {"steps=-4 scale=0.1 block=2,3 note=a=b N=1 Ho=2 Wo=3",
         "steps=-4 scale=0.1 block=2,3 note=a=b N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
        {"steps=3 scale=5e-1 block=2,2 note=none N=1 Ho=2 Wo=3", "N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1"},
    };
    REQUIRE(arena_is_ready());
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        kerf_case c;
        kerf_error error = {0};
        const kerf_status status = kerf_case_parse(&toy_op, texts[i].given, &arena, &c, &error);
        REQUIRE_MESSAGE(status == KERF_OK, "'%s': %s", texts[i].given, error.message);
        REQUIRE_MESSAGE(strcmp(print(&c), texts[i].canonical) == 0, "'%s' became '%s'", texts[i].given, print(&c));
        const char *const fault = round_trip_fault(&c, &arena);
        REQUIRE_MESSAGE(!fault, "'%s': %s", texts[i].given, fault);
    }
}

static void modes(void) {
    REQUIRE(arena_is_ready());
    kerf_case c;
    REQUIRE(kerf_case_parse(&toy_op, "aligned=1 N=1 Ho=2 Wo=3", &arena, &c, NULL) == KERF_OK);
    char memory[200];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print_mode(&c, &text);
    REQUIRE(strcmp(memory, "mode=middle pad=zeros aligned=true") == 0);
}

static void hashes(void) {
    static const char *const others[] = {
        "mode=high N=1 Ho=2 Wo=3",  "N=2 Ho=2 Wo=3",           "N=1 Ho=2 Wo=3 dtype=f16",
        "N=1 Ho=2 Wo=3 fill=kinks", "N=1 Ho=2 Wo=3 want=dx",   "N=1 Ho=2 Wo=3 layout=nhwc",
        "N=1 Ho=2 Wo=3 seed=2",     "N=1 Ho=2 Wo=3 block=2,1",
    };
    REQUIRE(arena_is_ready());
    kerf_case c, other;
    REQUIRE(kerf_case_parse(&toy_op, "N=1 Ho=2 Wo=3", &arena, &c, NULL) == KERF_OK);
    /* FNV-1a of "toy N=1 Ho=2 Wo=3 dtype=f32 fill=uniform seed=1": records of years hang on it. */
    REQUIRE(kerf_case_hash(&c) == UINT64_C(0xf23dca0baffa060a));
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        REQUIRE(kerf_case_parse(&toy_op, others[i], &arena, &other, NULL) == KERF_OK);
        REQUIRE_MESSAGE(kerf_case_hash(&other) != kerf_case_hash(&c), "'%s'", others[i]);
    }
}

static void bad_cases(void) {
    static const struct {
        const char *given, *message;
    } texts[] = {
        {"mod=low N=1 Ho=2 Wo=3",
         "unknown field 'mod' of toy; did you mean 'mode'? fields: mode pad aligned steps scale "
         "block note N Ho Wo dtype layout fill want seed"},
        {"mode=hihg N=1 Ho=2 Wo=3",
         "unknown value 'hihg' of mode; did you mean 'high'? values: low middle high centre upper"},
        {"mode= N=1 Ho=2 Wo=3", "unknown value '' of mode; values: low middle high centre upper"},
        {"N=1 Ho=2 Wo=3 dtype=f23", "unknown dtype 'f23' of toy; did you mean 'f32'? dtypes: f16 bf16 f32 f64"},
        {"N=1 Ho=2 Wo=3 fill=xyz", "unknown fill 'xyz' of toy; fills: exact uniform kinks"},
        {"N=1 Ho=2 Wo=3 want=dy", "unknown output 'dy' of toy; did you mean 'dx'? outputs: dx dgrid"},
        {"N=1 Ho=2 Wo=3 want=dx,dgrid", "want=dx,dgrid: outputs are joined by '+', not by ','"},
        {"N=1 Ho=2 Wo=3 want=dx+", "unknown output '' of toy; outputs: dx dgrid"},
        {"N=1 Ho=2 Wo=3 want=dx+dx", "want: output 'dx' is given twice; give each at most once"},
        {"N=1 Wo=3", "missing sizes: Ho; a case of toy gives all of: N Ho Wo"},
        {"", "missing sizes: N Ho Wo; a case of toy gives all of: N Ho Wo"},
        {"N=-1 Ho=2 Wo=3", "N=-1: a size is a whole number from 0 to 9223372036854775807"},
        {"N=9223372036854775808 Ho=2 Wo=3",
         "N=9223372036854775808: a size is a whole number from 0 to 9223372036854775807"},
        {"N=1e3 Ho=2 Wo=3", "N=1e3: a size is a whole number from 0 to 9223372036854775807"},
        {"N= Ho=2 Wo=3", "N=: a size is a whole number from 0 to 9223372036854775807"},
        {"N=* Ho=2 Wo=3", "N=*: a size is a whole number from 0 to 9223372036854775807"},
        {"N=1 Ho=2 Wo=3 seed=18446744073709551616",
         "seed=18446744073709551616: a seed is a whole number from 0 to 18446744073709551615, or 0x and lower-case "
         "hexadecimal digits"},
        {"N=1 N=1 Ho=2 Wo=3", "field 'N' is given twice; give each at most once"},
        {"N=1 Ho=2 Wo=3 mode=low mode=low", "field 'mode' is given twice; give each at most once"},
        {"N=1 Ho=2 Wo=3 layout=x=gap,x=flip", NULL},
        {"N=1 Ho=2 Wo=3 layout=spiral", NULL},
        {"N=1 Ho=2 Wo=3 layout=y=gap", NULL},
        {"toi N=1 Ho=2 Wo=3", "'toi' begins a case, but these are cases of toy"},
        {"N=1 toy Ho=2 Wo=3", "'toy' is not a field of a case; a field is key=value without blanks"},
        {"N=1 Ho=2 Wo=3 mode=*", "'*' leaves a field open, but one case is meant; give each a value"},
        {"N=1 Ho=2 Wo=3 steps=*", "steps=*: allowed is a whole number of at most 63 bits"},
        {"N=1 Ho=2 Wo=3 scale=nan", "scale=nan: allowed is a finite number"},
        {"N=1 Ho=2 Wo=3 block=1,,2", "block=1,,2: allowed are whole numbers with commas between them"},
        {"N=1\nHo=2 Wo=3", "N=1?Ho=2: a size is a whole number from 0 to 9223372036854775807"},
        {"\xff\x1b[31m=1", "unknown field '??[31m' of toy; fields: mode pad aligned steps scale block note N Ho Wo "
                           "dtype layout fill want seed"},
    };
    REQUIRE(arena_is_ready());
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        kerf_case c;
        kerf_error error = {0};
        const kerf_status status = kerf_case_parse(&toy_op, texts[i].given, &arena, &c, &error);
        REQUIRE_MESSAGE(status == KERF_ERROR_USAGE, "'%s' is accepted", texts[i].given);
        REQUIRE_MESSAGE(!texts[i].message || strcmp(error.message, texts[i].message) == 0, "'%s': %s", texts[i].given,
                        error.message);
        REQUIRE_MESSAGE(!message_fault(&error), "'%s': %s", texts[i].given, message_fault(&error));
    }
}

static void long_lines(void) {
    REQUIRE(arena_is_ready());
    static char text[5000];
    kerf_case_list list = {0};
    kerf_error error = {0};
    memset(text, ' ', sizeof text);
    memcpy(text + 4096 - 13, "N=1 Ho=2 Wo=3", 14);
    REQUIRE_MESSAGE(read_all(text, KERF_EXPAND_ALL, NULL, &list, &error) == KERF_OK, "%s", error.message);
    REQUIRE(list.n == 1);
    memmove(text + 1, text, 4097);
    REQUIRE(read_all(text, KERF_EXPAND_ALL, NULL, &list, &error) == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strcmp(error.message, "my.txt:1: a line of 4097 bytes; at most 4096 are allowed") == 0, "%s",
                    error.message);
}

static void lines_and_places(void) {
    REQUIRE(arena_is_ready());
    kerf_case_list list = {0};
    kerf_error error = {0};
    const char *const good = "# two cases, the second twice\r\n\n  \t\nN=1 Ho=2 Wo=3 # small\r\n"
                             "toy mode=low N=1 Ho=2 Wo=3\nmode=low Wo=3 Ho=2 N=1 dtype=f32";
    REQUIRE_MESSAGE(read_all(good, KERF_EXPAND_ALL, NULL, &list, &error) == KERF_OK, "%s", error.message);
    REQUIRE(list.n == 2);
    REQUIRE(list.at[0].attr[0].number == 1 && list.at[1].attr[0].number == 0);
    REQUIRE_MESSAGE(read_all("N=1 Ho=2 Wo=3\nN=7 Ho=2 Wo=3", KERF_EXPAND_ALL, NULL, &list, &error) == KERF_OK, "%s",
                    error.message);
    REQUIRE(list.n == 3 && list.at[2].dim[0] == 7);
    REQUIRE(read_all("N=1 Ho=2 Wo=3\n\nN=1 Ho=x Wo=3\n", KERF_EXPAND_ALL, NULL, &list, &error) == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strncmp(error.message, "my.txt:3: Ho=x: ", 16) == 0, "%s", error.message);
}

static void full_expansion(void) {
    REQUIRE(arena_is_ready());
    kerf_case_list list = {0};
    kerf_error error = {0};
    REQUIRE_MESSAGE(read_all("mode=* pad=* aligned=* dtype=* N=1 Ho=2 Wo=3", KERF_EXPAND_ALL, NULL, &list, &error) ==
                        KERF_OK,
                    "%s", error.message);
    REQUIRE(list.n == 72);
    for (int i = 0; i < list.n; ++i) {
        const kerf_case *const c = &list.at[i];
        const long number = ((c->attr[0].number * 3 + c->attr[1].number) * 2 + c->attr[2].number) * 4 + c->dtype;
        REQUIRE_MESSAGE(number == i, "case %d is '%s'", i, print(c));
    }
}

static void too_many_cases(void) {
    REQUIRE(arena_is_ready());
    enum { LINE_BYTES = 48, N_LINES = 13889 }; /* 72 cases each: 1000008 */
    char *const text = malloc((size_t)LINE_BYTES * N_LINES + 80);
    REQUIRE(text != NULL);
    size_t n = 0;
    for (int i = 0; i < N_LINES; ++i)
        n += (size_t)sprintf(text + n, "mode=* pad=* aligned=* dtype=* N=1 Ho=2 Wo=3\n");
    kerf_case_list list = {0};
    kerf_error error = {0};
    const kerf_status status = read_all(text, KERF_EXPAND_ALL, NULL, &list, &error);
    free(text);
    REQUIRE(status == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(
        strncmp(error.message, "my.txt:13889: with this line there are 1000008 cases; at most 1000000", 69) == 0, "%s",
        error.message);
}

/* Whether some case has this value in one field and that value in another; fields 0..2 are attributes, 3 the dtype. */
static int64_t field_value(const kerf_case *c, int field) {
    return field == 3 ? (int64_t)c->dtype : c->attr[field].number;
}

static int missing_pairs(const kerf_case_list *list, const int n_values[4]) {
    int missing = 0;
    for (int f = 0; f < 4; ++f)
        for (int g = f + 1; g < 4; ++g)
            for (int v = 0; v < n_values[f]; ++v)
                for (int w = 0; w < n_values[g]; ++w) {
                    bool found = false;
                    for (int i = 0; i < list->n; ++i)
                        found |= field_value(&list->at[i], f) == v && field_value(&list->at[i], g) == w;
                    missing += !found;
                }
    return missing;
}

static void pairs(void) {
    const int n_values[4] = {3, 3, 2, 4};
    int most = 0;
    for (int n = 0; n < 300; ++n) {
        REQUIRE(arena_is_ready());
        char line[100];
        snprintf(line, sizeof line, "mode=* pad=* aligned=* dtype=* N=%d Ho=2 Wo=3", n);
        kerf_case_list list = {0}, again = {0};
        REQUIRE(read_all(line, KERF_EXPAND_PAIRS, NULL, &list, NULL) == KERF_OK);
        REQUIRE_MESSAGE(missing_pairs(&list, n_values) == 0, "%d pairs missing for N=%d",
                        missing_pairs(&list, n_values), n);
        most = list.n > most ? list.n : most;
        REQUIRE(read_all(line, KERF_EXPAND_PAIRS, NULL, &again, NULL) == KERF_OK);
        REQUIRE(again.n == list.n);
        for (int i = 0; i < list.n; ++i)
            REQUIRE(kerf_case_hash(&list.at[i]) == kerf_case_hash(&again.at[i]));
    }
    /* 12 is the least that three paddings or modes with four types allow. */
    REQUIRE_MESSAGE(most <= 13, "%d rows", most);
}

static void pairs_differ_between_lines(void) {
    REQUIRE(arena_is_ready());
    kerf_case_list list = {0};
    char line[100];
    bool seen[3][3][2] = {0};
    int n_seen = 0;
    for (int n = 0; n < 20; ++n) {
        snprintf(line, sizeof line, "mode=* pad=* aligned=* dtype=* N=%d Ho=2 Wo=3", n);
        REQUIRE(read_all(line, KERF_EXPAND_PAIRS, NULL, &list, NULL) == KERF_OK);
    }
    for (int i = 0; i < list.n; ++i) {
        bool *const mode = &seen[list.at[i].attr[0].number][list.at[i].attr[1].number][list.at[i].attr[2].number];
        n_seen += !*mode;
        *mode = true;
    }
    REQUIRE_MESSAGE(n_seen == 18, "%d of 18 triples", n_seen);
}

static void pairs_of_narrowed_values(void) {
    REQUIRE(arena_is_ready());
    const char *const attrs[] = {"mode=low,centre", "pad=border", NULL};
    const kerf_case_filter filter = {.attrs = attrs, .dtypes = "f16,f64"};
    kerf_case_list list = {0};
    REQUIRE(read_all("mode=* pad=* aligned=* dtype=* N=1 Ho=2 Wo=3", KERF_EXPAND_PAIRS, &filter, &list, NULL) ==
            KERF_OK);
    REQUIRE_MESSAGE(list.n >= 4 && list.n <= 6, "%d rows", list.n);
    int n_pairs = 0;
    bool seen[2][2] = {0};
    for (int i = 0; i < list.n; ++i) {
        const kerf_case *const c = &list.at[i];
        REQUIRE(c->attr[0].number < 2 && c->attr[1].number == 1 && (c->dtype == KERF_F16 || c->dtype == KERF_F64));
        bool *const pair = &seen[c->attr[0].number][c->dtype == KERF_F64];
        n_pairs += !*pair;
        *pair = true;
    }
    REQUIRE(n_pairs == 4);
}

static void filters(void) {
    static const char *const lines = "mode=* N=1 Ho=2 Wo=3 dtype=*\n"
                                     "N=2 Ho=2 Wo=3 layout=nhwc want=dx fill=kinks\n"
                                     "N=3 Ho=2 Wo=3 layout=x=nhwc,dx=gap steps=7\n"
                                     "N=4 Ho=2 Wo=3 layout=x=strides:9:8:7:6 want=dgrid\n";
    static const struct {
        const char *name, *attr;
        kerf_case_filter filter;
        int n;
    } rows[] = {
        {"nothing", NULL, {0}, 15},
        {"synonym", "mode=upper", {0}, 4},
        {"default of a closed line", "mode=middle", {0}, 4 + 3},
        {"int attribute", "steps=7", {0}, 1},
        {"dtypes", NULL, {.dtypes = "f16,f32"}, 6 + 3},
        {"layout", NULL, {.layouts = "nhwc"}, 1},
        {"layouts", NULL, {.layouts = "nhwc,nchw"}, 13},
        {"layout with a comma, other order", NULL, {.layouts = "dx=gap,x=nhwc"}, 1},
        {"fills", NULL, {.fills = "kinks,exact"}, 1},
        {"wants", NULL, {.wants = "dx,dgrid"}, 2},
        {"want all", NULL, {.wants = "dgrid+dx"}, 13},
        {"seed", NULL, {.seed = "9"}, 15},
        {"dims fall together", "mode=middle", {.dims = "N=8,Wo=1", .dtypes = "f32", .layouts = "nchw"}, 1},
        {"dims under explicit strides", NULL, {.dims = "N=5"}, 14},
        {"the same dims under explicit strides", NULL, {.dims = "Wo=3"}, 15},
        {"none left", "pad=border", {0}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        REQUIRE(arena_is_ready());
        const char *const attrs[] = {rows[i].attr, NULL};
        kerf_case_filter filter = rows[i].filter;
        filter.attrs = rows[i].attr ? attrs : NULL;
        kerf_case_list list = {0};
        kerf_error error = {0};
        const kerf_status status = read_all(lines, KERF_EXPAND_ALL, &filter, &list, &error);
        REQUIRE_MESSAGE(status == KERF_OK, "%s: %s", rows[i].name, error.message);
        REQUIRE_MESSAGE(list.n == rows[i].n, "%s: %d cases", rows[i].name, list.n);
        for (int k = 0; k < list.n && filter.seed; ++k)
            REQUIRE(list.at[k].seed == 9);
    }
}

static void bad_filters(void) {
    static const struct {
        const char *attr;
        kerf_case_filter filter;
        const char *message;
    } rows[] = {
        {"mdoe=low",
         {0},
         "unknown attribute 'mdoe' of toy; did you mean 'mode'? attributes: mode pad aligned steps "
         "scale block note"},
        {"mode=mid", {0}, "unknown value 'mid' of mode; did you mean 'middle'? values: low middle high centre upper"},
        {"mode", {0}, "'mode' is not ATTRIBUTE=VALUE"},
        {NULL, {.dtypes = "f32,f128"}, "unknown dtype 'f128' of toy; dtypes: f16 bf16 f32 f64"},
        {NULL, {.fills = "kink"}, "unknown fill 'kink' of toy; did you mean 'kinks'? fills: exact uniform kinks"},
        {NULL, {.wants = "grid"}, "unknown output 'grid' of toy; did you mean 'dgrid'? outputs: dx dgrid"},
        {NULL, {.dims = "n=3"}, "unknown dim 'n' of toy; did you mean 'N'? dims: N Ho Wo"},
        {NULL, {.dims = "N=3,N=3"}, "dim 'N' is given twice; give each at most once"},
        {NULL, {.dims = "N"}, "'N' is not NAME=SIZE, as in N=4,C=32"},
        {NULL, {.dims = "N=-3"}, "N=-3: a size is a whole number from 0 to 9223372036854775807"},
        {NULL, {.layouts = "nchw,spiral"}, NULL},
        {NULL, {.seed = "-1"}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        REQUIRE(arena_is_ready());
        const char *const attrs[] = {rows[i].attr, NULL};
        kerf_case_filter filter = rows[i].filter;
        filter.attrs = rows[i].attr ? attrs : NULL;
        kerf_case_list list = {0};
        kerf_error error = {0};
        REQUIRE_MESSAGE(read_all("", KERF_EXPAND_ALL, &filter, &list, &error) == KERF_ERROR_USAGE, "row %zu", i);
        REQUIRE_MESSAGE(!rows[i].message || strcmp(error.message, rows[i].message) == 0, "row %zu: %s", i,
                        error.message);
        REQUIRE_MESSAGE(!message_fault(&error), "row %zu: %s", i, message_fault(&error));
    }
}

static void nearest_names(void) {
    static const char *const names[] = {"interpolation_mode", "padding_mode", "align_corners", "N", "C", "Ho", NULL};
    static const struct {
        const char *given, *near;
    } rows[] = {
        {"interpolaton_mode", "interpolation_mode"},
        {"interpolation", "interpolation_mode"},
        {"pading_mode", "padding_mode"},
        {"align_croners", "align_corners"},
        {"Align_Corners", "align_corners"},
        {"oH", "Ho"},
        {"n", "N"},
        {"W", NULL},
        {"", NULL},
        {"completely_different", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const char *const near = kerf_nearest_name(rows[i].given, names);
        REQUIRE_MESSAGE((near == NULL) == (rows[i].near == NULL) && (!near || strcmp(near, rows[i].near) == 0),
                        "'%s' gave '%s'", rows[i].given, near ? near : "nothing");
    }
    char endless[3000];
    memset(endless, 'N', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    REQUIRE(kerf_nearest_name(endless, names) == NULL);
}

static kerf_status read_bytes(const char *bytes, size_t n_bytes, kerf_case_list *list, kerf_error *error) {
    char path[] = "/tmp/kerf_cases_XXXXXX";
    const int file = mkstemp(path);
    if (file < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "no temporary file");
    const bool written = write(file, bytes, n_bytes) == (ssize_t)n_bytes;
    close(file);
    const kerf_status status = kerf_cases_read_file(&toy_op, path, KERF_EXPAND_ALL, NULL, &arena, list, error);
    unlink(path);
    return written ? status : kerf_fail(error, KERF_ERROR_FILE, "cannot write %s", path);
}

static void files(void) {
    REQUIRE(arena_is_ready());
    kerf_case_list list = {0};
    kerf_error error = {0};
    REQUIRE_MESSAGE(read_bytes("N=1 Ho=2 Wo=3\n", 14, &list, &error) == KERF_OK, "%s", error.message);
    REQUIRE(list.n == 1);
    REQUIRE(read_bytes("N=1 Ho=2 Wo=3\nN=2\0 Ho=2 Wo=3\n", 29, &list, &error) == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strstr(error.message, ":2: a NUL byte"), "%s", error.message);
    REQUIRE(kerf_cases_read_file(&toy_op, "/nowhere/cases.txt", KERF_EXPAND_ALL, NULL, &arena, &list, &error) ==
            KERF_ERROR_FILE);
    REQUIRE_MESSAGE(strstr(error.message, "/nowhere/cases.txt: No such file"), "%s", error.message);
    REQUIRE(kerf_cases_read_file(&toy_op, "/", KERF_EXPAND_ALL, NULL, &arena, &list, &error) == KERF_ERROR_FILE);
    REQUIRE(kerf_cases_read_file(&toy_op, "/dev/zero", KERF_EXPAND_ALL, NULL, &arena, &list, &error) ==
            KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strstr(error.message, "larger than 16777216 bytes"), "%s", error.message);
}

static void full_arena(void) {
    REQUIRE(arena_is_ready());
    kerf_case_list list = {0};
    kerf_error error = {0};
    kerf_arena small = {.base = arena.base, .size = 100000};
    char text[2000] = "";
    for (int i = 0; i < 10; ++i)
        snprintf(text + strlen(text), sizeof text - strlen(text), "mode=* pad=* dtype=* N=%d Ho=2 Wo=3\n", i);
    REQUIRE(kerf_cases_read(&toy_op, "my.txt", text, KERF_EXPAND_ALL, NULL, &small, &list, &error) ==
            KERF_ERROR_MEMORY);
    REQUIRE(!message_fault(&error));
}

#define TEST(name, run)                                                                                                \
    { "case texts: " name, "[unit][cases]", run, __FILE__, __LINE__ }
const kerf_test kerf_tests_unit_casegen[] = {
    TEST("each spelling of a case becomes one canonical text", canonical_texts),
    TEST("a mode names every attribute", modes),
    TEST("each field has a part in the hash", hashes),
    TEST("what is not a case is refused in one line", bad_cases),
    TEST("a line may have 4096 bytes", long_lines),
    TEST("messages name file and line; repetitions fall together", lines_and_places),
    TEST("the full expansion has each combination once", full_expansion),
    TEST("more than a million cases are refused", too_many_cases),
    TEST("the pairwise expansion has each pair in at most 13 rows", pairs),
    TEST("lines that differ cover other triples", pairs_differ_between_lines),
    TEST("values are narrowed before pairs are made", pairs_of_narrowed_values),
    TEST("filters keep what they name", filters),
    TEST("a filter with an unknown name is refused without any case", bad_filters),
    TEST("the nearest name is near", nearest_names),
    TEST("files are read whole or refused", files),
    TEST("a full arena is an error", full_arena),
    {0},
};
