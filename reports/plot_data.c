/* What plot.py draws, as JSON: per figure its panels (cache modes), their series (implementations) and points. */
#include "reports/plot_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[KERF_N_FIGURE_KINDS] = {
    [KERF_FIGURE_RANKING] = "ranking", [KERF_FIGURE_SHARE] = "share", [KERF_FIGURE_ROOFLINE] = "roofline",
    [KERF_FIGURE_ERROR] = "error",     [KERF_FIGURE_SWEEP] = "sweep", [KERF_FIGURE_SPLIT] = "split",
    [KERF_FIGURE_TUNING] = "tuning"};

static int place_of(const char *const *names, int n, const char *name) {
    while (n-- > 0 && strcmp(names[n], name) != 0)
        ;
    return n;
}

static void add_name(const char **names, int *n, int most, const char *name) {
    if (*n < most && place_of(names, *n, name) < 0)
        names[(*n)++] = name;
}

static void add_series(kerf_plot *plot, const kerf_record *record) {
    const kerf_plot_series series = kerf_plot_series_of(plot, record);
    for (int i = 0; i < plot->n_series; ++i)
        if (strcmp(plot->series[i].name, series.name) == 0)
            return;
    if (plot->n_series < KERF_PLOT_ROWS)
        plot->series[plot->n_series++] = series;
}

/* The next timed record of a kind that the figure shows, or NULL. */
typedef struct walk {
    int at, next;
    kerf_block block;
} walk;

static const kerf_record *next_record(walk *w, const kerf_plot *plot) {
    double point[5];
    for (;;) {
        while (w->next < w->block.n_timed) {
            const kerf_record *const record = w->block.row[w->next++];
            if (plot->point(plot, record, 0, point) > 0)
                return record;
        }
        w->next = 0;
        if (!kerf_digest_next_block(&plot->records, &w->at, &w->block))
            return NULL;
    }
}

/* Distinct cases, modes and series in their order, as many as a figure can show. */
static void collect(kerf_plot *plot, walk *w) {
    *w = (walk){0};
    for (const kerf_record *record; (record = next_record(w, plot));) {
        add_name(plot->case_text, &plot->n_cases, KERF_PLOT_CASES, record->case_text);
        add_name(plot->mode, &plot->n_modes, KERF_PLOT_MODES, record->mode);
    }
    kerf_plot_find_key(plot);
    *w = (walk){0};
    for (const kerf_record *record; (record = next_record(w, plot));)
        add_series(plot, record);
}

static bool is_swept(const kerf_record *record) {
    return strcmp(record->set, "sweep") == 0;
}

static int estimate_point(const kerf_estimate *estimate, int place, double point[5]) {
    if (!(estimate->middle > 0) || !isfinite(estimate->middle))
        return 0;
    point[0] = place;
    point[1] = estimate->middle;
    point[2] = estimate->low > 0 ? estimate->low : estimate->middle;
    point[3] = isfinite(estimate->high) && estimate->high > 0 ? estimate->high : estimate->middle;
    return 4;
}

static int ranking_point(const kerf_plot *plot, const kerf_record *record, int place, double point[5]) {
    (void)plot;
    return is_swept(record) ? 0 : estimate_point(&record->speed_ratio, place, point);
}

static int share_point(const kerf_plot *plot, const kerf_record *record, int place, double point[5]) {
    (void)plot;
    return is_swept(record) ? 0 : estimate_point(&record->share, place, point);
}

static int roofline_point(const kerf_plot *plot, const kerf_record *record, int place, double point[5]) {
    (void)plot, (void)place;
    const double bytes = record->read_bytes + record->written_bytes;
    if (!(record->flops > 0) || !(bytes > 0) || !isfinite(bytes) || !isfinite(record->flops))
        return 0;
    point[0] = record->flops / bytes;
    point[1] = record->flops / record->time_ns.middle;
    return 2;
}

static int error_point(const kerf_plot *plot, const kerf_record *record, int place, double point[5]) {
    (void)plot, (void)place;
    if (is_swept(record) || !isfinite(record->finding.ratio) || !(record->speed_ratio.middle > 0) ||
        !isfinite(record->speed_ratio.middle))
        return 0;
    point[0] = record->speed_ratio.middle;
    point[1] = record->finding.ratio;
    return 2;
}

