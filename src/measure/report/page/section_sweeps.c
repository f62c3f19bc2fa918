/* What noise costs and what it stops, setting by setting: figures and one table per case. Measured over noise
 * draws that are never released. */
#include "report/page/page.h"

#include <math.h>
#include <string.h>

/* The first curve of each case; curves of a case follow one another. */
static bool is_first(const struct sweeps *s, size_t i)
{
    return i == 0 || strcmp(s->curves[i].name, s->curves[i - 1].name) != 0;
}

static void mean_cell(struct page *p, const struct mean *m)
{
    page_html(p, "<td class=\"number\">");
    if (isnan(m->value))
        page_html(p, "\xe2\x80\x93");
    else
        page_format(p, "%.3f <span class=\"ci\">[%.3f, %.3f]</span>", m->value, m->lower, m->upper);
    page_html(p, "</td>");
}

static void number_cell(struct page *p, double x)
{
    page_html(p, "<td class=\"number\">");
    page_significant(p, x, 3);
    page_html(p, "</td>");
}

static void point_line(struct page *p, const struct sweeps *s, const struct sweep_curve *c,
                       const struct sweep_point *point)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_text(p, c->mechanism);
    if (strcmp(c->norms, "entrywise") != 0) {
        page_html(p, ", ");
        page_text(p, c->norms);
        page_html(p, " norms");
    }
    page_html(p, "</th>");
    number_cell(p, point->epsilon);
    page_html(p, "<td class=\"number\">");
    page_rounded_up(p, point->implied);
    if (!isnan(point->epsilon) && !point->holds)
        page_html(p, " <strong>not private at the target</strong>");
    page_html(p, "</td>");
    number_cell(p, point->deviation);
    mean_cell(p, &point->loss);
    number_cell(p, point->ceiling);
    number_cell(p, point->tpr_ceiling);
    for (size_t k = 0; k < s->attack_count; k++) {
        mean_cell(p, &point->attacks[k].balanced);
        mean_cell(p, &point->attacks[k].auc);
        mean_cell(p, &point->attacks[k].low_rate);
    }
    page_html(p, "</tr>\n");
}

static void section_sweeps_figure(struct page *p, const char *kind, size_t curve, size_t attack,
                                  const char *caption, const char *name)
{
    page_format(
        p,
        "<figure><div class=\"plot\"><canvas data-chart=\"%s\" data-group=\"%zu\" data-attack=\"%zu\" "
        "role=\"img\" aria-label=\"The numbers are in the table below\"></canvas></div><figcaption>",
        kind, curve, attack);
    page_plot(p);
    page_html(p, caption);
    if (name) {
        page_html(p, " (");
        page_text(p, name);
        page_html(p, ")");
    }
    page_html(p, "</figcaption></figure>\n");
}

static void case_figures(struct page *p, const struct sweeps *s, size_t first)
{
    page_html(p, "<div class=\"charts\">\n");
    section_sweeps_figure(p, "sweep-loss", first, 0, "Utility loss against epsilon", NULL);
    for (size_t k = 0; k < s->attack_count; k++) {
        section_sweeps_figure(p, "sweep-attack", first, k, "Attack accuracy against epsilon", s->attacks[k]);
        section_sweeps_figure(p, "sweep-trade", first, k, "Attack accuracy against utility loss",
                              s->attacks[k]);
        if (!isnan(s->rate))
            section_sweeps_figure(p, "sweep-rate", first, k,
                                  "True positives at a low false-positive rate against epsilon",
                                  s->attacks[k]);
    }
    page_html(p, "</div>\n");
}

static void case_table(struct page *p, const struct sweeps *s, size_t first)
{
    page_format(p,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Sweep\"><table>\n<caption>Means over %zu draws of the noise, with intervals of "
                "the mean. The attacks use shadow models with the same noise.</caption>\n",
                s->curves[first].draws);
    page_html(
        p,
        "<thead><tr><th scope=\"col\">Noise</th><th scope=\"col\" class=\"number\">Target \xce\xb5</th><th "
        "scope=\"col\" class=\"number\">Implied \xce\xb5</th><th scope=\"col\" class=\"number\">Standard "
        "deviation</th><th scope=\"col\" class=\"number\">Utility loss</th><th scope=\"col\" "
        "class=\"number\">Ceiling of attack accuracy</th><th scope=\"col\" class=\"number\">Ceiling of TPR");
    if (!isnan(s->rate)) {
        page_html(p, " at ");
        page_percent_plain(p, s->rate);
        page_html(p, " FPR");
    }
    page_html(p, "</th>");
    for (size_t k = 0; k < s->attack_count; k++) {
        static const char *const columns[] = {"accuracy", "AUC", NULL};
        for (size_t c = 0; c < 3; c++) {
            page_html(p, "<th scope=\"col\" class=\"number\">");
            page_text(p, s->attacks[k]);
            page_html(p, ": ");
            if (columns[c])
                page_html(p, columns[c]);
            else if (isnan(s->rate))
                page_html(p, "TPR");
            else {
                page_html(p, "TPR at ");
                page_percent_plain(p, s->rate);
                page_html(p, " FPR");
            }
            page_html(p, "</th>");
        }
    }
    page_html(p, "</tr></thead>\n<tbody>\n");
    for (size_t i = first; i < s->count && (i == first || !is_first(s, i)); i++)
        for (size_t k = 0; k < s->curves[i].count; k++)
            point_line(p, s, &s->curves[i], &s->curves[i].points[k]);
    page_table_end(p);
}

void section_sweeps(struct page *p, const struct report *r)
{
    const struct sweeps *s = &r->sweeps;
    if (s->count == 0)
        return;
    page_html(p,
              "<section id=\"sweeps\" aria-labelledby=\"h-sweeps\"><h2 id=\"h-sweeps\">Noise, attacks and "
              "utility for each setting</h2>\n<p class=\"note\">Measured, not proved: the epsilon of a "
              "setting holds only if the true sensitivity is at most the one used. Nothing in this section "
              "was released. Utility loss: 1 \xe2\x88\x92 accuracy with noise / accuracy without noise. "
              "Attack accuracy: balanced accuracy at a threshold chosen on other records than those "
              "evaluated. Ceiling of attack accuracy: (1 + total variation) / 2 for the noise at this "
              "sensitivity; for logistic noise (1 + tanh(t/4)) / 2 with t = L1 / scale. Ceiling of TPR: from "
              "the trade-off curve of the noise; for logistic noise the log-odds of true and false positives "
              "differ by t. Dashed lines without points in the figures show these ceilings.</p>\n");
    for (size_t i = 0; i < s->count; i++) {
        if (!is_first(s, i))
            continue;
        page_html(p, "<h3>");
        page_name(p, s->curves[i].title ? s->curves[i].title : s->curves[i].name);
        page_html(p, "</h3>\n");
        case_figures(p, s, i);
        case_table(p, s, i);
    }
    page_html(p, "</section>\n");
}
