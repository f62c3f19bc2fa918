/* From a curve to masses on the grid, in terms of x = e^eps, where a distribution's curve is convex and
 * piecewise linear with corners at e^(i h). A corner's mass is x_i times the change of slope there:
 *   p_i = (d_i - e^-h d_(i+1)) / (1 - e^-h),   d_i = v_(i-1) - v_i   of the corner values v,
 * the same for delta and for delta - (1 - x), whose slopes differ by 1: below 0 the code works on the second,
 * from 0 on on the first, and the mass at 0 gets the 1. A step's relative rounding is that of the d's, so
 * masses in the tails are as good as the tails. docs/derivations/pld.md, section 2. */
#include "dp/pld.h"

#include "base/memory.h"

enum { BLOCK = 256, SEARCH = 80 };
static const double most_points = 0x1p24;

void pld_free(struct pld *p)
{
    base_free(p->mass);
    *p = (struct pld){0};
}

double pld_round_step(double step)
{
    int exponent;
    double mantissa = frexp(step, &exponent);
    return ldexp(rint(ldexp(mantissa, 21)), exponent - 21);
}

static double value_at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return p.value.hi;
}

/* The loss of sign `side` that is nearest to 0 with value <= cut, to 1 %. */
static double end_of(const struct pair *pair, double cut, double side)
{
    double far = 1e-12;
    while (far < 1e12 && value_at(pair, side * far) > cut)
        far *= 2;
    double near = far / 2;
    for (int i = 0; i < 7; i++) {
        double middle = (near + far) / 2;
        if (value_at(pair, side * middle) > cut)
            near = middle;
        else
            far = middle;
    }
    return side * far;
}

struct pld_range pld_find_range(const struct pair *pair, double cut)
{
    return (struct pld_range){end_of(pair, cut, -1), end_of(pair, cut, 1)};
}

/* Corners at first < 0 < last. */
struct corners {
    double step;
    int64_t first, last;
    double *value, *other; /* of first..last; below 0: less 1 - x */
};

static void corners_free(struct corners *c)
{
    base_free(c->value);
    base_free(c->other);
}

static sotto_status corners_make(struct corners *c, struct pld *out, struct pld_range range, double step)
{
    sotto_status status = SOTTO_OK;
    *c = (struct corners){.step = step};
    *out = (struct pld){.step = step};
    double first = fmin(floor(range.low / step), -1), last = fmax(ceil(range.high / step), 1);
    if (!(last - first < most_points))
        FAIL(SOTTO_EDOMAIN, "a privacy-loss distribution of %g points is too large", last - first);
    c->first = (int64_t)first;
    c->last = (int64_t)last;
    out->lowest = c->first;
    out->n = (size_t)(c->last - c->first) + 1;
    c->value = base_alloc(out->n, sizeof *c->value);
    out->mass = base_alloc(out->n, sizeof *out->mass);
    c->other = base_alloc(out->n, sizeof *c->other);
    if (!c->value || !c->other || !out->mass)
        FAIL(SOTTO_ENOMEM, "no memory for a privacy-loss distribution of %zu points", out->n);
done:
    if (status != SOTTO_OK) {
        corners_free(c);
        pld_free(out);
    }
    return status;
}

