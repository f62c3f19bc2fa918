/* Title, run facts, the verdict with the table that tells the whole story at a glance, and the plain words.
 */
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void section_title(struct page *p, const struct report *r)
{
    page_text(p, r->title);
    page_html(p, " - sotto privacy report");
}

static void fact(struct page *p, const char *label, const char *text)
{
    if (!text || !text[0])
        return;
    page_format(p, "<span>%s ", label);
    page_name(p, text);
    page_html(p, "</span>");
}

void section_facts(struct page *p, const struct report *r)
{
    page_html(p, "<p class=\"kind\">sotto privacy report</p>\n<h1>");
    page_name(p, r->title);
    page_html(p, "</h1>\n<p class=\"facts\">");
    fact(p, "run", part_text(r->doc, "run.name"));
    fact(p, "data",
         part_text(r->doc, "data.title") ? part_text(r->doc, "data.title") : part_text(r->doc, "data.name"));
    fact(p, "made", part_text(r->doc, "run.created"));
    fact(p, "sotto", part_text(r->doc, "run.version"));
    page_html(p, "</p>\n<p class=\"tools\" hidden><button type=\"button\" id=\"print\">Print</button></p>\n");
    if (r->synthetic)
        page_html(p, "<p class=\"banner warn\" role=\"note\"><strong>Synthetic data.</strong> The records "
                     "were made up by a program. "
                     "Nothing here says how a model of real data would behave.</p>\n");
    if (r->insecure_noise)
        page_html(p, "<p class=\"banner bad\" role=\"note\"><strong>Noise was seeded: no privacy "
                     "guarantee.</strong> The noise can be "
                     "removed with the seed. For tests and papers only.</p>\n");
}

/* --- verdict --- */

static const char *verdict_label(enum verdict v)
{
    static const char *const labels[] = {"claim contradicted", "destroyed",     "leaks",
                                         "leaks a little",     "badly damaged", "no leak found",
                                         "not attacked"};
    return labels[v];
}

static void badge(struct page *p, enum verdict v)
{
    page_format(p, "<span class=\"badge %s\">%s</span>", verdict_name(v), verdict_label(v));
}

/* "epsilon <= 1 at delta = 10^-5" */
static void epsilon_delta(struct page *p, const struct row *r)
{
    page_html(p, "\xce\xb5\xc2\xa0\xe2\x89\xa4\xc2\xa0");
    page_rounded_up(p, r->proved.upper);
    if (r->proved.delta > 0) {
        page_html(p, " <span class=\"ci\">at \xce\xb4\xc2\xa0=\xc2\xa0");
        page_small(p, r->proved.delta);
        page_html(p, "</span>");
    }
}

static const char *row_word(const struct row *r)
{
    return r->no_statement ? "<span class=\"none\">no statement</span>" : "<span class=\"none\">none</span>";
}

static void proved_cell(struct page *p, const struct row *r)
{
    if (r->proof_counts) {
        page_html(p, r->proof_means ? "<strong>" : "<span>");
        epsilon_delta(p, r);
        page_html(p, r->proof_means ? "</strong>"
                                    : "</span> <span class=\"ci\">too large to mean anything</span>");
    } else {
        page_html(p, row_word(r));
    }
}

static void auc_cell(struct page *p, const struct row *r)
{
    if (!r->attack_count) {
        page_html(p, "<span class=\"none\">not measured</span>");
        return;
    }
    page_estimate(p, &r->attacks[r->headline].auc);
    if (r->strongest != r->headline) {
        page_html(p, " <span class=\"ci\">strongest ");
        page_fraction(p, r->attacks[r->strongest].auc.value);
        page_html(p, "</span>");
    }
}

/* Only if a sampled or given sensitivity were the true one: never in the column of proofs. */
static void conditional_cell(struct page *p, const struct row *r)
{
    page_html(p, "<td class=\"conditional\" data-label=\"Conditional\">");
    if (r->conditional.given) {
        page_html(p, "\xce\xb5\xc2\xa0\xe2\x89\xa4\xc2\xa0");
        page_rounded_up(p, r->conditional.upper);
        page_html(p, " <span class=\"ci\">not proved</span>");
    } else {
        page_html(p, "\xe2\x80\x93");
    }
    page_html(p, "</td>");
}

