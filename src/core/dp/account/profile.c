/* Points of delta(epsilon) from above. Each is a line below the trade-off curve: beta >= 1 - delta - e^epsilon alpha, and
 * the same with the errors exchanged. Between two lines at distance h in epsilon their envelope lies below the curve by a
 * share of about h^2 / 8. */
#include "dp/account/profile.h"
#include "sotto/lab/account.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/event_part.h"
#include "dp/account/person.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 200 };
static const double last_delta = 1e-9;

void sotto_privacy_profile_clear(struct sotto_privacy_profile *p)
{
    if (!p)
        return;
    base_free(p->epsilon);
    base_free(p->delta);
    *p = (struct sotto_privacy_profile){0};
}

sotto_status profile_add(struct sotto_privacy_profile *p, double epsilon, double delta)
{
    sotto_status status = SOTTO_OK;
    if (!(epsilon >= 0 && epsilon < INFINITY && delta <= 1))
        goto done;
    REGROW(p->epsilon, p->count, p->count + 1);
    REGROW(p->delta, p->count, p->count + 1);
    p->epsilon[p->count] = epsilon;
    p->delta[p->count++] = delta;
done:
    return status;
}

/* POINTS epsilons from 0 to `last`. */
static sotto_status profile_spread(struct sotto_privacy_profile *p, double last)
{
    sotto_status status = SOTTO_OK;
    NEW(p->epsilon, POINTS);
    NEW(p->delta, POINTS);
    p->count = POINTS;
    for (size_t i = 0; i < POINTS; i++)
        p->epsilon[i] = last * (double)i / (POINTS - 1);
done:
    return status;
}

sotto_status sotto_privacy_profile_release(struct sotto_privacy_profile *out, const char *mechanism,
                                           double scale, const struct sotto_sensitivity *sensitivity)
{
    REQUIRE_GIVEN(out, mechanism, sensitivity);
    sotto_status status = SOTTO_OK;
    struct sotto_privacy_profile p = {0};
    struct sensitivity_ratio shifts;
    const struct mechanism *m;
    TRY(mechanism_require(&m, mechanism));
    TRY(sensitivity_ratio_for(&shifts, m, scale, sensitivity));
    bool known = m->kind != RELEASE_NONE && (m->by_l2 || isfinite(account_shift(m, &shifts).hi));
    double last = known ? account_epsilon(m, &shifts, 1, last_delta).hi : INFINITY;
    if (isfinite(last)) {
        TRY(profile_spread(&p, last));
        for (size_t i = 0; i < p.count; i++)
            p.delta[i] = fmin(1, account_delta(m, &shifts, 1, p.epsilon[i]).hi);
    }
    snprintf(p.of, sizeof p.of, "%s noise of scale %.6g, one release", mechanism, scale);
    p.adjacency = SOTTO_SAME_ADJACENCY;
    *out = p;
    p = (struct sotto_privacy_profile){0};
done:
    sotto_privacy_profile_clear(&p);
    return status;
}

/* By the privacy-loss distribution, up to `last`. */
static sotto_status composed_points(struct sotto_privacy_profile *p, const struct sotto_sampled *s,
                                    double last, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct part run = {
        .kind = PART_SAMPLED, .m = mechanism_find(s->mechanism), .sampled = *s, .rows = s->rows_per_person};
    const struct composed_release steps = part_item(&run);
    TRY(profile_spread(p, last));
    TRY(account_pld_deltas(p->delta, p->epsilon, p->count, &steps, 1, ctx));
done:
    return status;
}

static sotto_status accounted_points(struct sotto_privacy_profile *p, const struct sotto_sampled *sampled,
                                     const struct sotto_context *ctx)
{
    static const double deltas[] = {.5, .25, .1, .05, .02, .01, 5e-3, 2e-3, 1e-3, 1e-4, 1e-5, 1e-6};
    sotto_status status = SOTTO_OK;
    struct sotto_sampled s = *sampled;
    struct sotto_account a;
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        s.delta = deltas[i];
        TRY(sotto_account_sampled(&a, &s, ctx));
        TRY(profile_add(p, a.epsilon.upper, deltas[i]));
    }
    TRY(profile_add(p, a.pure_epsilon, 0));
done:
    return status;
}

sotto_status sotto_privacy_profile_sampled(struct sotto_privacy_profile *out,
                                           const struct sotto_sampled *sampled,
                                           const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, sampled);
    sotto_status status = SOTTO_OK;
    struct sotto_privacy_profile p = {0};
    struct sotto_sampled s = *sampled;
    struct sotto_account checked;
    s.delta = last_delta;
    TRY(sotto_account_sampled(&checked, &s, ctx)); /* all parameters */
    if (checked.epsilon.upper < INFINITY && scalar_curve_holds(mechanism_find(s.mechanism), s.clipping))
        TRY(composed_points(&p, &s, checked.epsilon.upper, ctx));
    if (p.count == 0)
        TRY(accounted_points(&p, &s, ctx));
    snprintf(p.of, sizeof p.of, "%s noise of multiplier %.6g, %zu steps of %s samples at rate %.6g",
             s.mechanism, s.noise_multiplier, s.steps, sotto_sampling_name(s.sampling), s.sample_rate);
    p.adjacency = s.adjacency;
    *out = p;
    p = (struct sotto_privacy_profile){0};
done:
    sotto_privacy_profile_clear(&p);
    return status;
}
