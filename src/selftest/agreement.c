/* Independent ways to the same number: the finite sum and the contour integral of the logistic composition,
 * the privacy-loss distribution by transforms of doubles, and the one in ball arithmetic. */
#include "dp/ball/ball.h"
#include "dp/logistic_compose.h"
#include "dp/pld_plan.h"
#include "selftest/checks.h"

#include <stdio.h>

static const struct {
    double shift, releases;
} cases[] = {{0.1, 6}, {1, 10}, {2, 20}};

static const double delta = 1e-5;

static double middle(struct interval x)
{
    return x.lo + (x.hi - x.lo) / 2;
}

/* Two enclosures of one number. */
static void check_two(struct checks *c, const char *name, struct interval a, struct interval b,
                      double relative)
{
    double apart = fabs(middle(a) - middle(b)) / fabs(middle(a));
    checks_note(c, name, a.lo <= b.hi && b.lo <= a.hi && apart <= relative,
                "[%.14g, %.14g] and [%.14g, %.14g]: %.1g apart, expected within %g", a.lo, a.hi, b.lo, b.hi,
                apart, relative);
}

static void check_inside(struct checks *c, const char *name, sotto_status status, struct interval inner,
                         struct interval outer)
{
    bool ok = status == SOTTO_OK && outer.lo <= inner.lo && inner.hi <= outer.hi &&
              outer.hi - outer.lo < 1e-2 * outer.hi;
    checks_note(c, name, ok, "[%.10g, %.10g] must hold [%.14g, %.14g]", outer.lo, outer.hi, inner.lo,
                inner.hi);
}

/* q 0.01, noise multiplier 1.1, 10,000 steps, delta 1e-5. dp-accounting's PLD at 1e-5 says at most 5.1925838,
 * and prv-accountant estimates 5.1925837. */
static void check_training(struct checks *c)
{
    const double shift = 1 / 1.1;
    struct sotto_composed_release steps = {"gaussian", {shift, shift}, SOTTO_NORM_L2, 0.01, 10000};
    struct sotto_account account = {.epsilon = {NAN, NAN}};
    sotto_status status = sotto_account_compose(&account, &steps, 1, "add-remove", delta);
    double low = account.epsilon.lower, high = account.epsilon.upper;
    checks_note(c, "DP-SGD: rate 0.01, multiplier 1.1, 10,000 steps",
                status == SOTTO_OK && low <= 5.1925838 && high >= 5.1925837 && high < 5.1927,
                "[%.9g, %.9g] (%s), expected to hold 5.1925837", low, high, account.accountant);
}

void selftest_agreement(struct checks *c)
{
    c->group = "agreement";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double shift = cases[i].shift, k = cases[i].releases;
        struct interval epsilon = logistic_composed_epsilon(iv(shift), k, delta), transformed = {0};
        char name[80];
        snprintf(name, sizeof name, "finite sum and contour integral, %g releases at shift %g", k, shift);
        check_two(c, name, logistic_finite_sum(shift, (int)k, middle(epsilon)),
                  logistic_contour(shift, k, middle(epsilon)), 1e-10);
        struct pair_sampled pair = {mechanism_find("logistic"), shift, 1, PLD_REMOVE};
        struct pld_part part = {pair_of_sampled(&pair), pair_of_sampled(&pair), k};
        snprintf(name, sizeof name, "loss distribution by FFT, %g releases at shift %g", k, shift);
        check_inside(c, name, pld_epsilon(&transformed, &part, 1, delta, 1), epsilon, transformed);
    }
    /* balls take their time: one case */
    struct ball_step step = {BALL_LOGISTIC, 1, 1, 1};
    struct interval ball = {0}, epsilon = logistic_composed_epsilon(iv(1), 10, delta);
    check_inside(c, "loss distribution in balls, 10 releases at shift 1",
                 ball_compose_epsilon(&ball, &step, 10, delta, 1e-3), epsilon, ball);
    check_training(c);
}
