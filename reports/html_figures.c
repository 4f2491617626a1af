/* The figures that plot.py drew, each with what it shows in words; what is missing is said with the reason. */
#include "reports/html.h"

static const struct {
    const char *title, *words;
} kinds[KERF_N_FIGURE_KINDS] = {
    [KERF_FIGURE_RANKING] = {"Ranking",
                             "Times as fast as naive on each case, with intervals; further to the right is faster. "
                             "The tables by case give the numbers."},
    [KERF_FIGURE_SHARE] = {"Share of the limit",
                           "The least time that the machine allows for the work of a case, divided by the "
                           "time taken. At 1 nothing is left to gain; above 1.15 a result is implausible."},
    [KERF_FIGURE_ROOFLINE] = {"Roofline",
                              "Operations per second against operations per byte that must move. The lines are "
                              "what bench doctor measured on this machine: no point can lie above the line of "
                              "the level that its data comes from."},
    [KERF_FIGURE_ERROR] = {"Error against speed",
                           "The largest error/slack on a case (1 is the bound) against times as fast as "
                           "naive: whether speed was bought with accuracy."},
    [KERF_FIGURE_SWEEP] = {"Sweep over sizes", "What was swept is on the horizontal axis."},
    [KERF_FIGURE_SPLIT] = {"Where a call spends its time",
                           "Packing, computing and unpacking, as the implementation marks them."},
    [KERF_FIGURE_TUNING] = {"Tuning",
                            "The time of each configuration in the order it was tried, and by the value of each "
                            "parameter. Only configurations that passed have a time."},
};

static void print_figure(const kerf_html *html, const kerf_figure *figure) {
    kerf_markup(html->file, "<figure>\n<figcaption><b>%s</b> %s</figcaption>\n", kinds[figure->kind].title,
                kinds[figure->kind].words);
    if (figure->svg) {
        kerf_markup(html->file, "<div class=\"plot\" role=\"img\" tabindex=\"0\" aria-label=\"%s: %s\">\n",
                    kinds[figure->kind].title, kinds[figure->kind].words);
        fputs(figure->svg, html->file);
        fputs("\n</div>\n", html->file);
    } else {
        kerf_markup(html->file, "<p class=\"hint\">This figure is missing: %s.</p>\n",
                    figure->missing ? figure->missing : "it was not drawn");
    }
    fputs("</figure>\n", html->file);
}

void kerf_html_figures(const kerf_html *html) {
    kerf_markup(html->file, "<h2 id=\"r%d-figures\">Figures</h2>\n", html->run + 1);
    int n = 0;
    for (int i = 0; i < html->page->n_figures; ++i)
        n += html->page->figure[i].run == html->run;
    if (n == 0) {
        kerf_markup(html->file, "<p>There is nothing to draw: figures are made of times.</p>\n");
        return;
    }
    if (html->page->no_plots) {
        kerf_markup(html->file, "<div class=\"hint\"><p>The figures are missing: %s. Missing are:</p><ul>\n",
                    html->page->no_plots);
        for (int i = 0; i < html->page->n_figures; ++i)
            if (html->page->figure[i].run == html->run)
                kerf_markup(html->file, "<li>%s</li>\n", kinds[html->page->figure[i].kind].title);
        fputs("</ul></div>\n", html->file);
        return;
    }
    for (int i = 0; i < html->page->n_figures; ++i)
        if (html->page->figure[i].run == html->run)
            print_figure(html, &html->page->figure[i]);
}
