/* What an earlier run of the same program on this machine found out. */
#include "harness/environment.h"
#include "harness/record_read.h"
#include "harness/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kerf_status check_origin(const kerf_record *run, const kerf_environment *here, const char *path,
                                kerf_error *error) {
    const kerf_environment *const there = run->environment;
    if (!there || strcmp(there->cpu, here->cpu) != 0 || strcmp(there->isa, here->isa) != 0 ||
        there->processors != here->processors)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "--resume '%s': its times are of another machine (%.60s, %s, %d processors), this is %.60s, "
                         "%s, %d processors; tune without --resume",
                         path, there ? there->cpu : "unknown", there ? there->isa : "unknown",
                         there ? there->processors : 0, here->cpu, here->isa, here->processors);
    if (strcmp(there->build_id, here->build_id) != 0 || strcmp(here->build_id, "unknown") == 0)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "--resume '%s': its times are of another build of bench (%.16s..., this is %.16s...); tune "
                         "without --resume",
                         path, there->build_id, here->build_id);
    return KERF_OK;
}

kerf_status kerf_tune_read_earlier(kerf_run *run, kerf_error *error) {
    const char *const path = run->options->resume;
    kerf_record_file file;
    if (!path)
        return KERF_OK;
    kerf_error inner;
    const kerf_status status = kerf_record_read_file(path, &run->arena, &file, &inner);
    if (status != KERF_OK)
        return kerf_fail(error, status, "--resume: %s", inner.message);
    const kerf_environment *const here = kerf_environment_read(&run->arena, run->isa);
    if (!here)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to read '%s'", path);
    int n_runs = 0;
    for (int i = 0; i < file.records.n; ++i) {
        if (file.records.at[i]->kind != KERF_RECORD_RUN)
            continue;
        KERF_TRY(check_origin(file.records.at[i], here, path, error));
        ++n_runs;
    }
    if (n_runs == 0)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "--resume '%s': no record says which machine and build it is of; tune without --resume", path);
    if (file.cut && !run->options->quiet)
        fprintf(stderr, "bench: the last line of '%s' is not whole and is left out\n", path);
    run->earlier = file.records;
    return KERF_OK;
}

/* ---- which configuration a record means -------------------------------------------------------------------------- */

typedef struct named_config {
    uint64_t hash; /* of row and text */
    int64_t number;
} named_config;

static uint64_t hash_of(const char *row, const char *config) {
    const uint64_t hash = kerf_hash_bytes(KERF_HASH_START, row, strlen(row) + 1);
    return kerf_hash_bytes(hash, config, strlen(config));
}

static int by_hash(const void *a, const void *b) {
    const uint64_t x = ((const named_config *)a)->hash, y = ((const named_config *)b)->hash;
    return (x > y) - (x < y);
}

static void print_config(const kerf_search_space *space, int64_t number, char *memory, size_t bytes) {
    kerf_text text = kerf_text_over(memory, bytes);
    kerf_search_space_print(space, number, &text);
}

static named_config *list_names(const kerf_tuning *t, kerf_error *error) {
    named_config *const names = KERF_ARENA_NEW(&t->run->arena, named_config, t->space.n_configs);
    if (!names) {
        kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %lld configurations", (long long)t->space.n_configs);
        return NULL;
    }
    for (int64_t i = 0; i < t->space.n_configs; ++i) {
        char memory[1024];
        print_config(&t->space, i, memory, sizeof memory);
        names[i] = (named_config){hash_of(t->parts[kerf_search_space_variant(&t->space, i)].name, memory), i};
    }
    qsort(names, (size_t)t->space.n_configs, sizeof *names, by_hash);
    return names;
}

static int64_t number_of(const kerf_tuning *t, const named_config *names, const kerf_record *record) {
    const named_config key = {.hash = hash_of(record->row, record->config)};
    const named_config *const found = bsearch(&key, names, (size_t)t->space.n_configs, sizeof *names, by_hash);
    if (!found)
        return -1;
    char memory[1024];
    print_config(&t->space, found->number, memory, sizeof memory);
    const bool is_it = strcmp(memory, record->config) == 0 &&
                       strcmp(t->parts[kerf_search_space_variant(&t->space, found->number)].name, record->row) == 0;
    return is_it ? found->number : -1;
}

/* ---- taking it over ---------------------------------------------------------------------------------------------- */

