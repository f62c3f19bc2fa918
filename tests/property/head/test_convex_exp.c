/* The exponential behind the convex trainers, at the baseline level: docs/derivations/head.md assumes a
 * relative error of at most 8 units of 2^-53. The other levels are covered by the gradients of
 * test_convex_bound. */
#include "support/test.h"

#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#include "support/worse.h"
#include "head/kernel/head_vector.h"
#include "rng/rng.h"

TEST(the_error_is_below_four_units)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    double worst = 0;
    for (int i = 0; i < 200000; i++) {
        vec x;
        for (int k = 0; k < LANES; k++)
            x[k] = -pow(rng_unit(&r), 1 + i % 4) * (i % 3 ? 40 : 700);
        vec e = v_exp(x);
        for (int k = 0; k < LANES; k++) {
            long double exact = expl(x[k]);
            worst = worse(worst, (double)fabsl((e[k] - exact) / exact));
        }
    }
    print_message("largest relative error: %.2f units of 2^-53\n", worst * 0x1p53);
    assert_true(worst < 4 * 0x1p-53);
}

TEST(the_ends_are_right)
{
    vec x = v_all(0), low = v_all(-1e300);
    assert_true(v_exp(x)[0] == 1);
    assert_true(v_exp(low)[0] > 0 && v_exp(low)[0] < 1e-303);
}

TEST_GROUP(.tags = "matrix")
