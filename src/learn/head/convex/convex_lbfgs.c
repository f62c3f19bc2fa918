/* The path of L-BFGS depends on the records in ways that no bound follows, so the proof looks at the end
 * alone: the gradient is small there, hence the minimiser is near. That end must be reached whatever the
 * records are; should L-BFGS stall, plain gradient steps get there. */
#include "head/convex/head_convex.h"

#include <math.h>
#include <string.h>

static double convex_lbfgs_norm(const double *a, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += a[i] * a[i];
    return sqrt(squares);
}

/* The proof needs both: a small gradient, at weights where its rounding error is bounded. */
static bool convex_lbfgs_arrived(const struct head_convex *c)
{
    return convex_lbfgs_norm(c->gradient, c->entries) <= c->bound.stop * (1 - 1e-9) &&
           convex_lbfgs_norm(c->w, c->entries) <= c->bound.radius * (1 - 1e-9);
}

static double convex_lbfgs_objective(double *gradient, const double *w, void *trainer)
{
    double value;
    convex_objective(trainer, w, gradient, &value);
    return value;
}

static sotto_status convex_lbfgs_stopped(const struct sotto_context *ctx, size_t step)
{
    return context_check(ctx, "stopped in iteration %zu of a head; nothing was written", step + 1);
}

/* Gradient steps from zero; after bound.fallback_steps the gradient is below half the stop for any
 * records. */
static sotto_status fall_back(struct head_convex *c, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double step_size = convex_largest_step(c->recipe);
    memset(c->w, 0, c->entries * sizeof *c->w);
    for (size_t step = 0; step <= c->bound.fallback_steps; step++) {
        TRY(convex_lbfgs_stopped(ctx, step));
        convex_objective(c, c->w, c->gradient, NULL);
        if (convex_lbfgs_arrived(c))
            goto done;
        for (size_t e = 0; e < c->entries; e++)
            c->w[e] -= step_size * c->gradient[e];
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
    struct lbfgs s = {.n = c->entries,
                      .first_scale = 1 / c->bound.smoothness,
                      .halvings = 30,
                      .f = convex_lbfgs_objective,
                      .arg = c,
                      .w = c->w,
                      .gradient = c->gradient};
    memset(c->w, 0, c->entries * sizeof *c->w);
    lbfgs_start(&s, c->lbfgs);
    for (size_t i = 0; i < iterations && !convex_lbfgs_arrived(c); i++) {
        TRY(convex_lbfgs_stopped(ctx, i));
        if (lbfgs_step(&s) == LBFGS_STUCK)
            break;
    }
    if (fell_back)
        *fell_back = !convex_lbfgs_arrived(c);
    if (!convex_lbfgs_arrived(c))
        TRY(fall_back(c, ctx));
done:
    return status;
}
