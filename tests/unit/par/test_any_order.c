/* Sums of doubles in any order: one result, near the sum in long doubles; beyond the range numbers count as its end. One thread. */
#include "support/test.h"

#include "par/any_order.h"
#include "rng/rng.h"

#include <string.h>

enum { N = 1000 };

TEST(no_order_makes_a_difference)
{
    double x[N];
    long double exact = 0;
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++) {
        x[i] = ldexp(rng_unit(&r) - .5, (int)(i % 60) - 30);
        exact += (long double)x[i];
    }
    struct any_order up = {0}, down = {0}, parts[7] = {{0}}, whole = {0};
    for (size_t i = 0; i < N; i++) {
        any_order_add(&up, x[i]);
        any_order_add(&down, x[N - 1 - i]);
        any_order_add(&parts[i % 7], x[i]);
    }
    for (size_t i = 0; i < 7; i++)
        any_order_join(&whole, parts[6 - i]);
    assert_memory_equal(&up, &down, sizeof up);
    assert_memory_equal(&up, &whole, sizeof up);
    assert_true(fabs(any_order_value(up) - (double)exact) <= N * 0x1p-49);
    double floats = 0, other = 0; /* so that the comparison can fail */
    for (size_t i = 0; i < N; i++)
        floats += x[i], other += x[N - 1 - i];
    assert_true(floats != other);
}

TEST(single_numbers_come_back)
{
    const double x[] = {0, 1, -1, 0x1p-48, -0x1p-48, .75, -.75, 0x1p40, -0x1p52, 123456.0625, 0x1p-60};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        struct any_order s = {0};
        any_order_add(&s, x[i]);
        assert_true(any_order_value(s) == (fabs(x[i]) < 0x1p-49 ? 0 : x[i]));
        assert_true(s.part >= 0 && s.part >> 48 == 0);
        any_order_add(&s, -x[i]);
        assert_true(s.whole == 0 && s.part == 0);
    }
}

TEST(what_is_too_large_counts_as_the_end_of_the_range)
{
    const double x[] = {1e300, INFINITY, 0x1p60};
    for (size_t i = 0; i < 3; i++) {
        struct any_order s = {0};
        any_order_add(&s, x[i]);
        assert_true(any_order_value(s) == 0x1p60);
        any_order_add(&s, -x[i]);
        assert_true(any_order_value(s) == 0);
    }
}
