/* The file of limits: what is written comes back, and nothing else is believed. */
#include "harness/limits_file.h"

#include "base/rng.h"
#include "tests/catch_shim.h"
#include "tests/cli/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static kerf_kept_limits kept, back;
static char data[256 << 10];

static const kerf_machine toy = {.cpu = "Toy \"quoted\" \\ CPU", .isa = "avx2", .processors = 4};

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/limits/%s.json", cli_folder(), name);
    return path;
}

static kerf_interval some(kerf_rng *rng) {
    const double middle = 1 + 1000 * kerf_rng_unit(rng);
    return (kerf_interval){.middle = middle, .low = middle / (1 + kerf_rng_unit(rng)), .high = middle * 1.25};
}

static void make(int n_teams, int n_points) {
    kerf_rng rng = kerf_rng_seeded(7, 0);
    memset(&kept, 0, sizeof kept);
    strcpy(kept.utc, "2026-11-30T12:34:56Z");
    kept.form = KERF_LIMITS_FULL;
    kept.same = (kerf_interval){.middle = 1.001, .low = 0.99, .high = 1.02};
    kept.limits.n_rounds = 6;
    kept.limits.covered = 0.96875;
    kept.limits.n_teams = n_teams;
    for (int t = 0; t < n_teams; ++t) {
        kerf_limit_team *const team = &kept.limits.team[t];
        *team = (kerf_limit_team){.threads = t + 1, .n_points = n_points, .f32 = some(&rng), .f64 = some(&rng)};
        for (int i = 0; i < n_points; ++i)
            team->point[i] = (kerf_limit_point){(size_t)16384 << i, some(&rng), some(&rng), some(&rng)};
    }
}

static size_t load(const char *path) {
    FILE *const file = fopen(path, "r");
    const size_t n = file ? fread(data, 1, sizeof data - 1, file) : 0;
    data[n] = '\0';
    if (file)
        fclose(file);
    return n;
}

static void save(const char *path, const char *bytes, size_t n) {
    FILE *const file = fopen(path, "w");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(bytes, 1, n, file) == n);
    REQUIRE(fclose(file) == 0);
}

static void round_trip(void) {
    kerf_error error = {""};
    bool found = true;
    const int sizes[][2] = {{1, 1}, {2, 16}, {KERF_LIMIT_TEAMS, KERF_LIMIT_SIZES}};
    REQUIRE(kerf_limits_read(path_of("absent"), &toy, &found, &back, &error) == KERF_OK && !found);
    for (int i = 0; i < 3; ++i) {
        make(sizes[i][0], sizes[i][1]);
        REQUIRE_MESSAGE(kerf_limits_write(path_of("a"), &toy, &kept, &error) == KERF_OK, "%s", error.message);
        memset(&back, 0xee, sizeof back);
        REQUIRE_MESSAGE(kerf_limits_read(path_of("a"), &toy, &found, &back, &error) == KERF_OK, "%s", error.message);
        REQUIRE(found && memcmp(&back, &kept, sizeof kept) == 0);
    }
}

static char last_refusal[sizeof(kerf_error)];

static void check_refused(const char *what, const char *from, const char *to) {
    kerf_error error = {""};
    bool found;
    make(2, 3);
    REQUIRE(kerf_limits_write(path_of("b"), &toy, &kept, &error) == KERF_OK);
    const size_t n = load(path_of("b"));
    char *const place = strstr(data, from);
    REQUIRE_MESSAGE(place && n > 0, "%s: '%s' is not in the file", what, from);
    static char changed[sizeof data + 4096];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(place - data), data, to, place + strlen(from));
    save(path_of("b"), changed, strlen(changed));
    REQUIRE_MESSAGE(kerf_limits_read(path_of("b"), &toy, &found, &back, &error) == KERF_ERROR_FILE && !found,
                    "%s is believed", what);
    REQUIRE_MESSAGE(strchr(error.message, '\n') == NULL && strstr(error.message, "b.json"), "%s", error.message);
    snprintf(last_refusal, sizeof last_refusal, "%s", error.message);
}

static void what_is_wrong_is_refused(void) {
    static char digits[3000];
    memset(digits, '9', sizeof digits - 1);
    check_refused("a newer schema", "\"schema\":1", "\"schema\":2");
    REQUIRE_MESSAGE(strstr(last_refusal, "schema 2, which is newer than this bench (schema 1)"), "%s", last_refusal);
    check_refused("a schema that never was", "\"schema\":1", "\"schema\":0");
    check_refused("another processor", "Toy", "Boy");
    check_refused("another set of instructions", "avx2", "avx512");
    check_refused("another number of processors", "\"processors\":4", "\"processors\":5");
    check_refused("a time with an escape", "2026-", "\\u001b");
    check_refused("a time that is too long", "2026-11-30", "2026-11-30-2026-11-30-2026-11-30");
    check_refused("a form", "full", "fool");
    check_refused("no rounds", "\"rounds\":6", "\"rounds\":0");
    check_refused("half a round", "\"rounds\":6", "\"rounds\":6.5");
    check_refused("null", "\"same\":[1.001", "\"same\":[null");
    check_refused("an infinity", "\"same\":[1.001", "\"same\":[1e999");
    check_refused("not a number", "\"same\":[1.001", "\"same\":[nan");
    check_refused("a negative rate", "\"same\":[1.001", "\"same\":[-1.001");
    check_refused("an interval beside its middle", "\"same\":[1.001,0.99", "\"same\":[1.001,1.01");
    check_refused("a number without end", "\"same\":[1.001", digits);
    check_refused("a team out of order", "\"threads\":2", "\"threads\":1");
    check_refused("a size out of order", "\"bytes\":32768", "\"bytes\":16384");
    check_refused("a huge size", "\"bytes\":32768", "\"bytes\":99999999999999999999");
    check_refused("something behind the end", "}\n", "}\n{}");
    check_refused("no teams", "\"teams\":[{", "\"teams\":[]{");
}