static bool is_of_case(const kerf_tuning *t, const kerf_record *record) {
    return record->kind == KERF_RECORD_TUNE && record->tune->phase == KERF_TUNE_SEARCH &&
           record->case_hash == kerf_case_hash(t->c) && strcmp(record->op, t->run->entry->op->name) == 0 &&
           strcmp(record->mode, kerf_cache_mode_name(t->mode)) == 0;
}

/* The build id says nothing of a plug-in's code. */
static bool is_of_this_program(const kerf_tuning *t, int row) {
    const kerf_op_entry *const entry = kerf_registry_find(kerf_registry_builtin(), t->run->entry->op->name);
    for (int i = 0; entry && entry->rows[i]; ++i)
        if (entry->rows[i] == t->run->rows.at[row].row)
            return true;
    return false;
}

/* Times are kept relative to the default: another default is another scale. */
static bool has_same_standard(const kerf_tuning *t, double *standard_ns) {
    const kerf_candidate *const standard = &t->tried[t->standard];
    bool is_same = false;
    for (int i = 0; i < t->run->earlier.n; ++i) {
        const kerf_record *const record = t->run->earlier.at[i];
        if (!is_of_case(t, record) || !record->tune->is_standard || !(record->time_ns.middle > 0))
            continue;
        is_same = strcmp(record->row, t->run->rows.at[standard->row].text) == 0 &&
                  strcmp(record->config, standard->text) == 0;
        *standard_ns = record->time_ns.middle;
    }
    return is_same && is_of_this_program(t, standard->row);
}

static kerf_status take(kerf_tuning *t, const kerf_record *record, kerf_candidate *candidate, kerf_error *error) {
    candidate->is_taken_over = true;
    candidate->finding = record->finding;
    const kerf_verdict verdict = record->finding.verdict;
    candidate->is_doubted = verdict != KERF_PASS; /* the record does not say by whom */
    candidate->outcome.kind = verdict == KERF_PASS ? KERF_OUTCOME_TIMED : KERF_OUTCOME_WRONG;
    candidate->time_ns = record->time_ns.middle;
    if (verdict == KERF_PASS)
        candidate->outcome.cost = 1 / record->ratio_to_standard.middle;
    return kerf_tuning_record_step(t, candidate, error);
}

/* SKIP may be a refusal, which costs nothing to ask for again, or a time that was never taken; IMPLAUSIBLE speaks of
 * the limits as they were. */
static bool says_enough(const kerf_record *record) {
    const kerf_verdict verdict = record->finding.verdict;
    return verdict == KERF_PASS ? record->ratio_to_standard.middle > 0
                                : verdict != KERF_SKIP && verdict != KERF_IMPLAUSIBLE;
}

static bool is_tried(const kerf_tuning *t, int64_t number) {
    for (int i = 0; i < t->n_tried; ++i)
        if (t->tried[i].number == number)
            return true;
    return false;
}

kerf_status kerf_tuning_take_over(kerf_tuning *t, const kerf_search *search, void *state, kerf_error *error) {
    if (t->run->earlier.n == 0 || !has_same_standard(t, &t->standard_ns))
        return KERF_OK;
    t->tried[t->standard].time_ns = t->standard_ns;
    t->tried[t->standard].outcome = (kerf_outcome){.kind = KERF_OUTCOME_TIMED, .cost = 1};
    t->tried[t->standard].is_taken_over = true;
    KERF_TRY(kerf_tuning_record_step(t, &t->tried[t->standard], error));
    const named_config *const names = list_names(t, error);
    if (!names)
        return KERF_ERROR_MEMORY;
    for (int i = 0; i < t->run->earlier.n && t->n_tried < t->run->options->evaluations; ++i) {
        const kerf_record *const record = t->run->earlier.at[i];
        const int64_t number = is_of_case(t, record) && says_enough(record) ? number_of(t, names, record) : -1;
        kerf_candidate *candidate;
        if (number < 0 || is_tried(t, number))
            continue;
        if (!is_of_this_program(t, t->row_of_part[kerf_search_space_variant(&t->space, number)]))
            continue;
        KERF_TRY(kerf_tuning_add(t, number, &candidate, error));
        KERF_TRY(take(t, record, candidate, error));
        search->tell(state, number, &candidate->outcome);
    }
    return KERF_OK;
}
