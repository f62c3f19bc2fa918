/* src/core/dp/account/sampled.c: what the account reaches is found, also where the quick bound does not reach it. */
#include "support/test.h"
#include "sotto/private/all.h"

#include <string.h>

static double upper_of(struct sotto_sampled s, double noise)
{
    struct sotto_account a;
    s.noise_multiplier = noise;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    return a.epsilon.upper;
}

static struct sotto_sampled steps_of(double rate, size_t steps, double delta, enum sotto_adjacency adjacency)
{
    return (struct sotto_sampled){.mechanism = "gaussian",
                                  .sample_rate = rate,
                                  .steps = steps,
                                  .delta = delta,
                                  .clipping = SOTTO_NORM_L2,
                                  .adjacency = adjacency};
}

/* Noise that is enough is found, and no more than enough. */
static void reached(const struct sotto_sampled *s, double target)
{
    double noise;
    if (sotto_calibrate_sampled(&noise, s, target, NULL) != SOTTO_OK)
        fail_msg("epsilon %g, rate %g, %zu steps, delta %g: %s", target, s->sample_rate, s->steps, s->delta,
                 sotto_error_text());
    const double upper = upper_of(*s, noise);
    if (!(upper <= target && upper > target * (1 - 1e-4)))
        fail_msg("noise %g: epsilon %g for %g", noise, upper, target);
    assert_true(upper_of(*s, noise * 0.999) > target);
}

TEST(epsilons_below_the_renyi_bound)
{
    const struct sotto_sampled s = steps_of(0.01, 500, 1e-5, SOTTO_ADD_REMOVE);
    assert_true(upper_of(s, 125) < 0.004); /* proved, so it must be reached */
    reached(&s, 0.004);
}

TEST(a_grid_of_small_epsilons)
{
    static const double targets[] = {2e-4, 1e-3, 4.5e-3, 2e-2};
    static const struct {
        double rate, delta;
        size_t steps;
    } runs[] = {{0.01, 1e-5, 500}, {0.1, 1e-4, 50}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
            const struct sotto_sampled s = steps_of(runs[k].rate, runs[k].steps, runs[k].delta,
                                                    k == 1 ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE);
            reached(&s, targets[i]);
        }
}

/* Where Renyi divergence is all that there is, it says so. */
TEST(without_another_account)
{
    struct sotto_sampled s = steps_of(0.01, 500, 1e-5, SOTTO_ADD_REMOVE);
    double noise = 7;
    s.mechanism = "logistic";
    assert_int_equal(sotto_calibrate_sampled(&noise, &s, 0.001, NULL), SOTTO_EDOMAIN);
    assert_non_null(strstr(sotto_error_text(), "reaches epsilon 0.001 at delta 1e-05 by Renyi divergence"));
    assert_true(noise == 7);
}

TEST_GROUP(.tags = "long")
