/* src/core/dp/account/adaptive_account.c: triples of events, their sum and its epsilon. Figures: docs/derivations/adaptive.md. */
#include "support/test.h"

#include "dp/account/adaptive_account.h"
#include "sotto/private/all.h"

#include <math.h>
#include <string.h>

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.10g, expected %.10g to %g", got, want, tolerance);
}

static const struct sotto_event run = {.mechanism = "gaussian",
                                       .count = 586,
                                       .noise_multiplier = 6.98,
                                       .sample_rate = .0341,
                                       .adjacency = SOTTO_ADD_REMOVE},
                                three = {.mechanism = "stated", .count = 3, .stated = {.epsilon = .2}};

static size_t offers(struct sotto_adaptive *out, struct sotto_event event, double failure)
{
    const struct sotto_adaptive left = {INFINITY, INFINITY, failure};
    size_t count = 99;
    assert_int_equal(account_adaptive(out, &count, &event, &left), SOTTO_OK);
    return count;
}

static void add(struct sotto_adaptive *total, struct sotto_adaptive entry)
{
    assert_int_equal(adaptive_total_add(total, &entry), SOTTO_OK);
}

TEST(a_run_beside_three_pure_releases)
{
    struct sotto_adaptive of_run[SOTTO_MAX_OFFERS], of_three[SOTTO_MAX_OFFERS], box = {0}, as_mu = {0};
    assert_int_equal(offers(of_run, run, 6.4e-8), 3);
    assert_int_equal(offers(of_three, three, 0), 2);
    near(of_run[2].mu, .2365, 2e-4);
    near(of_run[2].failure, 1e-9, 1e-20);
    near(adaptive_interval(&of_run[2], 1e-6).upper, .999, 1e-3);
    near(of_three[0].pure, .6, 1e-15);
    add(&box, of_run[2]);
    add(&box, of_three[0]);
    near(adaptive_interval(&box, 1e-6).upper, 1.577, 2e-3);
    add(&as_mu, of_run[2]);
    add(&as_mu, of_three[1]);
    near(adaptive_interval(&as_mu, 1e-6).upper, 2.225, 2e-3);
}

