/* Verdicts follow from the numbers alone, so that page, JSON and gate cannot disagree. The order matters: a
 * broken claim first, then a destroyed model (its low attack scores mean nothing), then what the attacks
 * found. */
#include "report/document/document.h"

#include "audit/measure/epsilon_bounds.h"
#include "audit/measure/metrics.h"
#include "num/beta.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *sotto_verdict_name(enum sotto_verdict v)
{
    static const char *const names[] = {"contradicted", "destroyed",    "leaks",       "leaks-little",
                                        "damaged",      "not-detected", "not-attacked"};
    return (size_t)v < sizeof names / sizeof *names ? names[v] : NULL;
}

/* The strongest of k attacks was picked after looking at them all. On the logit scale the distance to the
 * lower end is stretched to the error of 1/k (Bonferroni). At an estimate of 1 there is no logit:
 * Clopper-Pearson on the pairs again. */
static double widened_lower(const struct attack_result *a, double confidence, size_t k)
{
    const double many = 1e12; /* degrees of freedom: the normal quantile */
    double error = 1 - confidence;
    if (k <= 1 || a->auc.lower <= 0)
        return a->auc.lower;
    if (a->auc.value >= 1 || a->auc.lower >= 1) {
        double pairs = (double)(a->n_member < a->n_nonmember ? a->n_member : a->n_nonmember), lower, upper;
        if (pairs < 1)
            return 0;
        clopper_pearson(&lower, &upper, pairs, pairs, 1 - error / (double)k);
        return lower;
    }
    double stretch =
        student_quantile(1 - error / 2 / (double)k, many) / student_quantile(1 - error / 2, many);
    double middle = log(a->auc.value / (1 - a->auc.value)), low = log(a->auc.lower / (1 - a->auc.lower));
    return 1 / (1 + exp(-(middle - stretch * (middle - low))));
}

/* The bounds of the audit, again from their counts, at the proof's own delta and with the error shared by k attacks and
 * by the bounds. */
static double widened_epsilon(const struct attack_result *a, double confidence, double delta, size_t k)
{
    double m = (double)a->scored_member, n = (double)a->scored_nonmember;
    const bool by_rates = !isnan(a->tpr) && !isnan(a->fpr) && m >= 1 && n >= 1, by_run = a->run_guesses > 0;
    const double each = 1 - (1 - confidence) / (double)k / (by_rates && by_run ? 2 : 1);
    double run = by_run ? one_run_epsilon(delta, a->run_records, a->run_guesses, a->run_right, each) : 0;
    if (!by_rates)
        return run;
    struct rates r = {.tpr = {.estimate = a->tpr}, .fpr = {.estimate = a->fpr}};
    clopper_pearson(&r.tpr.lower, &r.tpr.upper, round(a->tpr * m), m, each);
    clopper_pearson(&r.fpr.lower, &r.fpr.upper, round(a->fpr * n), n, each);
    return fmax(run, rates_epsilon(&r, delta));
}

/* What noise left of the accuracy above chance, 0 to 1 or so; 1 if unknown. */
static double skill_left(const struct report_row *r)
{
    if (!r->is_protected || !r->accuracy.given || !r->unprotected.given || isnan(r->chance))
        return 1;
    double skill = r->unprotected.value - r->chance;
    return skill > 0 ? (r->accuracy.value - r->chance) / skill : 1;
}

static void describe_contradiction(struct report_row *r, const struct attack_result *a)
{
    char *out = r->verdict_text;
    size_t room = sizeof r->verdict_text;
    if (r->canaries_contradict)
        snprintf(out, room,
                 "Certificate contradicted: the audit by canaries rejects its curve (p = %.3g). The "
                 "proof or the audit is wrong; do not release.",
                 part_number(r->canaries, "audit.curve.p_value"));
    else if (r->claim_contradicted)
        snprintf(out, room,
                 "Claim contradicted: the '%.40s' attack shows epsilon of at least %.3g, above the "
                 "claimed %.3g. The proof, the claim or the attack is wrong; do not release.",
                 r->claim_attack ? r->claim_attack : "best", r->claim_bound, r->claim_epsilon);
    else
        snprintf(out, room,
                 "Claim contradicted: the '%.40s' attack shows epsilon of at least %.3g, above the proved "
                 "%.3g. The proof, the claim or the attack is wrong; do not release.",
                 a->name, a->adjusted_epsilon, r->proved.upper);
}

