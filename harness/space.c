#include "harness/space.h"

#include "harness/casegen.h"
#include "harness/space_part.h"
#include <string.h>

enum { MOST_NAMES = 128, MOST_PARTS = 256 };

/* ---- what the person may name ----------------------------------------------------------------------------------- */

/* Names of parameters, or of the values of one, for a message; each once. */
typedef struct name_list {
    const char *name[MOST_NAMES + 1];
    int n;
    char memory[400];
    kerf_text text;
} name_list;

static void list_name(name_list *list, const char *name) {
    for (int i = 0; i < list->n; ++i)
        if (strcmp(list->name[i], name) == 0)
            return;
    if (list->n == MOST_NAMES)
        return;
    kerf_text_printf(&list->text, "%s%s", list->n ? ", " : "", name);
    list->name[list->n++] = name;
}

static void list_begin(name_list *list) {
    list->n = 0;
    list->text = kerf_text_over(list->memory, sizeof list->memory);
    memset(list->name, 0, sizeof list->name);
}

static kerf_status unknown(const char *what, const char *given, name_list *list, const char *rest, kerf_error *error) {
    const char *const nearest = kerf_nearest_name(given, list->name);
    return kerf_fail(error, KERF_ERROR_USAGE, "%s '%.80s'%s%s%s; allowed are %s%s", what, given,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "", list->memory, rest);
}

/* The parameters of all parts as they are without restrictions. */
static kerf_status open_unrestricted(const kerf_space_request *request, kerf_arena *arena, kerf_open_part *open,
                                     kerf_error *error) {
    const kerf_space_request bare = {.parts = request->parts, .n_parts = request->n_parts};
    for (int part = 0; part < request->n_parts; ++part)
        KERF_TRY(kerf_space_part_open(&bare, part, arena, &open[part], error));
    return KERF_OK;
}

static const kerf_tuned *tuned_named(const kerf_open_part *part, const char *name) {
    for (int p = 0; p < part->n; ++p)
        if (strcmp(part->tuned[p].name, name) == 0)
            return &part->tuned[p];
    return NULL;
}

static void print_value(const kerf_tuned_value *value, kerf_text *text) {
    if (value->name)
        kerf_text_printf(text, "%s", value->name);
    else
        kerf_text_printf(text, "%lld", (long long)value->value);
}

static kerf_status check_restricted_value(const kerf_open_part *open, int n_parts, const char *name, const char *value,
                                          kerf_arena *arena, kerf_error *error) {
    name_list list;
    list_begin(&list);
    for (int part = 0; part < n_parts; ++part) {
        const kerf_tuned *const tuned = tuned_named(&open[part], name);
        for (int v = 0; tuned && v < tuned->n_values; ++v) {
            char memory[64];
            kerf_text text = kerf_text_over(memory, sizeof memory);
            print_value(&tuned->value[v], &text);
            if (strcmp(memory, value) == 0)
                return KERF_OK;
            const char *const kept = kerf_arena_copy_text(arena, memory);
            list_name(&list, kept ? kept : "");
        }
    }
    char what[64];
    kerf_text text = kerf_text_over(what, sizeof what);
    kerf_text_printf(&text, "--param %s: unknown value", name);
    return unknown(what, value, &list, "", error);
}

static kerf_status check_restriction(const kerf_open_part *open, int n_parts, const char *given, kerf_arena *arena,
                                     kerf_error *error) {
    char *const name = kerf_arena_copy_text(arena, given);
    char *const equals = name ? strchr(name, '=') : NULL;
    if (!equals || !equals[1])
        return kerf_fail(error, KERF_ERROR_USAGE, "--param '%.80s': expected NAME=VALUE,VALUE,...", given);
    *equals = '\0';
    name_list list;
    list_begin(&list);
    bool is_known = false;
    for (int part = 0; part < n_parts; ++part)
        for (int p = 0; p < open[part].n; ++p) {
            list_name(&list, open[part].tuned[p].name);
            is_known = is_known || strcmp(open[part].tuned[p].name, name) == 0;
        }
    if (!is_known)
        return unknown("--param: unknown parameter", name, &list, " (variants are chosen by --variant)", error);
    if (strcmp(name, "threads") == 0)
        return KERF_OK; /* any number up to the most, which is checked where it is used */
    for (char *value = equals + 1, *end; value; value = end) {
        end = strchr(value, ',');
        if (end)
            *end++ = '\0';
        KERF_TRY(check_restricted_value(open, n_parts, name, value, arena, error));
    }
    return KERF_OK;
}

