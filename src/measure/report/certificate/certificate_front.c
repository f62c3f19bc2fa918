/* The first sheet of a certificate's page, for the person who may sign it. It says in words what a release is worth; the annex has the
 * rows. */
#include "dp/certificate/condition_words.h"
#include "io/text/number.h"
#include "report/certificate/budget_bar.h"
#include "report/certificate/certificate_facts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *tone_of(const struct sotto_verification *v)
{
    return is_meaningless(v) ? "none" : v->guarantee == SOTTO_GUARANTEE_PROVED ? "" : "doubt";
}

/* ---- what, of whom, for whom, by whom ---- */

static void put_origin(struct page *p, const struct facts *f)
{
    const struct json *l = f->ledger;
    const char *curator = officer_said(l, "curator"), *contact = officer_said(l, "contact");
    page_html(p, "<p class=\"of\">Made from ");
    if (f->v.records)
        page_format(p, "%zu ", f->v.records);
    page_html(p, "records");
    page_pair(p, " of the data set \xe2\x80\x9c", text_of(l, "dataset_id"), "\xe2\x80\x9d");
    page_html(p, f->v.records ? "" : ", of which the number is not stated");
    page_pair(p, "; unit of privacy: ", f->v.unit, "");
    page_pair(p, ". Purpose: ", text_of(f->certificate, "purpose"), "");
    page_pair(p, ". The records are used for: ", officer_said(l, "use"), "");
    page_pair(p, ". Released by ", curator, "");
    page_pair(p, curator[0] ? ", " : ". Who answers for it: ", contact, "");
    page_html(p, !l ? ". Who answers for it is not known here, as no ledger was given.</p>\n"
                 : curator[0] || contact[0] ? ".</p>\n"
                                            : ". The ledger does not name who answers for it.</p>\n");
}

static void put_title(struct page *p, const struct facts *f)
{
    char what[128], day[11] = "";
    snprintf(day, sizeof day, "%s", text_of(f->certificate, "time"));
    page_html(p, "<p class=\"kind\"><span>Privacy certificate</span><span>");
    page_name(p, day);
    page_format(p, ", entry %.0f of the ledger</span></p>\n<p class=\"what\">",
                number_of(f->certificate,
                          json_find(f->certificate, "ledger.charge") ? "ledger.charge" : "ledger.index"));
    page_name(p, release_words(what, f));
    page_html(p, "</p>\n");
    put_origin(p, f);
}

/* ---- how strong ---- */

static void put_verdict(struct page *p, const struct facts *f)
{
    char words[VERDICT_TEXT];
    page_format(p, "<div class=\"verdict %s\"><h1 data-verdict>", tone_of(&f->v));
    page_name(p, verdict_of(words, &f->v));
    page_html(p, "</h1>\n<p>");
    page_text(p, meaning_for_people(words, f));
    page_pair(p, " That counts this training alone. The encoder is ", certified_encoder(f), ".");
    page_html(p, "</p></div>\n");
}

/* The steps of a scale without end; the last one is reached by what guarantees nothing. */
static void put_steps(struct page *p, const struct sotto_verification *v)
{
    static const struct {
        double most;
        const char *words;
    } steps[] = {{1, "very strong"}, {3, "strong"}, {8, "moderate"}, {MEANINGLESS_EPSILON, "weak"}};
    const size_t last = sizeof steps / sizeof *steps;
    size_t here = 0;
    while (here < last && (is_meaningless(v) || v->epsilon.upper > steps[here].most))
        here++;
    page_format(p, "<ol class=\"steps %s\" aria-label=\"Strength, in five steps\">\n", tone_of(v));
    for (size_t i = 0; i <= last; i++) {
        page_html(p, i == here ? "<li class=\"here\">" : "<li>");
        if (i < last)
            page_format(p, "\xce\xb5 \xe2\x89\xa4 %g %s", steps[i].most, steps[i].words);
        else
            page_html(p, "more: none to speak of");
        page_html(p, i == here ? ": this release</li>\n" : "</li>\n");
    }
    page_html(p, "</ol>\n");
}

enum { LEFT = 30, TOP = 10, WIDE = 260, HIGH = 120 };

/* At a share of false alarms, the largest share that is found: 24 points, and straight lines between them. */
static void put_curve(struct page *p, const struct facts *f)
{
    const char *whom = is_of_persons(f) ? "participants" : "records";
    page_format(
        p,
        "<figure><svg viewBox=\"0 0 300 152\" role=\"img\" aria-label=\"Largest share of %s that can be "
        "found, against false alarms\"><path class=\"axis\" d=\"M%d %dV%dH%d\"/><path class=\"guess\" "
        "d=\"M%d %dL%d %d\"/>",
        whom, LEFT, TOP, TOP + HIGH, LEFT + WIDE, LEFT, TOP + HIGH, LEFT + WIDE, TOP);
    if (isfinite(f->strength.found[1])) {
        page_format(p, "<path class=\"curve\" d=\"M%d %d", LEFT, TOP + HIGH);
        for (int i = 0; i < CURVE_POINTS; i++) {
            const double rate = (i + 1.) / CURVE_POINTS;
            page_format(p, "L%.1f %.1f", LEFT + WIDE * rate * rate, TOP + HIGH * (1 - f->strength.curve[i]));
        }
        page_html(p, "\"/>");
    }
    page_format(p,
                "<text x=\"185\" y=\"118\">dashed: guessing</text><text x=\"160\" y=\"145\" "
                "text-anchor=\"middle\">false alarms, from 0 to 100 %%</text><text x=\"20\" y=\"70\" "
                "text-anchor=\"middle\" transform=\"rotate(-90 20 70)\">%s found</text></svg>\n<figcaption>",
                whom);
    page_plot(p);
    page_html(
        p,
        isfinite(f->strength.found[1])
            ? "What any attack can find, at most. No attack reaches above the line.</figcaption></figure>\n"
            : "Nothing bounds what an attack can find.</figcaption></figure>\n");
}

