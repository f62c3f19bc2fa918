/* What a maximum over m pairs says about the next one, by simulation: the maximum of m uniform numbers
 * against a fresh one, and the share of all pairs of a real data set that exceed a sampled maximum.
 *
 * Fixed seeds, the same at every effort. Were they drawn, right code would fail one of the first five counts with probability 1.3e-8, and
 * the heads with 1.6e-8 (exact binomials). Found with probability 98 %: a chance of .182 for 1 of 6, .028 for 1 of 46, a confidence of
 * .888 for .9, and, of heads, .48 for .2. Planted: twice as many pairs, and four fifths of the bound. */
#include "support/test.h"

#include "head/sensitivity/sensitivity_gamma.h"
#include "support/head_blobs.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/lab/sensitivity.h"

#include <math.h>

/* How far a count of `trials` may stray from its expectation: six standard deviations of a binomial. */
static int plausible(double count, double trials, double p)
{
    return fabs(count - trials * p) <= 6 * sqrt(trials * p * (1 - p));
}

/* Any continuous law will do (only ranks matter); the negative control claims the next better m. */
TEST(a_new_pair_exceeds_the_maximum_as_often_as_exchangeability_says)
{
    enum { TRIALS = 40000 };
    for (size_t m = 5; m <= 45; m += 20) {
        size_t exceeded = 0;
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            struct rng r = rng_stream(1, RNG_TEST, m, trial);
            double largest = 0;
            for (size_t k = 0; k < m; k++)
                largest = fmax(largest, rng_unit(&r));
            exceeded += rng_unit(&r) > largest;
        }
        assert_true(plausible((double)exceeded, TRIALS, gamma_exchangeable(m)));
        assert_false(plausible((double)exceeded, TRIALS, gamma_exchangeable(2 * m)));
    }
}

/* The maximum of m uniforms leaves a share 1 - max above it; it must be <= b in `confidence` of the
 * samplings. */
TEST(the_tolerance_bound_holds_with_its_confidence)
{
    enum { TRIALS = 40000, M = 60 };
    double b = gamma_tolerance(M, 0.9);
    size_t held = 0, held_tighter = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct rng r = rng_stream(2, RNG_TEST, 0, trial);
        double largest = 0;
        for (size_t k = 0; k < M; k++)
            largest = fmax(largest, rng_unit(&r)); /* never NaN */
        held += 1 - largest <= b;
        held_tighter += 1 - largest <= 0.8 * b;
    }
    assert_true(plausible((double)held, TRIALS, 0.9));
    assert_false(plausible((double)held_tighter, TRIALS, 0.9));
}

/* End to end on heads: sample m pairs under many seeds of the pair stream, and see how often a further pair
 * exceeds the maximum. One long sample is cut into blocks of m + 1: the last of each block plays the new
 * pair. */
TEST(sampled_maxima_cover_further_pairs)
{
    enum { N = 40, D = 3, K = 2, M = 4, BLOCKS = 150 };
    float x[N * D];
    int64_t y[N];
    make_blobs(x, y, N, D, K, 1.0, 5);
    size_t exceeded = 0;
    for (uint64_t block = 0; block < BLOCKS; block++) {
        struct sotto_head_recipe r;
        struct sotto_sensitivity_sample first, all;
        sotto_head_defaults(&r);
        r.epochs = 2;
        r.batch = N;
        r.lr = 0.05;
        r.seed = sotto_given_seed(block);
        assert_int_equal(sotto_sensitivity_run(&first, x, y, N, D, K, &r, M, NULL), SOTTO_OK);
        assert_int_equal(sotto_sensitivity_run(&all, x, y, N, D, K, &r, M + 1, NULL), SOTTO_OK);
        exceeded += all.l2 > first.l2;
    }
    assert_true(plausible((double)exceeded, BLOCKS, gamma_exchangeable(M)));
}
