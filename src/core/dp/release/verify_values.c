/* What the values of a released file tell by themselves: they lie on the lattice of their release, and they are not too small for
 * its noise. An array that was never noised fails one or the other, whatever its certificate says.
 *
 * The second is a test. A released value is x + z with z of a symmetric law whose density falls on both sides, so for every x
 * P(|x + z| <= a) <= P(|z| <= a): without data the values are smallest. With t = sum |y| / scale of n values, and q = sum y^2 /
 * scale^2, Chernoff's bound of P(sum |z| / scale <= t) is
 *
 *     (t/n e^(1 - t/n))^n           t < n: Laplace, where |z| / scale is exponential; logistic and discrete Laplace, where it (of
 *                                   discrete noise with one step more) exceeds an exponential; K-norm, where |z| is a gamma variable
 *     (q/n e^(1 - q/n))^(n/2)       q < n: Gaussian
 *
 * and 1 otherwise. What rounding can have taken from t and q is added first. So a release is refused falsely with a probability
 * of at most FALSE_ALARM. */
#include "dp/release/verify_values.h"
#include "dp/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

static const double FALSE_ALARM = 1e-9;

/* n x ln-terms of both laws. */
static double verify_values_chernoff(double share, double n)
{
    return share < 1 ? n * (log(share) + 1 - share) : 0;
}

double small_values_ln_p(const char *mechanism, double scale, double step, const double *x, size_t n)
{
    const struct mechanism *m = mechanism_find(mechanism);
    const double count = (double)n, rounding = 1 + 0x1p-22; /* of floats */
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double y = fabs(x[i]) / scale;
        sum += y;
        squares += y * y;
    }
    const double norm = sqrt(squares) * rounding + sqrt(count) * step / scale;
    if (m->kind == RELEASE_VECTOR)
        return verify_values_chernoff(norm / count, count);
    if (strcmp(m->name, "gaussian") == 0)
        return verify_values_chernoff(norm * norm / count, count / 2);
    return verify_values_chernoff((sum * rounding + count * step / scale) / count, count);
}

static bool is_tested(const struct mechanism *m)
{
    return m && strcmp(m->name, "discrete-gaussian") != 0 &&
           (m->kind == RELEASE_LATTICE || m->kind == RELEASE_INTEGER || m->kind == RELEASE_VECTOR);
}

/* Whole numbers of half steps: of continuous noise odd ones, else even ones. Above 2^bits a number of the file is rounded, and all
 * are whole. */
static bool on_lattice(double y, int exponent, int bits, bool odd)
{
    const double halves = ldexp(y, 1 - exponent);
    if (!(fabs(halves) < ldexp(1, bits)))
        return true;
    return halves == nearbyint(halves) && (fabs(fmod(halves, 2)) == 1) == odd;
}

static bool is_index(double y, double end)
{
    return y >= 0 && y < end && y == nearbyint(y);
}

/* The kinds that release whole numbers of a known range. */
static void check_indices(struct verification *v, const struct mechanism *m, const double *x, size_t n)
{
    const struct certificate_claims *f = &v->claims;
    const double end = m->kind == RELEASE_CHOICE ? (double)f->dimension
                       : f->classes              ? (double)f->classes
                                                 : 0x1p53;
    for (size_t i = 0; i < n; i++)
        if (!is_index(x[i], end)) {
            verify_check(v, "lattice of the values", false,
                         "value %zu is %.17g; expected whole numbers from 0 to below %.17g", i, x[i], end);
            return;
        }
    verify_done(v, "values are of the range of the release");
}

static void check_lattice(struct verification *v, const struct mechanism *m, const double *x, size_t n,
                          int bits)
{
    const struct certificate_claims *f = &v->claims;
    const bool odd = m->kind == RELEASE_LATTICE;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]) || !on_lattice(x[i], (int)f->exponent, bits, odd)) {
            verify_check(v, "lattice of the values", false,
                         "value %zu is %.17g; expected %s multiples of half the step 2^%d of the noise", i,
                         x[i], odd ? "odd" : "even", (int)f->exponent);
            return;
        }
    verify_done(v, "values lie on the lattice of the release");
}

void verify_values(struct verification *v, const double *x, size_t n, bool floats)
{
    const struct certificate_claims *f = &v->claims;
    const struct mechanism *m = mechanism_find(f->mechanism);
    const bool exact = f->sampler && (strncmp(f->sampler, LATTICE_SAMPLER, strlen(LATTICE_SAMPLER)) == 0 ||
                                      strncmp(f->sampler, FLAT_SAMPLER, strlen(FLAT_SAMPLER)) == 0);
    if (!m || n == 0 || v->found.failed)
        return;
    if (m->kind == RELEASE_CHOICE || m->kind == RELEASE_LABELS) {
        check_indices(v, m, x, n);
        return;
    }
    if (!is_tested(m)) {
        verify_leave(v, "values",
                     "whether the values can have come out of such noise, which nothing here tests");
        return;
    }
    if (!f->run && (m->kind != RELEASE_LATTICE || exact)) /* early lattices had other steps */
        check_lattice(v, m, x, n, floats ? 24 : 53);
    if (v->found.failed)
        return;
    const double ln_p = small_values_ln_p(f->mechanism, f->scale, ldexp(1, (int)f->exponent), x, n);
    verify_check(
        v, "size of the values", ln_p >= log(FALSE_ALARM),
        "%zu values are too small for %s noise of scale %g: p-value at most 1e%.1f; refused below %g", n,
        f->mechanism, f->scale, fmax(ln_p, -1e6) / log(10), FALSE_ALARM);
    verify_done(v, "values are not too small for the noise (p-value at most %.2g; refused below %g)",
                exp(ln_p), FALSE_ALARM);
}
