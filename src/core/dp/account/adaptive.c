/* Boxes: what one draw of a coin, a randomised response and a Gaussian tells, and which releases it dominates. */
#include "dp/account/adaptive.h"
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "num/special.h"

#include <math.h>

static const struct interval nothing = {0, 0}, unit = {1, 1};
static const double most_square = 0x1p20; /* nothing is hidden there any more: epsilon is above 500,000 */

/* ---- G(mu, y) = Phi(mu/2 - y/mu) - e^y Phi(-mu/2 - y/mu), for any real y; G(0, y) = max(0, 1 - e^y) ---- */
struct gaussian_curve {
    struct interval value,
        slope; /* slope: the derivative by e^y, -Phi(-mu/2 - y/mu); at a kink all that lie between */
};

static struct interval gaussian_delta(struct interval mu, double y)
{
    struct interval d = mechanism_find("gaussian")->delta(mu, fabs(y));
    if (y < 0) /* the mirror image: 1 - e^y + e^y delta(-y) */
        d = iv_add(iv_neg(iv_expm1(iv(y))), iv_mul(iv_exp(iv(y)), d));
    return iv_max(iv_min(d, unit), nothing);
}

static struct gaussian_curve gaussian_at(struct interval mu, struct interval y)
{
    if (mu.hi == 0) {
        struct interval flat = {y.lo > 0 ? 0 : -1, y.hi < 0 ? -1 : 0};
        return (struct gaussian_curve){y.lo >= 0 ? nothing : iv_max(iv_neg(iv_expm1(y)), nothing), flat};
    }
    struct interval beyond = normal_cdf(iv_neg(iv_add(iv_scale(mu, 0.5), iv_div(y, mu))));
    return (struct gaussian_curve){{gaussian_delta(mu, y.hi).lo, gaussian_delta(mu, y.lo).hi},
                                   iv_neg(beyond)};
}

/* The box's curve and its derivative by X = e^x. */
static struct gaussian_curve box_at(const struct adaptive *b, double x)
{
    struct interval mu = iv_sqrt(iv(b->square)), e = iv(b->pure), hidden = iv_sub(unit, iv(b->failure));
    struct gaussian_curve up = gaussian_at(mu, iv_sub(iv(x), e)), down = {nothing, nothing};
    struct interval p = unit;
    if (b->pure > 0) {
        down = gaussian_at(mu, iv_add(iv(x), e));
        p = iv_div(unit, iv_add(unit, iv_exp(iv_neg(e))));
    }
    /* p e^-E = 1 - p: the answer "yes" of randomised response moves the slope by e^-E, "no" by e^E */
    struct interval q = iv_sub(unit, p), shrink = iv_exp(iv_neg(e)), stretch = iv_exp(e);
    struct interval value = iv_add(iv_mul(p, up.value), iv_mul(q, down.value));
    struct interval slope =
        iv_add(iv_mul(iv_mul(p, shrink), up.slope), iv_mul(iv_mul(q, stretch), down.slope));
    if (b->pure == 0) {
        value = up.value;
        slope = up.slope;
    }
    return (struct gaussian_curve){iv_add(iv(b->failure), iv_mul(hidden, value)), iv_mul(hidden, slope)};
}

struct interval adaptive_delta(const struct adaptive *box, double x)
{
    return iv_max(iv_min(box_at(box, x).value, unit), nothing);
}

struct below {
    const struct adaptive *box;
    double delta;
};

static bool curve_is_below(double x, const void *arg)
{
    const struct below *b = arg;
    return adaptive_delta(b->box, x).hi <= b->delta;
}

double adaptive_epsilon(const struct adaptive *box, double delta)
{
    const struct below b = {box, delta};
    double high = 1;
    if (curve_is_below(0, &b))
        return 0;
    if (box->square == 0 && delta >= box->failure && curve_is_below(box->pure, &b))
        high = box->pure; /* the end of randomised response, exactly */
    while (!curve_is_below(high, &b)) {
        high *= 2;
        if (high > 700) /* e^x leaves the doubles */
            return INFINITY;
    }
    return bisect_up(fmin(0x1p-60, high / 2), high, curve_is_below, &b);
}

