/* Quantile regression by the pinball loss: by class its answers are order statistics, with features they
 * follow a spread that a Gaussian of constant shape does not, and rates hold for records like the
 * population. */
#include "support/test.h"

#include "audit/score/score_attack.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { Z = 2000, N = 2000, D = 2 };
static const struct score_attack *attack;
static double losses[N], of_population[Z], scores[N];
static float features[N * D], z_features[Z * D];

static int find(void **state)
{
    (void)state;
    attack = attack_find("quantile-pinball");
    return attack == NULL;
}

static double loss_of(double signal)
{
    return signal > 0 ? log1p(exp(-signal)) : log1p(exp(signal)) - signal;
}

/* Signals of mean x0 and of a spread that grows with x1. */
static void draw(double *loss, float *x, size_t n, double push, uint64_t stream)
{
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(5, RNG_TEST, stream, i);
        double a = rng_unit(&r), b = rng_unit(&r), e = rng_unit(&r) + rng_unit(&r) - 1;
        x[i * D] = (float)a, x[i * D + 1] = (float)b;
        loss[i] = loss_of(4 * a + (0.2 + 2 * b) * (e + push));
    }
}

static size_t above(double score)
{
    size_t count = 0;
    for (size_t i = 0; i < N; i++)
        count += scores[i] > score;
    return count;
}

TEST(rates_hold_for_people_like_the_population)
{
    struct attack_input z = {.losses = of_population, .features = z_features, .n = Z, .width = D},
                        in = {.losses = losses, .features = features, .n = N, .width = D, .population = &z};
    draw(of_population, z_features, Z, 0, 0);
    draw(losses, features, N, 0, 1);
    assert_int_equal(attack_run(scores, attack, &in), SOTTO_OK);
    for (double rate = 0.01; rate < 0.6; rate *= 3) { /* five standard deviations of both samples */
        double share = (double)above(-log10(rate)) / N, deviation = sqrt(2 * rate * (1 - rate) / N);
        assert_true(fabs(share - rate) < 5 * deviation);
    }
    /* For either half of the second feature alone, where one spread for all would be wrong: */
    size_t narrow = 0, wide = 0, of_narrow = 0;
    for (size_t i = 0; i < N; i++) {
        bool is = features[i * D + 1] < 0.5f;
        of_narrow += is;
        narrow += is && scores[i] > 1;
        wide += !is && scores[i] > 1;
    }
    assert_true(fabs((double)narrow / (double)of_narrow - 0.1) < 0.05);
    assert_true(fabs((double)wide / (double)(N - of_narrow) - 0.1) < 0.05);
    draw(losses, features, N, 0.6, 1); /* members lie higher */
    assert_int_equal(attack_run(scores, attack, &in), SOTTO_OK);
    assert_true(above(2) > N / 20);
}

TEST(classes_have_their_order_statistics)
{
    enum { K = 3, EACH = 100 };
    int64_t y[4] = {0, 1, 2, 0}, labels[2 * EACH + 5];
    double population[2 * EACH + 5], four[4];
    for (size_t i = 0; i < 2 * EACH + 5;
         i++) { /* class 0: signals .1 .. 10; class 1: 100 higher; class 2: 5 records */
        labels[i] = (int64_t)(i / EACH);
        population[i] = loss_of(0.1 * (double)(i % EACH + 1) + (labels[i] == 1 ? 20 : 0));
    }
    struct attack_input z = {.losses = population, .labels = labels, .n = 2 * EACH + 5, .classes = K},
                        in = {.losses = four, .labels = y, .n = 4, .classes = K, .population = &z};
    struct attack_output out = {.scores = scores, .fallback = (uint8_t[4]){0}, .threshold = NAN};
    four[0] = loss_of(9.9 + 1e-9), four[1] = loss_of(29 + 1e-9), four[2] = loss_of(9.9 + 1e-9),
    four[3] = loss_of(5.05);
    assert_int_equal(attack->run(&out, &in, NULL), SOTTO_OK);
    assert_true(fabs(scores[0] - 2) < 1e-6); /* 1 of 100 lies above it */
    assert_true(fabs(scores[1] - 1) < 1e-6); /* 10 of 100 */
    assert_true(out.fallback[0] == 0 && out.fallback[1] == 0 && out.fallback[2] == 1);
    assert_true(scores[2] < 0.5); /* too rare a class: among all records half are higher */
    assert_true(scores[3] > 0.2 && scores[3] < 0.4);
}

TEST(constant_signals_do_no_harm)
{
    double same[12], asked[3] = {1, 2, 0.5};
    for (size_t i = 0; i < 12; i++)
        same[i] = 1;
    struct attack_input z = {.losses = same, .n = 12}, in = {.losses = asked, .n = 3, .population = &z};
    assert_int_equal(attack_run(scores, attack, &in), SOTTO_OK);
    assert_true(scores[1] < scores[0] && scores[0] < scores[2]);
    for (size_t i = 0; i < 3; i++)
        assert_true(isfinite(scores[i]));
    base_alloc_fail_after(1);
    assert_int_equal(attack_run(scores, attack, &in), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
}

TEST_GROUP(.set_up = find)
