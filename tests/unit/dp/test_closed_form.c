/* src/core/dp/account/closed_form.c against the account that searches all bounds. */
#include "support/test.h"

#include "dp/account/accountant.h"

#include <string.h>

TEST(curves_invert_and_bound)
{
    int checked = 0;
    for (size_t i = 0; mechanism_row(i); i++) {
        const struct mechanism *m = mechanism_row(i);
        struct sotto_sensitivity s = {.l1 = 3, .l2 = 3, .dimension = m->kind == RELEASE_VECTOR ? 5 : 0};
        struct sotto_interval e, d, pure, none = {7, 7};
        struct sotto_account a;
        if (m->kind == RELEASE_NONE) {
            assert_int_equal(sotto_epsilon(&none, m->name, 1, &s, 1e-5), SOTTO_ENOTSUP);
            assert_true(none.lower == 7);
            continue;
        }
        assert_int_equal(sotto_epsilon(&e, m->name, 2, &s, 1e-5), SOTTO_OK);
        assert_int_equal(sotto_epsilon(&pure, m->name, 2, &s, 0), SOTTO_OK);
        assert_int_equal(sotto_delta(&d, m->name, 2, &s, e.upper), SOTTO_OK);
        assert_int_equal(sotto_account_release(&a, m->name, 2, &s, 1e-5, 1, NULL), SOTTO_OK);
        assert_true(e.lower <= e.upper && pure.lower <= pure.upper && d.lower <= d.upper &&
                    e.upper <= pure.upper);
        assert_true(d.upper <= 1e-5 * (1 + 1e-9));
        assert_true(a.epsilon.upper <= e.upper);
        assert_true(m->pure == isfinite(pure.upper));
        if (!m->dominated && !m->integer)
            assert_true(e.upper - e.lower <= 1e-9 * e.upper);
        checked++;
    }
    assert_true(checked >= 8);
}

TEST(refusals)
{
    struct sotto_interval e = {7, 7};
    struct sotto_sensitivity l2 = {.l1 = NAN, .l2 = 1}, both = {.l1 = 1, .l2 = 1};
    assert_int_equal(sotto_epsilon(&e, "laplace", 1, &l2, 1e-5), SOTTO_EDOMAIN);
    assert_non_null(strstr(sotto_error_text(), "needs the l1 sensitivity"));
    assert_int_equal(sotto_delta(&e, "laplace", 1, &l2, 1), SOTTO_EDOMAIN);
    assert_int_equal(sotto_epsilon(&e, "cauchy", 1, &both, 1e-5), SOTTO_EINVAL);
    assert_int_equal(sotto_epsilon(&e, "laplace", 0, &both, 1e-5), SOTTO_EINVAL);
    assert_int_equal(sotto_epsilon(&e, "laplace", 1, &both, 1), SOTTO_EINVAL);
    assert_int_equal(sotto_delta(&e, "laplace", 1, &both, -1), SOTTO_EINVAL);
    assert_int_equal(sotto_delta(&e, "laplace", 1, &both, NAN), SOTTO_EINVAL);
    assert_true(e.lower == 7 && e.upper == 7);
}