static void glance_row(struct page *p, const struct row *row, bool conditional)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, row->title);
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
    badge(p, row->verdict);
    page_html(p, "<span class=\"why\">");
    page_text(p, row->verdict_text);
    page_html(p, "</span></td></tr>\n");
}

static void glance(struct page *p, const struct report *r)
{
    bool conditional = false;
    for (size_t i = 0; i < r->row_count; i++)
        conditional |= r->rows[i].conditional.given;
    page_html(
        p,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All settings at a glance\"><table "
        "class=\"glance\">\n<caption>Every setting at a glance. AUC: how well the attack chosen beforehand "
        "tells members "
        "from others (0.5 = guessing, 1 = always right), and the strongest of all.");
    if (conditional)
        page_html(p, " Conditional: the \xce\xb5 that would hold if the sensitivity seen in a sample were "
                     "the true one; not a "
                     "guarantee.");
    page_html(p, "</caption>\n<thead><tr><th scope=\"col\">Setting</th><th scope=\"col\" "
                 "class=\"proved\">Proved</th>");
    if (conditional)
        page_html(p, "<th scope=\"col\" class=\"conditional\">Conditional</th>");
    page_html(p, "<th scope=\"col\" class=\"measured\">Attack AUC</th><th scope=\"col\" "
                 "class=\"measured\">Accuracy</th><th "
                 "scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->row_count; i++)
        glance_row(p, &r->rows[i], conditional);
    page_table_end(p);
}

/* Three sentences: what leaks without noise, what is proved and at what price, what is only measured. */
static void proven_line(struct page *p, const struct report *r)
{
    const struct row *best = NULL;
    size_t count = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct row *row = &r->rows[i];
        if (!row->proof_means)
            continue;
        count++;
        if (!best || row->proved.upper < best->proved.upper)
            best = row;
    }
    page_html(p, "<div class=\"card proved\"><h3>Proved</h3>");
    if (!best) {
        page_html(
            p,
            "<p><strong>No meaningful proved guarantee</strong> for any setting on this page.</p></div>\n");
        return;
    }
    page_format(p, "<p><strong>%zu of %zu settings</strong> carry a proof. Strongest: ", count, r->row_count);
    page_name(p, best->title);
    page_html(p, ", ");
    epsilon_delta(p, best);
    page_html(p, ".</p></div>\n");
}

/* The row's strongest attack: its area, and what it finds at the lowest rate of false alarms that was
 * measured. */
static void strongest_attack(struct page *p, const struct row *row)
{
    const struct attack_result *a = &row->attacks[row->strongest];
    const struct json *rate = NULL;
    double lowest = 1;
    for (const char *key = json_first_key(a->rates); key; key = json_next_key(a->rates, key))
        if (json_kind(json_member(a->rates, key)) == JSON_KIND_OBJECT && strtod(key, NULL) < lowest)
            lowest = strtod(key, NULL), rate = json_member(a->rates, key);
    if (row->attack_count > 1)
        page_format(p, ", strongest of %zu attacks '", row->attack_count);
    else
        page_html(p, ", attack '");
    page_name(p, a->name);
    page_html(p, "', AUC ");
    page_estimate(p, &a->auc);
    if (!rate)
        return;
    struct estimate e = {true, part_number(rate, "estimate"), part_number(rate, "lower"),
                         part_number(rate, "upper"), 0};
    page_html(p, "; at ");
    page_percent_plain(p, lowest);
    page_html(p, " false alarms it finds ");
    page_percent_estimate(p, &e);
    page_html(p, " of the members");
}

static void measured_line(struct page *p, const struct report *r)
{
    const struct row *worst = NULL;
    size_t leaking = 0, attacked = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct row *row = &r->rows[i];
        if (!row->attack_count)
            continue;
        attacked++;
        leaking += row->verdict == VERDICT_LEAKS || row->verdict == VERDICT_LEAKS_LITTLE ||
                   row->verdict == VERDICT_CONTRADICTED;
        if (!worst || row->attacks[row->strongest].auc.value > worst->attacks[worst->strongest].auc.value)
            worst = row;
    }
    page_html(p, "<div class=\"card measured\"><h3>Measured</h3>");
    if (!worst) {
        page_html(p, "<p>Nothing was attacked.</p></div>\n");
        return;
    }
    page_format(p, "<p><strong>%zu of %zu settings</strong> reveal membership in the training data. Worst: ",
                leaking, attacked);
    page_name(p, worst->title);
    strongest_attack(p, worst);
    page_html(p, ".</p></div>\n");
}

