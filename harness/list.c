#include "harness/list.h"

#include "base/cpu.h"
#include "harness/device.h"
#include "harness/select.h"
#include <string.h>

static const char *summary_of(const kerf_row *row) {
    for (int class = 0; class < KERF_N_CLASSES; ++class)
        if (row->variant[class] && row->variant[class]->summary)
            return row->variant[class]->summary;
    return "";
}

static int longest_row(const kerf_registry *registry) {
    int longest = 0;
    for (int e = 0; registry->ops[e]; ++e) {
        for (int r = 0; registry->ops[e]->rows[r]; ++r) {
            char memory[160];
            kerf_text text = kerf_text_over(memory, sizeof memory);
            kerf_row_print(registry->ops[e]->rows[r], &text);
            longest = (int)text.length > longest ? (int)text.length : longest;
        }
    }
    return longest;
}

static void list_ops(const kerf_registry *registry, FILE *file) {
    const uint64_t isa = kerf_cpu_isa();
    const int width = longest_row(registry);
    for (int e = 0; registry->ops[e]; ++e) {
        const kerf_op_entry *const entry = registry->ops[e];
        fprintf(file, "%s: %s\n", entry->op->name, entry->op->summary ? entry->op->summary : "");
        for (int r = 0; entry->rows[r]; ++r) {
            char name[160], memory[200];
            kerf_text text = kerf_text_over(name, sizeof name);
            kerf_row_print(entry->rows[r], &text);
            text = kerf_text_over(memory, sizeof memory);
            const char *const reason = kerf_row_unavailable(entry->rows[r], isa, &text);
            fprintf(file, "  %-*s  %s%s\n", width, name, reason ? "not here: " : "",
                    reason ? reason : summary_of(entry->rows[r]));
        }
    }
#if !KERF_HAVE_BENCHMARK
    fputs("timing: not here: built without Google Benchmark (KERF_HOST_LIBS=OFF or libbenchmark-dev not found)\n",
          file);
#endif
}

/* The first case of the op's own sets with this element type, described; false if there is none. */
static bool sample_problem(const kerf_op_entry *entry, kerf_dtype dtype, kerf_arena *arena, kerf_problem *problem) {
    const kerf_case_filter filter = {.dtypes = kerf_dtype_name(dtype)};
    kerf_error ignored;
    for (int i = 0; entry->cases && entry->cases[i]; i += 2) {
        kerf_case_list cases = {0};
        if (kerf_cases_read(entry->op, entry->cases[i], entry->cases[i + 1], KERF_EXPAND_PAIRS, &filter, arena, &cases,
                            &ignored) == KERF_OK &&
            cases.n > 0 && entry->op->describe(&cases.at[0], arena, problem, &ignored) == KERF_OK)
            return true;
    }
    return false;
}

static const char *support(const kerf_row *row, kerf_dtype dtype, const kerf_problem *problem, kerf_text *reason) {
    const kerf_variant *const variant = row->variant[kerf_dtype_class(dtype)];
    if (!variant) {
        kerf_text_printf(reason, "no object for %s", kerf_dtype_name(dtype));
        return "no";
    }
    if (problem && variant->refuses && variant->refuses(problem, NULL, reason))
        return "no";
    return "yes";
}

static void list_names(FILE *file, const char *title, const char *const *names) {
    fprintf(file, "%s:", title);
    for (int i = 0; names[i]; ++i)
        fprintf(file, " %s", names[i]);
    fputc('\n', file);
}

/* What a case line may say. */
static void list_fields(const kerf_op_entry *entry, FILE *file) {
    const kerf_op *const op = entry->op;
    fputc('\n', file);
    for (int a = 0; op->attrs[a]; ++a) {
        const kerf_attr_spec *const spec = op->attrs[a];
        static const char *const kinds[] = {"", " a whole number", " a number", " whole numbers with commas",
                                            " a text"};
        fprintf(file, "%s:%s", spec->name, kinds[spec->kind]);
        for (int v = 0; spec->values && spec->values[v]; ++v)
            fprintf(file, " %s%s", spec->values[v], v == spec->standard.number ? " (default)" : "");
        fputc('\n', file);
    }
    if (op->dims[0])
        list_names(file, "dims", op->dims);
    list_names(file, "inputs", op->inputs);
    list_names(file, "outputs", op->outputs);
    list_names(file, "fills", op->fills);
    fputs("case sets:", file);
    for (int i = 0; entry->cases && entry->cases[i]; i += 2)
        fprintf(file, " %s", entry->cases[i]);
    fputc('\n', file);
}

static kerf_status list_op(const kerf_options *options, const kerf_registry *registry, FILE *file, kerf_error *error) {
    const kerf_op_entry *entry;
    KERF_TRY(kerf_select_op(registry, options->op, &entry, error));
    kerf_arena arena;
    KERF_TRY(kerf_arena_map_shared(&arena, (size_t)1 << 30, error));
    const uint64_t isa = kerf_cpu_isa();
    const int width = longest_row(registry);
    fprintf(file, "%s: %s\n\n  %-*s", entry->op->name, entry->op->summary ? entry->op->summary : "", width,
            "implementation");
    for (int d = 0; d < entry->op->n_dtypes; ++d)
        fprintf(file, "  %-5s", kerf_dtype_name(entry->op->dtypes[d]));
    fputs("  reason\n", file);
    for (int r = 0; entry->rows[r]; ++r) {
        const kerf_row *const row = entry->rows[r];
        char name[160], memory[200];
        kerf_text text = kerf_text_over(name, sizeof name);
        kerf_row_print(row, &text);
        fprintf(file, "  %-*s", width, name);
        text = kerf_text_over(memory, sizeof memory);
        const char *const unavailable = kerf_row_unavailable(row, isa, &text);
        kerf_text reason = kerf_text_over(memory, sizeof memory);
        if (unavailable && unavailable != memory)
            kerf_text_printf(&reason, "%s", unavailable);
        for (int d = 0; d < entry->op->n_dtypes; ++d) {
            kerf_problem problem;
            const kerf_dtype dtype = entry->op->dtypes[d];
            const bool have = !unavailable && sample_problem(entry, dtype, &arena, &problem);
            fprintf(file, "  %-5s", unavailable ? "no" : support(row, dtype, have ? &problem : NULL, &reason));
        }
        fprintf(file, "  %s\n", memory);
    }
    list_fields(entry, file);
    kerf_arena_unmap(&arena);
    return KERF_OK;
}

kerf_status kerf_list(const kerf_options *options, const kerf_registry *registry, FILE *file, kerf_error *error) {
    if (options->op)
        return list_op(options, registry, file, error);
    list_ops(registry, file);
    return KERF_OK;
}
