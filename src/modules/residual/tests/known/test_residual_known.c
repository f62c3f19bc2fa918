/* Residual perturbation's theorems: tabulated values, the accountant behind the proved one, a counterexample
 * to the step that needs Gaussian mappings, and the complexity factor by simulation. */
#include "support/test.h"

#include "base/status.h"
#include "rng/rng.h"
#include "sotto/lab/residual.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static double relative(double a, double b)
{
    return fabs(a - b) / fabs(b);
}

/* pi / R at delta 1e-5 for E = 1, 100, 164 (derived by hand from eps = c + 2 sqrt(c L); rounded as printed
 * there). */
TEST(theorem1_needs_the_tabulated_noise)
{
    static const struct {
        double epsilon, ratio[3], printed;
    } rows[] = {{1, {9.80, 98.0, 125.5}, 5e-3},
                {3, {3.40, 34.0, 43.5}, 5e-3},
                {8, {1.38, 13.8, 17.7}, 5e-3},
                {100, {.20, 1.97, 2.53}, 2e-2}};
    static const double uses[] = {1, 100, 164};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < 3; j++) {
            struct sotto_residual_theorem1 t = {.radius = 30,
                                                .mapping_bound = 15,
                                                .uses = uses[j],
                                                .delta = 1e-5,
                                                .lambda = NAN,
                                                .epsilon = rows[i].epsilon};
            assert_int_equal(sotto_residual_theorem1_noise(&t), SOTTO_OK);
            assert_true(relative(t.input_noise / 30, rows[i].ratio[j]) < rows[i].printed);
            assert_true(relative(t.gamma / 15, t.input_noise / 30) < 1e-12);
            struct sotto_residual_theorem1 back = t;
            back.epsilon = NAN;
            assert_int_equal(sotto_residual_theorem1_epsilon(&back), SOTTO_OK);
            assert_true(back.epsilon <= rows[i].epsilon && relative(back.epsilon, rows[i].epsilon) < 1e-10);
            assert_true(relative(back.lambda, t.lambda) < 1e-6 && relative(back.alpha, t.alpha) < 1e-6);
            /* No other lambda needs less. */
            for (double other = 0.05; other < 1; other += 0.05) {
                struct sotto_residual_theorem1 u = t;
                u.lambda = other;
                assert_int_equal(sotto_residual_theorem1_noise(&u), SOTTO_OK);
                assert_true(u.input_noise >= t.input_noise * (1 - 1e-12));
            }
        }
}

TEST(theorem1_is_vacuous_at_the_published_constants)
{
    struct sotto_residual_theorem1 t = {.radius = 30,
                                        .mapping_bound = 30,
                                        .uses = 100,
                                        .delta = 1e-5,
                                        .lambda = NAN,
                                        .input_noise = .25,
                                        .gamma = .5};
    assert_int_equal(sotto_residual_theorem1_epsilon(&t), SOTTO_OK);
    assert_true(relative(t.epsilon, 2.9e6) < 2e-2);
    t.uses = 164, t.input_noise = 1, t.gamma = 2;
    assert_int_equal(sotto_residual_theorem1_epsilon(&t), SOTTO_OK);
    assert_true(relative(t.epsilon, 3.0e5) < 2e-2);
    assert_true(relative(sotto_residual_theorem1_mapping(&t, 1), t.epsilon) < 1e-12);
    assert_true(sotto_residual_theorem1_mapping(&t, 3) < sotto_residual_theorem1_mapping(&t, 2));
}

/* The proved account is the exact curve of one Gaussian of sqrt(uses copies) times the distance; Renyi's
 * closed form is above it. */
TEST(inputs_are_accounted_exactly)
{
    struct sotto_residual_input in = {.radius = 2, .noise = 40, .uses = 25, .copies = 4, .delta = 1e-5};
    struct sotto_residual_account a, labels, one;
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 4 * 10};
    struct sotto_interval exact;
    assert_int_equal(sotto_residual_input(&a, &in), SOTTO_OK);
    assert_int_equal(sotto_epsilon(&exact, "gaussian", 40, &s, 1e-5), SOTTO_OK);
    assert_true(a.epsilon.lower <= exact.upper && exact.lower <= a.epsilon.upper);
    assert_true(a.epsilon.upper - a.epsilon.lower < 1e-6);
    double c = 2 * (2. / 40) * (2. / 40) * 100;
    assert_true(relative(a.renyi_epsilon, c + 2 * sqrt(c * log(1e5))) < 1e-12);
    assert_true(a.renyi_epsilon > a.epsilon.upper);
    in.label_epsilon = 2;
    assert_int_equal(sotto_residual_input(&labels, &in), SOTTO_OK);
    assert_true(labels.epsilon.upper >= a.epsilon.upper + 2 &&
                labels.epsilon.upper < a.epsilon.upper + 2 + 1e-9);
    assert_true(labels.epsilon.lower == a.epsilon.lower);
    double noise;
    assert_int_equal(sotto_residual_input_noise(&noise, 5, &in), SOTTO_OK);
    in.noise = noise;
    assert_int_equal(sotto_residual_input(&one, &in), SOTTO_OK);
    assert_true(one.epsilon.upper <= 5 && one.epsilon.upper > 5 - 1e-3);
}

