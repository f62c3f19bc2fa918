/* Limited-memory BFGS (Nocedal 1980) with Armijo backtracking. Its path depends on the records in ways that
 * no bound follows, so the proof looks at the end alone: the gradient is small there, hence the minimiser is
 * near. That end must be reached whatever the records are; should L-BFGS stall, plain gradient steps get
 * there. */
#include "head/convex/head_convex.h"

#include <math.h>
#include <string.h>

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

/* The proof needs both: a small gradient, at weights where its rounding error is bounded. */
static bool arrived(const struct head_convex *c)
{
    return sqrt(dot(c->gradient, c->gradient, c->entries)) <= c->bound.stop * (1 - 1e-9) &&
           sqrt(dot(c->w, c->w, c->entries)) <= c->bound.radius * (1 - 1e-9);
}

/* direction = -H gradient by the two loops; `stored` pairs so far. */
static void find_direction(struct head_convex *c, size_t stored)
{
    size_t n = c->entries, kept = stored < CONVEX_MEMORY ? stored : CONVEX_MEMORY;
    double weight[CONVEX_MEMORY], *v = c->direction;
    for (size_t e = 0; e < n; e++)
        v[e] = -c->gradient[e];
    for (size_t i = 0; i < kept; i++) {
        size_t slot = (stored - 1 - i) % CONVEX_MEMORY;
        weight[slot] = dot(c->steps + slot * n, v, n) / c->products[slot];
        add(v, -weight[slot], c->changes + slot * n, n);
    }
    double scale = 1 / c->bound.smoothness;
    if (kept) {
        const double *change = c->changes + (stored - 1) % CONVEX_MEMORY * n;
        scale = c->products[(stored - 1) % CONVEX_MEMORY] / dot(change, change, n);
    }
    for (size_t e = 0; e < n; e++)
        v[e] *= scale;
    for (size_t i = kept; i-- > 0;) {
        size_t slot = (stored - 1 - i) % CONVEX_MEMORY;
        add(v, weight[slot] - dot(c->changes + slot * n, v, n) / c->products[slot], c->steps + slot * n, n);
    }
}

/* Moves to a point with enough descent and remembers the move. False: none was found. */
static bool search(struct head_convex *c, double *value, size_t *stored)
{
    size_t n = c->entries, slot = *stored % CONVEX_MEMORY;
    double slope = dot(c->gradient, c->direction, n), trial_value = 0, length = 1;
    bool found = false;
    for (int halvings = 0; slope < 0 && !found && halvings < 30; halvings++, length /= 2) {
        memcpy(c->trial, c->w, n * sizeof *c->w);
        add(c->trial, length, c->direction, n);
        convex_objective(c, c->trial, c->trial_gradient, &trial_value);
        found = trial_value <= *value + 1e-4 * length * slope;
    }
    if (!found)
        return false;
    double *step = c->steps + slot * n, *change = c->changes + slot * n;
    for (size_t e = 0; e < n; e++) {
        step[e] = c->trial[e] - c->w[e];
        change[e] = c->trial_gradient[e] - c->gradient[e];
    }
    c->products[slot] = dot(step, change, n);
    *stored += c->products[slot] > 0;
    memcpy(c->w, c->trial, n * sizeof *c->w);
    memcpy(c->gradient, c->trial_gradient, n * sizeof *c->w);
    *value = trial_value;
    return true;
}

static sotto_status stopped(const struct sotto_context *ctx, size_t step)
{
    if (!context_stopped(ctx))
        return SOTTO_OK;
    return status_fail(SOTTO_ESTOPPED, "stopped in iteration %zu of a head; nothing was written", step + 1);
}

/* Gradient steps from zero; after bound.fallback_steps the gradient is below half the stop for any records.
 */
static sotto_status fall_back(struct head_convex *c, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double step_size = convex_largest_step(c->recipe);
    memset(c->w, 0, c->entries * sizeof *c->w);
    for (size_t step = 0; step <= c->bound.fallback_steps; step++) {
        TRY(stopped(ctx, step));
        convex_objective(c, c->w, c->gradient, NULL);
        if (arrived(c))
            goto done;
        add(c->w, -step_size, c->gradient, c->entries);
    }
    FAIL(SOTTO_EINTERNAL,
         "gradient descent did not reach a gradient norm of %g in %zu steps, which is proved to suffice",
         c->bound.stop, c->bound.fallback_steps);
done:
    return status;
}

sotto_status convex_lbfgs(struct head_convex *c, size_t iterations, bool *fell_back,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t stored = 0;
    double value;
    memset(c->w, 0, c->entries * sizeof *c->w);
    convex_objective(c, c->w, c->gradient, &value);
    for (size_t i = 0; i < iterations && !arrived(c); i++) {
        TRY(stopped(ctx, i));
        find_direction(c, stored);
        if (!search(c, &value, &stored))
            break;
    }
    if (fell_back)
        *fell_back = !arrived(c);
    if (!arrived(c))
        TRY(fall_back(c, ctx));
done:
    return status;
}
