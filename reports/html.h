/* The parts of the page. */
#ifndef KERF_REPORTS_HTML_H
#define KERF_REPORTS_HTML_H

#include "reports/digest.h"
#include "reports/markup.h"
#include "reports/reports.h"

/* One run of the page. */
typedef struct kerf_html {
    FILE *file;
    const kerf_page *page;
    kerf_records records; /* of this run */
    int run;              /* from 0; ids on the page begin with r<run + 1> */
} kerf_html;

void kerf_html_summary(const kerf_html *html);
void kerf_html_verified(const kerf_html *html);
void kerf_html_figures(const kerf_html *html);
void kerf_html_tuned(const kerf_html *html);
void kerf_html_timed(const kerf_html *html);

/* A table in a box that scrolls by itself; caption and note are also the name of the box. Columns: NULL-terminated, one
 * that begins with `#` holds numbers. */
void kerf_html_begin_table(FILE *file, const char *caption, const char *note, const char *const *columns);
void kerf_html_end_table(FILE *file);
/* A cell with a number: `shown` for people, `value` to sort by. */
void kerf_html_number(FILE *file, double value, const char *shown);
void kerf_html_verdict(FILE *file, kerf_verdict verdict);

/* The style sheet and the script, embedded. */
extern const char kerf_page_css[], kerf_page_js[];
/* The script's SHA-256 in base64. */
#define KERF_PAGE_JS_HASH "reTVE1Jytm1AgPcvzBDmpUog4Y2ipdnUZa3LOklDkVM="

#endif
