/* The verdict: two sentences that head the page, cards, a picture, plain words, and what to do next. */
#include "report/page/page.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what the rows come to --- */

struct findings {
    size_t proved, attacked, leaking, swapped, destroyed, attacks;
    const struct report_row *best;         /* smallest proved epsilon; NULL: none that means something */
    const struct report_row *most;         /* the worst leak, else the largest AUC; NULL: no attack was run */
    const struct report_row *contradicted; /* NULL: none */
};

static bool section_verdict_leaks(const struct report_row *row)
{
    return row->verdict == SOTTO_VERDICT_LEAKS || row->verdict == SOTTO_VERDICT_LEAKS_LITTLE ||
           row->verdict == SOTTO_VERDICT_CONTRADICTED;
}

static const struct attack_result *section_verdict_largest(const struct report_row *row)
{
    return &row->attacks[row->strongest];
}

/* The AUC says so, and the attack's own guess: a number that readers know. */
static bool leaks_by_area(const struct report_row *row)
{
    return row->leak.by == SOTTO_FINDING_AUC && !row->leak.opposite;
}

/* Of the better guess. */
static double better_area(const struct report_row *row)
{
    return row->leak.opposite ? 1 - section_verdict_largest(row)->auc.value
                              : section_verdict_largest(row)->auc.value;
}

/* Attacks on a destroyed model mean nothing, so it tells most only where there is no other. A leak tells more than none. */
static bool tells_more(const struct report_row *row, const struct report_row *than)
{
    const bool ruin = row->verdict == SOTTO_VERDICT_DESTROYED;
    if (!than || ruin != (than->verdict == SOTTO_VERDICT_DESTROYED))
        return !than || !ruin;
    if (row->leak.kind != than->leak.kind)
        return row->leak.kind < than->leak.kind;
    return better_area(row) > better_area(than);
}

static struct findings section_verdict_find(const struct report *r)
{
    struct findings f = {0};
    for (size_t i = 0; i < r->row_count; i++) {
        const struct report_row *row = &r->rows[i];
        f.proved += row->proof_means;
        f.destroyed += row->verdict == SOTTO_VERDICT_DESTROYED;
        f.leaking += row->attack_count && section_verdict_leaks(row);
        f.swapped += row->leak.swapped != 0;
        f.attacked += row->attack_count > 0;
        f.attacks += row->attack_count;
        if (row->proof_means && (!f.best || row->proved.upper < f.best->proved.upper))
            f.best = row;
        if (row->attack_count && tells_more(row, f.most))
            f.most = row;
        if (row->verdict == SOTTO_VERDICT_CONTRADICTED && !f.contradicted)
            f.contradicted = row;
    }
    return f;
}

/* No AUC up to one half is the strongest of anything. */
static void largest_area(struct page *p, const struct report_row *row)
{
    const bool above = section_verdict_largest(row)->auc.value > 0.5;
    page_html(p, above ? "largest AUC " : "none above chance: largest AUC ");
    page_estimate(p, &section_verdict_largest(row)->auc);
}

/* --- the sentences --- */

static void proved_sentence(struct page *p, const struct report *r, const struct findings *f)
{
    if (!f->best) {
        page_html(p, "No meaningful guarantee is proved.");
        return;
    }
    page_html(p, "Proved");
    if (r->row_count > 1)
        page_format(p, " for %zu of %zu settings", f->proved, r->row_count);
    page_html(p, f->proved > 1 ? ", at best: " : ": ");
    row_epsilon(p, f->best);
    page_html(p, ".");
}

static void attribute_sentence(struct page *p, const struct report *r)
{
    const struct json *found = NULL;
    for (size_t i = 0; i < r->row_count && !found; i++)
        found = part(r->rows[i].audit, "attribute.attack.balanced_accuracy");
    page_html(p, found ? " No membership attack was run; the attribute was inferred with balanced accuracy "
                       : " No membership attack was run");
    if (found) {
        const struct estimate e = {true, part_number(found, "estimate"), part_number(found, "lower"),
                                   part_number(found, "upper"), 0};
        page_estimate(p, &e);
    }
    page_html(p, ".");
}

