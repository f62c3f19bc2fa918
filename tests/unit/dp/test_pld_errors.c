/* Compositions that are refused, and memory that runs out at every allocation in turn. */
#include "support/test.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"

#include <math.h>
#include <string.h>

TEST(bad_input_has_one_clear_line)
{
    struct sotto_account a = {.scale = 77};
    struct sotto_sampled s = {.mechanism = "laplace",
                              .noise_multiplier = 1,
                              .sample_rate = 0.1,
                              .steps = 1,
                              .delta = 1e-5,
                              .clipping = (enum sotto_norm)7,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON,
                              0};
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "clipping 7 is unknown; expected SOTTO_NORM_L1 or SOTTO_NORM_L2");
    s = (struct sotto_sampled){.mechanism = "gaussian",
                               .noise_multiplier = 1,
                               .sample_rate = 0.1,
                               .steps = ((size_t)1 << 40) + 1,
                               .delta = 1e-5,
                               .clipping = SOTTO_NORM_L2,
                               .adjacency = SOTTO_ADD_REMOVE,
                               .sampling = SOTTO_SAMPLING_POISSON,
                               0};
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_EINVAL);
    assert_true(a.scale == 77);
}

TEST(memory_that_runs_out_changes_nothing)
{
    const struct composed_release items[] = {
        {"gaussian", {0.1, 0.1}, SOTTO_NORM_L2, 0.1, false, 3, SOTTO_SAMPLING_POISSON, 0},
        {"laplace", {0.1, 0.1}, SOTTO_NORM_L1, 1, false, 2, SOTTO_SAMPLING_POISSON, 0}};
    struct interval epsilon = {77, 77};
    long fails = 0;
    for (sotto_status status = SOTTO_ENOMEM; status == SOTTO_ENOMEM; fails++) {
        assert_true(epsilon.lo == 77);
        base_alloc_fail_after(fails);
        status = account_pld(&epsilon, items, 2, 1e-5, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM || status == SOTTO_OK);
    }
    assert_true(fails > 20 && epsilon.lo < 77);
    double multiplier = 77;
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 1,
                              .sample_rate = 0.1,
                              .steps = 10,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON,
                              0};
    base_alloc_fail_after(0);
    assert_int_equal(sotto_calibrate_sampled(&multiplier, &s, 1, NULL), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_true(multiplier == 77);
}

TEST(absurd_parameters_have_answers)
{
    static const double shifts[] = {1e-100, 1e-12, 1e100}, rates[] = {1e-300, 1e-9, 1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < 2; m++) {
                const struct composed_release item = {m ? "laplace" : "gaussian",
                                                      {shifts[i], shifts[i]},
                                                      SOTTO_NORM_L1,
                                                      rates[j],
                                                      false,
                                                      3,
                                                      SOTTO_SAMPLING_POISSON,
                                                      0};
                struct interval e;
                assert_int_equal(account_pld(&e, &item, 1, 1e-5, NULL), SOTTO_OK);
                if (!(e.lo >= 0 && e.lo <= e.hi))
                    fail_msg("shift %g rate %g: [%g, %g]", shifts[i], rates[j], e.lo, e.hi);
            }
}

TEST(grids_have_limits)
{
    struct pld_grid g = {.n = 77};
    assert_int_equal(pld_grid_make(&g, (struct pld_range){-1, 1}, 1e-9), SOTTO_EDOMAIN);
    assert_true(g.n == 77);
    assert_int_equal(pld_grid_make(&g, (struct pld_range){-1e-9, 1e-9}, 1), SOTTO_OK);
    assert_true(g.n == 3 && g.index[0] == -1 && g.index[2] == 1);
    pld_grid_free(&g);
}

TEST_GROUP(.tags = "long long-sums")
