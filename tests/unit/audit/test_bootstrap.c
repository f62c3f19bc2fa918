/* src/measure/audit/measure/bootstrap.c, sorted.c, epsilon_bounds.c: samplers against brute force, sorting, bounds by
 * hand. */
#include "support/test.h"
#include "support/worse.h"
#include "audit/measure/bootstrap.h"
#include "audit/measure/epsilon_bounds.h"
#include "audit/measure/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

TEST(radix_sort_orders_everything)
{
    enum { N = 3000 };
    static double x[N], scratch[N], before[N];
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (int i = 0; i < N; i++)
        x[i] =
            i % 7 == 0 ? (double)rng_below(&r, 5) - 2 : ldexp(rng_normal(&r), (int)rng_below(&r, 600) - 300);
    x[1] = -0.0, x[2] = INFINITY, x[3] = -INFINITY, x[4] = 4.9e-324, x[5] = -1.7e308;
    memcpy(before, x, sizeof x);
    sort_rising(x, N, scratch);
    for (int i = 1; i < N; i++)
        assert_true(x[i - 1] <= x[i]);
    for (int i = 0; i < N; i++) { /* nothing is lost: each value stands where its counts say */
        size_t below = count_below(x, N, before[i]), upto = count_upto(x, N, before[i]), same = 0;
        for (int k = 0; k < N; k++)
            same += before[k] == before[i];
        assert_int_equal(upto - below, same);
        assert_true(x[below] == before[i]);
    }
    assert_int_equal(count_upto(x, N, INFINITY), N);
    assert_int_equal(count_below(x, N, -INFINITY), 0);
}

/* Mean and variance of draws against n p and n p (1 - p), within 5 standard errors. */
TEST(binomial_draws_have_their_moments)
{
    enum { DRAWS = 4000 };
    const double ps[] = {0, 0.001, 0.1, 0.5, 0.97, 1};
    const size_t ns[] = {1, 15, 16, 17, 200, 5000};
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b < 6; b++) {
            double n = (double)ns[b], p = ps[a], sum = 0, squares = 0, variance = n * p * (1 - p);
            for (uint64_t i = 0; i < DRAWS; i++) {
                struct rng r = rng_stream(2, RNG_TEST, a * 6 + b, i);
                size_t k = bootstrap_binomial(ns[b], p, &r);
                assert_true(k <= ns[b]);
                sum += (double)k - n * p;
                squares += ((double)k - n * p) * ((double)k - n * p);
            }
            near(sum / DRAWS, 0, 5 * sqrt(variance / DRAWS) + 1e-12);
            double fourth = variance * (1 + 3 * variance); /* at least E (k - np)^4 - for binomials */
            near(squares / DRAWS, variance, 5 * sqrt(fourth / DRAWS) + 1e-12);
        }
}

/* Share of draws at or below each value, for the short cut and for resampling record by record. */
TEST(bootstrap_equals_resampling)
{
    enum { M = 40, N = 50, DRAWS = 6000 };
    const double rates[] = {0, 0.02, 0.1, 0.5, 0.99};
    double member[M], nonmember[N];
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (int i = 0; i < M; i++)
        member[i] = (double)rng_below(&r, 15) + 2; /* many ties */
    for (int i = 0; i < N; i++)
        nonmember[i] = (double)rng_below(&r, 15);
    struct roc whole;
    assert_int_equal(roc_make(&whole, member, M, nonmember, N), SOTTO_OK);
    for (size_t k = 0; k < 5; k++) {
        size_t fast[M + 1] = {0}, slow[M + 1] = {0};
        for (uint64_t i = 0; i < DRAWS; i++) {
            struct rng one = rng_stream(4, RNG_TEST, k, i), two = rng_stream(5, RNG_TEST, k, i);
            fast[(size_t)lround(bootstrap_tpr_draw(&whole, rates[k], &one) * M)]++;
            double a[M], b[N];
            for (int j = 0; j < M; j++)
                a[j] = member[rng_below(&two, M)];
            for (int j = 0; j < N; j++)
                b[j] = nonmember[rng_below(&two, N)];
            struct roc c;
            assert_int_equal(roc_make(&c, a, M, b, N), SOTTO_OK);
            struct rates found = roc_rates(&c, roc_threshold_at_fpr(&c, rates[k]), 0.5);
            slow[(size_t)lround(found.tpr.estimate * M)]++;
            roc_clear(&c);
        }
        double gap = 0, f = 0, s = 0;
        for (int i = 0; i <= M; i++) {
            f += (double)fast[i], s += (double)slow[i];
            gap = worse(gap, fabs(f - s) / DRAWS);
        }
        /* Kolmogorov and Smirnov at 1e-4 for two samples of this size: 2.23 sqrt(2 / DRAWS). */
        assert_true(gap < 2.23 * sqrt(2.0 / DRAWS));
    }
    roc_clear(&whole);
}

