/* Exact Cauchy noise against its distribution function, and a median's whole release on neighbouring sets; each with a
 * control that is wrong and must fail. Were the seeds drawn, right noise would fail 3 times in a million (two chi-squares at 95
 * of 39 degrees of freedom, p = 1.4e-6 each; two counts at 5 standard errors). Found 99 times of 100, at effort 1, 5 and 50: a
 * scale off by 1.9 %, 1.3 % and 0.6 %; an atom off by 2.8 %, 2.0 % and 0.9 %. Planted: 2 % and 7 % at effort 1, the same in
 * standard errors at the others. */
#include "support/test.h"
#include "support/effort.h"
#include "support/worse.h"
#include "dp/noise/cauchy.h"
#include "dp/release/release_median.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 40 };

/* Draws: 600,000 times this. */
static size_t times(void)
{
    return (size_t)by_effort(1, 2, 10);
}

static size_t draws(void)
{
    return 600000 * times();
}

/* A factor that is off by `fault` at effort 1. */
static double off_by(double fault)
{
    return 1 + fault / sqrt((double)times());
}

/* Chi-square of the draws in cells of equal probability under floor(scale h). */
static double chi_square(const int128 *k, size_t n, double scale)
{
    size_t count[CELLS] = {0};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double u = 0.5 + atan(((double)k[i] + 0.5) / scale) / M_PI;
        const int cell = (int)(u * CELLS);
        count[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
    }
    for (size_t c = 0; c < CELLS; c++)
        sum += pow((double)count[c] - (double)n / CELLS, 2) / ((double)n / CELLS);
    return sum;
}

TEST(draws_follow_the_law)
{
    static const double scales[] = {5e3, 0x1p58};
    struct noise *s;
    const size_t n = draws();
    int128 *k = calloc(n, sizeof *k);
    assert_non_null(k);
    assert_int_equal(noise_open_insecure(&s, 3), SOTTO_OK);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        assert_int_equal(cauchy_draw(k, n, scales[i], s), SOTTO_OK);
        const double right = chi_square(k, n, scales[i]), wrong = chi_square(k, n, off_by(0.02) * scales[i]);
        print_message(
            "scale %g: chi-square %.1f with 39 degrees of freedom; at a scale off by %.2g %% %.1f\n",
            scales[i], right, 100 * (off_by(0.02) - 1), wrong);
        assert_true(right < 95); /* probability 1e-6 */
        assert_true(wrong > 95);
    }
    noise_close(s);
    free(k);
}

/* Small scales have atoms: floor(m h) = 0 with probability atan(1 / m) / pi, and so has -1. */
static double atom(double m)
{
    return atan(1 / m) / M_PI;
}

TEST(small_scales_have_their_atoms)
{
    struct noise *s;
    const size_t n = draws();
    int128 *k = calloc(n, sizeof *k);
    double count[2] = {0};
    assert_non_null(k);
    assert_int_equal(noise_open_insecure(&s, 4), SOTTO_OK);
    assert_int_equal(cauchy_draw(k, n, 3, s), SOTTO_OK);
    for (size_t i = 0; i < n; i++)
        count[0] += k[i] == 0, count[1] += k[i] == -1;
    const double p = atom(3), sigma = sqrt((double)n * p * (1 - p));
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(count[i] - (double)n * p) < 5 * sigma);
        assert_true(fabs(count[i] - (double)n * atom(3 * off_by(0.07))) > 5 * sigma);
    }
    noise_close(s);
    free(k);
}

/* The definition, without draws: neighbouring sets of a grid, the noise's width and place that the release would use. No
 * interval of outputs is likelier than by e^epsilon; with a quarter of the noise some are. */
static double largest_loss(const struct median_plan *a, const struct median_plan *b, double shrink)
{
    double most = 0;
    const long side = by_effort(400, 4000, 40000); /* from 0 to sinh 32 widths */
    for (long i = -side; i <= side; i++) {
        const double x = (double)a->median + sinh(32.0 * (double)i / (double)side) * a->width;
        const double u = (x - (double)a->median) / (shrink * a->width),
                     v = (x - (double)b->median) / (shrink * b->width);
        most = worse(most, fabs(log(b->width / a->width) + log1p(v * v) - log1p(u * u)));
    }
    return most;
}

TEST(neighbours_differ_by_epsilon_at_most)
{
    enum { N = 5, LEVELS = 3 };
    for (double epsilon = 0.25; epsilon <= 4; epsilon *= 4) {
        double worst = 0, quartered = 0;
        for (int code = 0; code < 243; code++) {
            double x[N], y[N];
            struct median_plan a, b;
            for (int i = 0, rest = code; i < N; i++, rest /= LEVELS)
                x[i] = (rest % LEVELS) / 2.0;
            assert_int_equal(median_plan(&a, x, N, 0, 1, epsilon, NULL), SOTTO_OK);
            for (int i = 0; i < N; i++)
                for (int v = 0; v < LEVELS; v++) {
                    memcpy(y, x, sizeof y);
                    y[i] = v / 2.0;
                    assert_int_equal(median_plan(&b, y, N, 0, 1, epsilon, NULL), SOTTO_OK);
                    worst = worse(worst, largest_loss(&a, &b, 1));
                    quartered = fmax(quartered, largest_loss(&a, &b, 0.25));
                }
        }
        print_message("epsilon %g: largest loss %.4f, with a quarter of the noise %.4f\n", epsilon, worst,
                      quartered);
        assert_true(worst <= epsilon);
        assert_true(quartered > epsilon);
    }
}

TEST(plans_follow_the_range_alone)
{
    const double x[] = {1, 2, 3}, far[] = {NAN, INFINITY, -1e300};
    struct median_plan a, b;
    assert_int_equal(median_plan(&a, x, 3, 0, 10, 1, NULL), SOTTO_OK);
    assert_int_equal(median_plan(&b, far, 3, 0, 10, 1, NULL), SOTTO_OK);
    assert_int_equal(a.lattice.exponent, b.lattice.exponent);
    assert_int_equal(a.lattice.exponent, 3 - 40);
    assert_true(a.width == floor(a.width) && a.width >= 0x1p22);
    assert_int_equal(median_plan(&a, x, 3, 0, 10, 1e-4, NULL), SOTTO_EDOMAIN);
    assert_int_equal(median_plan(&a, x, 3, 0, 10, 100, NULL), SOTTO_EDOMAIN);
    assert_int_equal(median_plan(&a, x, 3, 0, 0, 1, NULL), SOTTO_EINVAL);
    assert_int_equal(median_plan(&a, x, 0, 0, 1, 1, NULL), SOTTO_EINVAL);
}
