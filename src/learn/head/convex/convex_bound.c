#include "head/convex/convex_bound.h"

#include "base/status.h"
#include "num/interval.h"

#include <string.h>

static const double unit = 0x1p-53; /* of double arithmetic */

/* R' = sqrt(R^2 + c_b^2): norm of a clipped record with the constant behind its bias. */
static struct interval full_norm(const struct sotto_head_recipe *r)
{
    return iv_sqrt(iv_add(iv_square(iv(r->clip)), iv_square(iv(r->bias))));
}

static struct interval convex_bound_smoothness(const struct sotto_head_recipe *r)
{
    return iv_add(iv_scale(iv_square(full_norm(r)), 0.5), iv(r->lambda));
}

double convex_largest_step(const struct sotto_head_recipe *r)
{
    return iv_div(iv(2), iv_add(convex_bound_smoothness(r), iv(r->lambda))).lo;
}

struct proof {
    const struct sotto_head_recipe *r;
    double n, inputs, classes;
    struct interval norm, lipschitz, beta, radius, limit; /* limit: 2 Lip / (n lambda) */
};

size_t convex_batch(const struct sotto_head_recipe *r, size_t records)
{
    return r->batch < records ? r->batch : records;
}

/* Any step keeps |W| <= Lip / lambda. Full-batch steps also keep J(W) <= J(0) = ln K, so |W| <= sqrt(2 ln K /
 * lambda); a batch may raise the objective of the others. One is added for rounding errors, and
 * convex_bound_find() checks that they stay below it. */
static void convex_bound_prepare(struct proof *p)
{
    const struct sotto_head_recipe *r = p->r;
    p->norm = full_norm(r);
    p->lipschitz = iv_mul(iv_sqrt(iv(2)), p->norm);
    p->beta = convex_bound_smoothness(r);
    struct interval by_loss = iv_sqrt(iv_div(iv_scale(iv_log(iv(p->classes)), 2), iv(r->lambda)));
    struct interval by_step = iv_div(p->lipschitz, iv(r->lambda));
    p->radius = iv_add(r->epochs ? by_step : iv_min(by_loss, by_step), iv(1));
    p->limit = iv_div(iv_scale(p->lipschitz, 2), iv_scale(iv(r->lambda), p->n));
}

/* Error of one computed gradient of the mean loss plus lambda W, for |W| <= radius. Section 4 of the
 * derivation; every count is rounded up generously, the whole is 1e-10 or so. */
static double gradient_rounding(const struct proof *p)
{
    double norm = p->norm.hi, radius = p->radius.hi, logits = norm * radius;
    double softmax = ((p->inputs + 8) * logits + 4 * p->classes + 64) * unit;
    double sums = (p->n + 64) * unit;
    double error = norm * (softmax + 2 * sums) + 8 * unit * (p->lipschitz.hi + p->r->lambda * radius);
    return 2 * error; /* products of two errors, and the rounding of this line */
}

/* f32 storage of weights (W) and bias (c_b W), in both heads. */
static double storage_rounding(const struct proof *p)
{
    return 2.001 * 0x1p-24 * fmax(1, p->r->bias) * p->radius.hi + 1e-37;
}

/* A step contracts by 1 - this. */
static struct interval convex_bound_shrinkage(const struct sotto_head_recipe *r)
{
    return iv_mul(iv(r->step_size), iv(r->lambda));
}

/* 1 - (1 - shrink)^steps */
static struct interval convex_bound_contracted(struct interval shrink, double steps)
{
    return iv_neg(iv_expm1(iv_scale(iv_log1p(iv_neg(shrink)), steps)));
}

/* Full batches: limit (1 - (1 - shrink)^k). */
static double after_steps(const struct proof *p)
{
    struct interval shrink = convex_bound_shrinkage(p->r);
    double moved = shrink.hi < 1 ? convex_bound_contracted(shrink, (double)p->r->steps).hi : 1;
    return iv_mul(p->limit, iv(fmin(1, moved))).hi;
}

/* Batches in one order for all epochs: every epoch meets the record once and moves the heads apart by at most
 * 2 eta Lip / B; what earlier epochs left shrinks by (1 - shrink)^b until the next meeting. */