/* Renyi divergence of order 2 between two densities on a grid. */
static double renyi2(double (*p)(double, const double *), const double *a, const double *b)
{
    double sum = 0, step = 1e-3;
    for (double x = -60; x < 60; x += step)
        sum += p(x, a) * p(x, a) / p(x, b) * step;
    return log(sum);
}
/* A coin at +-g (probability of +g: v[0]) plus Gaussian noise of deviation v[1]; g = 1. */
static double noisy_coin(double x, const double *v)
{
    double up = (x - 1) / v[1], down = (x + 1) / v[1];
    return (v[0] * exp(-up * up / 2) + (1 - v[0]) * exp(-down * down / 2) + 1e-300) / (v[1] * sqrt(2 * M_PI));
}
static double bell(double x, const double *v)
{
    double z = (x - v[0]) / v[1];
    return exp(-z * z / 2) / (v[1] * sqrt(2 * M_PI)) + 1e-300;
}

/* The step "divergence eps before a mapping, gamma at the threshold for eps, so at most eps / 2 after it"
 * holds for Gaussians of one covariance (the control) and fails for two coins. */
TEST(the_mapping_step_needs_gaussians)
{
    double p = .01,
           before = log((1 - p) * (1 - p) / p + p * p / (1 - p)); /* coins .99 against .01, order 2 */
    double gamma = sqrt(2 * 2 / before); /* G = 1, alpha = 2: gamma^2 = 2 alpha G^2 / eps */
    double first[] = {1 - p, gamma}, second[] = {p, gamma};
    double after = renyi2(noisy_coin, first, second);
    assert_true(relative(before, 4.59) < 2e-3);
    assert_true(relative(after, 2.99) < 5e-3 && after > before / 2);
    /* Gaussians at the same divergence and distance 2: s^2 = alpha d^2 / (2 eps). */
    double s2 = 2 * 4 / (2 * before), wide = sqrt(s2 + gamma * gamma);
    double left[] = {-1, wide}, right[] = {1, wide};
    assert_true(renyi2(bell, left, right) <= before / 2 * (1 + 1e-6));
}

TEST(answers_compose_over_layers_and_queries)
{
    struct sotto_residual_answers in = {.branch_bound = 1,
                                        .floor = .5,
                                        .weight_bound = 2,
                                        .mappings = 3,
                                        .queries = 1,
                                        .delta = 1e-5,
                                        .gamma = 40,
                                        .output = 40};
    double one, published, hundred, none;
    assert_int_equal(sotto_residual_answers(&one, &published, &in), SOTTO_OK);
    double rho = 3 * 2 * (1 / 20.) * (1 / 20.) + 2 * (2 / 40.) * (2 / 40.);
    assert_true(relative(one, rho + 2 * sqrt(rho * log(1e5))) < 1e-12);
    assert_true(published < one); /* a layer fewer */
    in.queries = 100;
    assert_int_equal(sotto_residual_answers(&hundred, NULL, &in), SOTTO_OK);
    assert_true(hundred > 10 * one);
    assert_int_equal(sotto_residual_answers_noise(&in, 2), SOTTO_OK);
    assert_int_equal(sotto_residual_answers(&hundred, NULL, &in), SOTTO_OK);
    assert_true(hundred <= 2 && hundred > 2 - 1e-6);
    in.floor = 0;
    assert_int_equal(sotto_residual_answers(&none, NULL, &in), SOTTO_OK);
    assert_true(isinf(none));
    assert_int_equal(sotto_residual_answers_noise(&in, 2), SOTTO_EINVAL);
}

/* Euler-Maruyama of dx = u x dt + gamma x dB, read out as x^p. */
static double simulated(double p, double gamma, double u, int paths)
{
    enum { STEPS = 100 };
    double sum = 0, dt = 1. / STEPS;
    for (int i = 0; i < paths; i++) {
        struct rng r = rng_stream(7, RNG_TEST, 0, (uint64_t)i);
        double x = 1;
        for (int k = 0; k < STEPS; k++)
            x += u * x * dt + gamma * x * sqrt(dt) * rng_normal(&r);
        sum += x < 0 ? -pow(-x, p) : pow(x, p);
    }
    return sum / paths / exp(p * u);
}

TEST(the_complexity_factor_is_simulated)
{
    double third = 1. / 3;
    assert_true(fabs(sotto_residual_complexity_factor(third, .8, 1) - .9314) < 1e-4);
    assert_true(fabs(sotto_residual_complexity_factor(third, 1, 1) - .895) < 5e-4);
    assert_true(fabs(sotto_residual_complexity_factor(third, 2, 1) - .641) < 5e-4);
    assert_true(sotto_residual_complexity_factor(1, 2, 1) == 1);
    assert_true(fabs(simulated(third, .8, .3, 20000) - .9314) < .01);
    assert_true(fabs(simulated(1, .8, .3, 20000) - 1) < .04);
    assert_true(fabs(simulated(1, .8, .3, 20000) - .9314) > .02); /* p = 1 is not p = 1/3 */
}

