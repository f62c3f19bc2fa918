/* src/core/dp/account/adaptive.c: boxes, columns, and the Gaussian that covers a run. Figures: docs/derivations/adaptive.md. */
#include "support/test.h"
#include "support/effort.h"
#include "dp/account/account_pld.h"
#include "dp/account/adaptive_part.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"
#include "rng/rng.h"

#include <math.h>

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.10g, expected %.10g to %g", got, want, tolerance);
}

TEST(a_box_of_one_kind_has_that_kind_s_curve)
{
    const double mus[] = {.01, .2367, 1, 5};
    for (size_t i = 0; i < 4; i++)
        for (double x = 0; x < 6; x += .37) {
            const struct adaptive gauss = {0, mus[i] * mus[i], 0}, coin = {0, mus[i] * mus[i], .25};
            double d = mechanism_find("gaussian")->delta(iv(mus[i]), x).hi;
            near(adaptive_delta(&gauss, x).hi, d, 1e-12 * d + 1e-300);
            near(adaptive_delta(&coin, x).hi, .25 + .75 * d, 1e-12);
        }
    for (double x = 0; x < 3; x += .21) {
        const struct adaptive pure = {1.3, 0, 0};
        near(adaptive_delta(&pure, x).hi, pure_pair_delta(iv(1.3), x).hi, 1e-14);
        near(adaptive_delta(&pure, -x).hi, 1 - exp(-x) + exp(-x) * pure_pair_delta(iv(1.3), x).hi, 1e-14);
    }
}

/* What plain doubles decide quickly is what the intervals say, near the curve too; a part in a billion above it is not reached. */
TEST(the_curve_is_reached_up_to_itself)
{
    struct rng r = rng_stream(43, RNG_ORDER, 0, 0);
    for (int i = 0; i < 20000; i++) {
        const double pure = i % 2 ? ldexp(rng_unit(&r), -(int)rng_below(&r, 12)) : 0;
        const double mu = i % 5 ? ldexp(8 * rng_unit(&r), -(int)rng_below(&r, 20)) : 0;
        const double failure = i % 3 ? ldexp(rng_unit(&r), -(int)rng_below(&r, 50)) : 0;
        const struct adaptive box = {pure, mu * mu, failure};
        const double x = (pure + 9 * mu) * rng_unit(&r);
        const double hi = adaptive_delta(&box, x).hi, lo = adaptive_delta(&box, x).lo;
        assert_true(adaptive_reaches(&box, x, lo) && adaptive_reaches(&box, x, hi));
        assert_true(adaptive_reaches(&box, x, lo * (1 - ldexp(1, -(int)rng_below(&r, 40)))));
        assert_false(adaptive_reaches(&box, x, nextafter(hi, 2)) ||
                     adaptive_reaches(&box, x, hi * (1 + 1e-9) + 1e-300));
    }
}

/* And from the other side: a part in a billion below it the curve does not stay. */
TEST(the_curve_stays_below_no_less_than_itself)
{
    struct rng r = rng_stream(43, RNG_ORDER, 2, 0);
    size_t told = 0;
    for (int i = 0; i < 20000; i++) {
        const double mu = ldexp(8 * rng_unit(&r), -(int)rng_below(&r, 20)) + 1e-12;
        const struct adaptive box = {i % 7 ? 0 : ldexp(rng_unit(&r), -(int)rng_below(&r, 12)), mu * mu,
                                     i % 3 ? 0 : ldexp(rng_unit(&r), -(int)rng_below(&r, 50))};
        const double x = 12 * mu * rng_unit(&r);
        const double hi = adaptive_delta(&box, x).hi, lo = adaptive_delta(&box, x).lo;
        assert_true(adaptive_stays(&box, x, hi) && adaptive_stays(&box, x, hi * (1 + 1e-6)));
        assert_false(adaptive_stays(&box, x, lo * (1 - 1e-9)));
        assert_true(lo >= 0);
        const double below = lo * (1 - ldexp(1, -(int)rng_below(&r, 30)));
        if (lo > 0)
            assert_false(adaptive_stays(&box, x, below));
        told += lo > 0;
    }
    assert_true(told > 19000);
}

