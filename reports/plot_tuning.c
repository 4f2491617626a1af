/* The configurations that a search tried, for plot.py: each time against the best on its case, and the values of the
 * parameters. A point is [group, row, step, time / best, final, default, value of each parameter or -1]. */
#include "reports/plot_data.h"

#include <math.h>
#include <string.h>

enum { MAX_GROUPS = 64, MAX_PARAMETERS = 8, MAX_VALUES = 16, MAX_POINTS = 5000 };

typedef struct parameter {
    char name[32], value[MAX_VALUES][32];
    int n_values;
} parameter;

typedef struct landscape {
    const kerf_record *group[MAX_GROUPS]; /* one record of each case in each cache mode */
    double best_ns[MAX_GROUPS];
    int n_groups;
    const char *row[KERF_PLOT_ROWS];
    int n_rows;
    parameter parameter[MAX_PARAMETERS];
    int n_parameters;
} landscape;

static bool is_point(const kerf_record *record) {
    return record->kind == KERF_RECORD_TUNE && record->finding.verdict == KERF_PASS && record->time_ns.middle > 0 &&
           isfinite(record->time_ns.middle);
}

static int group_of(const landscape *l, const kerf_record *record) {
    int g = l->n_groups;
    while (g-- > 0 &&
           (strcmp(l->group[g]->mode, record->mode) != 0 || strcmp(l->group[g]->case_text, record->case_text) != 0))
        ;
    return g;
}

static int row_of(const landscape *l, const kerf_record *record) {
    int r = l->n_rows;
    while (r-- > 0 && strcmp(l->row[r], record->row) != 0)
        ;
    return r;
}

/* The next `name=value` of a config; commas within braces belong to the value. NULL: there is none. */
static const char *next_setting(const char *config, char name[32], char value[32]) {
    if (!*config)
        return NULL;
    size_t n = 0;
    for (int depth = 0; config[n] && (config[n] != ',' || depth > 0); ++n)
        depth += (config[n] == '{') - (config[n] == '}');
    const size_t n_name = strcspn(config, "=") < n ? strcspn(config, "=") : n;
    const size_t n_value = n_name < n ? n - n_name - 1 : 0;
    snprintf(name, 32, "%.*s", (int)(n_name < 31 ? n_name : 31), config);
    snprintf(value, 32, "%.*s", (int)(n_value < 31 ? n_value : 31), config + (n_name < n ? n_name + 1 : n));
    return config + n + (config[n] == ',');
}

static parameter *parameter_of(landscape *l, const char *name) {
    for (int p = 0; p < l->n_parameters; ++p)
        if (strcmp(l->parameter[p].name, name) == 0)
            return &l->parameter[p];
    if (l->n_parameters == MAX_PARAMETERS)
        return NULL;
    memset(&l->parameter[l->n_parameters], 0, sizeof l->parameter[0]);
    strcpy(l->parameter[l->n_parameters].name, name);
    return &l->parameter[l->n_parameters++];
}

static int value_of(const parameter *p, const char *value) {
    int v = p->n_values;
    while (v-- > 0 && strcmp(p->value[v], value) != 0)
        ;
    return v;
}

static void add_settings(landscape *l, const char *config) {
    char name[32], value[32];
    while ((config = next_setting(config, name, value))) {
        parameter *const p = parameter_of(l, name);
        if (p && p->n_values < MAX_VALUES && value_of(p, value) < 0)
            strcpy(p->value[p->n_values++], value);
    }
}

static void add_record(landscape *l, const kerf_record *record) {
    int g = group_of(l, record);
    if (g < 0 && l->n_groups < MAX_GROUPS) {
        g = l->n_groups++;
        l->group[g] = record;
        l->best_ns[g] = record->time_ns.middle;
    }
    if (g >= 0)
        l->best_ns[g] = fmin(l->best_ns[g], record->time_ns.middle);
    if (row_of(l, record) < 0 && l->n_rows < KERF_PLOT_ROWS)
        l->row[l->n_rows++] = record->row;
    add_settings(l, record->config);
}

static void print_names(kerf_json *json, const landscape *l) {
    kerf_json_array(json, "groups");
    for (int g = 0; g < l->n_groups; ++g)
        kerf_json_text(json, NULL, l->group[g]->mode);
    kerf_json_end_array(json);
    kerf_json_array(json, "rows");
    for (int r = 0; r < l->n_rows; ++r)
        kerf_json_text(json, NULL, l->row[r]);
    kerf_json_end_array(json);
    kerf_json_array(json, "parameters");
    for (int p = 0; p < l->n_parameters; ++p) {
        kerf_json_object(json, NULL);
        kerf_json_text(json, "name", l->parameter[p].name);
        kerf_json_array(json, "values");
        for (int v = 0; v < l->parameter[p].n_values; ++v)
            kerf_json_text(json, NULL, l->parameter[p].value[v]);
        kerf_json_end_array(json);
        kerf_json_end_object(json);
    }
    kerf_json_end_array(json);
}

static void print_point(kerf_json *json, landscape *l, const kerf_record *record) {
    const int group = group_of(l, record), row = row_of(l, record);
    int values[MAX_PARAMETERS];
    if (group < 0 || row < 0)
        return;
    for (int p = 0; p < l->n_parameters; ++p)
        values[p] = -1;
    char name[32], value[32];
    for (const char *at = record->config; (at = next_setting(at, name, value));) {
        const parameter *const p = parameter_of(l, name);
        if (p)
            values[p - l->parameter] = value_of(p, value);
    }
    kerf_json_array(json, NULL);
    kerf_json_integer(json, NULL, group);
    kerf_json_integer(json, NULL, row);
    kerf_json_integer(json, NULL, record->tune->step);
    kerf_json_real(json, NULL, record->time_ns.middle / l->best_ns[group]);
    kerf_json_integer(json, NULL, record->tune->phase != KERF_TUNE_SEARCH);
    kerf_json_integer(json, NULL, record->tune->is_standard);
    for (int p = 0; p < l->n_parameters; ++p)
        kerf_json_integer(json, NULL, values[p]);
    kerf_json_end_array(json);
}

bool kerf_plot_tuning(kerf_json *json, const kerf_records *records) {
    static landscape l;
    l = (landscape){0};
    for (int i = 0; i < records->n; ++i)
        if (is_point(records->at[i]) && records->at[i]->tune->phase == KERF_TUNE_SEARCH)
            add_record(&l, records->at[i]);
    if (l.n_groups == 0)
        return false;
    kerf_json_object(json, NULL);
    kerf_json_text(json, "kind", "tuning");
    print_names(json, &l);
    kerf_json_array(json, "points");
    int n = 0;
    for (int i = 0; i < records->n && n < MAX_POINTS; ++i)
        if (is_point(records->at[i])) {
            print_point(json, &l, records->at[i]);
            ++n;
        }
    kerf_json_end_array(json);
    kerf_json_end_object(json);
    return true;
}
