/* The samplers against their laws (discretised noise: test_discretised_law.c): discrete Laplace and Gaussian, K-norm noise, the
 * exponential mechanism, randomised response, and the coins that these ask. Chi-square on cells, Kolmogorov-Smirnov where
 * values are many, parity, impossible values; each with a law that is off by a few per cent (or otherwise wrong) and must
 * be noticed. Thresholds: z = 4 (Wilson-Hilferty), sqrt(n) D = 1.95 (p = 1e-3), fixed seeds.
 *
 * Were the seeds drawn, right samplers would fail in 12 of 1,000 runs: 11 distances at 1e-3 and 17 deviates at 6.3e-5.
 * Found 99 times of 100, at effort 1, 5 and 50: scales of whole numbers off by 1.6 %, 1.2 % and 0.5 %, large ones by 4.9 %,
 * 3.5 % and 1.6 %; a radius in 8 dimensions off by 2.0 %, 1.4 % and 0.6 %; a choice's scale by 2.7 %, 1.9 % and 0.8 %,
 * a label's epsilon by 2.0 %, 1.4 % and 0.6 %; a coin of 1/3 by 1.4 %, 1.0 % and 0.5 % of that. Planted: what effort 1
 * finds, and the same in standard errors at the others. */
#include "support/test.h"
#include "support/effort.h"
#include "support/worse.h"
#include "dp/mechanism/mechanism.h"
#include "dp/noise/discretised_noise.h"
#include "dp/noise/knorm.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWS = 400000, CELLS = 64, MOST = 10 };

/* So many times the draws of effort 1. */
static int times(void)
{
    return (int)by_effort(1, 2, MOST);
}

static int draws(void)
{
    return DRAWS * times();
}

/* A factor that is off by `fault` at effort 1. */
static double off_by(double fault)
{
    return 1 + fault / sqrt(times());
}

static double chi_square_z(const double *observed, const double *expected, int cells)
{
    double sum = 0, used = 0;
    for (int i = 0; i < cells; i++)
        if (expected[i] >= 5) {
            sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
            used++;
        }
    double cube = 2 / (9 * (used - 1));
    return (cbrt(sum / (used - 1)) - (1 - cube)) / sqrt(cube);
}

static struct noise *seeded(uint64_t seed)
{
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, seed), SOTTO_OK);
    return s;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* sqrt(n) times the distance of sorted uniforms, in place. */
static double ks_of_uniforms(double *u, int n)
{
    double most = 0;
    qsort(u, (size_t)n, sizeof *u, by_value);
    for (int i = 0; i < n; i++)
        most = worse(most, worse(u[i] - (double)i / n, (double)(i + 1) / n - u[i]));
    return most * sqrt(n);
}

/* --- whole numbers --- */

/* k[0 .. n): noise of that scale, by the sampler of the mechanism's releases. */
static void draw_integers(int64_t *k, int n, const struct mechanism *m, double scale, struct noise *s)
{
    uint64_t ratio;
    unsigned shift;
    assert_true(lattice_ratio(&ratio, &shift, scale));
    for (int i = 0; i < n && !mechanism_is_discretised(m); i++)
        k[i] = (int64_t)integer_signed(s, m->integer->magnitude, ratio, shift);
    if (!mechanism_is_discretised(m))
        return;
    struct discretised_noise noise;
    assert_int_equal(discretised_noise_open(&noise, m->law, scale, false, s), SOTTO_OK);
    assert_int_equal(discretised_noise_fill(&noise, k, 0, (size_t)n, 1), SOTTO_OK);
    discretised_noise_close(&noise);
}

static int64_t drawn[DRAWS * MOST];

static double integer_z(const struct mechanism *m, double scale, double law_scale, uint64_t seed)
{
    const struct integer_law *law = m->integer;
    double observed[CELLS] = {0}, expected[CELLS];
    struct noise *s = seeded(seed);
    draw_integers(drawn, draws(), m, scale, s);
    for (int i = 0; i < draws(); i++) {
        int64_t k = drawn[i] + CELLS / 2;
        observed[k < 0 ? 0 : k >= CELLS ? CELLS - 1 : k]++;
    }
    noise_close(s);
    for (int i = 0; i < CELLS; i++) {
        double low = i == 0 ? 0 : law->cdf(i - 1 - CELLS / 2, 1 / law_scale);
        double high = i == CELLS - 1 ? 1 : law->cdf(i - CELLS / 2, 1 / law_scale);
        expected[i] = draws() * (high - low);
    }
    return chi_square_z(observed, expected, CELLS);
}

static const char *const discrete[] = {"discrete-laplace", "discrete-gaussian"};

TEST(whole_numbers_follow_their_law)
{
    const double scales[] = {0.3, 1, 2.718281828459045, 7.25};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 4; i++) {
            const struct mechanism *law = mechanism_find(discrete[d]);
            double z = integer_z(law, scales[i], scales[i], 3 + (uint64_t)i);
            if (!(fabs(z) <= 4))
                fail_msg("%s at scale %g: z = %g", discrete[d], scales[i], z);
            if (i == 3)
                assert_true(integer_z(law, scales[i], scales[i] * off_by(0.02), 3) > 5);
        }
}

