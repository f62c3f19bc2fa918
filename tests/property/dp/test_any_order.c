/* src/core/dp/account/any_order.c: the box that holds a list of events. Figures: docs/derivations/adaptive.md, section 4. */
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
                                       .adjacency = SOTTO_ADD_REMOVE};

static struct sotto_event pure(double epsilon, size_t count)
{
    return (struct sotto_event){
        .mechanism = "laplace", .count = count, .scale = 1 / epsilon, .l1 = 1, .l2 = NAN};
}

static struct sotto_event gauss(double scale, size_t count)
{
    return (struct sotto_event){.mechanism = "gaussian", .count = count, .scale = scale, .l1 = NAN, .l2 = 1};
}

/* What the run is as a Gaussian, which takes less time. */
static struct sotto_event like_run(void)
{
    return gauss(1 / .2365, 1);
}

static struct sotto_event stated(double epsilon, double delta)
{
    return (struct sotto_event){.mechanism = "stated", .count = 1, .stated = {epsilon, delta}};
}

static struct sotto_any_order of(const struct sotto_event *events, size_t n, double delta)
{
    struct sotto_any_order a;
    assert_int_equal(account_any_order(&a, events, n, delta, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    const struct sotto_interval e = adaptive_interval(&a.box, delta);
    assert_true(a.reason[0] || (e.upper == a.epsilon.upper && e.lower == a.epsilon.lower));
    assert_true((a.epsilon.upper == INFINITY) == (a.reason[0] != 0));
    return a;
}

/* Pure releases are paid as pure where they are few, and as Gaussians where they are many. */
TEST(the_examples_of_the_page)
{
    struct sotto_event few[] = {run, pure(.2, 3)}, many[] = {like_run(), stated(.05, 0)},
                       laplace[] = {like_run(), pure(.05, 20)};
    many[1].count = 20;
    const struct sotto_any_order three = of(few, 2, 1e-6), twenty = of(many, 2, 1e-6),
                                 of_curve = of(laplace, 2, 1e-6);
    near(three.epsilon.upper, 1.577, 2e-3);
    near(three.box.pure, .6, 1e-12);
    near(three.beforehand.epsilon.upper, 1.489, 1e-3);
    near(twenty.epsilon.upper, 1.606, 2e-3);
    assert_true(twenty.box.pure == 0);
    near(of_curve.beforehand.epsilon.upper, 1.381, 2e-3);
    assert_true(of_curve.epsilon.upper <
                twenty.epsilon.upper); /* the curve of Laplace noise is below that of its epsilon */
    assert_true(of_curve.epsilon.upper > of_curve.beforehand.epsilon.upper);
}

/* Of twenty releases one by one some are paid as pure and some as Gaussians, which is better than either alone. */
TEST(events_one_by_one)
{
    struct sotto_event one_by_one[21] = {like_run()};
    for (size_t i = 1; i <= 20; i++)
        one_by_one[i] = stated(.05, 0);
    const struct sotto_any_order a = of(one_by_one, 21, 1e-6);
    assert_true(a.epsilon.upper < 1.606 && a.epsilon.upper > 1.381);
}

TEST(never_below_the_account_of_fixed_parameters)
{
    const struct sotto_event lists[][2] = {{like_run(), stated(.3, 1e-7)},
                                           {stated(.5, 4e-7), stated(1, 4e-7)},
                                           {pure(.3, 2), stated(.1, 0)},
                                           {gauss(9, 2), stated(.01, 0)}};
    for (size_t i = 0; i < 4; i++) {
        const struct sotto_any_order a = of(lists[i], 2, 1e-6);
        assert_true(a.epsilon.upper >= a.beforehand.epsilon.lower && a.epsilon.upper < INFINITY);
    }
}

/* The least epsilon of the triples on offer for one event. */
static double least_offer(const struct sotto_event *e, struct sotto_adaptive left, double delta)
{
    struct sotto_adaptive offers[SOTTO_MAX_OFFERS];
    size_t count;
    double least = INFINITY;
    assert_int_equal(account_adaptive(offers, &count, e, &left), SOTTO_OK);
    for (size_t i = 0; i < count; i++)
        least = fmin(least, adaptive_interval(&offers[i], delta).upper);
    return least;
}

/* Ten steps by Laplace noise are paid as a pure part beside a smaller Gaussian: 1.970, where a Gaussian alone makes it 2.224. */
TEST(a_pure_part_beside_a_gaussian)
{
    const struct sotto_event steps = {.mechanism = "laplace",
                                      .count = 10,
                                      .noise_multiplier = 1,
                                      .sample_rate = .1,
                                      .clipping = SOTTO_NORM_L1,
                                      .adjacency = SOTTO_ADD_REMOVE};
    const struct sotto_event list[] = {steps, pure(.1, 1)};
    const struct sotto_any_order alone = of(&steps, 1, 1e-6), both = of(list, 2, 1e-6);
    near(alone.beforehand.epsilon.upper, 1.9695, 1e-4);
    near(alone.epsilon.upper, 1.9700, 1e-4);
    assert_true(alone.box.pure > 0 && alone.box.mu > 0);
    near(least_offer(&steps, (struct sotto_adaptive){.failure = 1e-6}, 1e-6), 2.2242, 1e-4);
    /* what a ledger would be offered with that much left */
    near(least_offer(&steps, (struct sotto_adaptive){alone.beforehand.epsilon.upper, 0, 1e-6}, 1e-6),
         alone.epsilon.upper, 1e-9);
    assert_true(both.epsilon.upper > both.beforehand.epsilon.lower && both.epsilon.upper < 2.1);
}

/* It is on offer beside what was there before, so nothing gets worse. */
TEST(a_pure_part_is_taken_only_where_it_helps)
{
    const struct sotto_any_order a = of(&run, 1, 1e-6);
    assert_true(a.epsilon.upper <= least_offer(&run, (struct sotto_adaptive){.failure = 1e-6}, 1e-6));
}

TEST(pure_alone_and_gaussian_alone_lose_nothing)
{
    const struct sotto_event two[] = {pure(.25, 2), pure(.5, 1)}, three = gauss(9, 3);
    near(of(two, 2, 0).epsilon.upper, 1, 1e-12);
    const struct sotto_any_order g = of(&three, 1, 1e-6);
    near(g.epsilon.upper, g.beforehand.epsilon.upper, 1e-10);
    assert_true(g.box.failure == 0);
}

TEST(no_box)
{
    const struct sotto_event list[] = {run, stated(.1, 1e-5)};
    const struct sotto_any_order a = of(list, 2, 1e-6);
    assert_true(a.epsilon.upper == INFINITY);
    if (!strstr(a.reason, "events[0] (gaussian)"))
        fail_msg("'%s'", a.reason);
    const struct sotto_event failing = stated(.1, 1e-5);
    assert_non_null(strstr(of(&failing, 1, 1e-6).reason, "no epsilon at delta 1e-06"));
}

TEST(bad_input)
{
    struct sotto_any_order a = {.reason = "kept"};
    struct sotto_event e = pure(.1, 1);
    char *text = NULL;
    assert_int_equal(account_any_order(NULL, &e, 1, .1, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_int_equal(account_any_order(&a, NULL, 1, .1, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_int_equal(account_any_order(&a, NULL, 0, .1, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_int_equal(account_any_order(&a, &e, 1, 1, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_int_equal(account_any_order(&a, &e, 1, .1, SOTTO_ADD_REMOVE, NULL), SOTTO_ENOTSUP);
    assert_int_equal(sotto_account_any_order_file(NULL, "x", .1, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_account_any_order_file(&a, NULL, .1, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_any_order_json(NULL, &a), SOTTO_EINVAL);
    assert_int_equal(sotto_any_order_json(&text, NULL), SOTTO_EINVAL);
    assert_string_equal(a.reason, "kept");
}
