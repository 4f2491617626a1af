/* The test of the tests: each planted kernel is found by the check and in the fill that are named for it, and the whole
 * matrix of kernels and fills is the one in docs/checks.md. */
#include "tests/planted/planted.h"

#include "base/cpu.h"
#include "harness/casegen.h"
#include "harness/verify.h"
#include "tests/catch_shim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILLS = 8, MAX_CHECKS = 12, ARENA_BYTES = 1 << 26, MATRIX_BYTES = 16384 };

/* In how many of the cases of a fill each check found the kernel. */
typedef struct tally {
    const char *check[MAX_CHECKS];
    int n_found[MAX_CHECKS];
    int n_checks, n_cases, n_passed;
} tally;

typedef struct matrix {
    tally of[PLANTED_N][MAX_FILLS];
    const char *const *fills;
    bool complete;
} matrix;

static void count(tally *cell, const kerf_finding *finding) {
    ++cell->n_cases;
    if (finding->verdict == KERF_PASS)
        ++cell->n_passed;
    if (finding->verdict == KERF_PASS || finding->verdict == KERF_SKIP)
        return;
    int k = 0;
    while (k < cell->n_checks && strcmp(cell->check[k], finding->check) != 0)
        ++k;
    if (k == MAX_CHECKS)
        return;
    if (k == cell->n_checks)
        cell->check[cell->n_checks++] = finding->check;
    ++cell->n_found[k];
}

/* The sets smoke (all combinations) and edge (all pairs), in f32. */
static kerf_status read_cases(const kerf_op_entry *entry, kerf_arena *arena, kerf_case_list *list, kerf_error *error) {
    const kerf_case_filter f32_only = {.dtypes = "f32"};
    for (int i = 0; entry->cases[i]; i += 2) {
        const bool is_smoke = strcmp(entry->cases[i], "smoke") == 0;
        if (is_smoke || strcmp(entry->cases[i], "edge") == 0)
            KERF_TRY(kerf_cases_read(entry->op, entry->cases[i], entry->cases[i + 1],
                                     is_smoke ? KERF_EXPAND_ALL : KERF_EXPAND_PAIRS, &f32_only, arena, list, error));
    }
    return KERF_OK;
}

static kerf_status verify_all(const kerf_op_entry *entry, const kerf_case_list *cases, matrix *result,
                              kerf_error *error) {
    const kerf_verify_options options = {.threads = 2, .timeout_s = 60, .isa = kerf_cpu_isa()};
    kerf_verifier *verifier;
    kerf_status status = kerf_verifier_open(&options, &verifier, error);
    for (int i = 0; status == KERF_OK && i < cases->n; ++i) {
        kerf_finding found[PLANTED_N];
        status = kerf_verify_case(verifier, entry, &cases->at[i], kerf_planted_rows, PLANTED_N, found, NULL, error);
        for (int k = 0; status == KERF_OK && k < PLANTED_N; ++k)
            count(&result->of[k][cases->at[i].fill], &found[k]);
    }
    kerf_verifier_close(verifier);
    return status;
}

/* Takes a while: computed once for all tests of this file. */
static const matrix *whole_matrix(void) {
    static matrix result;
    static bool tried;
    if (tried)
        return &result;
    tried = true;
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), "grid_sampler_grad");
    kerf_arena arena = {0};
    kerf_case_list cases = {0};
    kerf_error error = {""};
    kerf_status status = kerf_arena_map_shared(&arena, ARENA_BYTES, &error);
    if (status == KERF_OK)
        status = read_cases(entry, &arena, &cases, &error);
    if (status == KERF_OK)
        status = verify_all(entry, &cases, &result, &error);
    if (status != KERF_OK)
        kerf_test_say("%s", error.message);
    result.fills = entry->op->fills;
    result.complete = status == KERF_OK && cases.n > 0;
    kerf_arena_unmap(&arena);
    return &result;
}

static int fill_index(const matrix *all, const char *name) {
    for (int f = 0; all->fills[f]; ++f)
        if (strcmp(all->fills[f], name) == 0)
            return f;
    return -1;
}

static int n_found_by(const tally *cell, const char *check) {
    for (int k = 0; k < cell->n_checks; ++k)
        if (strcmp(cell->check[k], check) == 0)
            return cell->n_found[k];
    return 0;
}

