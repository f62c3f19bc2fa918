/* Every check happens before any attack runs, so an attack never meets a NaN or a label that is out of
 * range. */
#include "audit/audit_duplicates.h"
#include "audit/audit_private.h"
#include "audit/score/resolution.h"
#include "audit/score/tokens.h"

#include <math.h>
#include <string.h>

/* struct sotto_audit_input.reference_kind */
enum { REFERENCE_AS_TARGET, REFERENCE_LOGITS_GIVEN, REFERENCE_PROBABILITIES_GIVEN };

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

static sotto_status check_probabilities(const double *p, size_t n, size_t classes, double step,
                                        const char *side)
{
    const double slack = resolution_slack(step, classes);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < classes; k++) {
            double x = p[i * classes + k];
            if (x < 0)
                return status_fail(SOTTO_EINVAL, "%s: row %zu, column %zu is %g; probabilities must be >= 0",
                                   side, i, k, x);
            sum += x;
        }
        if (fabs(sum - 1) > slack)
            return status_fail(
                SOTTO_EINVAL,
                "%s: row %zu sums to %g; probabilities must sum to 1 within %g (are these logits?)", side, i,
                sum, slack);
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
            TRY(check_probabilities(s->outputs, s->n, s->classes, s->step, side));
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

static sotto_status audit_check_both(const void *member, const void *nonmember, const char *what)
{
    if (!member == !nonmember)
        return SOTTO_OK;
    return status_fail(SOTTO_EUSAGE, "audit: %s were given for %s only; both sides need them", what,
                       member ? "members" : "non-members");
}

/* Records first .. first + n - 1 of all. */
static struct attack_input audit_check_part(const struct attack_input *all, size_t first, size_t n)
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
    if (p.features)
        p.features += first * p.width;
    if (p.discriminator)
        p.discriminator += first;
    p.tokens = NULL;
    p.views = 0; /* are not stored by record */
    p.view_signals = p.view_reference = NULL;
    return p;
}

/* Means may be a rounding error beyond 0 and 1, and a released one may hold noise. */
static bool all_shares(const struct attack_input *all)
{
    const double slack = 1e-6;
    for (size_t j = 0; j < all->width; j++)
        if (!(fabs(all->reference_mean[j] - 0.5) <= 0.5 + slack))
            return false;
    for (size_t i = 0; i < all->n * all->width; i++)
        if (all->features[i] < 0 || all->features[i] > 1)
            return false;
    return true;
}

static unsigned of_generator(const struct attack_input *all)
{
    return (all->discriminator ? NEED_DISCRIMINATOR : 0u) | (all->generated ? NEED_GENERATED : 0u) |
           (all->reference_generated ? NEED_REFERENCE_GENERATED : 0u);
}

static sotto_status audit_check_holdings(unsigned *out, const struct attack_input *all,
                                         const struct reference_matrix *matrix)
{
    sotto_status status = SOTTO_OK;
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
    if (!all->reference && all->models)
        TRY(reference_matrix_masks(&seen, &unseen, matrix));
    if (seen && !unseen)
        FAIL(SOTTO_EINVAL,
             "reference models: the training mask marks every record as one of every model, so no attack can "
             "compare with a model that was not trained on it; expected 0 where it was not");
    if (seen && unseen && all->models >= 3)
        have |= NEED_TUNED;
    if (all->models >= 2)
        have |= NEED_SEVERAL;
    if (all->shadow_outputs)
        have |= NEED_SHADOW;
    if (all->released_mean)
        have |= NEED_MEANS | (all_shares(all) ? NEED_SHARES : 0u);
    if (all->population)
        have |= NEED_POPULATION | (all->population->reference ? NEED_POPULATION_REFERENCE : 0u);
    if (all->view_reference)
        have |= NEED_VIEWS;
    have |= of_generator(all) | tokens_needs(all->tokens);
    *out = have | (seen ? NEED_IN : 0u) | (unseen ? NEED_OUT : 0u);
done:
    return status;
}

