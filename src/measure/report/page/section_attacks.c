/* The curves and the table of every attack on every setting. */
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RATES = 4 };

/* The false-positive rates that any row reports, in the order of first appearance. */
static size_t find_rates(const char *rates[MAX_RATES], const struct report *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t a = 0; a < r->rows[i].attack_count; a++) {
            const struct json *tpr = r->rows[i].attacks[a].rates;
            for (const char *key = json_first_key(tpr); key && count < MAX_RATES;
                 key = json_next_key(tpr, key)) {
                size_t k = 0;
                while (k < count && strcmp(rates[k], key) != 0)
                    k++;
                if (k == count)
                    rates[count++] = key;
            }
        }
    return count;
}

/* A yes or no: its only threshold has a rate of its own (one vertex between the ends of the curve). */
static bool has_one_threshold(const struct attack_result *a)
{
    return a->roc && json_count(a->roc) <= 3;
}

static void rate_cell(struct page *p, const struct attack_result *a, const char *key)
{
    const struct json *found = json_member(a->rates, key);
    page_html(p, "<td class=\"number\">");
    if (json_kind(found) == JSON_KIND_OBJECT && has_one_threshold(a) && part_number(found, "estimate") == 0) {
        page_html(p, "<span class=\"none\">one threshold only</span>");
    } else if (json_kind(found) == JSON_KIND_OBJECT) {
        struct estimate e = {true, part_number(found, "estimate"), part_number(found, "lower"),
                             part_number(found, "upper"), 0};
        bool weak = false;
        if (part(found, "weak") && json_get_boolean(&weak, found, "report", "weak") == SOTTO_OK && weak)
            page_html(p, "<abbr title=\"fewer than 10/FPR non-members\">weak</abbr> ");
        page_percent_estimate(p, &e);
        if (part(found, "no_lower"))
            page_html(p, " <span class=\"ci\">too few non-members for a lower bound</span>");
    } else {
        double rate = strtod(key, NULL);
        page_html(p, "<span class=\"none\">not measured</span>");
        if (json_member(a->refused, key) && rate > 0) { /* the reason in full is in the JSON */
            page_html(p, " <span class=\"ci\">needs ");
            page_count(p, ceil(1 / rate - 1e-9));
            page_html(p, " non-members</span>");
        }
    }
    page_html(p, "</td>");
}

static void attack_line(struct page *p, const struct report_row *row, size_t i, const char *const *rates,
                        size_t rate_count)
{
    const struct attack_result *a = &row->attacks[i];
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, a->title ? a->title : a->name);
    page_html(p, i == row->headline ? " <span class=\"ci\">(headline)</span></th><td class=\"number\">"
                                    : "</th><td class=\"number\">");
    page_estimate(p, &a->auc);
    page_html(p, "</td>");
    for (size_t k = 0; k < rate_count; k++)
        rate_cell(p, a, rates[k]);
    page_html(p, "<td class=\"number\">");
    page_estimate(p, &a->balanced);
    page_html(p, "</td><td class=\"number\">");
    page_fraction(p, a->advantage);
    page_html(p, "</td><td class=\"number\">");
    page_significant(p, isnan(a->best_epsilon) ? a->epsilon : a->best_epsilon, 3);
    if (a->best_bound && a->best_epsilon > 0) {
        page_html(p, " <span class=\"ci\">");
        page_name(p, a->best_bound);
        page_html(p, "</span>");
    }
    page_html(p, "</td></tr>\n");
}

