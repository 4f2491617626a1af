/* What tuning found: for each case and cache mode the finals beside the default. */
#include "reports/html.h"
#include "reports/tuned.h"

#include <math.h>

#define MAX_GROUPS 200

static void print_final(FILE *file, const kerf_record *record) {
    fputs(record->tune->is_chosen ? "<tr class=\"best\">" : "<tr>", file);
    kerf_markup(file,
                "<th scope=\"row\">%s<span class=\"tag\">%s%s%s</span></th><td class=\"wide\"><code>%s</code></td>",
                record->row, record->tune->phase == KERF_TUNE_CONFIRM ? "once more " : "",
                record->tune->is_chosen ? "chosen " : "", record->tune->is_standard ? "default" : "", record->config);
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

static void print_group(FILE *file, const kerf_tuned *t) {
    static const char *const columns[] = {"implementation", "config",       "#median", "interval",
                                          "#x default",     "its interval", NULL};
    char note[160];
    snprintf(note, sizeof note, "%lld of %lld configurations tried, %lld refused, %lld wrong%s", (long long)t->tried,
             (long long)t->record[0]->tune->configurations, (long long)t->refused, (long long)t->wrong,
             t->last != KERF_TUNE_SEARCH ? "" : "; no result");
    kerf_markup(file, "<p class=\"case\">%s</p>\n", t->record[0]->case_text);
    kerf_html_begin_table(file, t->record[0]->mode, note, columns);
    for (int i = 0; i < t->n; ++i)
        if (t->record[i]->tune->phase != KERF_TUNE_SEARCH)
            print_final(file, t->record[i]);
    kerf_html_end_table(file);
}

void kerf_html_tuned(const kerf_html *html) {
    int n_groups = 0;
    kerf_tuned tuned;
    for (int at = 0; kerf_tuned_next(&html->records, &at, &tuned);) {
        if (n_groups++ == 0)
            kerf_markup(html->file,
                        "<h2 id=\"r%d-tuned\">Tuned</h2>\n<p><i>x default</i>: times as fast as the default "
                        "configuration, head to head with it. What was ahead of it was measured <i>once more</i> alone "
                        "with it, and that decides.</p>\n",
                        html->run + 1);
        if (n_groups <= MAX_GROUPS)
            print_group(html->file, &tuned);
    }
    if (n_groups > MAX_GROUPS)
        kerf_markup(html->file, "<p>%d more cases are in the records.</p>\n", n_groups - MAX_GROUPS);
}
