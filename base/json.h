/* Writes JSON into memory of the caller. Commas, escapes and nesting are taken care of. JSON has no NaN and no
 * infinities: such numbers are written as null. Reading is libjansson's work. */
#ifndef KERF_BASE_JSON_H
#define KERF_BASE_JSON_H

#include "base/status.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kerf_json {
    kerf_text *text;
    uint64_t has_items; /* bit d: the container at depth d has an item already */
    int depth;
} kerf_json;

kerf_json kerf_json_over(kerf_text *text);
/* Opening and closing containers; `name` is NULL inside an array and at the top. Depth is at most 60. */
void kerf_json_object(kerf_json *json, const char *name);
void kerf_json_array(kerf_json *json, const char *name);
void kerf_json_end_object(kerf_json *json);
void kerf_json_end_array(kerf_json *json);
void kerf_json_text(kerf_json *json, const char *name,
                    const char *value); /* NULL becomes null; bad UTF-8 is replaced */
void kerf_json_integer(kerf_json *json, const char *name, int64_t value);
void kerf_json_real(kerf_json *json, const char *name, double value); /* shortest text that reads back the same */
void kerf_json_bool(kerf_json *json, const char *name, bool value);
void kerf_json_hex(kerf_json *json, const char *name, uint64_t value); /* "0x..." : 64 bits do not fit a JSON number */

#ifdef __cplusplus
}
#endif

#endif
