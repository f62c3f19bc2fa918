/* The smallest noise with which no test of membership does better than it may.
 *
 * What is (x, d)-private, in both directions of every pair, lets a test of false-positive rate a find at most e^x a + d. So a
 * true-positive rate of at most t is reached at any point of the line d = t - e^x a, by the calibration for (x, d), and the
 * best noise is the smallest over the line; no other proof is needed. The curve is convex in e^x and falls with the noise, so
 * that there is one minimum.
 * The trade-off curve is its own mirror image: (t, a) and (1 - a, 1 - t) ask for the same. Points on the mirror's axis are
 * those of the advantage: TPR - FPR <= A everywhere where TPR <= (1 + A) / 2 at (1 - A) / 2. */
#include "dp/account/risk.h"
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "num/interval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIALS = 24, TANGENTS = 4 };
static const double golden = 0.6180339887498949;
/* Aimed at is so much less of what is above guessing: what rounding adds to the noise of a run, or of sums, is then free. */
static const double margin = 1e-5;

/* On or below the mirror's axis: t + a <= 1, so that x >= 0 is enough. */
struct rates {
    double most, at;
    bool on_axis; /* an advantage: the best x is 0 */
};

/* "0.02@0.01" */
static sotto_status pair_of(double *tpr, double *fpr, const char *text)
{
    sotto_status status = SOTTO_OK;
    char *at, *end = NULL;
    *tpr = strtod(text, &at);
    if (at != text && *at == '@')
        *fpr = strtod(at + 1, &end);
    REQUIRE(end && end != at + 1 && !*end,
            "max_tpr '%s' is not a pair of rates; expected TPR@FPR such as 0.02@0.01", text);
    REQUIRE(*fpr > 0 && *tpr < 1 && *tpr > *fpr,
            "max_tpr %s is out of range; expected rates in (0, 1), the true-positive rate above the "
            "false-positive rate, which guessing reaches",
            text);
done:
    return status;
}

static bool asks_tpr(const struct sotto_risk *r)
{
    return r->max_tpr && r->max_tpr[0];
}

static sotto_status rates_of(struct rates *out, const struct sotto_risk *r)
{
    sotto_status status = SOTTO_OK;
    double tpr, fpr;
    const double most = r->max_advantage;
    REQUIRE(risk_given(r), "neither max_tpr nor max_advantage is given; give one of them");
    if (!asks_tpr(r)) {
        REQUIRE(most > 0 && most < 1, "max_advantage is %g; expected a number in (0, 1)", most);
        *out = (struct rates){iv_scale(iv_add(iv(1), iv(most)), .5).lo,
                              iv_scale(iv_sub(iv(1), iv(most)), .5).hi, true};
        goto done;
    }
    REQUIRE(most == 0 || isnan(most), "max_tpr and max_advantage cannot be combined; give one of them");
    TRY(pair_of(&tpr, &fpr, r->max_tpr));
    *out = tpr > 1 - fpr ? (struct rates){iv_sub(iv(1), iv(fpr)).lo, iv_sub(iv(1), iv(tpr)).hi, false}
                         : (struct rates){tpr, fpr, false};
done:
    if (status == SOTTO_OK && !(out->most > out->at * (1 + 1e-9))) /* doubles hardly tell them apart */
        status =
            status_fail(SOTTO_EINVAL, "the risk is too close to guessing; expected a true-positive rate at "
                                      "least a part in 1e9 above the false-positive rate");
    return status;
}

static sotto_status aim_of(struct rates *out, const struct sotto_risk *r)
{
    sotto_status status = rates_of(out, r);
    if (status == SOTTO_OK)
        out->most -= margin * (out->most - out->at);
    return status;
}

sotto_status risk_require_alone(const struct sotto_risk *r, bool other_given)
{
    sotto_status status = SOTTO_OK;
    struct rates checked;
    if (!risk_given(r))
        goto done;
    REQUIRE(!other_given,
            "max_tpr and max_advantage stand instead of epsilon and of the noise; give one of them");
    TRY(rates_of(&checked, r));
done:
    return status;
}

/* The delta of the line at x, rounded to the safe side. */
static double delta_at(const struct rates *r, double x)
{
    return iv_sub(iv(r->most), iv_mul(iv_exp(iv(x)), iv(r->at))).lo;
}

