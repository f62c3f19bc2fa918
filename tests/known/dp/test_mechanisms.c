/* Closed forms of the mechanisms beside logistic, Laplace and Gaussian (test_privacy_closed_forms.c).
 * Origins: direct sums over the laws in long double; dp.md (d) for the classical Gaussian formula; Dong,
 * Durfee and Rogers 2020 for the worst pairs of the exponential mechanism; Kairouz, Oh and Viswanath 2015 for
 * randomised response. */
#include "support/test.h"
#include "support/worse.h"
#include "dp/account/accountant.h"
#include "sotto/lab/account.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static void close_to(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g, expected %.17g", got, want);
}

static bool holds(struct interval i, long double x)
{
    return i.lo <= x * (1 + 1e-15L) && i.hi >= x * (1 - 1e-15L);
}

/* --- discrete laws by summing them --- */

static long double laplace_weight(long k, long double h)
{
    return expl(-labs(k) * h);
}
static long double gaussian_weight(long k, long double h)
{
    return expl(-(long double)k * k * h * h / 2);
}

/* Hockey-stick divergence and Renyi divergence of the law and its shift by `steps`. */
static void by_summing(long double (*weight)(long k, long double h), long steps, double h, double epsilon,
                       double alpha, long double *delta, long double *renyi)
{
    long reach = (long)(200 / h) + steps + 50;
    long double all = 0, moment = 0, d = 0;
    for (long k = -reach; k <= reach; k++)
        all += weight(k, h);
    for (long k = -reach; k <= reach; k++) {
        long double p = weight(k - steps, h) / all, q = weight(k, h) / all;
        d += fmaxl(0, p - expl((long double)epsilon) * q);
        if (p > 0 && q > 0)
            moment += expl(alpha * logl(p) + (1 - alpha) * logl(q));
    }
    *delta = d;
    *renyi = logl(moment) / (alpha - 1);
}

TEST(discrete_laws_agree_with_sums)
{
    const struct {
        const char *name;
        long double (*weight)(long k, long double h);
    } laws[] = {{"discrete-laplace", laplace_weight}, {"discrete-gaussian", gaussian_weight}};
    const double steps_over_scale[] = {0.05, 0.0625, 0.07, 0.3, 1, 4};
    const long shifts[] = {1, 2, 3, 10};
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 4; j++)
                for (int e = 0; e <= 5; e++)
                    for (int a = 0; a < 3; a++) {
                        if (a > 0 && e > 0) /* delta has no order, and the divergence no epsilon */
                            continue;
                        const struct integer_law *law = mechanism_find(laws[l].name)->integer;
                        const double orders[] = {1.5, 2, 7};
                        double h = steps_over_scale[i], t = h * (double)shifts[j], epsilon = t * e / 4;
                        long double delta, renyi;
                        if (l == 1)
                            epsilon = t * (t / 2 + e);
                        by_summing(laws[l].weight, shifts[j], h, epsilon, orders[a], &delta, &renyi);
                        struct interval d = law->delta((double)shifts[j], iv(h), epsilon);
                        struct interval r = law->renyi((double)shifts[j], iv(h), orders[a]);
                        if (isfinite(renyi) && !holds(r, renyi) && fabsl(r.hi - renyi) > 1e-13L)
                            fail_msg("%s h %g D %ld alpha %g: [%.17g, %.17g], sum %.17Lg", laws[l].name, h,
                                     shifts[j], orders[a], r.lo, r.hi, renyi);
                        /* what the record says without knowing the step is never smaller */
                        const struct mechanism *m = mechanism_find(laws[l].name);
                        assert_true(isinf(renyi) ||
                                    m->renyi(iv(t), orders[a]).hi >= (double)renyi * (1 - 1e-12) - 1e-15);
                        if (a > 0) /* delta has no order */
                            continue;
                        if (!(d.lo <= delta + 1e-18L && d.hi >= delta - 1e-18L))
                            fail_msg("%s h %g D %ld eps %g: [%.17g, %.17g], sum %.17Lg", laws[l].name, h,
                                     shifts[j], epsilon, d.lo, d.hi, delta);
                        assert_true(d.hi - d.lo <= 1e-11 * d.hi + 1e-14);
                        if (!(m->delta(iv(t), epsilon).hi >= (double)delta * (1 - 1e-12) - 1e-16))
                            fail_msg("%s h %g D %ld eps %g: any step %.17g, sum %.17Lg", m->name, h,
                                     shifts[j], epsilon, m->delta(iv(t), epsilon).hi, delta);
                        if (d.lo > 1e-12) { /* epsilon(delta) inverts delta(epsilon) */
                            struct interval back = law->epsilon((double)shifts[j], iv(h), d.hi);
                            assert_true(back.lo <= epsilon * (1 + 1e-9) + 1e-12);
                            assert_true(law->delta((double)shifts[j], iv(h), back.hi).hi <= d.hi);
                            /* and as tightly as the curve's slope allows */
                            struct interval above = law->delta((double)shifts[j], iv(h), back.hi);
                            struct interval below = law->delta((double)shifts[j], iv(h), back.lo);
                            if (h < 0.5 && !(above.hi >= d.hi * (1 - 1e-3) - 1e-14 &&
                                             below.lo <= d.hi * (1 + 1e-3) + 1e-14))
                                fail_msg("%s h %g D %ld delta [%.17g, %.17g]: epsilon [%.17g, %.17g] from "
                                         "%.17g, there "
                                         "%.17g and %.17g",
                                         m->name, h, shifts[j], d.lo, d.hi, back.lo, back.hi, epsilon,
                                         below.lo, above.hi);
                            assert_true(m->epsilon(iv(t), d.hi).hi >= back.lo * (1 - 1e-9) - 1e-12);
                        }
                    }
}

