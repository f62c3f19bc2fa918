/* Beyond averages: what a flag means, which records are most vulnerable, how much trainings differ. One audit
 * at a time: a page of many settings shows them for its first. */
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct estimate estimate_of(const struct json *j)
{
    struct estimate e = {j && json_kind(j) == JSON_KIND_OBJECT, part_number(j, "estimate"),
                         part_number(j, "lower"), part_number(j, "upper"), 0};
    return e;
}

static void percent_cell(struct page *p, const struct json *j)
{
    struct estimate e = estimate_of(j);
    page_html(p, "<td class=\"number\">");
    if (e.given)
        page_percent_estimate(p, &e);
    else
        page_html(p, "<span class=\"none\">not measurable</span>");
    page_html(p, "</td>");
}

static void fraction_cell(struct page *p, const struct json *j)
{
    struct estimate e = estimate_of(j);
    page_html(p, "<td class=\"number\">");
    if (e.given)
        page_estimate(p, &e);
    else
        page_html(p, "<span class=\"none\">not measurable</span>");
    page_html(p, "</td>");
}

static void count_cell(struct page *p, const struct json *j, const char *member)
{
    page_html(p, "<td class=\"number\">");
    page_count(p, part_number(j, member));
    page_html(p, "</td>");
}

static const struct json *find_attack(const struct json *audit, const char *name)
{
    const struct json *list = part(audit, "attacks");
    for (size_t i = 0; name && i < json_count(list); i++) {
        const char *found = part_text(json_at(list, i), "name");
        if (found && strcmp(found, name) == 0)
            return json_at(list, i);
    }
    return NULL;
}

/* For one attack chosen beforehand: at each threshold, how often a flag is right, and what could have been
 * seen at all. */
static void section_most_vulnerable_flags(struct page *p, const struct json *audit, const char *name)
{
    static const char *const priors[] = {"0.5", "0.1", "0.01"};
    const struct json *attack = find_attack(audit, name), *rates = part(attack, "tpr_at_threshold");
    if (!rates)
        return;
    page_table(p, "Meaning of a flag", "Meaning of a flag by the attack '", NULL);
    page_name(p, name);
    page_html(
        p,
        "' at thresholds fixed beforehand: each was chosen on the calibration half of the records for the "
        "false-positive rate in the first column, and both rates were measured on the other half. Precision: "
        "the share of members among the flagged records, if 1/2, 1/10 or 1/100 of all records are members. "
        "Detectable: smallest true-positive rate that such a threshold distinguishes from guessing with "
        "probability 0.8.");
    page_columns(p,
                 "Threshold chosen for|^Realised FPR|^TPR|^Detectable|^Precision at 1/2|^at 1/10|^at 1/100");
    for (const char *key = json_first_key(rates); key; key = json_next_key(rates, key)) {
        const struct json *rate = json_member(rates, key), *ppv = part(rate, "ppv");
        page_html(p, "<tr><th scope=\"row\">");
        page_percent_plain(p, strtod(key, NULL));
        page_html(p, "</th>");
        percent_cell(p, part(rate, "realised_fpr"));
        percent_cell(p, rate);
        page_html(p, "<td class=\"number\">");
        page_percent(p, part_number(rate, "least_detectable"));
        page_html(p, "</td>");
        for (size_t i = 0; i < 3; i++)
            percent_cell(p, json_member(ppv, priors[i]));
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

static void section_most_vulnerable_slices(struct page *p, const struct json *s)
{
    const struct json *list = part(s, "rows");
    if (!json_count(list))
        return;
    page_table(p, "Slices",
               "Subsets of the records, with the same attack and threshold. The intervals hold for all "
               "subsets at once. Subsets with fewer than 30 members or 30 non-members are left out.",
               "Subset|^Members|^Non-members|^AUC|^Members flagged|^Non-members flagged");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i);
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(one, "name"));
        page_html(p, "</th>");
        count_cell(p, one, "n_member");
        count_cell(p, one, "n_nonmember");
        fraction_cell(p, part(one, "auc"));
        percent_cell(p, part(one, "tpr"));
        percent_cell(p, part(one, "fpr"));
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

static void found_again(struct page *p, const struct json *r)
{
    if (!r) {
        page_html(p, "\xe2\x80\x93");
        return;
    }
    page_count(p, part_number(r, "flagged"));
    page_html(p, " of ");
    page_count(p, part_number(r, "runs"));
    page_html(p, " <span class=\"ci\">false ");
    page_count(p, part_number(r, "mistaken"));
    page_html(p, " of ");
    page_count(p, part_number(r, "others"));
    page_html(p, "</span>");
}

static void section_most_vulnerable_members(struct page *p, const struct json *e)
{
    const struct json *list = part(e, "members");
    if (!json_count(list))
        return;
    page_table(p, "Most vulnerable members",
               "Members with the highest scores of this attack. As high: number of non-members with at least "
               "this score, of ",
               NULL);
    page_count(p, part_number(e, "n_nonmember"));
    page_html(p, part(json_at(list, 0), "row") ? "" : " (rows are withheld; --include-indices shows them)");
    page_html(
        p, ". Separation: distance between the means of the reference models' signals with and without the "
           "record, divided by the sum of their standard deviations. Statistics: of the record itself or, "
           "with too few models, of its class or of all records. Found again: share of the reference models "
           "trained on the record that flag it; false: share of the other reference models that flag it.");
    page_columns(p, "Row|^Score|^As high|^Separation|Statistics|Found again");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i);
        page_html(p, "<tr><th scope=\"row\">");
        if (part(one, "row"))
            page_count(p, part_number(one, "row"));
        else
            page_html(p, "withheld");
        page_html(p, "</th><td class=\"number\">");
        page_significant(p, part_number(one, "score"), 4);
        page_html(p, "</td>");
        count_cell(p, one, "nonmembers_as_high");
        page_html(p, "<td class=\"number\">");
        page_significant(p, part_number(one, "separation"), 3);
        page_html(p, part_flag(one, "fallback") ? "</td><td>others'</td><td>" : "</td><td>own</td><td>");
        found_again(p, part(one, "repeats"));
        page_html(p, "</td></tr>\n");
    }
    page_table_end(p);
}