static void faults_are_found(void) {
    const matrix *const all = whole_matrix();
    REQUIRE(all->complete);
    for (int k = 0; k < PLANTED_N; ++k) {
        const planted_claim *const claim = &kerf_planted_claims[k];
        if (claim->check[0] == '\0')
            continue;
        const int fill = fill_index(all, claim->fill);
        REQUIRE_MESSAGE(fill >= 0, "%s: no fill %s", claim->name, claim->fill);
        REQUIRE_MESSAGE(n_found_by(&all->of[k][fill], claim->check) > 0, "%s is not found by '%s' in fill %s",
                        claim->name, claim->check, claim->fill);
    }
}

static void honest_passes(void) {
    const matrix *const all = whole_matrix();
    REQUIRE(all->complete);
    for (int f = 0; all->fills[f]; ++f) {
        const tally *const cell = &all->of[PLANTED_honest][f];
        REQUIRE_MESSAGE(cell->n_cases > 0 && cell->n_passed == cell->n_cases, "fill %s: %d of %d pass", all->fills[f],
                        cell->n_passed, cell->n_cases);
    }
}

/* Zero, a constant and a copy pass a case here and there, but no mode may consist of such cases only. */
static void lazy_results_fail_in_every_fill(void) {
    static const planted_fault lazy[] = {PLANTED_all_zero, PLANTED_constant, PLANTED_copy};
    const matrix *const all = whole_matrix();
    REQUIRE(all->complete);
    for (int k = 0; k < 3; ++k)
        for (int f = 0; all->fills[f]; ++f)
            REQUIRE_MESSAGE(n_found_by(&all->of[lazy[k]][f], "value") + n_found_by(&all->of[lazy[k]][f], "class") > 0,
                            "%s passes everything in fill %s", kerf_planted_claims[lazy[k]].name, all->fills[f]);
}

/* ---- docs/checks.md -----------------------------------------------------------------------------------------------
 */

static void print_matrix(const matrix *all, kerf_text *text) {
    kerf_text_printf(text, "| kernel |");
    for (int f = 0; all->fills[f]; ++f)
        kerf_text_printf(text, " %s |", all->fills[f]);
    kerf_text_printf(text, "\n|---|");
    for (int f = 0; all->fills[f]; ++f)
        kerf_text_printf(text, "---|");
    kerf_text_printf(text, "\n");
    for (int k = 0; k < PLANTED_N; ++k) {
        kerf_text_printf(text, "| %s |", kerf_planted_claims[k].name);
        for (int f = 0; all->fills[f]; ++f)
            kerf_text_printf(text, all->of[k][f].n_checks > 0 ? " x |" : " |");
        kerf_text_printf(text, "\n");
    }
}

static char *read_file(const char *path) {
    FILE *const file = fopen(path, "r");
    char *const memory = calloc(1, 1 << 18);
    if (file && memory)
        memory[fread(memory, 1, (1 << 18) - 1, file)] = '\0';
    if (file)
        fclose(file);
    return memory;
}

static void matrix_is_documented(void) {
    const matrix *const all = whole_matrix();
    REQUIRE(all->complete);
    static char printed[MATRIX_BYTES];
    kerf_text text = kerf_text_over(printed, sizeof printed);
    print_matrix(all, &text);
    char *const document = read_file(KERF_TEST_SOURCE "/docs/checks.md");
    const bool is_there = document && strstr(document, printed);
    free(document);
    REQUIRE(!text.cut);
    REQUIRE_MESSAGE(is_there, "docs/checks.md must hold this matrix:\n%s", printed);
}

const kerf_test kerf_tests_unit_planted[] = {
    {"planted: each fault is found by its check in its fill", "[unit][planted]", faults_are_found, __FILE__, __LINE__},
    {"planted: the same code without a fault passes", "[unit][planted]", honest_passes, __FILE__, __LINE__},
    {"planted: lazy results fail in every fill", "[unit][planted]", lazy_results_fail_in_every_fill, __FILE__,
     __LINE__},
    {"planted: the kill matrix is the documented one", "[unit][planted]", matrix_is_documented, __FILE__, __LINE__},
    {0}};