/* One record of one number: sup |w e^(uT) x|, p = 1, is bound e^(bound T) |x|. Two opposite records cannot
 * both be fitted: the mean over signs is half of that. */
TEST(complexity_of_tiny_classes)
{
    double mean, x[] = {.5, -.5};
    struct sotto_interval interval;
    assert_int_equal(sotto_residual_complexity(&mean, &interval, x, 1, 1, 1, 2, 1, 20, 1, NULL), SOTTO_OK);
    double most = 2 * exp(2) * .5;
    assert_true(mean <= most * (1 + 1e-12) && mean > .9 * most);
    assert_int_equal(sotto_residual_complexity(&mean, &interval, x, 2, 1, 1, 2, 1, 400, 1, NULL), SOTTO_OK);
    assert_true(interval.lower <= most / 2 * 1.02 && interval.upper >= .9 * most / 2);
    assert_true(mean < .7 * most);
    /* More records, less complexity. */
    double many[40 * 4], few;
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    for (size_t i = 0; i < 160; i++)
        many[i] = rng_normal(&r);
    assert_int_equal(sotto_residual_complexity(&few, &interval, many, 4, 4, 1. / 3, 1, 1, 20, 1, NULL),
                     SOTTO_OK);
    assert_int_equal(sotto_residual_complexity(&mean, &interval, many, 40, 4, 1. / 3, 1, 1, 20, 1, NULL),
                     SOTTO_OK);
    assert_true(mean < .6 * few);
}

TEST(bad_values_are_named)
{
    struct sotto_residual_account a;
    struct sotto_residual_input good = {.radius = 1, .noise = 1, .uses = 1, .copies = 1, .delta = 1e-5},
                                in = good;
    double x;
#define REFUSED(member, value, word)                                                                         \
    do {                                                                                                     \
        in = good;                                                                                           \
        in.member = (value);                                                                                 \
        assert_int_equal(sotto_residual_input(&a, &in), SOTTO_EINVAL);                                       \
        assert_non_null(strstr(sotto_error_text(), word));                                                   \
    } while (0)
    REFUSED(radius, 0, "radius");
    REFUSED(radius, NAN, "radius");
    REFUSED(noise, -1, "input noise");
    REFUSED(uses, 0, "uses");
    REFUSED(copies, 0, "copies");
    REFUSED(label_epsilon, -1, "label_epsilon");
    REFUSED(delta, 0, "delta");
    REFUSED(delta, 1, "delta");
#undef REFUSED
    in = good;
    in.uses = in.copies = SIZE_MAX / 2;
    assert_int_equal(sotto_residual_input(&a, &in), SOTTO_EINVAL);
    in = good;
    in.label_epsilon = 3;
    assert_int_equal(sotto_residual_input_noise(&x, 3, &in), SOTTO_EINVAL);
    struct sotto_residual_theorem1 t = {
        .radius = 1, .mapping_bound = 1, .uses = 1, .delta = 1e-5, .lambda = 1, .epsilon = 1};
    assert_int_equal(sotto_residual_theorem1_noise(&t), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "lambda"));
    struct sotto_residual_answers q = {.branch_bound = 1,
                                       .floor = -1,
                                       .weight_bound = 1,
                                       .mappings = 1,
                                       .queries = 1,
                                       .delta = 1e-5,
                                       .gamma = 1,
                                       .output = 1};
    assert_int_equal(sotto_residual_answers(&x, NULL, &q), SOTTO_EINVAL);
    q.floor = 1;
    assert_int_equal(sotto_residual_answers(&x, NULL, &q), SOTTO_OK);
    t.lambda = 0.5;
    assert_int_equal(sotto_residual_theorem1_noise(&t), SOTTO_OK);
    struct sotto_interval i;
    assert_int_equal(sotto_residual_complexity(&x, &i, &x, 1, 65, 1, 1, 1, 2, 1, NULL), SOTTO_EINVAL);
    double bad = NAN;
    assert_int_equal(sotto_residual_complexity(&x, &i, &bad, 1, 1, 1, 1, 1, 2, 1, NULL), SOTTO_EINVAL);
}

TEST(an_estimate_stops)
{
    volatile sig_atomic_t stop = 1;
    const struct sotto_context context = {.threads = 1, .stop = &stop};
    const double records[4] = {1, 2, 3, 4};
    struct sotto_interval i;
    double x;
    assert_int_equal(sotto_residual_complexity(&x, &i, records, 2, 2, .5, 1, 1, 20, 1, &context),
                     SOTTO_ESTOPPED);
    stop = 0;
    assert_int_equal(sotto_residual_complexity(&x, &i, records, 2, 2, .5, 1, 1, 20, 1, &context), SOTTO_OK);
}
