/* Smooth sensitivity of a median and propose-test-release: figures to all digits printed, and the two definitions on all
 * small data sets, with controls that must fail. */
#include "support/test.h"
#include "support/worse.h"
#include "dp/smooth/smooth_sensitivity.h"
#include "support/composition_oracle.h"

#include <math.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static double smooth(const double *x, size_t n, double beta)
{
    double s = NAN;
    assert_int_equal(smooth_median(&s, x, n, 0, 1, beta, NULL), SOTTO_OK);
    return s;
}

static const double eleven[] = {0.45, 0.1, 0.95, 0.2, 0.35, 0.4, 0.42, 0.8, 0.5, 0.55, 0.7};

TEST(known_figures)
{
    struct smooth_noise noise;
    near(smooth(eleven, 11, 0.1), 0.349485469, 5e-10);
    near(smooth(eleven, 11, 0.5), 0.091969860, 5e-10);
    near(smooth(eleven, 11, 1), 0.05, 1e-14);
    assert_int_equal(smooth_noise(&noise, (struct sotto_dp){1, 1e-6}), SOTTO_OK);
    near(noise.beta, 0.034462182, 5e-10);
    near(smooth(eleven, 11, noise.beta), 0.684488114, 5e-10);
    near(noise.factor * smooth(eleven, 11, noise.beta), 1.368976227, 1e-9);
    assert_int_equal(smooth_noise(&noise, (struct sotto_dp){1, 0}), SOTTO_OK);
    near(noise.beta, 0.5, 0);
    near(noise.factor * smooth(eleven, 11, noise.beta), 0.182038, 5e-7); /* 8.5 times less than 1.540251 */
    near(6 * smooth(eleven, 11, 1.0 / 6), 1.540251357, 5e-9);            /* the textbook's beta and scale */
}

/* The change of the median by one replacement, by brute force over a grid that holds both ends. */
static double median(const double *x, size_t n)
{
    double copy[8];
    memcpy(copy, x, n * sizeof *x);
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && copy[k] < copy[k - 1]; k--) {
            const double swap = copy[k];
            copy[k] = copy[k - 1], copy[k - 1] = swap;
        }
    return copy[(n + 1) / 2 - 1];
}

enum { LEVELS = 4 };

static double level(size_t i)
{
    return (double)i / (LEVELS - 1);
}

static double local(const double *x, size_t n)
{
    double most = 0, other[8];
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < LEVELS; v++) {
            memcpy(other, x, n * sizeof *x);
            other[i] = level(v);
            most = worse(most, fabs(median(other, n) - median(x, n)));
        }
    return most;
}

/* On every set of 3 to 5 values of the grid: at least the local sensitivity, and e^beta from its neighbours at most. The
 * control: local sensitivity itself is not smooth. */
TEST(it_is_smooth_and_above_the_local_one)
{
    const double beta = 0.3;
    size_t rough = 0;
    for (size_t n = 3; n <= 5; n++) {
        size_t sets = 1;
        for (size_t i = 0; i < n; i++)
            sets *= LEVELS;
        for (size_t code = 0; code < sets; code++) {
            double x[8], other[8];
            for (size_t i = 0, rest = code; i < n; i++, rest /= LEVELS)
                x[i] = level(rest % LEVELS);
            const double own = smooth(x, n, beta), here = local(x, n);
            assert_true(own >= here);
            for (size_t i = 0; i < n; i++)
                for (size_t v = 0; v < LEVELS; v++) {
                    memcpy(other, x, n * sizeof *x);
                    other[i] = level(v);
                    assert_true(smooth(other, n, beta) <= exp(beta) * own * (1 + 1e-14));
                    rough += local(other, n) > exp(beta) * here * (1 + 1e-14);
                }
        }
    }
    assert_true(rough > 0);
}

/* Four zeros and seven ones, and its neighbour: noise scaled to the local sensitivity tells them apart for certain. */
TEST(local_sensitivity_gives_sets_away)
{
    double a[11] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}, b[11] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    /* only what one replacement does to the sixth value matters */
    near(a[5], 1, 0);
    near(smooth(a, 11, 50), exp(-50), 1e-30); /* beta so large that S is A(0) = 0, or A(1) = 1 discounted */
    near(smooth(b, 11, 50), 1, 1e-14);
    near(smooth(a, 11, 0.5), exp(-0.5), 1e-14); /* smooth: never further apart than e^beta */
    near(smooth(b, 11, 0.5), 1, 1e-14);
}

