/* What the protection costs, and how training went. */
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>

static void utility_line(struct page *p, const struct report *report, const struct families *f, size_t i)
{
    const struct report_row *r = &report->rows[i];
    page_html(p, "<tr><th scope=\"row\">");
    family_setting(p, report, f, i);
    page_html(p, "</th><td class=\"number\">");
    page_estimate(p, &r->accuracy);
    page_html(p, "</td><td class=\"number\">");
    page_count(p, r->accuracy.n ? (double)r->accuracy.n : NAN);
    page_html(p, "</td><td class=\"number\">");
    page_fraction(p, r->train_accuracy);
    page_html(p, "</td><td class=\"number\">");
    page_fraction(p, part_balanced(r->classes));
    page_html(p, "</td><td class=\"number\">");
    page_fraction(p, part_majority(r->classes));
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

/* NULL: there are none. */
static const struct json *lowest_class(const struct report_row *row)
{
    const struct json *lowest = json_at(row->classes, 0);
    for (size_t i = 0; i < json_count(row->classes); i++)
        if (part_number(json_at(row->classes, i), "estimate") < part_number(lowest, "estimate"))
            lowest = json_at(row->classes, i);
    return lowest;
}

static struct estimate class_estimate(const struct json *one)
{
    return (struct estimate){true, part_number(one, "estimate"), part_number(one, "lower"),
                             part_number(one, "upper"), 0};
}

static void class_line(struct page *p, const struct json *one)
{
    const struct estimate e = class_estimate(one);
    page_html(p, "<tr><th scope=\"row\">");
    page_count(p, part_number(one, "class"));
    page_html(p, "</th><td class=\"number\">");
    page_count(p, part_number(one, "n"));
    page_html(p, "</td><td class=\"number\">");
    page_estimate(p, &e);
    page_html(p, "</td></tr>\n");
}

/* Noise seldom costs all classes alike; an average hides it. */
static void section_utility_classes(struct page *p, const struct report_row *row)
{
    const struct json *lowest = lowest_class(row);
    if (!lowest)
        return;
    const struct estimate e = class_estimate(lowest);
    page_html(p, "<details><summary>");
    page_name(p, row->title);
    page_html(p, ": lowest in class ");
    page_count(p, part_number(lowest, "class"));
    page_html(p, ", ");
    page_estimate(p, &e);
    page_html(p, "</summary>\n");
    page_table(p, "Accuracy by class",
               "Accuracy on held-out records of each class. Intervals are for one class alone.",
               "Class|^Records|^Accuracy");
    for (size_t i = 0; i < json_count(row->classes); i++)
        class_line(p, json_at(row->classes, i));
    page_table_end(p);
    page_html(p, "</details>\n");
}

/* Few classes that all settings share: one table, a setting a line. 0: otherwise. */
static size_t shared_classes(const struct report *r)
{
    enum { FEW = 12 };
    size_t settings = 0, classes = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct json *of = r->rows[i].classes;
        const size_t n = json_count(of);
        settings += n > 0;
        if (n > FEW || (n > 0 && classes > 0 && n != classes))
            return 0;
        classes = n > 0 ? n : classes;
        for (size_t k = 0; k < n; k++)
            if (part_number(json_at(of, k), "class") != (double)k)
                return 0;
    }
    return settings > 1 ? classes : 0;
}

static void classes_row(struct page *p, const struct report_row *row, size_t classes)
{
    const struct json *lowest = lowest_class(row);
    const struct estimate e = class_estimate(lowest);
    for (size_t k = 0; k < classes; k++) {
        page_html(p, "<td class=\"number\">");
        page_fraction(p, part_number(json_at(row->classes, k), "estimate"));
        page_html(p, "</td>");
    }
    page_html(p, "<td class=\"number\">class ");
    page_count(p, part_number(lowest, "class"));
    page_html(p, ": ");
    page_estimate(p, &e);
    page_html(p, "</td></tr>\n");
}

static void classes_table(struct page *p, const struct report *r, size_t classes)
{
    struct families f;
    families_find(&f, r);
    page_table(p, "Accuracy by class",
               "Accuracy on held-out records of each class, and the lowest with its interval, which is for "
               "one class "
               "alone.",
               NULL);
    page_html(p, "</caption>\n<thead><tr><th scope=\"col\">Setting</th>");
    for (size_t k = 0; k < classes; k++)
        page_format(p, "<th scope=\"col\" class=\"number\">%zu</th>", k);
    page_html(p, "<th scope=\"col\" class=\"number\">Lowest</th></tr></thead>\n<tbody>\n");
    for (size_t j = 0; j < f.count; j++) {
        family_heading(p, r, &f, f.order[j], (int)classes + 2);
        if (!json_count(r->rows[f.order[j]].classes))
            continue;
        page_html(p, "<tr><th scope=\"row\">");
        family_setting(p, r, &f, f.order[j]);
        page_html(p, "</th>");
        classes_row(p, &r->rows[f.order[j]], classes);
    }
    page_table_end(p);
}

static void by_class(struct page *p, const struct report *r)
{
    const size_t shared = shared_classes(r);
    bool any = false;
    for (size_t i = 0; i < r->row_count; i++) {
        if (!json_count(r->rows[i].classes))
            continue;
        page_html(p, any ? "" : "<h3>Accuracy by class</h3>\n");
        any = true;
        if (shared > 0) {
            classes_table(p, r, shared);
            return;
        }
        section_utility_classes(p, &r->rows[i]);
    }
}

void section_utility(struct page *p, const struct report *r)
{
    struct groups g;
    struct families families;
    const size_t first = p->plots;
    groups_find(&g, r);
    page_html(p,
              "<section id=\"utility\" aria-labelledby=\"h-utility\"><h2 id=\"h-utility\">Utility</h2>\n<div "
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
        page_plot(p);
        group_title(p, r, g.first[k]);
        page_html(p, "</figcaption></figure>\n");
    }
    page_html(p, p->plots > first ? "</div>\n<p class=\"note\">" : "</div>\n");
    if (p->plots > first) {
        page_plots_since(p, first);
        page_html(
            p,
            "Accuracy and attack AUC against the noise scale, with the "
            "intervals of the tables as bars. Dashed: the same model without noise. Dotted: guessing.</p>\n");
    }
    page_table(
        p, "Utility",
        "Accuracy on held-out records with Clopper-Pearson intervals. Balanced: the mean over classes. "
        "Most frequent: the accuracy of always answering with that class.",
        "Setting|^Accuracy|^Records|^On training records|^Balanced|^Most frequent|^Guessing|^Over draws "
        "of the noise");
    families_find(&families, r);
    for (size_t i = 0; i < families.count; i++) {
        family_heading(p, r, &families, families.order[i], 8);
        utility_line(p, r, &families, families.order[i]);
    }
    page_table_end(p);
    by_class(p, r);
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
        p, "<section id=\"training\" aria-labelledby=\"h-training\"><h2 id=\"h-training\">Training</h2>\n");
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
        page_plot(p);
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
