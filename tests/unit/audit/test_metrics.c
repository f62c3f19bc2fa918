/* src/measure/audit/measure/metrics.c and tpr_interval.c: curves, thresholds, areas, bounds. */
#include "support/test.h"

#include "audit/measure/metrics.h"
#include "audit/measure/tpr_interval.h"
#include "num/beta.h"
#include "rng/rng.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

TEST(area_counts_ties_half)
{
    /* Pairs: 3>2 3>1 2=2 2>1 -> (1 + 1 + .5 + 1) / 4. */
    const double member[] = {3, 2}, nonmember[] = {2, 1};
    struct sotto_estimate e;
    assert_int_equal(estimate_auc(&e, member, 2, nonmember, 2, 0.95), SOTTO_OK);
    near(e.estimate, 0.875, 0);
    assert_true(e.lower >= 0 && e.lower < e.estimate && e.estimate < e.upper && e.upper <= 1);
}

TEST(edges_have_intervals)
{
    double high[10], low[10], same[10];
    for (int i = 0; i < 10; i++)
        high[i] = i + 10, low[i] = i, same[i] = 7;
    struct sotto_estimate e;
    assert_int_equal(estimate_auc(&e, high, 10, low, 10, 0.95), SOTTO_OK);
    assert_true(e.estimate == 1 && e.upper == 1);
    near(e.lower, 1 - 0.3084971078187607, 1e-12); /* Clopper-Pearson, 10 of 10 */
    assert_int_equal(estimate_auc(&e, low, 10, high, 10, 0.95), SOTTO_OK);
    assert_true(e.estimate == 0 && e.lower == 0);
    near(e.upper, 0.3084971078187607, 1e-12);
    assert_int_equal(estimate_auc(&e, same, 10, same, 10, 0.95), SOTTO_OK);
    assert_true(e.estimate == 0.5);
    near(e.lower, 0.1870860284473985, 1e-12); /* 5 of 10: certainty is not claimed */
    assert_int_equal(estimate_auc(&e, high, 1, low, 1, 0.95), SOTTO_OK);
    near(e.lower, 0.025, 1e-15);
}

TEST(thresholds_never_exceed_the_rate)
{
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    for (int round = 0; round < 60; round++) {
        double member[40], nonmember[50];
        for (int i = 0; i < 40; i++)
            member[i] = (double)rng_below(&r, 12); /* many ties */
        for (int i = 0; i < 50; i++)
            nonmember[i] = (double)rng_below(&r, 12) - 1;
        struct roc c;
        assert_int_equal(roc_make(&c, member, 40, nonmember, 50), SOTTO_OK);
        for (double fpr = 0.01; fpr < 1; fpr += 0.07) {
            double t = roc_threshold_at_fpr(&c, fpr);
            struct rates rates = roc_rates(&c, t, 0.95);
            assert_true(rates.fpr.estimate <= fpr + 1e-12);
            /* No other threshold within the rate catches more. */
            for (double other = -3; other < 13; other += 0.5) {
                struct rates x = roc_rates(&c, other, 0.95);
                assert_true(x.fpr.estimate > fpr || x.tpr.estimate <= rates.tpr.estimate);
            }
        }
        struct rates best = roc_rates(&c, roc_threshold_balanced(&c), 0.95);
        near(best.tpr.estimate - best.fpr.estimate, roc_advantage(&c), 1e-15);
        roc_clear(&c);
    }
}

/* Half way between two neighbours is the upper one where that is the even one: the threshold must not be. */
TEST(thresholds_between_neighbouring_doubles)
{
    double member[20], nonmember[20];
    for (int i = 0; i < 20; i++)
        nonmember[i] = nextafter(1, 2), member[i] = nextafter(nonmember[i], 2);
    struct roc c;
    assert_int_equal(roc_make(&c, member, 20, nonmember, 20), SOTTO_OK);
    const double thresholds[] = {roc_threshold_at_fpr(&c, 0), roc_threshold_balanced(&c),
                                 roc_threshold_epsilon(&c, 0, 0.95)};
    for (int k = 0; k < 3; k++) {
        const struct rates r = roc_rates(&c, thresholds[k], 0.95);
        assert_true(r.tpr.estimate == 1 && r.fpr.estimate == 0);
    }
    roc_clear(&c);
}

