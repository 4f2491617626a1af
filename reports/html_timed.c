/* Ranked tables, one per timed case and cache mode; the modes of a case stand side by side where there is room. */
#include "reports/html.h"

#include <math.h>
#include <string.h>

#define MAX_CASES 400

/* Bar to the middle, whisker over the interval, on a scale from 0 to `most`. The numbers stand beside it. */
static void print_strip(FILE *file, const kerf_estimate *time, bool has_interval, double most) {
    const double scale = most > 0 ? 100 / most : 0;
    kerf_markup(file,
                "<td data-v=\"%.9g\"><svg class=\"strip\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
                "aria-hidden=\"true\"><rect y=\"2\" height=\"6\" width=\"%.2f\"/>",
                time->middle, fmin(100, time->middle * scale));
    if (has_interval)
        kerf_markup(file, "<path d=\"M%.2f 2v6M%.2f 5H%.2fM%.2f 2v6\"/>", fmin(100, time->low * scale),
                    fmin(100, time->low * scale), fmin(100, time->high * scale), fmin(100, time->high * scale));
    fputs("</svg></td>", file);
}

static bool overlaps(const kerf_record *a, const kerf_record *b) {
    return a->covered > 0 && b->covered > 0 && a->time_ns.low <= b->time_ns.high && b->time_ns.low <= a->time_ns.high;
}

static void print_row(FILE *file, const kerf_record *record, const kerf_record *fastest, double most,
                      bool show_config) {
    fputs(record == fastest ? "<tr class=\"best\">" : "<tr>", file);
    kerf_markup(file, "<th scope=\"row\">%s", record->row);
    if (record != fastest && record->n_samples > 0 && fastest && overlaps(record, fastest))
        fputs("<span class=\"tag\" title=\"its interval overlaps that of the fastest\">tied</span>", file);
    if (show_config)
        kerf_markup(file, "<span class=\"tag\">%s</span>", record->config);
    fputs("</th>", file);
    if (record->n_samples == 0) {
        kerf_markup(file,
                    "<td colspan=\"6\" class=\"wide\" data-v=\"1e300\"><span class=\"%s\">%s</span> %s</td></tr>\n",
                    kerf_verdict_name(record->finding.verdict), kerf_verdict_name(record->finding.verdict),
                    record->finding.reason);
        return;
    }
    kerf_html_number(file, record->time_ns.middle, kerf_markup_time(record->time_ns.middle).text);
    if (record->covered > 0)
        kerf_markup(file, "<td data-v=\"%.9g\">%s</td>", record->time_ns.low,
                    kerf_markup_interval(record->time_ns.low, record->time_ns.high).text);
    else
        kerf_html_number(file, NAN, "");
    print_strip(file, &record->time_ns, record->covered > 0, most);
    kerf_html_number(file, record->speed_ratio.middle > 0 ? record->speed_ratio.middle : NAN,
                     kerf_markup_ratio(record->speed_ratio.middle).text);
    kerf_html_number(file, record->share.middle > 0 ? record->share.middle : NAN,
                     kerf_markup_ratio(record->share.middle).text);
    if (record->finding.verdict == KERF_PASS)
        kerf_html_number(file, record->finding.ratio, kerf_markup_ratio(record->finding.ratio).text);
    else
        kerf_html_verdict(file, record->finding.verdict);
    fputs("</tr>\n", file);
}

static const char *mode_words(const char *mode) {
    return strcmp(mode, "hot") == 0    ? "the caches hold what the call before left there"
           : strcmp(mode, "cold") == 0 ? "evicted from all caches before each call"
                                       : "";
}

/* What all rows share stands in the caption. */
static bool same_config(const kerf_block *block) {
    for (int i = 1; i < block->n; ++i)
        if (strcmp(block->row[i]->config, block->row[0]->config) != 0)
            return false;
    return true;
}

static void print_block(FILE *file, const kerf_block *block) {
    static const char *const columns[] = {"implementation", "#median",   "interval",     "",
                                          "#x naive",       "#of limit", "#error/slack", NULL};
    const char *const mode = block->row[0]->mode;
    const bool same = same_config(block);
    double most = 0;
    for (int i = 0; i < block->n; ++i) {
        const kerf_record *const record = block->row[i];
        const double high = record->covered > 0 ? record->time_ns.high : record->time_ns.middle;
        if (record->n_samples > 0 && isfinite(high))
            most = fmax(most, high);
    }
    char note[128];
    snprintf(note, sizeof note, "%s%s%s", mode_words(mode), same ? "; " : "", same ? block->row[0]->config : "");
    kerf_html_begin_table(file, mode, note, columns);
    for (int i = 0; i < block->n; ++i)
        print_row(file, block->row[i], block->n_timed > 0 ? block->row[0] : NULL, most, !same);
    kerf_html_end_table(file);
}

void kerf_html_timed(const kerf_html *html) {
    static kerf_block block;
    const char *case_text = NULL;
    int at = 0, n_cases = 0;
    if (!kerf_digest_first(&html->records, KERF_RECORD_TIME))
        return;
    kerf_markup(html->file, "<h2 id=\"r%d-timed\">Times by case</h2>\n", html->run + 1);
    while (kerf_digest_next_block(&html->records, &at, &block)) {
        if (!case_text)
            kerf_markup(html->file,
                        "<p>Fastest first. <i>Median</i>: of the processes' medians of one call; the interval holds "
                        "the true one with %.1f %%.</p>\n",
                        100 * kerf_digest_covered(&html->records));
        const bool new_case = !case_text || strcmp(case_text, block.row[0]->case_text) != 0;
        case_text = block.row[0]->case_text;
        n_cases += new_case;
        if (n_cases > MAX_CASES)
            continue;
        if (new_case && n_cases > 1)
            fputs("</div>\n", html->file);
        if (new_case)
            kerf_markup(html->file,
                        "<h3 id=\"r%d-case%d\">Case %d</h3>\n<p class=\"case\">%s</p>\n<div class=\"pair\">\n",
                        html->run + 1, n_cases, n_cases, case_text);
        print_block(html->file, &block);
    }
    if (n_cases == 0)
        kerf_markup(html->file, "<p>Nothing was timed in this run.</p>\n");
    else
        fputs("</div>\n", html->file);
    if (n_cases > MAX_CASES)
        kerf_markup(html->file,
                    "<p>%d more cases are in the records; <code>bench report --format csv</code> lists them.</p>\n",
                    n_cases - MAX_CASES);
}
