/* Renderers: records in, text out. They read nothing but the records. */
#ifndef KERF_REPORTS_REPORTS_H
#define KERF_REPORTS_REPORTS_H

#include "harness/record.h"
#include <stdio.h>

typedef enum kerf_colour { KERF_PLAIN, KERF_COLOURED } kerf_colour;

/* For people: what was verified, what was timed, ranked within each case, and the geometric means. */
void kerf_report_terminal(const kerf_records *records, FILE *file, kerf_colour colour);

/* RFC 4180, one line per verified, timed or tuned row with a header line; empty cells where there is no value. */
void kerf_report_csv(const kerf_records *records, FILE *file);

/* What a figure of the page shows. */
typedef enum kerf_figure_kind {
    KERF_FIGURE_RANKING,
    KERF_FIGURE_SHARE,
    KERF_FIGURE_ROOFLINE,
    KERF_FIGURE_ERROR,
    KERF_FIGURE_SWEEP,
    KERF_FIGURE_SPLIT,
    KERF_FIGURE_TUNING,
    KERF_N_FIGURE_KINDS
} kerf_figure_kind;

typedef struct kerf_figure {
    kerf_figure_kind kind;
    int run;             /* which of the runs in the records, from 0 */
    const char *svg;     /* one <svg> element as plot.py drew it, or NULL */
    const char *missing; /* else why it is not there, NULL: as the page says for all */
} kerf_figure;
#define KERF_MAX_FIGURES 128

/* What the machine of a run can do at most, as `bench doctor` measured it with `threads`; n_levels 0: not known. */
typedef struct kerf_ceilings {
    struct {
        double bytes, gb_per_s; /* end of the level, the best of read, write and copy */
    } level[8];
    int n_levels, threads;
    double f32_gflop_per_s, f64_gflop_per_s;
    char utc[24];
} kerf_ceilings;

/* The data of all figures for plot.py: {"figures": [...]}; ceilings[run]. Returns how many figures there are; figure[i]
 * belongs to the i-th of the array. */
int kerf_plot_data(const kerf_records *records, const kerf_ceilings *ceilings, kerf_json *json,
                   kerf_figure figure[KERF_MAX_FIGURES]);

typedef struct kerf_page {
    const kerf_figure *figure;
    int n_figures;
    const char *no_plots; /* why there is no figure at all, or NULL */
} kerf_page;

/* One page that needs nothing but itself. Its first bytes name it as ours (KERF_PAGE_START). */
void kerf_report_html(const kerf_records *records, const kerf_page *page, FILE *file);
#define KERF_PAGE_START "<!DOCTYPE html>\n<html lang=\"en\">\n<meta name=\"generator\" content=\"kerf bench report\">\n"

#endif