/* A wrong short cut (the k-th instead of the k+1-th record) must be seen by the test above's measure. */
TEST(the_comparison_can_fail)
{
    enum { DRAWS = 6000 };
    double apart = 0, right = 0, wrong = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct rng r = rng_stream(6, RNG_TEST, 0, i);
        right += floor(50 * bootstrap_beta(6, 45, &r)) <= 4;
        wrong += floor(50 * bootstrap_beta(5, 46, &r)) <= 4;
    }
    apart = fabs(right - wrong) / DRAWS;
    assert_true(apart > 2.23 * sqrt(2.0 / DRAWS));
}

TEST(bootstrap_intervals_hold_their_estimate)
{
    double member[100], nonmember[100];
    struct rng r = rng_stream(7, RNG_TEST, 0, 0);
    for (int i = 0; i < 100; i++)
        member[i] = rng_normal(&r) + 1, nonmember[i] = rng_normal(&r);
    struct roc c;
    struct sotto_estimate e, again;
    assert_int_equal(roc_make(&c, member, 100, nonmember, 100), SOTTO_OK);
    for (double fpr = 0.01; fpr < 1; fpr += 0.13) {
        assert_int_equal(bootstrap_tpr(&e, &c, fpr, 500, 0.95, 1, 2, NULL), SOTTO_OK);
        assert_int_equal(bootstrap_tpr(&again, &c, fpr, 500, 0.95, 1, 2, NULL), SOTTO_OK);
        assert_memory_equal(&e, &again, sizeof e);
        assert_true(e.lower <= e.estimate && e.estimate <= e.upper);
        near(e.estimate, roc_rates(&c, roc_threshold_at_fpr(&c, fpr), 0.9).tpr.estimate, 0);
    }
    base_alloc_fail_after(1);
    assert_int_equal(bootstrap_tpr(&e, &c, 0.1, 500, 0.95, 1, 2, NULL), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    roc_clear(&c);
}

/* Jagielski et al.: 500 hits of 500 against 0 of 500 at 99 %: ln of two Clopper-Pearson ends, 4.5419 (origin:
 * their figure 1 recomputed in closed form, (alpha/2)^(1/n)). Groups of k divide it. */
TEST(groups_share_a_bound)
{
    double end = pow(0.005, 1.0 / 500);
    struct rates r = {.tpr = {1, end, 1}, .fpr = {0, 0, 1 - end}};
    near(rates_epsilon(&r, 0), 4.54191581, 1e-8);
    near(epsilon_of_group(&r, 0, 1), rates_epsilon(&r, 0), 1e-12);
    near(epsilon_of_group(&r, 0, 8), rates_epsilon(&r, 0) / 8, 1e-12);
    near(epsilon_of_group(&r, 1e-5, 1), rates_epsilon(&r, 1e-5), 1e-12);
    /* With delta the group pays delta (e^(k e) - 1) / (e^e - 1), so the bound falls short of a k-th. */
    double e = epsilon_of_group(&r, 1e-3, 8), slack = 1e-3 * expm1(8 * e) / expm1(e);
    near(end, exp(8 * e) * (1 - end) + slack, 1e-9);
    assert_true(e < rates_epsilon(&r, 1e-3) / 8);
    struct rates none = {.tpr = {.5, .4, .6}, .fpr = {.5, .4, .6}};
    near(epsilon_of_group(&none, 0, 4), 0, 1e-12);
}

TEST(one_run_by_hand)
{
    /* One guess, right: Pr[Bin(1, q) >= 1] = q is never below 1/2: nothing is refuted. */
    near(one_run_epsilon(0, 10, 1, 1, 0.95), 0, 0);
    /* Ten of ten: q^10 = .05, so epsilon = ln(q / (1 - q)). */
    double q = pow(0.05, 0.1);
    near(one_run_epsilon(0, 10, 10, 10, 0.95), log(q / (1 - q)), 1e-12);
    near(one_run_p(log(q / (1 - q)), 0, 10, 10, 10), 0.05, 1e-12);
    /* delta costs, and no guess tells nothing. */
    assert_true(one_run_epsilon(1e-3, 10, 10, 10, 0.95) < one_run_epsilon(0, 10, 10, 10, 0.95));
    near(one_run_epsilon(0, 10, 0, 0, 0.95), 0, 0);
    near(one_run_p(1, 1e-5, 10, 5, 0), 1, 0);
}

TEST(odds_ratio_edges)
{
    struct sotto_estimate e;
    assert_int_equal(odds_ratio_interval(&e, 0, 5, 0, 5, 0.95),
                     SOTTO_OK); /* no record flagged: no information */
    assert_true(e.lower == -INFINITY && e.upper == INFINITY);
    assert_int_equal(odds_ratio_interval(&e, 5, 5, 0, 5, 0.95),
                     SOTTO_OK); /* perfect: bounded from below only */
    assert_true(isfinite(e.lower) && e.lower > 0 && e.upper == INFINITY && e.estimate == INFINITY);
    struct sotto_estimate mirrored;
    assert_int_equal(odds_ratio_interval(&e, 7, 20, 3, 30, 0.9), SOTTO_OK);
    assert_int_equal(odds_ratio_interval(&mirrored, 3, 30, 7, 20, 0.9), SOTTO_OK);
    near(e.estimate, -mirrored.estimate, 1e-9);
    near(e.lower, -mirrored.upper, 1e-9);
}
