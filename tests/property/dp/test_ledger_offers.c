/* src/core/dp/ledger/ledger_offers.c: no line that a charge wrote is refused, whatever the release. Random mechanisms, scales, norms,
 * widths and deltas, under a budget (columns of one epsilon, or of stated pairs) and without one (levels). That smaller offers are
 * refused is tested in unit/dp/test_ledger_columns.c too; here, as the control, each line once more with all numbers a part in a million too small. */
#include "support/test.h"
#include "support/effort.h"
#include "support/ledger_folder.h"

#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_offers.h"
#include "rng/rng.h"

#include <unistd.h>

enum { MOST = 6, EACH = 20 };

static double between(struct rng *random, double low, double high)
{
    return low * pow(high / low, rng_unit(random));
}

static bool chance(struct rng *random)
{
    return rng_below(random, 2);
}

/* EBUDGET is no failure: the budget is used up. */
static void release(struct rng *random, struct sotto_dp budget)
{
    static const char *const names[] = {"gaussian",         "laplace",           "logistic",
                                        "discrete-laplace", "discrete-gaussian", "knorm"};
    const char *name = names[rng_below(random, 6)];
    const bool steps = strncmp(name, "discrete", 8) == 0, knorm = strcmp(name, "knorm") == 0;
    const bool pure = strcmp(name, "gaussian") != 0 && strcmp(name, "discrete-gaussian") != 0;
    const size_t n = 1 + rng_below(random, MOST);
    const double l2 = steps ? 1 + (double)rng_below(random, 3) : between(random, 1e-3, 10),
                 l1 = steps            ? 3 * l2
                      : chance(random) ? 1.5 * l2
                                       : NAN,
                 scale = l2 * between(random, .3, 300), delta = between(random, 1e-9, 1e-3);
    const bool without_delta = pure && chance(random), flat = !steps && !knorm && chance(random);
    const struct sotto_release r = {
        .mechanism = name,
        .scale = scale,
        .target = {NAN, without_delta ? SOTTO_DELTA_PURE : delta},
        .sensitivity = {.l1 = l1, .l2 = l2, .value_step = steps ? 1 : 0, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = budget},
        .flat_doubt = flat};
    float v[MOST] = {1, 2, 3, 4, 5, 6};
    struct sotto_certificate *c = NULL;
    const sotto_status status = sotto_dp_release(&c, v, n, &r, NULL);
    sotto_certificate_free(c);
    if (status != SOTTO_OK && status != SOTTO_EBUDGET)
        fail_msg("%s of %zu, scale %g, l1 %g, l2 %g: %s", name, n, r.scale, r.sensitivity.l1, l2,
                 sotto_error_text());
}

/* Discrete Gaussian noise has a curve of its own, which is not computed again. */
static bool is_curve(const struct ledger_item *item)
{
    return strcmp(item->charged.event.mechanism, "discrete-gaussian") == 0;
}

/* How many of the lines notice that their offers became smaller, or have nothing to notice. */
static size_t noticed(const struct ledger *l)
{
    size_t found = 0;
    struct part_memory known = {.made = 0};
    for (size_t i = 0; i < l->charges; i++) {
        struct ledger_item less = l->items[i];
        const struct ledger_charge nothing = {.delta = less.delta};
        for (size_t k = 0; k < less.any_order.offers; k++) {
            less.any_order.offer[k].pure *= 1 - 1e-6;
            less.any_order.offer[k].square *= 1 - 1e-6;
        }
        found += less.any_order.offers == 0 || is_curve(&less) ||
                 ledger_require_offers(&known, &less, &nothing, "line") == SOTTO_EFORMAT;
    }
    return found;
}

TEST(what_a_charge_wrote_is_read)
{
    const long ledgers = by_effort(6, 20, 100);
    size_t charges = 0, caught = 0;
    for (long i = 0; i < ledgers; i++) {
        struct rng random = rng_stream(46, RNG_TEST, (uint64_t)i, 0);
        const double epsilon = between(&random, .1, 30), delta = between(&random, 1e-8, 1e-3);
        const struct sotto_dp budget = i % 2 ? (struct sotto_dp){epsilon, delta} : (struct sotto_dp){0};
        struct ledger l;
        unlink(path);
        for (int k = 0; k < EACH; k++)
            release(&random, budget);
        if (access(path, F_OK) != 0)
            continue; /* the budget held none of them */
        if (ledger_read(&l, path) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        charges += l.charges;
        caught += noticed(&l);
        ledger_close(&l);
    }
    print_message("%zu charges, %zu caught\n", charges, caught);
    assert_true(charges > (size_t)ledgers * 8);
    assert_int_equal(caught, charges);
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
