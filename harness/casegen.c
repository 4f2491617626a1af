/* Reads case texts line by line and keeps each case once. */
#include "harness/casegen_pattern.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (16u << 20)

typedef struct reader {
    const kerf_op *op;
    kerf_arena *arena;
    kerf_case_list *list;
    int capacity;
    uint64_t n_expanded; /* with repetitions */
    uint64_t *hash;      /* of each case in the list */
    int *slot;           /* open addressing; 1 + the index in the list, 0: free */
    size_t n_slots;      /* a power of two, at least twice the capacity */
    kerf_error *error;
} reader;

static kerf_status no_memory(reader *r) {
    return kerf_fail(r->error, KERF_ERROR_MEMORY, "the memory for cases is used up after %d of them", r->list->n);
}

static bool same_case(const kerf_case *a, const kerf_case *b) {
    for (int i = 0; i < kerf_attr_spec_count(a->op); ++i)
        if (!kerf_attr_same(a->op->attrs[i], &a->attr[i], &b->attr[i]))
            return false;
    return memcmp(a->dim, b->dim, sizeof a->dim) == 0 && a->dtype == b->dtype && strcmp(a->layout, b->layout) == 0 &&
           a->fill == b->fill && a->want == b->want && a->seed == b->seed;
}

/* The slot that holds the case, or the free one where it belongs. */
static int *find_slot(const reader *r, uint64_t hash, const kerf_case *c) {
    size_t at = hash & (r->n_slots - 1);
    while (r->slot[at] != 0) {
        const int index = r->slot[at] - 1;
        if (r->hash[index] == hash && same_case(&r->list->at[index], c))
            break;
        at = (at + 1) & (r->n_slots - 1);
    }
    return &r->slot[at];
}

static kerf_status grow(reader *r, int capacity) {
    kerf_case *const at = KERF_ARENA_NEW(r->arena, kerf_case, capacity);
    uint64_t *const hash = KERF_ARENA_NEW(r->arena, uint64_t, capacity);
    size_t n_slots = 16;
    while (n_slots < 2 * (size_t)capacity)
        n_slots *= 2;
    int *const slot = KERF_ARENA_NEW(r->arena, int, n_slots);
    if (!at || !hash || !slot)
        return no_memory(r);
    memset(slot, 0, sizeof *slot * n_slots);
    for (int i = 0; i < r->list->n; ++i) {
        at[i] = r->list->at[i];
        hash[i] = r->hash ? r->hash[i] : kerf_case_hash(&at[i]);
    }
    r->list->at = at;
    r->hash = hash;
    r->slot = slot;
    r->n_slots = n_slots;
    r->capacity = capacity;
    for (int i = 0; i < r->list->n; ++i)
        *find_slot(r, hash[i], &at[i]) = i + 1;
    return KERF_OK;
}

static kerf_status check_count(reader *r, uint64_t n_more) {
    if (n_more <= KERF_CASE_MAX_COUNT && r->n_expanded + n_more <= KERF_CASE_MAX_COUNT)
        return KERF_OK;
    return kerf_fail(r->error, KERF_ERROR_USAGE,
                     "with this line there are %" PRIu64 " cases; at most %d are allowed, so leave fewer fields open",
                     n_more > UINT64_MAX - r->n_expanded ? UINT64_MAX : r->n_expanded + n_more, KERF_CASE_MAX_COUNT);
}

static kerf_status take_case(void *arg, const kerf_case *c) {
    reader *const r = arg;
    KERF_TRY(check_count(r, 1));
    ++r->n_expanded;
    if (r->list->n == r->capacity)
        KERF_TRY(grow(r, 2 * r->capacity));
    const uint64_t hash = kerf_case_hash(c);
    int *const slot = find_slot(r, hash, c);
    if (*slot != 0)
        return KERF_OK;
    r->list->at[r->list->n] = *c;
    r->hash[r->list->n] = hash;
    *slot = ++r->list->n;
    return KERF_OK;
}

