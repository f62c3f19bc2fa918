/* Sampled noise (DP-SGD): account and calibration. Bounds come from sampled_renyi.c and, where the
 * curve of one coordinate bounds the whole gradient, from its privacy-loss distribution. */
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "dp/account/calibrate_refine.h"
#include "dp/account/composition.h"
#include "dp/account/event_part.h"
#include "dp/account/person.h"
#include "dp/account/sampled_renyi.h"
#include "num/special.h"
#include "options/option_tables.h"
#include "sotto/lab/account.h"
#include "sotto/option.h"

#include <stdio.h>
#include <string.h>

/* Pure epsilon of all steps together, with records clipped by L1. */
static double pure_epsilon(const struct mechanism *m, const struct sotto_sampled *s)
{
    if (!m->pure || s->clipping != SOTTO_NORM_L1)
        return NAN;
    return iv_scale(sampled_pure(s), (double)s->steps).hi;
}

static double renyi_epsilon(const struct mechanism *m, const struct sotto_sampled *s)
{
    const struct part steps = {.kind = PART_SAMPLED,
                               .m = m,
                               .count = (double)s->steps,
                               .sampled = *s,
                               .doublings = s->sampling == SOTTO_SAMPLING_POISSON};
    if (!m->by_l2 && !m->renyi_ball)
        return INFINITY;
    if (sampled_replaces(s))
        return parts_renyi(&steps, 1, s->delta, NULL);
    return sampled_renyi_epsilon(m, s->noise_multiplier, s->sample_rate, (double)s->steps, s->delta);
}

/* Without privacy-loss distributions. */
static double fast_upper(const struct mechanism *m, const struct sotto_sampled *s)
{
    return fmin(renyi_epsilon(m, s), pure_epsilon(m, s)); /* NaN: none */
}

static sotto_status by_pld(struct interval *epsilon, const struct sotto_sampled *s,
                           const struct sotto_context *ctx)
{
    struct interval shift = iv_div(iv(1), iv(s->noise_multiplier));
    const struct composed_release all = {s->mechanism,        shift,    s->clipping, s->sample_rate,
                                         sampled_replaces(s), s->steps, s->sampling, s->rows_per_person};
    return account_pld(epsilon, &all, 1, s->delta, ctx);
}

static sotto_status sampled_check(const struct mechanism **m, const struct sotto_sampled *s)
{
    sotto_status status = SOTTO_OK;
    TRY(mechanism_require(m, s->mechanism));
    REQUIRE((unsigned)s->sampling <= SOTTO_SAMPLING_FIXED,
            "sampling %d is unknown; expected SOTTO_SAMPLING_POISSON or SOTTO_SAMPLING_FIXED",
            (int)s->sampling);
    REQUIRE((unsigned)s->adjacency <= SOTTO_ZERO_OUT,
            "sampled steps are accounted under replace-one, add-remove or zero-out adjacency (got %s)",
            sotto_adjacency_name(s->adjacency));
    REQUIRE(s->sampling == SOTTO_SAMPLING_POISSON || sampled_replaces(s),
            "fixed sampling needs replace-one adjacency; give replace-one, or poisson sampling");
    REQUIRE(s->clipping == SOTTO_NORM_L2 || s->clipping == SOTTO_NORM_L1,
            "clipping %d is unknown; expected SOTTO_NORM_L1 or SOTTO_NORM_L2", (int)s->clipping);
    if ((*m)->kind != RELEASE_LATTICE)
        FAIL(SOTTO_ENOTSUP,
             "mechanism '%s' has no bound for sampled iterations; expected gaussian or logistic, or laplace "
             "with gradients clipped by L1",
             s->mechanism);
    if (!scalar_curve_holds(*m, s->clipping) && !(*m)->renyi_ball)
        FAIL(SOTTO_ENOTSUP,
             "mechanism '%s' has no bound for sampled iterations with gradients clipped by L2; expected "
             "gaussian or logistic, or gradients clipped by L1",
             s->mechanism);
    REQUIRE(s->sampling == SOTTO_SAMPLING_POISSON || s->rows_per_person <= 1,
            "persons of several rows are accounted in Poisson samples only (got fixed sampling, %zu rows)",
            s->rows_per_person);
    TRY(sotto_options_check(s, options_sampled, "sample_rate|steps|delta|rows_per_person"));
    TRY(require_delta(s->delta));
done:
    return status;
}

