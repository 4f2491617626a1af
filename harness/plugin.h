/* Joins the built-in registry with those of plug-ins. */
#ifndef KERF_HARNESS_PLUGIN_H
#define KERF_HARNESS_PLUGIN_H

#include "base/arena.h"
#include "kernels/registry.h"

/* `paths` is NULL-terminated. An entry of a plug-in that names a known op adds its rows in front of those that are
 * there; any other must bring op and oracle. Plug-ins are never unloaded. The result lives in the arena.
 * KERF_ERROR_USAGE: cannot be loaded, another ABI version, or an entry that is not complete. */
kerf_status kerf_registry_joined(const char *const *paths, kerf_arena *arena, const kerf_registry **registry,
                                 kerf_error *error);

#endif