/* Calls take() for the curve at (i + offset) step, i = from..to. */
static void each_point(const struct pair *pair, struct corners *c, int64_t from, int64_t to, double offset,
                       void (*take)(struct corners *c, int64_t i, struct pair_point p))
{
    double epsilon[BLOCK];
    struct pair_point p[BLOCK];
    for (int64_t start = from; start <= to; start += BLOCK) {
        int64_t n = to - start + 1 < BLOCK ? to - start + 1 : BLOCK;
        for (int64_t i = 0; i < n; i++)
            epsilon[i] = ((double)(start + i) + offset) * c->step;
        pair->points(p, pair->arg, epsilon, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            take(c, start + i, p[i]);
    }
}

/* Masses from corner values, each with a bound of its rounding error. */
struct rule {
    double shrink, gain, grow; /* e^-h, 1 / (1 - e^-h), 1 / (e^h - 1) */
};
struct masses {
    double value, error;
};

static struct rule rule_of(double step)
{
    return (struct rule){exp(-step), -1 / expm1(-step), 1 / expm1(step)};
}

/* Differences behind the last corner are 0, and before the first one the line goes to 0 at x = 0. */
static struct masses mass_at(const struct corners *c, const struct rule *r, int64_t i)
{
    const double *v = c->value + (i - c->first);
    double after = i < c->last ? v[0] - v[1] : 0;
    if (i == c->first) {
        double value = -after * r->grow - v[0];
        return (struct masses){value, (fabs(after) * r->grow + v[0]) * 0x1p-48};
    }
    double before = v[-1] - v[0], value = (before - r->shrink * after) * r->gain + (i == 0);
    return (struct masses){value, (fabs(before) + fabs(after)) * r->gain * 0x1p-48 + (i == 0) * 0x1p-50};
}

static void take_upper(struct corners *c, int64_t i, struct pair_point p)
{
    c->value[i - c->first] = p.value.hi;
}

sotto_status pld_discretise_upper(struct pld *out, const struct pair *pair, struct pld_range range,
                                  double step)
{
    sotto_status status = SOTTO_OK;
    struct corners c;
    struct pld p;
    TRY(corners_make(&c, &p, range, step));
    each_point(pair, &c, c.first, c.last, 0, take_upper);
    const struct rule r = rule_of(step);
    for (int64_t i = c.first; i <= c.last;
         i++) { /* a larger mass, or 0 for a negative one, is a larger curve */
        struct masses m = mass_at(&c, &r, i);
        p.mass[i - c.first] = fmax(0, m.value + m.error);
    }
    p.infinite = c.value[c.last - c.first];
    corners_free(&c);
    *out = p;
done:
    return status;
}

/* The tangent at (i + 1/2) h bounds the curve on the cell [i h, (i+1) h]: a chord below it at both corners is
 * below the curve. Each corner i gets the tangent of the cell on its left in value[i], on its right in
 * other[i]. */
static void take_lower(struct corners *c, int64_t i, struct pair_point p)
{
    struct interval up = iv_expm1(iv(c->step / 2)), back = iv_neg(iv_expm1(iv(-c->step / 2)));
    if (i < 0) { /* rising */
        up = iv_neg(up);
        back = iv_neg(back);
    }
    c->other[i - c->first] = iv_add(p.value, iv_mul(p.slope, back)).lo;
    c->value[i + 1 - c->first] = iv_sub(p.value, iv_mul(p.slope, up)).lo;
}

/* The distribution ends in corners of value 0. Going outwards from 0, the first corner where a tangent is <=
 * 0 becomes 0 if the inner cell's tangent allows it, else the corner before it does. */
static int64_t end_corner(const struct corners *c, int64_t sign)
{
    const double *inner = (sign > 0 ? c->value : c->other) - c->first;
    const double *outer = (sign > 0 ? c->other : c->value) - c->first;
    int64_t end = sign > 0 ? c->last : c->first;
    for (int64_t i = sign; i != end; i += sign)
        if (!(inner[i] > 0 && outer[i] > 0))
            return inner[i] >= 0 ? i : i - sign;
    return inner[end] >= 0 ? end : end - sign;
}

static void settle(struct corners *c)
{
    double *v = c->value - c->first, *other = c->other - c->first;
    int64_t low = end_corner(c, -1), high = end_corner(c, 1);
    if (low == 0 || high == 0 || !(v[0] > 0 && other[0] > 0)) /* nothing to tell apart: the curve 1 - x */
        low = high = 0;
    for (int64_t i = c->first; i <= c->last; i++)
        v[i] = i <= low || i >= high ? 0 : fmin(v[i], other[i]);
}

sotto_status pld_discretise_lower(struct pld *out, const struct pair *pair, struct pld_range range,
                                  double step)
{
    sotto_status status = SOTTO_OK;
    struct corners c;
    struct pld p;
    TRY(corners_make(&c, &p, range, step));
    each_point(pair, &c, c.first, c.last - 1, 0.5, take_lower);
    settle(&c);
    const struct rule r = rule_of(step);
    double debt = 0; /* a negative mass is taken from larger losses, which lowers the curve */
    for (int64_t i = c.first; i <= c.last; i++) {
        struct masses m = mass_at(&c, &r, i);
        double mass = m.value - m.error - debt * (1 + 0x1p-50);
        p.mass[i - c.first] = fmax(0, mass);
        debt = fmax(0, -mass);
    }
    for (size_t i = 0; debt > 0 && i < p.n; i++) /* more than all there is: the curve 0 */
        p.mass[i] = 0;
    corners_free(&c);
    *out = p;
done:
    return status;
}

/* The curve at epsilon, summed from the largest loss down. */
struct interval pld_delta(const struct pld *p, double epsilon)
{
    struct interval sum = iv(p->infinite);
    for (size_t i = p->n; i-- > 0;) {
        double loss = (double)(p->lowest + (int64_t)i) * p->step;
        if (loss <= epsilon)
            break;
        struct interval gain = iv_neg(iv_expm1(iv_sub(iv(epsilon), iv(loss))));
        sum = iv_add(sum, iv_scale(gain, p->mass[i]));
    }
    return sum;
}
