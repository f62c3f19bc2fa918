/* Quantile regression: on known non-members, learn what signal a record like this one should have (mean and
 * spread, both linear in its features, or by class where there are no features); the score is how far above
 * that the target's signal lies. One regression replaces all shadow models and needs to know nothing about
 * the training. The published attack regresses with a network on the input; this one with a linear model,
 * fitted by the Gaussian likelihood it also uses. */
#include "attack/minimise.h"
#include "attack/posterior.h"

#include <math.h>

static const double ridge = 1e-3, widest = 8; /* |ln spread| that a record may be given */

struct regression {
    size_t n, d;           /* d: inputs, the constant 1 last */
    double *x, *y;         /* (n, d) standardised, (n) standardised */
    double *mean, *scale;  /* (d) */
    double centre, spread; /* of y */
    double *w;             /* (2, d): mean, ln spread */
};

static size_t width_of(const struct attack_input *in)
{
    if (in->features && in->population->features)
        return in->width + 1;
    return in->labels && in->population->labels ? in->classes + 1 : 1;
}

static void inputs(double *x, const struct attack_input *in, size_t row, size_t d, bool features)
{
    for (size_t j = 0; j + 1 < d; j++)
        x[j] = features ? (double)in->features[row * in->width + j] : (size_t)in->labels[row] == j;
    x[d - 1] = 1;
}

static double bounded(double log_spread)
{
    return fmin(widest, fmax(-widest, log_spread));
}

/* Mean of ln spread + (y - mean)^2 / (2 spread^2), plus the ridge. */
static double likelihood(double *gradient, const double *w, void *arg)
{
    const struct regression *r = arg;
    double value = 0;
    for (size_t e = 0; e < 2 * r->d; e++)
        gradient[e] = 0;
    for (size_t i = 0; i < r->n; i++) {
        const double *x = r->x + i * r->d;
        double mean = 0, log_spread = 0;
        for (size_t j = 0; j < r->d; j++)
            mean += w[j] * x[j], log_spread += w[r->d + j] * x[j];
        double s = bounded(log_spread), z = (r->y[i] - mean) * exp(-s);
        value += s + z * z / 2;
        for (size_t j = 0; j < r->d; j++) {
            gradient[j] -= z * exp(-s) * x[j];
            gradient[r->d + j] += s == log_spread ? (1 - z * z) * x[j] : 0;
        }
    }
    value /= (double)r->n;
    for (size_t e = 0; e < 2 * r->d; e++) {
        gradient[e] /= (double)r->n;
        if (e % r->d == r->d - 1)
            continue;
        value += ridge / 2 * w[e] * w[e];
        gradient[e] += ridge * w[e];
    }
    return value;
}

static void standardise(struct regression *r)
{
    for (size_t j = 0; j < r->d; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < r->n; i++)
            sum += r->x[i * r->d + j];
        double mean = sum / (double)r->n;
        for (size_t i = 0; i < r->n; i++)
            squares += (r->x[i * r->d + j] - mean) * (r->x[i * r->d + j] - mean);
        bool constant = !(squares > 1e-20 * (double)r->n);
        r->mean[j] = j + 1 == r->d ? 0 : mean;
        r->scale[j] = j + 1 == r->d ? 1 : constant ? 0 : sqrt((double)r->n / squares);
    }
    double sum = 0, squares = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += r->y[i];
    r->centre = sum / (double)r->n;
    for (size_t i = 0; i < r->n; i++)
        squares += (r->y[i] - r->centre) * (r->y[i] - r->centre);
    r->spread = squares > 0 ? sqrt(squares / (double)r->n) : 1;
    for (size_t i = 0; i < r->n; i++) {
        r->y[i] = (r->y[i] - r->centre) / r->spread;
        for (size_t j = 0; j < r->d; j++)
            r->x[i * r->d + j] = (r->x[i * r->d + j] - r->mean[j]) * r->scale[j];
    }
}

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    sotto_status status = SOTTO_OK;
    const struct attack_input *z = in->population;
    struct regression r = {.n = z->n, .d = width_of(in)};
    bool features = in->features && z->features;
    size_t values, total;
    double *block = NULL;
    if (!size_multiply(&values, r.n + 1, r.d) || !size_add(&total, values, r.n) ||
        !size_add(&total, total, 4 * r.d) || !(block = base_alloc(total, sizeof *block)))
        FAIL(SOTTO_ENOMEM, "quantile: out of memory for %zu x %zu values", r.n, r.d);
    r.x = block, r.y = block + values, r.mean = r.y + r.n, r.scale = r.mean + r.d, r.w = r.scale + r.d;
    double *one = block + r.n * r.d;
    for (size_t i = 0; i < r.n; i++) {
        inputs(r.x + i * r.d, z, i, r.d, features);
        r.y[i] = posterior_signal(z, i);
    }
    standardise(&r);
    TRY(minimise(r.w, 2 * r.d, likelihood, &r, 1e-9, 500));
    for (size_t i = 0; i < in->n; i++) {
        double mean = 0, log_spread = 0;
        inputs(one, in, i, r.d, features);
        for (size_t j = 0; j < r.d; j++) {
            double x = (one[j] - r.mean[j]) * r.scale[j];
            mean += r.w[j] * x, log_spread += r.w[r.d + j] * x;
        }
        out->scores[i] = ((posterior_signal(in, i) - r.centre) / r.spread - mean) * exp(-bounded(log_spread));
    }
done:
    base_free(block);
    return status;
}

const struct attack attack_quantile = {.name = "quantile",
                                       .title = "Regression on known non-members",
                                       .source = "Bertran et al. 2023",
                                       .needs = NEED_LOSSES | NEED_POPULATION,
                                       .run = run};
