#include "harness/timing_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const kerf_registry *registry;
    kerf_arena *arena;
    kerf_timing_request *request;
    kerf_error *error;
    int line;
} reader;

static kerf_status refused(const reader *r, const char *what, const char *text) {
    return kerf_fail(r->error, KERF_ERROR_USAGE, "request line %d: %s `%.200s`", r->line, what, text);
}

static kerf_status number_of(const reader *r, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (text[0] < '0' || text[0] > '9' || *end || errno || *value < least || *value > most)
        return refused(r, "not a number in its range:", text);
    return KERF_OK;
}

/* Cuts the first word off. */
static char *word(char **text) {
    char *const begin = *text;
    char *const blank = strchr(begin, ' ');
    *text = blank ? blank + 1 : begin + strlen(begin);
    if (blank)
        *blank = '\0';
    return begin;
}

static kerf_status read_case(const reader *r, char *text) {
    const char *const op = word(&text);
    kerf_requested_case *const wanted = KERF_ARENA_NEW(r->arena, kerf_requested_case, 1);
    if (!wanted)
        return kerf_fail(r->error, KERF_ERROR_MEMORY, "request line %d: too many cases", r->line);
    wanted->entry = kerf_registry_find(r->registry, op);
    if (!wanted->entry)
        return refused(r, "no such op:", op);
    KERF_TRY(kerf_case_parse(wanted->entry->op, text, r->arena, &wanted->c, r->error));
    *(r->request->last ? &r->request->last->next : &r->request->first) = wanted;
    r->request->last = wanted;
    return KERF_OK;
}

static const kerf_row *row_named(const kerf_op_entry *entry, const char *name) {
    for (const kerf_row *const *row = entry->rows; *row; ++row) {
        char memory[200];
        kerf_text text = kerf_text_over(memory, sizeof memory);
        kerf_row_print(*row, &text);
        if (strcmp(memory, name) == 0)
            return *row;
    }
    return NULL;
}

static kerf_status read_check(const reader *r, const char *text) {
    static const char *const names[] = {"nan", "numbers", "last"};
    kerf_requested_case *const of = r->request->last;
    if (!of)
        return refused(r, "a check before the first case:", text);
    for (int i = 0; i < 3; ++i)
        if (strcmp(text, names[i]) == 0) {
            of->checks |= 1u << i;
            return KERF_OK;
        }
    return refused(r, "not a check:", text);
}

static kerf_status mode_named(const reader *r, const char *name, kerf_cache_mode *mode) {
    *mode = strcmp(name, kerf_cache_mode_name(KERF_COLD)) == 0 ? KERF_COLD : KERF_HOT;
    return strcmp(name, kerf_cache_mode_name(*mode)) == 0 ? KERF_OK : refused(r, "not a cache mode:", name);
}

static kerf_status read_limit(const reader *r, char *text) {
    kerf_requested_case *const of = r->request->last;
    if (!of)
        return refused(r, "a limit before the first case:", text);
    kerf_requested_limit *const limit = KERF_ARENA_NEW(r->arena, kerf_requested_limit, 1);
    if (!limit)
        return kerf_fail(r->error, KERF_ERROR_MEMORY, "request line %d: too many limits", r->line);
    uint64_t id, bytes;
    int kind = 0;
    KERF_TRY(number_of(r, word(&text), 0, INT32_MAX, &id));
    KERF_TRY(mode_named(r, word(&text), &limit->mode));
    const char *const name = word(&text);
    while (kind < KERF_N_LIMIT_KINDS && strcmp(name, kerf_limit_kind_name(kind)) != 0)
        ++kind;
    if (kind == KERF_N_LIMIT_KINDS)
        return refused(r, "not a kind of limit:", name);
    KERF_TRY(number_of(r, text, 0, UINT64_C(1) << 40, &bytes));
    limit->id = (int)id;
    limit->kind = (kerf_limit_kind)kind;
    limit->bytes = (size_t)bytes;
    limit->next = of->first_limit;
    of->first_limit = limit;
    return KERF_OK;
}

static kerf_status read_cell(const reader *r, char *text) {
    kerf_requested_case *const of = r->request->last;
    if (!of)
        return refused(r, "a cell before the first case:", text);
    const char *const id_text = word(&text), *const mode = word(&text);
    uint64_t id;
    KERF_TRY(number_of(r, id_text, 0, INT32_MAX, &id));
    kerf_requested_cell *const cell = KERF_ARENA_NEW(r->arena, kerf_requested_cell, 1);
    if (!cell)
        return kerf_fail(r->error, KERF_ERROR_MEMORY, "request line %d: too many cells", r->line);
    cell->id = (int)id;
    cell->with = "";
    KERF_TRY(mode_named(r, mode, &cell->mode));
    cell->row = row_named(of->entry, text);
    if (!cell->row)
        return refused(r, "no such row:", text);
    *(of->last ? &of->last->next : &of->first) = cell;
    of->last = cell;
    return KERF_OK;
}

