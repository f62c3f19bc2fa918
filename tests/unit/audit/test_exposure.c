/* Exposure of canaries: known answers, ties, its law without a canary, a control with one, and what is refused. */
#include "support/test.h"

#include "num/beta.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>

static struct sotto_exposure exposure(double score, const double *candidates, size_t n)
{
    struct sotto_exposure e;
    assert_int_equal(sotto_exposure(&e, score, candidates, n), SOTTO_OK);
    return e;
}

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g; expected %.12g", found, expected);
}

/* The specification has 1e9 candidates: log2 1e9 = 29.897353, and 4.087463 bits less at rank 17. */
TEST(known_answers)
{
    enum { N = 1023 };
    double c[N];
    for (int i = 0; i < N; i++)
        c[i] = i;
    near(exposure(N, c, N).exposure, 10, 1e-12);
    near(exposure(N - 16, c, N).exposure, 10 - (29.897353 - 25.809890), 1e-6);
    assert_int_equal(exposure(N - 16, c, N).rank, 17);
    near(exposure(N - 16, c, N).p_value, 17. / 1024, 1e-15);
    near(exposure(-1, c, N).exposure, 0, 1e-12);
    near(exposure(N - 1, c, N).exposure, 9, 1e-12); /* a tie counts against it */
    const double pair[2] = {-1, 1};                 /* deviation sqrt 2 */
    near(exposure(1.959963984540054 * sqrt(2), pair, 2).extrapolated, -log2(.025), 1e-9);
    near(exposure(40 * sqrt(2), pair, 2).extrapolated, 1160.80460915,
         1e-6); /* SciPy: -norm.logsf(40) / ln 2 */
    const double same[3] = {2, 2, 2};
    assert_true(isnan(exposure(3, same, 3).extrapolated));
    near(exposure(3, same, 3).exposure, 2, 1e-12);
    near(exposure(2, same, 3).exposure, 0, 1e-12);
}

/* A canary that was never inserted is exposed by t bits or more with probability at most 2^-t; one of mean 2 more often. */
static size_t exposed(double shift, double bits, uint64_t seed)
{
    enum { DRAWS = 2000, N = 255 };
    size_t count = 0;
    for (uint64_t d = 0; d < DRAWS; d++) {
        struct rng r = rng_stream(seed, RNG_TEST, 40, d);
        double c[N], own = shift + rng_normal(&r);
        for (int i = 0; i < N; i++)
            c[i] = rng_normal(&r);
        count += exposure(own, c, N).exposure >= bits;
    }
    return count;
}

TEST(null_law)
{
    for (int t = 1; t <= 5; t += 2) {
        double low, high;
        clopper_pearson(&low, &high, (double)exposed(0, t, 50), 2000, 1 - 2e-4);
        assert_true(low <= exp2(-t) && high >= exp2(-t)); /* 256 candidates: the law is exact */
        clopper_pearson(&low, &high, (double)exposed(2, t, 50), 2000, 1 - 2e-4);
        assert_true(low > exp2(-t));
    }
}

TEST(refused)
{
    struct sotto_exposure e;
    const double bad[2] = {0, NAN};
    assert_int_equal(sotto_exposure(&e, NAN, bad, 1), SOTTO_EINVAL);
    assert_int_equal(sotto_exposure(&e, 1, bad, 0), SOTTO_EINVAL);
    assert_int_equal(sotto_exposure(&e, 1, bad, 2), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "exposure: candidate 1 is nan; expected a finite number");
}
