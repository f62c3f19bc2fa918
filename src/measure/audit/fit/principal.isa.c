/* Both loops run over the columns, which are independent of each other. */
#include "audit/fit/principal.h"

static void principal_onto(double *restrict y, const float *row, const double *mean, const double *restrict v,
                           size_t width)
{
    double sum[PRINCIPAL_COLUMNS] = {0};
    for (size_t c = 0; c < width; c++) {
        double x = (double)row[c] - mean[c];
        for (size_t k = 0; k < PRINCIPAL_COLUMNS; k++)
            sum[k] += x * v[c * PRINCIPAL_COLUMNS + k];
    }
    for (size_t k = 0; k < PRINCIPAL_COLUMNS; k++)
        y[k] = sum[k];
}

static void principal_back(double *restrict v, const float *row, const double *mean, const double *restrict y,
                           size_t width)
{
    for (size_t c = 0; c < width; c++) {
        double x = (double)row[c] - mean[c];
        for (size_t k = 0; k < PRINCIPAL_COLUMNS; k++)
            v[c * PRINCIPAL_COLUMNS + k] += x * y[k];
    }
}

extern const struct principal_kernels ISA_NAME(principal_kernels);
const struct principal_kernels ISA_NAME(principal_kernels) = {principal_onto, principal_back};
