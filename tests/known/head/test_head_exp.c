/* The kernels' exponential against libm, over the range that a shifted softmax uses. */
#include "support/test.h"
#include "support/worse.h"
#include "head/kernel/head_vector.h"

TEST(exponential_is_accurate_and_flushes)
{
    double worst = 0;
    for (float x = 0; x > -69; x -= 0.00037f) {
        vec e = v_exp(v_all(x));
        worst = worse(worst, fabs((double)e[LANES - 1] / exp((double)x) - 1));
    }
    assert_true(worst < 2e-7);
    assert_true(v_exp(v_all(0))[0] == 1);
    assert_true(v_exp(v_all(-70))[0] == 0);
    assert_true(v_exp(v_all(-1e30f))[0] == 0);
    assert_true(v_exp(v_all(-INFINITY))[0] == 0);
}

TEST(tiny_moments_are_flushed)
{
    assert_true(v_flush(v_all(1e-31f))[0] == 0);
    assert_true(v_flush(v_all(-1e-31f))[0] == 0);
    assert_true(v_flush(v_all(-1e-29f))[0] == -1e-29f);
}
