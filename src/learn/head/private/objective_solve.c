/* The minimum of the perturbed objective, within a proved distance. How it is found does not matter, but that it is found
 * must not depend on the records: L-BFGS, then Newton steps, and where these should stall accelerated gradient steps,
 * which arrive for certain. */
#include "head/private/head_objective.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static double objective_solve_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double objective_solve_norm(const double *a, size_t n)
{
    return sqrt(objective_solve_dot(a, a, n));
}

/* to = a + factor b */
static void objective_solve_add(double *to, const double *a, double factor, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = a[i] + factor * b[i];
}

enum { VECTORS = 6 }; /* of Newton steps; L-BFGS needs more */

static void objective_solve_layout(struct objective *o)
{
    const size_t n = o->plan->dimension;
    o->linear = arena_take(&o->memory, n, sizeof *o->linear);
    o->v = arena_take(&o->memory, n, sizeof *o->v);
    o->gradient = arena_take(&o->memory, n, sizeof *o->gradient);
    o->room = arena_take(&o->memory, lbfgs_room(1) > VECTORS ? lbfgs_room(1) : VECTORS, n * sizeof *o->room);
}

sotto_status objective_open(struct objective *o, const struct objective_plan *plan, const struct head_data *z)
{
    sotto_status status = SOTTO_OK;
    *o = (struct objective){.plan = plan, .recipe = {.clip = objective_radius, .bias = objective_constant}};
    TRY(head_convex_plan(&o->convex, z, &o->recipe));
    objective_solve_layout(o);
    TRY(arena_reserve(&o->memory, "objective"));
    objective_solve_layout(o);
done:
    return status;
}

void objective_close(struct objective *o)
{
    if (o->linear)
        base_wipe(o->linear, o->plan->dimension * sizeof *o->linear);
    head_convex_clear(&o->convex);
    arena_clear(&o->memory);
}

/* W from v, and a gradient by v from one by W. */
static void objective_solve_spread(double *w, const struct objective_plan *p, const double *v)
{
    const size_t q = p->inputs + 1;
    for (size_t e = 0; e < p->dimension; e++)
        if (p->classes == 2) {
            w[e] = -v[e] / 2;
            w[q + e] = v[e] / 2;
        } else
            w[e] = v[e];
}

static void objective_solve_gather(double *gradient, const struct objective_plan *p, const double *w)
{
    const size_t q = p->inputs + 1;
    for (size_t e = 0; e < p->dimension; e++)
        gradient[e] = p->classes == 2 ? (w[q + e] - w[e]) / 2 : w[e];
}

/* sums (classes, q): of the records of each class, with their constant. */
static void sum_by_class(double *sums, const struct head_convex *c)
{
    const size_t d = c->shape.inputs;
    memset(sums, 0, c->entries * sizeof *sums);
    for (size_t i = 0; i < c->records; i++) {
        const float *x = c->x + i / CONVEX_BLOCK * d * CONVEX_BLOCK + i % CONVEX_BLOCK;
        if (c->y[i] < 0)
            continue;
        double *row = sums + (size_t)c->y[i] * (d + 1);
        for (size_t j = 0; j < d; j++)
            row[j] += x[j * CONVEX_BLOCK];
        row[d] += c->shape.bias;
    }
}

sotto_status objective_load(struct objective *o, const double *noise, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_convex *c = &o->convex;
    const struct objective_plan *p = o->plan;
    const double n = (double)p->records;
    c->ctx = ctx;
    c->stopped = false;
    convex_gather(c, NULL, NULL);
    TRY(context_check(ctx, "stopped in a pass over the records of a head"));
    sum_by_class(c->gradient, c);
    objective_solve_gather(o->linear, p, c->gradient);
    for (size_t e = 0; e < p->dimension; e++)
        o->linear[e] = (noise[e] - (1 - p->curvature) * o->linear[e]) / n;
done:
    return status;
}

