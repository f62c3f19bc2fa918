/* The bets of the monitor: f(p) to the digits of the specification, its series near 1, its integral, and the fewest blocks
 * to an alarm. Double precision; no instruction set and no threads. */
#include "support/test.h"

#include "monitor/bet.h"

#include <math.h>

static void near_to(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

TEST(bets_have_the_printed_digits)
{
    static const double known[][2] = {
        {.5, .638674}, {.1, 1.263211}, {.01, 4.450992}, {.001, 20.791134}, {1.0 / 401, 10.966675}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        near_to(exp(bet_log(known[i][0])), known[i][1], 5e-7);
    near_to(exp(bet_log(1)), .5, 1e-16);
    /* so small that p ln p is nothing beside 1 */
    near_to(bet_log(1e-300), 300 * log(10) - 2 * log(300 * log(10)), 1e-12);
}

/* With u = 1 - p, f = 1/2 + u/6 + u^2/8 + O(u^3). The plain formula loses more than half of its digits. */
TEST(near_one_is_a_series)
{
    double worst = 0;
    for (double u = 1e-9; u < 2e-5; u *= 3) {
        double p = 1 - u, v = 1 - p, l = log(p), plain = (1 - p + p * l) / (p * l * l);
        near_to(exp(bet_log(p)), .5 + v / 6 + v * v / 8, 1e-15);
        worst = fmax(worst, fabs(plain - .5));
    }
    assert_true(worst > 1e-8); /* the control: the plain formula */
    near_to(bet_log(nextafter(.9, 1)), bet_log(nextafter(.9, 0)), 1e-13);
    for (double p = .001; p < 1; p += .001)
        assert_true(bet_log(p) > bet_log(p + .0005)); /* f falls */
}

/* With p = e^-s the integrand is (1 - p (1 + s)) / s^2: Simpson's rule to s = 100, then 1/s^2. */
TEST(a_bet_is_fair)
{
    enum { STEPS = 20000 };
    double h = 100.0 / STEPS, sum = .5 /* at s = 0: f(1) */;
    for (int i = 1; i <= STEPS; i++) {
        double s = i * h;
        sum += (i == STEPS ? 1 : i % 2 ? 4 : 2) * exp(bet_log(exp(-s)) - s);
    }
    near_to(sum * h / 3 + 1.0 / 100, 1, 1e-9);
}

/* The recursion against the sum over all starts, and what a benign past costs. */
TEST(a_wealth_mixes_all_starts)
{
    enum { T = 40 };
    static const double p[4] = {.3, .9, .02, .6};
    struct wealth w = {0};
    for (int t = 1; t <= T; t++) {
        double sum = 1.0 / (t + 1), found = exp(wealth_bet(&w, p[t % 4]));
        for (int s = 1; s <= t; s++) {
            double won = 1;
            for (int i = s; i <= t; i++)
                won *= exp(bet_log(p[i % 4]));
            sum += won / (s * (s + 1.0));
        }
        near_to(found / sum, 1, 1e-13);
    }
    struct wealth late = {0};
    double single = 0, mixed = 0;
    for (int t = 1; t <= 1000; t++) { /* p-values that are evenly spread: the last one .9995 */
        single += bet_log((t - .5) / 1000);
        mixed = wealth_bet(&late, (t - .5) / 1000);
        assert_true(mixed >= -log(t + 1.0));
    }
    assert_true(single < -200); /* the control: one start never recovers */
    int blocks = 0;
    for (; mixed < log(3000); blocks++)
        mixed = wealth_bet(&late, .001);
    assert_int_equal(blocks, 7); /* 20.79^6 < 3000 x 1001 x 1002 / 20 < 20.79^7; without a past: 3 */
}

TEST(fewest_blocks_to_an_alarm)
{
    double threshold = log(3 / .001);
    assert_int_equal(bet_fewest(99, threshold), 6);
    assert_int_equal(bet_fewest(200, threshold), 5);
    assert_int_equal(bet_fewest(400, threshold), 4);
    assert_int_equal(bet_fewest(1000, threshold), 3);
}
