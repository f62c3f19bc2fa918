/* From a privacy profile to the Gaussian above it: the hull of its points, which come in any order (section 2 of
 * docs/derivations/adaptive.md), and one box that covers the hull. */
#include "base/memory.h"
#include "dp/account/profile.h"

#include <stdlib.h>

static const double farthest = 600; /* e^x must be a double */

struct point {
    double x, delta;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : (p->delta > q->delta) - (p->delta < q->delta);
}

/* From sorted points, the first of which is at 0: one for each x, not rising, and two at least. */
static size_t spread_points(double *x, double *delta, const struct point *points, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const double least = count ? fmin(points[i].delta, delta[count - 1]) : points[i].delta;
        count += count == 0 || points[i].x > x[count - 1];
        x[count - 1] = points[i].x;
        delta[count - 1] = least;
    }
    if (count == 1) {
        x[1] = 0x1p-30;
        delta[1] = delta[0];
        count = 2;
    }
    return count;
}

sotto_status profile_gaussian(struct adaptive *out, const struct sotto_privacy_profile *p)
{
    sotto_status status = SOTTO_OK;
    struct adaptive best = {0, INFINITY, 1};
    struct point *points = NULL;
    double *x = NULL, *delta = NULL;
    size_t n = 1;
    NEW(points, p->count + 1);
    NEW(x, p->count + 2);
    NEW(delta, p->count + 2);
    points[0] = (struct point){0, 1};
    for (size_t i = 0; i < p->count; i++)
        if (p->epsilon[i] <= farthest)
            points[n++] = (struct point){p->epsilon[i], p->delta[i]};
    qsort(points, n, sizeof *points, compare_points);
    struct adaptive_curve curve = {x, delta, spread_points(x, delta, points, n)};
    TRY(adaptive_hull(delta, x, curve.n));
    for (int way = 0; way < 2; way++) {
        const double failure = delta[curve.n - 1], square = adaptive_square_of_curve(&curve, 0, failure);
        if (square < best.square)
            best = (struct adaptive){0, square, failure};
        while (curve.n > 2 && delta[curve.n - 1] == 0)
            curve.n--;
    }
    *out = best;
done:
    base_free(points);
    base_free(x);
    base_free(delta);
    return status;
}
