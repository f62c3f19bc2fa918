/* The seldom branches of the composition code: memory that is out, sizes at their limits, numbers beyond
 * doubles. */
#include "support/test.h"

#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/account/events.h"
#include "dp/account/event_part.h"
#include "dp/ledger/ledger_events.h"
#include "dp/ledger_line/ledger_line.h"
#include "dp/account/sampled_renyi.h"
#include "sotto/private/all.h"
#include "support/composition_oracle.h"

#include <stdlib.h>
#include <string.h>

TEST(memory_is_out)
{
    const struct sotto_event events[] = {
        {.mechanism = "laplace", .count = 3, .scale = 2, .l1 = 1, .l2 = NAN},
        {.mechanism = "gaussian", .count = 1, .scale = 9, .l1 = NAN, .l2 = 1}};
    const char text[] =
        "{\"schema\":\"sotto.events/1\",\"adjacency\":\"add-remove\",\"events\":[{\"mechanism\":"
        "\"laplace\",\"scale\":1,\"l1\":1}]}";
    const double p[] = {0.5, 0.5};
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status != SOTTO_OK && n < 300; n++) {
        struct sotto_account a = {.scale = 77};
        base_alloc_fail_after(n);
        status = sotto_account_events(&a, events, 2, 1e-5, SOTTO_SAME_ADJACENCY, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && a.scale == 77));
    }
    assert_true(status == SOTTO_OK && n > 3);
    for (status = SOTTO_ENOMEM, n = 0; status != SOTTO_OK && n < 300; n++) {
        struct event_list list = {NULL, 77};
        base_alloc_fail_after(n);
        status = events_parse(&list, text, strlen(text), "input.json");
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && list.count == 77));
        if (status == SOTTO_OK)
            events_free(&list);
    }
    assert_true(status == SOTTO_OK && n > 1);
    struct sotto_interval e = {7, 7};
    base_alloc_fail_after(0);
    assert_int_equal(finite_epsilon(&e, p, p, 2, 0), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_true(e.lower == 7);
}

