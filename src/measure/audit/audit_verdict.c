/* The one rule that says what an audit found (sotto/audit.h). It looks at the numbers of the document alone, so that audits of
 * older versions are judged by it too, and page, gate, comparison and document cannot disagree.
 *
 * Every lower end is made anew at its share of the error: AUC from its interval on the logit scale, TPR from the vertices of the
 * curve and two ranks of the other side (tpr_interval.h; a thinned curve can only cost the attacker), epsilon and the gap of
 * accuracy from their counts. The opposite guess exchanges the two sides. */
#include "audit/audit_verdict.h"
#include "sotto/lab/audit.h"

#include "audit/measure/epsilon_bounds.h"
#include "audit/measure/metrics.h"
#include "audit/measure/tpr_interval.h"
#include "num/beta.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares of the error: of one attack's, and the last of the whole. */
static const double of_area = 0.8, of_rates = 0.08, of_epsilon = 0.08, of_gap = 0.04;
/* From here on an audit leaks, and not a little. Of normal scores with an AUC of .55, 1.5 % lie at an FPR of 1 %, .18 % at .1 %. */
static const double much_area = 0.05, much_excess = 0.1, much_odds = 2;

const char *sotto_verdict_name(enum sotto_verdict v)
{
    static const char *const names[] = {"contradicted", "destroyed",    "leaks",       "leaks-little",
                                        "damaged",      "not-detected", "not-attacked"};
    return (size_t)v < sizeof names / sizeof *names ? names[v] : NULL;
}

/* ---- lower ends ---- */

/* An end at `stretch` times its distance from the estimate, on the logit scale. */
static double audit_verdict_stretched(double estimate, double end, double stretch)
{
    if (!(end > 0 && end < 1))
        return end;
    const double middle = log(estimate / (1 - estimate)), at = log(end / (1 - end));
    return 1 / (1 + exp(-(middle - stretch * (middle - at))));
}

struct sotto_estimate audit_area_at(const struct sotto_audit_attack *a, double confidence, double error)
{
    const double many = 1e12; /* degrees of freedom: the normal quantile */
    const struct sotto_audit_simultaneous *shared = &a->simultaneous;
    const bool has_shared = shared->confidence > 0 && shared->confidence < 1 && !isnan(shared->auc.estimate);
    const double from =
        1 - (has_shared ? shared->confidence : confidence); /* the nearer, the less is stretched */
    struct sotto_estimate e = has_shared ? shared->auc : a->auc.area;
    if (e.estimate >= 1 || e.estimate <= 0) { /* there is no logit: as roc_auc() */
        const double pairs = (double)(a->n_member < a->n_nonmember ? a->n_member : a->n_nonmember);
        e.lower = 0, e.upper = 1;
        if (pairs >= 1)
            clopper_pearson(&e.lower, &e.upper, e.estimate * pairs, pairs, 1 - error);
        return e;
    }
    const double stretch = student_quantile(1 - error / 2, many) / student_quantile(1 - from / 2, many);
    e.lower = audit_verdict_stretched(e.estimate, e.lower, stretch);
    e.upper = audit_verdict_stretched(e.estimate, e.upper, stretch);
    return e;
}

/* The lower end of TPR at `fpr`; of the opposite guess: of the non-members that it finds. 0: none. */
static double rate_lower(const struct sotto_audit_attack *a, double fpr, double error, bool opposite)
{
    const size_t sought = opposite ? a->n_nonmember : a->n_member,
                 others = opposite ? a->n_member : a->n_nonmember;
    size_t found = 0;
    if (!sought || !others || !(fpr > 0 && fpr < 1))
        return 0;
    const struct tpr_ranks ranks = tpr_ranks_find(others, fpr, 1 - 2 * error);
    for (size_t i = 0; i < a->roc_count; i++) {
        const double tpr_here = opposite ? a->roc[i].fpr : a->roc[i].tpr,
                     fpr_here = opposite ? a->roc[i].tpr : a->roc[i].fpr;
        const size_t hits = (size_t)llround(tpr_here * (double)sought),
                     wrong = (size_t)llround(fpr_here * (double)others);
        if (wrong < ranks.low && hits > found)
            found = hits;
    }
    return found ? clopper_pearson_lower((double)found, (double)sought, 1 - 2 * (error - ranks.low_error))
                 : 0;
}

static double bound_of(const struct rates *r, double delta, size_t group)
{
    return group ? epsilon_of_group(r, delta, group) : rates_epsilon(r, delta);
}

