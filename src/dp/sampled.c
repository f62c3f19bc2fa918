/* Poisson-sampled Gaussian and logistic noise (DP-SGD): account and calibration. The bound is in
 * sampled_renyi.c. */
#include "dp/accountant.h"
#include "dp/sampled_renyi.h"
#include "num/special.h"

#include <stdio.h>
#include <string.h>

static double upper(const struct mechanism *m, const struct sotto_sampled *s)
{
    return sampled_renyi_epsilon(m, s->noise_multiplier, s->sample_rate, (double)s->steps, s->delta);
}

/* One step, one coordinate moved by C: delta(eps) = q delta_0(ln((e^eps - 1 + q) / q)); more steps tell no
 * less. */
static double lower(const struct mechanism *m, const struct sotto_sampled *s)
{
    if (s->delta >= s->sample_rate)
        return 0;
    struct interval q = iv(s->sample_rate), shift = iv_div(iv(1), iv(s->noise_multiplier));
    double inner = m->epsilon(shift, iv_div(iv(s->delta), q).hi).lo;
    return fmax(0, iv_log1p(iv_mul(q, iv_expm1(iv(inner)))).lo);
}

static sotto_status check(const struct mechanism **m, const struct sotto_sampled *s)
{
    sotto_status status = SOTTO_OK;
    TRY(mechanism_require(m, s->mechanism));
    if (strcmp(s->mechanism, "laplace") == 0)
        FAIL(SOTTO_ENOTSUP, "mechanism 'laplace': no bound for sampled iterations is built in; expected "
                            "gaussian or logistic");
    if (!(*m)->magnitude)
        FAIL(SOTTO_ENOTSUP,
             "mechanism '%s': no bound for sampled iterations is built in; expected gaussian or "
             "logistic",
             s->mechanism);
    if (!(s->sample_rate > 0 && s->sample_rate <= 1))
        FAIL(SOTTO_EINVAL, "sample_rate must lie in (0, 1] (got %g)", s->sample_rate);
    TRY(require_positive(s->sample_rate, "sample_rate"));
    REQUIRE(s->steps >= 1, "steps must be at least 1 (got 0)");
    TRY(require_delta(s->delta));
    REQUIRE(s->delta > 0, "delta must be > 0 for sampled iterations (got 0)");
done:
    return status;
}

sotto_status sotto_account_sampled(struct sotto_account *out, const struct sotto_sampled *s)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    TRY(check(&m, s));
    TRY(require_positive(s->noise_multiplier, "noise_multiplier"));
    struct sotto_account a = {.scale = s->noise_multiplier,
                              .delta = s->delta,
                              .compose = s->steps,
                              .sample_rate = s->sample_rate,
                              .pure_epsilon = NAN,
                              .zcdp_rho = NAN,
                              .accountant = "renyi",
                              .adjacency = "add-remove",
                              .standard_deviation = m->standard_deviation * s->noise_multiplier,
                              .bound_count = 1};
    snprintf(a.mechanism, sizeof a.mechanism, "%s", m->name);
    a.epsilon.upper = upper(m, s);
    a.epsilon.lower = fmin(lower(m, s), a.epsilon.upper);
    memcpy(a.bounds[0].name, a.accountant, sizeof a.accountant);
    a.bounds[0].epsilon = a.epsilon.upper;
    *out = a;
done:
    return status;
}

struct search {
    const struct mechanism *m;
    struct sotto_sampled sampled;
    double target;
};

static bool holds(double noise_multiplier, const void *arg)
{
    const struct search *s = arg;
    struct sotto_sampled trial = s->sampled;
    trial.noise_multiplier = noise_multiplier;
    return upper(s->m, &trial) <= s->target;
}

sotto_status sotto_calibrate_sampled(double *noise_multiplier, const struct sotto_sampled *sampled,
                                     double target_epsilon)
{
    sotto_status status = SOTTO_OK;
    struct search s = {NULL, *sampled, target_epsilon};
    TRY(check(&s.m, sampled));
    TRY(require_positive(target_epsilon, "epsilon"));
    double high = 1, low;
    while (high < 1e9 && !holds(high, &s))
        high *= 2;
    if (high >= 1e9)
        FAIL(SOTTO_EDOMAIN,
             "no noise multiplier up to 1e9 reaches epsilon %g at delta %g by Renyi divergence",
             target_epsilon, sampled->delta);
    for (low = high / 2; low > 1e-9 && holds(low, &s); low /= 2)
        high = low;
    if (low <= 1e-9)
        FAIL(SOTTO_EDOMAIN, "epsilon %g is so large that the noise multiplier would fall below 1e-9",
             target_epsilon);
    *noise_multiplier = bisect_up(low, high, holds, &s);
done:
    return status;
}
