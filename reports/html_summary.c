/* What a reader wants first: did it pass, what is fastest, and on which machine. */
#include "reports/html.h"
#include "reports/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    const char *class_name, *words;
} outcome;

static outcome outcome_of(const kerf_record *end) {
    if (!end)
        return (outcome){"bad", "not ended"};
    switch (end->exit_code) {
    case 0:
        return (outcome){"good", "all right"};
    case 4:
        return (outcome){"bad", "wrong results"};
    case 6:
        return (outcome){"bad", "implausible"};
    case 130:
        return (outcome){"bad", "interrupted"};
    default:
        return (outcome){"bad", "did not run well"};
    }
}

static void fact(FILE *file, const char *class_name, const char *name, const char *value) {
    kerf_markup(file, "<div class=\"%s\"><dt>%s</dt><dd>%s</dd></div>\n", class_name, name, value);
}

static void count_fact(FILE *file, const char *name, int64_t count) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)count);
    fact(file, "", name, digits);
}

typedef struct counts {
    int n_tuned, n_configurations, n_timed, n_passed, n_skipped, n_wrong;
} counts;

/* A run verifies and times, or it tunes. */
static counts count(const kerf_records *records) {
    counts c = {0};
    kerf_tuned tuned;
    for (int at = 0; kerf_tuned_next(records, &at, &tuned); ++c.n_tuned)
        c.n_configurations += (int)tuned.tried;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        const bool is_check = record->kind == KERF_RECORD_VERIFY ||
                              (record->kind == KERF_RECORD_TUNE && record->tune->phase == KERF_TUNE_SEARCH);
        c.n_timed += record->kind == KERF_RECORD_TIME && record->n_samples > 0;
        c.n_passed += is_check && record->finding.verdict == KERF_PASS;
        c.n_skipped += is_check && record->finding.verdict == KERF_SKIP;
        c.n_wrong += kerf_digest_is_failure(record);
    }
    return c;
}

static void print_facts(const kerf_html *html) {
    const kerf_record *const end = kerf_digest_first(&html->records, KERF_RECORD_END);
    const outcome ended = outcome_of(end);
    const counts c = count(&html->records);
    fputs("<dl class=\"facts\">\n", html->file);
    char name[48];
    snprintf(name, sizeof name, end ? "outcome, exit %d" : "outcome", end ? end->exit_code : 0);
    fact(html->file, ended.class_name, name, ended.words);
    if (c.n_tuned > 0)
        count_fact(html->file, "cases tuned", c.n_tuned);
    else
        count_fact(html->file, "cases verified", kerf_digest_n_cases(&html->records));
    if (c.n_tuned > 0)
        count_fact(html->file, "configurations", c.n_configurations);
    count_fact(html->file, "checks passed", c.n_passed);
    char wrong[24];
    snprintf(wrong, sizeof wrong, "%d", c.n_wrong);
    fact(html->file, c.n_wrong ? "bad" : "", "went wrong", wrong);
    count_fact(html->file, "skipped", c.n_skipped);
    if (c.n_tuned == 0)
        count_fact(html->file, "times taken", c.n_timed);
    if (end) {
        char seconds[400];
        snprintf(seconds, sizeof seconds, "%.1f s", end->seconds);
        fact(html->file, "", "took", seconds);
    }
    fputs("</dl>\n", html->file);
}

