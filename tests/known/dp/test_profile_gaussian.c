/* src/core/dp/account/profile_gaussian.c: mu of a profile and of a certificate. Figures: docs/derivations/adaptive.md. */
#include "support/test.h"

#include "dp/account/profile.h"
#include "dp/certificate/certificate.h"
#include "sotto/private/all.h"

#include <math.h>

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.10g, expected %.10g to %g", got, want, tolerance);
}

static bool is_above(const struct adaptive *box, const struct sotto_privacy_profile *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (adaptive_delta(box, p->epsilon[i]).hi < p->delta[i])
            return false;
    return true;
}

/* Its box is nowhere below the profile; one whose shift is a hundredth smaller is, if the profile is a curve (the control). */
static struct adaptive of(struct sotto_privacy_profile *p, bool tight)
{
    struct adaptive box;
    assert_int_equal(profile_gaussian(&box, p), SOTTO_OK);
    assert_true(box.pure == 0 && is_above(&box, p));
    const struct adaptive less = {0, box.square * .98, box.failure};
    assert_true(!tight || !is_above(&less, p));
    return box;
}

TEST(the_runs_of_the_page)
{
    static const double rows[][4] = {
        {.0341, 6.98, 586, .2365}, {.0341, 2.551, 586, .6472}, {.00427, 1, 1172, .3261}};
    for (int i = 0; i < 3; i++) {
        const struct sotto_sampled s = {.mechanism = "gaussian",
                                        .noise_multiplier = rows[i][1],
                                        .sample_rate = rows[i][0],
                                        .steps = (size_t)rows[i][2],
                                        .adjacency = SOTTO_REPLACE_ONE};
        struct sotto_privacy_profile p = {0};
        assert_int_equal(sotto_privacy_profile_sampled(&p, &s, NULL), SOTTO_OK);
        const struct adaptive box = of(&p, true);
        near(sqrt(box.square), rows[i][3], 1e-3);
        near(box.failure, 1e-9, 5e-11);
        for (double fpr = .001; fpr < .2;
             fpr *= 10) { /* the certificate's page has the profile's, which is the sharper of the two */
            double found;
            assert_int_equal(sotto_reconstruction_bound(&found, &p, fpr), SOTTO_OK);
            const double by_box = adaptive_tpr(&box, fpr);
            if (!(found <= by_box * (1 + 1e-3) && found >= by_box * .97))
                fail_msg("run %d at %g: %g, by its box %g", i, fpr, found, by_box);
        }
        sotto_privacy_profile_clear(&p);
    }
}

TEST(noise_of_a_pure_epsilon)
{
    const struct sotto_sensitivity one = {.l1 = 1, .l2 = 1};
    struct sotto_privacy_profile p = {0};
    assert_int_equal(sotto_privacy_profile_release(&p, "laplace", 2, &one), SOTTO_OK);
    assert_int_equal(profile_add(&p, .5, 0), SOTTO_OK);
    const struct adaptive box = of(&p, true);
    const double most = sqrt(adaptive_square_of_pure(.5));
    assert_true(box.failure < 2e-9 && sqrt(box.square) <= most * 1.001);
    sotto_privacy_profile_clear(&p);
}

/* Points alone, in any order: of a pure epsilon they give its Gaussian. */
TEST(points_alone)
{
    double epsilon[] = {.5, 700, .5}, delta[] = {0, 0, .1}, only = 0, tenth = .1;
    struct sotto_privacy_profile pure = {.epsilon = epsilon, .delta = delta, .count = 1},
                                 coin = {.epsilon = &only, .delta = &tenth, .count = 1}, none = {0};
    struct adaptive again, box = of(&pure, false);
    near(sqrt(box.square), sqrt(adaptive_square_of_pure(.5)), 1e-5);
    assert_true(box.failure == 0);
    pure.count = 3; /* a worse point beside it, and one too far to be seen, change nothing */
    assert_int_equal(profile_gaussian(&again, &pure), SOTTO_OK);
    assert_true(again.square == box.square && again.failure == 0);
    epsilon[0] = 1;
    delta[0] = 1e-5;
    struct sotto_privacy_profile stated = {.epsilon = epsilon, .delta = delta, .count = 1};
    box = of(&stated, false);
    assert_true(box.failure == 1e-5 && adaptive_delta(&box, 1).hi >= 1e-5 && box.square < INFINITY);
    box = of(&coin, false);
    assert_true(box.square < 1e-10 && box.failure == .1);
    assert_int_equal(profile_gaussian(&box, &none), SOTTO_OK);
    assert_true(box.square == INFINITY || box.failure == 1);
}

TEST(a_certificate_that_has_none)
{
    struct sotto_adaptive box = {9, 9, 9};
    struct sotto_certificate c = {.seeded = true};
    const struct sotto_privacy_profile p = {0};
    assert_int_equal(certificate_adaptive(&box, &c, &p), SOTTO_EINVAL);
    assert_int_equal(certificate_adaptive(NULL, &c, &p), SOTTO_EINVAL);
    assert_int_equal(certificate_adaptive(&box, NULL, &p), SOTTO_EINVAL);
    assert_int_equal(certificate_adaptive(&box, &c, NULL), SOTTO_EINVAL);
    assert_true(box.pure == 9 && box.mu == 9 && box.failure == 9);
}
