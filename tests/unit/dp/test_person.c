/* The account of a person with several rows: known answers, the mixture that sampling makes of a person's rows, and ledgers of
 * one unit. */
#include "support/test.h"
#include "support/temporary_folder.h"
#include "dp/account/person.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TEST(pure_epsilon_is_m_times_that_of_a_record)
{
    struct sotto_account one, person;
    struct sotto_sensitivity s = {.l1 = 0.5, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED};
    assert_int_equal(sotto_account_release(&one, "laplace", 2, &s, 0, 1, NULL), SOTTO_OK);
    unit_widen(&s, 7);
    assert_float_equal(s.l1, 3.5, 1e-14);
    assert_true(isnan(s.l2));
    assert_int_equal(sotto_account_release(&person, "laplace", 2, &s, 0, 1, NULL), SOTTO_OK);
    assert_float_equal(person.epsilon.upper, 7 * one.epsilon.upper, 1e-9);
}

static struct sotto_sampled steps_of(double multiplier, double rate, size_t rows)
{
    return (struct sotto_sampled){.mechanism = "gaussian",
                                  .noise_multiplier = multiplier,
                                  .sample_rate = rate,
                                  .steps = 1,
                                  .delta = 1e-5,
                                  .adjacency = SOTTO_ADD_REMOVE,
                                  .rows_per_person = rows};
}

TEST(gaussian_noise_sees_m_times_the_norm)
{
    struct sotto_sampled s = steps_of(6, 1, 6);
    struct sotto_account a;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    assert_float_equal(a.epsilon.upper, 4.3771780956812, 1e-6); /* sigma 1, delta 1e-5: mechanisms.md */
    assert_float_equal(a.scale, 6, 0);                          /* the noise stays what it is */
}

TEST(some_row_is_sampled)
{
    struct sotto_sampled one = steps_of(2, 0.01, 3), steps = unit_steps(&one), alone = steps_of(2, 0.01, 1);
    assert_float_equal(steps.sample_rate, 0.029701, 1e-15);
    assert_true(steps.sample_rate >= 0.029701 && steps.noise_multiplier <= 2. / 3);
    assert_float_equal(steps.noise_multiplier, 2. / 3, 1e-15);
    alone = unit_steps(&alone);
    assert_float_equal(alone.sample_rate, 0.01, 0);
    assert_float_equal(alone.noise_multiplier, 2, 0);
}

/* ---- the pair itself: k of the m rows are in the sample, and move the sum by k ---- */

static double density(double x, double sigma, double q, int m, double direction)
{
    double sum = 0, weight = pow(1 - q, m);
    for (int k = 0; k <= m; k++) {
        sum += weight * exp(-(x - direction * k) * (x - direction * k) / (2 * sigma * sigma));
        weight *= q / (1 - q) * (m - k) / (k + 1);
    }
    return sum / (sigma * sqrt(2 * acos(-1)));
}

/* The larger hockey stick of both directions; `before` and `after`: which way the rows point, 0: they are not there. */
static double mixture_delta(double epsilon, double sigma, double q, int m, double before, double after)
{
    const double step = 1e-3, end = 12 * sigma + m;
    double there = 0, back = 0;
    for (double x = -end; x < end; x += step) {
        double p = density(x, sigma, q, m, before), r = density(x, sigma, q, m, after);
        there += fmax(0, p - exp(epsilon) * r) * step;
        back += fmax(0, r - exp(epsilon) * p) * step;
    }
    return fmax(there, back);
}

TEST(sampled_rows_are_covered_and_a_record_is_not_enough)
{
    static const struct {
        double sigma, q;
        int m;
    } cases[] = {{1, 0.1, 2}, {2, 0.02, 3}, {1.5, 0.5, 2}, {4, 0.9, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int replaced = 0; replaced <= 1; replaced++) {
            const double sigma = cases[i].sigma, q = cases[i].q, after = replaced ? -1 : 0;
            struct sotto_sampled s = steps_of(sigma, q, (size_t)cases[i].m);
            struct sotto_account person, record;
            s.adjacency = replaced ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE;
            assert_int_equal(sotto_account_sampled(&person, &s, NULL), SOTTO_OK);
            s.rows_per_person = 0;
            assert_int_equal(sotto_account_sampled(&record, &s, NULL), SOTTO_OK);
            const double reached = mixture_delta(person.epsilon.upper, sigma, q, cases[i].m, 1, after);
            assert_float_equal(reached / s.delta, 1, 2e-4); /* the quadrature's error */
            assert_true(mixture_delta(record.epsilon.upper, sigma, q, cases[i].m, 1, after) > 1.5 * s.delta);
            assert_true(person.epsilon.upper > record.epsilon.upper);
            assert_float_equal(person.epsilon.lower, person.epsilon.upper, 1e-6);
        }
}

TEST(noise_is_found_for_a_person)
{
    struct sotto_sampled s = steps_of(0, 0.05, 4);
    struct sotto_account a;
    s.steps = 50;
    s.adjacency = SOTTO_REPLACE_ONE;
    assert_int_equal(sotto_calibrate_sampled(&s.noise_multiplier, &s, 1.5, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper <= 1.5 && a.epsilon.upper > 1.49);
}

TEST(what_has_no_account_of_persons_is_refused)
{
    struct sotto_sampled s = steps_of(1, 0.1, 2);
    struct sotto_account a;
    s.sampling = SOTTO_SAMPLING_FIXED;
    s.adjacency = SOTTO_REPLACE_ONE;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_EINVAL);
    s = steps_of(1, 0.1, 2);
    assert_int_equal(sotto_account_sampled_certified(&a, &s, NULL), SOTTO_ENOTSUP);
    s.rows_per_person = (size_t)1 << 40;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_EINVAL);
}

