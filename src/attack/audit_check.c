/* Every check happens before any attack runs, so an attack never meets a NaN or a label that is out of range.
 */
#include "attack/audit_private.h"

#include <math.h>

static sotto_status check_finite(const double *x, size_t n, size_t classes, const char *side,
                                 bool probabilities)
{
    size_t bad = 0, first_row = 0, first_column = 0;
    bool nan = false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < classes; k++) {
            if (isfinite(x[i * classes + k]))
                continue;
            if (bad++ == 0)
                first_row = i, first_column = k, nan = isnan(x[i * classes + k]);
            break;
        }
    }
    if (bad == 0)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL,
                       "%s: %zu of %zu rows contain %s (first: row %zu, column %zu); %s must be finite", side,
                       bad, n, nan ? "NaN" : "an infinity", first_row, first_column,
                       probabilities ? "probabilities" : "logits");
}

static sotto_status check_probabilities(const double *p, size_t n, size_t classes, const char *side)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < classes; k++) {
            double x = p[i * classes + k];
            if (x < 0)
                return status_fail(SOTTO_EINVAL, "%s: row %zu, column %zu is %g; probabilities must be >= 0",
                                   side, i, k, x);
            sum += x;
        }
        if (fabs(sum - 1) > 1e-3)
            return status_fail(
                SOTTO_EINVAL,
                "%s: row %zu sums to %g; probabilities must sum to 1 within 0.001 (are these logits?)", side,
                i, sum);
    }
    return SOTTO_OK;
}

static sotto_status check_labels(const int64_t *y, size_t n, size_t classes, const char *side)
{
    for (size_t i = 0; i < n; i++)
        if (y[i] < 0 || (uint64_t)y[i] >= classes)
            return status_fail(SOTTO_EINVAL, "%s: row %zu has label %lld; expected 0 .. %zu", side, i,
                               (long long)y[i], classes - 1);
    return SOTTO_OK;
}

static sotto_status check_reals(const double *x, size_t n, const char *side, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return status_fail(SOTTO_EINVAL, "%s: row %zu is %s; %s must be finite", side, i,
                               isnan(x[i]) ? "NaN" : "an infinity", what);
    return SOTTO_OK;
}

static sotto_status check_side(const struct attack_input *s, const char *side)
{
    sotto_status status = SOTTO_OK;
    if (s->outputs) {
        TRY(check_finite(s->outputs, s->n, s->classes, side, s->probabilities));
        if (s->probabilities)
            TRY(check_probabilities(s->outputs, s->n, s->classes, side));
        if (s->labels)
            TRY(check_labels(s->labels, s->n, s->classes, side));
    }
    if (s->losses)
        TRY(check_reals(s->losses, s->n, side, "losses"));
    if (s->scores)
        TRY(check_reals(s->scores, s->n, side, "scores"));
done:
    return status;
}

static sotto_status both(const void *member, const void *nonmember, const char *what)
{
    if (!member == !nonmember)
        return SOTTO_OK;
    return status_fail(SOTTO_EUSAGE, "audit: %s were given for %s only; both sides need them", what,
                       member ? "members" : "non-members");
}

/* Attacks compute in double whatever the caller has; *owned is NULL when nothing had to be copied. */
static sotto_status widen(const double **out, double **owned, const float *narrow, const double *wide,
                          size_t n, size_t classes)
{
    sotto_status status = SOTTO_OK;
    size_t count;
    *out = wide;
    if (!narrow)
        return SOTTO_OK;
    if (!size_multiply(&count, n, classes) || !(*owned = base_alloc(count, sizeof **owned)))
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu x %zu outputs", n, classes);
    for (size_t i = 0; i < count; i++)
        (*owned)[i] = narrow[i];
    *out = *owned;
done:
    return status;
}

sotto_status audit_check(struct audit_sides *out, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    struct audit_sides s = {0};
    bool outputs = in->member || in->member_f8;
    TRY(both(in->member, in->nonmember, "logits or probabilities"));
    TRY(both(in->member_f8, in->nonmember_f8, "logits or probabilities"));
    TRY(both(in->member_labels, in->nonmember_labels, "labels"));
    TRY(both(in->member_losses, in->nonmember_losses, "losses"));
    TRY(both(in->member_scores, in->nonmember_scores, "scores"));
    if (in->member && in->member_f8)
        FAIL(SOTTO_EUSAGE, "audit: outputs were given twice, in single and in double precision");
    if (!outputs && !in->member_losses && !in->member_scores)
        FAIL(SOTTO_EUSAGE, "audit: nothing to audit; expected logits, probabilities, losses or scores");
    REQUIRE(in->n_member >= 2 && in->n_nonmember >= 2,
            "audit: %zu members and %zu non-members; at least 2 of each are needed", in->n_member,
            in->n_nonmember);
    REQUIRE(!outputs || in->classes >= 2, "audit: %zu class; at least 2 are needed", in->classes);
    s.member = (struct attack_input){NULL,
                                     in->probabilities != 0,
                                     in->member_labels,
                                     in->member_losses,
                                     in->member_scores,
                                     in->n_member,
                                     in->classes};
    s.nonmember = (struct attack_input){NULL,
                                        in->probabilities != 0,
                                        in->nonmember_labels,
                                        in->nonmember_losses,
                                        in->nonmember_scores,
                                        in->n_nonmember,
                                        in->classes};
    TRY(widen(&s.member.outputs, &s.owned[0], in->member, in->member_f8, in->n_member, in->classes));
    TRY(widen(&s.nonmember.outputs, &s.owned[1], in->nonmember, in->nonmember_f8, in->n_nonmember,
              in->classes));
    TRY(check_side(&s.member, "members"));
    TRY(check_side(&s.nonmember, "non-members"));
    s.have = (outputs ? NEED_OUTPUTS : 0u) | (outputs && in->member_labels ? NEED_LABELS | NEED_LOSSES : 0u) |
             (in->member_losses ? NEED_LOSSES : 0u) | (in->member_scores ? NEED_SCORES : 0u);
    *out = s;
done:
    if (status != SOTTO_OK)
        audit_sides_clear(&s);
    return status;
}

void audit_sides_clear(struct audit_sides *s)
{
    base_free(s->owned[0]);
    base_free(s->owned[1]);
    *s = (struct audit_sides){0};
}

sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options)
{
    static const double usual[] = {0.01, 0.001};
    sotto_status status = SOTTO_OK;
    struct audit_settings s = {usual, 2, 0.95, 0, 0};
    if (options) {
        if (options->fpr_count)
            s.fpr = options->fpr, s.fpr_count = options->fpr_count;
        if (options->confidence != 0)
            s.confidence = options->confidence;
        s.delta = options->delta;
        s.seed = options->seed;
    }
    REQUIRE(s.confidence > 0 && s.confidence < 1, "audit: confidence must be between 0 and 1 (got %g)",
            s.confidence);
    REQUIRE(s.delta >= 0 && s.delta < 1, "audit: delta must be >= 0 and < 1 (got %g)", s.delta);
    for (size_t i = 0; i < s.fpr_count; i++)
        REQUIRE(s.fpr[i] > 0 && s.fpr[i] < 1, "audit: a false-positive rate must be between 0 and 1 (got %g)",
                s.fpr[i]);
    *out = s;
done:
    return status;
}