TEST(odd_values_are_no_secret_door)
{
    const double wild[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300}, tame[] = {0, 1, 0, 1, 0};
    double s;
    assert_true(smooth(wild, 5, 0.2) == smooth(tame, 5, 0.2));
    near(smooth((const double[]){0.3}, 1, 1), 0.7, 1e-14);
    assert_int_equal(smooth_median(&s, wild, 0, 0, 1, 1, NULL), SOTTO_EINVAL);
    assert_int_equal(smooth_median(&s, wild, 5, 1, 1, 1, NULL), SOTTO_EINVAL);
    assert_int_equal(smooth_median(&s, wild, 5, 0, 1, 0, NULL), SOTTO_EINVAL);
    assert_int_equal(smooth_median(&s, wild, 5, 0, INFINITY, 1, NULL), SOTTO_EINVAL);
}

/* Cauchy noise: a shift by S changes its log density by half of epsilon at most, and by that much somewhere; 2 % less noise
 * breaks it. */
static double largest_loss(double factor)
{
    double most = 0;
    for (int i = -400000; i <= 400000; i++) {
        const double x = i * 1e-4 * (1 + factor), a = x / factor, b = (x - 1) / factor;
        most = worse(most, fabs(log1p(a * a) - log1p(b * b)));
    }
    return most;
}

TEST(cauchy_noise_costs_what_it_says)
{
    for (double epsilon = 0.25; epsilon <= 4; epsilon *= 2) {
        struct smooth_noise noise;
        assert_int_equal(smooth_noise(&noise, (struct sotto_dp){epsilon, 0}), SOTTO_OK);
        const double loss = largest_loss(noise.factor);
        assert_true(loss <= (epsilon - noise.beta) * (1 + 1e-12) &&
                    loss > (epsilon - noise.beta) * (1 - 1e-4));
        assert_true(largest_loss(0.98 * noise.factor) > epsilon - noise.beta);
    }
    struct smooth_noise noise;
    assert_int_equal(smooth_noise(&noise, (struct sotto_dp){0, 1e-6}), SOTTO_EINVAL);
    assert_int_equal(smooth_noise(&noise, (struct sotto_dp){1, 1}), SOTTO_EINVAL);
    assert_int_equal(smooth_noise(&noise, (struct sotto_dp){NAN, 0}), SOTTO_EINVAL);
}

static double tail(double epsilon, double k)
{
    return k >= 0 ? exp(-epsilon * k) / (1 + exp(-epsilon))
                  : 1 - exp(epsilon * (k - 1)) / (1 + exp(-epsilon));
}

TEST(thresholds)
{
    size_t k;
    assert_int_equal(propose_threshold(&k, (struct sotto_dp){0.5, 1e-6}), SOTTO_OK);
    assert_int_equal(k, 27);
    assert_int_equal(propose_threshold(&k, (struct sotto_dp){0.3, 1e-6}), SOTTO_OK);
    assert_int_equal(k, 45);
    for (double epsilon = 0.01; epsilon < 8; epsilon *= 1.37)
        for (double delta = 0.3; delta > 1e-12; delta *= 0.2) {
            assert_int_equal(propose_threshold(&k, (struct sotto_dp){epsilon, delta}), SOTTO_OK);
            assert_true(tail(epsilon, (double)k) <= delta * (1 + 1e-12));
            assert_true(k == 0 || tail(epsilon, (double)k - 1) > delta * (1 - 1e-12));
        }
    assert_int_equal(propose_threshold(&k, (struct sotto_dp){0.5, 0}), SOTTO_EINVAL);
}

/* What leaves for these counts: a label, or nothing (the last). shift 1: the control, with a distance that counts the
 * replacements until the answer changes, which is one more. */
