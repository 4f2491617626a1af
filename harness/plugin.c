#include "harness/plugin.h"

#include <dlfcn.h>
#include <string.h>

static int count_entries(const kerf_registry *registry) {
    int n = 0;
    while (registry->ops[n])
        ++n;
    return n;
}

static int count_rows(const kerf_op_entry *entry) {
    int n = 0;
    while (entry->rows && entry->rows[n])
        ++n;
    return n;
}

static kerf_status open_plugin(const char *path, const kerf_registry **registry, kerf_error *error) {
    /* Without a slash dlopen would search the library path, and an empty name means this program. */
    char here[1024];
    kerf_text text = kerf_text_over(here, sizeof here);
    kerf_text_printf(&text, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *const library = text.cut ? NULL : dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return kerf_fail(error, KERF_ERROR_USAGE, "--plugin '%s': %s", path, dlerror());
    kerf_plugin_function function;
    /* POSIX: what dlsym returns converts to a function pointer through memory. */
    void *const symbol = dlsym(library, KERF_PLUGIN_SYMBOL);
    memcpy(&function, &symbol, sizeof function);
    if (!function)
        return kerf_fail(error, KERF_ERROR_USAGE, "--plugin '%s' exports no function '%s'", path, KERF_PLUGIN_SYMBOL);
    *registry = function();
    if (!*registry || (*registry)->bytes < sizeof(kerf_registry) || !(*registry)->ops)
        return kerf_fail(error, KERF_ERROR_USAGE, "--plugin '%s' returns no registry", path);
    if ((*registry)->abi_version != KERF_ABI_VERSION)
        return kerf_fail(error, KERF_ERROR_USAGE, "--plugin '%s' has ABI version %u, this bench has %u; build it again",
                         path, (*registry)->abi_version, KERF_ABI_VERSION);
    return KERF_OK;
}

/* Row texts stand in tables, keys and the requests to timing processes. */
static bool is_word(const char *text) {
    return text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

static kerf_status check_row(const char *path, const kerf_row *row, kerf_error *error) {
    const bool named = row->bytes >= sizeof(kerf_row) && is_word(row->name) && row->name[0] && is_word(row->isa) &&
                       (unsigned)row->device <= KERF_DEVICE_CUDA_SIM;
    bool runs = row->bytes >= sizeof(kerf_row) && row->missing;
    for (int class = 0; named && class < KERF_N_CLASSES; ++class)
        runs = runs ||
               (row->variant[class] && row->variant[class]->bytes >= sizeof(kerf_variant) && row->variant[class]->run);
    if (!named || !runs)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "--plugin '%s': row '%s' lacks its size, a name and isa of a-z, 0-9 and _, a device, or a "
                         "variant with a run function",
                         path, named ? row->name : "?");
    return KERF_OK;
}

/* Rows are told apart by what they print as. */
static bool same_row(const kerf_row *a, const kerf_row *b) {
    return a->device == b->device && strcmp(a->name, b->name) == 0 && strcmp(a->isa, b->isa) == 0;
}

/* Entry `at` of `entries` (n so far) becomes the join of what is there and the plug-in's. */
static kerf_status join_entry(const char *path, const kerf_op_entry *added, kerf_arena *arena,
                              const kerf_op_entry **entries, int *n, kerf_error *error) {
    if (added->bytes < sizeof *added || !added->op || added->op->bytes < sizeof(kerf_op) || !added->op->name)
        return kerf_fail(error, KERF_ERROR_USAGE, "--plugin '%s': an entry lacks its size or the name of its op", path);
    for (int i = 0; i < count_rows(added); ++i)
        KERF_TRY(check_row(path, added->rows[i], error));
    int at = 0;
    while (at < *n && strcmp(entries[at]->op->name, added->op->name) != 0)
        ++at;
    if (at == *n) {
        const kerf_op *const op = added->op;
        if (!added->oracle || !op->describe || !op->fill || !added->rows || !op->attrs || !op->dims || !op->inputs ||
            !op->outputs || !op->fills || !op->dtypes)
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "--plugin '%s': the new op '%s' needs an oracle, describe, fill and all lists of names",
                             path, op->name);
        entries[(*n)++] = added;
        return KERF_OK;
    }
    const kerf_op_entry *const known = entries[at];
    const int n_added = count_rows(added), n_known = count_rows(known);
    for (int i = 0; i < n_added; ++i)
        for (int k = 0; k < n_known; ++k)
            if (same_row(added->rows[i], known->rows[k]))
                return kerf_fail(error, KERF_ERROR_USAGE,
                                 "--plugin '%s': %s has a row '%s' already; give this one a name of its own", path,
                                 known->op->name, added->rows[i]->name);
    const kerf_row **const rows = KERF_ARENA_NEW(arena, const kerf_row *, n_added + n_known + 1);
    kerf_op_entry *const joined = KERF_ARENA_NEW(arena, kerf_op_entry, 1);
    if (!rows || !joined)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the rows of '%s'", path);
    for (int i = 0; i < n_added; ++i)
        rows[i] = added->rows[i];
    for (int i = 0; i <= n_known; ++i)
        rows[n_added + i] = i < n_known ? known->rows[i] : NULL;
    *joined = *known;
    joined->rows = rows;
    entries[at] = joined;
    return KERF_OK;
}

kerf_status kerf_registry_joined(const char *const *paths, kerf_arena *arena, const kerf_registry **registry,
                                 kerf_error *error) {
    *registry = kerf_registry_builtin();
    for (int p = 0; paths && paths[p]; ++p) {
        const kerf_registry *added = NULL;
        KERF_TRY(open_plugin(paths[p], &added, error));
        int n = count_entries(*registry);
        const kerf_op_entry **const entries =
            KERF_ARENA_NEW(arena, const kerf_op_entry *, n + count_entries(added) + 1);
        kerf_registry *const joined = KERF_ARENA_NEW(arena, kerf_registry, 1);
        if (!entries || !joined)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for the entries of '%s'", paths[p]);
        memcpy(entries, (*registry)->ops, (size_t)n * sizeof *entries);
        for (int i = 0; i < count_entries(added); ++i)
            KERF_TRY(join_entry(paths[p], added->ops[i], arena, entries, &n, error));
        entries[n] = NULL;
        *joined = (kerf_registry){.bytes = sizeof *joined, .abi_version = KERF_ABI_VERSION, .ops = entries};
        *registry = joined;
    }
    return KERF_OK;
}
