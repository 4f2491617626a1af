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

enum { MAX_FILLS = 8, MAX_CHECKS = 12, MAX_PLANTED = 40, ARENA_BYTES = 1 << 26, MATRIX_BYTES = 16384 };
_Static_assert((int)PLANTED_N <= MAX_PLANTED && (int)PLANTED_FORWARD_N <= MAX_PLANTED &&
                   (int)PLANTED_CONV2D_N <= MAX_PLANTED,
               "more planted kernels than fit");

/* The planted kernels of one op; `honest` is the first, the lazy ones the last three. */
typedef struct planted_set {
    const char *op, *dtypes;
    bool edge; /* of the set edge too, not of smoke only */
    int n;
    const planted_claim *claims;
    const kerf_row *const *rows;
} planted_set;

enum { N_SETS = 3 };
static const planted_set sets[N_SETS] = {
    {"grid_sampler_grad", "f32", true, PLANTED_N, kerf_planted_claims, kerf_planted_rows},
    {"grid_sampler", "f32", true, PLANTED_FORWARD_N, kerf_planted_forward_claims, kerf_planted_forward_rows},
    {"conv2d", "f32,i8", false, PLANTED_CONV2D_N, kerf_planted_conv2d_claims, kerf_planted_conv2d_rows},
};

/* In how many of the cases of a fill each check found the kernel. */
typedef struct tally {
    const char *check[MAX_CHECKS];
    int n_found[MAX_CHECKS];
    int n_checks, n_cases, n_passed;
} tally;

typedef struct matrix {
    const planted_set *set;
    tally of[MAX_PLANTED][MAX_FILLS];
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

/* Of the sets smoke (all combinations) and edge (all pairs). */
static kerf_status read_cases(const kerf_op_entry *entry, const planted_set *set, kerf_arena *arena,
                              kerf_case_list *list, kerf_error *error) {
    const kerf_case_filter filter = {.dtypes = set->dtypes};
    for (int i = 0; entry->cases[i]; i += 2) {
        const bool is_smoke = strcmp(entry->cases[i], "smoke") == 0;
        if (is_smoke || (set->edge && strcmp(entry->cases[i], "edge") == 0))
            KERF_TRY(kerf_cases_read(entry->op, entry->cases[i], entry->cases[i + 1],
                                     is_smoke ? KERF_EXPAND_ALL : KERF_EXPAND_PAIRS, &filter, arena, list, error));
    }
    return KERF_OK;
}

static kerf_status verify_all(const kerf_op_entry *entry, const kerf_case_list *cases, matrix *result,
                              kerf_error *error) {
    const kerf_verify_options options = {.threads = 2, .timeout_s = 60, .isa = kerf_cpu_isa()};
    kerf_verifier *verifier;
    kerf_status status = kerf_verifier_open(&options, &verifier, error);
    for (int i = 0; status == KERF_OK && i < cases->n; ++i) {
        kerf_finding found[MAX_PLANTED];
        status =
            kerf_verify_case(verifier, entry, &cases->at[i], result->set->rows, result->set->n, found, NULL, error);
        for (int k = 0; status == KERF_OK && k < result->set->n; ++k)
            count(&result->of[k][cases->at[i].fill], &found[k]);
    }
    kerf_verifier_close(verifier);
    return status;
}

/* Takes a while: computed once for all tests of this file. */
static const matrix *whole_matrix(int set) {
    static matrix results[N_SETS];
    matrix *const result = &results[set];
    if (result->set)
        return result;
    result->set = &sets[set];
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), sets[set].op);
    kerf_arena arena = {0};
    kerf_case_list cases = {0};
    kerf_error error = {""};
    kerf_status status = kerf_arena_map_shared(&arena, ARENA_BYTES, &error);
    if (status == KERF_OK)
        status = read_cases(entry, &sets[set], &arena, &cases, &error);
    if (status == KERF_OK)
        status = verify_all(entry, &cases, result, &error);
    if (status != KERF_OK)
        kerf_test_say("%s", error.message);
    result->fills = entry->op->fills;
    result->complete = status == KERF_OK && cases.n > 0;
    kerf_arena_unmap(&arena);
    return result;
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

static void check_claims(const matrix *all) {
    REQUIRE(all->complete);
    for (int k = 0; k < all->set->n; ++k) {
        const planted_claim *const claim = &all->set->claims[k];
        if (claim->check[0] == '\0')
            continue;
        const int fill = fill_index(all, claim->fill);
        REQUIRE_MESSAGE(fill >= 0, "%s: no fill %s", claim->name, claim->fill);
        REQUIRE_MESSAGE(n_found_by(&all->of[k][fill], claim->check) > 0, "%s of %s is not found by '%s' in fill %s",
                        claim->name, all->set->op, claim->check, claim->fill);
    }
}

static void faults_are_found(void) {
    for (int set = 0; set < N_SETS; ++set)
        check_claims(whole_matrix(set));
}

static void check_honest(const matrix *all) {
    REQUIRE(all->complete);
    for (int f = 0; all->fills[f]; ++f) {
        const tally *const cell = &all->of[0][f];
        REQUIRE_MESSAGE(cell->n_cases > 0 && cell->n_passed == cell->n_cases, "%s, fill %s: %d of %d pass",
                        all->set->op, all->fills[f], cell->n_passed, cell->n_cases);
    }
}

static void honest_passes(void) {
    for (int set = 0; set < N_SETS; ++set)
        check_honest(whole_matrix(set));
}

/* Zero, a constant and a copy pass a case here and there, but no mode may consist of such cases only. */
static void check_lazy(const matrix *all) {
    REQUIRE(all->complete);
    for (int k = all->set->n - 3; k < all->set->n; ++k)
        for (int f = 0; all->fills[f]; ++f)
            REQUIRE_MESSAGE(n_found_by(&all->of[k][f], "value") + n_found_by(&all->of[k][f], "class") > 0,
                            "%s of %s passes everything in fill %s", all->set->claims[k].name, all->set->op,
                            all->fills[f]);
}

static void lazy_results_fail_in_every_fill(void) {
    for (int set = 0; set < N_SETS; ++set)
        check_lazy(whole_matrix(set));
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
    for (int k = 0; k < all->set->n; ++k) {
        kerf_text_printf(text, "| %s |", all->set->claims[k].name);
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

static void check_document(const matrix *all) {
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

static void matrix_is_documented(void) {
    for (int set = 0; set < N_SETS; ++set)
        check_document(whole_matrix(set));
}

const kerf_test kerf_tests_unit_planted[] = {
    {"planted: each fault is found by its check in its fill", "[unit][planted]", faults_are_found, __FILE__, __LINE__},
    {"planted: the same code without a fault passes", "[unit][planted]", honest_passes, __FILE__, __LINE__},
    {"planted: lazy results fail in every fill", "[unit][planted]", lazy_results_fail_in_every_fill, __FILE__,
     __LINE__},
    {"planted: the kill matrix is the documented one", "[unit][planted]", matrix_is_documented, __FILE__, __LINE__},
    {0}};