/* Far out, where Euler and Maclaurin take over: a discrete Gaussian of many steps is as good as the
 * continuous one; 1 / (24 sigma^2) apart. And a count (one step) under discrete Laplace is randomised
 * response. */
TEST(discrete_laws_at_their_limits)
{
    const struct mechanism *g = mechanism_find("discrete-gaussian");
    for (double e = 0; e < 6; e += 0.7) {
        struct interval d = g->integer->delta(1e6, iv(1e-6), e),
                        c = mechanism_find("gaussian")->delta(iv(1), e);
        assert_true(fabs(d.hi - c.hi) < 1e-9 * c.hi);
        assert_true(d.hi - d.lo < 1e-9 * d.hi);
    }
    assert_true(g->integer->delta(10, iv(1), 1000).hi <= 1e-300); /* beyond the range of doubles */
    /* thresholds that doubles cannot tell apart: what holds for every step */
    assert_true(g->integer->delta(1e300, iv(1e-300), 1).hi == g->delta(iv_scale(iv(1e-300), 1e300), 1).hi);
    assert_true(g->delta(iv(1), 1).hi >= mechanism_find("gaussian")->delta(iv(1), 1).hi);
    assert_true(g->integer->epsilon(1, iv(3), 0.9999).hi == 0);
    const struct mechanism *l = mechanism_find("discrete-laplace");
    for (double e = 0; e <= 1.2; e += 0.2) {
        close_to(l->integer->delta(1, iv(1), e).hi + 1, fmax(0, (exp(1) - exp(e)) / (1 + exp(1))) + 1, 1e-14);
        assert_true(fabs(l->integer->delta(1e6, iv(1e-6), e).hi -
                         mechanism_find("laplace")->delta(iv(1), e).hi) < 1e-6);
    }
    assert_true(l->integer->delta(1e18, iv(1e-17), 1).hi == l->delta(iv_scale(iv(1e-17), 1e18), 1).hi);
    assert_true(l->integer->epsilon(3, iv(1), 0.9).hi == 0);
    close_to(l->integer->deviation(1), 1.35696249, 1e-8); /* sqrt(2 e^-1) / (1 - e^-1) */
    close_to(g->integer->deviation(0.01), 1, 0);
    close_to(g->integer->deviation(0.5), 1, 1e-9);
    close_to(g->integer->deviation(3), 0.442284692, 1e-5); /* 3 sqrt(2 w / (1 + 2 w)), w = e^-4.5 */
}

/* --- the classical formula --- */