/* At a large scale: values through the distribution function, spread evenly inside their cell. */
static double integer_ks(const struct mechanism *m, double scale, double law_scale)
{
    static double u[100000 * MOST];
    const int n = 100000 * times();
    const struct integer_law *law = m->integer;
    struct noise *s = seeded(8);
    draw_integers(drawn, n, m, scale, s);
    for (int i = 0; i < n; i++) {
        double k = (double)drawn[i];
        double low = law->cdf(k - 1, 1 / law_scale), high = law->cdf(k, 1 / law_scale);
        u[i] = low + (high - low) * noise_unit(s);
    }
    noise_close(s);
    return ks_of_uniforms(u, n);
}

/* Odd and even come equally often far from the step, and every residue does: a sampler that rounds a double
 * would leave some out. `wide`: numbers rounded to a multiple of 2 first (the control). */
static double parity_z(const struct mechanism *m, bool wide)
{
    double ones = 0;
    const int n = 100000 * times();
    struct noise *s = seeded(9);
    draw_integers(drawn, n, m, 1000003, s);
    for (int i = 0; i < n; i++) {
        int64_t k = drawn[i];
        ones += (wide ? k & ~(int64_t)1 : k) & 1;
    }
    noise_close(s);
    return (ones - n / 2.0) / sqrt(n / 4.0);
}

TEST(large_scales_and_parity)
{
    for (int d = 0; d < 2; d++) {
        const struct mechanism *law = mechanism_find(discrete[d]);
        assert_true(integer_ks(law, 12345.678, 12345.678) < 1.95);
        assert_true(integer_ks(law, 12345.678, 12345.678 * off_by(0.05)) > 1.95);
        assert_true(fabs(parity_z(law, false)) < 4);
        assert_true(fabs(parity_z(law, true)) > 100);
    }
}

/* The sign of zero: 0 must not be twice as likely as the law says (the sign of a geometric variable would be). */
TEST(zero_has_no_second_chance)
{
    const struct mechanism *m = mechanism_find("discrete-laplace");
    double zeros = 0, twice = 0, p = m->integer->cdf(0, 1) - m->integer->cdf(-1, 1);
    struct noise *s = seeded(10);
    draw_integers(drawn, draws(), m, 1, s);
    for (int i = 0; i < draws(); i++) {
        zeros += drawn[i] == 0;
        twice += floor(-log(noise_unit(s))) == 0;
    }
    noise_close(s);
    const double due = draws() * p;
    assert_true(fabs(zeros - due) / sqrt(due * (1 - p)) < 4);
    assert_true(fabs(twice - due) / sqrt(due * (1 - p)) > 50);
}

/* --- K-norm: radius Gamma(n), direction uniform --- */

/* P(Gamma(n) <= x) for whole n: 1 - e^-x sum x^i / i!. */
static double gamma_cdf(int n, double x)
{
    double term = 1, sum = 1;
    for (int i = 1; i < n; i++) {
        term *= x / i;
        sum += term;
    }
    return 1 - exp(-x) * sum;
}

static double radius_ks(int n, double law_scale, bool discretised, double *direction)
{
    enum { N = 20000 };
    static double u[N * MOST], towards[N * MOST];
    const int count = N * times();
    struct noise *s = seeded(15);
    for (int i = 0; i < count; i++) {
        double x[8], square = 0;
        const struct knorm_blocks one = {1, (size_t)n, 0.7};
        if (discretised)
            assert_int_equal(knorm_draw_discretised(x, &one, s), SOTTO_OK);
        else
            knorm_draw(x, (size_t)n, 0.7, s);
        for (int j = 0; j < n; j++)
            square += x[j] * x[j];
        u[i] = gamma_cdf(n, sqrt(square) / law_scale);
        double c = x[0] / sqrt(square); /* n = 3: uniform on [-1, 1] (Archimedes) */
        towards[i] = (c + 1) / 2;
    }
    noise_close(s);
    *direction = ks_of_uniforms(towards, count);
    return ks_of_uniforms(u, count);
}

TEST(knorm_radius_and_direction)
{
    double direction;
    for (int discretised = 0; discretised < 2; discretised++) {
        assert_true(radius_ks(1, 0.7, discretised, &direction) < 1.95);
        assert_true(radius_ks(3, 0.7, discretised, &direction) < 1.95);
        assert_true(direction < 1.95);
        assert_true(radius_ks(8, 0.7, discretised, &direction) < 1.95);
        assert_true(direction > 1.95); /* in 8 dimensions one coordinate is not uniform: the test can tell */
        assert_true(radius_ks(8, 0.7 * off_by(0.02), discretised, &direction) > 1.95);
    }
}

