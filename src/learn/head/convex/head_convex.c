/* Gradient descent on J(W) = mean cross-entropy + lambda / 2 |W|^2. What makes it provable is in
 * docs/derivations/head.md; what it needs from this file: no stop that depends on the records. */
#include "head/convex/head_convex.h"

#include <math.h>
#include <string.h>

/* Asked behind a pass over the records, before its result is used. */
static sotto_status check_stop(const struct head_convex *c)
{
    return c->stopped ? status_fail(SOTTO_ESTOPPED,
                                    "stopped in a pass over the records of a head; nothing was written")
                      : SOTTO_OK;
}

static void head_convex_move(struct head_convex *c)
{
    for (size_t e = 0; e < c->entries; e++)
        c->w[e] -= c->recipe->step_size * c->gradient[e];
}

static sotto_status descend_by_batches(struct head_convex *c, const struct sotto_context *ctx,
                                       const char *stage)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_recipe *r = c->recipe;
    memset(c->w, 0, c->entries * sizeof *c->w);
    for (size_t epoch = 0; epoch < r->epochs; epoch++) {
        for (size_t batch = 0; batch * c->batch < c->records; batch++) {
            TRY(head_stop_check(ctx, epoch, r));
            convex_batch_gradient(c, batch, c->w, c->gradient);
            TRY(check_stop(c));
            head_convex_move(c);
        }
        if (stage)
            context_progress(ctx, stage, epoch + 1, r->epochs, "epochs");
    }
done:
    return status;
}

static sotto_status head_convex_descend(struct head_convex *c, const struct sotto_context *ctx,
                                        const char *stage)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_recipe *r = c->recipe;
    memset(c->w, 0, c->entries * sizeof *c->w);
    for (size_t step = 0; step < r->steps; step++) {
        TRY(context_check(ctx, "stopped in step %zu of %zu of a head; nothing was written", step + 1,
                          r->steps));
        convex_objective(c, c->w, c->gradient, NULL);
        TRY(check_stop(c));
        head_convex_move(c);
        if (stage)
            context_progress(ctx, stage, step + 1, r->steps, "steps");
    }
done:
    return status;
}

sotto_status head_convex_run(struct head_convex *c, const struct head_slots *slots,
                             const struct head_subset *subset, const struct sotto_context *ctx,
                             const char *stage)
{
    enum { ITERATIONS = 1000 };
    sotto_status status = SOTTO_OK;
    c->ctx = ctx;
    c->stopped = false;
    convex_gather(c, slots, subset);
    TRY(check_stop(c));
    TRY(convex_bound_find(&c->bound, c->recipe, c->records, c->shape.inputs, c->shape.classes));
    if (c->recipe->epochs)
        TRY(descend_by_batches(c, ctx, stage));
    else if (c->recipe->steps)
        TRY(head_convex_descend(c, ctx, stage));
    else
        TRY(convex_lbfgs(c, ITERATIONS, NULL, ctx));
    TRY(check_stop(c)); /* in a pass of L-BFGS, which cannot fail */
done:
    c->ctx = NULL;
    return status;
}

void head_convex_export(const struct head_convex *c, float *parameters)
{
    size_t d = c->shape.inputs;
    for (size_t k = 0; k < c->shape.classes; k++) {
        const double *row = c->w + k * (d + 1);
        for (size_t i = 0; i < d; i++)
            parameters[k * d + i] = (float)row[i];
        parameters[c->shape.classes * d + k] = (float)(c->shape.bias * row[d]);
    }
}
