/* oracle.h - losses straight from their formulas in double, and central differences, for property tests. */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <math.h>
#include <stdlib.h>

typedef double (*oracle_loss)(const double *x, void *arg);

/** Numeric gradient of `loss` at x by central differences with step h. */
static inline void oracle_gradient(double *grad, oracle_loss loss, double *x, size_t n, double h, void *arg)
{
    for (size_t i = 0; i < n; i++) {
        double keep = x[i];
        x[i] = keep + h;
        double above = loss(x, arg);
        x[i] = keep - h;
        grad[i] = (above - loss(x, arg)) / (2 * h);
        x[i] = keep;
    }
}

/** |a - b| / |b| in the 2-norm; |a| if b is zero. */
static inline double oracle_distance(const float *a, const double *b, size_t n)
{
    double difference = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    return sqrt(difference) / (norm > 0 ? sqrt(norm) : 1);
}

struct oracle_ntxent {
    int simclr; /* 2N-2 negatives; else the Keras cross-view form */
    size_t n, d;
    double temperature;
};

/** Logit of rows i and j of z (2N, D) after normalisation by sqrt(max(|z|^2, 1e-12)). */
static inline double oracle_logit(const double *z, size_t i, size_t j, const struct oracle_ntxent *o)
{
    double dot = 0, a = 0, b = 0;
    for (size_t c = 0; c < o->d; c++) {
        dot += z[i * o->d + c] * z[j * o->d + c];
        a += z[i * o->d + c] * z[i * o->d + c];
        b += z[j * o->d + c] * z[j * o->d + c];
    }
    return dot / sqrt(fmax(a, 1e-12)) / sqrt(fmax(b, 1e-12)) / o->temperature;
}

/** Mean over 2N anchors of the cross-entropy against the anchor's other view. */
static inline double oracle_ntxent_loss(const double *z, void *arg)
{
    const struct oracle_ntxent *o = arg;
    double total = 0;
    for (size_t i = 0; i < 2 * o->n; i++) {
        size_t positive = i < o->n ? i + o->n : i - o->n, first = o->simclr || i >= o->n ? 0 : o->n,
               last = o->simclr || i < o->n ? 2 * o->n : o->n;
        double top = -INFINITY, sum = 0;
        for (size_t j = first; j < last; j++)
            if (j != i)
                top = fmax(top, oracle_logit(z, i, j, o));
        for (size_t j = first; j < last; j++)
            if (j != i)
                sum += exp(oracle_logit(z, i, j, o) - top);
        total += top + log(sum) - oracle_logit(z, i, positive, o);
    }
    return total / (2 * (double)o->n);
}

struct oracle_softmax {
    size_t n, k;
    const long *labels;
};

static inline double oracle_softmax_loss(const double *x, void *arg)
{
    const struct oracle_softmax *o = arg;
    double total = 0;
    for (size_t i = 0; i < o->n; i++) {
        const double *row = x + i * o->k;
        double top = -INFINITY, sum = 0;
        for (size_t j = 0; j < o->k; j++)
            top = fmax(top, row[j]);
        for (size_t j = 0; j < o->k; j++)
            sum += exp(row[j] - top);
        total += top + log(sum) - row[o->labels[i]];
    }
    return total / (double)o->n;
}

#endif
