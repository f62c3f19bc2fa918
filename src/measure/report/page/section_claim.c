/* Proved guarantees, kept apart from those that hold only if a sampled sensitivity is the true one. */
#include "report/page/page.h"

#include <math.h>
#include <string.h>

static void epsilon_interval(struct page *p, const struct guarantee *g)
{
    page_html(p, "<strong>");
    page_rounded_up(p, g->upper);
    page_html(p, "</strong>");
    if (g->lower < g->upper * 0.999) { /* else the two ends look the same */
        page_html(p, " <span class=\"ci\">[");
        page_significant(p, g->lower, 4);
        page_html(p, ", ");
        page_rounded_up(p, g->upper);
        page_html(p, "]</span>");
    }
}

static void sensitivity_cell(struct page *p, const struct report_row *r)
{
    if (!r->source) {
        page_html(p, "<span class=\"none\">unknown</span>");
        return;
    }
    page_text(p, r->source);
    if (!isnan(r->l1)) {
        page_html(p, ", L1 = ");
        page_significant(p, r->l1, 4);
    }
    if (!isnan(r->l2)) {
        page_html(p, ", L2 = ");
        page_significant(p, r->l2, 4);
    }
    if (r->pairs)
        page_format(p, " <span class=\"ci long\">(largest of %zu pairs)<sup>1</sup></span>", r->pairs);
}

static void row_cells(struct page *p, const struct report *report, const struct families *f, size_t i)
{
    const struct report_row *r = &report->rows[i];
    page_html(p, "<tr><th scope=\"row\">");
    family_setting(p, report, f, i);
    page_html(p, r->evaluation ? " <span class=\"ci\">(measured only, not released)</span></th><td>"
                               : "</th><td>");
    page_text(p, r->mechanism);
    page_html(p, "</td><td class=\"number\">");
    page_significant(p, r->scale, 4);
    page_html(p, "</td><td>");
    sensitivity_cell(p, r);
    page_html(p, "</td><td class=\"number proved\">");
    if (r->proof_counts)
        epsilon_interval(p, &r->proved);
    else
        page_html(p, "<span class=\"none\">none</span>");
    if (r->proof_counts && !r->proof_means)
        page_html(p, " <span class=\"ci\">no meaningful guarantee</span>");
    page_html(p, "</td><td class=\"number conditional\">");
    if (r->conditional.given)
        epsilon_interval(p, &r->conditional);
    else
        page_html(p, "\xe2\x80\x93");
    const struct guarantee *g = r->proof_counts ? &r->proved : &r->conditional;
    page_html(p, "</td><td class=\"number\">");
    if (g->given)
        page_small(p, g->delta);
    else
        page_html(p, "\xe2\x80\x93");
    page_html(p, "</td><td class=\"number proved\">");
    page_percent(p, r->proof_counts ? allowed_tpr(r->proved.upper, r->proved.delta, 0.01) : NAN);
    page_html(p, "</td></tr>\n");
}

static void section_claim_assumptions(struct page *p, const struct report_row *r)
{
    const struct guarantee *g = r->proved.given ? &r->proved : &r->conditional;
    if (!g->given)
        return;
    page_html(p, "<ul class=\"checks\">");
    for (size_t i = 0; i < json_count(g->assumptions); i++) {
        const struct json *a = json_at(g->assumptions, i);
        bool met = false;
        sotto_status ignored = json_get_boolean(&met, a, "report", "met"); /* checked by the reader */
        (void)ignored;
        page_format(p, "<li class=\"%s\"><strong>%s</strong> ", met ? "met" : "unmet",
                    met ? "met:" : "NOT met:");
        page_text(p, part_text(a, "text"));
        page_html(p, "</li>");
    }
    if (r->conditional.given && !r->proved.given && r->conditional.all_met)
        page_html(p, "<li class=\"unmet\"><strong>NOT proved:</strong> no pair of neighbouring data sets "
                     "changes the weights by more than the largest change in the sample</li>");
    if (r->source_note) {
        page_html(p, "<li>sensitivity: ");
        page_text(p, r->source_note);
        page_html(p, "</li>");
    }
    if (g->accountant) {
        page_html(p, "<li>accountant: ");
        page_text(p, g->accountant);
        page_html(p, "</li>");
    }
    if (g->delta > 0 && r->records > 0) {
        page_html(p, "<li>\xce\xb4 = ");
        page_small(p, g->delta);
        page_format(p, ", %s 1/N = %.3g for %zu records</li>",
                    g->delta * (double)r->records < 1 ? "below" : "<strong>not below</strong>",
                    1 / (double)r->records, r->records);
    }
    page_html(p, "</ul>");
}

