#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

kerf_json kerf_json_over(kerf_text *text) {
    return (kerf_json){.text = text};
}

/* Length of the well-formed UTF-8 sequence at `s` (RFC 3629), 0 if there is none. */
static int utf8_length(const unsigned char *s) {
    if (s[0] < 0x80)
        return 1;
    const int n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                  : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                  : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                 : 0;
    for (int i = 1; i < n; ++i)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const int overlong_or_surrogate = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                                      (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return n > 0 && !overlong_or_surrogate ? n : 0;
}

static void quoted(kerf_text *text, const char *value) {
    kerf_text_printf(text, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        const int n = utf8_length(s);
        if (n == 0)
            kerf_text_printf(text, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            kerf_text_printf(text, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            kerf_text_printf(text, "\\u%04x", *s);
        else
            kerf_text_printf(text, "%.*s", n, (const char *)s);
        s += n > 0 ? n : 1;
    }
    kerf_text_printf(text, "\"");
}

static void begin_item(kerf_json *json, const char *name) {
    const uint64_t bit = UINT64_C(1) << json->depth;
    if (json->has_items & bit)
        kerf_text_printf(json->text, ",");
    json->has_items |= bit;
    if (name) {
        quoted(json->text, name);
        kerf_text_printf(json->text, ":");
    }
}

static void open_container(kerf_json *json, const char *name, const char *bracket) {
    begin_item(json, name);
    kerf_text_printf(json->text, "%s", bracket);
    ++json->depth;
    json->has_items &= ~(UINT64_C(1) << json->depth);
}

void kerf_json_object(kerf_json *json, const char *name) {
    open_container(json, name, "{");
}

void kerf_json_array(kerf_json *json, const char *name) {
    open_container(json, name, "[");
}

void kerf_json_end_object(kerf_json *json) {
    --json->depth;
    kerf_text_printf(json->text, "}");
}

void kerf_json_end_array(kerf_json *json) {
    --json->depth;
    kerf_text_printf(json->text, "]");
}

void kerf_json_text(kerf_json *json, const char *name, const char *value) {
    begin_item(json, name);
    if (value)
        quoted(json->text, value);
    else
        kerf_text_printf(json->text, "null");
}

void kerf_json_integer(kerf_json *json, const char *name, int64_t value) {
    begin_item(json, name);
    kerf_text_printf(json->text, "%" PRId64, value);
}

void kerf_json_bool(kerf_json *json, const char *name, bool value) {
    begin_item(json, name);
    kerf_text_printf(json->text, value ? "true" : "false");
}

void kerf_json_real(kerf_json *json, const char *name, double value) {
    begin_item(json, name);
    if (!isfinite(value)) {
        kerf_text_printf(json->text, "null");
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; ++precision) {
        kerf_text shortest = kerf_text_over(digits, sizeof digits);
        kerf_text_printf(&shortest, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    kerf_text_printf(json->text, "%s", digits);
}

void kerf_json_hex(kerf_json *json, const char *name, uint64_t value) {
    begin_item(json, name);
    kerf_text_printf(json->text, "\"0x%016" PRIx64 "\"", value);
}
