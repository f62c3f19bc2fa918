/* The privacy profile behind a certificate. What is certified as (epsilon, delta) is a point of it in any case; the
 * mechanism's whole curve is added where the certificate is of that mechanism and of nothing else. */
#include "base/memory.h"
#include "dp/account/profile.h"
#include "dp/certificate/certificate.h"
#include "dp/mechanism/mechanism.h"

#include <stdio.h>
#include <string.h>

static bool has_curve(const struct sotto_certificate *c)
{
    const struct mechanism *m = mechanism_find(c->account.mechanism);
    if (!m || c->unit.rows > 1 || c->account.epsilon.upper == INFINITY)
        return false;
    if (c->run)
        return !c->run->facts.fast && !(c->run->facts.label_scale > 0) &&
               strncmp(c->sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) != 0;
    return c->account.compose == 1 && (m->kind == RELEASE_LATTICE || m->kind == RELEASE_INTEGER) &&
           strncmp(c->sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) != 0;
}

/* Zero-out is accounted as add-remove, and an input as a record. */
static sotto_status run_profile(struct sotto_privacy_profile *out, const struct sotto_certificate *c,
                                const struct sotto_context *ctx)
{
    const struct dpsgd_facts *f = &c->run->facts;
    const struct sotto_sampled steps = {
        .mechanism = f->mechanism,
        .noise_multiplier = run_multiplier(f),
        .sample_rate = f->sample_rate,
        .steps = c->run->reservations.charged,
        .clipping = f->clipping,
        .adjacency = strcmp(c->account.adjacency, "zero-out") == 0 ? SOTTO_ADD_REMOVE : SOTTO_REPLACE_ONE,
        .sampling = f->sampling};
    return sotto_privacy_profile_sampled(out, &steps, ctx);
}

sotto_status sotto_certificate_profile(struct sotto_privacy_profile *out,
                                       const struct sotto_certificate *certificate,
                                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, certificate);
    sotto_status status = SOTTO_OK;
    struct sotto_privacy_profile p = {0};
    const struct sotto_account *a = &certificate->account;
    REQUIRE(!certificate->seeded,
            "certificate: its noise came from a seed, so it guarantees nothing that could be tested; "
            "release again without a seed");
    snprintf(p.of, sizeof p.of, "(epsilon %.6g, delta %.3g)", a->epsilon.upper, a->delta);
    if (has_curve(certificate) && certificate->run)
        TRY(run_profile(&p, certificate, ctx));
    else if (has_curve(certificate))
        TRY(sotto_privacy_profile_release(&p, a->mechanism, a->scale, &certificate->sensitivity));
    TRY(profile_add(&p, a->epsilon.upper, a->delta));
    TRY(profile_add(&p, a->pure_epsilon, 0));
    snprintf(p.adjacency, sizeof p.adjacency, "%s", a->adjacency);
    *out = p;
    p = (struct sotto_privacy_profile){0};
done:
    sotto_privacy_profile_clear(&p);
    return status;
}
