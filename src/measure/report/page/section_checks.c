/* Checks that would invalidate the other numbers: warnings are counted at the top of the page, and everything stands folded, one
 * line for each kind. */
#include "report/page/page.h"

#include <string.h>

static const struct json *section_checks_finding(const struct report_row *row, size_t i)
{
    return json_at(part(row->audit, "lint"), i);
}

static bool section_checks_is(const struct json *finding, const char *level)
{
    const char *found = part_text(finding, "level");
    return strcmp(found ? found : "unknown", level) == 0;
}

/* Findings of one kind have one name and one level; one without a name is a kind of its own. */
static bool same_kind(const struct json *a, const struct json *b)
{
    const char *name = part_text(a, "name"), *other = part_text(b, "name");
    return a == b || (name && other && strcmp(name, other) == 0 &&
                      section_checks_is(a, "warning") == section_checks_is(b, "warning") &&
                      section_checks_is(a, "ok") == section_checks_is(b, "ok"));
}

static size_t count_level(const struct report *r, const char *level)
{
    size_t count = 0;
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t k = 0; k < json_count(part(r->rows[i].audit, "lint")); k++)
            count += section_checks_is(section_checks_finding(&r->rows[i], k), level);
    return count;
}

static size_t count_kind(const struct report *r, const struct json *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t k = 0; k < json_count(part(r->rows[i].audit, "lint")); k++)
            count += same_kind(section_checks_finding(&r->rows[i], k), kind);
    return count;
}

/* The first finding of its kind, from the top. */
static bool opens_kind(const struct report *r, const struct json *kind)
{
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t k = 0; k < json_count(part(r->rows[i].audit, "lint")); k++)
            if (same_kind(section_checks_finding(&r->rows[i], k), kind))
                return section_checks_finding(&r->rows[i], k) == kind;
    return false;
}

static void section_checks_setting(struct page *p, const struct report *r, const struct report_row *row)
{
    if (r->row_count == 1)
        return;
    page_name(p, row->title);
    page_html(p, ": ");
}

/* Every warning is news; of what is fine or was not made, the first setting speaks for the others. */
static void kind_line(struct page *p, const struct report *r, const struct report_row *first,
                      const struct json *kind)
{
    const size_t count = count_kind(r, kind);
    const bool fine = section_checks_is(kind, "ok"), fold = section_checks_is(kind, "warning") && count > 1;
    page_format(p, "<li class=\"%s\"><strong>%s</strong> ", fine ? "met" : "unmet",
                fine                                 ? "fine:"
                : section_checks_is(kind, "warning") ? "WARNING:"
                                                     : "not checked:");
    if (fold) {
        page_text(p, part_text(kind, "name"));
        page_format(p, " <details><summary>%zu settings</summary><ul>", count);
        for (size_t i = 0; i < r->row_count; i++)
            for (size_t k = 0; k < json_count(part(r->rows[i].audit, "lint")); k++)
                if (same_kind(section_checks_finding(&r->rows[i], k), kind)) {
                    page_html(p, "<li>");
                    section_checks_setting(p, r, &r->rows[i]);
                    page_text(p, part_text(section_checks_finding(&r->rows[i], k), "text"));
                    page_html(p, "</li>");
                }
        page_html(p, "</ul></details></li>\n");
        return;
    }
    section_checks_setting(p, r, first);
    page_text(p, part_text(kind, "text"));
    if (count > 1)
        page_format(p, " (the same check is %s in %zu settings)", fine ? "fine" : "not made", count);
    page_html(p, "</li>\n");
}

static void section_checks_lines(struct page *p, const struct report *r, const char *level)
{
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t k = 0; k < json_count(part(r->rows[i].audit, "lint")); k++)
            if (section_checks_is(section_checks_finding(&r->rows[i], k), level) &&
                opens_kind(r, section_checks_finding(&r->rows[i], k)))
                kind_line(p, r, &r->rows[i], section_checks_finding(&r->rows[i], k));
}

void checks_banner(struct page *p, const struct report *r)
{
    const size_t warnings = count_level(r, "warning");
    const char *between = "";
    if (!warnings)
        return;
    page_format(p, "<p class=\"banner warn\"><strong>%zu warning%s from checks</strong> (", warnings,
                warnings > 1 ? "s" : "");
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t k = 0; k < json_count(part(r->rows[i].audit, "lint")); k++)
            if (section_checks_is(section_checks_finding(&r->rows[i], k), "warning") &&
                opens_kind(r, section_checks_finding(&r->rows[i], k))) {
                page_html(p, between);
                page_text(p, part_text(section_checks_finding(&r->rows[i], k), "name"));
                between = ", ";
            }
    page_html(p, "). Read <a href=\"#checks\">the checks</a> before any claim.</p>\n");
}

void section_checks(struct page *p, const struct report *r)
{
    const size_t fine = count_level(r, "ok"), warnings = count_level(r, "warning");
    size_t all = 0;
    for (size_t i = 0; i < r->row_count; i++)
        all += json_count(part(r->rows[i].audit, "lint"));
    if (!all)
        return;
    page_format(
        p,
        "<section id=\"checks\" aria-labelledby=\"h-checks\"><h2 id=\"h-checks\">Checks</h2>\n<p "
        "class=\"note\">Attacks compare members with non-members. If the two sets also differ otherwise, the "
        "numbers on this page measure that difference too.</p>\n<details><summary>%zu fine, %zu warning%s, "
        "%zu "
        "not made</summary>\n<ul class=\"checks\">\n",
        fine, warnings, warnings == 1 ? "" : "s", all - fine - warnings);
    section_checks_lines(p, r, "warning");
    section_checks_lines(p, r, "unknown");
    section_checks_lines(p, r, "ok");
    page_html(p, "</ul></details></section>\n");
}