static void too_many_are_refused(void) {
    kerf_error error = {""};
    bool found;
    make(1, KERF_LIMIT_SIZES);
    REQUIRE(kerf_limits_write(path_of("c"), &toy, &kept, &error) == KERF_OK);
    load(path_of("c"));
    char *const end = strstr(data, "]}]}");
    REQUIRE(end != NULL);
    strcpy(end + 2, ",{\"bytes\":562949953421312,\"read\":[1,1,1],\"write\":[1,1,1],\"copy\":[1,1,1]}]}]}\n");
    save(path_of("c"), data, strlen(data));
    REQUIRE(kerf_limits_read(path_of("c"), &toy, &found, &back, &error) == KERF_ERROR_FILE && !found);
    REQUIRE_MESSAGE(strstr(error.message, "fewer sizes"), "%s", error.message);
}

/* A file cut anywhere, and one with any byte changed: told or read, never a crash. */
static void damage_is_survived(void) {
    kerf_error error = {""};
    bool found;
    make(2, 2);
    REQUIRE(kerf_limits_write(path_of("d"), &toy, &kept, &error) == KERF_OK);
    static char whole[sizeof data];
    const size_t n = load(path_of("d"));
    memcpy(whole, data, n);
    for (size_t cut = 0; cut < n; ++cut) {
        save(path_of("d"), whole, cut);
        REQUIRE_MESSAGE(kerf_limits_read(path_of("d"), &toy, &found, &back, &error) == KERF_ERROR_FILE && !found,
                        "cut to %zu of %zu bytes", cut, n);
    }
    kerf_rng rng = kerf_rng_seeded(3, 0);
    for (size_t at = 0; at < n; ++at) {
        memcpy(data, whole, n);
        data[at] = (char)kerf_rng_below(&rng, 256);
        save(path_of("d"), data, n);
        kerf_limits_read(path_of("d"), &toy, &found, &back, &error);
        REQUIRE(!found || (back.limits.n_teams == 2 && back.limits.team[1].n_points == 2));
    }
    static char big[300 << 10];
    memset(big, '[', sizeof big);
    save(path_of("d"), big, sizeof big);
    REQUIRE(kerf_limits_read(path_of("d"), &toy, &found, &back, &error) == KERF_ERROR_FILE && !found);
}

static void what_is_no_file_is_refused(void) {
    kerf_error error = {""};
    bool found;
    make(1, 1);
    REQUIRE(kerf_limits_write(path_of("e"), &toy, &kept, &error) == KERF_OK);
    REQUIRE(mkdir(path_of("folder"), 0777) == 0 && mkfifo(path_of("pipe"), 0666) == 0);
    REQUIRE(kerf_limits_read(path_of("folder"), &toy, &found, &back, &error) == KERF_ERROR_FILE && !found);
    REQUIRE(kerf_limits_read(path_of("pipe"), &toy, &found, &back, &error) == KERF_ERROR_FILE && !found);
    REQUIRE(kerf_limits_write(path_of("folder"), &toy, &kept, &error) == KERF_ERROR_FILE);
    REQUIRE(kerf_limits_write(path_of("e.json/x"), &toy, &kept, &error) == KERF_ERROR_FILE);
    /* Nothing half-written stays behind. */
    char command[160];
    snprintf(command, sizeof command, "! ls '%s/limits' | grep -q part", cli_folder());
    REQUIRE(system(command) == 0);
}

const kerf_test kerf_tests_unit_limits_file[] = {
    {"limits file: what is written comes back", "[unit][limits]", round_trip, __FILE__, __LINE__},
    {"limits file: what is wrong is refused", "[unit][limits]", what_is_wrong_is_refused, __FILE__, __LINE__},
    {"limits file: too many sizes are refused", "[unit][limits]", too_many_are_refused, __FILE__, __LINE__},
    {"limits file: damage is survived", "[unit][limits]", damage_is_survived, __FILE__, __LINE__},
    {"limits file: what is no file is refused", "[unit][limits]", what_is_no_file_is_refused, __FILE__, __LINE__},
    {0},
};