static bool knows(const kerf_open_part *part, const char *name, name_list *list) {
    bool is_known = tuned_named(part, name) != NULL;
    for (int p = 0; p < part->n; ++p)
        list_name(list, part->tuned[p].name);
    for (const kerf_symbol *symbol = part->from->symbols; symbol && symbol->name; ++symbol) {
        list_name(list, symbol->name);
        is_known = is_known || strcmp(symbol->name, name) == 0;
    }
    for (int p = 0; p < part->n; ++p)
        for (int v = 0; v < part->tuned[p].n_values; ++v)
            is_known = is_known || (part->tuned[p].value[v].name && strcmp(part->tuned[p].value[v].name, name) == 0);
    return is_known;
}

static kerf_status check_constraint(const kerf_open_part *open, int n_parts, const char *text, kerf_error *error) {
    kerf_expression expression;
    KERF_TRY(kerf_expression_parse(text, &expression, error));
    for (int i = 0; i < expression.n_names; ++i) {
        name_list list;
        list_begin(&list);
        bool is_known = false;
        for (int part = 0; part < n_parts; ++part)
            is_known = knows(&open[part], expression.name[i], &list) || is_known;
        if (!is_known)
            return unknown("--constraint: unknown name", expression.name[i], &list, "", error);
    }
    return KERF_OK;
}

static kerf_status check_other_name(const char *one, const char *other, kerf_error *error) {
    const int length = (int)strcspn(one, "=");
    return strncmp(one, other, (size_t)length + 1) != 0
               ? KERF_OK
               : kerf_fail(error, KERF_ERROR_USAGE,
                           "--param %.*s is given twice; give all its values at once: --param %.*s=V,V", length, one,
                           length, one);
}

static kerf_status check_names(const kerf_space_request *request, kerf_open_part *open, kerf_arena *arena,
                               kerf_error *error) {
    KERF_TRY(open_unrestricted(request, arena, open, error));
    for (int i = 0; request->restrictions && request->restrictions[i]; ++i) {
        for (int k = 0; k < i; ++k)
            KERF_TRY(check_other_name(request->restrictions[k], request->restrictions[i], error));
        KERF_TRY(check_restriction(open, request->n_parts, request->restrictions[i], arena, error));
    }
    for (int i = 0; request->constraints && request->constraints[i]; ++i)
        KERF_TRY(check_constraint(open, request->n_parts, request->constraints[i], error));
    return KERF_OK;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static uint32_t mask_of(int n) {
    return (uint32_t)((UINT64_C(1) << n) - 1);
}

/* Says which constraint is the first that leaves nothing, and with which other one. */
static kerf_status tell_empty(const kerf_open_part *part, kerf_arena *arena, kerf_error *error) {
    const char *const name = part->from->name;
    for (int p = 0; p < part->n; ++p)
        if (part->tuned[p].n_values == 0)
            return kerf_fail(error, KERF_ERROR_USAGE, "no configuration of %s is left: it has no value of --param %s",
                             name, part->tuned[p].name);
    int last = 0;
    while (kerf_space_part_count(part, mask_of(last + 1), arena, NULL) != 0)
        ++last;
    const char *const text = part->constraint[last].expression.text;
    if (kerf_space_part_count(part, UINT32_C(1) << last, arena, NULL) == 0)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "no configuration of %s is left: the constraint '%s' holds for none of its values", name,
                         text);
    for (int other = 0; other < last; ++other)
        if (kerf_space_part_count(part, UINT32_C(1) << last | UINT32_C(1) << other, arena, NULL) == 0)
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "no configuration of %s is left: the constraint '%s' contradicts '%s'", name, text,
                             part->constraint[other].expression.text);
    return kerf_fail(error, KERF_ERROR_USAGE,
                     "no configuration of %s is left: the constraint '%s' contradicts those before it together", name,
                     text);
}

