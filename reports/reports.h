/* Renderers: records in, text out. They read nothing but the records. */
#ifndef KERF_REPORTS_REPORTS_H
#define KERF_REPORTS_REPORTS_H

#include "harness/record.h"
#include <stdio.h>

typedef enum kerf_colour { KERF_PLAIN, KERF_COLOURED } kerf_colour;

/* For people: what was verified, what was timed, ranked within each case, and the geometric means. */
void kerf_report_terminal(const kerf_records *records, FILE *file, kerf_colour colour);

/* RFC 4180, one line per verified or timed row with a header line; empty cells where there is no value. */
void kerf_report_csv(const kerf_records *records, FILE *file);

#endif
