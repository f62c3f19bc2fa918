/* Composition rules: known answers of the specification, dp.md 3(e), and exact small mechanisms. */
#include "support/test.h"

#include "dp/account/composition.h"
#include "support/composition_oracle.h"

#include <string.h>

static void close_to(double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected)))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

TEST(known_answers)
{
    /* delta 1e-5 in total: epsilon, k, optimal, simplified, advanced */
    static const double known[][5] = {{0.1, 100, 4.3067913725, 5.298110, 5.850235},
                                      {0.5, 10, 4.9988541204, NAN, NAN},
                                      {1, 10, 9.9997706345, NAN, NAN},
                                      {0.01, 10000, 4.3763845093, 5.298522, 5.803543}};
    for (int i = 0; i < 4; i++) {
        struct sotto_dp each = {known[i][0], 0};
        size_t k = (size_t)known[i][1];
        struct sotto_composed optimal, simple, advanced;
        assert_int_equal(sotto_compose_optimal(&optimal, each, k, 1e-5, SOTTO_REPLACE_ONE), SOTTO_OK);
        assert_int_equal(compose_simple(&simple, each, k, 1e-5, SOTTO_ADD_REMOVE), SOTTO_OK);
        assert_int_equal(sotto_compose_advanced(&advanced, each, k, 1e-5, SOTTO_ADD_REMOVE), SOTTO_OK);
        close_to(optimal.epsilon.upper, known[i][2], 2e-11);
        assert_true(optimal.epsilon.lower <= optimal.epsilon.upper &&
                    optimal.epsilon.upper - optimal.epsilon.lower < 1e-10 * optimal.epsilon.upper);
        if (!isnan(known[i][3])) {
            close_to(simple.epsilon.upper, known[i][3], 2e-7);
            close_to(advanced.epsilon.upper, known[i][4], 2e-7);
        }
        assert_int_equal(optimal.adjacency, SOTTO_REPLACE_ONE);
        assert_int_equal(simple.adjacency, SOTTO_ADD_REMOVE);
    }
}

