/* Catch2 for tests in C. A file tests/<group>/<name>.c exports a table
 *     const kerf_test kerf_tests_<group>_<name>[] = {{"dtype: ...", "[unit][base]", run, __FILE__, __LINE__}, {0}};
 * and has a line KERF_TESTS(<group>, <name>) in tests/tests.def. A requirement that fails is recorded with its place in
 * the C file and ends that test case: REQUIRE returns from the function it stands in, so it stands in functions that
 * return void; a caller that must not go on asks kerf_test_failed(). Catch2 and ctest cannot select
 * every name: in names, [ ] ; * " \ appear as ( ) , _ ' / there. */
#ifndef KERF_TESTS_CATCH_SHIM_H
#define KERF_TESTS_CATCH_SHIM_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kerf_test {
    const char *name, *tags;
    void (*run)(void);
    const char *file;
    int line;
} kerf_test;

/* Ends the test case (returns) unless the expression holds. */
#define REQUIRE(...)                                                                                                   \
    do {                                                                                                               \
        if (!kerf_test_check("REQUIRE", #__VA_ARGS__, (__VA_ARGS__) ? 1 : 0, __FILE__, __LINE__))                      \
            return;                                                                                                    \
    } while (0)

/* The same with a printf text that is shown when the expression does not hold. */
#define REQUIRE_MESSAGE(expression, ...)                                                                               \
    do {                                                                                                               \
        const bool holds_ = (expression);                                                                              \
        if (!holds_)                                                                                                   \
            kerf_test_say(__VA_ARGS__);                                                                                \
        if (!kerf_test_check("REQUIRE_MESSAGE", #expression, holds_, __FILE__, __LINE__))                              \
            return;                                                                                                    \
    } while (0)

/* Records a failure and goes on. */
#define CHECK(...) ((void)kerf_test_check("CHECK", #__VA_ARGS__, (__VA_ARGS__) ? 1 : 0, __FILE__, __LINE__))

/* Ends the test case as skipped, or as passed where Catch2 knows no skipping (version 2). */
#define SKIP(...)                                                                                                      \
    do {                                                                                                               \
        kerf_test_skip(__FILE__, __LINE__, __VA_ARGS__);                                                               \
        return;                                                                                                        \
    } while (0)

/* Returns what `holds` says; false also where Catch2 wants the run to end (--abort). */
bool kerf_test_check(const char *macro, const char *expression, bool holds, const char *file, int line);
/* Text for the next check that fails. */
void kerf_test_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kerf_test_skip(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Whether a check of the test case that runs now failed. */
bool kerf_test_failed(void);

/* Runs what the command line selects from the NULL-terminated tables, each of which ends with an entry without a name.
 * Returns the exit code. */
int kerf_test_session(int argc, char **argv, const kerf_test *const tables[]);

#ifdef __cplusplus
}
#endif

#endif