double audit_epsilon_at(int *opposite, const struct sotto_audit_attack *a, double delta, double error)
{
    const struct sotto_audit_bound *e = &a->epsilon;
    const struct sotto_audit_one_run *run = a->one_run;
    const double m = (double)(e->n_member ? e->n_member : a->balanced.n_member),
                 n = (double)(e->n_nonmember ? e->n_nonmember : a->balanced.n_nonmember);
    const bool by_rates = !isnan(e->tpr.estimate) && !isnan(e->fpr.estimate) && m >= 1 && n >= 1,
               by_run = run && run->guesses > 0 && !e->group_size;
    /* The guesses are those of two directions. The threshold is that of either direction, and one that was chosen for the plain
     * one may show the opposite: three ways to be wrong. */
    const double share = error / (by_rates && by_run ? 2 : 1), each = 1 - share / 3;
    double best = by_run ? one_run_epsilon(delta, run->records, run->guesses, run->right, 1 - share / 2) : 0;
    int turned = 0;
    if (by_rates) {
        struct rates r = {.tpr = e->tpr, .fpr = e->fpr};
        clopper_pearson(&r.tpr.lower, &r.tpr.upper, round(e->tpr.estimate * m), m, each);
        clopper_pearson(&r.fpr.lower, &r.fpr.upper, round(e->fpr.estimate * n), n, each);
        const struct rates other = {.tpr = r.fpr, .fpr = r.tpr};
        const double high = bound_of(&r, delta, e->group_size), low = bound_of(&other, delta, e->group_size);
        best = fmax(best, fmax(high, low));
        turned = low > 0 && low >= best;
    }
    if (opposite)
        *opposite = turned;
    return best;
}

struct sotto_estimate audit_accuracy_gap(const struct sotto_audit_accuracies *a, double confidence)
{
    const double each = 1 - (1 - confidence) / 2, m = (double)a->member.n, n = (double)a->nonmember.n;
    struct sotto_estimate in = a->member.rate, out = a->nonmember.rate;
    clopper_pearson(&in.lower, &in.upper, round(in.estimate * m), m, each);
    clopper_pearson(&out.lower, &out.upper, round(out.estimate * n), n, each);
    return (struct sotto_estimate){in.estimate - out.estimate, in.lower - out.upper, in.upper - out.lower};
}

/* ---- findings ---- */

/* One number that says "leaks". */
struct evidence {
    enum sotto_finding by; /* NONE: nothing does */
    bool much, opposite;
    size_t attack;
    double fpr, lower, strength; /* strength: comparable between numbers of one kind */
};

/* Much before a little, then AUC before rates before epsilon, then the larger one. */
static void keep_stronger(struct evidence *best, const struct evidence *e)
{
    bool better = e->much;
    if (!(e->strength > 0))
        return;
    if (e->much == best->much)
        better = e->by == best->by ? e->strength > best->strength : e->by < best->by;
    if (best->by == SOTTO_FINDING_NONE || better)
        *best = *e;
}

/* Documents of other tools may not say. */
static double confidence_of(const struct sotto_audit_result *r)
{
    return r->confidence > 0 && r->confidence < 1 ? r->confidence : 0.95;
}

static double error_of_attack(const struct sotto_audit_result *r)
{
    return (1 - confidence_of(r)) / (double)r->attack_count;
}

static void look_at_area(struct evidence *best, const struct sotto_audit_result *r, size_t i)
{
    const struct sotto_estimate e =
        audit_area_at(&r->attacks[i], confidence_of(r), of_area * error_of_attack(r));
    const bool opposite = e.upper < 0.5;
    const double lower = opposite ? 1 - e.upper : e.lower;
    if (isnan(e.estimate))
        return;
    keep_stronger(best, &(struct evidence){.by = SOTTO_FINDING_AUC,
                                           .much = lower > 0.5 + much_area,
                                           .opposite = opposite,
                                           .attack = i,
                                           .fpr = NAN,
                                           .lower = lower,
                                           .strength = lower - 0.5});
}

static void look_at_rates(struct evidence *best, const struct sotto_audit_result *r, size_t i)
{
    const struct sotto_audit_attack *a = &r->attacks[i];
    const double each = of_rates * error_of_attack(r) / (2 * (double)a->rate_count);
    for (size_t k = 0; k < 2 * a->rate_count; k++) {
        const double fpr = a->rates[k / 2].fpr, lower = rate_lower(a, fpr, each, k % 2);
        keep_stronger(best, &(struct evidence){.by = SOTTO_FINDING_TPR,
                                               .much = lower > much_odds * fpr || lower > fpr + much_excess,
                                               .opposite = k % 2,
                                               .attack = i,
                                               .fpr = fpr,
                                               .lower = lower,
                                               .strength = lower - fpr});
    }
}

