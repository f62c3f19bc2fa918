/* src/core/dp/account/adaptive_part.c: boxes of plans that hold runs of steps beside single releases. */
#include "support/test.h"

#include "dp/account/adaptive_account.h"
#include "dp/account/adaptive_part.h"
#include "sotto/private/all.h"

#include <math.h>

static const double deltas[] = {1e-3, 1e-4, 1e-5, 1e-6};

struct list {
    struct sotto_event event[3];
    size_t n;
};

static struct sotto_event steps(const char *mechanism, double sigma, double rate, size_t count,
                                enum sotto_norm clipping, enum sotto_sampling sampling)
{
    return (struct sotto_event){.mechanism = mechanism,
                                .count = count,
                                .noise_multiplier = sigma,
                                .sample_rate = rate,
                                .clipping = clipping,
                                .sampling = sampling,
                                .adjacency =
                                    sampling == SOTTO_SAMPLING_FIXED ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE};
}

static struct sotto_event noise(const char *mechanism, double scale, double l1, double l2, size_t count)
{
    return (struct sotto_event){.mechanism = mechanism,
                                .count = count,
                                .scale = scale,
                                .l1 = l1,
                                .l2 = l2,
                                .dimension = 1,
                                .adjacency = SOTTO_REPLACE_ONE};
}

/* Is the box nowhere below the composition, as far as the account knows that from below? */
static bool covers(const struct adaptive *box, const struct list *l)
{
    bool above = true;
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        struct sotto_account a;
        assert_int_equal(sotto_account_events(&a, l->event, l->n, deltas[i], SOTTO_REPLACE_ONE, NULL),
                         SOTTO_OK);
        above = above && (box->failure >= deltas[i] || adaptive_epsilon(box, deltas[i]) >= a.epsilon.lower);
    }
    return above;
}

static void check(const struct list *l, size_t least)
{
    struct part parts[3];
    struct adaptive offers[ADAPTIVE_OFFERS];
    const struct adaptive left = {1, 0, 1e-6};
    size_t count, curves = 0, caught = 0;
    for (size_t i = 0; i < l->n; i++)
        assert_int_equal(part_make(&parts[i], &l->event[i], i, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_int_equal(adaptive_offers_together(offers, &count, parts, l->n, &left, NULL), SOTTO_OK);
    for (size_t i = 0; i < count; i++) {
        struct adaptive smaller = offers[i];
        assert_true(covers(&offers[i], l));
        curves += offers[i].failure > 0;
        smaller.square *= .8;
        caught += offers[i].failure > 0 && !covers(&smaller, l);
    }
    assert_true(curves >= least);
    assert_true(caught >= 1); /* the control: a fifth less of the Gaussian is not enough */
}

TEST(a_run_beside_single_releases)
{
    check(&(struct list){{steps("gaussian", 4, .05, 40, SOTTO_NORM_L2, SOTTO_SAMPLING_POISSON),
                          noise("laplace", 10, 1, NAN, 3), noise("gaussian", 12, 1, 1, 1)},
                         3},
          3);
}

TEST(runs_of_several_kinds)
{
    check(&(struct list){{steps("gaussian", 4, .05, 40, SOTTO_NORM_L2, SOTTO_SAMPLING_POISSON),
                          steps("gaussian", 8, .02, 30, SOTTO_NORM_L2, SOTTO_SAMPLING_FIXED),
                          steps("laplace", 6, .1, 10, SOTTO_NORM_L1, SOTTO_SAMPLING_POISSON)},
                         3},
          3);
}

TEST(a_run_of_persons_beside_a_release)
{
    struct list l = {{steps("gaussian", 9, .02, 30, SOTTO_NORM_L2, SOTTO_SAMPLING_POISSON),
                      noise("laplace", 10, 1, NAN, 1)},
                     2};
    l.event[0].group = 3;
    check(&l, 3);
}

/* A hundred equal runs are one of a hundred times the steps, and more kinds than a curve is composed of. */
TEST(equal_runs_are_one)
{
    enum { RUNS = 100 };
    const struct sotto_event one = steps("gaussian", 40, .05, 50, SOTTO_NORM_L2, SOTTO_SAMPLING_POISSON),
                             all =
                                 steps("gaussian", 40, .05, 50 * RUNS, SOTTO_NORM_L2, SOTTO_SAMPLING_POISSON);
    struct part parts[RUNS], long_run;
    struct adaptive many[ADAPTIVE_OFFERS], single[ADAPTIVE_OFFERS];
    const struct adaptive left = {0, 0, 1e-6};
    size_t count, single_count;
    for (size_t i = 0; i < RUNS; i++)
        assert_int_equal(part_make(&parts[i], &one, i, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_int_equal(part_make(&long_run, &all, 0, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_int_equal(adaptive_offers_together(many, &count, parts, RUNS, &left, NULL), SOTTO_OK);
    assert_int_equal(adaptive_offers_together(single, &single_count, &long_run, 1, &left, NULL), SOTTO_OK);
    assert_true(count == single_count && count > 0);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(many[i].square / single[i].square - 1) < 1e-6 &&
                    many[i].failure == single[i].failure);
}