static sotto_status check_references(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    bool outputs = in->reference_outputs || in->reference_outputs_f8;
    if ((in->member_reference || in->member_trained || outputs || in->member_views) &&
        (in->member_reference_rows || in->member_trained_rows))
        FAIL(SOTTO_EUSAGE, "audit: references in files stand alone: no views, no others in memory");
    if (outputs && (in->member_reference || in->member_trained))
        FAIL(SOTTO_EUSAGE, "audit: give either the reference models' outputs or their signals, not both");
    if (in->reference_outputs && in->reference_outputs_f8)
        FAIL(SOTTO_EUSAGE, "audit: the reference models' outputs were given twice");
    REQUIRE(in->reference_kind >= 0 && in->reference_kind <= REFERENCE_PROBABILITIES_GIVEN,
            "audit: reference_kind is %d; expected 0, 1 (logits) or 2 (probabilities)", in->reference_kind);
    if (outputs && !((in->member || in->member_f8) && in->member_labels))
        FAIL(SOTTO_EUSAGE,
             "audit: outputs of reference models need the target's logits or probabilities, with labels");
    if (!in->member_reference && !in->member_reference_rows && !outputs) {
        if (in->reference_outputs_trained)
            FAIL(SOTTO_EUSAGE, "audit: the membership of the reference models needs their outputs");
        if (in->member_trained || in->member_trained_rows)
            FAIL(SOTTO_EUSAGE, "audit: a training mask needs the reference models' signals");
        return SOTTO_OK;
    }
    REQUIRE(in->reference_models >= 1, "audit: 0 reference models; expected at least 1");
    if (!in->member_losses && !((in->member || in->member_f8) && in->member_labels))
        FAIL(SOTTO_EUSAGE,
             "audit: reference models need the target's logits or probabilities with labels, or its "
             "losses");
done:
    return status;
}

static sotto_status check_shadow(const struct sotto_audit_input *in, double step)
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
                                          .step = step,
                                          .labels = in->shadow_labels,
                                          .n = in->n_shadow,
                                          .classes = in->classes},
                   "shadow"));
    TRY(check_trained(in->shadow_trained, in->n_shadow, "shadow"));
    for (size_t i = 0; i < in->n_shadow; i++)
        trained += in->shadow_trained[i];
    REQUIRE(trained >= 2 && in->n_shadow - trained >= 2,
            "shadow: %zu members and %zu non-members; expected at least 2 of each", trained,
            in->n_shadow - trained);
done:
    return status;
}

/* (models, n, classes); reported by model and row. */
static bool references_are_probabilities(const struct sotto_audit_input *in)
{
    return in->reference_kind == REFERENCE_PROBABILITIES_GIVEN ||
           (in->reference_kind == REFERENCE_AS_TARGET && in->probabilities);
}

static sotto_status check_reference_outputs(const struct sotto_audit_input *in, double step)
{
    sotto_status status = SOTTO_OK;
    const double slack = resolution_slack(step, in->classes);
    size_t n = in->n_member + in->n_nonmember;
    for (size_t m = 0; m < in->reference_models; m++)
        for (size_t i = 0; i < n; i++) {
            double sum = 0, least = 0;
            for (size_t k = 0; k < in->classes; k++) {
                size_t at = (m * n + i) * in->classes + k;
                double x =
                    in->reference_outputs ? (double)in->reference_outputs[at] : in->reference_outputs_f8[at];
                sum += x;
                least = x < least ? x : least;
            }
            if (!isfinite(sum))
                FAIL(SOTTO_EINVAL, "reference outputs: model %zu, row %zu is not finite", m, i);
            if (references_are_probabilities(in) && (least < 0 || fabs(sum - 1) > slack))
                FAIL(SOTTO_EINVAL,
                     "reference outputs: model %zu, row %zu sums to %g; probabilities must be >= 0 and sum "
                     "to 1 within %g (are these logits?)",
                     m, i, sum, slack);
        }
    if (in->reference_outputs_trained)
        TRY(check_trained(in->reference_outputs_trained, n * in->reference_models, "reference models"));
done:
    return status;
}

static sotto_status check_population(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    bool outputs = in->member || in->member_f8;
    if (!in->population && !in->population_losses) {
        if (in->population_labels || in->population_reference || in->population_features)
            FAIL(SOTTO_EUSAGE, "audit: a population needs its logits, probabilities or losses");
        return SOTTO_OK;
    }
    if (in->population && !(outputs && in->member_labels && in->population_labels))
        FAIL(SOTTO_EUSAGE,
             "audit: the population's outputs need its labels, and the target's outputs and labels");
    if (in->population_losses && !in->member_losses)
        FAIL(SOTTO_EUSAGE, "audit: the population's losses need the target's losses");
    if (in->population_reference && !in->member_reference && !in->member_reference_rows &&
        !in->reference_outputs && !in->reference_outputs_f8)
        FAIL(SOTTO_EUSAGE, "audit: reference signals of the population need those of the records");
    REQUIRE(in->n_population >= 10, "population: %zu records; expected at least 10", in->n_population);
done:
    return status;
}