TEST(gaussian_releases_alone_have_the_gaussian_s_epsilon)
{
    const struct sotto_event gauss = {.mechanism = "gaussian", .count = 4, .scale = 20, .l1 = NAN, .l2 = 1};
    struct sotto_adaptive of[SOTTO_MAX_OFFERS], box = {0};
    struct sotto_account today;
    assert_int_equal(offers(of, gauss, 0), 1);
    for (int i = 0; i < 3; i++)
        add(&box, of[0]);
    struct sotto_event all = gauss;
    all.count = 12;
    assert_int_equal(sotto_account_events(&today, &all, 1, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    const struct sotto_interval e = adaptive_interval(&box, 1e-6);
    near(e.upper, today.epsilon.upper, 1e-11);
    assert_true(e.upper >= today.epsilon.lower && e.lower <= e.upper && e.lower > e.upper * (1 - 1e-9));
}

TEST(pure_releases_alone_have_their_sum)
{
    struct sotto_adaptive box = {0};
    for (int i = 0; i < 20; i++)
        add(&box, (struct sotto_adaptive){.05, 0, 0});
    near(box.pure, 1, 1e-14);
    assert_true(box.mu == 0 && box.failure == 0);
    const struct sotto_interval e = adaptive_interval(&box, 0);
    near(e.upper, 1, 1e-14);
    near(e.lower, 1, 1e-14);
    assert_true(e.lower <= e.upper && e.upper >= box.pure);
}

/* Of section 0 of the page: one budget holds the first release with a Gaussian, and not with Laplace noise. */
TEST(the_second_release_decides)
{
    struct sotto_adaptive gauss = {0, .0947, 0}, laplace = {0, .0947, 0};
    add(&gauss, (struct sotto_adaptive){0, .2169, 0});
    add(&laplace, (struct sotto_adaptive){.6407, 0, 0});
    near(adaptive_interval(&gauss, 1e-6).upper, 1, 5e-4);
    near(adaptive_interval(&laplace, 1e-6).lower, 1.0058, 1e-4);
}

TEST(sums_are_rounded_up_and_nothing_adds_nothing)
{
    struct sotto_adaptive a = {.1, .2, .3};
    add(&a, (struct sotto_adaptive){.2, .1, .3});
    assert_true(a.pure >= .3 && a.pure < .3 + 1e-15);
    assert_true(a.mu * a.mu >= .05 * (1 - 1e-15) && a.mu < sqrt(.05) + 1e-15);
    assert_true(a.failure >= .51 && a.failure < .51 + 1e-15);
    struct sotto_adaptive none = {0};
    add(&none, (struct sotto_adaptive){0});
    assert_true(none.pure == 0 && none.mu == 0 && none.failure == 0);
    const struct sotto_interval e = adaptive_interval(&none, 0);
    assert_true(e.lower == 0 && e.upper == 0);
}

TEST(no_epsilon)
{
    const struct sotto_adaptive told = {0, 0, 1e-3}, endless = {INFINITY, 0, 0}, gauss = {0, 1, 0};
    assert_true(adaptive_interval(&told, 1e-6).upper == INFINITY);
    assert_true(adaptive_interval(&told, 1e-2).upper == 0);
    assert_true(adaptive_interval(&endless, 1e-6).upper == INFINITY);
    assert_true(adaptive_interval(&gauss, 0).upper == INFINITY);
}

TEST(events_that_no_triple_covers)
{
    struct sotto_adaptive of[SOTTO_MAX_OFFERS];
    const struct sotto_event vector = {
        .mechanism = "discrete-gaussian", .count = 1, .scale = 3, .l1 = 2, .l2 = 1.5, .dimension = 4};
    assert_int_equal(offers(of, vector, 0), 0);
    assert_int_equal(offers(of, vector, 1e-7), 3); /* the hull of its Renyi divergences ends with a failure */
    assert_int_equal(offers(of, run, 0), 0);       /* its tail is covered by a failure only */
    assert_int_equal(offers(of, run, 5e-324), 0);
}

static void refused(const struct sotto_event *event, struct sotto_adaptive left, const char *text)
{
    struct sotto_adaptive of[SOTTO_MAX_OFFERS] = {{9, 9, 9}};
    size_t count = 99;
    assert_int_equal(account_adaptive(of, &count, event, &left), SOTTO_EINVAL);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s', expected '%s'", sotto_error_text(), text);
    assert_true(count == 99 && of[0].pure == 9);
}

TEST(bad_input)
{
    struct sotto_adaptive of[SOTTO_MAX_OFFERS], good = {.1, .1, .1}, kept = good;
    const struct sotto_adaptive bad[] = {{-1, 0, 0}, {NAN, 0, 0}, {0, -1, 0}, {0, NAN, 0},
                                         {0, 0, -1}, {0, 0, NAN}, {0, 0, 1.5}};
    struct sotto_event event = three;
    size_t count;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sotto_adaptive total = bad[i];
        const char *name = i < 2 ? "'pure'" : i < 4 ? "'mu'" : "'failure'";
        refused(&event, bad[i], name);
        assert_int_equal(adaptive_total_add(&total, &good), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), name));
        assert_int_equal(adaptive_total_add(&good, &bad[i]), SOTTO_EINVAL);
        assert_memory_equal(&good, &kept, sizeof good);
        assert_true(isnan(adaptive_interval(&bad[i], .1).upper));
    }
    event.count = 0;
    refused(&event, good, "count");
    for (int i = 0; i < 3; i++)
        assert_true(isnan(adaptive_interval(&good, (double[]){-1, 1, NAN}[i]).lower));
    assert_int_equal(account_adaptive(NULL, &count, &three, &good), SOTTO_EINVAL);
    assert_int_equal(account_adaptive(of, NULL, &three, &good), SOTTO_EINVAL);
    assert_int_equal(account_adaptive(of, &count, NULL, &good), SOTTO_EINVAL);
    assert_int_equal(account_adaptive(of, &count, &three, NULL), SOTTO_EINVAL);
    assert_int_equal(adaptive_total_add(NULL, &good), SOTTO_EINVAL);
    assert_int_equal(adaptive_total_add(&good, NULL), SOTTO_EINVAL);
    assert_true(isnan(adaptive_interval(NULL, .1).upper));
}
