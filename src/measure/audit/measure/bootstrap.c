#include "audit/measure/bootstrap.h"

#include "audit/measure/sorted.h"

#include <math.h>

/* Gamma with shape a >= 1. */
static double gamma_draw(double a, struct rng *r)
{
    double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = rng_normal(r), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double u = 1 - rng_unit(r); /* in (0, 1] */
        if (log(u) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

double bootstrap_beta(double a, double b, struct rng *r)
{
    double x = gamma_draw(a, r), y = gamma_draw(b, r);
    return x / (x + y);
}

/* Halves the problem: the middle one of n uniforms tells on which side of it p lies. */
size_t bootstrap_binomial(size_t n, double p, struct rng *r)
{
    size_t k = 0;
    while (n >= 16 && p > 0 && p < 1) {
        size_t a = 1 + n / 2, b = 1 + n - a;
        double x = bootstrap_beta((double)a, (double)b, r);
        if (x >= p) {
            n = a - 1;
            p /= x;
        } else {
            k += a;
            n = b - 1;
            p = (p - x) / (1 - x);
        }
    }
    if (p >= 1)
        return k + n;
    for (size_t i = 0; i < n && p > 0; i++)
        k += rng_unit(r) < p;
    return k;
}

/* First point whose false flags exceed `rank`. */
static size_t point_of(const struct roc *c, size_t rank)
{
    size_t low = 0, high = c->points;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->false_flags[middle] > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double bootstrap_tpr_draw(const struct roc *c, double fpr, struct rng *r)
{
    double n = (double)c->n_nonmember;
    size_t allowed = (size_t)floor(fpr * (1 + 1e-12) * n);
    allowed = allowed < c->n_nonmember ? allowed : c->n_nonmember - 1;
    double u = bootstrap_beta((double)allowed + 1, n - (double)allowed, r);
    size_t rank = (size_t)(u * n), point = point_of(c, rank < c->n_nonmember ? rank : c->n_nonmember - 1);
    double share = point ? (double)c->true_positives[point - 1] / (double)c->n_member : 0;
    return (double)bootstrap_binomial(c->n_member, share, r) / (double)c->n_member;
}

void bootstrap_percentiles(struct sotto_estimate *out, double *draws, size_t count, double *scratch,
                           double confidence)
{
    double tail = (1 - confidence) / 2 * (double)count;
    size_t cut = (size_t)tail < (count - 1) / 2 ? (size_t)tail : (count - 1) / 2;
    sort_rising(draws, count, scratch);
    out->lower = fmin(out->estimate, draws[cut]);
    out->upper = fmax(out->estimate, draws[count - 1 - cut]);
}

sotto_status bootstrap_tpr(struct sotto_estimate *out, const struct roc *c, double fpr, size_t draws,
                           double confidence, uint64_t seed, uint64_t stream, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double *x = NULL, *scratch = NULL;
    NEW(x, draws);
    NEW(scratch, draws);
    for (size_t i = 0; i < draws; i++) {
        TRY(context_check(ctx, "bootstrap: stopped after %zu of %zu draws", i, draws));
        struct rng r = rng_stream(seed, RNG_BOOTSTRAP, stream, i);
        x[i] = bootstrap_tpr_draw(c, fpr, &r);
    }
    *out = roc_rates(c, roc_threshold_at_fpr(c, fpr), confidence).tpr;
    bootstrap_percentiles(out, x, draws, scratch, confidence);
done:
    base_free(x);
    base_free(scratch);
    return status;
}