double objective_value(double *gradient, const double *v, void *objective)
{
    struct objective *o = objective;
    const struct objective_plan *p = o->plan;
    double loss;
    objective_solve_spread(o->convex.w, p, v);
    convex_objective(&o->convex, o->convex.w, o->convex.gradient, &loss);
    objective_solve_gather(gradient, p, o->convex.gradient);
    for (size_t e = 0; e < p->dimension; e++)
        gradient[e] = p->curvature * gradient[e] + o->linear[e] + p->lambda * v[e];
    return p->curvature * loss + objective_solve_dot(o->linear, v, p->dimension) +
           p->lambda / 2 * objective_solve_dot(v, v, p->dimension);
}

/* A gradient that is small for weights of that size; larger ones are scaled into the ball. */
static bool objective_solve_arrived(const struct objective *o)
{
    const size_t n = o->plan->dimension;
    const double far = fmax(1, objective_solve_norm(o->v, n) / o->plan->weights.end);
    return objective_solve_norm(o->gradient, n) <= o->plan->stop * far * (1 - 1e-9);
}

static sotto_status check_stop(const struct objective *o)
{
    return o->convex.stopped ? status_fail(SOTTO_ESTOPPED, "stopped in a pass over the records of a head")
                             : SOTTO_OK;
}

static sotto_status by_lbfgs(struct objective *o)
{
    enum { ITERATIONS = 1000 };
    sotto_status status = SOTTO_OK;
    const struct objective_plan *p = o->plan;
    struct lbfgs s = {.n = p->dimension,
                      .first_scale = 1 / (p->norm * p->norm / 2 + p->lambda),
                      .least_curvature = 1e-12,
                      .halvings = 30,
                      .f = objective_value,
                      .arg = o,
                      .w = o->v,
                      .gradient = o->gradient};
    lbfgs_start(&s, o->room);
    for (size_t i = 0; i < ITERATIONS && !objective_solve_arrived(o); i++) {
        TRY(check_stop(o));
        if (lbfgs_step(&s) != LBFGS_LOWER)
            break;
    }
done:
    return status;
}

/* What conjugate gradients and gradients by differences work on. */
struct newton {
    double *step, *residual, *along, *product, *there, *trial; /* (dimension) each */
};

/* product = Hessian along; by a difference of gradients, as only the direction of a step hangs on it. */
static void objective_solve_multiply(struct objective *o, const struct newton *t)
{
    const size_t n = o->plan->dimension;
    const double length = 1e-4 / objective_solve_norm(t->along, n);
    objective_solve_add(t->trial, o->v, length, t->along, n);
    objective_value(t->there, t->trial, o);
    for (size_t e = 0; e < n; e++)
        t->product[e] = (t->there[e] - o->gradient[e]) / length;
}

/* step = -Hessian^-1 gradient, about. */
static sotto_status find_step(struct objective *o, const struct newton *t)
{
    sotto_status status = SOTTO_OK;
    const size_t n = o->plan->dimension, most = n + 50 < 1000 ? n + 50 : 1000;
    memset(t->step, 0, n * sizeof *t->step);
    for (size_t e = 0; e < n; e++)
        t->residual[e] = t->along[e] = -o->gradient[e];
    double square = objective_solve_dot(t->residual, t->residual, n);
    const double enough = 1e-6 * square;
    for (size_t i = 0; i < most && square > enough; i++) {
        objective_solve_multiply(o, t);
        TRY(check_stop(o));
        const double curvature = objective_solve_dot(t->along, t->product, n);
        if (!(curvature > 0))
            break;
        const double before = square, length = square / curvature;
        objective_solve_add(t->step, t->step, length, t->along, n);
        objective_solve_add(t->residual, t->residual, -length, t->product, n);
        square = objective_solve_dot(t->residual, t->residual, n);
        objective_solve_add(t->along, t->residual, square / before, t->along, n);
    }
done:
    return status;
}