TEST(the_gaussian_of_a_pure_release_from_below)
{
    for (double epsilon = 1e-12; epsilon < 20; epsilon *= 1.07) {
        const double exact = adaptive_square_of_pure(epsilon), below = adaptive_square_of_pure_below(epsilon);
        assert_true(below <= exact * (1 - 1e-12));
        assert_true(below >=
                    exact * (1 - 1e-10 - 1e-13 / epsilon)); /* that p is near 1/2 costs the other digits */
    }
    assert_true(adaptive_square_of_pure_below(0) == 0);
}

/* What is known of parts is what is made anew, whatever was asked for between, and of another number too. */
TEST(a_part_that_is_known_is_the_part)
{
    struct rng r = rng_stream(43, RNG_ORDER, 3, 0);
    struct part_memory known = {.made = 0};
    for (int i = 0; i < 5000; i++) {
        const struct part *got;
        struct part want;
        struct sotto_event e = {.mechanism = rng_below(&r, 2) ? "laplace" : "gaussian",
                                .count = 1 + rng_below(&r, 3),
                                .scale = 1 + (double)rng_below(&r, 2),
                                .l1 = 1,
                                .l2 = NAN,
                                .dimension = 1 + rng_below(&r, 2),
                                .adjacency = SOTTO_REPLACE_ONE};
        if (rng_below(&r, 3) == 0)
            e = (struct sotto_event){.mechanism = "gaussian",
                                     .count = 1 + rng_below(&r, 3),
                                     .noise_multiplier = 1 + (double)rng_below(&r, 2),
                                     .sample_rate = .25,
                                     .adjacency = SOTTO_ADD_REMOVE};
        assert_int_equal(part_recall(&got, &known, &e, 0), SOTTO_OK);
        assert_int_equal(part_make(&want, &e, 0, SOTTO_REPLACE_ONE), SOTTO_OK);
        assert_true(got->kind == want.kind && got->m == want.m && got->count == want.count &&
                    got->scale == want.scale && got->sampled.steps == want.sampled.steps &&
                    got->sampled.noise_multiplier == want.sampled.noise_multiplier &&
                    got->doublings == want.doublings && got->rows == want.rows);
        assert_memory_equal(&got->shifts, &want.shifts, sizeof want.shifts);
        e.count = 0;
        assert_true(i % 50 || part_recall(&got, &known, &e, 0) == SOTTO_EINVAL);
    }
    assert_true(known.made > 1000 && known.made < 4500); /* of 10 kinds, of which 4 are known */
}

/* Formula (1) is attained: the three releases side by side, their hockey stick summed over all outcomes. */
static double three_releases(const struct adaptive *b, double x)
{
    double total = b->failure, mu = sqrt(b->square), h = 1e-3;
    for (int yes = 0; yes < 2; yes++) {
        double p = (yes ? exp(b->pure) : 1) / (1 + exp(b->pure)),
               q = (yes ? 1 : exp(b->pure)) / (1 + exp(b->pure)), sum = 0;
        for (double z = -12; z < 14; z += h)
            sum += h * fmax(0, p * exp(-(z - mu) * (z - mu) / 2) - exp(x) * q * exp(-z * z / 2)) /
                   sqrt(2 * M_PI);
        total += (1 - b->failure) * sum;
    }
    return total;
}

TEST(a_box_is_attained_by_three_releases)
{
    const struct adaptive boxes[] = {{.6, .0559, 1e-9}, {.3, .25, .01}, {2, 1, .2}, {0, 1, 0}};
    for (size_t i = 0; i < 4; i++)
        for (double x = -2; x < 3; x += .5)
            near(adaptive_delta(&boxes[i], x).hi, three_releases(&boxes[i], x), 2e-7);
}

