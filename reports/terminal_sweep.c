/* A sweep as one table per cache mode: a line per size, a column per implementation. What was swept is what differs
 * between the texts of the cases, so nothing but the records is needed. */
#include "reports/terminal.h"

#include <math.h>
#include <string.h>

enum { MAX_COLUMNS = 16, MAX_FIELDS = 48, KEY_BYTES = 32 };
#define VALUE_WIDTH 18 /* time in ten, a blank, GB/s in seven */

bool kerf_terminal_is_swept(const kerf_record *record) {
    return record->kind == KERF_RECORD_TIME && strcmp(record->set, "sweep") == 0;
}

/* The next "key=value" of a case's text, or NULL at its end. */
static const char *next_field(const char *text, size_t *key_bytes, size_t *bytes) {
    text += strspn(text, " ");
    *bytes = strcspn(text, " ");
    *key_bytes = strcspn(text, "= ");
    return *bytes > 0 ? text : NULL;
}

/* The field of this key, "key=value", or NULL. */
static const char *field_of(const char *text, const char *key, size_t key_bytes, size_t *bytes) {
    size_t found_bytes;
    for (const char *at = text; (at = next_field(at, &found_bytes, bytes)); at += *bytes)
        if (found_bytes == key_bytes && strncmp(at, key, key_bytes) == 0)
            return at;
    return NULL;
}

typedef struct swept_keys {
    char key[MAX_FIELDS][KEY_BYTES];
    int n;
} swept_keys;

static bool has_key(const swept_keys *keys, const char *key, size_t bytes) {
    for (int i = 0; i < keys->n; ++i)
        if (strlen(keys->key[i]) == bytes && strncmp(keys->key[i], key, bytes) == 0)
            return true;
    return false;
}

/* Adds the keys of `text` whose fields `other` does not have alike. */
static void add_differing(swept_keys *keys, const char *text, const char *other) {
    size_t key_bytes, bytes, other_bytes;
    for (const char *at = text; (at = next_field(at, &key_bytes, &bytes)); at += bytes) {
        const char *const theirs = field_of(other, at, key_bytes, &other_bytes);
        const bool same = theirs && other_bytes == bytes && strncmp(at, theirs, bytes) == 0;
        if (same || has_key(keys, at, key_bytes) || keys->n == MAX_FIELDS || key_bytes >= KEY_BYTES)
            continue;
        memcpy(keys->key[keys->n], at, key_bytes);
        keys->key[keys->n++][key_bytes] = '\0';
    }
}

static const kerf_record *first_swept(const kerf_records *records) {
    for (int i = 0; i < records->n; ++i)
        if (kerf_terminal_is_swept(records->at[i]))
            return records->at[i];
    return NULL;
}

/* In the order of the text. */
static void print_label(FILE *file, const swept_keys *keys, const char *case_text, int width) {
    size_t key_bytes, bytes;
    int printed = 0;
    for (const char *at = case_text; (at = next_field(at, &key_bytes, &bytes)); at += bytes)
        if (has_key(keys, at, key_bytes))
            printed += fprintf(file, "%s%.*s", printed ? " " : "  ", (int)bytes, at);
    fprintf(file, "%*s", printed < width ? width - printed : 0, "");
}

static int label_width(const kerf_records *records, const swept_keys *keys) {
    size_t longest = 0;
    for (int i = 0; i < records->n; ++i) {
        if (!kerf_terminal_is_swept(records->at[i]))
            continue;
        size_t bytes, sum = 2;
        for (int k = 0; k < keys->n; ++k)
            if (field_of(records->at[i]->case_text, keys->key[k], strlen(keys->key[k]), &bytes))
                sum += bytes + 1;
        longest = sum > longest ? sum : longest;
    }
    return (int)longest;
}

typedef struct columns {
    const char *row[MAX_COLUMNS];
    int width[MAX_COLUMNS];
    int n;
    bool left_out;
} columns;

static columns columns_of(const kerf_records *records) {
    columns all = {.n = 0};
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        int at = 0;
        while (at < all.n && kerf_terminal_is_swept(record) && strcmp(all.row[at], record->row) != 0)
            ++at;
        if (!kerf_terminal_is_swept(record) || at < all.n)
            continue;
        all.left_out = all.n == MAX_COLUMNS;
        if (all.left_out)
            break;
        const int name_width = (int)strlen(record->row);
        all.width[all.n] = name_width > VALUE_WIDTH ? name_width : VALUE_WIDTH;
        all.row[all.n++] = record->row;
    }
    return all;
}

static void print_cell(FILE *file, const kerf_record *record, int width) {
    char rate[16] = "";
    if (!record || record->n_samples == 0 || record->finding.verdict != KERF_PASS) {
        fprintf(file, "  %*s", width, record ? kerf_verdict_name(record->finding.verdict) : "-");
        return;
    }
    const double bytes = record->read_bytes + record->written_bytes;
    if (bytes > 0)
        snprintf(rate, sizeof rate, "%.3g", bytes / record->time_ns.middle);
    fprintf(file, "%*s", width - VALUE_WIDTH + 2, "");
    kerf_terminal_time(file, record->time_ns.middle);
    fprintf(file, " %7s", rate);
}

/* A line: the records from `first` on that belong to its case and mode. Returns the number behind them. */
static int print_line(const kerf_records *records, int first, FILE *file, const swept_keys *keys, const columns *all,
                      int width) {
    const kerf_record *const head = records->at[first];
    const kerf_record *of_column[MAX_COLUMNS] = {0};
    int i = first;
    for (; i < records->n && kerf_terminal_is_swept(records->at[i]) && records->at[i]->case_hash == head->case_hash &&
           strcmp(records->at[i]->mode, head->mode) == 0;
         ++i)
        for (int c = 0; c < all->n; ++c)
            if (strcmp(all->row[c], records->at[i]->row) == 0)
                of_column[c] = records->at[i];
    print_label(file, keys, head->case_text, width);
    for (int c = 0; c < all->n; ++c)
        print_cell(file, of_column[c], all->width[c]);
    fputc('\n', file);
    return i;
}

static void print_mode(const kerf_records *records, FILE *file, const swept_keys *keys, const char *mode) {
    const columns all = columns_of(records);
    const int width = label_width(records, keys);
    fprintf(file, "\n%-*s", width, mode);
    for (int c = 0; c < all.n; ++c)
        fprintf(file, "  %*s", all.width[c], all.row[c]);
    fprintf(file, "%s\n", all.left_out ? "  ... (more in the records)" : "");
    for (int i = 0; i < records->n;) {
        if (kerf_terminal_is_swept(records->at[i]) && strcmp(records->at[i]->mode, mode) == 0)
            i = print_line(records, i, file, keys, &all, width);
        else
            ++i;
    }
}

void kerf_terminal_sweep(const kerf_records *records, FILE *file, const kerf_style *style) {
    const kerf_record *const first = first_swept(records);
    swept_keys keys = {.n = 0};
    if (!first)
        return;
    for (int i = 0; i < records->n; ++i)
        if (kerf_terminal_is_swept(records->at[i])) {
            add_differing(&keys, first->case_text, records->at[i]->case_text);
            add_differing(&keys, records->at[i]->case_text, first->case_text);
        }
    fprintf(file,
            "\nsweep: median time of one call, and the bytes that it has to move at least, in GB/s (intervals are in "
            "the records)\n%s%s%s\n",
            style->dim, first->case_text, style->off);
    static const char *const modes[] = {"hot", "cold"};
    for (int m = 0; m < 2; ++m)
        print_mode(records, file, &keys, modes[m]);
}