/* ---- the budget ---- */

static void put_budget(struct page *p, const struct facts *f)
{
    page_html(p, "<div><h2>Privacy budget of these records</h2>\n");
    if (f->ledger)
        budget_bar_put(p, f->ledger, "all releases of the ledger, this one included",
                       "the annex says what holds for any order of choices");
    else
        page_html(p, "<p class=\"note\">Not known: no ledger was given, so other releases from the same "
                     "records are not "
                     "counted.</p>\n");
    page_html(
        p, "<p>Covered: what was released, and everything that is computed from it. Not covered: the records "
           "themselves, unprotected copies, and what any correct statistic says about everyone, such as "
           "\xe2\x80\x9csmoking shortens life\xe2\x80\x9d.</p></div>\n");
}

/* ---- what was checked, and what is signed ---- */

/* What verification says begins in the middle of a sentence. */
static void put_item(struct page *p, const char *text)
{
    char first[2] = {(char)toupper((unsigned char)text[0]), '\0'};
    page_html(p, "<li>");
    page_text(p, first);
    page_name(p, text[0] ? text + 1 : text);
    page_html(p, "</li>\n");
}

static void put_checks(struct page *p, const struct sotto_verification *v)
{
    page_html(p, "<section><h2>Checked when this page was made</h2><ul>\n");
    for (size_t i = 0; i < v->checked_count; i++)
        put_item(p, v->checked[i]);
    page_html(p, "</ul></section>\n<section><h2>Not checked</h2><ul>\n");
    for (size_t i = 0; i < v->check_count; i++)
        if (v->checks[i].outcome == SOTTO_VERIFY_NOT_MADE)
            put_item(p, v->checks[i].text);
    page_html(
        p, "<li>The running time of the training, which may depend on the records</li>\n</ul></section>\n");
}

/* Epsilon of a person's records adds up. */
static void put_more_records(struct page *p, const struct sotto_verification *v)
{
    page_html(p,
              "<li>No person has more than one of these records, or weaker protection of those is accepted");
    if (isfinite(v->epsilon.upper))
        page_format(p, ": two records have about epsilon %.3g, five %.3g", 2 * v->epsilon.upper,
                    5 * v->epsilon.upper);
    page_html(p, ".</li>\n");
}

static void put_duties(struct page *p, const struct facts *f)
{
    char sentence[CONDITION_SENTENCE];
    const char *conditions = f->v.guarantee == SOTTO_GUARANTEE_CONDITIONAL ? f->v.condition : NULL;
    page_html(p, "<section><h2>You confirm by signing</h2><ul>\n");
    while (condition_next(sentence, &conditions))
        put_item(p, sentence);
    if (!is_of_persons(f))
        put_more_records(p, &f->v);
    page_html(p, "<li>Settings were not chosen by looking at these records.</li>\n"
                 "<li>The ledger is kept, and every release from these records is charged to "
                 "it.</li>\n</ul>\n<p class=\"note\">If you do not know one of these, do not sign: ask who "
                 "answers for the records.</p></section>\n");
}

static void put_signature(struct page *p, const struct facts *f)
{
    page_html(p, "<div class=\"sign\"><div>Name, role</div><div>Date</div><div>Signature</div></div>\n"
                 "<p class=\"hash\">File: SHA-256 <code>");
    page_name(p, text_of(f->certificate, "output_sha256"));
    page_html(p, "</code><br>\n");
    page_pair(p, "Digital signature: valid when this page was made, by key <code>",
              f->v.signed_by ? f->v.signed_by : "",
              "</code> (Ed25519); it is worth as much as you know of that key.");
    if (!f->v.signed_by)
        page_html(
            p, "Digital signature: none, so file, certificate and ledger could have been changed together.");
    page_html(
        p,
        "<br>\nPaper proves none of this. Check file and certificate in your browser with a <a "
        "href=\"verify.html\">verify.html</a> that you put here yourself, never one that came with them; it "
        "sends nothing to anybody.</p>\n");
}

void front_put(struct page *p, const struct facts *f)
{
    page_html(p, "<section class=\"sheet\">\n");
    put_title(p, f);
    put_verdict(p, f);
    put_steps(p, &f->v);
    page_html(p, "<div class=\"two\">\n");
    put_curve(p, f);
    put_budget(p, f);
    page_html(p, "</div>\n<div class=\"three\">\n");
    put_checks(p, &f->v);
    put_duties(p, f);
    page_html(p, "</div>\n");
    put_signature(p, f);
    page_html(p, "</section>\n");
}