TEST(known_answers_of_boxes)
{
    const struct adaptive world_a = {0, .2367044 * .2367044, 0},
                          world_b = {.001 / .0015607, .0947 * .0947, 0};
    near(adaptive_epsilon(&world_a, 1e-6), 1, 1e-6);
    near(adaptive_epsilon(&world_b, 1e-6), 1.0058, 5e-5);
    const struct adaptive beside = {.6, .2365 * .2365, 1e-9}, twenty = {1, .2365 * .2365, 1e-9};
    near(adaptive_epsilon(&beside, 1e-6), 1.577, 1e-3);
    near(adaptive_epsilon(&twenty, 1e-6), 1.9826, 1e-4); /* 1.999 by D + G(mu, x - E) alone */
    struct adaptive as_mu = {0, .2365 * .2365, 1e-9};
    for (int i = 0; i < 20; i++)
        as_mu = adaptive_add(as_mu, (struct adaptive){0, adaptive_square_of_pure(.05), 0});
    near(adaptive_epsilon(&as_mu, 1e-6), 1.606, 1e-3);
}

TEST(columns_of_a_budget)
{
    near(sqrt(adaptive_column(1, 1e-6, 0, 0)), .2367044, 5e-8);
    near(sqrt(adaptive_column(1, 1e-6, 0, 1e-7)), .2355, 5e-5);
    near(adaptive_column(1, 1e-6, 0, 1e-7), .0555, 5e-5);
    near(adaptive_column(1, 1e-6, .3, 1e-7), .0302, 5e-5);
    near(adaptive_column(1, 1e-6, .6, 3e-7), .0102, 5e-5);
    near(sqrt(adaptive_column(1, 5e-7, 0, 0)) / .2367044, 1 - .032, 5e-4);
    near(sqrt(adaptive_column(1, 2.5e-7, 0, 0)) / .2367044, 1 - .062, 5e-4);
    near(sqrt(adaptive_column(1, 1.25e-7, 0, 0)) / .2367044, 1 - .089, 5e-4);
    assert_true(adaptive_column(1, 0, 1, 0) == 0);     /* pure alone costs no delta */
    assert_true(adaptive_column(1, 1e-6, 1.1, 0) < 0); /* the controls: too much of either */
    assert_true(adaptive_column(1, 1e-6, 0, 1.1e-6) < 0);
    const double m = adaptive_column(1, 1e-6, .3, 1e-7);
    const struct adaptive most = {.3, m, 1e-7}, more = {.3, m * (1 + 1e-9), 1e-7};
    assert_true(adaptive_delta(&most, 1).hi <= 1e-6 && adaptive_delta(&more, 1).hi > 1e-6);
}

TEST(sums_are_rounded_up)
{
    const struct adaptive a = {.1, .2, .3}, sum = adaptive_add(a, a);
    assert_true(sum.pure >= .2 && sum.square >= .4 && sum.failure >= .51 && sum.failure < .51 + 1e-15);
    const struct adaptive none = {0}, same = adaptive_add(a, none);
    assert_true(same.pure == .1 && same.square == .2 && same.failure == .3);
    assert_true(adaptive_fits(&a, &sum) && !adaptive_fits(&sum, &a));
}

TEST(true_positives_of_a_box)
{
    const struct adaptive box = {0, .25, .01};
    double a = .05 / .99, low = -9, high = 9; /* Phi^-1(1 - a) */
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        *(.5 * erfc(-z / sqrt(2)) < 1 - a ? &low : &high) = z;
    }
    near(adaptive_tpr(&box, .05), 1 - .99 * .5 * erfc(-(low - .5) / sqrt(2)), 1e-5);
    near(adaptive_tpr(&box, 0), .01, 1e-6); /* the coin tells without a single false positive */
    const struct adaptive pure = {1, 0, 0};
    near(adaptive_tpr(&pure, .1), .1 * exp(1), 1e-3);
}

/* ---- runs ---- */
enum { CELLS = 400 };

struct run {
    double rate, noise;
    size_t steps;
    double last, failure, mu; /* where the curve ends, and the answer */
};

static void curve_of(double *x, double *delta, size_t n, const struct run *r)
{
    struct composed_release steps = {"gaussian", iv(1 / r->noise), SOTTO_NORM_L2,          r->rate,
                                     true,       r->steps,         SOTTO_SAMPLING_POISSON, 0};
    assert_int_equal(account_pld_deltas(delta, x, n, &steps, 1, NULL), SOTTO_OK);
}