TEST(the_classical_formula_fails_where_it_fails)
{
    /* dp.md (d) */
    const double first[][2] = {{0.1, 5.7426}, {1e-2, 6.7718}, {1e-3, 7.4635}, {1e-5, 8.4198}, {1e-8, 9.3743}};
    const double reached[][2] = {{0.1, 2.636e-9}, {1, 4.114e-8}, {8, 7.971e-6}, {10, 2.265e-5}};
    const double analytic[][2] = {{0.1, 30.749566131978}, {0.5, 7.031826675583}, {1, 3.730631634816},
                                  {2, 1.993812445644},    {4, 1.081161849520},   {8, 0.600229072199},
                                  {10, 0.499888619709}};
    struct sotto_classical_gaussian c;
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1};
    struct sotto_account a;
    double scale;
    for (int i = 0; i < 5; i++) {
        double delta = first[i][0], limit = first[i][1];
        assert_int_equal(sotto_gaussian_classical(&c, 1, (struct sotto_dp){1, delta}), SOTTO_OK);
        assert_true(fabs(c.first_violation - limit) < 5.1e-5);
        assert_true(c.is_private && !c.published);
        assert_int_equal(sotto_gaussian_classical(&c, 1, (struct sotto_dp){limit + 1e-3, delta}), SOTTO_OK);
        assert_true(!c.is_private);
        assert_int_equal(sotto_gaussian_classical(&c, 1, (struct sotto_dp){limit - 1e-3, delta}), SOTTO_OK);
        assert_true(c.is_private);
        assert_int_equal(
            sotto_calibrate(&scale, "gaussian-classical", &s, (struct sotto_dp){limit - 1e-3, delta}, NULL),
            SOTTO_OK);
        close_to(scale, c.scale, 1e-12);
        assert_int_equal(sotto_account_release(&a, "gaussian-classical", scale, &s, delta, 1, NULL),
                         SOTTO_OK);
        assert_true(a.note[0] && a.epsilon.upper <= limit - 1e-3 && a.epsilon.lower <= a.epsilon.upper);
        assert_true(a.bound_count == 2 && a.bounds[1].epsilon < a.bounds[0].epsilon);
        assert_string_equal(a.bounds[1].name, "analytic gaussian");
        assert_int_equal(
            sotto_calibrate(&scale, "gaussian-classical", &s, (struct sotto_dp){limit + 1e-3, delta}, NULL),
            SOTTO_EDOMAIN);
        assert_non_null(strstr(sotto_error_text(), "is not private from epsilon"));
        assert_int_equal(sotto_account_release(&a, "gaussian-classical", scale * 0.99, &s, delta, 1, NULL),
                         SOTTO_EDOMAIN);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sotto_gaussian_classical(&c, 1, (struct sotto_dp){reached[i][0], 1e-5}), SOTTO_OK);
        close_to(c.achieved_delta, reached[i][1], 3e-4);
        close_to(c.scale, sqrt(2 * log(1.25e5)) / reached[i][0], 1e-14);
        assert_int_equal(c.published, reached[i][0] < 1);
    }
    for (int i = 0; i < 7; i++) {
        assert_int_equal(sotto_gaussian_classical(&c, 1, (struct sotto_dp){analytic[i][0], 1e-5}), SOTTO_OK);
        close_to(c.analytic_scale, analytic[i][1], 1e-11);
    }
    assert_int_equal(sotto_account_release(&a, "gaussian-classical", 100, &s, 1e-5, 1, NULL), SOTTO_OK);
    assert_true(!a.note[0] && a.epsilon.upper < 1);
    assert_int_equal(sotto_account_release(&a, "gaussian-classical", 100, &s, 0, 1, NULL), SOTTO_EDOMAIN);
    close_to(mechanism_find("gaussian-classical")->renyi(iv(1), 4).hi, 2, 1e-15);
}

/* --- exponential mechanism --- */

/* Two candidates with log-odds that move by t: all pairs of Dong, Durfee and Rogers, lemma 3.1, by q. */
TEST(the_exponential_mechanism_is_as_bad_as_logistic_noise)
{
    const struct mechanism *m = mechanism_find("exponential");
    for (double t = 0.2; t < 5; t *= 1.7)
        for (double e = 0; e < t; e += t / 7) {
            double worst = 0;
            for (double x = -20; x < 20; x += 1e-3) { /* P(1) = sigmoid(x), Q(1) = sigmoid(x - t) */
                double p = 1 / (1 + exp(-x)), q = 1 / (1 + exp(t - x));
                worst = worse(worst, p - exp(e) * q);
            }
            struct interval d = m->delta(iv(t), e);
            assert_true(worst <= d.hi && worst > d.lo - 1e-6);
        }
    /* a range of t is t^2/8-zCDP */
    close_to(m->renyi(iv(0.01), 2).hi, 2 * 0.01 * 0.01 / 8, 1e-6);
    assert_true(m->renyi(iv(3), 1000).hi <= 3);
}

