/* Laws that the accountants must obey everywhere, checked against quadrature, against each other, and on
 * random inputs. */
#include "support/test.h"
#include "support/effort.h"
#include "sotto/lab/account.h"

#include "dp/account/accountant.h"
#include "dp/mechanism/logistic_compose.h"
#include "num/special.h"
#include "rng/rng.h"

#include <string.h>

static const double epsilons[] = {1e-3, 0.1, 1, 8, 60, 500};
static const double deltas[] = {0, 1e-15, 1e-5, 0.05};

TEST(calibration_never_overshoots_and_wastes_nothing)
{
    const struct sotto_sensitivity kinds[] = {{.l1 = 0.3, .l2 = NAN},
                                              {.l1 = NAN, .l2 = 0.04},
                                              {.l1 = 0.4, .l2 = 0.04, .dimension = 1290},
                                              {.l1 = NAN, .l2 = 1e-6, .dimension = 1000000}};
    int checked = 0;
    for (size_t m = 0; mechanism_at(m); m++)
        for (int k = 0; k < 4; k++)
            for (int e = 0; e < 6; e++)
                for (int d = 0; d < 4; d++) {
                    const char *name = mechanism_at(m)->name;
                    struct sotto_dp target = {epsilons[e], deltas[d]};
                    struct sotto_account a;
                    double scale;
                    sotto_status status = sotto_calibrate(&scale, name, &kinds[k], target, NULL);
                    if (status == SOTTO_EDOMAIN) { /* no pure epsilon exists */
                        assert_true(deltas[d] == 0 && (m == 2 || k == 1));
                        continue;
                    }
                    assert_int_equal(status, SOTTO_OK);
                    assert_int_equal(sotto_account_release(&a, name, scale, &kinds[k], deltas[d], 1, NULL),
                                     SOTTO_OK);
                    if (!(a.epsilon.upper <= target.epsilon && a.epsilon.lower <= a.epsilon.upper))
                        fail_msg("%s kind %d: epsilon [%.17g, %.17g] for a target of %g at %g", name, k,
                                 a.epsilon.lower, a.epsilon.upper, target.epsilon, target.delta);
                    assert_int_equal(
                        sotto_account_release(&a, name, scale * (1 - 1e-7), &kinds[k], deltas[d], 1, NULL),
                        SOTTO_OK);
                    if (!(a.epsilon.upper > target.epsilon))
                        fail_msg("%s kind %d: scale %g for (%g, %g) is larger than needed", name, k, scale,
                                 target.epsilon, target.delta);
                    checked++;
                }
    assert_true(checked > 200);
}

/* Every row of the table, discrete and dominated ones too, composed and not. */
TEST(calibration_never_overshoots_for_any_mechanism)
{
    const struct sotto_sensitivity s = {.l1 = 2, .l2 = 2, .dimension = 5, .value_step = 0.5};
    int checked = 0;
    for (size_t m = 0; mechanism_row(m); m++)
        for (int e = 0; e < 6; e++)
            for (int d = 0; d < 4; d++)
                for (size_t compose = 1; compose <= 3; compose += 2) {
                    const struct mechanism *row = mechanism_row(m);
                    const struct sotto_dp target = {epsilons[e], deltas[d]};
                    struct sotto_account a;
                    double scale;
                    if (mechanism_at(m) && compose == 1) /* above, with other sensitivities */
                        continue;
                    if (compose > 1 && (e != 2 || d != 2)) /* one each: they take long */
                        continue;
                    sotto_status status =
                        sotto_calibrate_composed(&scale, row->name, &s, target, compose, NULL);
                    if (status == SOTTO_EDOMAIN) /* no pure epsilon exists, or the formula is not private */
                        assert_true((deltas[d] == 0 && !row->pure) || row->check);
                    else
                        assert_int_equal(status, SOTTO_OK);
                    if (status != SOTTO_OK)
                        continue;
                    assert_int_equal(
                        sotto_account_release(&a, row->name, scale, &s, deltas[d], compose, NULL), SOTTO_OK);
                    if (!(a.epsilon.upper <= target.epsilon && a.epsilon.lower <= a.epsilon.upper))
                        fail_msg("%s %zu times: epsilon [%.17g, %.17g] for a target of %g at %g", row->name,
                                 compose, a.epsilon.lower, a.epsilon.upper, target.epsilon, target.delta);
                    checked++;
                }
    assert_true(checked > 100);
}

