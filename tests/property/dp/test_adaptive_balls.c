/* Boxes that random DP-SGD runs may be charged as, between the points of the grid that they were found on: their curve in ball
 * arithmetic is nowhere below the run's upper end. The control, with m lowered by half a percent, is below it somewhere, for every
 * run. All is seeded, so a pass today is a pass tomorrow. */
#include "support/test.h"
#include "support/effort.h"

#include "dp/account/account_pld.h"
#include "dp/account/adaptive_part.h"
#include "dp/ball/ball.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>

struct run {
    double rate, noise;
    size_t steps;
    double failure; /* what a column has left of it */
};

static double between(struct rng *random, double low, double high)
{
    return low * pow(high / low, rng_unit(random));
}

/* mu of the order of .05 to 1: noise that shrinks as sqrt(steps) times the rate. */
static struct run draw_run(struct rng *random)
{
    struct run r = {.rate = between(random, .002, .2), .failure = between(random, 1e-9, 1e-5)};
    r.steps = (size_t)between(random, 30, 2000);
    r.noise = fmax(.8, 2 * r.rate * sqrt((double)r.steps) / between(random, .05, 1));
    return r;
}

/* The Gaussian's curve at any real y. */
static struct interval ball_gaussian(double shift, double y)
{
    const struct interval d = ball_delta(BALL_GAUSSIAN, shift, fabs(y));
    return y >= 0 ? d : iv_add(iv_neg(iv_expm1(iv(y))), iv_mul(iv_exp(iv(y)), d));
}

/* Formula (1), from below: curves fall. */
static double ball_box(const struct adaptive *b, double x)
{
    const double shift = iv_sqrt(iv(b->square)).lo;
    const struct interval e = iv(b->pure), told = iv_div(iv(1), iv_add(iv(1), iv_exp(iv_neg(e)))),
                          d = iv(b->failure), up = iv_mul(told, ball_gaussian(shift, iv_sub(iv(x), e).hi)),
                          down = iv_mul(iv_sub(iv(1), told), ball_gaussian(shift, iv_add(iv(x), e).hi));
    return iv_add(d, iv_mul(iv_sub(iv(1), d), iv_add(up, down))).lo;
}

/* How many points of the run are above the box. */
static size_t points_above(const struct adaptive *box, const double *x, const double *run, size_t n)
{
    size_t above = 0;
    for (size_t i = 0; i < n; i++)
        above += run[i] > ball_box(box, x[i]);
    return above;
}

static void look_at(const struct run *r, struct rng *random, size_t n)
{
    const struct sotto_event event = {.mechanism = "gaussian",
                                      .count = r->steps,
                                      .noise_multiplier = r->noise,
                                      .sample_rate = r->rate,
                                      .clipping = SOTTO_NORM_L2,
                                      .adjacency = SOTTO_ADD_REMOVE};
    const struct composed_release steps = {"gaussian", iv(1 / r->noise), SOTTO_NORM_L2,          r->rate,
                                           true,       r->steps,         SOTTO_SAMPLING_POISSON, 0};
    const struct adaptive left = {.failure = r->failure};
    struct adaptive offer[ADAPTIVE_OFFERS];
    struct part part;
    size_t count;
    double end, *x = calloc(n, sizeof *x), *run = calloc(n, sizeof *run);
    assert_int_equal(part_make(&part, &event, 0, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_int_equal(adaptive_offers(offer, &count, &part, &left, NULL), SOTTO_OK);
    assert_int_equal(account_pld_end(&end, &steps, 1, r->failure / 64, NULL), SOTTO_OK);
    for (size_t i = 0; i < n; i++)
        x[i] = end * rng_unit(random);
    assert_int_equal(account_pld_deltas(run, x, n, &steps, 1, NULL), SOTTO_OK);
    assert_true(count > 0);
    for (size_t k = 0; k < count; k++) {
        struct adaptive less = offer[k];
        less.square *= .995;
        const size_t above = points_above(&offer[k], x, run, n), caught = points_above(&less, x, run, n);
        if (above > 0 || caught == 0)
            fail_msg("rate %g, noise %g, %zu steps, box %zu (%g, %g, %g): %zu of %zu points above it, %zu "
                     "with less m",
                     r->rate, r->noise, r->steps, k, offer[k].pure, offer[k].square, offer[k].failure, above,
                     n, caught);
    }
    free(x);
    free(run);
}

TEST(boxes_of_random_runs_between_the_points_of_their_grid)
{
    const size_t points = (size_t)by_effort(100, 1000, 10000);
    const long runs = by_effort(4, 10, 40);
    for (long i = 0; i < runs; i++) {
        struct rng random = rng_stream(45, RNG_TEST, (uint64_t)i, 0);
        const struct run r = draw_run(&random);
        look_at(&r, &random, points);
    }
}