static bool curve_may_be_below(double x, const void *arg)
{
    const struct below *b = arg;
    return adaptive_delta(b->box, x).lo <= b->delta;
}

double adaptive_epsilon_below(const struct adaptive *box, double delta)
{
    const struct below b = {box, delta};
    const double high = adaptive_epsilon(box, delta), low = fmin(0x1p-60, high / 2);
    if (high == 0 || high == INFINITY || curve_may_be_below(low, &b))
        return 0;
    double end = bisect_up(low, high, curve_may_be_below, &b);
    while (curve_may_be_below(end, &b))
        end *= 1 - 0x1p-50;
    return end;
}

double adaptive_tpr(const struct adaptive *box, double fpr)
{
    /* a test of false positives a finds at most delta(x) + e^x a of the others, for every x; the least of a dense list counts */
    double best = 1;
    const double mu = sqrt(box->square), far = box->pure + mu * mu / 2 + 9 * mu + 1;
    for (int i = -2000; i <= 2000; i++) {
        double x = far * i / 2000;
        if (x < 700)
            best = fmin(best, iv_add(adaptive_delta(box, x), iv_mul(iv_exp(iv(x)), iv(fpr))).hi);
    }
    return best;
}

/* ---- sums ---- */
static double sum_up(double a, double b)
{
    return a == 0 ? b : b == 0 ? a : iv_add(iv(a), iv(b)).hi;
}

struct adaptive adaptive_add(struct adaptive a, struct adaptive b)
{
    struct interval both = iv_mul(iv(a.failure), iv(b.failure)); /* 1 - (1 - a)(1 - b) = a + b - a b */
    double failure = a.failure == 0   ? b.failure
                     : b.failure == 0 ? a.failure
                                      : iv_sub(iv_add(iv(a.failure), iv(b.failure)), both).hi;
    return (struct adaptive){sum_up(a.pure, b.pure), sum_up(a.square, b.square), fmin(failure, 1)};
}

bool adaptive_fits(const struct adaptive *a, const struct adaptive *b)
{
    return a->pure <= b->pure && a->square <= b->square && a->failure <= b->failure;
}

struct target {
    double epsilon, delta, pure, failure;
};

static bool is_too_much(double square, const void *arg)
{
    const struct target *t = arg;
    const struct adaptive box = {t->pure, square, t->failure};
    return adaptive_delta(&box, t->epsilon).hi > t->delta;
}

static double rough_gaussian(double mu, double x)
{
    return erfc((x / mu - mu / 2) / sqrt(2)) / 2 - exp(x) * erfc((x / mu + mu / 2) / sqrt(2)) / 2;
}

/* The same in plain doubles, to find out quickly where to look closely. */
static bool is_roughly_too_much(double square, const void *arg)
{
    const struct target *t = arg;
    const double mu = sqrt(square), p = 1 / (1 + exp(-t->pure));
    const double curve =
        p * rough_gaussian(mu, t->epsilon - t->pure) + (1 - p) * rough_gaussian(mu, t->epsilon + t->pure);
    return t->failure + (1 - t->failure) * curve > t->delta;
}

/* Below it: errors of erfc() and exp() are far smaller parts of the first term. */
static double below_gaussian(double mu, double x)
{
    return fmax(rough_gaussian(mu, x) - 1e-10 * erfc((x / mu - mu / 2) / sqrt(2)), 0);
}

bool adaptive_reaches(const struct adaptive *box, double x, double delta)
{
    const double mu = sqrt(box->square), p = 1 / (1 + exp(-box->pure));
    const double curve =
        mu > 0 ? p * below_gaussian(mu, x - box->pure) + (1 - p) * below_gaussian(mu, x + box->pure) : 0;
    return box->failure + (1 - box->failure) * curve >= delta * (1 + 0x1p-40) ||
           adaptive_delta(box, x).hi >= delta;
}

/* Above it, likewise. */
static double above_gaussian(double mu, double x)
{
    return rough_gaussian(mu, x) + 1e-10 * erfc((x / mu - mu / 2) / sqrt(2));
}

bool adaptive_stays(const struct adaptive *box, double x, double delta)
{
    const double mu = sqrt(box->square);
    const bool plain =
        box->pure == 0 && mu > 0 && x >= 0 && x < 700 && delta > 1e-280; /* no part underflows */
    return (plain && box->failure + (1 - box->failure) * above_gaussian(mu, x) <= delta * (1 - 0x1p-40)) ||
           adaptive_delta(box, x).hi <= delta;
}

