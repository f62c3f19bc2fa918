/* Every even split of a budget fits into it, as decimals; nothing more does (src/core/dp/ledger/ledger_account.c, src/core/num/decimal.c). */
#include "support/test.h"
#include "support/ledger_folder.h"
#include "dp/ledger/ledger_account.h"

static const double budgets[] = {0.1, 0.3, 1, 1.5, 2, 3, 10};
enum { BUDGETS = sizeof budgets / sizeof *budgets, PARTS = 1000 };

/* Of events nothing is known, so nothing tighter than the sums. */
static struct ledger spent(double budget, double delta, double part, double part_delta, int n)
{
    static struct ledger_item items[PARTS];
    struct ledger l = {
        .path = "l.jsonl", .budget = {budget, delta}, .recorded = {budget, delta}, .items = items};
    const struct opened_columns opened = {
        delta > 0 ? adaptive_columns_stated(budget, delta)
                  : (struct adaptive_columns){.column[0] = {.box.pure = budget}, .count = 1},
        budget, delta};
    const struct any_order taken = {.offer[0] = {part, 0, part_delta}, .offers = 1, .columns = 1};
    ledger_columns_start(&l, &opened);
    for (int i = 0; i < n; i++) {
        assert_true(ledger_columns_count(&l, &taken));
        items[l.charges++] = (struct ledger_item){
            .proved = true, .pure = delta > 0 ? NAN : part, .rho = NAN, .epsilon = part, .delta = part_delta};
    }
    return l;
}

static bool fits(const struct ledger *l, double part, double part_delta)
{
    const struct ledger_charge charge = {
        .mechanism = "stated", .pure = part_delta > 0 ? NAN : part, .epsilon = part, .delta = part_delta};
    const struct sotto_account a = {.epsilon = {part, part},
                                    .pure_epsilon = charge.pure,
                                    .zcdp_rho = NAN,
                                    .delta = part_delta,
                                    .adjacency = SOTTO_REPLACE_ONE};
    return ledger_check_budget(NULL, l, &a, &charge) == SOTTO_OK;
}

/* The n-th part, rounded down to a decimal of 14 places more than those of `unit`, a power of ten. */
static double written(double budget, int n, double unit)
{
    const uint64_t whole = (uint64_t)llround(budget / unit * 1e14);
    return (double)(whole / (unsigned)n) / (1e14 / unit);
}

TEST(decimals_that_were_written)
{
    for (int b = 0; b < BUDGETS; b++)
        for (int n = 1; n <= PARTS; n++) {
            const double part = written(budgets[b], n, 1);
            struct ledger l = spent(budgets[b], 0, part, 0, n - 1);
            if (!fits(&l, part, 0))
                fail_msg("%d times %.17g does not fit into %g: %s", n, part, budgets[b], sotto_error_text());
            l = spent(budgets[b], 0, part, 0, n);
            if (fits(&l, 1e-6, 0)) /* what rounding down leaves is less */
                fail_msg("%d times %.17g and 1e-6 fit into %g", n, part, budgets[b]);
        }
}

TEST(deltas_that_were_written)
{
    for (int n = 1; n <= PARTS; n++) {
        const double part = written(1, n, 1), delta = written(1e-6, n, 1e-6);
        struct ledger l = spent(1, 1e-6, part, delta, n - 1);
        if (!fits(&l, part, delta))
            fail_msg("%d times (%.17g, %.17g): %s", n, part, delta, sotto_error_text());
        assert_false(fits(&l, part, delta * (1 + 1e-9) + 1e-6 / n * 1e-3)); /* a delta that is too large */
    }
}

/* Calibration stays below its target by more than doubles lose, whatever the target is. */
TEST(calibrated_releases)
{
    static const char *const mechanisms[] = {"laplace", "logistic", "discrete-laplace", "permute-and-flip",
                                             "randomised-response"};
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED};
    for (size_t m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++)
        for (int b = 0; b < BUDGETS; b++)
            for (int n = 1; n <= PARTS; n += 1 + n / 50) {
                struct sotto_account a;
                double scale;
                assert_int_equal(
                    sotto_calibrate(&scale, mechanisms[m], &s, (struct sotto_dp){budgets[b] / n, 0}, NULL),
                    SOTTO_OK);
                assert_int_equal(sotto_account_release(&a, mechanisms[m], scale, &s, 0, 1, NULL), SOTTO_OK);
                assert_true((long double)a.pure_epsilon * n <
                            (long double)budgets[b]); /* strictly, as real numbers */
                struct ledger l = spent(budgets[b], 0, a.pure_epsilon, 0, n - 1);
                if (!fits(&l, a.pure_epsilon, 0))
                    fail_msg("%s: %d times %.17g does not fit into %g", mechanisms[m], n, a.pure_epsilon,
                             budgets[b]);
                if (n > 1 && fits(&l, a.pure_epsilon + 1e-6, 0))
                    fail_msg("%s: %d times %.17g and 1e-6 fit into %g", mechanisms[m], n, a.pure_epsilon,
                             budgets[b]);
            }
}

/* The whole way: releases, ledger file, refusal. */
TEST(ten_releases_of_a_tenth, .before = make_folder, .after = remove_folder)
{
    struct sotto_release r = {
        .mechanism = "discrete-laplace",
        .target = {0.1, SOTTO_DELTA_PURE},
        .sensitivity = {.l1 = 1, .l2 = NAN, .value_step = 1, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = {1, SOTTO_DELTA_PURE}}};
    struct sotto_certificate *c;
    double v[1] = {0};
    for (int i = 0; i < 10; i++) {
        const sotto_status status = sotto_dp_release_double(&c, v, 1, &r, NULL);
        if (status != SOTTO_OK)
            fail_msg("release %d: %s", i + 1, sotto_error_text());
        sotto_certificate_free(c);
    }
    r.target.epsilon = 1e-6;
    assert_int_equal(sotto_dp_release_double(&c, v, 1, &r, NULL), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(),
                           "(epsilon 1, delta 0) would be exceeded: spent 1, with this release 1.000001"));
    r.target.epsilon = 1e-9; /* the numbers of a refusal differ to the eye */
    assert_int_equal(sotto_dp_release_double(&c, v, 1, &r, NULL), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "spent 1, with this release 1.000000001"));
}
