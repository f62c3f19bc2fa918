/* The privacy profile behind a certificate. What is certified as (epsilon, delta) is a point of it in any case; the
 * mechanism's whole curve is added where the certificate is of that mechanism and of nothing else. */
#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/account/adaptive_account.h"
#include "dp/account/profile.h"
#include "dp/certificate/certificate.h"
#include "dp/mechanism/mechanism.h"

#include <stdio.h>
#include <string.h>

static bool has_curve(const struct sotto_certificate *c)
{
    const struct mechanism *m = mechanism_find(c->account.mechanism);
    if (!m || unit_rows(&c->unit) > 1 || c->account.epsilon.upper == INFINITY)
        return false;
    if (c->run)
        return !c->run->facts.fast && !(c->run->facts.label_scale > 0) &&
               strncmp(c->sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) != 0;
    return c->account.compose == 1 && (m->kind == RELEASE_LATTICE || m->kind == RELEASE_INTEGER) &&
           strncmp(c->sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) != 0;
}

/* Zero-out is accounted as add-remove, and an input as a record. */
struct sotto_sampled certificate_steps(const struct sotto_certificate *c)
{
    const struct dpsgd_facts *f = &c->run->facts;
    return (struct sotto_sampled){.mechanism = f->mechanism,
                                  .noise_multiplier = run_multiplier(f),
                                  .sample_rate = f->sample_rate,
                                  .steps = c->run->reservations.charged,
                                  .clipping = f->clipping,
                                  .adjacency = c->account.adjacency == SOTTO_ZERO_OUT ? SOTTO_ADD_REMOVE
                                                                                      : SOTTO_REPLACE_ONE,
                                  .rows_per_person = unit_rows(&c->unit),
                                  .sampling = f->sampling};
}

static sotto_status require_unseeded(const struct sotto_certificate *c)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(!c->seeded,
            "certificate: its noise came from a seed, so it guarantees nothing that could be tested; "
            "release again without a seed");
done:
    return status;
}

sotto_status sotto_certificate_profile(struct sotto_privacy_profile *out,
                                       const struct sotto_certificate *certificate,
                                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, certificate);
    sotto_status status = SOTTO_OK;
    struct sotto_privacy_profile p = {0};
    const struct sotto_account *a = &certificate->account;
    TRY(require_unseeded(certificate));
    snprintf(p.of, sizeof p.of, "(epsilon %.6g, delta %.3g)", a->epsilon.upper, a->delta);
    if (has_curve(certificate) && certificate->run) {
        const struct sotto_sampled steps = certificate_steps(certificate);
        TRY(sotto_privacy_profile_sampled(&p, &steps, ctx));
    } else if (has_curve(certificate))
        TRY(sotto_privacy_profile_release(&p, a->mechanism, a->scale, &certificate->sensitivity));
    TRY(profile_add(&p, a->epsilon.upper, a->delta));
    TRY(profile_add(&p, a->pure_epsilon, 0));
    p.adjacency = a->adjacency;
    *out = p;
    p = (struct sotto_privacy_profile){0};
done:
    sotto_privacy_profile_clear(&p);
    return status;
}

/* One release of Gaussian noise is one Gaussian, exactly. */
static bool is_gaussian(const struct sotto_certificate *c)
{
    return has_curve(c) && !c->run && mechanism_find(c->account.mechanism)->by_l2 &&
           !mechanism_find(c->account.mechanism)->integer;
}

sotto_status certificate_adaptive(struct sotto_adaptive *out, const struct sotto_certificate *certificate,
                                  const struct sotto_privacy_profile *profile)
{
    REQUIRE_GIVEN(out, certificate, profile);
    sotto_status status = SOTTO_OK;
    struct adaptive box = {0, 0, 0};
    struct sensitivity_ratio shifts;
    const struct sotto_account *a = &certificate->account;
    TRY(require_unseeded(certificate));
    if (is_gaussian(certificate)) {
        TRY(sensitivity_ratio_for(&shifts, mechanism_find(a->mechanism), a->scale,
                                  &certificate->sensitivity));
        box.square = iv_square(shifts.l2).hi;
    } else
        TRY(profile_gaussian(&box, profile));
    *out = adaptive_shown(&box);
done:
    return status;
}
