#include "harness/annotate.h"

#include "base/cpu.h"
#include "harness/annotate_code.h"
#include "harness/select.h"
#include "harness/verify.h"

#include <inttypes.h>
#include <string.h>

/* Functions are shown until together they hold this part of the samples, and of each the instructions that do. */
#define SHOWN_SHARE 0.9
enum { MOST_LISTED = 12, MOST_SHOWN = 4 };

typedef struct annotation {
    const kerf_options *options;
    FILE *file;
    kerf_arena arena;
    const kerf_op_entry *entry;
    const kerf_selected_row *row;
    const kerf_case *c;
    kerf_sampled *sampled;
} annotation;

/* The first row that can run here: rows stand in the order of preference. */
static kerf_status select_row(annotation *a, kerf_error *error) {
    kerf_row_list rows;
    if (!a->options->variants)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "no variant was given: bench annotate VARIANT --op %s (bench list %s)", a->entry->op->name,
                         a->entry->op->name);
    if (strchr(a->options->variants, ','))
        return kerf_fail(error, KERF_ERROR_USAGE, "annotate shows one row, '%.80s' was given; name one",
                         a->options->variants);
    KERF_TRY(kerf_select_rows(a->entry, a->options->variants, kerf_cpu_isa(), &a->arena, &rows, error));
    for (int i = 0; i < rows.n && !a->row; ++i)
        if (!rows.at[i].unavailable && rows.at[i].row->device == KERF_DEVICE_CPU)
            a->row = &rows.at[i];
    if (!a->row)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "'%.80s' has no row that runs on this processor; bench list %s says why", a->options->variants,
                         a->entry->op->name);
    return KERF_OK;
}

static kerf_status select_case(annotation *a, kerf_error *error) {
    kerf_set_list sets;
    KERF_TRY(kerf_select_cases(a->options, a->entry, "bench", &a->arena, &sets, error));
    for (int i = 0; i < sets.n && !a->c; ++i)
        a->c = sets.at[i].cases.n > 0 ? &sets.at[i].cases.at[0] : NULL;
    if (!a->c)
        return kerf_fail(error, KERF_ERROR_USAGE, "there is no case to run; give one by --case");
    return kerf_verify_check_memory(a->entry, a->c, error);
}

static double percent(const annotation *a, uint64_t count) {
    return 100 * (double)count / (double)a->sampled->histogram.n_samples;
}

static void print_head(const annotation *a, int threads) {
    char memory[4096];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(a->c, &text);
    const kerf_sampled *const s = a->sampled;
    fprintf(a->file, "%s on %s\n%d thread%s, %" PRIu64 " samples in %.2f s, %" PRIu64 " calls\n", a->row->text, memory,
            threads, threads == 1 ? "" : "s", s->histogram.n_samples, (double)s->ns * 1e-9, s->n_calls);
    if (s->histogram.n_lost > 0)
        fprintf(a->file, "%" PRIu64 " samples found no place in the table and are left out\n", s->histogram.n_lost);
}

static const char *file_name(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_functions(const annotation *a, const kerf_code_function *functions, int n) {
    fprintf(a->file, "\nfunctions\n");
    for (int i = 0; i < n && i < MOST_LISTED; ++i)
        fprintf(a->file, "  %5.1f %%  %s (%s)\n", percent(a, functions[i].count), functions[i].name,
                file_name(functions[i].file));
    if (n > MOST_LISTED)
        fprintf(a->file, "           and %d more\n", n - MOST_LISTED);
}

static void print_lines(const annotation *a, const kerf_code_line *lines, int n) {
    bool gap = false;
    for (int i = 0; i < n; ++i) {
        gap = gap || (!lines[i].shown && i > 0 && lines[i - 1].shown);
        if (!lines[i].shown)
            continue;
        if (gap)
            fprintf(a->file, "           ...\n");
        gap = false;
        if (lines[i].count > 0)
            fprintf(a->file, "  %5.1f %%", percent(a, lines[i].count));
        else
            fprintf(a->file, "  %7s", "");
        fprintf(a->file, "  %8" PRIx64 ":  %s\n", lines[i].address, lines[i].text);
    }
}

static kerf_status print_code(annotation *a, const kerf_code_points *points, const kerf_code_function *functions, int n,
                              kerf_error *error) {
    kerf_code_line *const lines = KERF_ARENA_NEW(&a->arena, kerf_code_line, KERF_CODE_LINES);
    double shown = 0;
    if (!lines)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the instructions");
    for (int i = 0; i < n && i < MOST_SHOWN && shown < 100 * SHOWN_SHARE; ++i) {
        int n_lines;
        if (functions[i].begin == functions[i].end)
            continue;
        KERF_TRY(kerf_code_lines(&functions[i], points, lines, &n_lines, error));
        kerf_code_mark(lines, n_lines, SHOWN_SHARE);
        fprintf(a->file, "\n%s (%s), %.1f %%\n", functions[i].name, file_name(functions[i].file),
                percent(a, functions[i].count));
        print_lines(a, lines, n_lines);
        shown += percent(a, functions[i].count);
    }
    return KERF_OK;
}

static kerf_status show(annotation *a, int threads, kerf_error *error) {
    kerf_code_points points;
    int n;
    if (a->sampled->histogram.n_samples == a->sampled->histogram.n_lost)
        return kerf_fail(error, KERF_ERROR_DEVICE, "no sample was taken in %.3g s; give more --seconds",
                         a->options->seconds);
    kerf_code_function *const functions = KERF_ARENA_NEW(&a->arena, kerf_code_function, KERF_CODE_FUNCTIONS);
    if (!functions)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the functions");
    KERF_TRY(kerf_code_locate(&a->sampled->histogram, &a->arena, &points, error));
    KERF_TRY(kerf_code_functions(&points, functions, &n, error));
    print_head(a, threads);
    print_functions(a, functions, n);
    return print_code(a, &points, functions, n, error);
}

static kerf_status annotate(annotation *a, const kerf_registry *registry, const volatile sig_atomic_t *interrupted,
                            kerf_error *error) {
    /* One rank shows the same code, and no waiting for others. */
    const int threads = a->options->threads ? a->options->threads : 1;
    KERF_TRY(kerf_select_op(registry, a->options->op, &a->entry, error));
    KERF_TRY(select_row(a, error));
    KERF_TRY(select_case(a, error));
    KERF_TRY(kerf_code_check(error));
    if (!a->options->quiet)
        fprintf(stderr, "running %s for %.3g s\n", a->row->text, a->options->seconds);
    KERF_TRY(kerf_annotate_sample(a->row->row, a->c, threads, a->options->seconds, interrupted, &a->sampled, error));
    const kerf_status status = show(a, threads, error);
    kerf_sampled_unmap(a->sampled);
    return status;
}

kerf_status kerf_annotate(const kerf_options *options, const kerf_registry *registry,
                          const volatile sig_atomic_t *interrupted, FILE *file, kerf_error *error) {
    annotation a = {.options = options, .file = file};
    KERF_TRY(kerf_arena_map_most(&a.arena, (size_t)1 << 32, (size_t)1 << 26, error)); /* of address space */
    const kerf_status status = annotate(&a, registry, interrupted, error);
    kerf_arena_unmap(&a.arena);
    return status;
}