/* GB/s where the work is known, else nanoseconds; over the swept dim. */
static int sweep_point(const kerf_plot *plot, const kerf_record *record, int place, double point[5]) {
    (void)place;
    if (!is_swept(record))
        return 0;
    const double bytes = record->read_bytes + record->written_bytes;
    kerf_estimate value = record->time_ns;
    if (bytes > 0 && isfinite(bytes))
        value = (kerf_estimate){bytes / value.middle, bytes / value.high, bytes / value.low};
    const size_t n_key = strlen(plot->key);
    size_t n;
    const char *const field = n_key ? kerf_plot_field(record->case_text, plot->key, n_key, &n) : NULL;
    const int n_numbers = estimate_point(&value, 0, point);
    point[0] = field ? strtod(field + n_key + 1, NULL) : 0;
    return n_numbers;
}

static int split_point(const kerf_plot *plot, const kerf_record *record, int place, double point[5]) {
    (void)plot;
    const kerf_recorded_split *const split = record->extra ? &record->extra->split : NULL;
    if (!split || split->n_calls == 0 || !(split->call_ns > 0) || !isfinite(split->call_ns))
        return 0;
    point[0] = place;
    point[1] = split->pack_ns;
    point[2] = split->compute_ns;
    point[3] = split->unpack_ns;
    point[4] = fmax(0, split->call_ns - split->pack_ns - split->compute_ns - split->unpack_ns);
    const bool known = point[1] >= 0 && point[2] >= 0 && point[3] >= 0 && point[1] + point[2] + point[3] > 0;
    return known && isfinite(point[1] + point[2] + point[3]) ? 5 : 0;
}

static void print_points(kerf_json *json, const kerf_plot *plot, const char *mode, const char *series) {
    static walk w;
    w = (walk){0};
    kerf_json_array(json, "points");
    for (const kerf_record *record; (record = next_record(&w, plot));) {
        const int place = place_of(plot->case_text, plot->n_cases, record->case_text);
        double point[5];
        if (place < 0 || strcmp(record->mode, mode) != 0 || strcmp(kerf_plot_series_of(plot, record).name, series) != 0)
            continue;
        const int n = plot->point(plot, record, place, point);
        kerf_json_array(json, NULL);
        for (int k = 0; k < n; ++k)
            kerf_json_real(json, NULL, point[k]);
        kerf_json_end_array(json);
    }
    kerf_json_end_array(json);
}

static void print_panels(kerf_json *json, const kerf_plot *plot) {
    kerf_json_array(json, "panels");
    for (int m = 0; m < plot->n_modes; ++m) {
        kerf_json_object(json, NULL);
        kerf_json_text(json, "title", plot->mode[m]);
        kerf_json_array(json, "series");
        for (int r = 0; r < plot->n_series; ++r) {
            kerf_json_object(json, NULL);
            kerf_json_text(json, "name", plot->series[r].name);
            print_points(json, plot, plot->mode[m], plot->series[r].name);
            kerf_json_end_object(json);
        }
        kerf_json_end_array(json);
        kerf_json_end_object(json);
    }
    kerf_json_end_array(json);
}

static bool is_common(const kerf_plot *plot, const char *field, size_t n) {
    for (int i = 0; i < plot->n_cases; ++i) {
        size_t n_other;
        const char *const other = kerf_plot_field(plot->case_text[i], field, strcspn(field, "= "), &n_other);
        if (!other || n_other != n || strncmp(other, field, n) != 0)
            return false;
    }
    return true;
}

/* A field in short: what is a word explains itself without its key. */
static void print_field(kerf_text *text, const char *field, size_t n) {
    const size_t n_key = strcspn(field, "= ") + 1;
    const char *const value = field + n_key;
    const bool is_word = n_key < n && strncmp(value, "true", 4) != 0 && strncmp(value, "false", 5) != 0 &&
                         ((*value >= 'a' && *value <= 'z') || (*value >= 'A' && *value <= 'Z'));
    kerf_text_printf(text, "%s%.*s", text->length ? " " : "", (int)(is_word ? n - n_key : n), is_word ? value : field);
}

