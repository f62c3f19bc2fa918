#include "audit/fit/principal.h"

#include "num/symmetric.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

ISA_LEVELS(const struct principal_kernels, principal_kernels);
const struct principal_kernels *principal_kernels_best(void)
{
    return principal_kernels_levels[cpu_best_isa()];
}

enum { K = PRINCIPAL_COLUMNS, ROUNDS = 8 };

/* Columns become orthonormal; one that depends on earlier ones becomes 0. Returns how many are left. */
static size_t principal_orthonormalise(double *v, size_t width)
{
    size_t left = 0;
    for (size_t k = 0; k < K; k++) {
        double before = 0, after = 0;
        for (size_t c = 0; c < width; c++)
            before += v[c * K + k] * v[c * K + k];
        for (int twice = 0; twice < 2; twice++)
            for (size_t j = 0; j < k; j++) {
                double along = 0;
                for (size_t c = 0; c < width; c++)
                    along += v[c * K + k] * v[c * K + j];
                for (size_t c = 0; c < width; c++)
                    v[c * K + k] -= along * v[c * K + j];
            }
        for (size_t c = 0; c < width; c++)
            after += v[c * K + k] * v[c * K + k];
        double factor = after > 1e-20 * before ? 1 / sqrt(after) : 0;
        for (size_t c = 0; c < width; c++)
            v[c * K + k] *= factor;
        left += factor > 0;
    }
    return left;
}

/* The rows that are looked at: at, at + stride, ... */
struct sweep {
    const float *records;
    size_t rows, stride, width;
    const struct sotto_context *ctx;
    const struct principal_kernels *kernels;
    const double *mean;
};

/* next = X'X v; gram (K, K), if not NULL, = v'X'X v. */
static sotto_status principal_apply(double *next, double *gram, const double *v, const struct sweep *s)
{
    sotto_status status = SOTTO_OK;
    double y[K];
    memset(next, 0, s->width * K * sizeof *next);
    if (gram)
        memset(gram, 0, K * K * sizeof *gram);
    for (size_t i = 0; i < s->rows; i++) {
        const float *row = s->records + i * s->stride * s->width;
        s->kernels->onto(y, row, s->mean, v, s->width);
        s->kernels->back(next, row, s->mean, y, s->width);
        for (size_t a = 0; gram && a < K; a++)
            for (size_t b = 0; b < K; b++)
                gram[a * K + b] += y[a] * y[b];
        if (i % 64 == 0)
            TRY(context_check(s->ctx, "audit: stopped while principal components were computed"));
    }
done:
    return status;
}

/* The columns become v times the leading eigenvectors of gram; returns how many have some variance. */
static size_t principal_rotate(double *v, double *gram, size_t width, size_t components)
{
    double values[K], scratch[K * K + 3 * K], row[K];
    size_t order[K], kept = 0;
    if (!symmetric_eigen(gram, values, K, scratch))
        return 0;
    for (size_t k = 0; k < K; k++) {
        size_t at = k;
        for (; at > 0 && values[order[at - 1]] < values[k]; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    while (kept < components && values[order[kept]] > 1e-12 * values[order[0]] && values[order[kept]] > 0)
        kept++;
    for (size_t c = 0; c < width; c++) {
        for (size_t k = 0; k < K; k++) {
            row[k] = 0;
            for (size_t j = 0; j < K && k < kept; j++)
                row[k] += v[c * K + j] * gram[order[k] * K + j];
        }
        memcpy(v + c * K, row, sizeof row);
    }
    return kept;
}

sotto_status principal_make(struct principal *out, const float *records, size_t n, size_t width,
                            size_t components, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct principal p = {.width = width};
    double *next = NULL, gram[K * K];
    size_t stride = (n + PRINCIPAL_ROWS - 1) / PRINCIPAL_ROWS;
    struct sweep s = {records, n ? (n + stride - 1) / stride : 0, stride, width,
                      ctx,     principal_kernels_best(),          NULL};
    struct rng r = rng_stream(1, RNG_EVALUATE, 0, 0);
    NEW(p.mean, width);
    NEW_ROWS(p.direction, width, K);
    NEW_ROWS(next, width, K);
    for (size_t i = 0; i < s.rows; i++)
        for (size_t c = 0; c < width; c++)
            p.mean[c] += (double)records[i * stride * width + c] / (double)s.rows;
    s.mean = p.mean;
    for (size_t i = 0; i < width * K; i++)
        p.direction[i] = rng_normal(&r);
    principal_orthonormalise(p.direction, width);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(principal_apply(next, NULL, p.direction, &s));
        memcpy(p.direction, next, width * K * sizeof *next);
        if (principal_orthonormalise(p.direction, width) == 0)
            break;
    }
    TRY(principal_apply(next, gram, p.direction, &s));
    p.components = principal_rotate(p.direction, gram, width, components);
    *out = p;
done:
    base_free(next);
    if (status != SOTTO_OK)
        principal_clear(&p);
    return status;
}

void principal_clear(struct principal *p)
{
    base_free(p->mean);
    base_free(p->direction);
    *p = (struct principal){0};
}

sotto_status principal_project(float *out, const struct principal *p, const float *records, size_t n,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct principal_kernels *kernels = principal_kernels_best();
    double y[K];
    for (size_t i = 0; i < n; i++) {
        kernels->onto(y, records + i * p->width, p->mean, p->direction, p->width);
        for (size_t k = 0; k < p->components; k++)
            out[i * p->components + k] = (float)y[k];
        if (i % 64 == 0)
            TRY(context_check(ctx, "audit: stopped while records were projected"));
    }
done:
    return status;
}