static void describe(struct report_row *r, enum sotto_verdict verdict)
{
    const struct attack_result *a = r->attack_count ? &r->attacks[r->strongest] : NULL;
    char *out = r->verdict_text, area[128] = "";
    size_t room = sizeof r->verdict_text;
    if (a) /* no AUC up to one half is the strongest of anything */
        snprintf(area, sizeof area, "%s '%.40s', AUC %.3f [%.3f, %.3f]",
                 a->auc.value > 0.5 ? "strongest:" : "none above chance, largest:", a->name, a->auc.value,
                 a->auc.lower, a->auc.upper);
    switch (verdict) {
    case SOTTO_VERDICT_CONTRADICTED:
        describe_contradiction(r, a);
        break;
    case SOTTO_VERDICT_DESTROYED:
        snprintf(out, room,
                 "Destroyed, not protected: accuracy %.3f is close to guessing (%.3f); without noise it is "
                 "%.3f. Low attack scores of such a model mean nothing.",
                 r->accuracy.value, r->chance, r->unprotected.value);
        break;
    case SOTTO_VERDICT_LEAKS:
    case SOTTO_VERDICT_LEAKS_LITTLE:
        snprintf(out, room,
                 "%s: the '%.40s' attack separates members from non-members with AUC %.3f [%.3f, %.3f]; 0.5 "
                 "is guessing.",
                 verdict == SOTTO_VERDICT_LEAKS ? "Leaks membership" : "Leaks a little", a->name,
                 a->auc.value, a->auc.lower, a->auc.upper);
        break;
    case SOTTO_VERDICT_DAMAGED:
        snprintf(out, room,
                 "%so attack run here was better than guessing (%s), but most of the accuracy is lost: %.3f, "
                 "without noise %.3f.",
                 r->proof_means ? "Proved, and n" : "N", area, r->accuracy.value, r->unprotected.value);
        break;
    case SOTTO_VERDICT_NOT_DETECTED:
        snprintf(out, room, "%so attack run here was better than guessing (%s).%s",
                 r->proof_means ? "Proved, and n" : "N", area,
                 r->proof_means ? "" : " This is not a proof: a stronger attack may succeed.");
        break;
    case SOTTO_VERDICT_NOT_ATTACKED:
        snprintf(out, room,
                 part(r->audit, "attribute")
                     ? "No membership attack was run; the result of the attribute attack is below."
                     : "Not attacked: nothing was measured.");
        break;
    }
}

void row_judge(struct report_row *r)
{
    double best_lower = 0, best_epsilon = 0;
    size_t of_epsilon = 0, of_auc = 0;
    for (size_t i = 0; i < r->attack_count; i++) {
        struct attack_result *a = &r->attacks[i];
        a->adjusted = widened_lower(a, r->confidence, r->attack_count);
        if (a->adjusted > best_lower)
            best_lower = a->adjusted;
        if (a->auc.value > r->attacks[of_auc].auc.value)
            of_auc = i;
        a->adjusted_epsilon =
            widened_epsilon(a, r->confidence, r->proved.given ? r->proved.delta : 0, r->attack_count);
        if (a->adjusted_epsilon > best_epsilon)
            best_epsilon = a->adjusted_epsilon, of_epsilon = i;
    }
    r->strongest = of_auc;
    r->verdict = r->attack_count == 0 ? SOTTO_VERDICT_NOT_ATTACKED
                 : best_lower > 0.55  ? SOTTO_VERDICT_LEAKS
                 : best_lower > 0.5   ? SOTTO_VERDICT_LEAKS_LITTLE
                                      : SOTTO_VERDICT_NOT_DETECTED;
    if (r->verdict == SOTTO_VERDICT_NOT_DETECTED && skill_left(r) < 0.5)
        r->verdict = SOTTO_VERDICT_DAMAGED;
    if (skill_left(r) < 0.2)
        r->verdict = SOTTO_VERDICT_DESTROYED;
    if (r->proof_counts && best_epsilon > r->proved.upper) {
        r->verdict = SOTTO_VERDICT_CONTRADICTED;
        r->strongest = of_epsilon;
    }
    if (r->claim_contradicted || r->canaries_contradict)
        r->verdict = SOTTO_VERDICT_CONTRADICTED;
    describe(r, r->verdict);
}
