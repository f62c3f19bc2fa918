#include "audit/fit/minimise.h"

#include <math.h>
#include <string.h>

enum { MEMORY = 10, HALVINGS = 40 };

struct state {
    size_t n, stored;
    double *gradient, *direction, *trial, *trial_gradient;
    double *steps, *changes; /* (MEMORY, n) */
    double products[MEMORY];
};

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add(double *a, double factor, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] += factor * b[i];
}

static double largest(const double *a, size_t n)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(a[i]));
    return top;
}

/* direction = -H gradient by the two loops. */
static void find_direction(struct state *s)
{
    size_t kept = s->stored < MEMORY ? s->stored : MEMORY;
    double weight[MEMORY], *v = s->direction;
    for (size_t e = 0; e < s->n; e++)
        v[e] = -s->gradient[e];
    for (size_t i = 0; i < kept; i++) {
        size_t slot = (s->stored - 1 - i) % MEMORY;
        weight[slot] = dot(s->steps + slot * s->n, v, s->n) / s->products[slot];
        add(v, -weight[slot], s->changes + slot * s->n, s->n);
    }
    double scale = 1 / fmax(1, sqrt(dot(s->gradient, s->gradient, s->n)));
    if (kept) {
        size_t last = (s->stored - 1) % MEMORY;
        const double *change = s->changes + last * s->n;
        scale = s->products[last] / dot(change, change, s->n);
    }
    for (size_t e = 0; e < s->n; e++)
        v[e] *= scale;
    for (size_t i = kept; i-- > 0;) {
        size_t slot = (s->stored - 1 - i) % MEMORY;
        add(v, weight[slot] - dot(s->changes + slot * s->n, v, s->n) / s->products[slot],
            s->steps + slot * s->n, s->n);
    }
}

/* Moves w to a point with enough descent and remembers the move; false if there is none along the direction.
 */
static bool search(struct state *s, double *w, double *value, minimise_f f, void *arg)
{
    double slope = dot(s->gradient, s->direction, s->n), length = 1, here = *value;
    if (!(slope < 0))
        return false;
    for (int halving = 0; halving < HALVINGS; halving++, length /= 2) {
        for (size_t e = 0; e < s->n; e++)
            s->trial[e] = w[e] + length * s->direction[e];
        double there = f(s->trial_gradient, s->trial, arg);
        if (!(there <= here + 1e-4 * length * slope))
            continue;
        size_t slot = s->stored % MEMORY;
        double *step = s->steps + slot * s->n, *change = s->changes + slot * s->n;
        for (size_t e = 0; e < s->n; e++) {
            step[e] = s->trial[e] - w[e];
            change[e] = s->trial_gradient[e] - s->gradient[e];
        }
        s->products[slot] = dot(step, change, s->n);
        if (s->products[slot] > 1e-12 * dot(change, change, s->n)) /* curved upwards: usable */
            s->stored++;
        memcpy(w, s->trial, s->n * sizeof *w);
        memcpy(s->gradient, s->trial_gradient, s->n * sizeof *w);
        *value = there;
        return there < here;
    }
    return false;
}

sotto_status minimise(double *w, size_t n, minimise_f f, void *arg, double tolerance, size_t steps)
{
    sotto_status status = SOTTO_OK;
    struct state s = {.n = n};
    double *block = base_alloc(n, (4 + 2 * MEMORY) * sizeof *block);
    if (!block)
        FAIL(SOTTO_ENOMEM, "minimise: out of memory for %zu numbers", n);
    s.gradient = block, s.direction = block + n, s.trial = block + 2 * n, s.trial_gradient = block + 3 * n;
    s.steps = block + 4 * n, s.changes = block + (4 + MEMORY) * n;
    double value = f(s.gradient, w, arg);
    for (size_t i = 0; i < steps && largest(s.gradient, n) > tolerance; i++) {
        find_direction(&s);
        if (search(&s, w, &value, f, arg))
            continue;
        if (s.stored == 0) /* not even straight down */
            break;
        s.stored = 0; /* forget, and try straight down */
    }
done:
    base_free(block);
    return status;
}
