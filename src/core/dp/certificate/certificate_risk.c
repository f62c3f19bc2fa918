/* What a certificate says of tests of membership. The account is taken again at the deltas that such a target is made of, so
 * what is found is proved, or conditional, as epsilon is; where it falls short, the profile tells what holds. */
#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/account/risk.h"
#include "dp/certificate/certificate.h"
#include "io/text/number.h"
#include "sotto/lab/certificate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool certificate_risk_begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

int certificate_lattice(const char *sampler)
{
    return certificate_risk_begins(sampler, LATTICE_SAMPLER) ? LATTICE_BITS
           : certificate_risk_begins(sampler, FLAT_SAMPLER)  ? LATTICE_BITS_FLAT
                                                             : LATTICE_BITS_FINE;
}

/* Has it an account at any delta, or only at its own? */
static bool has_account(const struct sotto_certificate *c)
{
    if (c->run)
        return !c->run->facts.fast;
    return c->account.compose == 1 && !certificate_risk_begins(c->sampler, FIXED_SAMPLER) &&
           strcmp(c->account.mechanism, TEST_MECHANISM) != 0;
}

/* Has it, at the delta of a point that implies the risk, no more than the point's epsilon? Which point to look at is what the
 * calibration found, for the noise that the certificate is of or for a little less. */
static sotto_status certificate_risk_keeps(bool *out, const struct sotto_certificate *c,
                                           const struct sotto_risk *risk, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    struct sotto_dp point;
    double noise;
    if (c->run) {
        struct sotto_sampled steps = certificate_steps(c);
        TRY(calibrate_sampled_risk(&noise, &point, &steps, risk, ctx));
        steps.delta = point.delta;
        TRY(sotto_account_sampled(&a, &steps, ctx));
        TRY(run_complete_account(&a, &c->run->facts));
    } else {
        const int bits = certificate_lattice(c->sampler);
        TRY(calibrate_risk_on(&noise, &point, c->account.mechanism, &c->sensitivity, risk, bits, ctx));
        TRY(account_on(&a, c->account.mechanism, c->account.scale, &c->sensitivity, point.delta, bits, ctx));
    }
    *out = a.epsilon.upper <= point.epsilon;
done:
    if (status == SOTTO_EDOMAIN) { /* nothing is known of it */
        *out = false;
        status = SOTTO_OK;
    }
    return status;
}

sotto_status sotto_certificate_risk(char **line, const struct sotto_certificate *certificate,
                                    const struct sotto_risk *risk, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(line, certificate, risk);
    sotto_status status = SOTTO_OK;
    struct sotto_privacy_profile profile = {0};
    char text[CONDITION_TEXT + 320], most[NUMBER_TEXT];
    const struct certificate_wording *w = &certificate->wording;
    char *made = NULL;
    bool holds = false;
    double bound, fpr;
    TRY(sotto_certificate_profile(&profile, certificate, ctx));
    TRY(risk_bound(&bound, &fpr, risk, &profile));
    if (has_account(certificate))
        TRY(certificate_risk_keeps(&holds, certificate, risk, ctx));
    if (holds)
        bound = fpr > 0 ? strtod(risk->max_tpr, NULL) : risk->max_advantage;
    number_text(most, bound);
    if (!holds) /* rounded up */
        snprintf(most, sizeof most, "%.6g", fmin(1, bound * (1 + 5e-6)));
    if (fpr > 0)
        snprintf(text, sizeof text,
                 "any test of membership: true-positive rate at most %s at false-positive rate %.6g%s%s",
                 most, fpr, w->rests_on[0] ? ", if what epsilon rests on holds: " : "", w->rests_on);
    else
        snprintf(text, sizeof text,
                 "any test of membership: true-positive rate at most %s above the false-positive rate%s%s",
                 most, w->rests_on[0] ? ", if what epsilon rests on holds: " : "", w->rests_on);
    NEW_TEXT(made, text);
    *line = made;
done:
    sotto_privacy_profile_clear(&profile);
    return status;
}
