/* From a curve to masses at the grid's losses, in terms of x = e^eps, where a distribution's curve is convex
 * and piecewise linear with corners there. A corner's mass is x times the change of slope: with v the
 * corners' values and a, b the distances to the corners on the left and on the right, p = (v_right - v) /
 * (e^b - 1) - (v - v_left) / (1 - e^-a), the same for delta and for delta - (1 - x); their slopes differ by
 * 1: below 0 the code works on the second, from 0 on on the first, and the mass at 0 gets the 1. So masses in
 * a tail are as good as that tail. docs/derivations/pld.md, section 2. */
#include "dp/pld/pld.h"

#include "base/memory.h"

enum { BLOCK = 256, NEARER = 8 };

void pld_free(struct pld *p)
{
    base_free(p->mass);
    *p = (struct pld){0};
}

/* Corner values at the grid's losses, below 0 less 1 - x. */
struct corners {
    const struct pld_grid *grid;
    double *value, *other;
};

static void corners_free(struct corners *c)
{
    base_free(c->value);
    base_free(c->other);
}

static sotto_status corners_make(struct corners *c, struct pld *out, const struct pld_grid *grid)
{
    sotto_status status = SOTTO_OK;
    *c = (struct corners){.grid = grid};
    *out = (struct pld){.grid = grid};
    NEW(c->value, grid->n);
    NEW(c->other, grid->n);
    NEW(out->mass, grid->n);
done:
    if (status != SOTTO_OK) {
        corners_free(c);
        pld_free(out);
    }
    return status;
}

/* Calls take() for the curve at (index[i] + index[i + between]) step / 2, i = 0..n-1-between. */
static void each_point(const struct pair *pair, struct corners *c, size_t between,
                       void (*take)(struct corners *c, size_t i, struct pair_point p))
{
    const struct pld_grid *g = c->grid;
    double epsilon[BLOCK];
    struct pair_point p[BLOCK];
    for (size_t start = 0; start + between < g->n; start += BLOCK) {
        size_t n = g->n - between - start < BLOCK ? g->n - between - start : BLOCK;
        for (size_t i = 0; i < n; i++)
            epsilon[i] = (double)(g->index[start + i] + g->index[start + i + between]) * (g->step / 2);
        pair->points(p, pair->arg, epsilon, n);
        for (size_t i = 0; i < n; i++)
            take(c, start + i, p[i]);
    }
}

/* A mass and a bound of its rounding error. */
struct mass {
    double value, error;
};

/* b - a, and a bound of its rounding error: none for numbers so near to each other (Sterbenz). */
static struct mass pld_discretise_gap(double a, double b)
{
    bool near = b <= 2 * a && a <= 2 * b;
    return (struct mass){b - a, near ? 0 : fabs(b - a) * 0x1p-53};
}

/* Between two gaps of one length h, with d = v_right - v and e = v - v_left: p = (d - e) / (e^h - 1) - e,
 * terms as small as p itself. */
static struct mass mass_between(const double *v, double h)
{
    struct mass d = pld_discretise_gap(v[0], v[1]), e = pld_discretise_gap(v[-1], v[0]);
    double rise = expm1(h), bend = (d.value - e.value) / rise;
    return (struct mass){bend - e.value, (d.error + e.error) / rise * 1.001 + e.error +
                                             (fabs(bend) + fabs(e.value)) * 0x1p-48};
}

/* Behind the last corner the curve is level; before the first one it runs to 0 at x = 0. */
static struct mass mass_at(const struct corners *c, size_t i)
{
    const struct pld_grid *g = c->grid;
    const double *v = c->value + i;
    bool middle = g->index[i] == 0;
    int64_t b = i + 1 < g->n ? g->index[i + 1] - g->index[i] : 0,
            a = i > 0 ? g->index[i] - g->index[i - 1] : 0;
    if (a == b && !middle)
        return mass_between(v, (double)a * g->step);
    double right = b > 0 ? (v[1] - v[0]) / expm1((double)b * g->step) : 0;
    double left = a > 0 ? (v[-1] - v[0]) / expm1((double)-a * g->step) : v[0];
    return (struct mass){right - left + middle, (fabs(right) + fabs(left) + middle) * 0x1p-48};
}

static void take_upper(struct corners *c, size_t i, struct pair_point p)
{
    c->value[i] = p.value.hi;
}

sotto_status pld_discretise_upper(struct pld *out, const struct pair *pair, const struct pld_grid *grid)
{
    sotto_status status = SOTTO_OK;
    struct corners c;
    struct pld p;
    TRY(corners_make(&c, &p, grid));
    each_point(pair, &c, 0, take_upper);
    for (size_t i = 0; i < grid->n; i++) { /* a larger mass, or 0 for a negative one, is a larger curve */
        struct mass m = mass_at(&c, i);
        p.mass[i] = fmax(0, m.value + m.error);
    }
    p.infinite = c.value[grid->n - 1];
    corners_free(&c);
    *out = p;
done:
    return status;
}

/* The tangent in the middle of a cell bounds the curve on it: a chord that is below it at both corners is
 * below the curve. Each corner gets the tangent of the cell on its left in value, on its right in other. */
static void take_lower(struct corners *c, size_t i, struct pair_point p)
{
    const struct pld_grid *g = c->grid;
    double half = (double)(g->index[i + 1] - g->index[i]) * (g->step / 2);
    struct interval up = iv_expm1(iv(half)), back = iv_neg(iv_expm1(iv(-half)));
    if (g->index[i] < 0) { /* rising */
        up = iv_neg(up);
        back = iv_neg(back);
    }
    c->other[i] = iv_add(p.value, iv_mul(p.slope, back)).lo;
    c->value[i + 1] = iv_sub(p.value, iv_mul(p.slope, up)).lo;
}

