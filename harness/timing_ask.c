#include "harness/timing_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t budget_ns(const kerf_timing_run *r) {
    const double spent_s = 1e-9 * (double)kerf_clock_elapsed_ns(r->begun_ns, r->clock.now_ns(r->clock.state));
    const double left_s = (r->options->budget_s - spent_s) / (r->options->processes - r->process);
    return left_s > 0 ? (uint64_t)(left_s * 1e9) : 0;
}

static void drop_case(kerf_timing_run *r, const kerf_case *c, const char *reason) {
    for (int i = 0; i < r->n; ++i)
        if (r->cells[i].c == c)
            kerf_timing_drop(r, i, reason);
}

/* Three processes check the calls on a case, and which ones differs from case to case: the time that the oracle takes
 * is spread over all. One of them poisons with NaN; a kernel that works only when it sees that is caught in the next.
 */
static void write_checks(const kerf_timing_run *r, FILE *file, const kerf_case *c) {
    static const char *const checks[] = {"nan", "numbers", "last"};
    const int n = r->options->processes;
    const int first = (int)((kerf_case_hash(c) + r->options->seed) % (uint64_t)n);
    for (int i = 0; i < 3; ++i)
        if (r->process == (first + (i * n + 1) / 3) % n)
            fprintf(file, "check %s\n", checks[i]);
}

static void write_config(const kerf_timing_run *r, const kerf_timing_cell *cell, FILE *file) {
    if (!cell->config && !cell->threads)
        return;
    fprintf(file, "with %d", cell->threads ? cell->threads : r->options->threads);
    for (int i = 0; cell->config && i < cell->config->n; ++i)
        fprintf(file, "%c%s=%" PRId64, i ? ',' : ' ', cell->config->setting[i].name, cell->config->setting[i].value);
    fputc('\n', file);
}

static void write_case(kerf_timing_run *r, FILE *file, int first) {
    char memory[16384];
    const kerf_case *const c = r->cells[first].c;
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_case_print(c, &text);
    if (text.cut) {
        drop_case(r, c, "the text of the case is too long to be handed to another process");
        return;
    }
    fprintf(file, "case %s %s\n", r->cells[first].entry->op->name, memory);
    write_checks(r, file, c);
    for (int i = first; i < r->n; ++i) {
        if (r->cells[i].c != c || !kerf_timing_is_pending(r, i))
            continue;
        text = kerf_text_over(memory, sizeof memory);
        kerf_row_print(r->cells[i].row, &text);
        fprintf(file, "cell %d %s %s\n", i, kerf_cache_mode_name(r->cells[i].mode), memory);
        write_config(r, &r->cells[i], file);
    }
    for (int i = 0; i < r->options->n_limits; ++i) {
        const kerf_timing_limit *const limit = &r->options->limit[i];
        if (limit->c == c)
            fprintf(file, "limit %d %s %s %zu\n", i, kerf_cache_mode_name(limit->mode),
                    kerf_limit_kind_name(limit->kind), limit->bytes);
    }
}

/* The cases in an order of this process: what one case leaves behind for the next is noise too. */
static kerf_status write_request(kerf_timing_run *r, FILE *file, kerf_error *error) {
    fprintf(file, "threads %d\nseed 0x%" PRIx64 "\nprocess %d\nbudget_ns %" PRIu64 "\nturn /proc/%ld/fd/%d\n",
            r->options->threads, r->options->seed, r->process, budget_ns(r), (long)getpid(), r->turn_file);
    if (r->options->wish.split)
        fputs("split\n", file);
    if (r->options->wish.counters)
        fputs("counters\n", file);
    int *const first = malloc((size_t)r->n * sizeof *first);
    if (!first)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to order %d cells", r->n);
    int n = 0;
    for (int i = 0; i < r->n; ++i) {
        int k = 0;
        while (k < n && r->cells[first[k]].c != r->cells[i].c)
            ++k;
        if (k == n && kerf_timing_is_pending(r, i))
            first[n++] = i;
    }
    kerf_rng rng = kerf_rng_seeded(~r->options->seed, (uint64_t)r->process);
    for (; n > 0; --n) {
        const int at = (int)kerf_rng_below(&rng, (uint64_t)n);
        write_case(r, file, first[at]);
        first[at] = first[n - 1];
    }
    free(first);
    fputs("end\n", file);
    return KERF_OK;
}

static kerf_status write_rewound(kerf_timing_run *r, int file, kerf_error *error) {
    FILE *const stream = fdopen(dup(file), "w");
    const kerf_status status = stream ? write_request(r, stream, error) : KERF_OK;
    if (!stream || fclose(stream) != 0 || lseek(file, 0, SEEK_SET) != 0)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot write the request of a timing process: %s", strerror(errno));
    return status;
}

/* The request is a file rather than a pipe: nothing can block or break while it is written. */
kerf_status kerf_timing_request_open(kerf_timing_run *r, int *request, kerf_error *error) {
    const int file = memfd_create("kerf-timing-request", MFD_CLOEXEC);
    if (file < 0)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot make a file in memory: %s", strerror(errno));
    const kerf_status status = write_rewound(r, file, error);
    if (status == KERF_OK)
        *request = file;
    else
        close(file);
    return status;
}