TEST(groups_and_parts)
{
    struct sotto_composed c;
    const struct sotto_dp parts[] = {{0.5, 1e-6}, {1, 1e-7}, {0.25, 1e-5}};
    assert_int_equal(sotto_compose_basic(&c, parts, 3, SOTTO_REPLACE_ONE), SOTTO_OK);
    close_to(c.epsilon.upper, 1.75, 0);
    close_to(c.delta.upper, 1.11e-5, 1e-14);
    assert_int_equal(sotto_compose_group(&c, parts[1], 3, SOTTO_ADD_REMOVE), SOTTO_OK);
    close_to(c.epsilon.upper, 3, 0);
    close_to(c.delta.upper, 1e-7 * (1 + exp(1) + exp(2)), 1e-13);
    assert_int_equal(sotto_compose_group(&c, (struct sotto_dp){0, 1e-7}, 3, SOTTO_ADD_REMOVE), SOTTO_OK);
    close_to(c.delta.upper, 3e-7, 1e-15);
    assert_int_equal(compose_replace_one(&c, parts[0]), SOTTO_OK);
    assert_int_equal(c.adjacency, SOTTO_REPLACE_ONE);
    close_to(c.epsilon.upper, 1, 0);
    close_to(c.delta.upper, 1e-6 * (1 + exp(0.5)), 1e-13);

    assert_int_equal(sotto_compose_parallel(&c, parts, 3, SOTTO_ADD_REMOVE, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(c.epsilon.upper == 1 && c.delta.upper == 1e-5);
    assert_int_equal(sotto_compose_parallel(&c, parts, 3, SOTTO_BOTH_ADJACENCIES, SOTTO_REPLACE_ONE),
                     SOTTO_OK);
    assert_true(c.epsilon.upper == 1.5 && c.delta.upper >= 1.1e-5 && c.delta.upper < 1.1001e-5);
    assert_non_null(strstr(c.reason, "two largest"));
    assert_int_equal(sotto_compose_parallel(&c, parts, 3, SOTTO_ADD_REMOVE, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_true(c.epsilon.upper == 2);
    close_to(c.delta.upper, 1e-5 * (1 + exp(0.25)), 1e-13);
    assert_int_equal(sotto_compose_parallel(&c, parts, 1, SOTTO_BOTH_ADJACENCIES, SOTTO_REPLACE_ONE),
                     SOTTO_OK);
    assert_true(c.epsilon.upper == 0.5 && c.delta.upper == 1e-6);

    /* by row number: a record stays in its part */
    assert_int_equal(sotto_compose_parallel_rows(&c, parts, 3, SOTTO_REPLACE_ONE, SOTTO_REPLACE_ONE),
                     SOTTO_OK);
    assert_true(c.epsilon.upper == 1 && c.delta.upper == 1e-5);
    assert_int_equal(sotto_compose_parallel_rows(&c, parts, 3, SOTTO_ADD_REMOVE, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(c.epsilon.upper == 1 && c.delta.upper == 1e-5);
    assert_int_equal(sotto_compose_parallel_rows(&c, parts, 3, SOTTO_ADD_REMOVE, SOTTO_REPLACE_ONE),
                     SOTTO_OK);
    assert_true(c.epsilon.upper == 2);
    close_to(c.delta.upper, 1e-5 * (1 + exp(0.25)), 1e-13);
    assert_int_equal(sotto_compose_parallel_rows(&c, parts, 3, SOTTO_REPLACE_ONE, SOTTO_ADD_REMOVE),
                     SOTTO_ENOTSUP);

    const double p[] = {0.5, 0.25, 0.25};
    assert_int_equal(sotto_compose_mixture(&c, parts, p, 3, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(c.epsilon.upper == 1);
    close_to(c.delta.upper, 3.025e-6, 1e-2);
    assert_true(c.delta.upper >= 3.025e-6 && c.delta.lower <= 3.025e-6);
    assert_int_equal(sotto_compose_mixture(&c, parts, NULL, 3, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(c.delta.upper == 1e-5);
}

TEST(too_little_delta)
{
    /* ten times 1e-6 cannot fit into 1e-6 */
    struct sotto_composed c;
    const struct sotto_dp each = {0.5, 1e-6};
    assert_int_equal(sotto_compose_advanced(&c, each, 10, 1e-6, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(isinf(c.epsilon.upper));
    assert_int_equal(compose_simple(&c, each, 10, 1e-6, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(isinf(c.epsilon.upper));
    assert_int_equal(sotto_compose_optimal(&c, each, 10, 1e-6, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(isinf(c.epsilon.upper));
    /* exactly used up: pure again */
    assert_int_equal(sotto_compose_optimal(&c, (struct sotto_dp){0.5, 0}, 10, 0, SOTTO_ADD_REMOVE), SOTTO_OK);
    close_to(c.epsilon.upper, 5, 1e-14);
    assert_int_equal(compose_simple(&c, (struct sotto_dp){0.5, 0}, 10, 0, SOTTO_ADD_REMOVE), SOTTO_OK);
    assert_true(c.epsilon.upper == 5);
    assert_int_equal(sotto_compose_advanced(&c, (struct sotto_dp){0.5, 0}, 10, 0, SOTTO_ADD_REMOVE),
                     SOTTO_OK);
    assert_true(isinf(c.epsilon.upper));
}

TEST(bad_input)
{
    struct sotto_composed c = {.rule = "untouched"};
    struct sotto_interval i = {7, 7};
    const struct sotto_dp good = {1, 1e-5};
    const double p[] = {0.5, 0.5}, q[] = {0.5, NAN}, low[] = {0.5}, negative[] = {-1};
    const struct sotto_dp bad[] = {{-1, 0}, {NAN, 0}, {INFINITY, 0}, {1, -1}, {1, 1}, {1, NAN}, {1, 1e-310}};
    for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
        assert_int_equal(sotto_compose_basic(&c, &bad[j], 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
        assert_int_equal(sotto_compose_advanced(&c, bad[j], 2, 1e-5, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
        assert_int_equal(sotto_compose_optimal(&c, bad[j], 2, 1e-5, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
        assert_int_equal(compose_simple(&c, bad[j], 2, 1e-5, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
        assert_int_equal(sotto_compose_group(&c, bad[j], 2, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
        assert_int_equal(compose_replace_one(&c, bad[j]), SOTTO_EINVAL);
        assert_int_equal(sotto_compose_parallel(&c, &bad[j], 1, SOTTO_ADD_REMOVE, SOTTO_REPLACE_ONE),
                         SOTTO_EINVAL);
        assert_int_equal(sotto_compose_mixture(&c, &bad[j], NULL, 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    }
    assert_int_equal(sotto_compose_basic(&c, &good, 0, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_basic(&c, &good, 1, SOTTO_BOTH_ADJACENCIES), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_group(&c, good, 0, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_advanced(&c, good, 2, 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(compose_simple(&c, good, 2, 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_optimal(&c, good, 2, 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_optimal(&c, good, (size_t)1 << 30, 1e-5, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_mixture(&c, &good, low, 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "add up to 0.5"));
    assert_int_equal(sotto_compose_mixture(&c, &good, negative, 1, SOTTO_REPLACE_ONE), SOTTO_EINVAL);
    assert_int_equal(sotto_compose_parallel(&c, &good, 1, SOTTO_REPLACE_ONE, SOTTO_REPLACE_ONE),
                     SOTTO_ENOTSUP);
    assert_int_equal(finite_delta(&i, p, q, 2, 1), SOTTO_EINVAL);
    assert_int_equal(finite_epsilon(&i, p, q, 2, 0), SOTTO_EINVAL);
    assert_int_equal(finite_delta(&i, p, p, 2, -1), SOTTO_EINVAL);
    assert_int_equal(finite_epsilon(&i, p, p, 2, 1), SOTTO_EINVAL);
    assert_string_equal(c.rule, "untouched");
    assert_true(i.lower == 7);
}

TEST(randomised_response)
{
    /* by hand: keep with probability 3/4 is ln 3, delta(0) = 1/2, delta(ln 2) = 3/4 - 2/4 */
    const double p[] = {0.75, 0.25}, q[] = {0.25, 0.75}, one_sided[] = {1, 0};
    struct sotto_interval i;
    assert_int_equal(finite_epsilon(&i, p, q, 2, 0), SOTTO_OK);
    assert_true(i.lower <= log(3) && i.upper >= log(3) && i.upper - i.lower < 1e-14);
    assert_int_equal(finite_delta(&i, p, q, 2, 0), SOTTO_OK);
    assert_true(i.lower == 0.5 && i.upper == 0.5);
    assert_int_equal(finite_delta(&i, p, q, 2, log(2)), SOTTO_OK);
    assert_true(i.lower <= 0.25 && i.upper >= 0.25 && i.upper - i.lower < 1e-14);
    assert_int_equal(finite_epsilon(&i, p, q, 2, 0.25), SOTTO_OK);
    close_to(i.upper, log(2), 1e-14);
    assert_int_equal(finite_epsilon(&i, p, q, 2, 0.5), SOTTO_OK);
    assert_true(i.lower == 0 && i.upper == 0);
    assert_int_equal(finite_epsilon(&i, p, p, 2, 0), SOTTO_OK);
    assert_true(i.upper == 0);
    assert_int_equal(finite_epsilon(&i, one_sided, p, 2, 0.1), SOTTO_OK);
    assert_true(isinf(i.upper) && isinf(i.lower)); /* 1/4 of the mass has an infinite loss */
    assert_int_equal(finite_epsilon(&i, one_sided, p, 2, 0.25), SOTTO_OK);
    assert_true(i.upper < 1e-14); /* ln((1 - 1/4) / (3/4)) */
}