static void measured_sentence(struct page *p, const struct report *r, const struct findings *f)
{
    if (!f->most) {
        attribute_sentence(p, r);
        return;
    }
    if (!f->leaking) {
        page_html(p, f->attacks == 1 ? " The attack that was run did no better than guessing ("
                                     : " No attack did better than guessing (");
        largest_area(p, f->most);
        page_html(p, ").");
        return;
    }
    if (r->row_count > 1)
        page_format(p, " Attacks tell members from non-members in %zu of %zu settings", f->leaking,
                    f->attacked);
    else if (leaks_by_area(f->most))
        page_html(p, " An attack tells members from non-members");
    if (!leaks_by_area(f->most)) {
        page_html(p, r->row_count > 1 ? ". " : " ");
        page_text(p, f->most->verdict_text);
        return;
    }
    page_html(p, ", with AUC ");
    if (r->row_count > 1)
        page_html(p, "up to ");
    page_estimate(p, &section_verdict_largest(f->most)->auc);
    page_html(p, " (0.5 is guessing).");
}

void verdict_sentences(struct page *p, const struct report *r)
{
    const struct findings f = section_verdict_find(r);
    if (f.contradicted) {
        page_text(p, f.contradicted->verdict_text);
        return;
    }
    proved_sentence(p, r, &f);
    measured_sentence(p, r, &f);
}

/* --- the cards --- */

static void proved_card(struct page *p, const struct report *r, const struct findings *f)
{
    page_html(p, "<div class=\"card proved\"><h3>Proved</h3>");
    if (!f->best) {
        page_html(p, r->row_count > 1
                         ? "<p><strong>No meaningful proved guarantee</strong> for any setting on this "
                           "page.</p></div>\n"
                         : "<p><strong>No meaningful proved guarantee</strong> for this model.</p></div>\n");
        return;
    }
    if (r->row_count > 1) {
        page_format(p,
                    "<p><strong>%zu of %zu settings</strong> have a proved guarantee. Strongest: ", f->proved,
                    r->row_count);
        page_name(p, f->best->title);
        page_html(p, ", ");
    } else {
        page_html(p, "<p><strong>This model has a proved guarantee:</strong> ");
    }
    row_epsilon(p, f->best);
    page_html(p, ". Unit of privacy: ");
    page_text(p, f->best->proved.unit ? f->best->proved.unit : "one record");
    page_html(p, ".</p></div>\n");
}

/* The row's strongest attack: its area, and what it finds at the lowest rate of false alarms that was
 * measured. */
static void strongest_attack(struct page *p, const struct report_row *row)
{
    const struct attack_result *a = section_verdict_largest(row);
    const struct json *rate = NULL;
    double lowest = 1;
    for (const char *key = json_first_key(a->rates); key; key = json_next_key(a->rates, key))
        if (json_kind(json_member(a->rates, key)) == JSON_KIND_OBJECT && strtod(key, NULL) < lowest)
            lowest = strtod(key, NULL), rate = json_member(a->rates, key);
    if (row->attack_count > 1)
        page_format(p, "largest of %zu attacks: '", row->attack_count);
    else
        page_html(p, "attack '");
    page_name(p, a->name);
    page_html(p, "', AUC ");
    page_estimate(p, &a->auc);
    if (!rate)
        return;
    struct estimate e = {true, part_number(rate, "estimate"), part_number(rate, "lower"),
                         part_number(rate, "upper"), 0};
    page_html(p, "; at ");
    page_percent_plain(p, lowest);
    page_html(p, " false-positive rate it finds ");
    if (e.value > lowest) {
        page_percent_estimate(p, &e);
        page_html(p, " of the members");
    } else {
        page_html(p, "no more of the members than guessing does");
    }
}