static kerf_status read_line(reader *r, char *line, kerf_expansion expansion, const kerf_case_sieve *sieve) {
    line[strcspn(line, "#")] = '\0';
    const size_t n_bytes = strlen(line);
    if (n_bytes > 0 && line[n_bytes - 1] == '\r')
        line[n_bytes - 1] = '\0';
    if (line[strspn(line, " \t")] == '\0')
        return KERF_OK;
    kerf_case_pattern pattern;
    KERF_TRY(kerf_case_pattern_parse(r->op, line, r->arena, &pattern, r->error));
    if (!kerf_case_sieve_apply(sieve, &pattern))
        return KERF_OK;
    if (expansion == KERF_EXPAND_ALL)
        KERF_TRY(check_count(r, kerf_case_pattern_count(&pattern)));
    return kerf_case_pattern_expand(&pattern, expansion, take_case, r, r->error);
}

/* The end of a name that is too long for a message. */
static const char *short_name(const char *name) {
    const size_t n_name = strlen(name), most = 120;
    return n_name > most ? name + n_name - most : name;
}

static kerf_status fail_at(kerf_error *error, kerf_status status, const char *name, int line, const char *message) {
    return kerf_fail(error, status, "%s:%d: %s", short_name(name), line, message);
}

static kerf_status read_lines(reader *r, const char *name, const char *text, kerf_expansion expansion,
                              const kerf_case_sieve *sieve, kerf_error *error) {
    char line[KERF_CASE_MAX_LINE_BYTES + 1];
    for (int number = 1; *text != '\0'; ++number) {
        const size_t n_bytes = strcspn(text, "\n");
        kerf_status status = KERF_OK;
        if (n_bytes > KERF_CASE_MAX_LINE_BYTES) {
            status = kerf_fail(r->error, KERF_ERROR_USAGE, "a line of %zu bytes; at most %d are allowed", n_bytes,
                               KERF_CASE_MAX_LINE_BYTES);
        } else {
            memcpy(line, text, n_bytes);
            line[n_bytes] = '\0';
            status = read_line(r, line, expansion, sieve);
        }
        if (status != KERF_OK)
            return fail_at(error, status, name, number, r->error->message);
        text += n_bytes + (text[n_bytes] == '\n');
    }
    return KERF_OK;
}

kerf_status kerf_cases_read(const kerf_op *op, const char *name, const char *text, kerf_expansion expansion,
                            const kerf_case_filter *filter, kerf_arena *arena, kerf_case_list *list,
                            kerf_error *error) {
    const kerf_case_sieve *sieve = NULL;
    KERF_TRY(kerf_case_sieve_make(op, filter, arena, &sieve, error));
    kerf_error inner = {0};
    reader r = {.op = op, .arena = arena, .list = list, .error = &inner};
    const kerf_status status = grow(&r, list->n < 32 ? 64 : 2 * list->n);
    if (status != KERF_OK)
        return kerf_fail(error, status, "%s", inner.message);
    return read_lines(&r, name, text, expansion, sieve, error);
}

static int line_of(const char *text, const char *place) {
    int line = 1;
    for (; text < place; ++text)
        line += *text == '\n';
    return line;
}

static kerf_status load_file(const char *path, char *text, size_t *n_bytes, kerf_error *error) {
    FILE *const file = fopen(path, "rb");
    if (!file)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot read cases from %s: %s", short_name(path), strerror(errno));
    *n_bytes = fread(text, 1, MAX_FILE_BYTES + 1, file);
    const bool failed = ferror(file) != 0;
    const int reason = errno;
    fclose(file);
    if (failed)
        return kerf_fail(error, KERF_ERROR_FILE, "cannot read cases from %s: %s", short_name(path), strerror(reason));
    if (*n_bytes > MAX_FILE_BYTES)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s is larger than %u bytes, the most that a file of cases may have",
                         short_name(path), MAX_FILE_BYTES);
    text[*n_bytes] = '\0';
    const char *const nul = memchr(text, '\0', *n_bytes);
    if (nul)
        return fail_at(error, KERF_ERROR_USAGE, path, line_of(text, nul), "a NUL byte; cases are plain text");
    return KERF_OK;
}

kerf_status kerf_cases_read_file(const kerf_op *op, const char *path, kerf_expansion expansion,
                                 const kerf_case_filter *filter, kerf_arena *arena, kerf_case_list *list,
                                 kerf_error *error) {
    char *const text = malloc(MAX_FILE_BYTES + 2);
    if (!text)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to read %s", short_name(path));
    size_t n_bytes = 0;
    kerf_status status = load_file(path, text, &n_bytes, error);
    if (status == KERF_OK)
        status = kerf_cases_read(op, path, text, expansion, filter, arena, list, error);
    free(text);
    return status;
}
