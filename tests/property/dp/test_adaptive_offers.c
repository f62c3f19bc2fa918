/* src/core/dp/account/adaptive_part.c: offers from Renyi divergences, from noise on whole steps, and beside a pure part. */
#include "support/curve_cover.h"
#include "dp/account/adaptive_columns.h"
#include "dp/mechanism/mechanism.h"

#include <string.h>

static const struct adaptive failing = {.failure = 4e-8};

/* ---- only Renyi divergences are known ---- */

/* rho = .028 in many coordinates: zCDP says 1.08 at delta 1e-6, which is no Gaussian. */
TEST(discrete_gaussian_vectors)
{
    struct adaptive box[ADAPTIVE_OFFERS];
    const struct sotto_event vector = {.mechanism = "discrete-gaussian",
                                       .count = 1,
                                       .scale = 10 / sqrt(.056),
                                       .l1 = NAN,
                                       .l2 = 10,
                                       .dimension = 100};
    struct sotto_account a;
    assert_int_equal(sotto_account_events(&a, &vector, 1, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    near(a.zcdp_rho, .028, 1e-12);
    near(a.epsilon.upper, 1.08, .01);
    assert_int_equal(offers(box, &vector, failing), 3);
    near(sqrt(box[0].square), .3236, 1e-3); /* .327 without Pinsker's inequality */
    near(adaptive_epsilon(&box[0], 1e-6), 1.41, .01);
    assert_true(box[0].square > .056 && adaptive_epsilon(&box[0], 1e-6) <= 1.42);
    for (double x = 0; x < 1.5; x += .01) /* the Gaussian that is as near as one likes */
        assert_true(adaptive_delta(&box[0], x).hi >= adaptive_delta(&(struct adaptive){0, .056, 0}, x).lo);
}

TEST(without_the_hull_there_is_no_gaussian_and_nothing_of_it_is_left_uncovered)
{
    static struct renyi_orders orders;
    double x[CELLS + 1], delta[CELLS + 1];
    const struct sotto_event vector = {
        .mechanism = "logistic", .count = 1, .scale = 10, .l1 = NAN, .l2 = 1, .dimension = 1000};
    const struct part p = part_of(&vector);
    spread(x, part_renyi_orders(&orders, &p, 1e-9, NULL) * 1.001);
    renyi_deltas(delta, x, CELLS + 1, &orders);
    delta[0] = 1; /* as without Pinsker's inequality */
    struct adaptive_curve curve = {x, delta, CELLS + 1};
    assert_true(delta[CELLS] <= 1e-9 && adaptive_square_of_curve(&curve, 0, 1e-8) == INFINITY);
    assert_int_equal(adaptive_hull(delta, x, CELLS + 1), SOTTO_OK);
    check_curve(curve, 0, 1e-8);
    check_curve(curve, .05, 1e-8);
}

/* Logistic noise on sums that are clipped by L2: one coordinate reaches the curve that is known by L1. */
TEST(logistic_noise_clipped_by_l2)
{
    const struct sotto_event events[] = {
        {.mechanism = "logistic", .count = 1, .scale = 5, .l1 = NAN, .l2 = 1, .dimension = 1000},
        {.mechanism = "logistic", .count = 20, .scale = 10, .l1 = NAN, .l2 = 1, .dimension = 1000},
        {.mechanism = "logistic",
         .count = 500,
         .noise_multiplier = 2,
         .sample_rate = .02,
         .clipping = SOTTO_NORM_L2,
         .adjacency = SOTTO_ADD_REMOVE}};
    for (size_t i = 0; i < 3; i++) {
        const struct sotto_event *e = &events[i];
        struct adaptive box[ADAPTIVE_OFFERS];
        struct sotto_account today;
        const size_t count = offers(box, e, failing);
        assert_true(count >= 3);
        const struct adaptive *gauss = &box[count - 1];
        assert_int_equal(sotto_account_events(&today, e, 1, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
        const double epsilon = adaptive_epsilon(gauss, 1e-6);
        assert_true(epsilon >= today.epsilon.lower && epsilon < 1.5 * today.epsilon.upper);
        const bool sampled = e->sample_rate > 0;
        const struct composed_release one = {"logistic",
                                             iv(1 / (sampled ? e->noise_multiplier : e->scale)),
                                             SOTTO_NORM_L1,
                                             sampled ? e->sample_rate : 1,
                                             sampled,
                                             e->count,
                                             SOTTO_SAMPLING_POISSON,
                                             0};
        double x[CELLS + 1], reached[CELLS + 1], far = 0;
        spread(x, epsilon);
        assert_int_equal(account_pld_deltas(reached, x, CELLS + 1, &one, 1, NULL), SOTTO_OK);
        const struct adaptive less = {0, gauss->square / 3, gauss->failure};
        for (size_t k = 0; k <= CELLS; k++) {
            assert_true(reached[k] <= adaptive_delta(gauss, x[k]).hi * (1 + 1e-6));
            far = fmax(far, reached[k] / adaptive_delta(&less, x[k]).hi);
        }
        assert_true(far > 1.1); /* the control: the box is not far above */
    }
}

/* ---- noise on whole steps, in one coordinate ---- */

TEST(discrete_gaussian_noise_in_one_coordinate_has_its_own_curve)
{
    struct sotto_event e = {
        .mechanism = "discrete-gaussian", .count = 1, .scale = 3, .l1 = 1, .l2 = 1, .dimension = 1};
    for (size_t count = 1; count <= 3; count += 2) {
        struct adaptive box[ADAPTIVE_OFFERS];
        struct sotto_account today;
        e.count = count;
        assert_int_equal(offers(box, &e, failing), 3);
        assert_int_equal(sotto_account_events(&today, &e, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
        const double epsilon = adaptive_epsilon(&box[2], 1e-5);
        assert_true(epsilon >= today.epsilon.lower && epsilon < 1.02 * today.epsilon.upper);
        near(sqrt(box[2].square), sqrt((double)count) / 3, 5e-3);
        const struct part p = part_of(&e);
        for (double x = 0; count == 1 && x < 2; x += .01) {
            const double there = account_delta(p.m, &p.shifts, 1, x).lo;
            assert_true(there <= adaptive_delta(&box[2], x).hi);
        }
    }
}

/* ---- beside a pure part ---- */

static const struct sotto_event run = {.mechanism = "gaussian",
                                       .count = 586,
                                       .noise_multiplier = 6.98,
                                       .sample_rate = .0341,
                                       .adjacency = SOTTO_ADD_REMOVE};

TEST(a_smaller_gaussian_beside_a_pure_part)
{
    static const double pure[] = {0, 0, 0, .3, .15, .45}, mu[] = {.2365, .2365, .2365, .1781, .2102, .1470};
    struct adaptive box[ADAPTIVE_OFFERS];
    struct composed_release steps = {"gaussian", iv(1 / 6.98), SOTTO_NORM_L2,          .0341,
                                     true,       586,          SOTTO_SAMPLING_POISSON, 0};
    const struct adaptive left = {.6, 0, 1e-7};
    assert_int_equal(offers(box, &run, left), 6);
    double x[CELLS + 1], there[CELLS + 1];
    srand(5);
    const long rounds = by_effort(1, 4, 40);
    for (long k = 0; k < rounds; k++) {
        for (size_t i = 0; i <= CELLS; i++)
            x[i] = 1.2 * ((double)i + (double)rand() / RAND_MAX) / (CELLS + 1);
        assert_int_equal(account_pld_deltas(there, x, CELLS + 1, &steps, 1, NULL), SOTTO_OK);
        for (size_t j = 0; j < 6; j++) {
            const struct adaptive less = {box[j].pure, .95 * box[j].square, box[j].failure};
            size_t missed = 0;
            near(box[j].pure, pure[j], 1e-12);
            near(sqrt(box[j].square), mu[j], 3e-4);
            for (size_t i = 0; i <= CELLS; i++) {
                assert_true(there[i] <= adaptive_delta(&box[j], x[i]).hi);
                missed += !(there[i] <= adaptive_delta(&less, x[i]).hi);
            }
            assert_true(missed > 0); /* the control */
        }
    }
}

/* A column with a pure part holds the run, which its Gaussian part alone does not hold. */
TEST(a_column_with_a_pure_part_holds_a_run)
{
    const struct sotto_ledger_column request = {.8, 1e-7, 1};
    struct adaptive_columns columns, again;
    struct adaptive box[ADAPTIVE_OFFERS];
    unsigned char took[ADAPTIVE_COLUMNS];
    assert_int_equal(adaptive_columns_open(&columns, 1.3, 1e-6, &request, 1), SOTTO_OK);
    again = columns;
    const size_t gaussians = offers(box, &run, (struct adaptive){.failure = 1e-7});
    assert_false(adaptive_columns_charge(&again, box, gaussians, took));
    const size_t count = offers(box, &run, adaptive_column_left(&columns.column[1]));
    assert_true(count > gaussians && adaptive_columns_charge(&columns, box, count, took));
    assert_true(box[took[1]].pure > 0 && columns.column[0].dead);
}