static bool is_same(const kerf_tuned *a, const kerf_tuned *b) {
    if (strcmp(a->name, b->name) != 0 || a->n_values != b->n_values)
        return false;
    for (int v = 0; v < a->n_values; ++v) {
        const kerf_tuned_value *const x = &a->value[v], *const y = &b->value[v];
        if (x->value != y->value || (x->name != NULL) != (y->name != NULL) ||
            (x->name && strcmp(x->name, y->name) != 0))
            return false;
    }
    return true;
}

/* The number of the part's parameter in the space; added if it is new, -1 if there is no room. */
static int shared_parameter(kerf_search_space *space, const kerf_tuned *tuned) {
    int p = 1;
    while (p < space->n_parameters && !is_same(&space->parameter[p], tuned))
        ++p;
    if (p == KERF_MAX_TUNED)
        return -1;
    if (p == space->n_parameters)
        space->parameter[space->n_parameters++] = *tuned;
    return p;
}

static kerf_status add_variants(const kerf_space_request *request, kerf_arena *arena, kerf_search_space *space,
                                kerf_error *error) {
    kerf_tuned_value *const values = KERF_ARENA_NEW(arena, kerf_tuned_value, request->n_parts);
    if (!values)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d variants", request->n_parts);
    for (int part = 0; part < request->n_parts; ++part)
        values[part] = (kerf_tuned_value){part, request->parts[part].name};
    space->parameter[0] = (kerf_tuned){.name = "variant", .value = values, .n_values = request->n_parts};
    space->n_parameters = 1;
    return KERF_OK;
}

static kerf_status count_configs(const kerf_open_part *open, int n_parts, int64_t counts[], kerf_arena *arena,
                                 kerf_search_space *space, kerf_error *error) {
    for (int part = 0; part < n_parts; ++part) {
        counts[part] = kerf_space_part_count(&open[part], mask_of(open[part].n_constraints), arena, NULL);
        if (counts[part] < 0 || space->n_configs + counts[part] > KERF_MOST_CONFIGS)
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "the space of %s is too large (allowed are %lld configurations); narrow it by --param "
                             "NAME=VALUES or --constraint",
                             open[part].from->name, (long long)KERF_MOST_CONFIGS);
        space->n_configs += counts[part];
        if (counts[part] > 0 || space->emptied)
            continue;
        kerf_error reason;
        tell_empty(&open[part], arena, &reason);
        space->emptied = kerf_arena_copy_text(arena, reason.message);
    }
    return space->n_configs > 0 ? KERF_OK : tell_empty(&open[0], arena, error);
}

/* Writes the configurations of one part, whose parameters are places[] of the space. */
static kerf_status write_part(const kerf_open_part *open, int part, const int places[], int64_t count,
                              kerf_arena *arena, int n_parameters, int16_t *to, kerf_error *error) {
    int16_t *const found = KERF_ARENA_NEW(arena, int16_t, count * open->n + 1);
    if (!found || kerf_space_part_count(open, mask_of(open->n_constraints), arena, found) != count)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %lld configurations", (long long)count);
    for (int64_t i = 0; i < count; ++i, to += n_parameters) {
        to[0] = (int16_t)part;
        for (int p = 1; p < n_parameters; ++p)
            to[p] = -1;
        for (int p = 0; p < open->n; ++p)
            to[places[p]] = found[i * open->n + p];
    }
    return KERF_OK;
}

static kerf_status write_table(const kerf_open_part *open, int n_parts, const int64_t counts[], kerf_arena *arena,
                               kerf_search_space *space, kerf_error *error) {
    int(*const places)[KERF_MAX_TUNED] = kerf_arena_alloc(arena, (size_t)n_parts * sizeof *places, _Alignof(int));
    if (!places)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d variants", n_parts);
    for (int part = 0; part < n_parts; ++part)
        for (int p = 0; p < open[part].n && counts[part] > 0; ++p) {
            places[part][p] = shared_parameter(space, &open[part].tuned[p]);
            if (places[part][p] < 0)
                return kerf_fail(error, KERF_ERROR_USAGE,
                                 "the variants have more than %d parameters together; name fewer by --variant",
                                 KERF_MAX_TUNED - 1);
        }
    int16_t *const table = KERF_ARENA_NEW(arena, int16_t, space->n_configs * space->n_parameters);
    if (!table)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %lld configurations", (long long)space->n_configs);
    int64_t at = 0;
    for (int part = 0; part < n_parts; at += counts[part++]) {
        int16_t *const to = table + at * space->n_parameters;
        if (counts[part] > 0)
            KERF_TRY(write_part(&open[part], part, places[part], counts[part], arena, space->n_parameters, to, error));
    }
    space->index = table;
    return KERF_OK;
}

