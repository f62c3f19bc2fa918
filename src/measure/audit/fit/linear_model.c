#include "audit/fit/linear_model.h"
#include "num/lbfgs.h"

#include <math.h>

struct problem {
    const struct sotto_context *ctx;
    const struct linear_rows *in;
    const struct linear_model *m;
    double lambda;
    double *x;      /* (n, d), standardised */
    double *logits; /* (classes) */
};

static void linear_model_affine(double *logits, const struct linear_model *m, const double *weight,
                                const double *x)
{
    logits[0] = 0;
    for (size_t k = 1; k < m->classes; k++) {
        const double *w = weight + (k - 1) * (m->d + 1);
        double s0 = w[m->d], s1 = 0, s2 = 0, s3 = 0;
        size_t j = 0;
        for (; j + 4 <= m->d; j += 4) {
            s0 += w[j] * x[j], s1 += w[j + 1] * x[j + 1];
            s2 += w[j + 2] * x[j + 2], s3 += w[j + 3] * x[j + 3];
        }
        for (; j < m->d; j++)
            s0 += w[j] * x[j];
        logits[k] = (s0 + s1) + (s2 + s3);
    }
}

/* Turns logits into probabilities; returns ln of their sum before. */
static double linear_model_normalise(double *logits, size_t classes)
{
    double top = logits[0], sum = 0;
    for (size_t k = 1; k < classes; k++)
        top = fmax(top, logits[k]);
    for (size_t k = 0; k < classes; k++)
        sum += logits[k] = exp(logits[k] - top);
    for (size_t k = 0; k < classes; k++)
        logits[k] /= sum;
    return top + log(sum);
}

static double linear_model_loss(double *gradient, const double *w, void *arg)
{
    const struct problem *p = arg;
    size_t d = p->m->d, classes = p->m->classes, n = p->in->n, count = (classes - 1) * (d + 1);
    double value = 0;
    for (size_t e = 0; e < count; e++)
        gradient[e] = 0;
    if (context_stopped(p->ctx)) /* a gradient of 0 ends the search; its result is not used */
        return 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = p->x + i * d;
        size_t y = (size_t)p->in->y[p->in->row[i]];
        linear_model_affine(p->logits, p->m, w, x);
        double own = p->logits[y];
        value += linear_model_normalise(p->logits, classes) - own;
        for (size_t k = 1; k < classes; k++) {
            double *g = gradient + (k - 1) * (d + 1), slope = p->logits[k] - (k == y);
            for (size_t j = 0; j < d; j++)
                g[j] += slope * x[j];
            g[d] += slope;
        }
    }
    value /= (double)n;
    for (size_t e = 0; e < count; e++) {
        gradient[e] /= (double)n;
        if (e % (d + 1) == d)
            continue;
        value += p->lambda / 2 * w[e] * w[e];
        gradient[e] += p->lambda * w[e];
    }
    return value;
}

static void linear_model_standardise(struct linear_model *m, const struct linear_rows *in)
{
    for (size_t i = 0; i < in->n; i++)
        for (size_t j = 0; j < m->d; j++)
            m->mean[j] += (double)in->x[in->row[i] * m->d + j] / (double)in->n;
    for (size_t i = 0; i < in->n; i++)
        for (size_t j = 0; j < m->d; j++) {
            double from = (double)in->x[in->row[i] * m->d + j] - m->mean[j];
            m->scale[j] += from * from / (double)in->n;
        }
    for (size_t j = 0; j < m->d; j++)
        m->scale[j] = m->scale[j] > 1e-24 ? 1 / sqrt(m->scale[j]) : 0;
}

sotto_status linear_model_fit(struct linear_model *out, const struct linear_rows *in, size_t classes,
                              double lambda, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct linear_model m = {.d = in->d, .classes = classes};
    struct problem p = {.in = in, .m = &m, .lambda = lambda, .ctx = ctx};
    NEW(m.mean, in->d);
    NEW(m.scale, in->d);
    NEW_ROWS(m.weight, classes - 1, in->d + 1);
    NEW_ROWS(p.x, in->n, in->d);
    NEW(p.logits, classes);
    linear_model_standardise(&m, in);
    for (size_t i = 0; i < in->n; i++)
        for (size_t j = 0; j < in->d; j++)
            p.x[i * in->d + j] = ((double)in->x[in->row[i] * in->d + j] - m.mean[j]) * m.scale[j];
    TRY(minimise(m.weight, (classes - 1) * (in->d + 1), linear_model_loss, &p, 1e-6, 200));
    TRY(context_check(ctx, "linear model: stopped"));
    *out = m;
done:
    base_free(p.x);
    base_free(p.logits);
    if (status != SOTTO_OK)
        linear_model_clear(&m);
    return status;
}

void linear_model_clear(struct linear_model *m)
{
    base_free(m->mean);
    base_free(m->scale);
    base_free(m->weight);
    *m = (struct linear_model){0};
}

void linear_model_logits(double *logits, const struct linear_model *m, const float *x)
{
    logits[0] = 0;
    for (size_t k = 1; k < m->classes; k++) {
        const double *w = m->weight + (k - 1) * (m->d + 1);
        logits[k] = w[m->d];
        for (size_t j = 0; j < m->d; j++)
            logits[k] += w[j] * ((double)x[j] - m->mean[j]) * m->scale[j];
    }
}
