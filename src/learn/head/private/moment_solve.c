/* From noisy second moments to weights. All of it works on what was released, so none of it costs privacy. */
#include "head/private/moments.h"

#include "num/symmetric.h"

#include <math.h>
#include <string.h>

sotto_status moment_solve_ridge(struct noisy_moments *m, double lambda)
{
    enum { ATTEMPTS = 200 };
    sotto_status status = SOTTO_OK;
    size_t q = m->q;
    double *a = NULL;
    NEW(a, q * q);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++, lambda *= 2) {
        memcpy(a, m->products, q * q * sizeof *a);
        for (size_t i = 0; i < q; i++)
            a[i * q + i] += lambda;
        if (!symmetric_factorise(a, q))
            continue;
        symmetric_solve(a, q, m->cross, m->outputs);
        goto done;
    }
    FAIL(SOTTO_EDIVERGED,
         "head: the noisy equations have no solution with lambda up to %g; give a larger epsilon", lambda);
done:
    base_free(a);
    return status;
}

/* cross = sum over kept eigenvectors v of v (v' cross) / value. */
static size_t solve_in_space(struct noisy_moments *m, const double *values, const double *vectors,
                             double least, double *right)
{
    size_t q = m->q, outputs = m->outputs, kept = 0;
    memcpy(right, m->cross, q * outputs * sizeof *right);
    memset(m->cross, 0, q * outputs * sizeof *right);
    for (size_t e = 0; e < q; e++) {
        const double *v = vectors + e * q;
        if (!(values[e] > least))
            continue;
        kept++;
        for (size_t k = 0; k < outputs; k++) {
            double share = 0;
            for (size_t i = 0; i < q; i++)
                share += v[i] * right[i * outputs + k];
            for (size_t i = 0; i < q; i++)
                m->cross[i * outputs + k] += share / values[e] * v[i];
        }
    }
    return kept;
}

sotto_status moment_solve_trimmed(struct noisy_moments *m, double lambda, double least)
{
    sotto_status status = SOTTO_OK;
    size_t q = m->q;
    double *scratch = NULL, *values = NULL;
    REQUIRE(q <= MOMENT_SPECTRUM,
            "head: %zu features are too many for this trainer; expected at most %d, or trainer covariance", q,
            MOMENT_SPECTRUM);
    NEW(scratch, q * q + 3 * q + q * m->outputs);
    NEW(values, q);
    for (size_t i = 0; i < q; i++)
        m->products[i * q + i] += lambda;
    if (!symmetric_eigen(m->products, values, q, scratch) ||
        !solve_in_space(m, values, m->products, least, scratch + q * q + 3 * q))
        FAIL(SOTTO_EDIVERGED,
             "head: the %zu x %zu noisy products have no positive eigenvalue; give a larger {lambda} or "
             "epsilon (the release is charged)",
             q, q);
done:
    base_free(scratch);
    base_free(values);
    return status;
}
