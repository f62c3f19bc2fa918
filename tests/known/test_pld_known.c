/* Known answers of privacy-loss distributions. Origins: dp.md 3(g) (logistic, Laplace; 113-bit arithmetic),
 * performance.md section 8 (dp_accounting and prv_accountant, run side by side). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dp/accountant.h"
#include "dp/pld_plan.h"

static struct interval epsilon_of(const char *mechanism, double shift, double rate, size_t count,
                                  double delta)
{
    const struct sotto_composed_release item = {mechanism, {shift, shift}, SOTTO_NORM_L1, rate, count};
    struct sotto_account a;
    assert_int_equal(sotto_account_compose(&a, &item, 1, rate < 1 ? "add-remove" : "replace-one", delta),
                     SOTTO_OK);
    return (struct interval){a.epsilon.lower, a.epsilon.upper};
}

static void contains(struct interval got, double expected, double width)
{
    if (!(got.lo <= expected && expected <= got.hi && got.hi - got.lo <= width))
        fail_msg("[%.12g, %.12g] against %.12g, width at most %g", got.lo, got.hi, expected, width);
}

static void logistic_composition_is_exact_elsewhere(void **state)
{
    (void)state; /* dp.md (g), delta = 1e-5 */
    const double known[][3] = {{0.1, 2, 0.18701862956339},  {0.1, 10, 0.61161637048479},
                               {0.5, 10, 3.51748950754174}, {1, 2, 1.95387477517556},
                               {1, 10, 7.62558659523586},   {2, 10, 16.71191346662778}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        contains(epsilon_of("logistic", known[i][0], 1, (size_t)known[i][1], 1e-5), known[i][2],
                 2e-5 * known[i][2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic_composition_is_exact_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