/* Sums over narrow bins of the two laws, far enough out. */
static void by_quadrature(const struct mechanism *m, double t, double epsilon, double alpha, double *delta,
                          double *renyi)
{
    enum { BINS = 400000 };
    double low = -60, width = (120 + t) / BINS, p0 = m->cdf(low), q0 = m->cdf(low - t);
    *delta = 0;
    double moment = 0;
    for (int i = 1; i <= BINS; i++) {
        double x = low + width * i, p1 = m->cdf(x), q1 = m->cdf(x - t), p = p1 - p0, q = q1 - q0;
        if (x > 0) { /* symmetric laws: the upper tail from the lower one, without cancellation */
            p = m->cdf(-x + width) - m->cdf(-x);
            q = m->cdf(t - x + width) - m->cdf(t - x);
        }
        *delta += fmax(0, q - exp(epsilon) * p);
        if (p > 0 && q > 0)
            moment += q * pow(q / p, alpha - 1);
        p0 = p1;
        q0 = q1;
    }
    *renyi = log(moment) / (alpha - 1);
}

TEST(closed_forms_agree_with_quadrature)
{
    const double shifts[] = {0.1, 1, 4};
    for (size_t i = 0; mechanism_at(i); i++)
        for (int j = 0; j < 3; j++) {
            const struct mechanism *m = mechanism_at(i);
            double t = shifts[j], epsilon = t / 3, delta, renyi;
            by_quadrature(m, t, epsilon, 2.5, &delta, &renyi);
            assert_true(fabs(m->delta(iv(t), epsilon).hi - delta) < 2e-7);
            double formula = m->renyi(iv(t), 2.5).hi;
            if (!(fabs(formula - renyi) <= 1e-6 * formula))
                fail_msg("%s t=%g: Renyi %.12g, quadrature %.12g", m->name, t, formula, renyi);
            /* epsilon(delta) inverts delta(epsilon) */
            struct interval back = m->epsilon(iv(t), m->delta(iv(t), epsilon).hi);
            assert_true(fabs(back.hi - epsilon) < 1e-10);
        }
}

/* A supremum over events of P - e^eps Q is convex in e^eps (not in eps). */
TEST(delta_falls_and_is_convex)
{
    for (size_t i = 0; mechanism_row(i); i++) {
        const struct mechanism *m = mechanism_row(i);
        double before = 1, slope_before = -INFINITY;
        if (m->kind == RELEASE_NONE)
            continue;
        for (int j = 0; j <= 100; j++) {
            double d = m->integer ? m->integer->delta(3, iv(1), 0.03 * j).hi : m->delta(iv(3), 0.03 * j).hi;
            double slope = (d - before) / (exp(0.03 * j) - exp(0.03 * (j - 1)));
            assert_true(d <= before);
            if (j > 0) {
                assert_true(slope >= slope_before - 1e-11);
                slope_before = slope;
            }
            before = d;
        }
    }
}

TEST(an_l2_ball_is_worst_when_spread)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    const struct mechanism *m = mechanism_find("logistic");
    for (int trial = 0; trial < 300; trial++) {
        enum { MOST = 20 };
        int n = 1 + (int)rng_below(&r, MOST);
        double v[MOST], norm = 0, alpha = 1 + exp(6 * rng_unit(&r) - 3), length = exp(6 * rng_unit(&r) - 4),
                        sum = 0;
        for (int i = 0; i < n; i++) {
            v[i] = trial % 2 ? rng_normal(&r) : pow(rng_unit(&r), 8);
            norm += v[i] * v[i];
        }
        for (int i = 0; i < n; i++)
            sum += m->renyi(iv(fabs(v[i]) * length / sqrt(norm)), alpha).lo;
        double ball = m->renyi_ball(iv(length), n, alpha).hi;
        assert_true(sum <= ball * (1 + 1e-12));
        assert_true(ball <= alpha * length * length / 6 * (1 + 1e-9));
    }
}

/* f_t(x) = (1 - x) / (1 - x + e^t x) */
static double trade_off(double t, double x)
{
    return (1 - x) / (1 - x + exp(t) * x);
}

TEST(trade_off_curves_chain)
{
    const struct mechanism *m = mechanism_find("logistic");
    for (double a = 0.25; a < 3; a += 0.5)
        for (double b = 0.25; b < 3; b += 0.75)
            for (double x = 0.05; x < 1; x += 0.05) {
                assert_true(fabs(trade_off(b, 1 - trade_off(a, x)) - trade_off(a + b, x)) < 1e-13);
                /* the curve is the law's own: F(F^-1(1 - x) - t) */
                assert_true(fabs(m->cdf(log((1 - x) / x) - a) - trade_off(a, x)) < 1e-13);
            }
    /* delta(eps) = max over x of 1 - f(x) - e^eps x */
    for (double eps = 0; eps < 1; eps += 0.2) {
        double best = 0;
        for (double x = 0; x <= 1; x += 1e-5)
            best = fmax(best, 1 - trade_off(1, x) - exp(eps) * x);
        assert_true(fabs(best - m->delta(iv(1), eps).hi) < 1e-8);
    }
}

