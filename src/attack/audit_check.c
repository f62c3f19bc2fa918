/* Every check happens before any attack runs, so an attack never meets a NaN or a label that is out of range.
 */
#include "attack/audit_private.h"
#include "attack/posterior.h"

#include <math.h>
#include <string.h>

static sotto_status check_finite(const double *x, size_t n, size_t classes, const char *side,
                                 const char *what)
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
                       bad, n, nan ? "NaN" : "an infinity", first_row, first_column, what);
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

static sotto_status check_trained(const uint8_t *trained, size_t count, const char *side)
{
    for (size_t i = 0; i < count; i++)
        if (trained[i] > 1)
            return status_fail(SOTTO_EINVAL, "%s: training mask holds %d; expected 0 or 1", side, trained[i]);
    return SOTTO_OK;
}

static sotto_status check_side(const struct attack_input *s, const char *side)
{
    sotto_status status = SOTTO_OK;
    if (s->outputs) {
        TRY(check_finite(s->outputs, s->n, s->classes, side, s->probabilities ? "probabilities" : "logits"));
        if (s->probabilities)
            TRY(check_probabilities(s->outputs, s->n, s->classes, side));
        if (s->labels)
            TRY(check_labels(s->labels, s->n, s->classes, side));
    }
    if (s->losses)
        TRY(check_reals(s->losses, s->n, side, "losses"));
    if (s->scores)
        TRY(check_reals(s->scores, s->n, side, "scores"));
    if (s->reference)
        TRY(check_finite(s->reference, s->n, s->models, side, "reference signals"));
    if (s->trained)
        TRY(check_trained(s->trained, s->n * s->models, side));
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

/* One array of both sides, members first: rows of `width` values of `size` bytes. Nothing given: *out stays
 * NULL. */
static sotto_status join(const void **out, struct audit_sides *s, size_t slot, const void *member,
                         const void *nonmember, size_t width, size_t size)
{
    sotto_status status = SOTTO_OK;
    size_t count, of_members = s->member.n * width;
    if (!member)
        return SOTTO_OK;
    if (!size_multiply(&count, s->all.n, width) || !(s->owned[slot] = base_alloc(count, size)))
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu x %zu values", s->all.n, width);
    memcpy(s->owned[slot], member, of_members * size);
    memcpy((char *)s->owned[slot] + of_members * size, nonmember, (count - of_members) * size);
    *out = s->owned[slot];
done:
    return status;
}

/* Attacks compute in double whatever the caller has. */
static sotto_status join_narrow(struct audit_sides *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t count, of_members = in->n_member * in->classes;
    double *wide = NULL;
    if (!size_multiply(&count, s->all.n, in->classes) || !(wide = base_alloc(count, sizeof *wide)))
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu x %zu outputs", s->all.n, in->classes);
    for (size_t i = 0; i < count; i++)
        wide[i] = i < of_members ? in->member[i] : in->nonmember[i - of_members];
    s->all.outputs = s->owned[0] = wide;
done:
    return status;
}

static sotto_status join_all(struct audit_sides *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    const void *outputs = NULL, *labels = NULL, *losses = NULL, *scores = NULL, *reference = NULL,
               *trained = NULL;
    TRY(join(&outputs, s, 0, in->member_f8, in->nonmember_f8, in->classes, sizeof(double)));
    TRY(join(&labels, s, 1, in->member_labels, in->nonmember_labels, 1, sizeof(int64_t)));
    TRY(join(&losses, s, 2, in->member_losses, in->nonmember_losses, 1, sizeof(double)));
    TRY(join(&scores, s, 3, in->member_scores, in->nonmember_scores, 1, sizeof(double)));
    TRY(join(&reference, s, 4, in->member_reference, in->nonmember_reference, in->reference_models,
             sizeof(double)));
    TRY(join(&trained, s, 5, in->member_trained, in->nonmember_trained, in->reference_models, 1));
    s->all.outputs = outputs;
    s->all.labels = labels;
    s->all.losses = losses;
    s->all.scores = scores;
    s->all.reference = reference;
    s->all.trained = trained;
    if (in->member)
        TRY(join_narrow(s, in));
done:
    return status;
}

/* Records first .. first + n - 1 of all. */
static struct attack_input part(const struct attack_input *all, size_t first, size_t n)
{
    struct attack_input p = *all;
    p.n = n;
    if (p.outputs)
        p.outputs += first * p.classes;
    if (p.labels)
        p.labels += first;
    if (p.losses)
        p.losses += first;
    if (p.scores)
        p.scores += first;
    if (p.reference)
        p.reference += first * p.models;
    if (p.trained)
        p.trained += first * p.models;
    return p;
}

static unsigned holdings(const struct attack_input *all)
{
    unsigned have = 0;
    bool seen = false, unseen = false;
    if (all->outputs)
        have |= NEED_OUTPUTS | (all->labels ? NEED_LABELS | NEED_LOSSES : 0u);
    if (all->losses)
        have |= NEED_LOSSES;
    if (all->scores)
        have |= NEED_SCORES;
    for (size_t i = 0; all->reference && i < all->n * all->models; i++) {
        bool trained = all->trained && all->trained[i];
        seen |= trained;
        unseen |= !trained;
    }
    if (all->shadow_outputs)
        have |= NEED_SHADOW;
    return have | (seen ? NEED_IN : 0u) | (unseen ? NEED_OUT : 0u);
}

static sotto_status check_references(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    if (!in->member_reference) {
        if (in->member_trained)
            FAIL(SOTTO_EUSAGE, "audit: a training mask needs the reference models' signals");
        return SOTTO_OK;
    }
    REQUIRE(in->reference_models >= 2, "audit: %zu reference model; at least 2 are needed",
            in->reference_models);
    if (!in->member_losses && !((in->member || in->member_f8) && in->member_labels))
        FAIL(SOTTO_EUSAGE,
             "audit: reference models need the target's logits or probabilities with labels, or its "
             "losses");
done:
    return status;
}

static sotto_status check_shadow(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t trained = 0;
    if (!in->shadow && !in->shadow_labels && !in->shadow_trained)
        return SOTTO_OK;
    if (!in->shadow || !in->shadow_labels || !in->shadow_trained)
        FAIL(SOTTO_EUSAGE, "audit: a shadow model needs its outputs, labels and membership");
    if (!(in->member || in->member_f8) || !in->member_labels)
        FAIL(SOTTO_EUSAGE, "audit: a shadow model needs the target's logits or probabilities, with labels");
    TRY(check_side(&(struct attack_input){.outputs = in->shadow,
                                          .probabilities = in->probabilities != 0,
                                          .labels = in->shadow_labels,
                                          .n = in->n_shadow,
                                          .classes = in->classes},
                   "shadow"));
    TRY(check_trained(in->shadow_trained, in->n_shadow, "shadow"));
    for (size_t i = 0; i < in->n_shadow; i++)
        trained += in->shadow_trained[i];
    REQUIRE(trained >= 2 && in->n_shadow - trained >= 2,
            "shadow: %zu members and %zu non-members; at least 2 of each are needed", trained,
            in->n_shadow - trained);
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
    TRY(both(in->member_reference, in->nonmember_reference, "reference signals"));
    TRY(both(in->member_trained, in->nonmember_trained, "training masks"));
    if (in->member && in->member_f8)
        FAIL(SOTTO_EUSAGE, "audit: outputs were given twice, in single and in double precision");
    if (!outputs && !in->member_losses && !in->member_scores)
        FAIL(SOTTO_EUSAGE, "audit: nothing to audit; expected logits, probabilities, losses or scores");
    REQUIRE(in->n_member >= 2 && in->n_nonmember >= 2,
            "audit: %zu members and %zu non-members; at least 2 of each are needed", in->n_member,
            in->n_nonmember);
    REQUIRE(!outputs || in->classes >= 2, "audit: %zu class; at least 2 are needed", in->classes);
    TRY(check_references(in));
    TRY(check_shadow(in));
    s.all = (struct attack_input){.probabilities = in->probabilities != 0,
                                  .n = in->n_member + in->n_nonmember,
                                  .classes = in->classes,
                                  .models = in->member_reference ? in->reference_models : 0,
                                  .shadow_outputs = in->shadow,
                                  .shadow_labels = in->shadow_labels,
                                  .shadow_trained = in->shadow_trained,
                                  .shadow_n = in->n_shadow};
    s.member.n = in->n_member;
    TRY(join_all(&s, in));
    s.member = part(&s.all, 0, in->n_member);
    s.nonmember = part(&s.all, in->n_member, in->n_nonmember);
    TRY(check_side(&s.member, "members"));
    TRY(check_side(&s.nonmember, "non-members"));
    if (in->reference_losses && s.owned[4])
        for (size_t i = 0; i < s.all.n * s.all.models; i++)
            ((double *)s.owned[4])[i] = signal_of_loss(s.all.reference[i]);
    s.have = holdings(&s.all);
    *out = s;
done:
    if (status != SOTTO_OK)
        audit_sides_clear(&s);
    return status;
}

void audit_sides_clear(struct audit_sides *s)
{
    for (size_t i = 0; i < sizeof s->owned / sizeof *s->owned; i++)
        base_free(s->owned[i]);
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
