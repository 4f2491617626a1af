/* What tuning found: for each case and cache mode the finals beside the default. */
#include "reports/html.h"

#include <math.h>
#include <string.h>

#define MAX_GROUPS 200

static bool same_group(const kerf_record *a, const kerf_record *b) {
    return b->kind == KERF_RECORD_TUNE && strcmp(a->case_text, b->case_text) == 0 && strcmp(a->mode, b->mode) == 0;
}

static void print_final(FILE *file, const kerf_record *record) {
    fputs(record->tune->is_chosen ? "<tr class=\"best\">" : "<tr>", file);
    kerf_markup(file, "<th scope=\"row\">%s<span class=\"tag\">%s%s</span></th><td class=\"wide\"><code>%s</code></td>",
                record->row, record->tune->is_chosen ? "chosen" : "", record->tune->is_standard ? " default" : "",
                record->config);
    if (record->n_samples == 0 || record->finding.verdict != KERF_PASS) {
        const char *const name = kerf_verdict_name(record->finding.verdict);
        kerf_markup(file, "<td colspan=\"4\" class=\"wide\"><span class=\"%s\">%s</span> %s</td></tr>\n", name, name,
                    record->finding.reason);
        return;
    }
    const kerf_estimate *const ratio = &record->ratio_to_standard;
    kerf_html_number(file, record->time_ns.middle, kerf_markup_time(record->time_ns.middle).text);
    kerf_markup(file, "<td>%s</td>", kerf_markup_interval(record->time_ns.low, record->time_ns.high).text);
    kerf_html_number(file, ratio->middle > 0 ? ratio->middle : NAN, kerf_markup_ratio(ratio->middle).text);
    if (ratio->middle > 0)
        kerf_markup(file, "<td>%s &ndash; %s</td></tr>\n", kerf_markup_ratio(ratio->low).text,
                    kerf_markup_ratio(ratio->high).text);
    else
        fputs("<td></td></tr>\n", file);
}

static void print_group(FILE *file, const kerf_record *const *record, int n) {
    static const char *const columns[] = {"implementation", "config",       "#median", "interval",
                                          "#x default",     "its interval", NULL};
    int n_tried = 0, n_refused = 0, n_wrong = 0, n_final = 0;
    for (int i = 0; i < n; ++i) {
        const kerf_verdict verdict = record[i]->finding.verdict;
        n_final += record[i]->tune->phase == KERF_TUNE_FINAL;
        if (record[i]->tune->phase != KERF_TUNE_SEARCH)
            continue;
        ++n_tried;
        n_refused += verdict == KERF_SKIP;
        n_wrong += verdict != KERF_SKIP && verdict != KERF_PASS;
    }
    char note[160];
    snprintf(note, sizeof note, "%d of %lld configurations tried, %d refused, %d wrong%s", n_tried,
             (long long)record[0]->tune->configurations, n_refused, n_wrong, n_final ? "" : "; no result");
    kerf_markup(file, "<p class=\"case\">%s</p>\n", record[0]->case_text);
    kerf_html_begin_table(file, record[0]->mode, note, columns);
    for (int i = 0; i < n; ++i)
        if (record[i]->tune->phase == KERF_TUNE_FINAL)
            print_final(file, record[i]);
    kerf_html_end_table(file);
}

void kerf_html_tuned(const kerf_html *html) {
    int n_groups = 0;
    for (int i = 0, n; i < html->records.n; i += n) {
        n = 1;
        const kerf_record *const *const record = html->records.at + i;
        if (record[0]->kind != KERF_RECORD_TUNE)
            continue;
        while (i + n < html->records.n && same_group(record[0], record[n]))
            ++n;
        if (n_groups++ == 0)
            kerf_markup(html->file,
                        "<h2 id=\"r%d-tuned\">Tuned</h2>\n<p><i>x default</i>: times as fast as the default "
                        "configuration, head to head with it.</p>\n",
                        html->run + 1);
        if (n_groups <= MAX_GROUPS)
            print_group(html->file, record, n);
    }
    if (n_groups > MAX_GROUPS)
        kerf_markup(html->file, "<p>%d more cases are in the records.</p>\n", n_groups - MAX_GROUPS);
}