static void look_at_epsilon(struct evidence *best, const struct sotto_audit_result *r, size_t i)
{
    int opposite;
    const double delta = isnan(r->delta) ? 0 : r->delta,
                 lower = audit_epsilon_at(&opposite, &r->attacks[i], delta, of_epsilon * error_of_attack(r));
    keep_stronger(best, &(struct evidence){.by = SOTTO_FINDING_EPSILON,
                                           .much = lower > log(much_odds),
                                           .opposite = opposite,
                                           .attack = i,
                                           .fpr = NAN,
                                           .lower = lower,
                                           .strength = lower});
}

static bool has_accuracies(const struct sotto_audit_result *r)
{
    const struct sotto_audit_accuracies *a = r->accuracy;
    return a && a->member.n && a->nonmember.n && !isnan(a->member.rate.estimate) &&
           !isnan(a->nonmember.rate.estimate);
}

/* Only one of the gap's ends is looked at. */
static void look_at_accuracy(struct evidence *best, const struct sotto_audit_result *r)
{
    if (!has_accuracies(r))
        return;
    const double lower = -audit_accuracy_gap(r->accuracy, 1 - 2 * of_gap * (1 - confidence_of(r))).upper;
    keep_stronger(best, &(struct evidence){.by = SOTTO_FINDING_ACCURACY,
                                           .much = lower > much_excess,
                                           .opposite = true,
                                           .fpr = NAN,
                                           .lower = lower,
                                           .strength = lower});
}

size_t audit_inverted_attack(const struct sotto_audit_result *r)
{
    size_t lowest = r->attack_count;
    double least = 0.5;
    for (size_t i = 0; i < r->attack_count; i++) {
        const struct sotto_estimate e =
            audit_area_at(&r->attacks[i], confidence_of(r), of_area * error_of_attack(r));
        if (e.upper < least)
            least = e.upper, lowest = i;
    }
    return lowest;
}

static bool some_attack_finds_members(const struct sotto_audit_result *r)
{
    for (size_t i = 0; i < r->attack_count; i++)
        if (audit_area_at(&r->attacks[i], confidence_of(r), of_area * error_of_attack(r)).lower > 0.5)
            return true;
    return false;
}

const char *audit_swap_question(const struct sotto_audit_result *r)
{
    return some_attack_finds_members(r) ? "is what this attack compares with swapped, or in another order?"
                                        : "are members and non-members swapped?";
}

static size_t largest_area(const struct sotto_audit_result *r)
{
    size_t best = 0;
    for (size_t i = 1; i < r->attack_count; i++)
        if (r->attacks[i].auc.area.estimate > r->attacks[best].auc.area.estimate)
            best = i;
    return best;
}

/* ---- sentences ---- */

void audit_area_text(char out[AUDIT_AREA_TEXT], const struct sotto_audit_attack *a)
{
    const struct sotto_estimate *e = &a->auc.area;
    snprintf(out, AUDIT_AREA_TEXT, "%s '%.40s', AUC %.3f [%.3f, %.3f]",
             e->estimate > 0.5 ? "strongest:" : "none above chance, largest:", a->name, e->estimate, e->lower,
             e->upper);
}

static void describe_leak(struct sotto_audit_verdict *v, const struct sotto_audit_result *r)
{
    const char *swapped = audit_swap_question(r),
               *how = v->kind == SOTTO_VERDICT_LEAKS ? "Leaks membership" : "Leaks a little";
    const struct sotto_audit_attack *a = r->attack_count ? &r->attacks[v->attack] : NULL;
    const struct sotto_estimate *e = a ? &a->auc.area : NULL;
    char *out = v->text;
    const size_t room = sizeof v->text;
    if (v->by == SOTTO_FINDING_ACCURACY)
        snprintf(out, room,
                 "%s: accuracy is %.3f on members and %.3f on non-members: are the files swapped, or the "
                 "labels wrong?",
                 how, r->accuracy->member.rate.estimate, r->accuracy->nonmember.rate.estimate);
    else if (v->by == SOTTO_FINDING_AUC && v->opposite)
        snprintf(out, room, "%s: the opposite guess of the '%.40s' attack has AUC %.3f [%.3f, %.3f]: %s", how,
                 a->name, 1 - e->estimate, 1 - e->upper, 1 - e->lower, swapped);
    else if (v->by == SOTTO_FINDING_AUC)
        snprintf(out, room,
                 "%s: the '%.40s' attack separates members from non-members with AUC %.3f [%.3f, %.3f]; 0.5 "
                 "is guessing.",
                 how, a->name, e->estimate, e->lower, e->upper);
    else if (v->by == SOTTO_FINDING_TPR && v->opposite)
        snprintf(out, room,
                 "%s: the opposite guess of the '%.40s' attack finds at least %.3g %% of the non-members "
                 "where it flags %.3g %% of the members; its AUC is %.3f: %s",
                 how, a->name, 100 * v->lower, 100 * v->fpr, 1 - e->estimate, swapped);
    else if (v->by == SOTTO_FINDING_TPR)
        snprintf(out, room,
                 "%s: the '%.40s' attack finds at least %.3g %% of the members where it flags %.3g %% of the "
                 "non-members; its AUC is %.3f.",
                 how, a->name, 100 * v->lower, 100 * v->fpr, e->estimate);
    else
        snprintf(out, room, "%s: the %s'%.40s' attack shows epsilon of at least %.3g; its AUC is %.3f.", how,
                 v->opposite ? "opposite guess of the " : "", a->name, v->lower, e->estimate);
}