static size_t middle_of(const struct pld_grid *g)
{
    size_t i = 0;
    while (g->index[i] < 0)
        i++;
    return i;
}

/* The distribution ends in corners of value 0. Going outwards from the middle, the first corner where a
 * tangent is <= 0 becomes 0 if the inner cell's tangent allows it. If not, that cell gets a tangent nearer to
 * the corner, at last the one at the corner itself, which is 0 or more there (this keeps an atom whole); if
 * that leaves nothing at the corner before, the distribution ends there. */
static size_t end_corner(struct corners *c, const struct pair *pair, size_t middle, bool rightwards)
{
    const struct pld_grid *g = c->grid;
    double *inner = rightwards ? c->value : c->other, *outer = rightwards ? c->other : c->value;
    size_t end = rightwards ? g->n - 1 : 0, i = middle;
    do {
        i = rightwards ? i + 1 : i - 1;
    } while (i != end && inner[i] > 0 && outer[i] > 0);
    size_t before = rightwards ? i - 1 : i + 1;
    double corner = (double)g->index[i] * g->step, inside = (double)g->index[before] * g->step;
    for (int k = 2; k <= NEARER && inner[i] < 0; k++) {
        double epsilon = k < NEARER ? corner + ldexp(inside - corner, -k) : corner;
        struct pair_point p;
        pair->points(&p, pair->arg, &epsilon, 1);
        struct interval slope = rightwards ? iv_neg(p.slope) : p.slope;
        struct interval there = iv_expm1(iv_sub(iv(corner), iv(epsilon)));
        struct interval back = iv_expm1(iv_sub(iv(inside), iv(epsilon)));
        inner[i] = iv_add(p.value, iv_mul(slope, there)).lo;
        outer[before] = iv_add(p.value, iv_mul(slope, back)).lo;
    }
    return inner[i] >= 0 && outer[before] > 0 ? i : before;
}

/* The mass of a corner between two others: negative where the corner lies above their chord. */
static double pld_discretise_bend(const struct corners *c, size_t left, size_t i, size_t right)
{
    const struct pld_grid *g = c->grid;
    const double *v = c->value;
    return (v[right] - v[i]) / expm1((double)(g->index[right] - g->index[i]) * g->step) -
           (v[left] - v[i]) / expm1((double)(g->index[left] - g->index[i]) * g->step);
}

/* Values down to the chord between two corners. Lower values are always allowed. */
static void pld_discretise_flatten(struct corners *c, size_t from, size_t to)
{
    const struct pld_grid *g = c->grid;
    double *v = c->value, rise = v[to] - v[from];
    double length = expm1((double)(g->index[to] - g->index[from]) * g->step);
    for (size_t i = from + 1; i < to; i++)
        v[i] =
            fmin(v[i], v[from] + rise * (expm1((double)(g->index[i] - g->index[from]) * g->step) / length));
}

/* Makes the values from..to convex, as far as rounding goes: their lower hull. Where a curve bends within
 * less than a step the tangents alone do not meet convexly. `chain` has room for the hull's corners. */
static void make_convex(struct corners *c, size_t from, size_t to, size_t *chain)
{
    size_t n = 0;
    for (size_t i = from; i <= to; i++) {
        while (n >= 2 && pld_discretise_bend(c, chain[n - 2], chain[n - 1], i) < 0)
            n--;
        chain[n++] = i;
    }
    for (size_t i = 1; i < n; i++)
        pld_discretise_flatten(c, chain[i - 1], chain[i]);
}

static void pld_discretise_settle(struct corners *c, const struct pair *pair, size_t *chain)
{
    size_t middle = middle_of(c->grid);
    size_t low = end_corner(c, pair, middle, false), high = end_corner(c, pair, middle, true);
    if (low == middle || high == middle || !(c->value[middle] > 0 && c->other[middle] > 0))
        low = high = middle; /* nothing to tell apart: the curve 1 - x */
    for (size_t i = 0; i < c->grid->n; i++)
        c->value[i] = i <= low || i >= high ? 0 : fmin(c->value[i], c->other[i]);
    make_convex(c, low, middle, chain);
    make_convex(c, middle, high, chain);
}

sotto_status pld_discretise_lower(struct pld *out, const struct pair *pair, const struct pld_grid *grid)
{
    sotto_status status = SOTTO_OK;
    struct corners c;
    struct pld p;
    size_t *chain = NULL;
    NEW(chain, grid->n);
    TRY(corners_make(&c, &p, grid));
    each_point(pair, &c, 1, take_lower);
    pld_discretise_settle(&c, pair, chain);
    double debt = 0; /* a negative mass is taken from larger losses, which lowers the curve */
    for (size_t i = 0; i < grid->n; i++) {
        struct mass m = mass_at(&c, i);
        double mass = m.value - m.error - debt * (1 + 0x1p-50);
        p.mass[i] = fmax(0, mass);
        debt = fmax(0, -mass);
    }
    for (size_t i = 0; debt > 0 && i < grid->n; i++) /* more than all there is: the curve 0 */
        p.mass[i] = 0;
    corners_free(&c);
    *out = p;
done:
    base_free(chain);
    return status;
}

/* The curve at epsilon, summed from the largest loss down. */
struct interval pld_delta(const struct pld *p, double epsilon)
{
    struct interval sum = iv(p->infinite);
    for (size_t i = p->grid->n; i-- > 0;) {
        double loss = (double)p->grid->index[i] * p->grid->step;
        if (loss <= epsilon)
            break;
        struct interval gain = iv_neg(iv_expm1(iv_sub(iv(epsilon), iv(loss))));
        sum = iv_add(sum, iv_scale(gain, p->mass[i]));
    }
    return sum;
}