/* --- permute-and-flip --- */

/* Candidate k of 3: its coin, after each set of others that were refused; s! (2 - s)! / 3! orders. */
static double flip(const int q[3], const bool taken[3], int k, double scale)
{
    static const double orders[3][3] = {{0}, {1. / 2, 1. / 2}, {1. / 3, 1. / 6, 1. / 3}};
    double sum = 0, coin[3];
    int best = -100, left = 0;
    for (int i = 0; i < 3; i++)
        if (!taken[i])
            best = q[i] > best ? q[i] : best, left++;
    for (int i = 0; i < 3; i++)
        coin[i] = exp((q[i] - best) / (2 * scale));
    for (int set = 0; set < 8; set++) {
        double refused = 1;
        int size = 0;
        bool fits = true;
        for (int i = 0; i < 3; i++)
            if (set >> i & 1) {
                fits = fits && !taken[i] && i != k;
                refused *= 1 - coin[i], size++;
            }
        sum += !fits ? 0 : left == 1 ? 1 : orders[left - 1][size] * refused;
    }
    return sum * coin[k];
}

/* The probability of `first` and then `second`, each at twice the scale; second -1: of `first` alone. */
static double flips(const int q[3], int first, int second)
{
    bool taken[3] = {false};
    double p = flip(q, taken, first, second < 0 ? 1 : 2);
    taken[first] = true;
    return second < 0 ? p : p * flip(q, taken, second, 2);
}

/* All neighbours among scores 0 to 3, which move by at most 1: pure epsilon 1, for one choice and for two of half the epsilon
 * each; nearly reached, and above what the exponential mechanism's curve allows. */
TEST(permute_and_flip_is_pure_and_no_more)
{
    double worst[2] = {0}, distance = 0, all = 0;
    const int known[3] = {2, 0, 3};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            all += i == j ? 0 : flips(known, i, j);
    close_to(all, 1, 1e-14);
    for (int x = 0; x < 64; x++)
        for (int move = 0; move < 27; move++) {
            const int a[3] = {x & 3, x >> 2 & 3, x >> 4};
            const int b[3] = {a[0] + move % 3 - 1, a[1] + move / 3 % 3 - 1, a[2] + move / 9 - 1};
            double apart = 0;
            for (int i = 0; i < 3; i++)
                for (int j = -1; j < 3; j++) {
                    double p = i == j ? 1 : flips(a, i, j), q = i == j ? 1 : flips(b, i, j);
                    worst[j >= 0] = worse(worst[j >= 0], log(p / q));
                    apart += j < 0 ? fmax(0, p - q) : 0;
                }
            distance = worse(distance, apart);
        }
    assert_true(worst[0] <= 1 && worst[0] > .9);
    assert_true(worst[1] <= 1 && worst[1] > .9);
    assert_true(distance > mechanism_find("exponential")->delta(iv(1), 0).hi + .05);
    assert_true(distance <= mechanism_find("permute-and-flip")->delta(iv(1), 0).hi);
}

/* --- randomised response, K-norm --- */