static sotto_status check_generative(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_generative_input *g = in->generative;
    TRY(audit_check_both(g->member_discriminator, g->nonmember_discriminator, "logits of the discriminator"));
    if (!g->member_discriminator && !g->generated)
        FAIL(SOTTO_EUSAGE, "audit: a generative model needs its samples or its discriminator's logits");
    if (g->generated && !in->member_features)
        FAIL(SOTTO_EUSAGE, "audit: samples of a generator need the records' features");
    if ((g->reference_generated || g->attacker) && !g->generated)
        FAIL(SOTTO_EUSAGE,
             "audit: samples of a reference generator and records of the attacker need samples of the "
             "generator under attack");
    REQUIRE(!g->generated || g->generated_n > 0, "audit: 0 samples of the generator; expected at least 1");
    REQUIRE(!g->reference_generated || g->reference_generated_n > 0,
            "audit: 0 samples of the reference generator; expected at least 1");
    REQUIRE(!g->channels || ((g->channels == 1 || g->channels == 3) && g->height > 0 && g->width > 0 &&
                             g->height <= in->feature_count && g->width <= in->feature_count &&
                             g->channels * g->height * g->width == in->feature_count),
            "audit: samples are images of %zu x %zu x %zu values but have %zu; expected 1 or 3 channels and "
            "as many "
            "values",
            g->channels, g->height, g->width, in->feature_count);
    REQUIRE(!g->attacker || g->attacker_n >= 2, "audit: %zu record of the attacker; expected at least 2",
            g->attacker_n);
done:
    return status;
}

static sotto_status check_named(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < in->named_count; i++) {
        const struct sotto_audit_scores *s = &in->named[i];
        REQUIRE(s->name && s->name[0] && s->member && s->nonmember,
                "audit: attack %zu has no name or no scores", i);
        TRY(check_reals(s->member, in->n_member, "members", s->name));
        TRY(check_reals(s->nonmember, in->n_nonmember, "non-members", s->name));
        REQUIRE(!s->has_threshold || !isnan(s->threshold), "audit: the threshold of '%s' is NaN", s->name);
    }
done:
    return status;
}

/* What is given at all, and whether it fits together; no value is looked at. */
static sotto_status check_shape(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    bool outputs = in->member || in->member_f8;
    TRY(audit_check_both(in->member, in->nonmember, "logits or probabilities"));
    TRY(audit_check_both(in->member_f8, in->nonmember_f8, "logits or probabilities"));
    TRY(audit_check_both(in->member_labels, in->nonmember_labels, "labels"));
    TRY(audit_check_both(in->member_losses, in->nonmember_losses, "losses"));
    TRY(audit_check_both(in->member_scores, in->nonmember_scores, "scores"));
    TRY(audit_check_both(in->member_reference, in->nonmember_reference, "reference signals"));
    TRY(audit_check_both(in->member_trained, in->nonmember_trained, "training masks"));
    TRY(audit_check_both(in->member_reference_rows, in->nonmember_reference_rows, "reference signals"));
    TRY(audit_check_both(in->member_trained_rows, in->nonmember_trained_rows, "training masks"));
    TRY(audit_check_both(in->member_features, in->nonmember_features, "features"));
    TRY(audit_check_both(in->member_dates, in->nonmember_dates, "dates"));
    if (in->member && in->member_f8)
        FAIL(SOTTO_EUSAGE, "audit: outputs were given twice, in single and in double precision");
    if (in->reference_mean && in->reference_people)
        FAIL(SOTTO_EUSAGE, "audit: give either the reference mean or the people behind it, not both");
    if (!in->released_mean != !(in->reference_mean || in->reference_people) ||
        (in->released_mean && !in->member_features))
        FAIL(SOTTO_EUSAGE, "audit: a released mean needs the mean of a population and the records' features");
    REQUIRE(!in->reference_people || in->n_reference > 0,
            "audit: no people behind the reference mean; expected at least 1");
    if (!outputs && !in->member_losses && !in->member_scores && !in->named_count && !in->released_mean &&
        !in->generative && !in->tokens)
        FAIL(SOTTO_EUSAGE, "audit: nothing to audit; expected logits, probabilities, losses or scores");
    REQUIRE(in->n_member >= 2 && in->n_nonmember >= 2,
            "audit: %zu members and %zu non-members; expected at least 2 of each", in->n_member,
            in->n_nonmember);
    REQUIRE(!outputs || in->classes >= 2, "audit: %zu class; expected at least 2", in->classes);
    REQUIRE(!in->member_features || in->feature_count > 0,
            "audit: features have no columns; expected at least one");
    if (in->generative)
        TRY(check_generative(in));
    TRY(check_references(in));
    TRY(check_population(in));
done:
    return status;
}

