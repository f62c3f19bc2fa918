/* Columns by the moments of public rows: known numbers, what is constant, what is refused. */
#include "support/test.h"

#include "rng/rng.h"
#include "sotto/lab/ssl.h"

#include <math.h>

/* mean 2 and deviation 1; mean -10 and deviation 0; mean 1e4 and deviation 1/2 */
static const float public_x[] = {1, -10, 9999.5f, 3, -10, 10000.5f};

TEST(columns_move_by_public_moments)
{
    float x[] = {2, -10, 10000, 5, 7, 10001, 0, -10, 9999};
    const float expected[] = {0, 0, 0, 3, 0, 2, -2, 0, -2};
    assert_int_equal(sotto_standardise(x, 3, 3, public_x, 2), SOTTO_OK);
    for (size_t i = 0; i < 9; i++)
        assert_float_equal(x[i], expected[i], 1e-6f);
}

/* Rows that are their own public rows end at mean 0 and variance 1, far from zero too. */
TEST(own_moments_become_standard)
{
    enum { N = 500, D = 3 };
    static float x[N * D], copy[N * D];
    struct rng r = rng_stream(7, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * D; i++)
        x[i] = copy[i] = (float)((i % D == 0   ? 1e-5
                                  : i % D == 1 ? 1000
                                               : 0) +
                                 (i % D == 0 ? 1e-6 : 3) * rng_normal(&r));
    assert_int_equal(sotto_standardise(x, N, D, copy, N), SOTTO_OK);
    for (size_t c = 0; c < D; c++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < N; i++) {
            mean += (double)x[i * D + c] / N;
            square += (double)x[i * D + c] * (double)x[i * D + c] / N;
        }
        assert_true(fabs(mean) < 1e-4 && fabs(square - 1) < 1e-4);
    }
}

TEST(bad_public_rows_are_refused)
{
    float x[] = {1, 2, 3};
    const float bad[] = {1, 2, 3, 4, NAN, 6};
    assert_int_equal(sotto_standardise(x, 1, 3, public_x, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "standardise: 1 public rows; expected at least 2");
    assert_int_equal(sotto_standardise(x, 1, 3, bad, 2), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "standardise: column 1 of the public rows is not finite");
    assert_int_equal(sotto_standardise(x, 1, SIZE_MAX / 8, bad, 2), SOTTO_ENOMEM);
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3);
}

TEST_GROUP(.tags = "matrix")