/* The blur: Laplace noise of its scale about the value, on its lattice, cut at the ends; and what it costs, by hand. */
static double blur_ks(double law_scale)
{
    enum { N = 100000 };
    static double u[N * MOST];
    const int n = N * times();
    struct noise *s = seeded(16);
    for (int i = 0; i < n; i++)
        u[i] = 5;
    assert_int_equal(knorm_blur(u, (size_t)n, 0.7, 100, s), SOTTO_OK);
    for (int i = 0; i < n; i++) {
        assert_true(fmod(u[i], ldexp(1, knorm_blur_exponent(0.7) - 1)) == 0);
        u[i] = mechanism_find("laplace")->cdf((u[i] - 5) / law_scale);
    }
    noise_close(s);
    return ks_of_uniforms(u, n);
}

TEST(a_blur_is_exact_laplace_noise)
{
    double ends[] = {-3, 3, 0}, scale;
    struct noise *s = seeded(17);
    assert_true(blur_ks(0.7) < 1.95);
    assert_true(blur_ks(0.7 * off_by(0.05)) > 1.95);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(knorm_blur(ends, 3, 1e-3, 1e-3, s), SOTTO_OK);
        for (int j = 0; j < 3; j++)
            assert_true(fabs(ends[j]) <= 1e-3);
    }
    noise_close(s);
    /* 2 1e-3 sqrt(4) / .5 + 4 2^-40 / .5 */
    assert_true(fabs(knorm_blur_cost(1e-3, 4, 0.5).hi - (8e-3 + 8 * ldexp(1, knorm_blur_exponent(0.5)))) <
                1e-15);
    assert_int_equal(knorm_blur_scale(&scale, 1e-3, 4, 0.01), SOTTO_OK);
    assert_true(knorm_blur_cost(1e-3, 4, scale).hi <= 0.01 && knorm_blur_cost(1e-3, 4, scale).lo > 0.0099);
    assert_int_equal(knorm_blur_scale(&scale, 1e-3, 1 << 30, 1e-9), SOTTO_EDOMAIN);
}

/* --- choices and labels --- */

static double choice_z(double law_m)
{
    const uint128 gaps[] = {0, 3, 1, 9, 2, 40};
    double observed[6] = {0}, expected[6], all = 0;
    struct noise *s = seeded(16);
    for (int i = 0; i < draws(); i++)
        observed[choice_draw(s, gaps, (size_t[]){0, 1, 2, 3, 4, 5}, 6, 4)]++;
    noise_close(s);
    for (int i = 0; i < 6; i++)
        all += expected[i] = exp(-(double)gaps[i] / law_m);
    for (int i = 0; i < 6; i++)
        expected[i] *= draws() / all;
    return chi_square_z(observed, expected, 6);
}

static double label_z(double law_t)
{
    enum { CLASSES = 10 };
    double observed[CLASSES] = {0}, expected[CLASSES];
    struct noise *s = seeded(17);
    for (int i = 0; i < draws(); i++)
        observed[label_draw(s, 3, CLASSES, 3, 2)]++; /* t = 4/3 */
    noise_close(s);
    for (int i = 0; i < CLASSES; i++)
        expected[i] = draws() * (i == 3 ? exp(law_t) : 1) / (exp(law_t) + CLASSES - 1);
    return chi_square_z(observed, expected, CLASSES);
}

TEST(choices_and_labels_follow_their_law)
{
    assert_true(fabs(choice_z(4)) < 4);
    assert_true(choice_z(4 * off_by(0.027)) > 4);
    assert_true(fabs(label_z(4.0 / 3)) < 4);
    assert_true(label_z(4.0 / 3 * off_by(0.02)) > 4);
}

/* The coins against their probabilities, and a biased one that must be caught. */
static double coin_z(bool (*coin)(struct noise *), double p, uint64_t seed)
{
    struct noise *s;
    double ones = 0;
    assert_int_equal(noise_open_insecure(&s, seed), SOTTO_OK);
    for (int i = 0; i < draws(); i++)
        ones += coin(s);
    noise_close(s);
    return (ones - draws() * p) / sqrt(draws() * p * (1 - p));
}
static bool third(struct noise *s)
{
    return coin_ratio(s, 1, 3);
}
static bool exp_half(struct noise *s)
{
    return coin_exp(s, 1, 2);
}
static bool exp_five_halves(struct noise *s)
{
    return coin_exp(s, 5, 2);
}
static bool one_of_five(struct noise *s)
{
    return coin_below(s, 5) == 4;
}

TEST(coins_are_exact)
{
    assert_true(fabs(coin_z(third, 1.0 / 3, 1)) < 4);
    assert_true(fabs(coin_z(exp_half, exp(-0.5), 2)) < 4);
    assert_true(fabs(coin_z(exp_five_halves, exp(-2.5), 3)) < 4);
    assert_true(fabs(coin_z(one_of_five, 0.2, 5)) < 4);
    assert_true(fabs(coin_z(third, off_by(0.02) / 3, 1)) > 4);
}
