/* Which dim a sweep went over: read off the texts of its cases. */
#include "reports/plot_data.h"

#include <string.h>

const char *kerf_plot_field(const char *text, const char *key, size_t key_bytes, size_t *bytes) {
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        *bytes = strcspn(at, " ");
        if (strcspn(at, "= ") == key_bytes && strncmp(at, key, key_bytes) == 0)
            return at;
        at += *bytes;
    }
    return NULL;
}

static bool same_field(const char *text, const char *other, const char *key, size_t key_bytes) {
    size_t n, n_other;
    const char *const a = kerf_plot_field(text, key, key_bytes, &n);
    const char *const b = kerf_plot_field(other, key, key_bytes, &n_other);
    return a && b && n == n_other && strncmp(a, b, n) == 0;
}

static bool is_number(const char *field, size_t key_bytes, size_t bytes) {
    return bytes > key_bytes + 1 && bytes < key_bytes + 18 &&
           strspn(field + key_bytes + 1, "0123456789") == bytes - key_bytes - 1;
}

static bool copy_key(char key[32], const char *field) {
    const size_t n = strcspn(field, "= ");
    if (n >= 32)
        return false;
    memcpy(key, field, n);
    key[n] = '\0';
    return true;
}

static bool differs(const kerf_plot *plot, const char *key, size_t n_key) {
    for (int i = 1; i < plot->n_cases; ++i)
        if (!same_field(plot->case_text[0], plot->case_text[i], key, n_key))
            return true;
    return false;
}

/* Whether the field goes with the swept dim: wherever that is the same, so is the field. */
static bool goes_along(const kerf_plot *plot, const char *key, size_t n_key) {
    for (int i = 0; i < plot->n_cases; ++i)
        for (int j = 0; j < i; ++j)
            if (same_field(plot->case_text[i], plot->case_text[j], plot->key, strlen(plot->key)) &&
                !same_field(plot->case_text[i], plot->case_text[j], key, n_key))
                return false;
    return true;
}

void kerf_plot_find_key(kerf_plot *plot) {
    plot->key[0] = '\0';
    plot->n_also = 0;
    for (const char *at = plot->n_cases ? plot->case_text[0] : ""; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " "), n_key = strcspn(at, "= ");
        if (differs(plot, at, n_key)) {
            if (!plot->key[0] && is_number(at, n_key, n))
                copy_key(plot->key, at);
            else if (plot->n_also < 4 && !goes_along(plot, at, n_key) && copy_key(plot->also[plot->n_also], at))
                ++plot->n_also;
        }
        at += n;
    }
}

kerf_plot_series kerf_plot_series_of(const kerf_plot *plot, const kerf_record *record) {
    kerf_plot_series series;
    kerf_text text = kerf_text_over(series.name, sizeof series.name);
    kerf_text_printf(&text, "%s", record->row);
    for (int i = 0; i < plot->n_also && strcmp(record->set, "sweep") == 0; ++i) {
        size_t n;
        const char *const field = kerf_plot_field(record->case_text, plot->also[i], strlen(plot->also[i]), &n);
        if (field && n < sizeof series.name)
            kerf_text_printf(&text, " %.*s", (int)n, field);
    }
    return series;
}
