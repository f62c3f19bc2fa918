/* Attribute inference: never a number without what could have been guessed without the model. */
#include "report/page/page.h"

#include <math.h>
#include <string.h>

static void section_attribute_cell(struct page *p, const struct json *j)
{
    struct estimate e = {j && json_kind(j) == JSON_KIND_OBJECT, part_number(j, "estimate"),
                         part_number(j, "lower"), part_number(j, "upper"), 0};
    page_html(p, "<td class=\"number\">");
    page_percent_estimate(p, &e);
    page_html(p, "</td>");
}

static void section_attribute_line(struct page *p, const struct json *scores, const char *note)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, part_text(scores, "name"));
    page_html(p, note);
    page_html(p, "</th>");
    section_attribute_cell(p, part(scores, "accuracy"));
    section_attribute_cell(p, part(scores, "balanced_accuracy"));
    section_attribute_cell(p, part(scores, "macro_f1"));
    page_html(p, "</tr>\n");
}

static void section_attribute_gain(struct page *p, const struct json *a)
{
    const struct json *g = part(a, "gain");
    struct estimate e = {true, part_number(g, "estimate"), part_number(g, "lower"), part_number(g, "upper"),
                         0};
    if (!g)
        return;
    page_html(p, "<p>Gain in accuracy over '");
    page_name(p, part_text(g, "over"));
    page_html(p, "': <strong>");
    page_percent_estimate(p, &e);
    page_html(
        p, e.lower > 0
               ? "</strong>. The model's output reveals the attribute beyond what is known without it.</p>\n"
               : "</strong>. No gain was found; this is no proof that there is none.</p>\n");
}

static void section_attribute_curve(struct page *p, const struct json *list)
{
    if (!json_count(list))
        return;
    page_table(p, "Learning curve",
               "Accuracy of the attack by the number of records with known attribute that train it.",
               "Part|^Records|^Accuracy");
    for (size_t i = 0; i < json_count(list); i++) {
        page_html(p, "<tr><th scope=\"row\">");
        page_percent_plain(p, part_number(json_at(list, i), "share"));
        page_html(p, "</th><td class=\"number\">");
        page_count(p, part_number(json_at(list, i), "n"));
        page_html(p, "</td>");
        section_attribute_cell(p, json_at(list, i));
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

/* Only where networks of several depths were asked for. */
static void section_attribute_depths(struct page *p, const struct json *list)
{
    if (!json_count(list))
        return;
    page_table(p, "Depth of the attack's network",
               "Attack networks of several depths, each trained on all records with known attribute.",
               "Dense layers|^Accuracy|^Balanced accuracy|^Macro F1");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i);
        page_html(p, "<tr><th scope=\"row\">");
        page_count(p, part_number(one, "layers"));
        page_html(p, "</th>");
        section_attribute_cell(p, part(one, "accuracy"));
        section_attribute_cell(p, part(one, "balanced_accuracy"));
        section_attribute_cell(p, part(one, "macro_f1"));
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

void section_attribute(struct page *p, const struct report *r)
{
    const struct json *a = NULL;
    for (size_t i = 0; i < r->row_count && !a; i++)
        a = part(r->rows[i].audit, "attribute");
    if (!a)
        return;
    page_html(p, "<section id=\"attribute\" aria-labelledby=\"h-attribute\"><h2 id=\"h-attribute\">Attribute "
                 "inference</h2>\n<p>Can a hidden attribute of ");
    page_count(p, part_number(a, "values"));
    page_html(p, " values be inferred from what the model reveals about a record? The attacker knows the "
                 "attribute of ");
    page_count(p, part_number(a, "n_known"));
    page_html(p, " records; the test uses ");
    page_count(p, part_number(a, "n_test"));
    page_html(p, " others.</p>\n");
    page_table(
        p, "Attribute inference",
        "The attack is logistic regression or a network, whichever was better on a validation set. The "
        "baselines do not use the model. Balanced accuracy: mean over the attribute's values. Intervals at ",
        NULL);
    page_percent_plain(p, part_number(a, "confidence"));
    page_html(p, " confidence, by bootstrap over the test records.");
    page_columns(p, "Method|^Accuracy|^Balanced accuracy|^Macro F1");
    section_attribute_line(p, part(a, "attack"), " <span class=\"ci\">(the attack)</span>");
    for (size_t i = 0; i < json_count(part(a, "baselines")); i++) {
        const struct json *one = json_at(part(a, "baselines"), i);
        bool asks = part_text(one, "name") && strncmp(part_text(one, "name"), "model's", 7) == 0;
        section_attribute_line(p, one,
                               asks ? " <span class=\"ci\">(sees only the label)</span>"
                                    : " <span class=\"ci\">(no model needed)</span>");
    }
    page_table_end(p);
    section_attribute_gain(p, a);
    section_attribute_depths(p, part(a, "depths"));
    section_attribute_curve(p, part(a, "learning_curve"));
    page_html(p, "</section>\n");
}