/* Settings that assume the same share one list. */
static void all_assumptions(struct page *p, const struct report *r)
{
    struct page *list = base_alloc(r->row_count, sizeof *list);
    p->failed = p->failed || !list;
    page_html(p, "<h3>Assumptions</h3>\n<div class=\"pairs\">\n");
    for (size_t i = 0; list && i < r->row_count; i++)
        if (r->rows[i].is_protected)
            section_claim_assumptions(&list[i], &r->rows[i]);
    for (size_t i = 0; list && i < r->row_count; i++) {
        p->failed = p->failed || list[i].failed;
        if (!list[i].text)
            continue;
        page_html(p, "<details open><summary>");
        page_name(p, r->rows[i].title);
        for (size_t k = i + 1; k < r->row_count; k++) {
            if (!list[k].text || strcmp(list[k].text, list[i].text) != 0)
                continue;
            page_html(p, "; ");
            page_name(p, r->rows[k].title);
            base_free(list[k].text);
            list[k].text = NULL;
        }
        page_html(p, "</summary>");
        page_html(p, list[i].text);
        page_html(p, "</details>\n");
        base_free(list[i].text);
    }
    base_free(list);
    page_html(p, "</div>\n");
}

/* A claim made elsewhere is neither proved nor refuted where no result contradicts it. */
static void section_claim_claimed(struct page *p, const struct report_row *r)
{
    if (!r->claimed)
        return;
    page_html(p, "<p><strong>Claimed elsewhere, not proved here:</strong> \xce\xb5 = ");
    page_significant(p, r->claim_epsilon, 4);
    page_html(p, ", \xce\xb4 = ");
    page_small(p, r->claim_delta);
    page_html(p, r->claim_contradicted ? ". <strong>Contradicted:</strong> the attack '"
                                       : ". Not contradicted: the strongest "
                                         "bound is that of the attack '");
    page_name(p, r->claim_attack ? r->claim_attack : "none");
    page_html(p, "', \xce\xb5 \xe2\x89\xa5 ");
    page_significant(p, r->claim_bound, 3);
    if (r->claim_bound_name) {
        page_html(p, " (");
        page_name(p, r->claim_bound_name);
        page_html(p, ")");
    }
    page_html(p, " at ");
    page_percent_plain(p, r->confidence);
    page_html(p,
              " over all attacks and bounds together (each threshold chosen on one half of the records and "
              "evaluated on the other).</p>\n");
}

void section_claim(struct page *p, const struct report *r)
{
    bool any = false, sampled = false;
    struct families families;
    const char *adjacency = NULL, *unit = NULL;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct report_row *row = &r->rows[i];
        any |= row->is_protected;
        if (!adjacency)
            adjacency = row->proved.adjacency ? row->proved.adjacency : row->conditional.adjacency;
        if (!unit)
            unit = row->proved.unit ? row->proved.unit : row->conditional.unit;
    }
    page_html(p, "<section id=\"claim\" aria-labelledby=\"h-claim\"><h2 id=\"h-claim\">Claim: what is "
                 "proved</h2>\n");
    if (!any) {
        page_html(p, "<p>No setting on this page was protected with noise by sotto. <strong>Proved "
                     "guarantee: none.</strong></p>\n");
        for (size_t i = 0; i < r->row_count; i++)
            section_claim_claimed(p, &r->rows[i]);
        page_html(p, "</section>\n");
        return;
    }
    page_html(
        p,
        "<p>Random noise was added to the model's weights once, after training, or during a private training "
        "(dp-sgd and dp-adam: to the sum of gradients in every step; covariance, functional and taylor: to "
        "sums over the records). The guarantee covers everything computed from the noisy values. Unit of "
        "privacy: ");
    page_text(p, unit ? unit : "one record");
    page_html(p, ". Neighbouring data sets: ");
    page_text(p, adjacency ? adjacency : "not stated");
    page_html(p,
              ". Each \xce\xb5 stated is the <strong>upper</strong> end of its interval. "
              "<strong>Proved</strong>: the sensitivity follows from a theorem or from clipping, and every "
              "assumption is met. <strong>Conditional</strong>: the \xce\xb5 that would hold <em>if</em> the "
              "largest sensitivity in a sample were the true one; this is not a guarantee.</p>\n");
    page_table(p, "Claims",
               "Guarantee of each protected setting. Last column: the largest true-positive rate that the "
               "proof allows any attack at a false-positive rate of 1&#8239;% (guessing: 1&#8239;%).",
               "Setting|Mechanism|^Scale|Sensitivity|^proved^Proved \xce\xb5|^conditional^Conditional "
               "\xce\xb5<br>(sampled sensitivity)|^\xce\xb4|^proved^TPR possible at 1&#8239;% FPR");
    families_find(&families, r);
    for (size_t k = 0; k < families.count; k++) {
        const size_t i = families.order[k];
        sampled = sampled || (r->rows[i].is_protected && r->rows[i].pairs > 0);
        family_heading(p, r, &families, i, 8);
        if (r->rows[i].is_protected)
            row_cells(p, r, &families, i);
    }
    page_table_end(p);
    if (sampled)
        page_html(p, "<p class=\"note\"><sup>1</sup> The largest change in a sample of pairs is evidence, "
                     "not a bound.</p>\n");
    all_assumptions(p, r);
    for (size_t i = 0; i < r->row_count; i++)
        section_claim_claimed(p, &r->rows[i]);
    page_html(p, "</section>\n");
}