/* Members that tie with the non-member at the rank are not above it: a threshold there may flag none of them. */
TEST(ties_are_not_in_the_lower_end_of_a_rate)
{
    static double same[1000], member[1000];
    for (int i = 0; i < 1000; i++)
        same[i] = 7, member[i] = i < 400 ? 8 : 7;
    struct roc c;
    bool has_lower;
    assert_int_equal(roc_make(&c, same, 1000, same, 1000), SOTTO_OK);
    assert_true(tpr_by_ranks(&c, 0.1, 0.95, &has_lower).lower == 0 && has_lower);
    roc_clear(&c);
    assert_int_equal(roc_make(&c, member, 1000, same, 1000), SOTTO_OK);
    const struct sotto_estimate e = tpr_by_ranks(&c, 0.1, 0.95, &has_lower);
    assert_true(e.estimate == 0.4 && e.lower > 0.35 && e.lower < 0.4 && e.upper == 1 && has_lower);
    roc_clear(&c);
}

TEST(thinned_curves_are_subsets)
{
    static double member[5000], nonmember[9000];
    struct rng r = rng_stream(6, RNG_TEST, 0, 0);
    for (int i = 0; i < 5000; i++)
        member[i] = rng_normal(&r) + 0.5;
    for (int i = 0; i < 9000; i++)
        nonmember[i] = rng_normal(&r);
    struct roc c;
    size_t kept[100];
    assert_int_equal(roc_make(&c, member, 5000, nonmember, 9000), SOTTO_OK);
    size_t count = roc_thin(kept, 100, &c);
    assert_true(count > 50 && count <= 100);
    for (size_t i = 1; i < count; i++)
        assert_true(kept[i] > kept[i - 1]);
    assert_int_equal(kept[count - 1], c.points - 1);
    /* Dense at low rates: at least a fifth of the points lie below FPR .01. */
    size_t low = 0;
    for (size_t i = 0; i < count; i++)
        low += c.false_flags[kept[i]] < 90;
    assert_true(low * 5 >= count);
    roc_clear(&c);
}

TEST(epsilon_bounds_by_hand)
{
    /* Randomised response with epsilon = ln 3 has TPR .75 and FPR .25: the bound is ln 3 in the limit, never
     * above it. */
    struct rates exact = {.tpr = {.75, .75, .75}, .fpr = {.25, .25, .25}};
    near(rates_epsilon(&exact, 0), log(3), 1e-15);
    near(rates_epsilon(&exact, 0.05), log(0.7 / 0.25), 1e-15);
    struct rates none = {.tpr = {0, 0, .01}, .fpr = {0, 0, .01}};
    near(rates_epsilon(&none, 0), 0, 1e-15);
    struct rates miss_side = {.tpr = {1, .99, 1},
                              .fpr = {.5, .45, .55}}; /* log(.45 / .01) beats log(.99 / .55) */
    near(rates_epsilon(&miss_side, 0), log(45), 1e-12);
}

TEST(the_beta_function_has_two_good_tails)
{
    /* I_x(1, b) = 1 - (1-x)^b and I_x(a, 1) = x^a: both tails keep their digits far out. */
    struct beta_tails t = beta_cdf(1e-20, 1, 3);
    near(t.lower / 3e-20, 1, 1e-12);
    t = beta_cdf(0.9, 1, 300);
    near(t.upper / pow(0.1, 300), 1, 1e-10);
    t = beta_cdf(0.3, 4, 1);
    near(t.lower, 0.0081, 1e-15);
    for (double p = 0.001; p < 1; p += 0.037) {
        double x = beta_quantile(p, 2.5, 7);
        near(beta_cdf(x, 2.5, 7).lower, p, 1e-14);
        near(x, 1 - beta_quantile(1 - p, 7, 2.5), 1e-14);
    }
}
