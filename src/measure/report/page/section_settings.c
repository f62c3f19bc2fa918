/* Every setting at a glance, under the model that it belongs to, and what noise cost it. */
#include "report/page/page.h"

#include <math.h>

/* As printed; the sum turns -0 into 0. */
double row_cost(const struct report_row *row)
{
    return round(1000 * (row->unprotected.value - row->accuracy.value)) / 10 + 0.0;
}

void row_epsilon(struct page *p, const struct report_row *r)
{
    page_html(p, "\xce\xb5\xc2\xa0\xe2\x89\xa4\xc2\xa0");
    page_rounded_up(p, r->proved.upper);
    if (r->proved.delta > 0) {
        page_html(p, " <span class=\"ci\">at \xce\xb4\xc2\xa0=\xc2\xa0");
        page_small(p, r->proved.delta);
        page_html(p, "</span>");
    }
}

bool row_has_cost(const struct report_row *row)
{
    return row->is_protected && row->accuracy.given && row->unprotected.given;
}

static const char *verdict_label(enum sotto_verdict v)
{
    static const char *const labels[] = {"claim contradicted", "destroyed",     "leaks",
                                         "leaks a little",     "badly damaged", "no leak found",
                                         "not attacked"};
    return labels[v];
}

static void section_settings_badge(struct page *p, enum sotto_verdict v)
{
    page_format(p, "<span class=\"badge %s\">%s</span>", sotto_verdict_name(v), verdict_label(v));
}

static const char *row_word(const struct report_row *r)
{
    return r->no_statement ? "<span class=\"none\">no statement</span>" : "<span class=\"none\">none</span>";
}

static void proved_cell(struct page *p, const struct report_row *r)
{
    if (r->proof_counts) {
        page_html(p, r->proof_means ? "<strong>" : "<span>");
        row_epsilon(p, r);
        page_html(p, r->proof_means ? "</strong>"
                                    : "</span> <span class=\"ci\">too large to be meaningful</span>");
    } else {
        page_html(p, row_word(r));
    }
}

static void auc_cell(struct page *p, const struct report_row *r)
{
    if (!r->attack_count) {
        page_html(p, "<span class=\"none\">not measured</span>");
        return;
    }
    page_estimate(p, &r->attacks[r->headline].auc);
    if (r->strongest != r->headline && (&r->attacks[r->strongest])->auc.value > 0.5) {
        page_html(p, " <span class=\"ci\">largest ");
        page_fraction(p, (&r->attacks[r->strongest])->auc.value);
        page_html(p, "</span>");
    }
}

/* Only if a sampled or given sensitivity were the true one: never in the column of proofs. */
static void conditional_cell(struct page *p, const struct report_row *r)
{
    page_html(p, "<td class=\"conditional\" data-label=\"Conditional\">");
    if (r->conditional.given) {
        page_html(p, "\xce\xb5\xc2\xa0\xe2\x89\xa4\xc2\xa0");
        page_rounded_up(p, r->conditional.upper);
    } else {
        page_html(p, "\xe2\x80\x93");
    }
    page_html(p, "</td>");
}

static void glance_row(struct page *p, const struct report *r, const struct families *f, size_t i,
                       bool conditional)
{
    const struct report_row *row = &r->rows[i];
    page_html(p, "<tr><th scope=\"row\">");
    family_setting(p, r, f, i);
    page_html(p, "</th><td class=\"proved\" data-label=\"Proved\">");
    proved_cell(p, row);
    page_html(p, "</td>");
    if (conditional)
        conditional_cell(p, row);
    page_html(p, "<td data-label=\"Attack AUC\">");
    auc_cell(p, row);
    page_html(p, "</td><td data-label=\"Accuracy\">");
    page_estimate(p, &row->accuracy);
    page_html(p, "</td><td>");
    section_settings_badge(p, row->verdict);
    page_html(p, "<span class=\"why\">");
    page_text(p, row->verdict_text);
    page_html(p, "</span></td></tr>\n");
}

static void section_settings_glance(struct page *p, const struct report *r, const struct families *f)
{
    bool conditional = false;
    for (size_t i = 0; i < r->row_count; i++)
        conditional |= r->rows[i].conditional.given;
    page_html(p,
              r->row_count > 1
                  ? "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Overview of all "
                    "settings\"><table class=\"glance\">\n<caption>Overview of all settings."
                  : "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                    "aria-label=\"Overview\"><table class=\"glance\">\n<caption>The verdict on this model.");
    page_html(p, " AUC: how well the headline attack (chosen in advance) separates members from non-members "
                 "(0.5 = guessing, 1 "
                 "= perfect), and the largest AUC of all attacks, where it is above chance.");
    if (conditional)
        page_html(p, " Conditional: the \xce\xb5 that would hold if the largest sensitivity in a sample were "
                     "the true one; not a guarantee.");
    page_html(p, "</caption>\n<thead><tr><th scope=\"col\">Setting</th><th scope=\"col\" "
                 "class=\"proved\">Proved</th>");
    if (conditional)
        page_html(p, "<th scope=\"col\" class=\"conditional\">Conditional</th>");
    page_html(p, "<th scope=\"col\" class=\"measured\">Attack AUC</th><th scope=\"col\" "
                 "class=\"measured\">Accuracy</th><th "
                 "scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n");
    for (size_t k = 0; k < f->count; k++) {
        family_heading(p, r, f, f->order[k], conditional ? 6 : 5);
        glance_row(p, r, f, f->order[k], conditional);
    }
    page_table_end(p);
}

static void cost_line(struct page *p, const struct report *r, const struct families *f, size_t i)
{
    const struct report_row *row = &r->rows[i];
    const double cost = row_cost(row);
    page_html(p, "<tr><th scope=\"row\">");
    family_setting(p, r, f, i);
    page_html(p, "</th><td class=\"number\">");
    page_estimate(p, &row->unprotected);
    page_html(p, "</td><td class=\"number\">");
    page_estimate(p, &row->accuracy);
    page_format(p, "</td><td class=\"number\">%s%.1f points%s</td></tr>\n", cost < 0 ? "\xe2\x88\x92" : "",
                fabs(cost), row->verdict == SOTTO_VERDICT_DESTROYED ? " (destroyed)" : "");
}

static void section_settings_costs(struct page *p, const struct report *r, const struct families *f)
{
    bool any = false;
    for (size_t i = 0; i < r->row_count; i++)
        any = any || row_has_cost(&r->rows[i]);
    if (!any)
        return;
    page_table(p, "Cost of the noise",
               "<span id=\"cost\">Cost of the noise</span> in points of accuracy on held-out records. A cost "
               "below 0 is an accuracy "
               "above that without noise.",
               "Setting|^Accuracy without noise|^With noise|^Cost");
    for (size_t k = 0; k < f->count; k++) {
        family_heading(p, r, f, f->order[k], 4);
        if (row_has_cost(&r->rows[f->order[k]]))
            cost_line(p, r, f, f->order[k]);
    }
    page_table_end(p);
}

void section_settings(struct page *p, const struct report *r)
{
    struct families f;
    families_find(&f, r);
    page_html(
        p,
        r->row_count > 1
            ? "<section id=\"settings\" aria-labelledby=\"h-settings\"><h2 id=\"h-settings\">Settings</h2>\n"
            : "<section id=\"settings\" aria-labelledby=\"h-settings\"><h2 id=\"h-settings\">The "
              "setting</h2>\n");
    section_settings_glance(p, r, &f);
    section_settings_costs(p, r, &f);
    page_html(p, "</section>\n");
}