/* Takes the step, halved until the gradient is smaller. *better: one was. */
static void take_step(struct objective *o, const struct newton *t, bool *better)
{
    const size_t n = o->plan->dimension;
    const double here = objective_solve_norm(o->gradient, n);
    double length = 1;
    *better = false;
    for (int i = 0; i < 20 && !*better; i++, length /= 2) {
        objective_solve_add(t->trial, o->v, length, t->step, n);
        objective_value(t->there, t->trial, o);
        *better = objective_solve_norm(t->there, n) < here;
    }
    if (*better) {
        memcpy(o->v, t->trial, n * sizeof *o->v);
        memcpy(o->gradient, t->there, n * sizeof *o->gradient);
    }
}

static sotto_status by_newton(struct objective *o)
{
    enum { STEPS = 50 };
    sotto_status status = SOTTO_OK;
    const size_t n = o->plan->dimension;
    double *room = o->room;
    const struct newton t = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n};
    bool better = true;
    for (int i = 0; i < STEPS && better && !objective_solve_arrived(o); i++) {
        TRY(find_step(o, &t));
        take_step(o, &t, &better);
        TRY(check_stop(o));
    }
done:
    return status;
}

/* Nesterov's steps for a strongly convex function, from zero; after `most` the gradient is below half of the stop. */
sotto_status objective_accelerate(struct objective *o)
{
    sotto_status status = SOTTO_OK;
    const struct objective_plan *p = o->plan;
    const size_t n = p->dimension;
    const double smooth = p->norm * p->norm / 2 + p->lambda, root = sqrt(smooth / p->lambda);
    const double momentum = (root - 1) / (root + 1);
    double *last = o->room, *look = o->room + n;
    memset(o->v, 0, n * sizeof *o->v);
    memset(last, 0, n * sizeof *last);
    objective_value(o->gradient, o->v, o);
    const double start = objective_solve_norm(o->gradient, n), ratio = start / p->stop;
    const double most = 1.01 * root * log(12 * smooth / p->lambda * ratio * ratio + 3) + 10;
    for (double i = 0; i < most && !objective_solve_arrived(o); i++) {
        TRY(check_stop(o));
        for (size_t e = 0; e < n; e++)
            look[e] = o->v[e] + momentum * (o->v[e] - last[e]);
        memcpy(last, o->v, n * sizeof *last);
        objective_value(o->gradient, look, o);
        objective_solve_add(o->v, look, -1 / smooth, o->gradient, n);
        objective_value(o->gradient, o->v, o);
    }
    if (!objective_solve_arrived(o))
        FAIL(SOTTO_EINTERNAL,
             "accelerated gradient steps did not reach a gradient of %g, which is proved to be reached",
             p->stop);
done:
    return status;
}

sotto_status objective_minimise(struct objective *o, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = o->plan->dimension;
    const double end = o->plan->weights.end;
    o->convex.ctx = ctx;
    memset(o->v, 0, n * sizeof *o->v);
    TRY(by_lbfgs(o));
    TRY(by_newton(o));
    if (!objective_solve_arrived(o))
        TRY(objective_accelerate(o));
    TRY(check_stop(o));
    const double size = objective_solve_norm(o->v, n);
    for (size_t e = 0; e < n && size > end; e++)
        o->v[e] *= end / size;
done:
    o->convex.ctx = NULL;
    return status;
}

void objective_export(double *weights, const struct objective_plan *p, const double *v)
{
    const size_t d = p->inputs;
    for (size_t k = 0; k < p->classes; k++) {
        const double *row = p->classes == 2 ? v : v + k * (d + 1),
                     sign = p->classes == 2 ? (k ? 0.5 : -0.5) : 1;
        for (size_t j = 0; j < d; j++)
            weights[k * d + j] = sign * row[j];
        weights[p->classes * d + k] = sign * objective_constant * row[d];
    }
}