static sotto_status check_features(const float *x, size_t n, size_t width, const char *side)
{
    for (size_t i = 0; x && i < n * width; i++)
        if (!isfinite(x[i]))
            return status_fail(SOTTO_EINVAL, "%s: row %zu, column %zu of the features is not finite", side,
                               i / width, i % width);
    return SOTTO_OK;
}

/* Distances square these in single precision. */
static sotto_status check_range(const float *x, size_t n, size_t width, const char *side)
{
    for (size_t i = 0; x && i < n * width; i++)
        if (!(fabsf(x[i]) <= 1e15f))
            return status_fail(
                SOTTO_EINVAL,
                "%s: row %zu, column %zu is %g; expected values from -1e15 to 1e15 for distances", side,
                i / width, i % width, (double)x[i]);
    return SOTTO_OK;
}

static sotto_status check_generated(const struct audit_arrays *s)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *all = &s->all;
    if (all->discriminator) {
        TRY(check_reals(s->member.discriminator, s->member.n, "members", "logits of the discriminator"));
        TRY(check_reals(s->nonmember.discriminator, s->nonmember.n, "non-members",
                        "logits of the discriminator"));
    }
    if (!all->generated)
        return SOTTO_OK;
    TRY(check_range(s->member.features, s->member.n, all->width, "members"));
    TRY(check_range(s->nonmember.features, s->nonmember.n, all->width, "non-members"));
    TRY(check_range(all->generated, all->generated_n, all->width, "samples of the generator"));
    TRY(check_range(all->reference_generated, all->reference_generated_n, all->width,
                    "samples of the reference generator"));
    TRY(check_range(all->attacker, all->attacker_n, all->width, "records of the attacker"));
done:
    return status;
}

/* A person behind the reference mean is no outsider: the mean leans towards him, and the attack would be praised for
 * telling him from members. */
static sotto_status check_reference_people(const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    float *both = NULL;
    struct duplicates d;
    if (!in->reference_people)
        return SOTTO_OK;
    const size_t width = in->feature_count, n = in->n_nonmember;
    NEW_ROWS(both, n + in->n_reference, width);
    memcpy(both, in->nonmember_features, n * width * sizeof *both);
    memcpy(both + n * width, in->reference_people, in->n_reference * width * sizeof *both);
    TRY(duplicates_count(&d, both, width * sizeof *both, n, in->n_reference));
    if (d.members)
        FAIL(SOTTO_EINVAL,
             "audit: %zu of %zu non-members have the features of a reference person; expected other people "
             "(if they "
             "are, give the reference mean instead of the reference people)",
             d.members, n);
done:
    base_free(both);
    return status;
}

static double step_of(const float *narrow, const double *wide, size_t n)
{
    struct resolution r = resolution_start();
    if (narrow)
        resolution_see_single(&r, narrow, n);
    if (wide)
        resolution_see(&r, wide, n);
    return resolution_step(&r);
}

/* The coarsest of all models' answers: what one rounded away is compared with what another kept. */
static double find_step(const struct sotto_audit_input *in)
{
    const size_t k = in->classes, records = in->n_member + in->n_nonmember;
    double step = 0;
    if (!in->probabilities)
        return 0;
    step = fmax(step, step_of(in->member, in->member_f8, in->n_member * k));
    step = fmax(step, step_of(in->nonmember, in->nonmember_f8, in->n_nonmember * k));
    if (references_are_probabilities(in))
        step = fmax(step, step_of(in->reference_outputs, in->reference_outputs_f8,
                                  in->reference_models * records * k));
    step = fmax(step, step_of(NULL, in->shadow, in->n_shadow * k));
    return fmax(step, step_of(NULL, in->population, in->n_population * k));
}

