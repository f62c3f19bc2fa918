/* The certified path against known answers: dp.md 3(g) (three methods there agree to 16 digits), 3(c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dp/ball/ball.h"
#include "sotto/dp.h"

#include <math.h>
#include <string.h>

/* [lo, hi] holds x and is at most `wide` wide, relatively. */
static void encloses(struct interval e, double x, double wide)
{
    if (!(e.lo <= x && x <= e.hi))
        fail_msg("[%.17g, %.17g] does not hold %.17g", e.lo, e.hi, x);
    if (!(e.hi - e.lo <= wide * x))
        fail_msg("[%.17g, %.17g] is %.3g wide, expected %.3g", e.lo, e.hi, (e.hi - e.lo) / x, wide);
}

static void grid_encloses_exact_compositions(void **state)
{
    (void)state; /* dp.md (g): k logistic releases at delta 1e-5 */
    const struct {
        double a;
        size_t k;
        double epsilon;
    } known[] = {{1, 10, 7.62558659523586}, {0.1, 100, 2.32091241076471}, {0.5, 100, 15.54865317462431}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct ball_step step = {BALL_LOGISTIC, known[i].a, 1, 1};
        struct interval e;
        assert_int_equal(ball_compose_epsilon(&e, &step, known[i].k, 1e-5, NAN), SOTTO_OK);
        encloses(e, known[i].epsilon, 2e-6);
    }
}

static void sampled_gaussian(void **state)
{
    (void)state; /* the specification's speed case; the interval is narrower than its discretisation error */
    struct sotto_sampled s = {"gaussian", 1.1, 0.01, 10000, 1e-5};
    struct sotto_account rdp, certified;
    assert_int_equal(sotto_account_sampled(&rdp, &s), SOTTO_OK);
    assert_int_equal(sotto_account_sampled_certified(&certified, &s), SOTTO_OK);
    assert_string_equal(certified.accountant, "pld, ball arithmetic");
    assert_true(certified.epsilon.lower > 5.1925 && certified.epsilon.upper < 5.1927);
    assert_true(certified.epsilon.lower < rdp.epsilon.upper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grid_encloses_exact_compositions),
                                       cmocka_unit_test(sampled_gaussian)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
