/* curve_cover.h - what events may be charged as, and whether a box lies above a curve between its points. */
#ifndef TESTS_CURVE_COVER_H
#define TESTS_CURVE_COVER_H

#include "support/effort.h"
#include "support/test.h"
#include "dp/account/adaptive_part.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>

static inline void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.10g, expected %.10g to %g", got, want, tolerance);
}

static inline struct part part_of(const struct sotto_event *e)
{
    struct part p;
    if (part_make(&p, e, 0, SOTTO_REPLACE_ONE) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return p;
}

/* A ledger's offers for it, and what a column that has a pure part left is offered besides. */
static inline size_t offers(struct adaptive *out, const struct sotto_event *e, struct adaptive left)
{
    size_t count;
    const struct part p = part_of(e);
    assert_int_equal(adaptive_offers(out, &count, &p, &left, NULL), SOTTO_OK);
    return count;
}

enum { CELLS = 255 };

static inline double on_chord(const struct adaptive_curve *c, double x)
{
    size_t i = 0;
    while (i + 2 < c->n && c->x[i + 1] < x)
        i++;
    const double part = (exp(x) - exp(c->x[i])) / (exp(c->x[i + 1]) - exp(c->x[i]));
    return c->delta[i] + part * (c->delta[i + 1] - c->delta[i]);
}

/* How many of so many random points the box leaves uncovered. */
static inline long uncovered(const struct adaptive *box, const struct adaptive_curve *c)
{
    long count = 0;
    const long points = by_effort(100, 1000, 10000);
    srand(7);
    for (long k = 0; k < points; k++) {
        const double x = c->x[c->n - 1] * rand() / RAND_MAX;
        count += adaptive_delta(box, x).hi < on_chord(c, x) * (1 - 1e-9);
    }
    return count;
}

/* A box above the curve, and one above nine tenths of it. */
static inline void check_curve(struct adaptive_curve c, double pure, double failure)
{
    double lowered[CELLS + 1];
    while (c.n > 2 && c.delta[c.n - 2] <= failure)
        c.n--;
    for (size_t i = 0; i < c.n; i++)
        lowered[i] = .9 * c.delta[i];
    const struct adaptive_curve less = {c.x, lowered, c.n};
    const struct adaptive box = {pure, adaptive_square_of_curve(&c, pure, failure), failure};
    const struct adaptive control = {pure, adaptive_square_of_curve(&less, pure, failure), failure};
    assert_true(box.square < INFINITY && control.square < box.square);
    assert_int_equal(uncovered(&box, &c), 0);
    assert_true(uncovered(&control, &c) > 0);
}

static inline void spread(double *x, double end)
{
    for (size_t i = 0; i <= CELLS; i++)
        x[i] = end * (double)i / CELLS;
}

#endif