enum { TRIALS = 8 };

/* The rule of groups: the rows of a person are replaced one after the other. Where her curve is known it is never better. The first share
 * of delta is a guess, the next ones are what the last epsilon leaves. INFINITY: none was found. */
static double by_rows(const struct mechanism *m, const struct sotto_sampled *sampled)
{
    const double rows = (double)sampled->rows_per_person, delta = sampled->delta;
    struct sotto_sampled s = *sampled;
    double found = INFINITY;
    s.rows_per_person = 0;
    s.delta = delta / rows;
    for (int i = 0; i < TRIALS && isinf(found) && s.delta >= 0x1p-900; i++) {
        const double epsilon = fast_upper(m, &s);
        if (!(epsilon * rows < 600))
            break;
        const double all = group_delta(iv(epsilon), s.delta, rows).hi;
        if (all <= delta)
            found = iv_scale(iv(epsilon), rows).hi;
        s.delta *= 0.99 * delta / all;
    }
    return found;
}

/* Without privacy-loss distributions, of a person. */
static double fast_upper_of_person(const struct mechanism *m, const struct sotto_sampled *s)
{
    const struct sotto_sampled all_rows = unit_steps(s);
    const double at_once = fmin(renyi_epsilon(m, &all_rows), pure_epsilon(m, s));
    return s->rows_per_person > 1 && !scalar_curve_holds(m, s->clipping) ? fmin(at_once, by_rows(m, s))
                                                                         : at_once;
}

sotto_status sotto_account_sampled(struct sotto_account *out, const struct sotto_sampled *sampled,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, sampled);
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    struct interval pld;
    TRY(sampled_check(&m, sampled));
    TRY(sotto_options_check(sampled, options_sampled, "noise_multiplier"));
    TRY(context_check(ctx, "account: stopped"));
    const struct sotto_sampled all_rows = unit_steps(sampled);
    TRY(by_pld(&pld, sampled, ctx));
    struct sotto_account a = {.scale = sampled->noise_multiplier,
                              .delta = sampled->delta,
                              .compose = sampled->steps,
                              .sample_rate = sampled->sample_rate,
                              .sampled = 1,
                              .clipping = sampled->clipping,
                              .sampling = sampled->sampling,
                              .adjacency = sampled->adjacency,
                              .epsilon = {0, INFINITY},
                              .pure_epsilon = pure_epsilon(m, sampled),
                              .zcdp_rho = NAN,
                              .accountant = "none",
                              .standard_deviation = m->standard_deviation * sampled->noise_multiplier};
    snprintf(a.mechanism, sizeof a.mechanism, "%s", m->name);
    if (scalar_curve_holds(m, sampled->clipping))
        account_add_bound(&a, "privacy-loss distribution", pld.hi);
    if (m->by_l2 || m->renyi_ball)
        account_add_bound(&a, "renyi", renyi_epsilon(m, &all_rows));
    if (sampled_replaces(sampled) && sampled->sampling == SOTTO_SAMPLING_POISSON &&
        !scalar_curve_holds(m, sampled->clipping))
        snprintf(a.note, sizeof a.note,
                 "a replaced record is bounded as a group of two: no exact pair is known for %s noise on "
                 "sums clipped by %s",
                 m->name, norm_name(sampled->clipping));
    if (sampled->rows_per_person > 1 && !scalar_curve_holds(m, sampled->clipping)) {
        const double one_by_one = by_rows(m, sampled);
        if (isfinite(one_by_one))
            account_add_bound(&a, "rows one by one", one_by_one);
    }
    if (!isnan(a.pure_epsilon))
        account_add_bound(&a, "pure, basic composition", a.pure_epsilon);
    a.epsilon.lower = fmin(pld.lo, a.epsilon.upper);
    *out = a;
done:
    return status;
}

sotto_status account_sampled_other(struct sotto_account *a, const struct sotto_sampled *s,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sampled turned = *s;
    struct sotto_account other;
    turned.adjacency = sampled_replaces(s) ? SOTTO_ADD_REMOVE : SOTTO_REPLACE_ONE;
    if (s->sampling != SOTTO_SAMPLING_POISSON)
        goto done;
    TRY(sotto_account_sampled(&other, &turned, ctx));
    a->has_other = 1;
    a->other_adjacency = other.adjacency;
    a->other_epsilon = other.epsilon;
    if (!a->note[0])
        memcpy(a->note, other.note, sizeof a->note);
done:
    return status;
}

