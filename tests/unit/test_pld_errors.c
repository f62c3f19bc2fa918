/* Compositions that are refused, and memory that runs out at every allocation in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory.h"
#include "dp/pld_plan.h"
#include "sotto/dp.h"

#include <math.h>
#include <string.h>

static void bad_input_has_one_clear_line(void **state)
{
    (void)state;
    const struct sotto_composed_release good = {"gaussian", {1, 1}, SOTTO_NORM_L2, 1, 3};
    struct {
        struct sotto_composed_release item;
        const char *adjacency;
        double delta;
        const char *text;
    } cases[] = {
        {good, "replace", 1e-5, "adjacency must be replace-one or add-remove (got 'replace')"},
        {good, NULL, 1e-5, "adjacency must be replace-one or add-remove (got '')"},
        {good, "replace-one", 0, "delta must be > 0 for a composition by privacy-loss distributions (got 0)"},
        {good, "replace-one", 1, "delta must lie in [0, 1) (got 1)"},
        {good, "replace-one", 1e-5, "mechanism 'noise' is not known"},
        {good, "replace-one", 1e-5, "shift.lower must be a number > 0 (got NaN)"},
        {good, "replace-one", 1e-5, "shift.upper must be > 0 (got -1)"},
        {good, "replace-one", 1e-5, "item 0: shift [2, 1] is not an interval"},
        {good, "replace-one", 1e-5, "item 0: sample_rate must lie in (0, 1] (got 0)"},
        {good, "replace-one", 1e-5, "item 0: sample_rate must lie in (0, 1] (got nan)"},
        {good, "replace-one", 1e-5, "item 0: count must be at least 1 (got 0)"},
        {good, "replace-one", 1e-5, "item 0: count must be at most 2^40"},
        {good, "replace-one", 1e-5, "item 0: Poisson sampling is accounted under add-remove adjacency"},
    };
    cases[4].item.mechanism = "noise";
    cases[5].item.shift.lower = NAN;
    cases[6].item.shift.upper = -1;
    cases[7].item.shift.lower = 2;
    cases[8].item.sample_rate = 0;
    cases[9].item.sample_rate = NAN;
    cases[10].item.count = 0;
    cases[11].item.count = (size_t)1 << 41;
    cases[12].item.sample_rate = 0.5;
    struct sotto_account a = {.scale = 77};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sotto_account_compose(&a, &cases[i].item, 1, cases[i].adjacency, cases[i].delta),
                         SOTTO_EINVAL);
        if (!strstr(sotto_error_text(), cases[i].text))
            fail_msg("case %zu: %s", i, sotto_error_text());
    }
    assert_int_equal(sotto_account_compose(&a, &good, 0, "replace-one", 1e-5), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "nothing to account: no releases");
    struct sotto_composed_release many[2] = {good, good};
    many[0].count = many[1].count = (size_t)1 << 40;
    assert_int_equal(sotto_account_compose(&a, many, 2, "replace-one", 1e-5), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "at most 2^40 releases can be composed"));
    struct sotto_sampled s = {"laplace", 1, 0.1, 1, 1e-5, (enum sotto_norm)7};
    assert_int_equal(sotto_account_sampled(&a, &s), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "clip_norm 7 is not known");
    s = (struct sotto_sampled){"gaussian", 1, 0.1, ((size_t)1 << 40) + 1, 1e-5, SOTTO_NORM_L2};
    assert_int_equal(sotto_account_sampled(&a, &s), SOTTO_EINVAL);
    assert_true(a.scale == 77);
}

static void memory_that_runs_out_changes_nothing(void **state)
{
    (void)state;
    const struct sotto_composed_release items[] = {{"gaussian", {1, 1}, SOTTO_NORM_L2, 0.1, 3},
                                                   {"laplace", {1, 1}, SOTTO_NORM_L1, 1, 2}};
    struct sotto_account a = {.scale = 77};
    long fails = 0;
    for (sotto_status status = SOTTO_ENOMEM; status == SOTTO_ENOMEM; fails++) {
        assert_true(a.scale == 77);
        base_alloc_fail_after(fails);
        status = sotto_account_compose(&a, items, 2, "add-remove", 1e-5);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM || status == SOTTO_OK);
    }
    assert_true(fails > 20 && isnan(a.scale));
    double multiplier = 77;
    struct sotto_sampled s = {"gaussian", 1, 0.1, 10, 1e-5, SOTTO_NORM_L2};
    base_alloc_fail_after(0);
    assert_int_equal(sotto_calibrate_sampled(&multiplier, &s, 1), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_true(multiplier == 77);
}

static void absurd_parameters_have_answers(void **state)
{
    (void)state;
    static const double shifts[] = {1e-100, 1e-12, 1e100}, rates[] = {1e-300, 1e-9, 1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < 2; m++) {
                const struct sotto_composed_release item = {
                    m ? "laplace" : "gaussian", {shifts[i], shifts[i]}, SOTTO_NORM_L1, rates[j], 3};
                struct sotto_account a;
                assert_int_equal(sotto_account_compose(&a, &item, 1, "add-remove", 1e-5), SOTTO_OK);
                if (!(a.epsilon.lower >= 0 && a.epsilon.lower <= a.epsilon.upper))
                    fail_msg("shift %g rate %g: [%g, %g]", shifts[i], rates[j], a.epsilon.lower,
                             a.epsilon.upper);
            }
}

static void grids_have_limits(void **state)
{
    (void)state;
    struct pld_grid g = {.n = 77};
    assert_int_equal(pld_grid_make(&g, (struct pld_range){-1, 1}, 1e-9), SOTTO_EDOMAIN);
    assert_true(g.n == 77);
    assert_int_equal(pld_grid_make(&g, (struct pld_range){-1e-9, 1e-9}, 1), SOTTO_OK);
    assert_true(g.n == 3 && g.index[0] == -1 && g.index[2] == 1);
    pld_grid_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input_has_one_clear_line),
        cmocka_unit_test(memory_that_runs_out_changes_nothing),
        cmocka_unit_test(absurd_parameters_have_answers),
        cmocka_unit_test(grids_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