static void cost_line(struct page *p, const struct report *r)
{
    size_t destroyed = 0;
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct row *row = &r->rows[i];
        if (!row->is_protected || !row->accuracy.given || !row->unprotected.given)
            continue;
        double loss = row->unprotected.value - row->accuracy.value;
        destroyed += row->verdict == VERDICT_DESTROYED;
        loss = round(1000 * loss) / 1000 + 0.0; /* as printed; the sum turns -0 into 0 */
        least = fmin(least, loss);
        most = fmax(most, loss);
    }
    page_html(p, "<div class=\"card cost\"><h3>Cost</h3>");
    if (least > most)
        page_html(p, "<p>No protected setting with measured accuracy.</p>");
    else if (destroyed > 0)
        page_format(p,
                    "<p>Noise costs <strong>%.1f to %.1f points</strong> of accuracy; <strong>%zu %s "
                    "destroyed</strong> by it and "
                    "must not be taken for protected.</p>",
                    100 * least, 100 * most, destroyed, destroyed == 1 ? "setting is" : "settings are");
    else
        page_format(p, "<p>Noise costs <strong>%.1f to %.1f points</strong> of accuracy.</p>", 100 * least,
                    100 * most);
    page_html(p, "</div>\n");
}

void section_verdict(struct page *p, const struct report *r)
{
    page_html(p, "<section id=\"verdict\" aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">Verdict</h2>\n");
    page_html(p, "<div class=\"cards\">\n");
    proven_line(p, r);
    measured_line(p, r);
    cost_line(p, r);
    page_html(p, "</div>\n");
    glance(p, r);
    page_html(
        p, "<nav aria-label=\"Sections\"><a href=\"#words\">In plain words</a> <a href=\"#claim\">Claim</a> "
           "<a href=\"#attacks\">Attacks</a> <a href=\"#utility\">Utility and cost</a> <a "
           "href=\"#training\">Training</a> "
           "<a href=\"#method\">Method and data</a> <a href=\"#reproduce\">Reproduce</a> <a "
           "href=\"#card\">Model card</a></nav>\n</section>\n");
}

void section_words(struct page *p, const struct report *r)
{
    size_t records = 0;
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].records > records)
            records = r->rows[i].records;
    page_html(p, "<section id=\"words\" aria-labelledby=\"h-words\"><h2 id=\"h-words\">1 In plain "
                 "words</h2>\n<p>The question: can "
                 "a user who may query a model find out <strong>whether one particular record was among "
                 "those that trained "
                 "it</strong> (up to ");
    page_count(p, (double)records);
    page_html(p,
              " private records here)? For medical or financial records that alone can reveal a secret.</p>\n"
              "<p><strong class=\"measured\">Measured.</strong> Attacks guess which records are members, on "
              "records "
              "where the answer is known, "
              "and we count how often they are right. An AUC of 0.5 is a coin toss, 1 is certainty.</p>\n"
              "<p><strong class=\"proved\">Proved.</strong> A proof, where there is one, bounds every "
              "attack, also those not yet "
              "invented. \xce\xb5 (epsilon) near 0 means that one record hardly changes anything an attacker "
              "can see; above about 20 it "
              "means nothing any more.</p>\n"
              "<p><strong class=\"cost\">Cost.</strong> Noise that protects also makes the model less "
              "accurate, so that cost stands "
              "beside every setting. A model that no longer works is not a protected model.</p>\n"
              "<details open><summary>What this report does not show</summary><ul>"
              "<li>That no attack exists. Attacks that found nothing are evidence, never a proof.</li>"
              "<li>Protection of groups or of persons with several records: one record is the unit.</li>"
              "<li>Other risks: leaks through the training of the encoder on its own (public) data, "
              "inference of attributes that were not tried, "
              "side channels such as timing, and access to the unprotected files.</li>"
              "<li>Behaviour on other data, models or seeds: the intervals cover the choice of records "
              "for one trained model."
              "</li></ul></details></section>\n");
}
