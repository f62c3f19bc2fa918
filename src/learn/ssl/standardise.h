/* standardise.h - what shifts and scales columns to mean 0 and variance 1, by public rows. */
#ifndef SSL_STANDARDISE_H
#define SSL_STANDARDISE_H

#include "base/status.h"

#include <stddef.h>

/** Column c becomes (x - mean[c]) * factor[c]; mean, factor (width). Errors of sotto_standardise(). */
sotto_status standardise_find(double *mean, double *factor, const float *public_x, size_t n, size_t width);

#endif
