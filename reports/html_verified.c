/* What was verified: a line per row, each failure, and where the cases prove nothing. */
#include "reports/html.h"

#include <math.h>
#include <string.h>

#define MAX_FAILURES 100
#define MAX_TRUST    50

static void print_row(FILE *file, const kerf_row_digest *row) {
    kerf_markup(file, "<tr><th scope=\"row\">%s</th>", row->row);
    kerf_html_verdict(file, row->worst);
    kerf_markup(file, "<td class=\"n\">%lld</td><td class=\"n\">%lld</td><td class=\"n\">%lld</td>",
                (long long)row->n_passed, (long long)row->n_failed, (long long)row->n_skipped);
    if (row->worst == KERF_SKIP)
        kerf_markup(file, "<td class=\"n\" data-v=\"-1\"></td><td class=\"wide\">%s</td></tr>\n", row->reason);
    else {
        kerf_html_number(file, row->worst_ratio, kerf_markup_ratio(row->worst_ratio).text);
        kerf_markup(file, "<td class=\"wide\"><code>%s</code></td></tr>\n", row->worst_case);
    }
}

static void print_index(FILE *file, const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    kerf_markup(file, "<p><code>%s[", record->output);
    for (int axis = 0; axis < finding->rank; ++axis)
        kerf_markup(file, axis ? ",%lld" : "%lld", (long long)finding->index[axis]);
    kerf_markup(file, "]</code> is %.9g, right is [%.9g, %.9g] &plusmn; %.3g (error/slack ", finding->got, finding->lo,
                finding->hi, finding->slack);
    kerf_markup(file, "%s); %lld of %lld elements</p>\n", kerf_markup_ratio(finding->ratio).text,
                (long long)finding->n_bad, (long long)finding->n_elements);
}

static void print_failure(FILE *file, const kerf_record *record) {
    kerf_markup(file, "<div class=\"fail\"><p><span class=\"FAIL\">%s</span> <b>%s</b>, %s",
                kerf_verdict_name(record->finding.verdict), record->row,
                record->kind == KERF_RECORD_TIME ? "while it was timed, " : "");
    if (record->kind == KERF_RECORD_TUNE)
        kerf_markup(file, "with <code>%s</code>, ", record->config);
    if (record->finding.check && record->finding.check[0])
        kerf_markup(file, "check <i>%s</i>", record->finding.check);
    if (record->finding.reason[0])
        kerf_markup(file, ": %s", record->finding.reason);
    kerf_markup(file, "</p>\n<p class=\"case\">%s</p>\n", record->case_text);
    if (record->output)
        print_index(file, record);
    if (record->repeat)
        kerf_markup(file, "<p>repeat: <code>%s</code></p>\n", record->repeat);
    fputs("</div>\n", file);
}

static void print_failures(const kerf_html *html) {
    int n = 0;
    for (int i = 0; i < html->records.n; ++i) {
        if (!kerf_digest_is_failure(html->records.at[i]))
            continue;
        if (n++ == 0)
            kerf_markup(html->file, "<h3>What went wrong</h3>\n");
        if (n <= MAX_FAILURES)
            print_failure(html->file, html->records.at[i]);
    }
    if (n > MAX_FAILURES)
        kerf_markup(html->file, "<p>%d more are in the records.</p>\n", n - MAX_FAILURES);
}

static void print_trust(const kerf_html *html) {
    int n = 0;
    for (int i = 0; i < html->records.n; ++i) {
        const kerf_record *const record = html->records.at[i];
        if (record->kind != KERF_RECORD_TRUST)
            continue;
        if (n++ == 0)
            kerf_markup(html->file,
                        "<div class=\"warn\"><p><b>Not trusted</b>: a zero, constant or copied result would pass "
                        "every case that was run for</p>\n<ul>\n");
        if (n <= MAX_TRUST)
            kerf_markup(html->file, "<li><code>%s</code> in <code>%s</code></li>\n", record->output, record->mode);
    }
    if (n > MAX_TRUST)
        kerf_markup(html->file, "<li>and %d more</li>\n", n - MAX_TRUST);
    if (n > 0)
        fputs("</ul></div>\n", html->file);
}

void kerf_html_verified(const kerf_html *html) {
    static kerf_row_digest row[KERF_DIGEST_ROWS];
    const int n = kerf_digest_rows(&html->records, row);
    kerf_markup(html->file, "<h2 id=\"r%d-verified\">Verified</h2>\n", html->run + 1);
    if (n == 0)
        kerf_markup(html->file, "<p>%s</p>\n",
                    kerf_digest_first(&html->records, KERF_RECORD_TUNE)
                        ? "Every configuration was verified before it was timed; what was wrong stands below."
                        : "Nothing was verified in this run.");
    else {
        kerf_markup(html->file,
                    "<p><i>Error/slack</i>: the largest distance of a result from the interval of right answers, "
                    "divided by what rounding may add. At most 1 passes.</p>\n");
        static const char *const columns[] = {
            "implementation",        "verdict", "#passed", "#failed", "#skipped", "#error/slack",
            "largest at, or reason", NULL};
        char caption[64];
        const long long n_cases = (long long)kerf_digest_n_cases(&html->records);
        snprintf(caption, sizeof caption, "Implementations on %lld case%s", n_cases, n_cases == 1 ? "" : "s");
        kerf_html_begin_table(html->file, caption, "", columns);
        for (int skipped = 0; skipped < 2; ++skipped)
            for (int i = 0; i < n; ++i)
                if ((row[i].worst == KERF_SKIP) == (skipped == 1))
                    print_row(html->file, &row[i]);
        kerf_html_end_table(html->file);
    }
    print_trust(html);
    print_failures(html);
}