TEST(the_gaussian_that_covers_a_run)
{
    static const struct run runs[] = {{.0341, 6.98, 586, 1.5, 1e-9, .2365},
                                      {.0341, 2.551, 586, 4.5, 1e-9, .6472},
                                      {.00427, 1, 1172, 1.8, 1e-8, .3220}};
    for (size_t i = 0; i < 3; i++) {
        double x[CELLS + 1], delta[CELLS + 1];
        for (size_t k = 0; k <= CELLS; k++)
            x[k] = runs[i].last * (double)k / CELLS;
        curve_of(x, delta, CELLS + 1, &runs[i]);
        const struct adaptive_curve c = {x, delta, CELLS + 1};
        double m = adaptive_square_of_curve(&c, 0, runs[i].failure);
        near(sqrt(m), runs[i].mu, 5e-4);
        const struct adaptive least = {0, m, runs[i].failure}, less = {0, m * .99, runs[i].failure};
        assert_true(adaptive_covers(&least, &c) && !adaptive_covers(&less, &c)); /* the control */
        assert_true(adaptive_square_of_curve(&c, 0, 0) == INFINITY); /* no tail may be left over */
        const size_t points = CELLS * (size_t)by_effort(1, 2, 25);   /* between the grid's points */
        for (size_t k = 0; k < points; k += CELLS) {
            double between[CELLS], there[CELLS];
            for (size_t j = 0; j < CELLS; j++)
                between[j] = runs[i].last * ((double)j + ((double)k + .5) / (double)(points + 1)) / CELLS;
            curve_of(between, there, CELLS, &runs[i]);
            for (size_t j = 0; j < CELLS; j++)
                if (!(there[j] <= adaptive_delta(&least, between[j]).hi))
                    fail_msg("run %zu at %.6f: %g above %g", i, between[j], there[j],
                             adaptive_delta(&least, between[j]).hi);
        }
    }
}

TEST(what_is_no_curve_is_covered_by_nothing)
{
    const double x[] = {0, 1, 1}, later[] = {.5, 1}, delta[] = {.1, .1, .1};
    const struct adaptive box = {5, 1, .1};
    assert_true(adaptive_covers(&box, &(struct adaptive_curve){x, delta, 2})); /* the control */
    assert_false(adaptive_covers(&box, &(struct adaptive_curve){x, delta, 1}));
    assert_false(adaptive_covers(&box, &(struct adaptive_curve){x, delta, 3}));
    assert_false(adaptive_covers(&box, &(struct adaptive_curve){later, delta, 2}));
    assert_true(adaptive_square_of_curve(&(struct adaptive_curve){x, delta, 1}, 5, .1) == INFINITY);
}

TEST(the_ends_of_what_is_told_apart)
{
    assert_true(adaptive_square_of_pure(0) == 0);
    assert_true(adaptive_square_of_pure(1e4) == INFINITY);
    assert_true(adaptive_column(1e7, .5, 0, 0) == 0x1p20); /* at least: the rest stays unused */
    const struct adaptive most = {0, 0x1p20, 0};
    assert_true(adaptive_epsilon(&most, .5) == INFINITY); /* e^x leaves the doubles */
    assert_true(adaptive_epsilon_below(&most, .5) == 0);
}

