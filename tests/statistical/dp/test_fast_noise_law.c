/* Fast noise against its laws: Kolmogorov-Smirnov, Anderson-Darling, moments and tails; positions and steps
 * against each other. Each test has a control that must fail: a scale off by 2 %, a series with a trace of
 * another, a key used twice. Thresholds: p = 1e-3 (KS 1.95, Anderson-Darling 5.97), 5 standard errors
 * elsewhere; fixed seeds, so a pass today is a pass tomorrow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/exercise.h"
#include "dp/mechanism/mechanism.h"
#include "sotto/dp.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1 << 19, TAIL_ROUNDS = 32 };
static double x[N], z[N];
static float single[N];
static const char *const names[] = {"gaussian", "logistic", "laplace"};
enum { LAWS = 3, KINDS = 2 * LAWS }; /* into sums of doubles, then of floats */

static void fill(double *out, int kind, double scale, int seed)
{
    unsigned char key[CHACHA_KEY] = "fast noise, seeded";
    struct fast_sum how = {mechanism_find(names[kind % LAWS])->fast, scale, kind >= LAWS, 2};
    key[31] = (unsigned char)seed;
    memset(out, 0, N * sizeof *out);
    memset(single, 0, sizeof single);
    fast_noise_add(how.floats ? (void *)single : out, N, &how, key);
    for (size_t i = 0; how.floats && i < N; i++)
        out[i] = single[i];
}

static int by_value(const void *a, const void *b)
{
    double l = *(const double *)a, r = *(const double *)b;
    return l < r ? -1 : l > r;
}

/* Both statistics of sorted draws; the upper tail by symmetry. */
static void distances(double *ks, double *anderson, const struct mechanism *m)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < N; i++) {
        double u = m->cdf(x[i]), rest = m->cdf(-x[i]);
        most = fmax(most, fmax(u - (double)i / N, (double)(i + 1) / N - u));
        sum += (2 * (double)i + 1) * log(u) + (2 * (double)(N - i) - 1) * log(rest);
    }
    *ks = most * sqrt(N);
    *anderson = -N - sum / N;
}

static void draws_follow_their_law(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++)
        for (int off = 0; off < 2; off++) {
            const struct mechanism *m = mechanism_find(names[i % LAWS]);
            double ks, anderson;
            fill(x, i, off ? 1.02 : 1, 1 + i);
            qsort(x, N, sizeof *x, by_value);
            distances(&ks, &anderson, m);
            if (off ? ks < 1.95 || anderson < 5.97 : ks > 1.95 || anderson > 5.97)
                fail_msg("%s, scale %g: Kolmogorov-Smirnov %g, Anderson-Darling %g", names[i % LAWS],
                         off ? 1.02 : 1, ks, anderson);
        }
}

/* Standard errors off: the mean, the variance, the third and the fourth moment. */
static double moments_off(double deviation, double fourth, double sixth, double eighth)
{
    double sum[4] = {0};
    for (size_t i = 0; i < N; i++) {
        double t = x[i] / deviation;
        sum[0] += t;
        sum[1] += t * t - 1;
        sum[2] += t * t * t;
        sum[3] += t * t * t * t - fourth;
    }
    const double variance[] = {1, fourth - 1, sixth, eighth - fourth * fourth};
    double worst = 0;
    for (int k = 0; k < 4; k++)
        worst = fmax(worst, fabs(sum[k]) / sqrt(N * variance[k]));
    return worst;
}

static void moments(void **state)
{
    (void)state;
    /* standardised fourth, sixth and eighth moments */
    const double known[][3] = {{3, 15, 105}, {4.2, 39.857142857142854, 685.8}, {6, 90, 2520}};
    for (int i = 0; i < KINDS; i++) {
        const struct mechanism *m = mechanism_find(names[i % LAWS]);
        const double *k = known[i % LAWS];
        double deviation = m->standard_deviation;
        fill(x, i, 1, 11 + i);
        double off = moments_off(deviation, k[0], k[1], k[2]);
        if (!(off < 5))
            fail_msg("%s: moments are %g standard errors off", names[i % LAWS], off);
        assert_true(moments_off(deviation * 1.02, k[0], k[1], k[2]) > 5);
    }
}

