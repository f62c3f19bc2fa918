/* With c of g guesses right among m coins, and the blow-up 1 - f of what the attacker cannot know:
 *
 *     r = p c / m,  h = p (g - c) / m;   for i = c - 1 .. 0:  h' = max(h, (1 - f)^-1 (r)),  r += i / (g - i) (h' - h),  h = h'
 *
 * rejects at level p if r + h > g / m. Both only grow. r is a sum of h's with weights above 0 and of p times a number above
 * 0, so r + h grows with p and with the inverse: levels and parameters can be bisected. */
#include "audit/measure/curve_test.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

bool curve_rejected(const struct trade_off *f, const struct guessed *g, double level)
{
    const double m = (double)g->records, all = (double)g->guesses, most = all / m * (1 + 1e-9);
    double r = level * (double)g->right / m, h = level * (double)(g->guesses - g->right) / m;
    for (size_t i = g->right; i-- > 0 && r + h <= most;) {
        double next = fmax(h, f->inverse(fmin(r, 1), f->arg));
        r += (double)i / (all - (double)i) * (next - h);
        h = next;
    }
    return r + h > most;
}

double curve_p_value(const struct trade_off *f, const struct guessed *g)
{
    double low = log(1e-12), high = 0;
    if (!curve_rejected(f, g, 1))
        return 1;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (curve_rejected(f, g, exp(middle)))
            high = middle;
        else
            low = middle;
    }
    return exp(high);
}

/* ---- a curve from points (epsilon, delta) ---- */

/* Of the inverse: e^-epsilon (y - delta), or, the errors exchanged, 1 - delta - e^epsilon (1 - y). */
struct curve_line {
    double slope, delta, from; /* from: the y above which it is larger than the one before */
    bool exchanged;
};

static double line_at(const struct curve_line *l, double y)
{
    return l->exchanged ? 1 - l->delta - l->slope * (1 - y) : l->slope * (y - l->delta);
}

static double level_of(const struct curve_line *l)
{
    return l->exchanged ? 1 - l->delta - l->slope : -l->slope * l->delta;
}

static int by_slope(const void *a, const void *b)
{
    const struct curve_line *x = a, *y = b;
    if (x->slope != y->slope)
        return x->slope < y->slope ? -1 : 1;
    return (level_of(x) > level_of(y)) - (level_of(x) < level_of(y));
}

/* The y at which the steeper line overtakes. */
static double curve_test_meet(const struct curve_line *flat, const struct curve_line *steep)
{
    return (level_of(flat) - level_of(steep)) / (steep->slope - flat->slope);
}

sotto_status profile_curve_make(struct profile_curve *out, const struct sotto_privacy_profile *p)
{
    sotto_status status = SOTTO_OK;
    struct curve_line *lines = NULL;
    size_t n = 0;
    REQUIRE(p->count > 0, "the profile of %s has no points; expected at least one epsilon with its delta",
            p->of);
    NEW_ROWS(lines, p->count, 2);
    for (size_t i = 0; i < p->count; i++) {
        REQUIRE(p->epsilon[i] >= 0 && p->delta[i] >= 0 && p->delta[i] <= 1,
                "the profile of %s: point %zu is (%g, %g); expected epsilon >= 0 and delta in [0, 1]", p->of,
                i, p->epsilon[i], p->delta[i]);
        lines[2 * i] = (struct curve_line){exp(-p->epsilon[i]), p->delta[i], 0, false};
        lines[2 * i + 1] = (struct curve_line){exp(p->epsilon[i]), p->delta[i], 0, true};
    }
    qsort(lines, 2 * p->count, sizeof *lines, by_slope);
    for (size_t i = 0; i < 2 * p->count; i++) {
        while (n > 0 && (lines[n - 1].slope == lines[i].slope ||
                         curve_test_meet(&lines[n - 1], &lines[i]) <= lines[n - 1].from))
            n--;
        lines[i].from = n > 0 ? curve_test_meet(&lines[n - 1], &lines[i]) : -INFINITY;
        lines[n++] = lines[i];
    }
    *out = (struct profile_curve){lines, n};
    lines = NULL;
done:
    base_free(lines);
    return status;
}

void profile_curve_clear(struct profile_curve *c)
{
    base_free(c->lines);
    *c = (struct profile_curve){0};
}

/* Whichever line is taken, the curve lies above it. */
static double profile_inverse(double y, const void *arg)
{
    const struct profile_curve *c = arg;
    size_t low = 0, high = c->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->lines[middle].from <= y)
            low = middle;
        else
            high = middle;
    }
    return fmax(0, line_at(&c->lines[low], y));
}

struct trade_off profile_trade_off(const struct profile_curve *c)
{
    return (struct trade_off){profile_inverse, c};
}

/* ---- families of curves with one parameter ---- */

struct claimed {
    double epsilon, delta;
};

static double claimed_inverse(double y, const void *arg)
{
    const struct claimed *c = arg;
    return fmax(0, fmax(exp(-c->epsilon) * (y - c->delta), 1 - c->delta - exp(c->epsilon) * (1 - y)));
}

static double curve_test_normal(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* Abramowitz and Stegun 26.2.23 (off by 4.5e-4), then two steps of Halley's rule. */
static double normal_quantile(double p)
{
    double t = sqrt(-2 * log(fmin(p, 1 - p)));
    double z =
        (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    z = p < 0.5 ? z : -z;
    for (int i = 0; i < 2; i++) {
        double step = (curve_test_normal(z) - p) * 2.50662827463100050242 * exp(z * z / 2);
        z -= step / (1 + z * step / 2);
    }
    return z;
}

static double gaussian_inverse(double y, const void *arg)
{
    return y <= 0 ? 0 : y >= 1 ? 1 : curve_test_normal(normal_quantile(y) - *(const double *)arg);
}

/* Largest parameter that is rejected, from below; `most`: far beyond any. */
static double curve_test_largest(double *parameter, const struct trade_off *f, double most,
                                 const struct guessed *g, double level)
{
    double low = 0, high = most;
    *parameter = 0;
    if (!curve_rejected(f, g, level))
        return 0;
    for (int i = 0; i < 50; i++) {
        *parameter = low + (high - low) / 2;
        if (curve_rejected(f, g, level))
            low = *parameter;
        else
            high = *parameter;
    }
    return low;
}

double curve_epsilon(const struct guessed *g, double delta, double level)
{
    struct claimed c = {0, delta};
    const struct trade_off f = {claimed_inverse, &c};
    return curve_test_largest(&c.epsilon, &f, 64, g, level);
}

double curve_mu(const struct guessed *g, double level)
{
    double mu = 0;
    const struct trade_off f = {gaussian_inverse, &mu};
    return curve_test_largest(&mu, &f, 32, g, level);
}

/* delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018, theorem 8). */
double gaussian_epsilon(double mu, double delta)
{
    double low = 0, high = mu * (mu / 2 + 40);
    for (int i = 0; i < 100; i++) {
        double e = low + (high - low) / 2;
        if (curve_test_normal(mu / 2 - e / mu) - exp(e) * curve_test_normal(-mu / 2 - e / mu) > delta)
            low = e;
        else
            high = e;
    }
    return mu > 0 ? low : 0;
}
