/* Columns to mean 0 and variance 1, by the columns of PUBLIC embeddings: what is divided by is then no
 * answer about private records. Two passes in double: variances are sums of squares around the mean. */
#include "ssl/standardise.h"

#include "base/memory.h"
#include "sotto/lab/ssl.h"

#include <math.h>
#include <string.h>

/* A column that moves by less than this share of its size carries float rounding only. */
static const double smallest_deviation = 1e-6;

static void standardise_moments(double *mean, double *square, const float *x, size_t n, size_t width)
{
    memset(mean, 0, width * sizeof *mean);
    memset(square, 0, width * sizeof *square);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++)
            mean[c] += (double)x[i * width + c];
    for (size_t c = 0; c < width; c++)
        mean[c] /= (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) {
            double d = (double)x[i * width + c] - mean[c];
            square[c] += d * d;
        }
}

sotto_status standardise_find(double *mean, double *factor, const float *public_x, size_t n, size_t width)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(n >= 2, "standardise: %zu public rows; expected at least 2", n);
    standardise_moments(mean, factor, public_x, n, width);
    for (size_t c = 0; c < width; c++) {
        REQUIRE(isfinite(mean[c]) && isfinite(factor[c]),
                "standardise: column %zu of the public rows is not finite", c);
        double deviation = sqrt(factor[c] / (double)n);
        factor[c] = deviation > smallest_deviation * fabs(mean[c]) ? 1 / deviation : 0;
    }
done:
    return status;
}

sotto_status sotto_standardise(float *x, size_t n, size_t width, const float *public_x, size_t n_public)
{
    REQUIRE_GIVEN(!n || x, !n_public || public_x);
    sotto_status status = SOTTO_OK;
    double *mean = NULL;
    NEW_ROWS(mean, width, 2);
    double *factor = mean + width;
    TRY(standardise_find(mean, factor, public_x, n_public, width));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++)
            x[i * width + c] = (float)(((double)x[i * width + c] - mean[c]) * factor[c]);
done:
    base_free(mean);
    return status;
}
