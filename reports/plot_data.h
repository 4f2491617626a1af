/* A figure while its data is written. */
#ifndef KERF_REPORTS_PLOT_DATA_H
#define KERF_REPORTS_PLOT_DATA_H

#include "reports/digest.h"
#include "reports/markup.h"
#include "reports/reports.h"

enum { KERF_PLOT_CASES = 64, KERF_PLOT_MODES = 4, KERF_PLOT_ROWS = 12 };

typedef struct kerf_plot_series {
    char name[128];
} kerf_plot_series;

typedef struct kerf_plot {
    kerf_records records; /* of one run */
    /* The numbers of one timed record, `place` for its case; returns how many, 0: not in this figure. */
    int (*point)(const struct kerf_plot *plot, const kerf_record *record, int place, double point[5]);
    const char *case_text[KERF_PLOT_CASES], *mode[KERF_PLOT_MODES];
    kerf_plot_series series[KERF_PLOT_ROWS];
    int n_cases, n_modes, n_series;
    char key[32];     /* SWEEP: the dim on the horizontal axis */
    char also[4][32]; /* SWEEP: what else differs and does not go along with it */
    int n_also;
} kerf_plot;

/* The figure of the tune records; false: there is nothing to draw. */
bool kerf_plot_tuning(kerf_json *json, const kerf_records *records);
/* The field `key=value` of a case's text, or NULL. */
const char *kerf_plot_field(const char *text, const char *key, size_t key_bytes, size_t *bytes);
/* Finds what was swept in plot->case_text: the first key whose values are numbers that differ, and what else did. */
void kerf_plot_find_key(kerf_plot *plot);
/* The name of the record's series: its row, and in a sweep over several dims what is not on the axis. */
kerf_plot_series kerf_plot_series_of(const kerf_plot *plot, const kerf_record *record);

#endif