static void note(FILE *file, const char *name, const char *value) {
    kerf_markup(file, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

static void print_environment(const kerf_html *html) {
    FILE *const file = html->file;
    const kerf_record *const run = kerf_digest_first(&html->records, KERF_RECORD_RUN);
    if (!run)
        return;
    const kerf_environment *const environment = run->environment;
    kerf_markup(file, "<details><summary>Environment and command</summary>\n<dl class=\"notes\">\n");
    kerf_markup(file, "<dt>command</dt><dd><code>%s</code></dd>\n", run->command);
    note(file, "processor", environment->cpu);
    note(file, "instruction sets", environment->isa);
    kerf_markup(file, "<dt>processors</dt><dd>%d, teams of %d</dd>\n", environment->processors, run->threads);
    note(file, "caches", environment->caches);
    note(file, "frequency governor", environment->governor);
    note(file, "virtual machine", environment->virtual_machine);
    note(file, "kernel", environment->kernel);
    note(file, "compiler", environment->compiler);
    note(file, "flags", environment->flags);
    note(file, "flush to zero", environment->flush_to_zero);
    kerf_markup(file, "<dt>load at start</dt><dd>%.2f</dd>\n", environment->load_1min);
    note(file, "free memory at start", kerf_markup_bytes((double)environment->memory_available_bytes).text);
    note(file, "build id", environment->build_id);
    fputs("</dl>\n</details>\n", file);
}

/* By set and mode as they come, the fastest on average first. */
static int by_mean(const void *a, const void *b) {
    const kerf_mean *const left = a, *const right = b;
    int order = strcmp(left->set, right->set);
    if (order == 0)
        order = -strcmp(left->mode, right->mode);
    return order != 0 ? order : (left->ratio < right->ratio) - (left->ratio > right->ratio);
}

static kerf_mean mean[KERF_DIGEST_ROWS];

static void print_means(const kerf_html *html, int n) {
    if (n == 0)
        return;
    qsort(mean, (size_t)n, sizeof mean[0], by_mean);
    kerf_markup(html->file, "<h2 id=\"r%d-fastest\">What is fastest</h2>\n", html->run + 1);
    kerf_markup(html->file,
                "<p>Geometric means over the timed cases. <i>x naive</i>: times as fast as the plain loops, taken "
                "within each process. <i>Of limit</i>: part of what the machine allows.</p>\n");
    static const char *const columns[] = {"implementation", "cache",       "set",    "#x naive",
                                          "#of limit",      "#fastest in", "#cases", NULL};
    kerf_html_begin_table(html->file, "Implementations, fastest first", "", columns);
    for (int i = 0; i < n; ++i) {
        const bool best = i == 0 || strcmp(mean[i].mode, mean[i - 1].mode) != 0 || strcmp(mean[i].set, mean[i - 1].set);
        fputs(best ? "<tr class=\"best\">" : "<tr>", html->file);
        kerf_markup(html->file, "<th scope=\"row\">%s</th><td>%s</td><td>%s</td>", mean[i].row, mean[i].mode,
                    mean[i].set);
        kerf_html_number(html->file, mean[i].n_ratio ? mean[i].ratio : NAN, kerf_markup_ratio(mean[i].ratio).text);
        kerf_html_number(html->file, mean[i].n_share ? mean[i].share : NAN, kerf_markup_ratio(mean[i].share).text);
        kerf_markup(html->file, "<td class=\"n\">%d</td><td class=\"n\">%d</td></tr>\n", mean[i].n_fastest,
                    mean[i].n_timed);
    }
    kerf_html_end_table(html->file);
}

void kerf_html_summary(const kerf_html *html) {
    FILE *const file = html->file;
    const kerf_record *const run = kerf_digest_first(&html->records, KERF_RECORD_RUN);
    const kerf_record *about = kerf_digest_first(&html->records, KERF_RECORD_VERIFY);
    if (!about)
        about = kerf_digest_first(&html->records, KERF_RECORD_TIME);
    if (!about)
        about = kerf_digest_first(&html->records, KERF_RECORD_TUNE);
    kerf_markup(file, "<header>\n<h1>%s</h1>\n", about ? about->op : "Kerf report");
    if (run)
        kerf_markup(file, "<p class=\"lead\">Kerf %s on %s (%s), %d of %d processors, %s</p>\n", run->version,
                    run->environment->cpu, run->environment->isa, run->threads, run->environment->processors, run->utc);
    const int r = html->run + 1, n_means = kerf_digest_means(&html->records, mean);
    print_facts(html);
    kerf_markup(file, "<nav aria-label=\"Parts of this run\"><ul>");
    if (n_means > 0)
        kerf_markup(file, "<li><a href=\"#r%d-fastest\">What is fastest</a></li>", r);
    kerf_markup(file, "<li><a href=\"#r%d-verified\">Verified</a></li><li><a href=\"#r%d-figures\">Figures</a></li>", r,
                r);
    if (kerf_digest_first(&html->records, KERF_RECORD_TUNE))
        kerf_markup(file, "<li><a href=\"#r%d-tuned\">Tuned</a></li>", r);
    if (kerf_digest_first(&html->records, KERF_RECORD_TIME))
        kerf_markup(file, "<li><a href=\"#r%d-timed\">Times by case</a></li>", r);
    fputs("</ul></nav>\n</header>\n", file);
    print_environment(html);
    print_means(html, n_means);
}