static double upper_of(const struct sotto_event *events, size_t n, double delta)
{
    struct sotto_account a;
    assert_int_equal(sotto_account_events(&a, events, n, delta, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(a.epsilon.lower >= 0 && a.epsilon.lower <= a.epsilon.upper);
    return a.epsilon.upper;
}

TEST(every_kind_of_mechanism_composes)
{
    struct sotto_event discrete[] = {
        {.mechanism = "discrete-laplace", .count = 4, .scale = 5, .l1 = 1, .l2 = 1, .value_step = 1},
        {.mechanism = "discrete-gaussian", .count = 4, .scale = 5, .l1 = 1, .l2 = 1, .value_step = 1},
        {.mechanism = "knorm", .count = 2, .scale = 5, .l1 = NAN, .l2 = 1, .dimension = 3},
        {.mechanism = "exponential", .count = 2, .scale = 5, .l1 = 1, .l2 = NAN},
        {.mechanism = "randomised-response", .count = 2, .scale = 5, .l1 = 1, .l2 = NAN}};
    double before = 0;
    for (size_t n = 1; n <= 5; n++) {
        double e = upper_of(discrete, n, 1e-5);
        assert_true(e > before && isfinite(e));
        before = e;
    }
    /* logistic noise by L2 alone has no scalar pair; equal noise of different shifts has no exact
     * composition */
    struct sotto_event logistic[] = {{.mechanism = "logistic", .count = 4, .scale = 5, .l1 = NAN, .l2 = 1},
                                     {.mechanism = "logistic", .count = 4, .scale = 5, .l1 = 2, .l2 = 1},
                                     {.mechanism = "logistic", .count = 1, .scale = 5, .l1 = 3, .l2 = 1}};
    assert_true(isfinite(upper_of(logistic, 1, 1e-5)) && isfinite(upper_of(logistic, 3, 1e-5)));
    assert_true(upper_of(logistic + 1, 2, 1e-5) < upper_of(logistic, 3, 1e-5));
    struct sotto_event many = {.mechanism = "stated", .count = (size_t)1 << 30, .stated = {1e-6, 0}};
    assert_true(upper_of(&many, 1, 1e-5) < 0.2);
    /* sampled logistic noise: Renyi only, and no guarantee at delta 0 */
    struct sotto_event sampled = {.mechanism = "logistic",
                                  .count = 100,
                                  .l1 = NAN,
                                  .l2 = NAN,
                                  .noise_multiplier = 0.635,
                                  .sample_rate = 0.01,
                                  .adjacency = SOTTO_ADD_REMOVE};
    assert_true(isfinite(upper_of(&sampled, 1, 1e-5)) && isinf(upper_of(&sampled, 1, 0)));
    struct sotto_account a;
    sampled.mechanism = "laplace";
    assert_int_equal(sotto_account_events(&a, &sampled, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_ENOTSUP);
    sampled.mechanism = "cauchy";
    assert_int_equal(sotto_account_events(&a, &sampled, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    sampled.mechanism = "gaussian", sampled.noise_multiplier = 1e-200;
    assert_int_equal(sotto_account_events(&a, &sampled, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    sampled.noise_multiplier = NAN;
    assert_int_equal(sotto_account_events(&a, &sampled, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
}

TEST(orders_at_the_ends)
{
    const struct mechanism *g = mechanism_find("gaussian"), *l = mechanism_find("logistic");
    /* no sampling: alpha / (2 sigma^2), and epsilon like the plain Gaussian's */
    assert_true(fabs(sampled_renyi(g, 2, 1, 3).hi - 3.0 / 8) < 1e-15);
    assert_true(fabs(sampled_renyi_near(g, 2, 1, 3) - 3.0 / 8) < 1e-15);
    assert_true(fabs(sampled_renyi_epsilon(g, 2, 1, 4, 1e-5) - zcdp_epsilon(0.5, 1e-5)) < 1e-6);
    /* large rates, the highest order, and orders so high that A leaves the doubles */
    assert_true(fabs(sampled_renyi_near(g, 1.3, 0.6, 2.7) - sampled_renyi(g, 1.3, 0.6, 2.7).hi) < 1e-9);
    assert_true(fabs(sampled_renyi_near(g, 1.3, 0.2, 2.7) - sampled_renyi(g, 1.3, 0.2, 2.7).hi) < 1e-9);
    assert_true(fabs(sampled_renyi_near(l, 1.3, 0.2, 2.7) - sampled_renyi(l, 1.3, 0.2, 2.7).hi) < 1e-9);
    for (double alpha = 1.5; alpha < 90; alpha *= 2.5)
        assert_true(fabs(sampled_renyi_near(g, 0.1, 0.2, alpha) / sampled_renyi(g, 0.1, 0.2, alpha).hi - 1) <
                    0.1);
    double calm = sampled_renyi_epsilon(g, 500, 1e-4, 1, 1e-5);
    assert_true(calm > 0 && calm < 0.02);
    double loud = sampled_renyi_epsilon(g, 1e-3, 0.5, 1000, 1e-5);
    assert_true(isfinite(loud) && loud > 1e6);
    double wild = sampled_renyi_epsilon(g, 1e-90, 0.5, 1e9, 1e-5);
    assert_true(wild > 1e100);
}

TEST(odd_laws)
{
    struct sotto_interval d;
    struct sotto_composed c;
    const double p[] = {0.5, 0.5}, low[] = {-0.1, 1.1}, high[] = {3, 0};
    assert_int_equal(finite_delta(&d, p, low, 2, 0), SOTTO_EINVAL);
    assert_int_equal(finite_delta(&d, low, p, 2, 0), SOTTO_EINVAL);
    assert_int_equal(finite_delta(&d, high, p, 2, 0), SOTTO_EINVAL);
    assert_int_equal(finite_delta(&d, p, high, 2, 0), SOTTO_EINVAL);
    assert_int_equal(finite_delta(&d, p, p, 2, 1e101), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_optimal(&c, (struct sotto_dp){1, 0}, 0, 1e-5, SOTTO_ADD_REMOVE),
                     SOTTO_EINVAL);
    const double above[] = {1.5};
    const struct sotto_dp one = {1, 0};
    assert_int_equal(sotto_compose_mixture(&c, &one, above, 1, SOTTO_ADD_REMOVE), SOTTO_EINVAL);
    /* without losses epsilon is 0 */
    assert_int_equal(sotto_compose_optimal(&c, (struct sotto_dp){0, 0}, 5, 1e-5, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(c.epsilon.upper < 1e-12);
}

TEST(lists_of_ledgers_join)
{
    struct ledger_events a = {0}, b = {0};
    struct sotto_account account;
    static const char *const entries[] = {
        "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":1,\"l2\":null}}",
        "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":1,\"l2\":1}}",
        "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":2,\"l2\":1}}",
        "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":2,\"l2\":1},\"dimension\":3}",
        "{\"mechanism\":\"laplace\",\"scale\":5,\"sensitivity\":{\"l1\":2,\"l2\":1},\"dimension\":1e300}",
        "{\"mechanism\":\"laplace\",\"scale\":5,\"sensitivity\":{\"l1\":2,\"l2\":1},\"adjacency\":\"add-"
        "remove\"}",
        "{\"mechanism\":\"gaussian\",\"noise_multiplier\":2,\"sample_rate\":0.1,\"steps\":3,\"adjacency\":"
        "\"add-remove\"}",
        "{\"mechanism\":\"gaussian\",\"noise_multiplier\":2,\"sample_rate\":0.2,\"steps\":3,\"adjacency\":"
        "\"add-remove\"}",
        "{\"mechanism\":\"gaussian\",\"noise_multiplier\":3,\"sample_rate\":0.2,\"steps\":3,\"adjacency\":"
        "\"add-remove\"}",
        "{\"mechanism\":\"discrete-laplace\",\"scale\":5,\"sensitivity\":{\"l1\":2},\"value_step\":1}",
        "{\"mechanism\":\"discrete-laplace\",\"scale\":5,\"sensitivity\":{\"l1\":2},\"value_step\":2}",
        "{\"pure_epsilon\":0.5}",
        "{\"pure_epsilon\":0.6}",
        "{\"epsilon\":{\"upper\":0.6},\"delta\":1e-9}",
        "{\"epsilon\":{\"upper\":0.6},\"delta\":2e-9}"};
    enum { N = sizeof entries / sizeof *entries };
    for (int twice = 0; twice < 2 * N; twice++) {
        const char *text = entries[twice / 2];
        struct ledger_line line;
        assert_int_equal(ledger_line_parse(&line, text, strlen(text), "entry"), SOTTO_OK);
        const struct ledger_charge charge = ledger_line_charge(&line);
        struct ledger_charged charged;
        struct part_memory known = {.made = 0};
        assert_int_equal(ledger_charge_event(&charged, &known, &charge), SOTTO_OK);
        assert_int_equal(ledger_events_add(&a, &charged), SOTTO_OK);
        ledger_line_free(&line);
    }
    assert_int_equal(a.count, N); /* equal ones in a row are one item */
    assert_true(a.items[0].count == 2 && a.items[6].count == 6);
    assert_int_equal(a.add_remove, 8);
    assert_int_equal(ledger_events_join(&b, &a), SOTTO_OK);
    assert_int_equal(b.count, N);
    assert_int_equal(ledger_events_account(&account, &b, 1e-5, NULL), SOTTO_OK);
    assert_true(isfinite(account.epsilon.upper));
    struct ledger_events none = {0}, full = {0};
    base_alloc_fail_after(0);
    assert_int_equal(ledger_events_join(&full, &a), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_int_equal(ledger_events_account(&account, &none, 1e-5, NULL), SOTTO_OK);
    assert_true(account.epsilon.upper == 0);
    a.unknown = true;
    assert_int_equal(ledger_events_join(&b, &a), SOTTO_OK);
    assert_int_equal(ledger_events_account(&account, &b, 1e-5, NULL), SOTTO_OK);
    assert_true(isinf(account.epsilon.upper));
    ledger_events_free(&a);
    ledger_events_free(&b);
    ledger_events_free(&full);
}

TEST(lists_of_many_events)
{
    enum { MANY = 100001 };
    struct event_list list;
    char *text = malloc(2 * MANY + 16);
    assert_non_null(text);
    text[0] = '[';
    for (int i = 0; i < MANY; i++) {
        text[1 + 2 * i] = '1';
        text[2 + 2 * i] = i + 1 < MANY ? ',' : ']';
    }
    assert_int_equal(events_parse(&list, text, 1 + 2 * MANY, "input.json"), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "100001 events; expected 1 to 100000"));
    free(text);
    static const char rate[] = "[[1,0,5]]", steps[] = "[{\"mechanism\":\"gaussian\",\"noise_multiplier\":1,"
                                                      "\"sample_rate\":0.1,\"count\":5}]";
    assert_int_equal(events_parse_opacus(&list, rate, strlen(rate), "input.json"), SOTTO_EINVAL);
    assert_int_equal(events_parse(&list, steps, strlen(steps), "input.json"), SOTTO_OK);
    assert_int_equal(list.events[0].count, 5);
    events_free(&list);
}
