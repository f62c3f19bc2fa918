/* Verdicts follow from the numbers alone, so that page, JSON and gate cannot disagree. What the attacks found is the audit's own
 * verdict (audit/audit_verdict.c). The order matters: a broken claim first, then a destroyed model (its low attack scores mean
 * nothing), then what the attacks found. */
#include "report/document/document.h"
#include "sotto/lab/audit.h"

#include "audit/audit_verdict.h"

#include <math.h>
#include <stdio.h>

/* What noise left of the accuracy above chance, 0 to 1 or so; 1 if unknown. */
static double skill_left(const struct report_row *r)
{
    if (!r->is_protected || !r->accuracy.given || !r->unprotected.given || isnan(r->chance))
        return 1;
    double skill = r->unprotected.value - r->chance;
    return skill > 0 ? (r->accuracy.value - r->chance) / skill : 1;
}

static void describe_contradiction(struct report_row *r, double bound)
{
    char *out = r->verdict_text;
    size_t room = sizeof r->verdict_text;
    if (r->canaries_contradict)
        snprintf(out, room,
                 "Certificate contradicted: the audit by canaries rejects its curve (p = %.3g). The "
                 "proof or the audit is wrong; do not release.",
                 part_number(r->canaries, "audit.curve.p_value"));
    else if (r->claim_contradicted)
        snprintf(out, room, "%s", r->leak.text);
    else
        snprintf(out, room,
                 "Claim contradicted: the '%.40s' attack shows epsilon of at least %.3g, above the proved "
                 "%.3g. The proof, the claim or the attack is wrong; do not release.",
                 r->attacks[r->strongest].name, bound, r->proved.upper);
}

/* Of rows where no attack was better than guessing. */
static void describe_nothing(struct report_row *r)
{
    char area[AUDIT_AREA_TEXT], *out = r->verdict_text;
    const char *start = r->proof_means ? "Proved, and n" : "N";
    size_t room = sizeof r->verdict_text;
    audit_area_text(area, &r->found.attacks[r->strongest]);
    if (r->verdict == SOTTO_VERDICT_DAMAGED)
        snprintf(out, room,
                 "%so attack run here was better than guessing (%s), but most of the accuracy is lost: %.3f, "
                 "without noise %.3f.",
                 start, area, r->accuracy.value, r->unprotected.value);
    else
        snprintf(out, room, "%so attack run here was better than guessing (%s).", start, area);
}

static void judge_describe(struct report_row *r, double bound)
{
    char *out = r->verdict_text;
    size_t room = sizeof r->verdict_text;
    if (r->verdict == SOTTO_VERDICT_CONTRADICTED)
        describe_contradiction(r, bound);
    else if (r->verdict == SOTTO_VERDICT_DESTROYED)
        snprintf(out, room,
                 "Destroyed, not protected: accuracy %.3f is close to guessing (%.3f); without noise it is "
                 "%.3f. Low attack scores of such a model mean nothing.",
                 r->accuracy.value, r->chance, r->unprotected.value);
    else if (r->verdict == SOTTO_VERDICT_DAMAGED ||
             (r->verdict == SOTTO_VERDICT_NOT_DETECTED && r->proof_means))
        describe_nothing(r);
    else
        snprintf(out, room, "%s", r->leak.text);
}

/* The largest lower bound on epsilon at the proved delta; the attacks share the error. */
static double largest_bound(size_t *attack, const struct report_row *r)
{
    double best = 0;
    for (size_t i = 0; i < r->attack_count; i++) {
        const double bound = audit_epsilon_at(NULL, &r->found.attacks[i], r->proved.delta,
                                              (1 - r->confidence) / (double)r->attack_count);
        if (bound > best)
            best = bound, *attack = i;
    }
    return best;
}

void row_judge(struct report_row *r)
{
    double bound = 0;
    size_t of_bound = 0;
    sotto_audit_judge(&r->leak, &r->found);
    r->strongest = r->leak.attack;
    r->verdict = r->leak.kind;
    if (r->verdict == SOTTO_VERDICT_NOT_DETECTED && skill_left(r) < 0.5)
        r->verdict = SOTTO_VERDICT_DAMAGED;
    if (skill_left(r) < 0.2 && r->verdict != SOTTO_VERDICT_CONTRADICTED)
        r->verdict = SOTTO_VERDICT_DESTROYED;
    if (r->proof_counts)
        bound = largest_bound(&of_bound, r);
    if (r->proof_counts && bound > r->proved.upper) {
        r->verdict = SOTTO_VERDICT_CONTRADICTED;
        r->strongest = of_bound;
    }
    if (r->canaries_contradict)
        r->verdict = SOTTO_VERDICT_CONTRADICTED;
    judge_describe(r, bound);
}