static void row_group(struct page *p, const struct report_row *row, const char *const *rates,
                      size_t rate_count)
{
    page_format(p, "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">", rate_count + 5);
    page_name(p, row->title);
    if (row->attack_count) {
        page_html(p, " <span class=\"ci\">");
        page_count(p, (double)row->attacks[0].n_member);
        page_html(p, " members, ");
        page_count(p, (double)row->attacks[0].n_nonmember);
        page_html(p, " non-members");
        if (row->auc_draws.count) {
            page_format(p, "; over %zu draws of the noise, the AUC of '", row->auc_draws.count);
            page_name(p, row->draws_attack);
            page_format(p, "' is %.3f on average, %.3f to %.3f", row->auc_draws.mean, row->auc_draws.lowest,
                        row->auc_draws.highest);
        }
        page_html(p, "</span>");
    }
    page_html(p, "</th></tr>\n");
    for (size_t i = 0; i < row->attack_count; i++)
        attack_line(p, row, i, rates, rate_count);
    if (!row->attack_count)
        page_format(p, "<tr><td colspan=\"%zu\" class=\"none\">not attacked</td></tr>\n", rate_count + 5);
    page_html(p, "</tbody>\n");
}

static void section_attacks_plots(struct page *p, const struct report *r)
{
    struct groups g;
    const size_t first = p->plots;
    groups_find(&g, r);
    page_html(p, "<div class=\"charts\">\n");
    for (size_t k = 0; k < g.count; k++) {
        bool any = false;
        for (size_t i = 0; i < r->row_count; i++)
            any |= g.of_row[i] == k && r->rows[i].attack_count && r->rows[i].attacks[r->rows[i].headline].roc;
        if (!any)
            continue;
        page_format(p,
                    "<figure><div class=\"plot\"><canvas data-chart=\"roc\" data-group=\"%zu\" role=\"img\" "
                    "aria-label=\"ROC curves on "
                    "logarithmic axes; the numbers are in the table of attacks\"></canvas></div><figcaption>",
                    k);
        page_plot(p);
        group_title(p, r, g.first[k]);
        page_html(p, "</figcaption></figure>\n");
    }
    page_html(p, "</div>\n<p class=\"note\">");
    page_plots_since(p, first);
    page_html(p, "True-positive rate (y: share of members that the attack "
                 "finds) against false-positive rate (x: share of non-members flagged by mistake), for the "
                 "headline attack of each setting; with a single setting, for its six best "
                 "attacks, each named at its curve. Step curves, no interpolation. Both axes are "
                 "logarithmic, because finding even a "
                 "few members with certainty is a leak. Dotted diagonal: guessing. Shaded: excluded by the "
                 "proof or the claim, if there is one; a curve in this area contradicts it. Rates of 0 are "
                 "drawn at half the smallest measurable rate.</p>\n");
}

/* For an audit alone on its page: the scores themselves. */
static void section_attacks_histogram(struct page *p, const struct report *r)
{
    const struct report_row *row = &r->rows[0];
    if (r->row_count != 1 || !row->attack_count || !row->attacks[row->closer].histogram)
        return;
    page_html(
        p,
        "<div class=\"charts\">\n<figure><div class=\"plot\"><canvas data-chart=\"scores\" data-group=\"0\" "
        "role=\"img\" aria-label=\"Histogram of the scores of members and non-members; the areas are in the "
        "table of attacks\"></canvas></div><figcaption>");
    page_plot(p);
    page_html(p, "Scores of '");
    page_name(p, row->attacks[row->closer].name);
    page_html(
        p, "'</figcaption></figure>\n</div>\n<p class=\"note\">Share of members and of non-members "
           "at each score, in bars of equal width. An attacker learns something where the two differ.</p>\n");
}

static void section_attacks_share(struct page *p, const struct json *j)
{
    struct estimate e = {j != NULL, part_number(j, "estimate"), part_number(j, "lower"),
                         part_number(j, "upper"), 0};
    page_percent_estimate(p, &e);
}

/* A test with a known law: what each of its p-values rests on. */
static void p_values(struct page *p, const struct report_row *row)
{
    const struct json *attacks = part(row->audit, "attacks");
    for (size_t i = 0; i < json_count(attacks); i++) {
        const struct json *v = part(json_at(attacks, i), "p_values");
        if (!v)
            continue;
        page_html(p, "<p class=\"note\">p-values of '");
        page_name(p, part_text(json_at(attacks, i), "name"));
        page_html(p, "' of at most ");
        page_significant(p, part_number(v, "level"), 3);
        page_html(p, ": ");
        section_attacks_share(p, part(v, "member_conformal"));
        page_html(p, " of the members by the conformal one, which rests on exchangeable records alone; ");
        section_attacks_share(p, part(v, "member_normal"));
        page_html(p, " by the normal one, for independent features only (");
        section_attacks_share(p, part(v, "nonmember_normal"));
        page_html(p, part_flag(v, "normal_refuted") ? " of the non-members, which refutes it here).</p>\n"
                                                    : " of the non-members).</p>\n");
    }
}

void section_attacks(struct page *p, const struct report *r)
{
    const char *rates[MAX_RATES];
    size_t rate_count = find_rates(rates, r);
    double confidence = NAN;
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].attack_count)
            confidence = r->rows[i].confidence;
    page_html(p, "<section id=\"attacks\" aria-labelledby=\"h-attacks\"><h2 id=\"h-attacks\">Attacks: what "
                 "was measured</h2>\n");
    if (isnan(confidence)) {
        page_html(p, "<p>No membership attack was run.</p></section>\n");
        return;
    }
    section_attacks_plots(p, r);
    section_attacks_histogram(p, r);
    page_html(p, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All attacks\"><table "
                 "class=\"attacks\">\n<caption>");
    page_html(p, r->row_count > 1 ? "All attacks on all settings." : "All attacks.");
    page_html(p, " Brackets: intervals at ");
    page_percent_plain(p, confidence);
    page_html(
        p,
        " confidence, each for one number alone. TPR at an FPR: from all records; the interval includes the "
        "chance of "
        "the threshold (bootstrap, or order statistics where it rests on few non-members). Balanced "
        "accuracy: the "
        "threshold was chosen on the calibration half of the records and evaluated on the other half. The "
        "advantage is the maximum over all thresholds and "
        "therefore optimistic. Random guessing: AUC 0.5, balanced accuracy 0.5, TPR = FPR, advantage "
        "0.</caption>\n<thead><tr><th scope=\"col\">Attack</th><th scope=\"col\" class=\"number\">AUC</th>");
    for (size_t k = 0; k < rate_count; k++) {
        page_html(p, "<th scope=\"col\" class=\"number\">TPR at ");
        page_percent_plain(p, strtod(rates[k], NULL));
        page_html(p, " FPR</th>");
    }
    page_html(p, "<th scope=\"col\" class=\"number\">Balanced accuracy</th><th scope=\"col\" "
                 "class=\"number\">Advantage (maximum)</th><th scope=\"col\" class=\"number\">\xce\xb5 is at "
                 "least</th></tr></thead>\n");
    for (size_t i = 0; i < r->row_count; i++)
        row_group(p, &r->rows[i], rates, rate_count);
    page_html(
        p,
        "</table></div>\n<p class=\"note\">\xce\xb5 is at least: lower bound on \xce\xb5 from the "
        "success of the attack: Clopper-Pearson on both rates, at one threshold chosen on the "
        "calibration half, and where asked for the bounds from guesses in one run and from the odds ratio. "
        "They share the error, and the name beside the number says which is the largest. Each bound is tried "
        "in both directions, which share its error too: high scores are taken for members, then for "
        "non-members. The bound treats "
        "the records of one trained model as independent "
        "trials. It is a measurement and never proves privacy.</p>\n");
    for (size_t i = 0; i < r->row_count; i++)
        p_values(p, &r->rows[i]);
    section_most_vulnerable(p, r);
    page_html(p, "</section>\n");
}
