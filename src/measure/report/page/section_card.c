/* The model card: what the numbers say in a few lines, and lines for what only people know. */
#include "report/page/page.h"

static void section_card_known(struct page *p, const char *label, const char *text)
{
    page_format(p, "<dt>%s</dt><dd>", label);
    page_name(p, text);
    page_html(p, "</dd>\n");
}

/* What the document says, else an empty line to write on. */
static void section_card_asked(struct page *p, const struct report *r, const char *label, const char *path)
{
    const char *text = part_text(r->doc, path);
    if (text && text[0])
        section_card_known(p, label, text);
    else
        page_format(p, "<dt>%s</dt><dd class=\"blank\"><span class=\"none\">to be filled in</span></dd>\n",
                    label);
}

void section_card(struct page *p, const struct report *r)
{
    page_html(p, "<section id=\"card\" aria-labelledby=\"h-card\"><h2 id=\"h-card\">Model card</h2>\n<dl>\n");
    for (size_t i = 0; i < r->row_count && r->row_count < 4; i++)
        section_card_known(p, "Model", r->rows[i].title);
    if (r->row_count >= 4)
        page_format(p, "<dt>Models</dt><dd>%zu settings, listed under Verdict</dd>\n", r->row_count);
    for (size_t i = 0; i < r->row_count && r->row_count < 4; i++)
        section_card_known(p, "Finding", r->rows[i].verdict_text);
    section_card_asked(p, r, "Intended use", "card.intended_use");
    section_card_asked(p, r, "Not intended for", "card.not_intended_for");
    section_card_known(
        p, "Limits",
        "Tested only against the attacks listed above, on the records of one trained model. See 'What this "
        "report does not show'.");
    section_card_asked(p, r, "Licence", "card.licence");
    section_card_asked(p, r, "Contact", "card.contact");
    section_card_asked(p, r, "Reviewed by, date", "card.reviewed_by");
    page_html(p, "<dt>Signature</dt><dd class=\"blank\"></dd>\n</dl>\n</section>\n");
}