/* Cuts "name=value" off. */
static kerf_status read_setting(const reader *r, char **text, kerf_setting *setting) {
    char *const begin = *text, *const comma = strchr(begin, ','), *const equals = strchr(begin, '=');
    *text = comma ? comma + 1 : begin + strlen(begin);
    if (comma)
        *comma = '\0';
    if (!equals || (comma && equals > comma))
        return refused(r, "not a setting:", begin);
    *equals = '\0';
    char *end;
    errno = 0;
    *setting = (kerf_setting){.name = begin, .value = strtoll(equals + 1, &end, 10)};
    return end == equals + 1 || *end || errno ? refused(r, "not a setting:", begin) : KERF_OK;
}

static kerf_status read_with(const reader *r, const char *text) {
    kerf_requested_cell *const cell = r->request->last ? r->request->last->last : NULL;
    if (!cell)
        return refused(r, "a config before the first cell:", text);
    char *settings = kerf_arena_copy_text(r->arena, text);
    cell->with = kerf_arena_copy_text(r->arena, text);
    if (!settings || !cell->with)
        return kerf_fail(r->error, KERF_ERROR_MEMORY, "request line %d: too many configs", r->line);
    uint64_t threads;
    KERF_TRY(number_of(r, word(&settings), 1, 1024, &threads));
    cell->threads = (int)threads;
    int n = 0;
    for (const char *at = settings; *at; ++at)
        n += *at == ',';
    kerf_config *const config = KERF_ARENA_NEW(r->arena, kerf_config, 1);
    kerf_setting *const setting = KERF_ARENA_NEW(r->arena, kerf_setting, n + 1);
    if (!config || !setting)
        return kerf_fail(r->error, KERF_ERROR_MEMORY, "request line %d: too many configs", r->line);
    *config = (kerf_config){.bytes = sizeof *config, .setting = setting};
    while (*settings)
        KERF_TRY(read_setting(r, &settings, &setting[config->n++]));
    cell->config = config;
    return KERF_OK;
}

static kerf_status read_line(const reader *r, char *text) {
    kerf_timing_request *const request = r->request;
    const char *const key = word(&text);
    uint64_t value = 0;
    if (strcmp(key, "case") == 0)
        return read_case(r, text);
    if (strcmp(key, "cell") == 0)
        return read_cell(r, text);
    if (strcmp(key, "limit") == 0)
        return read_limit(r, text);
    if (strcmp(key, "with") == 0)
        return read_with(r, text);
    if (strcmp(key, "check") == 0)
        return read_check(r, text);
    if (strcmp(key, "split") == 0) {
        request->wish.split = true;
    } else if (strcmp(key, "counters") == 0) {
        request->wish.counters = true;
    } else if (strcmp(key, "turn") == 0) {
        request->turn_path = kerf_arena_copy_text(r->arena, text);
    } else if (strcmp(key, "threads") == 0) {
        KERF_TRY(number_of(r, text, 1, INT32_MAX, &value));
        request->threads = (int)value;
    } else if (strcmp(key, "process") == 0) {
        KERF_TRY(number_of(r, text, 0, UINT16_MAX, &value));
        request->process = (int)value;
    } else if (strcmp(key, "seed") == 0) {
        KERF_TRY(number_of(r, text, 0, UINT64_MAX, &request->seed));
    } else if (strcmp(key, "budget_ns") == 0) {
        KERF_TRY(number_of(r, text, 0, UINT64_MAX, &request->budget_ns));
    } else {
        return refused(r, "not known:", key);
    }
    return KERF_OK;
}

kerf_status kerf_timing_request_read(FILE *file, const kerf_registry *registry, kerf_arena *arena,
                                     kerf_timing_request *request, kerf_error *error) {
    *request = (kerf_timing_request){.threads = 1};
    reader r = {.registry = registry, .arena = arena, .request = request, .error = error};
    char *line = NULL;
    size_t capacity = 0;
    bool ended = false;
    kerf_status status = KERF_OK;
    while (status == KERF_OK && !ended && getline(&line, &capacity, file) >= 0) {
        ++r.line;
        line[strcspn(line, "\n")] = '\0';
        ended = strcmp(line, "end") == 0;
        if (!ended)
            status = read_line(&r, line);
    }
    free(line);
    if (status == KERF_OK && !ended)
        return kerf_fail(error, KERF_ERROR_USAGE, "the request of a timing worker must close with a line `end`");
    return status;
}
