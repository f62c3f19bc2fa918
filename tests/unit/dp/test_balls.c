/* The certified path at its edges: places without a value, bounded losses, cuts. */
#include "support/test.h"
#include "support/effort.h"

#include "base/memory.h"
#include "dp/account/certified_composed.h"
#include "dp/ball/ball_private.h"
#include "support/oracle_sweep.h"
#include "sotto/lab/account.h"

TEST(values_at_the_edge)
{
    struct interval none = ball_value(BALL_LOG, -1);
    assert_true(none.lo == -INFINITY && none.hi == INFINITY);
    struct interval zero = ball_delta(BALL_LOGISTIC, 1, 1);
    assert_true(zero.lo == 0 && zero.hi == 0);
    if (effort() > 1) { /* all digits there are: a second */
        struct interval loud = ball_epsilon(BALL_GAUSSIAN, 1e200, 1e-5);
        assert_true(loud.lo == 0 && loud.hi == INFINITY);
    }
    struct interval quiet = ball_epsilon(BALL_GAUSSIAN, 1e-3, 0.5),
                    small = ball_epsilon(BALL_GAUSSIAN, 1, 0.3);
    assert_true(quiet.lo == 0 && quiet.hi == 0);
    assert_true(small.lo > 0 && small.hi < 0.5 && ball_delta(BALL_GAUSSIAN, 1, small.hi).hi <= 0.3);
    struct interval one = ball_value(BALL_EXP, 0);
    assert_true(one.lo == 1 && one.hi == 1);
}

/* The assumption of docs/PRIVACY.md, section 4. */
static sotto_status compare_erfc(void *arg)
{
    (void)arg;
    uint64_t seed = 7;
    for (int i = 0; i < 2000; i++) {
        double x = sweep_even(&seed, -6, 26), f = erfc(x), ulp = nextafter(f, INFINITY) - f;
        struct interval truth = ball_value(BALL_ERFC, x);
        assert_true(fabs(truth.lo - f) <= 16 * ulp && fabs(truth.hi - f) <= 16 * ulp);
    }
    return SOTTO_OK;
}

TEST(erfc_is_within_16_ulp)
{
    assert_int_equal(ball_run(compare_erfc, NULL, NULL), SOTTO_OK);
}

/* A ball of epsilons that holds an end of the losses: the tails must be enclosed for all of them. */
static sotto_status tails_at_ends(void *arg)
{
    (void)arg;
    const struct ball_step steps[] = {
        {BALL_LAPLACE, 1, 1, 1, false}, {BALL_LOGISTIC, 1, 1, 0.5, false}, {BALL_LAPLACE, 1, 1, 1, false}};
    const double ends[] = {1, log(0.5), -1}; /* largest loss; below the smallest, e^eps = 1 - q; smallest */
    for (int i = 0; i < 3; i++) {
        struct ball_law law;
        arb_t e, p, q;
        arb_init(e);
        arb_init(p);
        arb_init(q);
        ball_law_init(&law, &steps[i], 128);
        arb_set_d(e, ends[i]);
        mag_set_d(arb_radref(e), 0.01);
        ball_law_tails(p, q, &law, e);
        struct interval p_all = ball_enclosure(p), q_all = ball_enclosure(q);
        assert_true(p_all.lo <= 0 && p_all.hi >= 1 && q_all.lo <= 0 && q_all.hi >= 1);
        ball_law_clear(&law);
        arb_clear(e);
        arb_clear(p);
        arb_clear(q);
    }
    return SOTTO_OK;
}

TEST(tails_across_an_end)
{
    assert_int_equal(ball_run(tails_at_ends, NULL, NULL), SOTTO_OK);
}

static sotto_status transform_both_ways(void *arg)
{
    (void)arg;
    enum { DEPTH = 5, N = 1 << DEPTH };
    acb_ptr v = ball_complexes(N);
    for (int i = 0; i < N; i++)
        acb_set_d_d(v + i, i % 7, i % 3);
    ball_transform(v, DEPTH, false, 128);
    assert_true(arb_contains_si(acb_realref(v), 31 / 7 * 21 + 0 + 1 + 2 + 3)); /* frequency 0: the sum */
    ball_transform(v, DEPTH, true, 128);
    for (int i = 0; i < N; i++)
        assert_true(arb_contains_si(acb_realref(v + i), i % 7) &&
                    arb_contains_si(acb_imagref(v + i), i % 3) &&
                    mag_cmp_2exp_si(arb_radref(acb_realref(v + i)), -100) < 0);
    ball_complexes_free(v, N);
    return SOTTO_OK;
}

TEST(there_and_back)
{
    assert_int_equal(ball_run(transform_both_ways, NULL, NULL), SOTTO_OK);
}

