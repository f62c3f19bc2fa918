/* A black-box attack on every mechanism on neighbouring toy inputs: the advantage of the best threshold test
 * must stay below the certificate, and planted mistakes (scale off by 20 %, L2 used for L1, a reused seed,
 * rounding the sum in floating point) must be caught by the same attack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dp/mechanism.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWS = 200000, BINS = 4000 };
/* How far an observed tail share p may be off, at all thresholds at once except with probability 3e-9: the
 * smaller of DKW and the empirical Bernstein bound (Maurer and Pontil 2009) with a union over the thresholds.
 */
static double slack(double p)
{
    const double log_terms = 30; /* ln(2 BINS / 1e-9) */
    return fmin(0.0073, sqrt(2 * p * log_terms / DRAWS) + 7 * log_terms / (3 * (DRAWS - 1.0)));
}

/* sum of `n` coordinates, each released with a shift: the attacker's statistic. Histogram on [-8, 8] scales.
 */
static void histogram(double count[BINS], const struct mechanism *m, double scale, int n, double shift,
                      uint64_t seed)
{
    struct lattice lattice = lattice_make(scale);
    struct noise *s;
    memset(count, 0, BINS * sizeof *count);
    assert_int_equal(noise_open_insecure(&s, seed), SOTTO_OK);
    for (int i = 0; i < DRAWS; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            int128 q;
            assert_true(lattice_index(&q, (float)shift, lattice));
            sum += (double)lattice_value(lattice_release(s, q, m->magnitude(s, lattice.m)), lattice);
        }
        int bin = (int)((sum + 8) / 16 * BINS);
        count[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    noise_close(s);
}

/* Largest P(X > c | shifted) - e^eps P(X > c | not) over thresholds, less what chance can add: a proved lower
 * bound of delta(eps), up to 2e-9. */
static double proved_delta(const struct mechanism *m, double scale, int n, double shift, double epsilon,
                           uint64_t seed)
{
    static double with[BINS], without[BINS];
    histogram(with, m, scale, n, shift, seed);
    histogram(without, m, scale, n, 0, seed + 1);
    double tpr = 0, fpr = 0, best = 0;
    for (int i = BINS - 1; i >= 0; i--) {
        tpr += with[i] / DRAWS;
        fpr += without[i] / DRAWS;
        best = fmax(best, tpr - slack(tpr) - exp(epsilon) * (fpr + slack(fpr)));
    }
    return best;
}

static void attacks_stay_below_the_certificate(void **state)
{
    (void)state;
    for (size_t i = 0; mechanism_at(i); i++)
        for (int e = 0; e < 3; e++) {
            const struct mechanism *m = mechanism_at(i);
            double certified = m->delta(iv(1), 0.4 * e).hi,
                   proved = proved_delta(m, 1, 1, 1, 0.4 * e, 1 + 2 * (uint64_t)i);
            if (proved > certified)
                fail_msg("%s: attack proves delta(%g) >= %g, certificate says %g", m->name, 0.4 * e, proved,
                         certified);
            assert_true(proved > certified * 0.6 - 0.05 * e); /* and the attack is not blind */
        }
}

static void a_scale_off_by_twenty_percent_is_caught(void **state)
{
    (void)state;
    for (size_t i = 0; mechanism_at(i); i++) {
        const struct mechanism *m = mechanism_at(i);
        assert_true(proved_delta(m, 1 / 1.2, 1, 1, 0, 40 + 2 * (uint64_t)i) > m->delta(iv(1), 0).hi);
    }
}

static void l2_used_for_l1_is_caught(void **state)
{
    (void)state;
    /* nine coordinates move by t = 1 each: L1 = 9, L2 = 3. A pure certificate by L2 would claim delta(3) = 0.
     */
    const char *names[] = {"logistic", "laplace"};
    for (int i = 0; i < 2; i++) {
        const struct mechanism *m = mechanism_find(names[i]);
        double proved = proved_delta(m, 0.2, 9, 0.2, 3, 60 + 2 * (uint64_t)i);
        assert_true(proved <= m->delta(iv(9), 3).hi);
        assert_true(m->delta(iv(3), 3).hi < 1e-12);
        assert_true(proved > 0.01);
    }
}

static void a_reused_seed_is_caught(void **state)
{
    (void)state;
    /* the same noise twice: the difference of two releases is the difference of the inputs, exactly */
    const struct mechanism *m = mechanism_find("logistic");
    struct lattice lattice = lattice_make(1);
    struct noise *a, *b;
    int equal = 0, fresh = 0;
    assert_int_equal(noise_open_insecure(&a, 5), SOTTO_OK);
    assert_int_equal(noise_open_insecure(&b, 5), SOTTO_OK);
    for (int i = 0; i < 100; i++)
        equal += lattice_release(a, 0, m->magnitude(a, lattice.m)) ==
                 lattice_release(b, 0, m->magnitude(b, lattice.m));
    noise_close(b);
    assert_int_equal(noise_open(&b), SOTTO_OK);
    for (int i = 0; i < 100; i++)
        fresh += lattice_release(a, 0, m->magnitude(a, lattice.m)) ==
                 lattice_release(b, 0, m->magnitude(b, lattice.m));
    noise_close(a);
    noise_close(b);
    assert_int_equal(equal, 100);
    assert_int_equal(fresh, 0);
}

/* Haney et al. 2022: x + noise in doubles keeps low bits of the noise only if |x + noise| is small, so for x
 * = 1 small outputs are multiples of 2^-53 while for x = 0 they are not. Released integers show no such
 * difference. */
static double fine_outputs(bool in_doubles, double x)
{
    const struct mechanism *m = mechanism_find("laplace");
    struct lattice lattice = lattice_make(1);
    struct noise *s;
    int fine = 0;
    assert_int_equal(noise_open_insecure(&s, 9), SOTTO_OK);
    for (int i = 0; i < 20000; i++) {
        double y;
        if (in_doubles) {
            y = x + m->measure(noise_unit(s), 0);
        } else {
            int128 q;
            assert_true(lattice_index(&q, (float)x, lattice));
            y = ldexp((double)lattice_release(s, q, m->magnitude(s, lattice.m)), lattice.exponent - 1);
        }
        fine += fabs(y) < 0.25 && y != ldexp(rint(ldexp(y, 53)), -53);
    }
    noise_close(s);
    return fine / 20000.0;
}

static void adding_noise_in_floating_point_is_caught(void **state)
{
    (void)state;
    assert_true(fine_outputs(true, 0) > 0.05); /* one such output tells the inputs apart */
    assert_true(fine_outputs(true, 1) == 0);
    assert_true(fine_outputs(false, 0) == 0 && fine_outputs(false, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_stay_below_the_certificate),
        cmocka_unit_test(a_scale_off_by_twenty_percent_is_caught),
        cmocka_unit_test(l2_used_for_l1_is_caught),
        cmocka_unit_test(a_reused_seed_is_caught),
        cmocka_unit_test(adding_noise_in_floating_point_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