static void measured_card(struct page *p, const struct report *r, const struct findings *f)
{
    page_html(p, "<div class=\"card measured\"><h3>Measured</h3>");
    if (!f->most) {
        page_html(p, "<p>No membership attack was run.</p></div>\n");
        return;
    }
    if (r->row_count > 1)
        page_format(p, "<p><strong>%zu of %zu settings</strong> leak membership in the training data. ",
                    f->leaking, f->attacked);
    else
        page_html(p, f->leaking ? "<p><strong>Membership in the training data leaks.</strong> "
                                : "<p><strong>No leak of membership was found.</strong> ");
    if (f->leaking && !leaks_by_area(f->most)) {
        page_text(p, f->most->verdict_text);
        page_html(p, "</p></div>\n");
        return;
    }
    if (section_verdict_largest(f->most)->auc.value > 0.5) {
        page_html(p, f->leaking ? "Worst: " : "Furthest above chance: ");
        if (r->row_count > 1) {
            page_name(p, f->most->title);
            page_html(p, ", ");
        }
        strongest_attack(p, f->most);
        page_html(p, ". Intervals are for this attack alone; the verdict widens them for the number of "
                     "attacks.</p></div>\n");
        return;
    }
    page_html(p, "No attack is above chance: largest AUC ");
    page_estimate(p, &section_verdict_largest(f->most)->auc);
    page_html(p, ".</p></div>\n");
}

/* That cost most of what was measured; NULL: none. */
static const struct report_row *dearest_setting(const struct report *r, size_t *count)
{
    const struct report_row *worst = NULL;
    *count = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct report_row *row = &r->rows[i];
        if (!row_has_cost(row))
            continue;
        ++*count;
        if (!worst || row_cost(row) > row_cost(worst))
            worst = row;
    }
    return worst;
}

static void worst_cost(struct page *p, const struct report *r, const struct report_row *worst)
{
    const double cost = row_cost(worst);
    if (r->row_count > 1) {
        page_html(p, " Worst: ");
        page_name(p, worst->title);
        page_html(p, ", ");
    } else {
        page_html(p, " It cost ");
    }
    page_format(p, "<strong>%s%.1f points</strong> of accuracy, from ", cost < 0 ? "\xe2\x88\x92" : "",
                fabs(cost));
    page_fraction(p, worst->unprotected.value);
    page_html(p, " to ");
    page_fraction(p, worst->accuracy.value);
    page_html(p, ".");
}

static void cost_card(struct page *p, const struct report *r, const struct findings *f)
{
    size_t count;
    const struct report_row *worst = dearest_setting(r, &count);
    page_html(p, "<div class=\"card cost\"><h3>Cost</h3><p>");
    if (!worst)
        page_html(p, r->row_count > 1 ? "No protected setting with measured accuracy."
                                      : "No cost of a protection was measured.");
    else if (r->row_count == 1)
        page_html(p,
                  f->destroyed
                      ? "<strong>The protected model is destroyed</strong> by noise and must not be counted "
                        "as protected."
                      : "The protected model is not destroyed by noise.");
    else if (f->destroyed)
        page_format(p,
                    "<strong>%zu of %zu protected settings %s destroyed</strong> by noise and must not be "
                    "counted as protected.",
                    f->destroyed, count, f->destroyed == 1 ? "is" : "are");
    else
        page_html(p, "No protected setting is destroyed by noise.");
    if (worst) {
        worst_cost(p, r, worst);
        page_html(p, r->row_count > 1 ? " Each setting stands <a href=\"#cost\">below</a>." : "");
    }
    page_html(p, "</p></div>\n");
}

/* --- what to do next --- */

/* A setting that may be given away: proved, useful, and no attack contradicts it. */
static const struct report_row *section_verdict_releasable(const struct report *r)
{
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].proof_means && r->rows[i].verdict == SOTTO_VERDICT_NOT_DETECTED)
            return &r->rows[i];
    return NULL;
}