static void output_law(double *p, const size_t *counts, size_t classes, struct sotto_dp target, size_t shift)
{
    size_t label, distance, k;
    assert_int_equal(most_frequent(&label, &distance, counts, classes), SOTTO_OK);
    assert_int_equal(propose_threshold(&k, target), SOTTO_OK);
    memset(p, 0, (classes + 1) * sizeof *p);
    p[label] = tail(target.epsilon, (double)k - (double)(distance + shift));
    p[classes] = 1 - p[label];
}

/* All sets of 9 labels of 3 classes and all replacements: (epsilon, delta) by the definition. */
TEST(propose_test_release_is_private)
{
    enum { N = 9, CLASSES = 3 };
    const struct sotto_dp target = {0.7, 0.02};
    double worst[2] = {0, 0};
    for (size_t a = 0; a <= N; a++)
        for (size_t b = 0; a + b <= N; b++)
            for (size_t from = 0; from < CLASSES; from++)
                for (size_t to = 0; to < CLASSES; to++)
                    for (size_t shift = 0; shift < 2; shift++) {
                        size_t counts[CLASSES] = {a, b, N - a - b}, moved[CLASSES];
                        double p[CLASSES + 1], q[CLASSES + 1];
                        struct sotto_interval delta;
                        memcpy(moved, counts, sizeof moved);
                        if (counts[from] == 0)
                            continue;
                        moved[from]--, moved[to]++;
                        output_law(p, counts, CLASSES, target, shift);
                        output_law(q, moved, CLASSES, target, shift);
                        assert_int_equal(finite_delta(&delta, p, q, CLASSES + 1, target.epsilon), SOTTO_OK);
                        worst[shift] = worse(worst[shift], delta.lower);
                    }
    assert_true(worst[0] <= target.delta);
    assert_true(worst[1] > target.delta);
}

TEST(what_is_out_of_range)
{
    const double x[] = {1};
    struct smooth_noise noise;
    double out;
    size_t threshold;
#define OUT(call, words)                                                                                     \
    do {                                                                                                     \
        assert_int_equal(call, SOTTO_EINVAL);                                                                \
        if (!strstr(sotto_error_text(), words))                                                              \
            fail_msg("%s", sotto_error_text());                                                              \
    } while (0)
    OUT(smooth_median(&out, x, 0, 0, 1, 1, NULL), "0 values; expected 1 to 2^40");
    OUT(smooth_median(&out, x, ((size_t)1 << 40) + 1, 0, 1, 1, NULL), "expected 1 to 2^40");
    OUT(smooth_median(&out, x, 1, 0, 1, 0, NULL), "beta 0; expected a number above 0");
    OUT(smooth_median(&out, x, 1, 0, 1, INFINITY, NULL), "beta inf; expected a number above 0");
    OUT(smooth_noise(&noise, (struct sotto_dp){0, 1e-6}), "at most 1e6 (got 0)");
    OUT(smooth_noise(&noise, (struct sotto_dp){2e6, 1e-6}), "at most 1e6 (got 2e+06)");
    OUT(smooth_noise(&noise, (struct sotto_dp){1, -1}), "delta must lie in [0, 1) (got -1)");
    OUT(smooth_noise(&noise, (struct sotto_dp){1, 1}), "delta must lie in [0, 1) (got 1)");
    OUT(propose_threshold(&threshold, (struct sotto_dp){1e-10, 1e-6}), "expected at least 1e-9");
    OUT(propose_threshold(&threshold, (struct sotto_dp){1, 0}), "needs delta > 0");
}

TEST(distances)
{
    size_t label, distance;
    static const struct {
        size_t counts[3], label, distance;
    } known[] = {{{5, 5, 0}, 0, 0},  {{5, 6, 0}, 1, 0}, {{3, 5, 1}, 1, 0}, {{3, 1, 6}, 2, 1},
                 {{10, 0, 0}, 0, 4}, {{0, 0, 0}, 0, 0}, {{9, 1, 4}, 0, 2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(most_frequent(&label, &distance, known[i].counts, 3), SOTTO_OK);
        assert_int_equal(label, known[i].label);
        assert_int_equal(distance, known[i].distance);
    }
    assert_int_equal(most_frequent(&label, &distance, known[0].counts, 1), SOTTO_EINVAL);
}