/* Beyond the quantiles of 1e-3, 1e-5 and 1e-6, on either side. */
static void tails(void **state)
{
    (void)state;
    const double shares[] = {1e-3, 1e-5, 1e-6};
    for (int i = 0; i < KINDS; i++) {
        const struct mechanism *m = mechanism_find(names[i % LAWS]);
        double at[3], count[3][2] = {{0}}, wrong = 0;
        for (int k = 0; k < 3; k++) {
            double low = 0, high = 40;
            for (int step = 0; step < 100; step++)
                *(m->cdf(-(low + high) / 2) > shares[k] ? &low : &high) = (low + high) / 2;
            at[k] = high;
        }
        for (int round = 0; round < TAIL_ROUNDS; round++) {
            fill(x, i, 1, 20 + round);
            for (size_t j = 0; j < N; j++) {
                for (int k = 0; k < 3 && fabs(x[j]) > at[k]; k++)
                    count[k][x[j] > 0]++;
                wrong += fabs(x[j]) > at[1] * 1.05;
            }
        }
        for (int k = 0; k < 3; k++)
            for (int side = 0; side < 2; side++) {
                double expected = (double)N * TAIL_ROUNDS * shares[k];
                if (!(fabs(count[k][side] - expected) < 5 * sqrt(expected)))
                    fail_msg("%s: %g draws beyond %g, expected %g", names[i % LAWS], count[k][side], at[k],
                             expected);
            }
        double expected = 2e-5 * N * TAIL_ROUNDS;
        assert_true(fabs(wrong - expected) > 5 * sqrt(expected)); /* a tail that begins 5 % later */
    }
}

/* sqrt(N) times the correlation of a and b, or of their squares' ranks (sizes below 1). */
static double together(const double *a, const double *b, size_t n, bool sizes)
{
    double sum[5] = {0};
    for (size_t i = 0; i < n; i++) {
        double l = sizes ? fabs(a[i]) < 1 : a[i], r = sizes ? fabs(b[i]) < 1 : b[i];
        sum[0] += l, sum[1] += r, sum[2] += l * r, sum[3] += l * l, sum[4] += r * r;
    }
    double k = (double)n;
    double covariance = sum[2] / k - sum[0] * sum[1] / k / k;
    return sqrt(k) * covariance /
           sqrt((sum[3] / k - sum[0] * sum[0] / k / k) * (sum[4] / k - sum[1] * sum[1] / k / k));
}

static void positions_are_independent(void **state)
{
    (void)state;
    static const size_t lags[] = {1, 2, 4, 8, 15, 16, 17, 32, 64, 128, 512, 8192};
    for (int i = 0; i < KINDS; i++) {
        fill(x, i, 1, 60 + i);
        for (size_t l = 0; l < sizeof lags / sizeof *lags; l++) {
            assert_true(fabs(together(x, x + lags[l], N - lags[l], false)) < 5);
            assert_true(fabs(together(x, x + lags[l], N - lags[l], true)) < 5);
        }
        for (size_t j = 0; j + 8 < N; j++) /* the control: a fiftieth of a neighbour */
            z[j] = x[j] + 0.02 * x[j + 8];
        assert_true(fabs(together(z, x + 8, N - 8, false)) > 5);
        for (size_t j = 0; j + 8 < N; j++) /* and sizes that follow each other */
            z[j] = j % 20 ? x[j] : x[j + 8];
        assert_true(fabs(together(z, x + 8, N - 8, true)) > 5);
    }
}

/* Through the function that training uses. */
static void steps_are_independent(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        unlink(path_of("l.jsonl"));
        struct sotto_dpsgd_request r = {.sampled = {.mechanism = names[i],
                                                    .noise_multiplier = 40,
                                                    .sample_rate = 1,
                                                    .steps = 2,
                                                    .delta = 0.3,
                                                    .clipping = SOTTO_NORM_L2,
                                                    .adjacency = SOTTO_ZERO_OUT,
                                                    .sampling = SOTTO_SAMPLING_POISSON},
                                        .max_grad_norm = 0.025,
                                        .dimension = N,
                                        .spend = {.dataset_id = "toy",
                                                  .source = &exercise,
                                                  .ledger = path_of("l.jsonl"),
                                                  .insecure = 1,
                                                  .insecure_seed = 5},
                                        .noise_mode = SOTTO_NOISE_FAST};
        struct sotto_dpsgd_session *s;
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
        memset(x, 0, sizeof x);
        memset(z, 0, sizeof z);
        assert_int_equal(sotto_dp_step(s, x), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, z), SOTTO_OK);
        assert_true(fabs(together(x, z, N, false)) < 5 && fabs(together(x, z, N, true)) < 5);
        sotto_dpsgd_session_close(s);
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK); /* the control: the same seed again */
        assert_int_equal(sotto_dp_step(s, (memset(z, 0, sizeof z), z)), SOTTO_OK);
        assert_true(together(x, z, N, false) > 100);
        sotto_dpsgd_session_close(s);
        double square = 0;
        for (size_t j = 0; j < N; j++)
            square += x[j] * x[j] / N;
        double deviation = 1 * mechanism_find(names[i])->standard_deviation;
        assert_true(fabs(square / (deviation * deviation) - 1) < 0.01); /* of scale 40 * 0.025 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_their_law),
        cmocka_unit_test(moments),
        cmocka_unit_test(tails),
        cmocka_unit_test(positions_are_independent),
        cmocka_unit_test(steps_are_independent),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