/* For whoever holds the ledger, and for whoever was given the file and its certificate alone. */
static void verify_commands(struct page *p, const struct report_row *row)
{
    const char *file = row->certified ? "CERTIFICATE.json" : row->name,
               *folder = row->certified ? "" : "protected/", *ending = row->certified ? "" : ".safetensors";
    for (int receiver = 0; receiver < 2; receiver++) {
        page_html(
            p,
            receiver
                ? "<p class=\"who\">Whoever receives them, without the ledger (or with the page verify.html, "
                  "which needs no program):</p>\n"
                : "<p class=\"who\">You, with the ledger:</p>\n");
        page_html(p, "<pre class=\"command\" tabindex=\"0\"><code>sotto verify ");
        page_html(p, receiver ? "" : folder);
        page_text(p, file);
        page_html(p, ending);
        page_html(p, receiver         ? "</code></pre>\n"
                     : row->certified ? " --ledger LEDGER.jsonl</code></pre>\n"
                                      : " --ledger ledger.jsonl</code></pre>\n");
    }
}

static void train_command(struct page *p, const struct report *r)
{
    double classes = part_number(r->rows[0].audit, "classes");
    page_format(p,
                "sotto head --features FEATURES.npy --labels LABELS.npy --classes %.0f --trainer dp-adam "
                "--epsilon 3 --dataset-id NAME -o private.safetensors",
                classes >= 2 ? classes : 10);
}

static void audit_command(struct page *p)
{
    page_html(p,
              "sotto audit --member-logits MEMBERS.npy --member-labels MEMBER_LABELS.npy --nonmember-logits "
              "OTHERS.npy --nonmember-labels OTHER_LABELS.npy -o audit");
}

static void attack_command(struct page *p)
{
    page_html(p, "sotto attack lira --target MODEL.safetensors --member-features MEMBERS.npy "
                 "--member-labels MEMBER_LABELS.npy --nonmember-features OTHERS.npy --nonmember-labels "
                 "OTHER_LABELS.npy -o attack-lira");
}

static const char *next_words(const struct report *r, const struct findings *f,
                              const struct report_row *ready)
{
    if (f->contradicted)
        return "Do not release anything. Check this machine and the program first, then the certificate and "
               "its "
               "ledger:";
    if (ready)
        return "Give away the protected file of a setting that is proved and still useful, its certificate, "
               "and nothing else. Both sides can check them:";
    if (f->swapped)
        return "First check which file holds the members, and whether labels belong to their rows. Then "
               "audit "
               "again; release nothing before:";
    if (f->leaking || f->destroyed)
        return r->row_count > 1
                   ? "Do not release the settings that leak or are destroyed. Train for a stated "
                     "\xce\xb5 instead, and audit the result again:"
                   : "Do not release this model. Train for a stated \xce\xb5 instead, and audit the "
                     "result again:";
    return f->most ? "Finding nothing proves nothing. Try a stronger attack, with shadow models:"
                   : "Run an attack before any claim about membership:";
}

static void next_step(struct page *p, const struct report *r)
{
    const struct findings f = section_verdict_find(r);
    const struct report_row *ready = section_verdict_releasable(r);
    page_html(p, "<h3 id=\"next\">What you can do now</h3>\n<p>");
    page_html(p, next_words(r, &f, ready));
    page_html(p, "</p>\n");
    if (!f.contradicted && ready) {
        verify_commands(p, ready);
        return;
    }
    page_html(p, "<pre class=\"command\" tabindex=\"0\"><code>");
    if (f.contradicted)
        page_html(p, "sotto selftest");
    else if (f.swapped)
        audit_command(p);
    else if (f.leaking || f.destroyed)
        train_command(p, r);
    else
        attack_command(p);
    page_html(p, "</code></pre>\n");
}

void section_verdict(struct page *p, const struct report *r)
{
    const struct findings f = section_verdict_find(r);
    page_html(p,
              "<section id=\"verdict\" aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">Overview</h2>\n");
    page_html(p, "<div class=\"cards\">\n");
    proved_card(p, r, &f);
    measured_card(p, r, &f);
    cost_card(p, r, &f);
    page_html(p, "</div>\n");
    section_picture(p, r, f.contradicted ? f.contradicted : f.best && f.best->attack_count ? f.best : f.most);
    checks_banner(p, r);
    section_words(p, r);
    next_step(p, r);
    page_html(p, "</section>\n");
}
