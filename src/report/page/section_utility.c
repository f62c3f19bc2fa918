/* What the protection costs, and how training went. */
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>

/* With a real minus sign. */
static void change(struct page *p, double points)
{
    page_format(p, "<strong>%s%.1f</strong> points",
                points < -0.05  ? "\xe2\x88\x92"
                : points > 0.05 ? "+"
                                : "",
                fabs(points));
}

static void utility_line(struct page *p, const struct report_row *r)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, r->title);
    page_html(p, "</th><td class=\"number\">");
    page_estimate(p, &r->accuracy);
    page_html(p, "</td><td class=\"number\">");
    page_count(p, r->accuracy.n ? (double)r->accuracy.n : NAN);
    page_html(p, "</td><td class=\"number\">");
    if (r->is_protected)
        page_estimate(p, &r->unprotected);
    else
        page_html(p, "\xe2\x80\x93");
    page_html(p, "</td><td class=\"number\">");
    if (r->is_protected && r->accuracy.given && r->unprotected.given)
        change(p, 100 * (r->accuracy.value - r->unprotected.value));
    else
        page_html(p, "\xe2\x80\x93");
    page_html(p, "</td><td class=\"number\">");
    page_fraction(p, r->train_accuracy);
    page_html(p, "</td><td class=\"number\">");
    page_fraction(p, r->chance);
    page_html(p, "</td><td class=\"number\">");
    if (r->accuracy_draws.count)
        page_format(p, "%.3f <span class=\"ci\">(%.3f to %.3f, %zu draws)</span>", r->accuracy_draws.mean,
                    r->accuracy_draws.lowest, r->accuracy_draws.highest, r->accuracy_draws.count);
    else
        page_html(p, "\xe2\x80\x93");
    page_html(p, "</td></tr>\n");
}

void section_utility(struct page *p, const struct report *r)
{
    struct groups g;
    groups_find(&g, r);
    page_html(p, "<section id=\"utility\" aria-labelledby=\"h-utility\"><h2 id=\"h-utility\">4 Utility and "
                 "cost</h2>\n<div "
                 "class=\"charts\">\n");
    for (size_t k = 0; k < g.count; k++) {
        bool any = false;
        for (size_t i = 0; i < r->row_count; i++)
            any |= g.of_row[i] == k && r->rows[i].is_protected && r->rows[i].accuracy.given;
        if (!any)
            continue;
        page_format(
            p,
            "<figure><div class=\"plot\"><canvas data-chart=\"cost\" data-group=\"%zu\" role=\"img\" "
            "aria-label=\"Accuracy and "
            "attack AUC against the noise scale; the numbers are in the tables\"></canvas></div><figcaption>",
            k);
        group_title(p, r, g.first[k]);
        page_html(p, "</figcaption></figure>\n");
    }
    page_html(
        p, "</div>\n<p class=\"note\">Plot B. Accuracy and attack AUC against the noise scale, with the "
           "intervals of the tables as bars. Dashed: the same model without noise. Dotted: guessing.</p>\n");
    page_table(p, "Utility",
               "Accuracy on held-out records with Clopper-Pearson intervals, and the accuracy lost to noise.",
               "Setting|^Accuracy|^Records|^Without noise|^Change|^On training records|^Guessing|^Over draws "
               "of the noise");
    for (size_t i = 0; i < r->row_count; i++)
        utility_line(p, &r->rows[i]);
    page_table_end(p);
    page_html(p, "</section>\n");
}

static void training_lines(struct page *p, const struct json *chart)
{
    const struct json *series = json_member(chart, "series");
    for (size_t k = 0; k < json_count(series); k++) {
        const struct json *points = json_member(json_at(series, k), "points");
        size_t n = json_count(points);
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(chart, "title"));
        page_html(p, ": ");
        page_name(p, part_text(json_at(series, k), "name"));
        page_html(p, "</th>");
        for (size_t end = 0; end < 2; end++) {
            page_html(p, "<td class=\"number\">");
            page_significant(p, n ? json_number(json_at(json_at(points, end ? n - 1 : 0), 1)) : NAN, 4);
            page_html(p, "</td>");
        }
        page_html(p, "<td class=\"number\">");
        page_text(p, part_text(chart, "x"));
        page_html(p, " ");
        page_significant(p, n ? json_number(json_at(json_at(points, n - 1), 0)) : NAN, 6);
        page_html(p, "</td></tr>\n");
    }
}

void section_training(struct page *p, const struct report *r)
{
    const struct json *training = part(r->doc, "training");
    page_html(
        p, "<section id=\"training\" aria-labelledby=\"h-training\"><h2 id=\"h-training\">5 Training</h2>\n");
    if (json_count(training) == 0) {
        page_html(p, "<p>Training was not part of this run.</p></section>\n");
        return;
    }
    page_html(p, "<div class=\"charts\">\n");
    for (size_t i = 0; i < json_count(training); i++) {
        page_format(p,
                    "<figure><div class=\"plot\"><canvas data-chart=\"training\" data-group=\"%zu\" "
                    "role=\"img\" aria-label=\"Training "
                    "curves; first and last values are in the table\"></canvas></div><figcaption>",
                    i);
        page_name(p, part_text(json_at(training, i), "title"));
        page_html(p, "</figcaption></figure>\n");
    }
    page_html(p, "</div>\n");
    page_table(p, "Training", "First and last value of each curve.", "Curve|^First|^Last|^At");
    for (size_t i = 0; i < json_count(training); i++)
        training_lines(p, json_at(training, i));
    page_table_end(p);
    page_html(p, "</section>\n");
}