/* What a search along the line asks of its points. */
struct line {
    struct rates rates;
    sotto_status (*cost)(double *cost, struct sotto_dp p,
                         void *arg); /* EDOMAIN: there is none at this point */
    void *arg;
    double best;
    struct sotto_dp at; /* the point of the best cost */
};

static sotto_status line_try_point(double *cost, struct line *l, struct sotto_dp p)
{
    sotto_status status = l->cost(cost, p, l->arg);
    if (status != SOTTO_OK)
        *cost = INFINITY;
    if (*cost < l->best) {
        l->best = *cost;
        l->at = p;
    }
    return status == SOTTO_EDOMAIN ? SOTTO_OK : status;
}

static sotto_status line_try(double *cost, struct line *l, double x)
{
    const double delta = delta_at(&l->rates, x);
    *cost = INFINITY;
    return delta > 0 ? line_try_point(cost, l, (struct sotto_dp){x, delta}) : SOTTO_OK;
}

static double line_end(const struct line *l)
{
    return log(l->rates.most / l->rates.at);
}

/* A fiftieth of the largest: the curve's tangents there and at 0 are next to each other, and distributions of losses tell small
 * epsilons badly. */
static double line_start(const struct line *l)
{
    return line_end(l) / 50;
}

/* Golden section. */
static sotto_status line_search(struct line *l)
{
    sotto_status status = SOTTO_OK;
    double low = line_start(l), high = line_end(l), left = high - golden * (high - low),
           right = low + golden * (high - low), at_left, at_right;
    l->best = INFINITY;
    if (l->rates.on_axis) {
        TRY(line_try(&at_left, l, low));
        goto done;
    }
    TRY(line_try(&at_left, l, left));
    TRY(line_try(&at_right, l, right));
    for (int i = 2; i < TRIALS; i++) {
        if (at_left <= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            TRY(line_try(&at_left, l, left));
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            TRY(line_try(&at_right, l, right));
        }
    }
done:
    return status;
}

/* ---- the noise of a point ---- */
struct release_request {
    const char *mechanism;
    const struct sotto_sensitivity *sensitivity;
    int bits;
    const struct sotto_context *ctx;
};

static sotto_status scale_at(double *scale, struct sotto_dp p, void *arg)
{
    const struct release_request *r = arg;
    const struct sotto_dp target = {p.epsilon, p.delta};
    return r->bits ? calibrate_on(scale, r->mechanism, r->sensitivity, target, r->bits, r->ctx)
                   : sotto_calibrate(scale, r->mechanism, r->sensitivity, target, r->ctx);
}

struct sampled_request {
    struct sotto_sampled sampled;
    const struct sotto_context *ctx;
};

static sotto_status multiplier_at(double *noise_multiplier, struct sotto_dp p, void *arg)
{
    struct sampled_request *r = arg;
    r->sampled.delta = p.delta;
    return sotto_calibrate_sampled(noise_multiplier, &r->sampled, p.epsilon, r->ctx);
}

/* Where a line of this slope touches the curve of the best noise so far. */
static sotto_status tangent_of(double *x, const struct line *l, const struct sampled_request *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_privacy_profile p = {0};
    struct sotto_sampled sampled = r->sampled;
    double least = INFINITY;
    sampled.noise_multiplier = l->best;
    TRY(sotto_privacy_profile_sampled(&p, &sampled, r->ctx));
    for (size_t i = 0; i < p.count; i++) {
        const double tpr = exp(p.epsilon[i]) * l->rates.at + p.delta[i];
        if (tpr < least && p.epsilon[i] <= line_end(l)) {
            least = tpr;
            *x = fmax(p.epsilon[i], line_start(l));
        }
    }
done:
    sotto_privacy_profile_clear(&p);
    return status;
}

/* From tangent to tangent: a calibration takes a second or so, and the curve of one noise tells where the next should be. */
static sotto_status tangent_search(struct line *l, const struct sampled_request *r)
{
    sotto_status status = SOTTO_OK;
    double before = INFINITY, cost, x = l->rates.on_axis ? line_start(l) : line_end(l) / 2;
    l->best = INFINITY;
    TRY(line_try(&cost, l, x));
    for (int i = 1; i < TANGENTS && !l->rates.on_axis && l->best < before * (1 - 1e-4); i++) {
        before = l->best;
        TRY(tangent_of(&x, l, r));
        TRY(line_try(&cost, l, x));
    }
    if (isinf(l->best))
        TRY(line_search(l));
done:
    return status;
}

