/* Rademacher complexity of linear dynamics with circulant generators (Theorem 3 of the residual-perturbation
 * paper).
 *
 * A circulant U is its eigenvalues: one complex number of modulus <= bound for each frequency, conjugate
 * pairs because U is real. e^(UT) multiplies frequency k by e^(lambda_k T). The best read-out for given
 * features v_i is along sum sigma_i v_i, so only U is searched: random eigenvalues, then one frequency at a
 * time. */
#include "base/memory.h"
#include "base/status.h"
#include "rng/rng.h"
#include "sotto/lab/residual.h"

#include <complex.h>
#include <math.h>

enum { MOST = 64, STARTS = 8, SWEEPS = 6 };

double sotto_residual_complexity_factor(double p, double gamma, double time)
{
    return exp(-p * (1 - p) * gamma * gamma * time / 2);
}

struct search {
    const double complex *spectrum; /* (n, d): of the records */
    const double *sign;             /* (n) */
    double complex wave[MOST];      /* e^(2 pi i j / d) */
    size_t n, d;
    double p, bound, time;
};

static double signed_power(double x, double p)
{
    return x < 0 ? -pow(-x, p) : pow(x, p);
}

/* |sum_i sigma_i (e^(UT) x_i)^p|_2 */
static double residual_complexity_correlation(const struct search *s, const double complex *eigenvalue)
{
    double sum[MOST] = {0};
    double complex gain[MOST];
    for (size_t k = 0; k < s->d; k++)
        gain[k] = cexp(eigenvalue[k] * s->time) / (double)s->d;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->d; j++) {
            double value = 0;
            for (size_t k = 0; k < s->d; k++)
                value += creal(gain[k] * s->spectrum[i * s->d + k] * s->wave[j * k % s->d]);
            sum[j] += s->sign[i] * signed_power(value, s->p);
        }
    double square = 0;
    for (size_t j = 0; j < s->d; j++)
        square += sum[j] * sum[j];
    return sqrt(square);
}

/* A new value for frequency k and its mirror image. */
static void residual_complexity_propose(double complex *eigenvalue, const struct search *s, struct rng *r,
                                        size_t k)
{
    size_t mirror = (s->d - k) % s->d;
    double radius = s->bound * sqrt(rng_unit(r)), angle = 2 * M_PI * rng_unit(r);
    double complex value = mirror == k ? 2 * s->bound * (rng_unit(r) - 0.5) : radius * cexp(I * angle);
    eigenvalue[k] = value;
    if (mirror != k)
        eigenvalue[mirror] = conj(value);
}

static double best_correlation(const struct search *s, struct rng *r)
{
    double best = 0;
    for (int start = 0; start < STARTS; start++) {
        double complex at[MOST], next[MOST];
        for (size_t k = 0; k <= s->d / 2; k++)
            residual_complexity_propose(at, s, r, k);
        double here = residual_complexity_correlation(s, at);
        for (size_t trial = 0; trial < SWEEPS * (s->d / 2 + 1); trial++) {
            for (size_t k = 0; k < s->d; k++)
                next[k] = at[k];
            residual_complexity_propose(next, s, r, trial % (s->d / 2 + 1));
            double there = residual_complexity_correlation(s, next);
            if (there > here) {
                here = there;
                for (size_t k = 0; k < s->d; k++)
                    at[k] = next[k];
            }
        }
        best = fmax(best, here);
    }
    return best;
}

sotto_status sotto_residual_complexity(double *mean, struct sotto_interval *interval, const double *x,
                                       size_t n, size_t d, double p, double bound, double time, size_t draws,
                                       uint64_t seed, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(mean, interval, !n || x);
    sotto_status status = SOTTO_OK;
    double complex *spectrum = NULL;
    double *sign = NULL, sum = 0, squares = 0;
    struct search s = {.n = n, .d = d, .p = p, .bound = bound, .time = time};
    REQUIRE(n > 0 && d > 0 && d <= MOST, "%zu records of %zu numbers; expected records of 1 to %d numbers", n,
            d, MOST);
    REQUIRE(p > 0 && p <= 1 && bound > 0 && time > 0 && isfinite(bound * time),
            "power %g, bound %g, time %g; expected a power in (0, 1] and positive numbers", p, bound, time);
    REQUIRE(draws > 1, "draws is %zu; expected at least 2", draws);
    NEW_ROWS(spectrum, n, d);
    NEW(sign, n);
    for (size_t j = 0; j < d; j++)
        s.wave[j] = cexp(2 * M_PI * I * (double)j / (double)d);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++) {
            double complex value = 0;
            for (size_t j = 0; j < d; j++)
                value += x[i * d + j] * conj(s.wave[j * k % d]);
            REQUIRE(isfinite(creal(value)) && isfinite(cimag(value)), "record %zu is not finite", i);
            spectrum[i * d + k] = value;
        }
    s.spectrum = spectrum;
    s.sign = sign;
    for (size_t draw = 0; draw < draws; draw++) {
        TRY(context_check(ctx, "complexity: stopped after %zu of %zu draws", draw, draws));
        struct rng r = rng_stream(seed, RNG_RESIDUAL, 0, draw);
        for (size_t i = 0; i < n; i++)
            sign[i] = rng_below(&r, 2) ? 1 : -1;
        double value = bound / (double)n * best_correlation(&s, &r);
        sum += value;
        squares += value * value;
    }
    *mean = sum / (double)draws;
    double deviation = sqrt(fmax(0, squares / (double)draws - *mean * *mean) / (double)(draws - 1));
    *interval = (struct sotto_interval){*mean - 1.96 * deviation, *mean + 1.96 * deviation};
done:
    base_free(spectrum);
    base_free(sign);
    return status;
}