/* Where the contour is cut before it has converged its interval says so. */
TEST(cuts_are_in_the_radius)
{
    struct interval cut = ball_contour(0.5, 2, 0.4), exact = ball_finite_sum(0.5, 2, 0.4);
    assert_true(cut.lo <= exact.lo && exact.hi <= cut.hi && cut.hi - cut.lo > 1e-15 * exact.hi);
    struct interval small = ball_contour(1e-3, 10, 1e-3), sum = ball_finite_sum(1e-3, 10, 1e-3);
    assert_true(small.lo <= sum.hi && sum.lo <= small.hi && small.hi - small.lo < 1e-14 * sum.hi);
    struct interval above = ball_contour(1, 10, 11);
    assert_true(above.lo == 0 && above.hi == 0);
    struct interval top = certified_composed_epsilon(1000, 4000, 1e-5),
                    nothing = certified_composed_epsilon(0.01, 10, 0.5);
    assert_true(top.lo == 0 && top.hi >= 4e6 && top.hi < 4e6 * (1 + 1e-15));
    assert_true(nothing.lo == 0 && nothing.hi < 1e-12);
}

static struct interval composed(struct ball_step step, size_t count, double delta, double grid)
{
    struct interval e = {NAN, NAN};
    assert_int_equal(ball_compose_epsilon(&e, &step, count, delta, grid), SOTTO_OK);
    assert_true(e.lo <= e.hi && e.lo >= 0);
    return e;
}

TEST(coarse_grids_still_hold)
{
    const double grids[] = {0.5, 2, 10};
    const enum ball_noise noises[] = {BALL_GAUSSIAN, BALL_LOGISTIC, BALL_LAPLACE};
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 3; i++) {
            struct interval e = composed((struct ball_step){noises[n], 1, 1, 1, false}, 1, 1e-5, grids[i]),
                            exact = ball_epsilon(noises[n], 1, 1e-5);
            assert_true(e.lo <= exact.lo && exact.hi <= e.hi);
        }
    struct interval tiny = composed((struct ball_step){BALL_GAUSSIAN, 1, 4, 0.1, false}, 100, 1e-30, 0.01),
                    loose = composed((struct ball_step){BALL_GAUSSIAN, 1, 4, 0.1, false}, 100, 1e-5, 0.01),
                    none = composed((struct ball_step){BALL_GAUSSIAN, 1, 4, 0.1, false}, 100, 0.6, 0.01);
    assert_true(tiny.lo > loose.hi && none.hi == 0);
    struct interval rare = composed((struct ball_step){BALL_GAUSSIAN, 1, 1, 1e-9, false}, 10, 1e-5, NAN);
    assert_true(rare.lo == 0 && rare.hi == 0);
}

TEST(many_logistic_releases)
{
    /* beyond the contour: a grid; between what 4000 and 6000 give exactly */
    struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN};
    struct sotto_account a;
    assert_int_equal(sotto_account_release_certified(&a, "logistic", 100, &s, 1e-5, 5000, NULL), SOTTO_OK);
    assert_true(a.epsilon.lower > certified_composed_epsilon(0.01, 4000, 1e-5).hi);
    assert_true(a.epsilon.upper < certified_composed_epsilon(0.01, 6000, 1e-5).lo);
    assert_true(a.epsilon.upper - a.epsilon.lower < 1e-3 * a.epsilon.upper);
}

TEST(accounts_without_memory)
{
    struct sotto_account a = {.scale = 7};
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 0.5, .dimension = 4}, unknown = {.l1 = NAN, .l2 = 1};
    struct sotto_sampled sampled = {.mechanism = "logistic",
                                    .noise_multiplier = 16,
                                    .sample_rate = 0.1,
                                    .steps = 10,
                                    .delta = 1e-5,
                                    .clipping = SOTTO_NORM_L2,
                                    .adjacency = SOTTO_ADD_REMOVE,
                                    .sampling = SOTTO_SAMPLING_POISSON};
    base_alloc_fail_after(0);
    sotto_status by_steps = sotto_account_sampled_certified(&a, &sampled, NULL);
    sotto_status by_releases = sotto_account_release_certified(&a, "laplace", 1, &s, 1e-5, 3, NULL);
    base_alloc_fail_after(-1);
    assert_int_equal(by_steps, SOTTO_ENOMEM);
    assert_int_equal(by_releases, SOTTO_ENOMEM);
    assert_true(a.scale == 7);
    assert_int_equal(sotto_account_sampled_certified(&a, &sampled, NULL), SOTTO_OK);
    assert_string_equal(a.accountant, "renyi, balls");
    assert_true(a.epsilon.lower > 0 && a.epsilon.lower < a.epsilon.upper);
    assert_int_equal(sotto_account_release_certified(&a, "logistic", 10, &unknown, 1e-5, 1, NULL), SOTTO_OK);
    assert_string_equal(a.accountant, "zcdp, balls");
}

TEST_GROUP(.shards = 2, .tags = "long")