kerf_status kerf_search_space_build(const kerf_space_request *request, kerf_arena *arena, kerf_search_space *space,
                                    kerf_error *error) {
    if (request->n_parts < 1 || request->n_parts > MOST_PARTS)
        return kerf_fail(error, KERF_ERROR_USAGE, "%d implementations; 1 to %d can be tuned together", request->n_parts,
                         MOST_PARTS);
    int64_t counts[MOST_PARTS];
    kerf_open_part *const open = KERF_ARENA_NEW(arena, kerf_open_part, request->n_parts);
    *space = (kerf_search_space){0};
    if (!open)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %d variants", request->n_parts);
    KERF_TRY(check_names(request, open, arena, error));
    for (int part = 0; part < request->n_parts; ++part)
        KERF_TRY(kerf_space_part_open(request, part, arena, &open[part], error));
    KERF_TRY(count_configs(open, request->n_parts, counts, arena, space, error));
    KERF_TRY(add_variants(request, arena, space, error));
    return write_table(open, request->n_parts, counts, arena, space, error);
}

/* ---- one configuration ------------------------------------------------------------------------------------------ */

static const int16_t *indices_of(const kerf_search_space *space, int64_t config) {
    return space->index + config * space->n_parameters;
}

int kerf_search_space_variant(const kerf_search_space *space, int64_t config) {
    return indices_of(space, config)[0];
}

kerf_status kerf_search_space_config(const kerf_search_space *space, int64_t config, kerf_arena *arena, kerf_config *to,
                                     kerf_error *error) {
    const int16_t *const indices = indices_of(space, config);
    kerf_setting *const setting = KERF_ARENA_NEW(arena, kerf_setting, space->n_parameters);
    if (!setting)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for a configuration");
    *to = (kerf_config){.bytes = sizeof *to, .setting = setting};
    for (int p = 1; p < space->n_parameters; ++p)
        if (indices[p] >= 0)
            setting[to->n++] = (kerf_setting){space->parameter[p].name, space->parameter[p].value[indices[p]].value};
    return KERF_OK;
}

void kerf_search_space_print(const kerf_search_space *space, int64_t config, kerf_text *text) {
    const int16_t *const indices = indices_of(space, config);
    const char *between = "";
    for (int p = 1; p < space->n_parameters; ++p) {
        if (indices[p] < 0)
            continue;
        kerf_text_printf(text, "%s%s=", between, space->parameter[p].name);
        print_value(&space->parameter[p].value[indices[p]], text);
        between = ",";
    }
}

kerf_status kerf_space_standard(const kerf_space_part *part, kerf_arena *arena, kerf_config *to, kerf_error *error) {
    int n = 0;
    while (part->space && part->space->parameters[n])
        ++n;
    kerf_setting *const setting = KERF_ARENA_NEW(arena, kerf_setting, n + 1);
    if (!setting)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for a configuration");
    *to = (kerf_config){.bytes = sizeof *to, .setting = setting};
    if (part->most_threads > 0)
        setting[to->n++] = (kerf_setting){"threads", part->most_threads};
    for (int i = 0; i < n; ++i)
        setting[to->n++] = (kerf_setting){part->space->parameters[i]->name, part->space->parameters[i]->standard};
    return KERF_OK;
}

void kerf_space_print_standard(const kerf_space_part *part, kerf_text *text) {
    const char *between = "";
    if (part->most_threads > 0) {
        kerf_text_printf(text, "threads=%d", part->most_threads);
        between = ",";
    }
    for (int i = 0; part->space && part->space->parameters[i]; ++i, between = ",") {
        const kerf_parameter *const p = part->space->parameters[i];
        const bool is_choice = p->choices && p->standard >= 0 && p->standard < p->n_values;
        const kerf_tuned_value value = {p->standard, is_choice ? p->choices[p->standard] : NULL};
        kerf_text_printf(text, "%s%s=", between, p->name);
        print_value(&value, text);
    }
}
