/* src/core/num/decimal.c: sums of decimals. */
#include "support/test.h"
#include "num/decimal.h"
#include "num/interval.h"

static double total(double x, int n)
{
    struct decimal sum = {0, 0};
    for (int i = 0; i < n; i++)
        sum = decimal_add(sum, decimal_of(x));
    return decimal_up(sum);
}

TEST(ten_tenths_are_one)
{
    assert_true(total(0.1, 10) == 1 && total(0.1, 3) == 0.3 && total(1e-7, 10) == 1e-6);
    assert_true(total(0.7, 1000000) == 700000 && total(0, 5) == 0);
    double plain = 0, upward = 0; /* control: sums of doubles do not know it */
    for (int i = 0; i < 10; i++) {
        plain += 0.1;
        upward = iv_add(iv(upward), iv(0.1)).hi;
    }
    assert_true(plain != 1 && upward > 1);
}

TEST(what_is_no_short_decimal_stands_for_itself)
{
    const double x = next_up(0.1), third = 1.0 / 3;
    assert_true(decimal_of(x).low == 0 && decimal_of(third).low == 0);
    assert_true(decimal_of(0.1).low < 0); /* the double 0.1 lies above the decimal, */
    assert_true(decimal_of(0.3).low > 0); /* 0.3 below */
    assert_true(total(x, 10) > 1 && total(third, 3) <= 1 && total(next_up(third), 3) > 1);
}

TEST(a_sum_is_never_below_its_terms)
{
    struct decimal sum = decimal_add(decimal_of(1), decimal_of(1e-18));
    assert_true(decimal_up(sum) == next_up(1)); /* a double alone would lose it */
    sum = decimal_add(decimal_of(1e300), decimal_of(1e-300));
    assert_true(decimal_up(sum) >= 1e300);
    assert_true(isinf(decimal_up(decimal_add(decimal_of(NAN), decimal_of(1)))));
    assert_true(isinf(decimal_up(decimal_add(decimal_of(INFINITY), decimal_of(INFINITY)))));
    assert_true(isinf(decimal_up(decimal_add(decimal_of(1.7e308), decimal_of(1.7e308)))));
}