TEST(compositions_agree_and_are_ordered)
{
    for (double a = 0.05; a < 3; a *= 2.3)
        for (int k = 4; k <= 9; k++)
            for (double part = 0.1; part < 0.9; part += 0.2) {
                double epsilon = part * k * a;
                struct interval one = logistic_finite_sum(a, k, epsilon),
                                two = logistic_contour(a, k, epsilon);
                if (!(one.lo <= two.hi && two.lo <= one.hi))
                    fail_msg("a %g k %d eps %g: finite [%.17g, %.17g], contour [%.17g, %.17g]", a, k, epsilon,
                             one.lo, one.hi, two.lo, two.hi);
                if (one.lo > 1e-12)
                    assert_true(two.hi - two.lo < 1e-9 * two.hi);
            }
    struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN};
    double before = 0;
    for (size_t k = 1; k < 3000; k = k * 3 + 1) {
        struct sotto_account account;
        assert_int_equal(sotto_account_release(&account, "logistic", 5, &s, 1e-6, k, NULL), SOTTO_OK);
        assert_true(account.epsilon.upper > before);
        before = account.epsilon.upper;
        for (size_t i = 0; i < account.bound_count; i++)
            assert_true(account.bounds[i].epsilon >= account.epsilon.upper);
        if (k > 1)
            assert_string_equal(account.accountant, "exact composition by l1");
    }
}

/* For a large shift the loss of one release is a - Exp(mean 2), so k of them exceed k a - 4k - 49 almost
 * surely and epsilon cannot lie below k a - 4k - 50 at any delta up to 1/2. Rounding errors of huge exponents
 * once did put it there. */
TEST(absurd_parameters_give_bounds)
{
    const double shifts[] = {1e-90, 1e-30, 1e-6, 0.01, 1, 30, 1e4, 1e12, 1e90};
    const double ks[] = {2, 7, 30, 1000, 1 << 20}, some[] = {1e-300, 1e-15, 1e-5, 0.5};
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 5; j++)
            for (int d = 0; d < 4; d++) {
                double a = shifts[i], k = ks[j];
                struct interval e = logistic_composed_epsilon(iv(a), k, some[d]);
                if (!(e.lo >= 0 && e.lo <= e.hi && e.hi <= next_up(k * a) && e.hi >= k * a - 4 * k - 50))
                    fail_msg("a %g k %g delta %g: [%.17g, %.17g]", a, k, some[d], e.lo, e.hi);
            }
    for (size_t m = 0; mechanism_at(m); m++)
        for (int i = 0; i < 9; i++)
            for (int d = 0; d < 4; d += (int)by_effort(3, 1, 1)) {
                struct sotto_sensitivity s = {.l1 = shifts[i], .l2 = NAN, .dimension = i % 2 ? 0 : 1000000};
                struct sotto_account a;
                assert_int_equal(
                    sotto_account_release(&a, mechanism_at(m)->name, 1, &s, some[d], (size_t)ks[i % 5], NULL),
                    SOTTO_OK);
                assert_true(a.epsilon.lower >= 0 && a.epsilon.lower <= a.epsilon.upper &&
                            !isnan(a.epsilon.upper));
            }
}

/* Every interval result must hold the value computed in long double from the same inputs. */
TEST(intervals_hold_the_truth)
{
    struct rng r = rng_stream(2, RNG_TEST, 0, 0);
    for (int i = 0; i < 20000; i++) {
        double a = ldexp(rng_unit(&r) - 0.5, (int)rng_below(&r, 40) - 20),
               b = ldexp(rng_unit(&r) - 0.5, (int)rng_below(&r, 8));
        long double x = a, y = b;
        const struct {
            struct interval got;
            long double want;
        } cases[] = {{iv_add(iv(a), iv(b)), x + y},
                     {iv_mul(iv(a), iv(b)), x * y},
                     {iv_div(iv(a), iv(b)), x / y},
                     {iv_sqrt(iv(fabs(a))), sqrtl(fabsl(x))},
                     {iv_exp(iv(b)), expl(y)},
                     {iv_expm1(iv(b)), expm1l(y)},
                     {iv_log(iv(fabs(a))), logl(fabsl(x))},
                     {iv_log1p(iv(fabs(a))), log1pl(fabsl(x))}};
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            long double slack = fabsl(cases[j].want) * 0x1p-62L;
            if (!(cases[j].got.lo <= cases[j].want + slack && cases[j].got.hi >= cases[j].want - slack))
                fail_msg("operation %zu of %.17g, %.17g", j, a, b);
            assert_true(cases[j].got.hi - cases[j].got.lo <=
                        fabs((double)cases[j].want) * 0x1p-47 + 0x1p-1000);
        }
    }
    assert_true(isinf(iv_div(iv(1), (struct interval){-1, 1}).hi));
    assert_true(isinf(iv_mul(iv(0), iv(INFINITY)).hi));
    assert_true(isfinite(iv_exp(iv(1000)).lo) && isinf(iv_exp(iv(1000)).hi));
}

TEST_GROUP(.tags = "long long-sums")