TEST(randomised_response_is_its_own_pair)
{
    const struct mechanism *m = mechanism_find("randomised-response");
    for (double t = 0.1; t < 6; t *= 2) {
        double p = exp(t) / (1 + exp(t));
        for (double e = 0; e < t; e += t / 5) {
            close_to(m->delta(iv(t), e).hi, p - exp(e) * (1 - p), 1e-12);
            close_to(m->epsilon(iv(t), m->delta(iv(t), e).hi).hi + 1, e + 1, 1e-12);
        }
        assert_true(m->delta(iv(t), t + 0.1).hi < 1e-300);
        for (double alpha = 1.5; alpha < 30; alpha *= 2)
            close_to(m->renyi(iv(t), alpha).hi,
                     log(pow(p, alpha) * pow(1 - p, 1 - alpha) + pow(1 - p, alpha) * pow(p, 1 - alpha)) /
                         (alpha - 1),
                     1e-10);
    }
    /* dp.md (e): optimal composition of (0.1, 0) 100 times and (1, 0) 10 times at 1e-5 */
    struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN};
    struct sotto_account a;
    assert_int_equal(sotto_account_release(&a, "randomised-response", 10, &s, 1e-5, 100, NULL), SOTTO_OK);
    close_to(a.epsilon.upper, 4.3067913725, 1e-9);
    assert_int_equal(sotto_account_release(&a, "randomised-response", 1, &s, 1e-5, 10, NULL), SOTTO_OK);
    close_to(a.epsilon.upper, 9.9997706345, 1e-10);
}

TEST(knorm_needs_a_dimension_and_l2_only)
{
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 0.5};
    struct sotto_account a;
    double scale;
    assert_int_equal(sotto_account_release(&a, "knorm", 1, &s, 0, 1, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "needs the dimension"));
    s.dimension = 99;
    assert_int_equal(sotto_calibrate(&scale, "knorm", &s, (struct sotto_dp){2, 0}, NULL), SOTTO_OK);
    close_to(scale, 0.25, 1e-9);
    assert_int_equal(sotto_account_release(&a, "knorm", scale, &s, 0, 1, NULL), SOTTO_OK);
    assert_true(a.pure_epsilon <= 2 && a.epsilon.lower > 2 * (1 - 1e-9));
    close_to(a.standard_deviation, 2.5, 1e-9); /* sqrt(99 + 1) scale */
    assert_non_null(strstr(a.note, "double precision"));
    assert_int_equal(sotto_account_release(&a, "knorm", scale, &s, 1e-5, 3, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper < 6 && a.epsilon.lower == 0);
}

/* --- the chooser --- */

static const struct sotto_account *of(const struct sotto_account *a, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a[i].mechanism, name) == 0)
            return &a[i];
    fail_msg("%s is missing", name);
    return NULL;
}

TEST(the_chooser_by_the_table)
{
    /* dp.md (g): standard deviation for (1, 1e-5) in total, unit sensitivity */
    const struct {
        size_t k;
        double gaussian, logistic;
        const char *winner;
    } table[] = {{1, 3.730632, 1.804700, "laplace"},     {2, 5.2759, 3.5078, "laplace"},
                 {5, 8.3419, 7.4135, "laplace"},         {7, 9.8703, 9.2714, "logistic"},
                 {10, 11.797293, 11.495382, "logistic"}, {20, 16.684, 16.887, "gaussian"},
                 {50, 26.380, 27.263, "gaussian"},       {100, 37.306316, 38.812734, "gaussian"},
                 {1000, 117.972931, 123.461, "gaussian"}};
    const double laplace[] = {1.414185, 2.8283, 7.0688, 9.8869}; /* of the first four */
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    struct sotto_account a[SOTTO_MAX_MECHANISMS];
    size_t count;
    for (int i = 0; i < 9; i++) {
        assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){1, 1e-5}, table[i].k, NULL), SOTTO_OK);
        assert_int_equal(count, 3);
        assert_string_equal(a[0].mechanism, table[i].winner);
        close_to(of(a, count, "gaussian")->standard_deviation, table[i].gaussian, 3e-5);
        close_to(of(a, count, "logistic")->standard_deviation, table[i].logistic, 3e-5);
        if (i < 4)
            close_to(of(a, count, "laplace")->standard_deviation, laplace[i], 2e-5);
    }
    /* whole numbers add the discrete mechanisms, a dimension adds K-norm noise */
    s.value_step = 1;
    s.dimension = 20;
    s.l2 = 1;
    s.l1 = NAN;
    assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){1, 1e-5}, 1, NULL), SOTTO_OK);
    assert_int_equal(count, 6);
    (void)of(a, count, "knorm");
    (void)of(a, count, "discrete-laplace");
    (void)of(a, count, "discrete-gaussian");
    assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){1, 0}, 1, NULL), SOTTO_OK);
    assert_int_equal(count, 4); /* pure: logistic, Laplace, discrete Laplace, K-norm */
}

TEST_GROUP(.tags = "long")