/* A case by what sets it apart from the others of the figure. */
static void print_cases(kerf_json *json, const kerf_plot *plot) {
    kerf_json_array(json, "cases");
    for (int i = 0; i < plot->n_cases; ++i) {
        char label[160];
        kerf_text text = kerf_text_over(label, sizeof label);
        for (const char *at = plot->case_text[i]; *at; at += strspn(at, " ")) {
            const size_t n = strcspn(at, " ");
            if (n < 100 && (plot->n_cases == 1 || !is_common(plot, at, n)))
                print_field(&text, at, n);
            at += n;
        }
        kerf_json_text(json, NULL, label);
    }
    kerf_json_end_array(json);
}

static void print_ceilings(kerf_json *json, const kerf_ceilings *ceilings) {
    kerf_json_array(json, "levels");
    for (int i = 0; i < ceilings->n_levels; ++i) {
        kerf_json_object(json, NULL);
        kerf_json_text(json, "name",
                       i + 1 < ceilings->n_levels ? kerf_markup_bytes(ceilings->level[i].bytes).text : "memory");
        kerf_json_real(json, "gb_per_s", ceilings->level[i].gb_per_s);
        kerf_json_end_object(json);
    }
    kerf_json_end_array(json);
    kerf_json_integer(json, "threads", ceilings->threads);
    kerf_json_real(json, "f32", ceilings->f32_gflop_per_s);
    kerf_json_real(json, "f64", ceilings->f64_gflop_per_s);
    kerf_json_text(json, "utc", ceilings->utc);
}

static void print_sweep(kerf_json *json, const kerf_plot *plot) {
    bool has_work = true;
    for (int i = 0; i < plot->records.n; ++i) {
        const kerf_record *const record = plot->records.at[i];
        if (record->kind == KERF_RECORD_TIME && is_swept(record) && record->n_samples > 0)
            has_work = has_work && record->read_bytes + record->written_bytes > 0;
    }
    kerf_json_text(json, "unit", has_work ? "GB/s" : "ns");
    kerf_json_text(json, "key", plot->key);
}

static int (*const point_of[KERF_N_FIGURE_KINDS])(const kerf_plot *, const kerf_record *, int, double[5]) = {
    [KERF_FIGURE_RANKING] = ranking_point, [KERF_FIGURE_SHARE] = share_point, [KERF_FIGURE_ROOFLINE] = roofline_point,
    [KERF_FIGURE_ERROR] = error_point,     [KERF_FIGURE_SWEEP] = sweep_point, [KERF_FIGURE_SPLIT] = split_point};

/* False: there is nothing to draw. */
static bool print_figure(kerf_json *json, kerf_figure_kind kind, const kerf_records *run,
                         const kerf_ceilings *ceilings) {
    static kerf_plot plot;
    static walk w;
    if (kind == KERF_FIGURE_TUNING)
        return kerf_plot_tuning(json, run);
    plot = (kerf_plot){.records = *run, .point = point_of[kind]};
    if (!plot.point)
        return false;
    collect(&plot, &w);
    if (plot.n_series == 0)
        return false;
    kerf_json_object(json, NULL);
    kerf_json_text(json, "kind", kind_names[kind]);
    print_cases(json, &plot);
    if (kind == KERF_FIGURE_ROOFLINE)
        print_ceilings(json, ceilings);
    if (kind == KERF_FIGURE_SWEEP)
        print_sweep(json, &plot);
    print_panels(json, &plot);
    kerf_json_end_object(json);
    return true;
}

int kerf_plot_data(const kerf_records *records, const kerf_ceilings *ceilings, kerf_json *json,
                   kerf_figure figure[KERF_MAX_FIGURES]) {
    int n = 0, at = 0;
    kerf_records run;
    kerf_json_object(json, NULL);
    kerf_json_array(json, "figures");
    for (int r = 0; kerf_digest_next_run(records, &at, &run); ++r)
        for (int kind = 0; kind < KERF_N_FIGURE_KINDS && n < KERF_MAX_FIGURES; ++kind)
            if (print_figure(json, (kerf_figure_kind)kind, &run, &ceilings[r]))
                figure[n++] = (kerf_figure){.kind = (kerf_figure_kind)kind, .run = r};
    kerf_json_end_array(json);
    kerf_json_end_object(json);
    return n;
}
