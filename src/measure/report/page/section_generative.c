/* Attacks on generative models by what they see: the discriminator may tell nearly everything and the samples nearly
 * nothing. */
#include "report/page/page.h"

#include <math.h>
#include <string.h>

static void number_cell(struct page *p, double x, void (*show)(struct page *p, double x))
{
    page_html(p, "<td class=\"number\">");
    show(p, x);
    page_html(p, "</td>");
}

static void estimate_cell(struct page *p, const struct json *j)
{
    struct estimate e = {j != NULL, part_number(j, "estimate"), part_number(j, "lower"),
                         part_number(j, "upper"), 0};
    page_html(p, "<td class=\"number\">");
    page_estimate(p, &e);
    page_html(p, "</td>");
}

static void section_generative_radius(struct page *p, double x)
{
    page_significant(p, x, 4);
}

static void section_generative_line(struct page *p, const struct json *attack)
{
    const struct json *g = part(attack, "generative");
    if (!g)
        return;
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, part_text(attack, "name"));
    page_html(p, "</th><td>");
    page_text(p, part_text(g, "access"));
    page_html(p, "</td>");
    estimate_cell(p, part(attack, "auc"));
    estimate_cell(p, part(g, "set_accuracy"));
    number_cell(p, part_number(g, "top_share"), page_fraction);
    number_cell(p, part_number(g, "radius"), section_generative_radius);
    number_cell(p, part_number(g, "lowest_tied"), page_count);
    page_html(p, "</tr>\n");
}

static const struct json *first_facts(const struct json *attacks)
{
    for (size_t i = 0; i < json_count(attacks); i++)
        if (part(json_at(attacks, i), "generative"))
            return part(json_at(attacks, i), "generative");
    return NULL;
}

static void section_generative_samples(struct page *p, const struct json *generator)
{
    if (!(part_number(generator, "samples") > 0))
        return;
    page_html(p, "<p>Samples of the generator: ");
    page_count(p, part_number(generator, "samples"));
    if (part_number(generator, "reference_samples") > 0) {
        page_html(p, "; of a reference generator trained on other records: ");
        page_count(p, part_number(generator, "reference_samples"));
    }
    page_html(p, ". More samples can only sharpen these attacks.</p>\n");
}

static void section_generative_pictures(struct page *p, const struct json *generator)
{
    const struct json *list = part(generator, "nearest");
    if (part(generator, "sheet")) {
        page_html(p, "<figure>");
        page_picture(p, part_text(generator, "sheet"), "Samples of the generator");
        page_html(p, "<figcaption>The first samples of the generator.</figcaption></figure>\n");
    }
    if (!json_count(list))
        return;
    page_table(
        p, "Nearest samples",
        "Members that are nearest to a sample, each on the left of it. These pictures show records of the "
        "training set: handle this page as you handle them.",
        "Row of the members|^Distance|Record and sample");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i);
        page_html(p, "<tr><th scope=\"row\">");
        page_count(p, part_number(one, "row"));
        page_html(p, "</th>");
        number_cell(p, part_number(one, "distance"), section_generative_radius);
        page_html(p, "<td>");
        page_picture(p, part_text(one, "picture"), "A member and the sample nearest to it");
        page_html(p, "</td></tr>\n");
    }
    page_table_end(p);
}

static void section_generative_row(struct page *p, const struct report_row *r)
{
    const struct json *attacks = part(r->audit, "attacks"), *g = first_facts(attacks);
    if (!g)
        return;
    section_generative_samples(p, part(r->audit, "generator"));
    page_table(p, "Generative model", "Attacks by what they see of the model. Sets: which of two sets of ",
               NULL);
    page_count(p, part_number(g, "set_size"));
    page_html(p, " records was trained on, decided by the sum of scores, over ");
    page_count(p, part_number(g, "set_draws"));
    page_html(
        p, " random pairs of sets. The sets overlap, so that interval is for such pairs, not for models. "
           "Top: share "
           "of members among as many highest scores as there are members. Radius: the largest distance at "
           "which a "
           "sample counts; taken from all records without their membership. Lowest: records that tie at the "
           "lowest score.");
    page_columns(p, "Attack|Sees|^AUC|^Sets|^Top|^Radius|^Lowest");
    for (size_t i = 0; i < json_count(attacks); i++)
        section_generative_line(p, json_at(attacks, i));
    page_table_end(p);
    section_generative_pictures(p, part(r->audit, "generator"));
}

void section_generative(struct page *p, const struct report *r)
{
    bool any = false;
    for (size_t i = 0; i < r->row_count; i++)
        any = any || first_facts(part(r->rows[i].audit, "attacks"));
    if (!any)
        return;
    page_html(
        p, "<section id=\"generative\" aria-labelledby=\"h-generative\"><h2 id=\"h-generative\">Generative "
           "model</h2>\n<p class=\"note\">Measured only: nothing here is proved. No finding is no proof that "
           "there "
           "is none.</p>\n");
    for (size_t i = 0; i < r->row_count; i++)
        section_generative_row(p, &r->rows[i]);
    page_html(p, "</section>\n");
}
