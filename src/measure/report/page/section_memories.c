/* Explanations of what a network remembers: the records that the attack is surest of, and the unit that gives each away. */
#include "report/page/page.h"

static const struct json *section_memories_explained(const struct report_row *r)
{
    return part(r->audit, "model_attack.explained");
}

static void section_memories_line(struct page *p, const struct json *one, double members)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_count(p, part_number(one, "row"));
    page_html(p, part_number(one, "row") < members ? "</th><td>member</td><td class=\"number\">"
                                                   : "</th><td>non-member</td><td class=\"number\">");
    page_significant(p, part_number(one, "score"), 3);
    page_html(p, "</td><td class=\"number\">");
    page_count(p, part_number(one, "layer"));
    page_html(p, "</td><td class=\"number\">");
    page_count(p, part_number(one, "unit"));
    page_html(p, "</td><td class=\"number\">");
    page_percent(p, part_number(one, "share"));
    page_html(p, "</td><td>");
    page_picture(
        p, part_text(one, "picture"),
        "The record, the same with the places of the unit in pink, and other records that excite it");
    page_html(p, "</td></tr>\n");
}

void section_memories(struct page *p, const struct report *r)
{
    for (size_t i = 0; i < r->row_count; i++) {
        const struct json *list = section_memories_explained(&r->rows[i]);
        if (!json_count(list))
            continue;
        page_html(
            p,
            "<section id=\"memories\" aria-labelledby=\"h-memories\"><h2 id=\"h-memories\">What the network "
            "remembers</h2>\n<p class=\"note\">Measured only: nothing here is proved.</p>\n");
        page_table(
            p, "Explained records",
            "The records that the attack is surest of, each with the unit that the network reads most "
            "differently from layers trained on other records, its layer (counted from the last that was "
            "read) and its share of that layer's displacement. Pictures: the record; the same, pink where "
            "the unit finds it; records of "
            "the attacker, which trained nothing, that excite the unit most. They show records of the "
            "training set: handle this page as you handle them.",
            "Row|Is a|^Score|^Layer|^Unit|^Share|Pictures");
        for (size_t k = 0; k < json_count(list); k++)
            section_memories_line(p, json_at(list, k), part_number(r->rows[i].audit, "n_member"));
        page_table_end(p);
        page_html(p, "</section>\n");
    }
}
