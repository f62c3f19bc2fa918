#include "dp/release/clip_row.h"

#include <math.h>
#include <string.h>

static double norm_of(const float *x, size_t d, enum sotto_norm norm)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += norm == SOTTO_NORM_L1 ? fabs((double)x[j]) : (double)x[j] * (double)x[j];
    return norm == SOTTO_NORM_L1 ? sum : sqrt(sum);
}

/* Rounding must not lift the norm over the radius again. */
void clip_row(float *x, size_t d, double radius, enum sotto_norm norm)
{
    double length = norm_of(x, d, norm);
    if (!isfinite(length)) /* sums of finite floats are finite doubles */
        memset(x, 0, d * sizeof *x);
    for (size_t j = 0; length > radius && isfinite(length) && j < d; j++)
        x[j] = (float)((double)x[j] * (radius / length * (1 - 0x1p-20)));
}