/* For their checks; attacks meet them row by row. */
static void lend_references(struct audit_arrays *s, const struct sotto_audit_input *in)
{
    s->member.reference = in->member_reference, s->nonmember.reference = in->nonmember_reference;
    s->member.trained = in->member_trained, s->nonmember.trained = in->nonmember_trained;
}

static sotto_status check_dates(struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    if (!in->member_dates)
        goto done;
    TRY(check_reals(in->member_dates, in->n_member, "members", "dates"));
    TRY(check_reals(in->nonmember_dates, in->n_nonmember, "non-members", "dates"));
    s->dates[0] = in->member_dates, s->dates[1] = in->nonmember_dates;
done:
    return status;
}

static sotto_status check_release(const struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    if (!in->released_mean)
        goto done;
    TRY(check_reals(in->released_mean, in->feature_count, "released mean", "means"));
    TRY(check_features(in->reference_people, in->n_reference, in->feature_count, "reference people"));
    TRY(check_reals(s->all.reference_mean, in->feature_count, "reference mean", "means"));
    TRY(check_reference_people(in));
done:
    return status;
}

sotto_status audit_check(struct audit_arrays *out, const struct sotto_audit_input *in,
                         const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct audit_arrays s = {0};
    bool references = in->member_reference || in->member_reference_rows || in->reference_outputs ||
                      in->reference_outputs_f8;
    TRY(check_shape(in));
    const double step = find_step(in);
    TRY(check_shadow(in, step));
    s.all = (struct attack_input){.probabilities = in->probabilities != 0,
                                  .step = step,
                                  .n = in->n_member + in->n_nonmember,
                                  .classes = in->classes,
                                  .models = references ? in->reference_models : 0,
                                  .shadow_outputs = in->shadow,
                                  .shadow_labels = in->shadow_labels,
                                  .shadow_trained = in->shadow_trained,
                                  .shadow_n = in->n_shadow};
    s.member.n = in->n_member;
    TRY(check_dates(&s, in));
    s.reference_outputs = in->reference_outputs;
    s.reference_outputs_f8 = in->reference_outputs_f8;
    s.reference_probabilities = references_are_probabilities(in);
    TRY(audit_join(&s, in));
    s.member = audit_check_part(&s.all, 0, in->n_member);
    s.nonmember = audit_check_part(&s.all, in->n_member, in->n_nonmember);
    lend_references(&s, in);
    TRY(check_side(&s.member, "members"));
    TRY(check_side(&s.nonmember, "non-members"));
    TRY(reference_matrix_check(&s.matrix, ctx));
    TRY(check_features(s.member.features, s.member.n, s.member.width, "members"));
    TRY(check_features(s.nonmember.features, s.nonmember.n, s.nonmember.width, "non-members"));
    TRY(check_release(&s, in));
    TRY(check_generated(&s));
    if (in->tokens)
        TRY(tokens_check(in->tokens, s.all.n));
    TRY(check_named(in));
    if (in->reference_outputs || in->reference_outputs_f8)
        TRY(check_reference_outputs(in, step));
    if (in->population || in->population_losses) {
        TRY(check_side(&s.population, "population"));
        TRY(check_features(s.population.features, s.population.n, s.population.width, "population"));
    }
    TRY(audit_join_references(&s, in, ctx));
    TRY(audit_join_views(&s, in, ctx));
    *out = s;
    if (out->population.n) /* only now is its address known */
        out->all.population = &out->population;
    out->member = audit_check_part(&out->all, 0, in->n_member);
    out->nonmember = audit_check_part(&out->all, in->n_member, in->n_nonmember);
    TRY(audit_check_holdings(&out->have, &out->all, &out->matrix));
done:
    if (status != SOTTO_OK) {
        audit_arrays_clear(&s);
        *out = (struct audit_arrays){0};
    }
    return status;
}

void audit_arrays_clear(struct audit_arrays *s)
{
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        base_free(s->owned[i]);
    *s = (struct audit_arrays){0};
}