/* What models of this recipe remember, whether or not they are the target. */
static void section_most_vulnerable_memorisation(struct page *p, const struct json *m)
{
    const struct json *list = part(m, "highest");
    if (!json_count(list))
        return;
    page_table(p, "Most memorised records",
               "Memorisation: share of the reference models trained on a record that are right about it, "
               "less that share among "
               "the other models; interval for each record alone, and of many records the highest are high "
               "by chance too. Right: ",
               NULL);
    page_text(p, part_text(m, "right"));
    page_html(p, ". Of ");
    page_count(p, part_number(m, "judged"));
    page_html(p, " records with enough models on both sides, ");
    page_percent(p, part_number(m, "above_half"));
    page_html(p, " have more than .5.");
    page_columns(p, "Row|Side|^Memorisation|^By probability|^Models with it|^Models without it");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i);
        page_html(p, "<tr><th scope=\"row\">");
        if (part(one, "row"))
            page_count(p, part_number(one, "row"));
        else
            page_html(p, "withheld");
        page_html(p, part_flag(one, "member") ? "</th><td>member</td>" : "</th><td>non-member</td>");
        fraction_cell(p, part(one, "value"));
        page_html(p, "<td class=\"number\">");
        page_significant(p, part_number(one, "probability"), 3);
        page_html(p, "</td>");
        count_cell(p, one, "in");
        count_cell(p, one, "out");
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

static void section_most_vulnerable_spread(struct page *p, const struct json *list)
{
    if (!json_count(list))
        return;
    page_table(p, "Variation between models",
               "Leave-one-model-out: each reference model was the target once. The intervals above are for "
               "this one model; this table shows how the numbers vary between trainings.",
               "Attack|^Targets|^AUC, mean|^Standard deviation|^Lowest|^Highest");
    for (size_t i = 0; i < json_count(list); i++) {
        static const char *const members_of[] = {"auc.mean", "auc.deviation", "auc.lowest", "auc.highest"};
        const struct json *one = json_at(list, i);
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(one, "name"));
        page_html(p, "</th>");
        count_cell(p, one, "targets");
        for (size_t k = 0; k < 4; k++) {
            page_html(p, "<td class=\"number\">");
            page_fraction(p, part_number(one, members_of[k]));
            page_html(p, "</td>");
        }
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

/* Whether an attack flags the same people when the model is trained again. */
static void section_most_vulnerable_stability(struct page *p, const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i), *s = part(one, "stability");
        if (!s)
            continue;
        page_html(p, "<p>Does '");
        page_name(p, part_text(one, "name"));
        page_html(p, "' flag the same records if the model is trained again? At a false-positive rate of ");
        page_percent_plain(p, part_number(s, "fpr"));
        page_html(p, ", two trainings share ");
        page_percent(p, part_number(s, "jaccard"));
        page_html(p,
                  " of the records flagged by either of them, among the records that trained both (mean of ");
        page_count(p, part_number(s, "pairs"));
        page_html(p, " pairs); ");
        page_count(p, part_number(s, "steady"));
        page_html(p, " of ");
        page_count(p, part_number(s, "judged"));
        page_html(p, " records are flagged by at least 80 % of the models trained on them and by none of the "
                     "others.</p>\n");
    }
}