/* ---- charges ---- */

static struct sotto_provenance of_persons(const char *column, size_t rows)
{
    struct sotto_provenance p = {.dataset_id = "people", .rows_per_person = rows};
    snprintf(p.person, sizeof p.person, "%s", column);
    return p;
}

static sotto_status release(struct sotto_certificate **c, const char *mechanism, const char *ledger,
                            const struct sotto_provenance *p, size_t stated)
{
    float vector[2] = {1, 2};
    struct sotto_release r = {.mechanism = mechanism,
                              .target = {.epsilon = 1},
                              .sensitivity = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                              .spend = {.provenance = p, .ledger = ledger, .rows_per_person = stated}};
    return sotto_dp_release(c, vector, 2, &r, NULL);
}

TEST(a_release_is_of_the_person, .before = make_folder, .after = remove_folder)
{
    struct sotto_provenance p = of_persons("patient", 4);
    struct sotto_certificate *c;
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &p, 0), SOTTO_OK);
    assert_string_equal(sotto_certificate_unit(c), "one person (column patient, at most 4 rows each)");
    assert_non_null(strstr(sotto_certificate_statement(c), "unit of privacy: one person (column patient"));
    assert_float_equal(sotto_certificate_sensitivity(c)->l1, 4, 1e-12);
    assert_true(sotto_certificate_account(c)->scale >= 4);
    assert_true(sotto_certificate_is_proved(c));
    sotto_certificate_free(c);
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &p, 3), SOTTO_EINVAL); /* another cap */
}

TEST(a_ledger_has_one_unit, .before = make_folder, .after = remove_folder)
{
    struct sotto_provenance p = of_persons("patient", 4), other = of_persons("household", 4),
                            record = of_persons("", 0), fewer = of_persons("patient", 1);
    struct sotto_certificate *c;
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &p, 0), SOTTO_OK);
    sotto_certificate_free(c);
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &record, 0), SOTTO_EBUDGET);
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &other, 0), SOTTO_EBUDGET);
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &fewer, 0), SOTTO_OK); /* persons too */
    sotto_certificate_free(c);
}

TEST(a_stated_cap_proves_nothing, .before = make_folder, .after = remove_folder)
{
    struct sotto_provenance p = of_persons("", 0);
    struct sotto_certificate *c;
    assert_int_equal(release(&c, "laplace", path_of("l.jsonl"), &p, 2), SOTTO_OK);
    assert_int_equal(sotto_certificate_is_proved(c), 0);
    assert_non_null(
        strstr(sotto_certificate_condition(c), "a person has at most 2 rows, as stated by the caller"));
    sotto_certificate_free(c);
}

TEST(single_records_are_not_persons, .before = make_folder, .after = remove_folder)
{
    struct sotto_provenance p = of_persons("patient", 4);
    struct sotto_certificate *c;
    int64_t labels[3] = {0, 1, 1}, label;
    double median, values[3] = {0.1, 0.5, 0.7};
    struct sotto_release r = {.mechanism = "randomised-response",
                              .target = {.epsilon = 1},
                              .sensitivity = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                              .spend = {.provenance = &p, .ledger = path_of("l.jsonl")}};
    assert_int_equal(sotto_dp_randomise(&c, labels, 3, 2, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "has an account of single records only"));
    r.mechanism = "smooth-median";
    assert_int_equal(sotto_dp_median(&median, &c, values, 3, 0, 1, &r, NULL), SOTTO_EINVAL);
    r.mechanism = "propose-test-release";
    r.target.delta = 1e-5;
    assert_int_equal(sotto_dp_most_frequent(&label, &c, labels, 3, 2, &r, NULL), SOTTO_EINVAL);
}