double adaptive_column(double epsilon, double delta, double pure, double failure)
{
    const struct target t = {epsilon, delta, pure, failure};
    const double near = bisect_up(0x1p-80, 0x1p20, is_roughly_too_much, &t);
    double low = near * (1 - 0x1p-30), high = near * (1 + 0x1p-30);
    if (is_too_much(0, &t))
        return -1;
    if (is_too_much(low, &t)) {
        low = 0x1p-80;
        high = 1;
    }
    if (is_too_much(low, &t))
        return 0;
    while (!is_too_much(high, &t)) {
        low = high;
        if ((high *= 2) > most_square)
            return most_square;
    }
    /* `high` was too much, and so was whatever the bisection ends at: the double before it may be the answer */
    double end = bisect_up(low, high, is_too_much, &t);
    while (is_too_much(end, &t))
        end = end * (1 - 0x1p-50);
    return end;
}

static bool adaptive_half_reaches(double half, const void *arg)
{
    const struct interval *p = arg;
    return normal_cdf(iv(half)).lo >= p->hi;
}

double adaptive_square_of_pure(double epsilon)
{
    struct interval p = iv_div(unit, iv_add(unit, iv_exp(iv(-epsilon))));
    double low = 0x1p-60, high = 1;
    if (epsilon == 0)
        return 0;
    while (!adaptive_half_reaches(high, &p))
        if ((high *= 2) > 64)
            return INFINITY;
    return iv_scale(iv_square(iv(bisect_up(low, high, adaptive_half_reaches, &p))), 4).hi;
}

/* Phi(m/2) = p where erf(y) = tanh(epsilon/2), y = m / sqrt 8, by Halley's steps: what erf(), tanh() and exp() are wrong by is far less
 * than what is taken off. */
double adaptive_square_of_pure_below(double epsilon)
{
    enum { STEPS = 4 };
    if (!(epsilon < 2)) /* erf() tells little about y near 1 */
        return adaptive_square_of_pure(epsilon) * (1 - 1e-11);
    const double bound = tanh(epsilon / 2), slope = 1.1283791670955126; /* 2 / sqrt pi */
    double y = bound / slope;
    for (int i = 0; i < STEPS; i++) {
        const double step = (erf(y) - bound) / (slope * exp(-y * y));
        y -= step / (1 + step * y);
    }
    return 8 * y * y * (1 - 1e-11);
}

/* ---- domination ---- */
/* Between X0 and X1 the curve is below its chord, and the box above its tangents at both ends: one serves to the left of some
 * point between, the other to its right. Any point will do for a proof; where they cross is the best. */
static bool cell_is_covered(const struct adaptive *box, double x0, double d0, double x1, double d1)
{
    struct interval X0 = iv_exp(iv(x0)), X1 = iv_exp(iv(x1)), width = iv_sub(X1, X0);
    struct gaussian_curve b0 = box_at(box, x0), b1 = box_at(box, x1);
    if (!(d0 <= b0.value.lo && d1 <= b1.value.lo && width.lo > 0))
        return false;
    double rise = b1.value.lo - b0.value.lo, s0 = b0.slope.lo, s1 = b1.slope.hi;
    double part =
        s1 > s0 ? (rise / width.hi - s1) / (s0 - s1) : 0.5; /* of the cell, where the tangents cross */
    part = part > 0 && part < 1 ? part : 0.5;
    struct interval way = iv_scale(width, part), back = iv_sub(width, way);
    struct interval chord = iv_add(iv_scale(iv(d0), 1 - part), iv_scale(iv(d1), part));
    struct interval left = iv_add(iv(b0.value.lo), iv_mul(iv(s0), way));
    struct interval right = iv_sub(iv(b1.value.lo), iv_mul(iv(s1), back));
    /* 1 - part is rounded: a chord's value off by that much is inside the interval when it is widened by it */
    double slack = fmax(d0, d1) * 0x1p-50;
    return chord.hi + slack <= left.lo && chord.hi + slack <= right.lo;
}

