/* The exact samplers against their laws: chi-square on floor(X) at scales small enough to enumerate,
 * Kolmogorov-Smirnov on releases at real scales, parity and impossible values. Every test has a control
 * with a law off by 2 % (or otherwise broken), which must fail. Thresholds: z = 4 (Wilson-Hilferty) and KS
 * sqrt(n) D = 1.95 (p = 1e-3), with fixed seeds, so a pass today is a pass tomorrow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dp/mechanism/mechanism.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWS = 400000, CELLS = 64, KS_DRAWS = 600000 };

/* z score of Pearson's statistic over cells with an expectation of at least 5. */
static double chi_square_z(const double *observed, const double *expected, int cells)
{
    double sum = 0;
    int used = 0;
    for (int i = 0; i < cells; i++)
        if (expected[i] >= 5) {
            sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
            used++;
        }
    double free = used - 1, cube = 2 / (9 * free);
    return (cbrt(sum / free) - (1 - cube)) / sqrt(cube);
}

/* floor(X) for X of scale m, in cells -CELLS/2 .. CELLS/2-1 (the ends take the tails). */
static double floor_z(const struct mechanism *m, uint64_t scale, double law_scale, uint64_t seed)
{
    double observed[CELLS] = {0}, expected[CELLS];
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, seed), SOTTO_OK);
    for (int i = 0; i < DRAWS; i++) {
        int64_t k = ((int64_t)lattice_release(s, 0, m->magnitude(s, scale)) - 1) / 2 + CELLS / 2;
        observed[k < 0 ? 0 : k >= CELLS ? CELLS - 1 : k]++;
    }
    noise_close(s);
    for (int i = 0; i < CELLS; i++) {
        double low = i == 0 ? 0 : m->cdf((i - CELLS / 2) / law_scale);
        double high = i == CELLS - 1 ? 1 : m->cdf((i + 1 - CELLS / 2) / law_scale);
        expected[i] = DRAWS * (high - low);
    }
    return chi_square_z(observed, expected, CELLS);
}

static void floors_follow_their_law(void **state)
{
    (void)state;
    const uint64_t scales[] = {1, 3, 8};
    for (size_t i = 0; mechanism_at(i); i++)
        for (int j = 0; j < 3; j++) {
            double z = floor_z(mechanism_at(i), scales[j], (double)scales[j], 11 + (uint64_t)j);
            if (fabs(z) > 4)
                fail_msg("%s at scale %d: z = %g", mechanism_at(i)->name, (int)scales[j], z);
        }
}

static void a_law_off_by_two_percent_is_noticed(void **state)
{
    (void)state;
    for (size_t i = 0; mechanism_at(i); i++) {
        double z = floor_z(mechanism_at(i), 8, 8 * 1.02, 13);
        if (!(z > 5))
            fail_msg("%s: z = %g", mechanism_at(i)->name, z);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* sqrt(n) times the Kolmogorov-Smirnov distance of releases of 0 at `scale`, as doubles in units of
 * law_scale. */
static double ks(const struct mechanism *m, double scale, double law_scale, uint64_t seed)
{
    static double x[KS_DRAWS];
    struct lattice lattice = lattice_make(scale);
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, seed), SOTTO_OK);
    for (int i = 0; i < KS_DRAWS; i++)
        x[i] = ldexp((double)lattice_release(s, 0, m->magnitude(s, lattice.m)), lattice.exponent - 1) /
               law_scale;
    noise_close(s);
    qsort(x, KS_DRAWS, sizeof *x, by_value);
    double distance = 0;
    for (int i = 0; i < KS_DRAWS; i++) {
        double f = m->cdf(x[i]);
        distance = fmax(distance, fmax(f - (double)i / KS_DRAWS, (double)(i + 1) / KS_DRAWS - f));
    }
    return distance * sqrt(KS_DRAWS);
}

static void releases_follow_their_law(void **state)
{
    (void)state;
    for (size_t i = 0; mechanism_at(i); i++) {
        double distance = ks(mechanism_at(i), 0.1, 0.1, 5);
        if (distance > 1.95)
            fail_msg("%s: KS %g", mechanism_at(i)->name, distance);
        assert_true(ks(mechanism_at(i), 3e7, 3e7, 6) < 1.95);
        /* the control */
        assert_true(ks(mechanism_at(i), 0.1, 0.1 * 1.02, 5) > 1.95);
    }
}

/* Every lattice point can come out: low bits of the integer are fair. A sampler that rounds s ln(u/(1-u)) to
 * a double first has zeros there for large draws (the control). */
static double low_bits_z(const struct mechanism *m, bool rounded)
{
    double ones = 0, n = 0;
    struct lattice lattice = lattice_make(1);
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, 21), SOTTO_OK);
    for (int i = 0; i < 20000; i++) {
        int128 k = lattice_release(s, 0, m->magnitude(s, lattice.m));
        if (rounded)
            k = (int128)(double)k; /* 53 significant bits */
        uint64_t bits = (uint64_t)(k >> 1);
        ones += (double)(bits & 1);
        n++;
    }
    noise_close(s);
    return (ones - n / 2) / sqrt(n / 4);
}

static void low_bits_are_fair(void **state)
{
    (void)state;
    for (size_t i = 0; mechanism_at(i); i++) {
        assert_true(fabs(low_bits_z(mechanism_at(i), false)) < 4);
        assert_true(fabs(low_bits_z(mechanism_at(i), true)) > 5);
    }
}

/* The coins against their probabilities, and a biased one that must be caught. */
static double coin_z(bool (*coin)(struct noise *), double p, uint64_t seed)
{
    struct noise *s;
    double ones = 0;
    assert_int_equal(noise_open_insecure(&s, seed), SOTTO_OK);
    for (int i = 0; i < DRAWS; i++)
        ones += coin(s);
    noise_close(s);
    return (ones - DRAWS * p) / sqrt(DRAWS * p * (1 - p));
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
static bool logistic_7_3(struct noise *s)
{
    return coin_logistic(s, 7, 3);
}
static bool one_of_five(struct noise *s)
{
    return coin_below(s, 5) == 4;
}

static void coins_are_exact(void **state)
{
    (void)state;
    assert_true(fabs(coin_z(third, 1.0 / 3, 1)) < 4);
    assert_true(fabs(coin_z(exp_half, exp(-0.5), 2)) < 4);
    assert_true(fabs(coin_z(exp_five_halves, exp(-2.5), 3)) < 4);
    assert_true(fabs(coin_z(logistic_7_3, 1 / (1 + exp(-7.0 / 3)), 4)) < 4);
    assert_true(fabs(coin_z(one_of_five, 0.2, 5)) < 4);
    assert_true(fabs(coin_z(third, 1.02 / 3, 1)) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_follow_their_law),   cmocka_unit_test(a_law_off_by_two_percent_is_noticed),
        cmocka_unit_test(releases_follow_their_law), cmocka_unit_test(low_bits_are_fair),
        cmocka_unit_test(coins_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
