/* The page as a whole: head, runs, what all tables share. */
#include "reports/html.h"

#include <math.h>
#include <string.h>

/* Nothing but the style sheet and the one script below may act: a text that slipped through would be inert. The hash is
 * that of reports/page.js; a test holds them together. */
#define POLICY                                                                                                         \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" KERF_PAGE_JS_HASH "'; base-uri 'none'; "      \
    "form-action 'none'"

void kerf_html_begin_table(FILE *file, const char *caption, const char *note, const char *const *columns) {
    kerf_markup(file,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s %s\">\n<table>\n"
                "<caption>%s <span>%s</span></caption>\n<thead><tr>",
                caption, note, caption, note);
    for (; *columns; ++columns) {
        const bool number = (*columns)[0] == '#';
        fputs(number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", file);
        kerf_markup(file, "%s</th>", *columns + number);
    }
    kerf_markup(file, "</tr></thead>\n<tbody>\n");
}

void kerf_html_end_table(FILE *file) {
    kerf_markup(file, "</tbody>\n</table>\n</div>\n");
}

void kerf_html_number(FILE *file, double value, const char *shown) {
    if (isnan(value))
        kerf_markup(file, "<td class=\"n\" data-v=\"-1\"><span class=\"dim\">-</span></td>");
    else
        kerf_markup(file, "<td class=\"n\" data-v=\"%.9g\">%s</td>", isinf(value) ? 1e300 : value, shown);
}

void kerf_html_verdict(FILE *file, kerf_verdict verdict) {
    const char *const name = kerf_verdict_name(verdict);
    kerf_markup(file, "<td><span class=\"%s\">%s</span></td>", name, name);
}

static void print_head(const kerf_records *records, FILE *file) {
    const kerf_record *const run = kerf_digest_first(records, KERF_RECORD_RUN);
    kerf_markup(file,
                KERF_PAGE_START "<meta charset=\"utf-8\">\n"
                                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                                "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n",
                POLICY);
    kerf_markup(file, "<title>Kerf report%s%s</title>\n<style>\n", run ? ", " : "", run ? run->utc : "");
    fputs(kerf_page_css, file);
    fputs("</style>\n<body>\n<main>\n", file);
}

void kerf_report_html(const kerf_records *records, const kerf_page *page, FILE *file) {
    print_head(records, file);
    kerf_html html = {.file = file, .page = page};
    int at = 0;
    for (; kerf_digest_next_run(records, &at, &html.records); ++html.run) {
        kerf_markup(file, "<section class=\"run\" id=\"r%d\">\n", html.run + 1);
        kerf_html_summary(&html);
        kerf_html_verified(&html);
        kerf_html_figures(&html);
        kerf_html_tuned(&html);
        kerf_html_timed(&html);
        kerf_markup(file, "</section>\n");
    }
    fputs("</main>\n<script>", file);
    fputs(kerf_page_js, file);
    fputs("</script>\n</body>\n</html>\n", file);
}
