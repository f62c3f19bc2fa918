#include "num/lbfgs.h"

#include <math.h>
#include <string.h>

static double lbfgs_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void lbfgs_add(double *a, double factor, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] += factor * b[i];
}

static double lbfgs_largest(const double *a, size_t n)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(a[i]));
    return top;
}

size_t lbfgs_room(size_t n)
{
    return (3 + 2 * LBFGS_MEMORY) * n;
}

void lbfgs_start(struct lbfgs *s, double *room)
{
    size_t n = s->n;
    s->direction = room, s->trial = room + n, s->trial_gradient = room + 2 * n;
    s->steps = room + 3 * n, s->changes = room + (3 + LBFGS_MEMORY) * n;
    s->stored = 0;
    s->value = s->f(s->gradient, s->w, s->arg);
}

static double scale_of(const struct lbfgs *s)
{
    if (s->stored == 0)
        return s->first_scale > 0 ? s->first_scale
                                  : 1 / fmax(1, sqrt(lbfgs_dot(s->gradient, s->gradient, s->n)));
    size_t last = (s->stored - 1) % LBFGS_MEMORY;
    const double *change = s->changes + last * s->n;
    return s->products[last] / lbfgs_dot(change, change, s->n);
}

/* direction = -H gradient by the two loops. */
static void find_direction(struct lbfgs *s)
{
    size_t n = s->n, kept = s->stored < LBFGS_MEMORY ? s->stored : LBFGS_MEMORY;
    double weight[LBFGS_MEMORY], *v = s->direction;
    for (size_t e = 0; e < n; e++)
        v[e] = -s->gradient[e];
    for (size_t i = 0; i < kept; i++) {
        size_t slot = (s->stored - 1 - i) % LBFGS_MEMORY;
        weight[slot] = lbfgs_dot(s->steps + slot * n, v, n) / s->products[slot];
        lbfgs_add(v, -weight[slot], s->changes + slot * n, n);
    }
    double scale = scale_of(s);
    for (size_t e = 0; e < n; e++)
        v[e] *= scale;
    for (size_t i = kept; i-- > 0;) {
        size_t slot = (s->stored - 1 - i) % LBFGS_MEMORY;
        lbfgs_add(v, weight[slot] - lbfgs_dot(s->changes + slot * n, v, n) / s->products[slot],
                  s->steps + slot * n, n);
    }
}

static void lbfgs_remember(struct lbfgs *s)
{
    size_t slot = s->stored % LBFGS_MEMORY;
    double *step = s->steps + slot * s->n, *change = s->changes + slot * s->n;
    for (size_t e = 0; e < s->n; e++) {
        step[e] = s->trial[e] - s->w[e];
        change[e] = s->trial_gradient[e] - s->gradient[e];
    }
    s->products[slot] = lbfgs_dot(step, change, s->n);
    s->stored += s->products[slot] > s->least_curvature * lbfgs_dot(change, change, s->n);
}

enum lbfgs_move lbfgs_step(struct lbfgs *s)
{
    find_direction(s);
    double slope = lbfgs_dot(s->gradient, s->direction, s->n), length = 1, here = s->value;
    if (!(slope < 0))
        return LBFGS_STUCK;
    for (int halving = 0; halving < s->halvings; halving++, length /= 2) {
        memcpy(s->trial, s->w, s->n * sizeof *s->w);
        lbfgs_add(s->trial, length, s->direction, s->n);
        double there = s->f(s->trial_gradient, s->trial, s->arg);
        if (!(there <= here + 1e-4 * length * slope))
            continue;
        lbfgs_remember(s);
        memcpy(s->w, s->trial, s->n * sizeof *s->w);
        memcpy(s->gradient, s->trial_gradient, s->n * sizeof *s->w);
        s->value = there;
        return there < here ? LBFGS_LOWER : LBFGS_LEVEL;
    }
    return LBFGS_STUCK;
}

sotto_status minimise(double *w, size_t n, lbfgs_function *f, void *arg, double tolerance, size_t steps)
{
    sotto_status status = SOTTO_OK;
    struct lbfgs s = {.n = n, .least_curvature = 1e-12, .halvings = 40, .f = f, .arg = arg, .w = w};
    double *room = NULL;
    NEW(room, n + lbfgs_room(n));
    s.gradient = room;
    lbfgs_start(&s, room + n);
    for (size_t i = 0; i < steps && lbfgs_largest(s.gradient, n) > tolerance; i++) {
        if (lbfgs_step(&s) == LBFGS_LOWER)
            continue;
        if (s.stored == 0) /* not even straight down */
            break;
        s.stored = 0; /* forget, and try straight down */
    }
done:
    base_free(room);
    return status;
}