sotto_status sotto_account_sampled_both(struct sotto_account *out, const struct sotto_sampled *sampled,
                                        const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, sampled);
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    TRY(sotto_account_sampled(&a, sampled, ctx));
    TRY(account_sampled_other(&a, sampled, ctx));
    *out = a;
done:
    return status;
}

double sotto_default_delta(size_t records)
{
    size_t power = 1;
    while (power < records && power <= SIZE_MAX / 10)
        power *= 10;
    return records == 0 ? 0 : 0.1 / (double)power;
}

static const double most_noise = 1e9;

struct search {
    const struct mechanism *m;
    struct sotto_sampled sampled;
    double target;
    const struct sotto_context *ctx;
};

static bool sampled_holds(double noise_multiplier, const void *arg)
{
    const struct search *s = arg;
    struct sotto_sampled trial = s->sampled;
    trial.noise_multiplier = noise_multiplier;
    if (context_stopped(s->ctx)) /* any answer ends the search, and is not used */
        return true;
    return fast_upper_of_person(s->m, &trial) <= calibration_aim(s->target);
}

/* Is there more than the quick bound? */
static bool by_account(const struct search *s)
{
    return scalar_curve_holds(s->m, s->sampled.clipping) || s->sampled.rows_per_person > 1;
}

static sotto_status upper_of(double *epsilon, double noise_multiplier, const void *arg)
{
    sotto_status status = SOTTO_OK;
    const struct search *s = arg;
    struct sotto_sampled trial = s->sampled;
    struct interval pld;
    trial.noise_multiplier = noise_multiplier;
    TRY(by_pld(&pld, &trial, s->ctx));
    *epsilon = fmin(pld.hi, fast_upper_of_person(s->m, &trial));
done:
    return status;
}

/* By the quick bound. INFINITY: it holds nowhere; or where it holds it hardly falls any more, as it levels off at small
 * epsilons. */
static sotto_status quick_noise(double *found, const struct search *s)
{
    sotto_status status = SOTTO_OK;
    struct search half = *s;
    double high = 1, low;
    half.target /= 2;
    while (high < most_noise && !sampled_holds(high, s))
        high *= 2;
    for (low = high / 2; low > 1e-9 && sampled_holds(low, s); low /= 2)
        high = low;
    TRY(context_check(s->ctx, "calibrate: stopped"));
    if (low <= 1e-9)
        FAIL(SOTTO_EDOMAIN, "epsilon %g is too large; its noise multiplier would be below 1e-9", s->target);
    *found = high < most_noise ? bisect_up(low, high, sampled_holds, s) : INFINITY;
    if (by_account(s) && !(*found < most_noise / 4 && sampled_holds(4 * *found, &half)))
        *found = INFINITY;
    TRY(context_check(s->ctx, "calibrate: stopped"));
done:
    return status;
}

/* Some noise that the account itself shows to hold. INFINITY: none. */
static sotto_status slow_noise(double *found, const struct search *s)
{
    sotto_status status = SOTTO_OK;
    double epsilon = INFINITY;
    *found = INFINITY;
    for (double noise = 1; noise < most_noise && isinf(*found); noise *= 4) {
        TRY(upper_of(&epsilon, noise, s));
        if (epsilon <= calibration_aim(s->target))
            *found = noise;
    }
done:
    return status;
}

sotto_status sotto_calibrate_sampled(double *noise_multiplier, const struct sotto_sampled *sampled,
                                     double target_epsilon, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(noise_multiplier, sampled);
    sotto_status status = SOTTO_OK;
    struct search s = {NULL, *sampled, target_epsilon, ctx};
    double found;
    TRY(sampled_check(&s.m, sampled));
    TRY(require_positive(target_epsilon, "epsilon"));
    TRY(quick_noise(&found, &s));
    if (isinf(found) && by_account(&s))
        TRY(slow_noise(&found, &s));
    if (isinf(found))
        FAIL(SOTTO_EDOMAIN, "no noise multiplier up to %g reaches epsilon %g at delta %g%s", most_noise,
             target_epsilon, sampled->delta, by_account(&s) ? "" : " by Renyi divergence");
    if (by_account(&s))
        TRY(calibrate_refine(&found, &(struct refinement){upper_of, &s, calibration_aim(target_epsilon)}));
    *noise_multiplier = found;
done:
    return status;
}
