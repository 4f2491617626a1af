/* What the parts of the report for terminals share. */
#ifndef KERF_REPORTS_TERMINAL_H
#define KERF_REPORTS_TERMINAL_H

#include "reports/reports.h"

/* Escape sequences, empty where there are no colours. */
typedef struct kerf_style {
    const char *good, *bad, *dim, *off;
} kerf_style;

/* "7 digits and unit" in ten columns. */
void kerf_terminal_time(FILE *file, double ns);
/* Columns of the longest name of a row. */
int kerf_terminal_row_width(const kerf_records *records);

/* Splits and counters, as far as they were asked for. */
void kerf_terminal_extra(const kerf_records *records, FILE *file, const kerf_style *style);

/* What tuning found on each case. */
void kerf_terminal_tune(const kerf_records *records, FILE *file, const kerf_style *style);

/* Records of the set `sweep`: a line per size, a column per row. */
void kerf_terminal_sweep(const kerf_records *records, FILE *file, const kerf_style *style);
bool kerf_terminal_is_swept(const kerf_record *record);

#endif
