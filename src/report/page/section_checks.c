/* Checks that would invalidate the other numbers, shown before all of them. */
#include "report/page/page.h"

#include <string.h>

static const char *level_of(const struct json *finding)
{
    const char *level = part_text(finding, "level");
    return level ? level : "unknown";
}

/* One audit's findings; for rows after the first only warnings are news. */
static void findings(struct page *p, const struct report_row *row, bool all, bool named)
{
    const struct json *lint = part(row->audit, "lint");
    for (size_t i = 0; i < json_count(lint); i++) {
        const struct json *one = json_at(lint, i);
        bool warning = strcmp(level_of(one), "warning") == 0, fine = strcmp(level_of(one), "ok") == 0;
        if (!all && !warning)
            continue;
        page_format(p, "<li class=\"%s\"><strong>%s</strong> ", fine ? "met" : "unmet",
                    fine      ? "fine:"
                    : warning ? "WARNING:"
                              : "not checked:");
        if (named) {
            page_name(p, row->title);
            page_html(p, ": ");
        }
        page_text(p, part_text(one, "text"));
        page_html(p, "</li>\n");
    }
}

void section_checks(struct page *p, const struct report *r)
{
    const struct report_row *first = NULL;
    for (size_t i = 0; i < r->row_count && !first; i++)
        if (json_count(part(r->rows[i].audit, "lint")))
            first = &r->rows[i];
    if (!first)
        return;
    page_html(
        p, "<section id=\"checks\" aria-labelledby=\"h-checks\"><h2 id=\"h-checks\">Before any "
           "claim</h2>\n<p class=\"note\">Attacks compare members with non-members. If the two sets also "
           "differ otherwise, the numbers below measure that difference too.</p>\n<ul class=\"checks\">\n");
    findings(p, first, true, false);
    for (size_t i = 0; i < r->row_count; i++)
        if (&r->rows[i] != first)
            findings(p, &r->rows[i], false, true);
    page_html(p, "</ul></section>\n");
}