static void describe_claim(struct sotto_audit_verdict *v, const struct sotto_audit_result *r)
{
    const struct sotto_audit_attack *a = r->attack_count ? &r->attacks[v->attack] : NULL;
    const bool opposite = a && a->epsilon.fpr.estimate > a->epsilon.tpr.estimate,
               asks = v->swapped && !some_attack_finds_members(r);
    snprintf(
        v->text, sizeof v->text,
        "Claim contradicted: the %s'%.40s' attack shows epsilon of at least %.3g, above the claimed %.3g. "
        "%s; do not release.",
        opposite ? "opposite guess of the " : "", r->claim->attack ? r->claim->attack : "best",
        r->claim->lower_bound, r->claim->epsilon,
        asks ? "Are members and non-members swapped? If not, the proof, the claim or the attack is wrong"
             : "The proof, the claim or the attack is wrong");
}

static void audit_verdict_describe(struct sotto_audit_verdict *v, const struct sotto_audit_result *r)
{
    char area[AUDIT_AREA_TEXT];
    switch (v->kind) {
    case SOTTO_VERDICT_CONTRADICTED:
        describe_claim(v, r);
        break;
    case SOTTO_VERDICT_NOT_DETECTED:
        audit_area_text(area, &r->attacks[v->attack]);
        snprintf(v->text, sizeof v->text,
                 "No attack run here was better than guessing (%s). This is not a proof: a stronger attack "
                 "may succeed.",
                 area);
        break;
    case SOTTO_VERDICT_NOT_ATTACKED:
        snprintf(v->text, sizeof v->text,
                 r->attribute ? "No membership attack was run; the result of the attribute attack is below."
                              : "Not attacked: nothing was measured.");
        break;
    default:
        describe_leak(v, r);
    }
}

/* The attack with the largest bound; the claim names it. */
static size_t attack_of_claim(const struct sotto_audit_result *r)
{
    for (size_t i = 0; r->claim->attack && i < r->attack_count; i++)
        if (strcmp(r->attacks[i].name, r->claim->attack) == 0)
            return i;
    return 0;
}

void sotto_audit_judge(struct sotto_audit_verdict *out, const struct sotto_audit_result *r)
{
    GIVEN_OR(, out, r);
    struct evidence best = {.by = SOTTO_FINDING_NONE, .fpr = NAN, .lower = NAN}, gap = best;
    for (size_t i = 0; i < r->attack_count; i++) {
        look_at_area(&best, r, i);
        look_at_rates(&best, r, i);
        look_at_epsilon(&best, r, i);
    }
    look_at_accuracy(&gap, r);
    if (r->attack_count)
        keep_stronger(&best, &gap);
    *out = (struct sotto_audit_verdict){
        .kind = !r->attack_count                ? SOTTO_VERDICT_NOT_ATTACKED
                : best.by == SOTTO_FINDING_NONE ? SOTTO_VERDICT_NOT_DETECTED
                : best.much                     ? SOTTO_VERDICT_LEAKS
                                                : SOTTO_VERDICT_LEAKS_LITTLE,
        .by = best.by,
        .opposite = best.opposite,
        .swapped = (best.by == SOTTO_FINDING_AUC && best.opposite) || gap.by != SOTTO_FINDING_NONE,
        .attack = best.by == SOTTO_FINDING_NONE || best.by == SOTTO_FINDING_ACCURACY ? largest_area(r)
                                                                                     : best.attack,
        .fpr = best.fpr,
        .lower = best.lower};
    if (r->claim && r->claim->contradicted) {
        out->kind = SOTTO_VERDICT_CONTRADICTED;
        out->by = SOTTO_FINDING_CLAIM;
        out->attack = attack_of_claim(r);
        out->lower = r->claim->lower_bound;
    }
    audit_verdict_describe(out, r);
}