bool adaptive_covers(const struct adaptive *box, const struct adaptive_curve *c)
{
    if (c->n < 2 || c->x[0] != 0 || !(c->delta[c->n - 1] <= box->failure))
        return false;
    for (size_t i = 0; i + 1 < c->n; i++)
        if (!(c->x[i] < c->x[i + 1]) ||
            !cell_is_covered(box, c->x[i], c->delta[i], c->x[i + 1], c->delta[i + 1]))
            return false;
    return true;
}

/* Does the middle of three points lie on or above the chord of the others? Which points are corners is no matter of proof: every chord
 * between upper ends is above the curve. */
static bool lies_above(const double *x, const double *delta, size_t a, size_t b, size_t c)
{
    const double left = exp(x[b]) - exp(x[a]), right = exp(x[c]) - exp(x[b]);
    return (delta[b] - delta[a]) * right >= (delta[c] - delta[b]) * left;
}

/* On the chord between two corners, from above. */
static double on_chord(double xa, double da, double xb, double db, double x)
{
    struct interval A = iv_exp(iv(xa)), B = iv_exp(iv(xb)), X = iv_exp(iv(x));
    struct interval to_b = iv_sub(B, X), from_a = iv_sub(X, A);
    return iv_div(iv_add(iv_mul(iv(da), to_b), iv_mul(iv(db), from_a)), iv_sub(B, A)).hi;
}

sotto_status adaptive_hull(double *delta, const double *x, size_t n)
{
    sotto_status status = SOTTO_OK;
    size_t *corner = NULL, count = 0;
    NEW(corner, n);
    /* To the left of X = 1 are mirror images, and the hull is its own. So what of it crosses X = 1 is the chord from a point to
     * its own image: with X = e^x and v = delta, (X - 1 + 2 v) / (X + 1). */
    for (size_t i = 1; i < n; i++) {
        struct interval X = iv_exp(iv(x[i])), twice = iv_scale(iv(delta[i]), 2);
        delta[0] = fmin(delta[0], iv_div(iv_add(iv_sub(X, unit), twice), iv_add(X, unit)).hi);
    }
    for (size_t i = 0; i < n; i++) {
        while (count > 1 && lies_above(x, delta, corner[count - 2], corner[count - 1], i))
            count--;
        corner[count++] = i;
    }
    for (size_t k = 0; k + 1 < count; k++)
        for (size_t i = corner[k] + 1; i < corner[k + 1]; i++)
            delta[i] = fmin(delta[i], on_chord(x[corner[k]], delta[corner[k]], x[corner[k + 1]],
                                               delta[corner[k + 1]], x[i]));
done:
    base_free(corner);
    return status;
}

static bool covers_cell(const struct adaptive *box, const struct adaptive_curve *c, size_t i)
{
    return cell_is_covered(box, c->x[i], c->delta[i], c->x[i + 1], c->delta[i + 1]);
}

/* Raises m, to 2^-20 of it, until the box covers one cell. */
static void raise_to_cell(struct adaptive *box, const struct adaptive_curve *c, size_t i)
{
    double low = box->square;
    box->square = fmax(1, 2 * low);
    while (!covers_cell(box, c, i)) {
        low = box->square;
        if ((box->square *= 4) > most_square)
            return;
    }
    double high = box->square;
    while (high - low > high * 0x1p-20 && high > 0x1p-60) {
        box->square = low + (high - low) / 2;
        *(covers_cell(box, c, i) ? &high : &low) = box->square;
    }
    box->square = high;
}

double adaptive_square_of_curve(const struct adaptive_curve *c, double pure, double failure)
{
    enum { PRIME = 7919 }; /* by strides: from one end to the other, most cells would raise m */
    struct adaptive box = {pure, 0, failure};
    if (c->n < 2 || !(c->delta[c->n - 1] <= failure))
        return INFINITY;
    const size_t cells = c->n - 1, stride = cells % PRIME == 0 ? 1 : PRIME;
    size_t covered = 0;
    for (size_t k = 0; covered < cells; k++, covered++) /* until m has passed all cells, one after another */
        if (!covers_cell(&box, c, k * stride % cells)) {
            raise_to_cell(&box, c, k * stride % cells);
            covered = 0;
            if (box.square > most_square)
                return INFINITY;
        }
    return box.square;
}