static sotto_status calibrate_risk_found(double *out, struct sotto_dp *point, const struct line *l)
{
    sotto_status status = SOTTO_OK;
    char why[256];
    snprintf(why, sizeof why, "%.255s", sotto_error_text());
    if (isinf(l->best))
        FAIL(SOTTO_EDOMAIN, "no noise was found for a true-positive rate of %g at false-positive rate %g: %s",
             l->rates.most, l->rates.at, why);
    *out = l->best;
    if (point)
        *point = l->at;
done:
    return status;
}

sotto_status calibrate_risk_on(double *scale, struct sotto_dp *point, const char *mechanism,
                               const struct sotto_sensitivity *sensitivity, const struct sotto_risk *risk,
                               int bits, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_request request = {mechanism, sensitivity, bits, ctx};
    struct line l = {.cost = scale_at, .arg = &request};
    double pure;
    TRY(aim_of(&l.rates, risk));
    TRY(line_search(&l));
    /* the end of the line: a pure epsilon */
    const double end = iv_log(iv_div(iv(l.rates.most), iv(l.rates.at))).lo;
    TRY(line_try_point(&pure, &l, (struct sotto_dp){end, 0}));
    TRY(calibrate_risk_found(scale, point, &l));
done:
    return status;
}

sotto_status calibrate_sampled_risk(double *noise_multiplier, struct sotto_dp *point,
                                    const struct sotto_sampled *sampled, const struct sotto_risk *risk,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sampled_request request = {*sampled, ctx};
    struct line l = {.cost = multiplier_at, .arg = &request};
    const struct mechanism *m = sampled->mechanism ? mechanism_find(sampled->mechanism) : NULL;
    const bool by_curve = m && scalar_curve_holds(m, sampled->clipping) && sampled->rows_per_person <= 1;
    TRY(aim_of(&l.rates, risk));
    TRY(by_curve ? tangent_search(&l, &request) : line_search(&l)); /* others are calibrated in no time */
    TRY(calibrate_risk_found(noise_multiplier, point, &l));
done:
    return status;
}

sotto_status calibrate_for(double *scale, const char *mechanism, const struct sotto_sensitivity *sensitivity,
                           struct sotto_dp target, const struct sotto_risk *risk,
                           const struct sotto_context *ctx)
{
    return risk_given(risk) ? calibrate_risk_on(scale, NULL, mechanism, sensitivity, risk, 0, ctx)
                            : sotto_calibrate(scale, mechanism, sensitivity, target, ctx);
}

sotto_status calibrate_sampled_for(double *noise_multiplier, const struct sotto_sampled *sampled,
                                   double epsilon, const struct sotto_risk *risk,
                                   const struct sotto_context *ctx)
{
    return risk_given(risk) ? calibrate_sampled_risk(noise_multiplier, NULL, sampled, risk, ctx)
                            : sotto_calibrate_sampled(noise_multiplier, sampled, epsilon, ctx);
}

/* ---- what a profile says ---- */
/* Every point (epsilon, delta) bounds the advantage by (e^epsilon - 1 + 2 delta) / (e^epsilon + 1). */
static double advantage_of(const struct sotto_privacy_profile *p)
{
    double best = 1;
    for (size_t i = 0; i < p->count; i++) {
        struct interval e = iv_exp(iv(p->epsilon[i])), twice = iv_scale(iv(p->delta[i]), 2);
        best = fmin(best, iv_div(iv_add(iv_sub(e, iv(1)), twice), iv_add(e, iv(1))).hi);
    }
    return best;
}

sotto_status risk_bound(double *bound, double *fpr, const struct sotto_risk *risk,
                        const struct sotto_privacy_profile *profile)
{
    sotto_status status = SOTTO_OK;
    struct rates checked;
    double tpr;
    TRY(rates_of(&checked, risk));
    *fpr = 0;
    *bound = advantage_of(profile);
    if (asks_tpr(risk)) {
        TRY(pair_of(&tpr, fpr, risk->max_tpr));
        TRY(sotto_reconstruction_bound(bound, profile, *fpr));
    }
done:
    return status;
}
