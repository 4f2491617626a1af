/* Writes HTML so that a text can never become markup: the format is written as it stands, what a directive gives is
 * escaped for both text and quoted attributes. */
#ifndef KERF_REPORTS_MARKUP_H
#define KERF_REPORTS_MARKUP_H

#include "base/status.h"
#include <stdio.h>

/* Directives: %s (NULL: nothing), %d, %lld, %zu, %.3f, %.*f, %.3g, %%. */
void kerf_markup(FILE *file, const char *format, ...) KERF_PRINTF(2, 3);
void kerf_markup_text(FILE *file, const char *text);

/* "119 µs"; three digits. */
typedef struct kerf_short_text {
    char text[48];
} kerf_short_text;
kerf_short_text kerf_markup_time(double ns);
/* "1.20 – 1.34 ms". */
kerf_short_text kerf_markup_interval(double low_ns, double high_ns);
/* Three digits or so, "> 1000" above. */
kerf_short_text kerf_markup_ratio(double ratio);
kerf_short_text kerf_markup_bytes(double bytes);

#endif
