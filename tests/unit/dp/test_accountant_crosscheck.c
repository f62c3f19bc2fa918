/* The comparison of independent ways: it holds, and it finds a value that is off by a little. */
#include "support/test.h"

#include "dp/account/accountant_crosscheck.h"

#include <math.h>
#include <string.h>

static struct crosscheck measured(double t, size_t count)
{
    struct crosscheck a;
    char why[200] = "";
    assert_int_equal(accountant_crosscheck(&a, t, count, 1e-5, NULL), SOTTO_OK);
    if (!agreement_holds(&a, why, sizeof why))
        fail_msg("%zu releases of shift %g: %s", count, t, why);
    return a;
}

/* Ten releases of shift 0.5, measured once. */
static struct crosscheck ten_releases(void)
{
    static struct crosscheck ten;
    static bool known;
    if (!known)
        ten = measured(0.5, 10);
    known = true;
    return ten;
}

TEST(independent_ways_agree)
{
    assert_int_equal(measured(0.5, 2).exact_count, 2);   /* finite sums */
    assert_int_equal(ten_releases().exact_count, 4);     /* and contours */
    assert_int_equal(measured(0.1, 100).exact_count, 3); /* the finite sum in doubles has lost its digits */
}

TEST(a_wrong_value_is_found)
{
    struct crosscheck right = ten_releases(), wrong;
    char why[200];
    for (size_t i = 0; i < right.exact_count; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            wrong = right;
            wrong.exact[i].value.lo *= 1 + sign * 3e-10;
            wrong.exact[i].value.hi *= 1 + sign * 3e-10;
            assert_false(agreement_holds(&wrong, why, sizeof why));
            assert_non_null(strstr(why, right.exact[i].name));
        }
    wrong = right;
    wrong.epsilon[1].value.hi *= 1 + 2e-10; /* still holds the truth, but does not say it to 1e-10 */
    assert_false(agreement_holds(&wrong, why, sizeof why));
    wrong = right;
    wrong.grid[0].value.lo = right.epsilon[0].value.hi;
    assert_false(agreement_holds(&wrong, why, sizeof why));
    assert_non_null(strstr(why, "does not contain"));
    wrong = right;
    wrong.grid[0].value.hi = nextafter(right.epsilon[0].value.hi, 0);
    assert_false(agreement_holds(&wrong, why, sizeof why));
    wrong = right;
    wrong.exact_count = 1;
    assert_false(agreement_holds(&wrong, why, sizeof why));
}

TEST(errors_come_through)
{
    struct crosscheck a;
    assert_int_equal(accountant_crosscheck(&a, 1, ((size_t)1 << 32) + 1, 1e-5, NULL), SOTTO_EDOMAIN);
}

TEST_GROUP(.tags = "long")