/* ---- what events may be charged as ---- */
static size_t offers(struct adaptive *out, struct sotto_event e, double failure)
{
    struct part part;
    const struct adaptive left = {.failure = failure};
    size_t count;
    assert_int_equal(part_make(&part, &e, 0, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_int_equal(adaptive_offers(out, &count, &part, &left, NULL), SOTTO_OK);
    return count;
}

TEST(events_as_boxes)
{
    struct adaptive box[ADAPTIVE_OFFERS];
    struct sotto_event gauss = {.mechanism = "gaussian", .count = 4, .scale = 2, .l2 = 1};
    assert_int_equal(offers(box, gauss, 1e-7), 1);
    near(box[0].square, 1, 1e-15); /* and no less: */
    assert_true(box[0].square >= 1 && box[0].pure == 0 && box[0].failure == 0);
    struct sotto_event laplace = {.mechanism = "laplace", .count = 3, .scale = 5, .l1 = 1};
    assert_true(offers(box, laplace, 0) == 2);
    near(box[0].pure, .6, 1e-15);
    near(box[1].square, 3 * adaptive_square_of_pure(.2), 1e-12);
    assert_true(box[1].square < adaptive_square_of_pure(.6));
    struct sotto_event stated = {.mechanism = "stated", .count = 2, .stated = {.epsilon = .5, .delta = 1e-3}};
    assert_true(offers(box, stated, 0) == 2);
    assert_true(box[0].pure >= 1 && box[0].failure >= 1 - .999 * .999 && box[0].failure < 2e-3);
    struct sotto_event run = {.mechanism = "gaussian",
                              .count = 586,
                              .noise_multiplier = 6.98,
                              .sample_rate = .0341,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE};
    assert_true(offers(box, run, 0) == 0); /* the tail of a run is not covered without a failure */
    assert_true(offers(box, run, 6.4e-8) == 3);
    near(sqrt(box[2].square), .2365, 2e-4); /* of 1e-9 */
    for (int i = 0; i < 3; i++)
        near(box[i].failure, 6.4e-8 / pow(4, i + 1), 1e-20);
    /* laplace noise has a curve too: a Gaussian above it, less than that of its pure epsilon */
    struct sotto_event many = {.mechanism = "laplace", .count = 40, .scale = 20, .l1 = 1};
    assert_true(offers(box, many, 1e-6) == 5 && box[2].square < box[1].square);
}

/* A bound that is 1 at x = 0 has no Gaussian above it, but its hull has: that of zCDP, which is no curve of a Gaussian. */
static double from_zcdp(double rho, double x)
{
    double best = x == 0 ? sqrt(rho / 2) : 1; /* Pinsker */
    for (double a = 1.01; a < 400; a *= 1.01) /* Canonne, Kamath, Steinke 2020, proposition 12 */
        best = fmin(best, exp((a - 1) * (a * rho - x) + a * log1p(-1 / a)) / (a - 1));
    return best;
}

TEST(the_hull_of_a_bound)
{
    double x[CELLS + 1], delta[CELLS + 1], raw[CELLS + 1];
    const double rho = .028;
    for (size_t i = 0; i <= CELLS; i++) {
        x[i] = 1.3 * (double)i / CELLS;
        raw[i] = delta[i] = from_zcdp(rho, x[i]);
    }
    const struct adaptive_curve bare = {x, delta, CELLS + 1};
    const double before = adaptive_square_of_curve(&bare, 0, 1e-7);
    assert_int_equal(adaptive_hull(delta, x, CELLS + 1), SOTTO_OK);
    size_t lowered = 0, n = CELLS + 1;
    for (size_t i = 0; i < n; i++) {
        assert_true(delta[i] <= raw[i]);
        lowered += delta[i] < raw[i];
    }
    assert_true(lowered > 20);
    const struct adaptive_curve hull = {x, delta, n};
    const double m = adaptive_square_of_curve(&hull, 0, 1e-7);
    assert_true(m < before);
    near(sqrt(m), .3231,
         5e-4); /* and .3494 without Pinsker's inequality, by an independent computation as well */
    /* it is above the Gaussian that has this rho, at and between its points: */
    for (size_t i = 0; i + 1 < n; i++)
        for (int k = 0; k <= 4; k++) {
            const double part = k / 4., X = exp(x[i]) * (1 - part) + exp(x[i + 1]) * part;
            const struct adaptive gauss = {0, 2 * rho, 0};
            assert_true(delta[i] * (1 - part) + delta[i + 1] * part >= adaptive_delta(&gauss, log(X)).lo);
        }
    for (size_t i = 0; i + 2 < n; i++) /* and convex */
        assert_true((delta[i + 1] - delta[i]) * (exp(x[i + 2]) - exp(x[i + 1])) <=
                    (delta[i + 2] - delta[i + 1]) * (exp(x[i + 1]) - exp(x[i])) + 1e-15);
}