/* Thresholds that the reference models agreed on, tried on the real target. */
static void section_most_vulnerable_transferred(struct page *p, const struct json *list)
{
    bool any = false;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *rates = part(json_at(list, i), "transferred");
        for (const char *key = json_first_key(rates); key; key = json_next_key(rates, key)) {
            if (!any)
                page_table(p, "Transferred thresholds",
                           "Thresholds from the reference models alone (median over the models), applied to "
                           "all records of the audited model: an attack that needs no members of the audited "
                           "model to choose its threshold.",
                           "Attack|^Target FPR|^Members flagged|^Non-members flagged");
            any = true;
            page_html(p, "<tr><th scope=\"row\">");
            page_name(p, part_text(json_at(list, i), "name"));
            page_html(p, "</th><td class=\"number\">");
            page_percent_plain(p, strtod(key, NULL));
            page_html(p, "</td>");
            percent_cell(p, part(json_member(rates, key), "tpr"));
            percent_cell(p, part(json_member(rates, key), "fpr"));
            page_html(p, "</tr>\n");
        }
    }
    if (any)
        page_table_end(p);
}

/* Decisions that the attacker reached without the target's members: no half of the records was needed to
 * choose. */
static void section_most_vulnerable_decisions(struct page *p, const struct json *audit)
{
    const struct json *list = part(audit, "attacks");
    bool any = false;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *own = part(json_at(list, i), "own_decision");
        if (!own)
            continue;
        if (!any)
            page_table(
                p, "Decisions at the attack's own threshold",
                "Decisions at a threshold from a shadow model or set by the attack itself, on all records.",
                "Attack|^Balanced accuracy|^Members flagged|^Non-members flagged");
        any = true;
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(json_at(list, i), "title"));
        page_html(p, "</th>");
        fraction_cell(p, own);
        percent_cell(p, part(own, "tpr"));
        percent_cell(p, part(own, "fpr"));
        page_html(p, "</tr>\n");
    }
    if (any)
        page_table_end(p);
}

/* Attacks for which some records had no statistics of their own. */
static void stand_ins(struct page *p, const struct json *audit)
{
    const struct json *list = part(audit, "attacks");
    bool any = false;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i), *f = part(one, "fallback");
        if (!(part_number(f, "member") + part_number(f, "nonmember") > 0))
            continue;
        if (!any)
            page_table(p, "Records without statistics of their own",
                       "Records with too few reference models for statistics of their own; the statistics of "
                       "their class or, for rare classes, of all records were used instead.",
                       "Attack|^Members|^Non-members");
        any = true;
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, part_text(one, "name"));
        page_html(p, "</th>");
        count_cell(p, f, "member");
        count_cell(p, f, "nonmember");
        page_html(p, "</tr>\n");
    }
    if (any)
        page_table_end(p);
}

void section_most_vulnerable(struct page *p, const struct report *r)
{
    const struct report_row *row = NULL;
    for (size_t i = 0; i < r->row_count && !row; i++)
        if (part(r->rows[i].audit, "slices") || part(r->rows[i].audit, "exposed"))
            row = &r->rows[i];
    if (!row)
        return;
    const char *name = part_text(row->audit, "slices.attack");
    name = name ? name : part_text(row->audit, "exposed.attack");
    page_html(p, "<h3 id=\"exposed\">Most vulnerable records</h3>\n");
    if (r->row_count > 1) {
        page_html(p, "<p class=\"note\">Shown for ");
        page_name(p, row->title);
        page_html(p, ".</p>\n");
    }
    section_most_vulnerable_flags(p, row->audit, name);
    section_most_vulnerable_decisions(p, row->audit);
    section_most_vulnerable_slices(p, part(row->audit, "slices"));
    section_most_vulnerable_members(p, part(row->audit, "exposed"));
    section_most_vulnerable_memorisation(p, part(row->audit, "memorisation"));
    stand_ins(p, row->audit);
    section_most_vulnerable_spread(p, part(row->audit, "between_models"));
    section_most_vulnerable_stability(p, part(row->audit, "between_models"));
    section_most_vulnerable_transferred(p, part(row->audit, "between_models"));
}