static double after_epochs(const struct proof *p)
{
    const struct sotto_head_recipe *r = p->r;
    double batch = (double)convex_batch(r, (size_t)p->n), batches = ceil(p->n / batch);
    struct interval shrink = convex_bound_shrinkage(r), meeting = iv_scale(p->lipschitz, 2);
    meeting = iv_div(iv_mul(meeting, iv(r->step_size)), iv(batch));
    double series = (double)r->epochs;
    if (shrink.hi < 1) {
        struct interval forgets = convex_bound_contracted(shrink, batches);
        series =
            fmin(series, iv_div(convex_bound_contracted(shrink, batches * (double)r->epochs), forgets).hi);
    }
    return iv_mul(meeting, iv(series)).hi;
}

static sotto_status steps_bound(struct convex_bound *out, const struct proof *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_recipe *r = p->r;
    struct interval shrink = convex_bound_shrinkage(r);
    out->exact = r->epochs ? after_epochs(p) : after_steps(p);
    /* One step is off by at most this; the contraction sums a geometric series. */
    double step = r->step_size * out->gradient_rounding + 4 * unit * p->radius.hi;
    double strayed = 1.001 * step / shrink.lo;
    if (!(strayed <= 1))
        FAIL(SOTTO_EDOMAIN,
             "lambda %g is too small for double arithmetic, as rounding errors could add up to %g; give a "
             "larger lambda",
             r->lambda, strayed);
    out->rounding = 2 * strayed;
done:
    return status;
}

static sotto_status stop_bound(struct convex_bound *out, const struct proof *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_recipe *r = p->r;
    out->stop = iv_div(iv_mul(iv(r->tolerance), p->lipschitz), iv(p->n)).lo;
    /* Computed gradient steps stay within `strayed` of their exact path. */
    double step_size = convex_largest_step(r);
    double strayed = 1.001 * (out->gradient_rounding + 4 * unit * p->radius.hi / step_size) / r->lambda;
    double floor = 2 * (p->beta.hi * strayed + out->gradient_rounding);
    if (!(floor <= out->stop))
        FAIL(SOTTO_EDOMAIN,
             "tolerance %g needs a gradient norm of %.3g, but double arithmetic can guarantee only %.3g for "
             "%g records; give a larger tolerance",
             r->tolerance, out->stop, floor, p->n);
    out->exact = iv_add(p->limit, iv_div(iv_scale(iv(out->stop), 2), iv(r->lambda))).hi;
    out->rounding = 2.001 * out->gradient_rounding / r->lambda;
    /* |gradient| <= beta |W - W*| <= beta (1 - step lambda)^k radius */
    double rate = step_size * r->lambda;
    double steps = 1.001 * log(2 * p->beta.hi * p->radius.hi / out->stop) / rate + 2;
    if (!(steps <= 1e9))
        FAIL(SOTTO_EDOMAIN, "lambda %g is too small; %.3g steps may be needed to reach the tolerance",
             r->lambda, steps);
    out->fallback_steps = (size_t)steps;
done:
    return status;
}

sotto_status convex_bound_find(struct convex_bound *out, const struct sotto_head_recipe *r, size_t records,
                               size_t inputs, size_t classes)
{
    sotto_status status = SOTTO_OK;
    struct proof p = {.r = r, .n = (double)records, .inputs = (double)inputs, .classes = (double)classes};
    struct convex_bound b = {0};
    convex_bound_prepare(&p);
    b.lipschitz = p.lipschitz.hi;
    b.smoothness = p.beta.hi;
    b.radius = p.radius.hi;
    b.dimension = classes * (inputs + 1);
    b.gradient_rounding = gradient_rounding(&p);
    TRY(r->tolerance > 0 ? stop_bound(&b, &p) : steps_bound(&b, &p));
    /* "convex-lbfgs" stops within stop / lambda of the minimum, which is in the ball; f32 rounds. */
    b.ball = (b.radius + b.stop / r->lambda) * (1 + 0x1p-20);
    /* The stored bias is c_b times the trained weight of the constant input. */
    double stored = fmax(1, r->bias);
    b.exact = iv_scale(iv(b.exact), stored).hi;
    b.rounding = iv_scale(iv(b.rounding), 1.001 * stored).hi + storage_rounding(&p);
    b.l2 = iv_add(iv(b.exact), iv(b.rounding)).hi;
    b.l1 = iv_mul(iv(b.l2), iv_sqrt(iv((double)b.dimension))).hi;
    *out = b;
done:
    return status;
}
