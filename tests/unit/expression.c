/* Constraint texts: what they mean, what is refused, and that mutated ones are parsed or refused. */
#include "harness/expression.h"
#include "base/rng.h"
#include "tests/catch_shim.h"
#include <stdio.h>
#include <string.h>

/* a = 6, b = -4, every other name 0. 1 holds, 0 does not, -1 is refused. */
static int result_of(const char *text) {
    kerf_expression expression;
    kerf_error error = {""};
    int64_t values[KERF_MAX_EXPRESSION_NAMES] = {0};
    if (kerf_expression_parse(text, &expression, &error) != KERF_OK)
        return error.message[0] && !strchr(error.message, '\n') ? -1 : -2;
    for (int i = 0; i < expression.n_names; ++i)
        values[i] = strcmp(expression.name[i], "a") == 0 ? 6 : strcmp(expression.name[i], "b") == 0 ? -4 : 0;
    return kerf_expression_holds(&expression, values);
}

static void meanings(void) {
    static const struct {
        const char *text;
        int result;
    } cases[] = {
        {"a == 6", 1},
        {"a", 1},
        {"c", 0},
        {"1 + 2 * 3 == 7", 1},
        {"(1 + 2) * 3 == 9", 1},
        {"10 - 4 - 3 == 3", 1},
        {"17 / 5 == 3 && 17 % 5 == 2", 1},
        {"-7 / 2 == -3 && -7 % 2 == -1", 1},
        {"a * b <= -24", 1},
        {"a*b<-24", 0},
        {"b < a", 1},
        {"b >= a", 0},
        {"!a || b != -4", 0},
        {"!!a", 1},
        {"- - a == 6", 1},
        {"0 && 1 || 1", 1},
        {"1 || 0 && 0", 1},
        {"c == 0 || a / c == 1", 1}, /* the right side has no value, and is not asked */
        {"c != 0 && a / c == 1", 0},
        {"a / c == 1 || 1", 0},
        {"a % c == 0", 0},
        {"9223372036854775807 + 1 > 0", 0}, /* no value rather than a wrong one */
        {"9223372036854775807 * 2 < 0", 0},
        {"-9223372036854775807 - 2 < 0", 0},
        {"(-9223372036854775807 - 1) / -1 > 0", 0},
        {"-(-9223372036854775807 - 1) != 0", 0},
        {"  a\t>5 ", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        REQUIRE_MESSAGE(result_of(cases[i].text) == cases[i].result, "'%s' gives %d", cases[i].text,
                        result_of(cases[i].text));
}

static void refusals(void) {
    static const char *const texts[] = {
        "",
        " ",
        "a <",
        "< a",
        "a b",
        "(a",
        "a)",
        "()",
        "a = 6",
        "a & b",
        "1 < a < 5",
        "a == b == c",
        "3x",
        "1.5",
        "9223372036854775808",
        "a$",
        "a[0]",
        "f(a)",
        "+a",
        "a ** b",
        "\"a\"",
        "a;b",
        "a\nb",
        "((((((((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))))))))",
        "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!a",
        "a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a",
        "a1+a2+a3+a4+a5+a6+a7+a8+a9+b1+b2+b3+b4+b5+b6+b7+b8",
        "a_name_that_is_longer_than_any_parameter_will_ever_be_named == 1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        REQUIRE_MESSAGE(result_of(texts[i]) == -1, "'%s' gives %d", texts[i], result_of(texts[i]));
}

static void errors_say_where(void) {
    kerf_expression expression;
    kerf_error error;
    REQUIRE(kerf_expression_parse("block <= 2 C", &expression, &error) == KERF_ERROR_USAGE);
    REQUIRE_MESSAGE(strstr(error.message, "'block <= 2 C', character 12"), "%s", error.message);
}

static void mutated_texts(void) {
    static const char alphabet[] = "ab019 ()+-*/%<>=!&|_\t.$\x80\xff";
    static const char seed_text[] = "channel_block * (items + 2) <= 1024 && !(C % 4) || threads == 1";
    kerf_rng rng = kerf_rng_seeded(3, 0);
    int n_parsed = 0, n_bad = 0;
    for (int i = 0; i < 50000; ++i) {
        char text[160];
        strcpy(text, i % 2 ? seed_text : "");
        size_t n = strlen(text);
        for (uint64_t changes = 1 + kerf_rng_below(&rng, i % 2 ? 4 : 60); changes > 0; --changes) {
            const char c = alphabet[kerf_rng_below(&rng, sizeof alphabet - 1)];
            const size_t at = kerf_rng_below(&rng, n + 1);
            text[at] = c;
            if (at == n && n + 1 < sizeof text)
                text[++n] = '\0';
        }
        const int result = result_of(text);
        n_parsed += result >= 0;
        n_bad += result < -1;
    }
    REQUIRE(n_bad == 0);
    REQUIRE_MESSAGE(n_parsed > 500 && n_parsed < 49000, "%d of 50000 texts were parsed", n_parsed);
}

#define TEST(name, run)                                                                                                \
    { "expression: " name, "[unit][tune]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_expression[] = {
    TEST("operators mean what they do in C", meanings),
    TEST("what is no expression is refused in one line", refusals),
    TEST("an error says where", errors_say_where),
    TEST("mutated texts are parsed or refused", mutated_texts),
    {0},
};
