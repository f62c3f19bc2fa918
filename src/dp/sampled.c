/* Poisson-sampled Gaussian and logistic noise by Renyi divergence of integer orders alpha >= 2:
 *   A = sum_k C(alpha, k) (1-q)^(alpha-k) q^k exp(k (k-1) / (d m^2)),   R_alpha = ln A / (alpha - 1),
 * with d = 2 for the Gaussian (Mironov, Talwar, Zhang 2019, section 3.3) and d = 6 for logistic noise
 * (docs/derivations/ logistic.md, section 8). All terms are positive, so the sum is done in logarithms. A
 * first pass in double picks the order; only that order is evaluated in intervals. The other adjacency
 * direction is no larger (theorem 5 there). */
#include "dp/accountant.h"
#include "num/special.h"

#include <stdio.h>
#include <string.h>

enum { ORDERS = 1024 };

/* The orders tried: all up to 64, then 6 % apart. */
static int next_order(int alpha)
{
    return alpha < 64 ? alpha + 1 : alpha + alpha / 16;
}

static double near_log_moment(double q, double exponent, int alpha)
{
    double log_choose = 0, log_odds = log(q) - log1p(-q), rest = alpha * log1p(-q), peak = -INFINITY, sum = 0;
    for (int k = 0; k <= alpha; k++) {
        double term = rest + log_choose + k * log_odds + exponent * k * (k - 1.0);
        if (term > peak) {
            sum = sum * exp(peak - term) + 1;
            peak = term;
        } else {
            sum += exp(term - peak);
        }
        log_choose += log((double)(alpha - k)) - log(k + 1.0);
    }
    return peak + log(sum);
}

/* The same sum, rounded outwards. ln A is near 0 for small q, so A - 1 is summed with expm1 of the exponents:
 * the binomial weights add up to 1, and k = 0, 1 contribute nothing. */
static struct interval log_moment(double q, struct interval exponent, int alpha)
{
    struct interval log_q = iv_log(iv(q)), log_rest = iv_log1p(iv(-q)), log_choose = iv(0), excess = iv(0);
    for (int k = 0; k <= alpha; k++) {
        if (k >= 2) {
            struct interval weight =
                iv_add(log_choose, iv_add(iv_scale(log_q, k), iv_scale(log_rest, alpha - k)));
            struct interval gain = iv_scale(exponent, k * (k - 1.0)), term;
            if (gain.hi < 30)
                term = iv_mul(iv_exp(weight), iv_expm1(gain));
            else /* e^gain - 1 <= e^gain, and e^gain (1 - e^-30) <= e^gain - 1 */
                term = iv_mul(iv_exp(iv_add(weight, gain)), (struct interval){1 - 1e-13, 1});
            excess = iv_add(excess, term);
        }
        log_choose = iv_add(log_choose, iv_sub(iv_log(iv(alpha - k)), iv_log(iv(k + 1.0))));
    }
    if (!isfinite(excess.hi)) /* beyond doubles: no bound from this order */
        return (struct interval){0, INFINITY};
    return iv_log1p(excess);
}

struct interval sampled_renyi(const struct mechanism *m, double noise_multiplier, double q, int alpha)
{
    struct interval exponent = iv_div(iv(1), iv_scale(iv_square(iv(noise_multiplier)), m->zcdp_divisor));
    if (q == 1)
        return iv_scale(exponent, alpha);
    return iv_div(log_moment(q, exponent, alpha), iv(alpha - 1.0));
}

static double upper(const struct mechanism *m, const struct sotto_sampled *s)
{
    double exponent = 1 / (m->zcdp_divisor * s->noise_multiplier * s->noise_multiplier), best = INFINITY;
    int chosen = 2;
    for (int alpha = 2; alpha <= ORDERS; alpha = next_order(alpha)) {
        double moment = s->sample_rate == 1 ? exponent * alpha * (alpha - 1.0)
                                            : near_log_moment(s->sample_rate, exponent, alpha);
        double epsilon = (moment * (double)s->steps - log(s->delta) - log((double)alpha)) / (alpha - 1.0) +
                         log1p(-1.0 / alpha);
        if (epsilon < best) {
            best = epsilon;
            chosen = alpha;
        }
    }
    struct interval step = sampled_renyi(m, s->noise_multiplier, s->sample_rate, chosen);
    return renyi_to_epsilon(iv_scale(step, (double)s->steps), chosen, s->delta).hi;
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
    if (!(s->sample_rate > 0 && s->sample_rate <= 1))
        FAIL(SOTTO_EINVAL, "sample_rate must lie in (0, 1] (got %g)", s->sample_rate);
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
                              .accountant = "renyi, integer orders",
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
             "no noise multiplier up to 1e9 reaches epsilon %g at delta %g with integer Renyi orders",
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
