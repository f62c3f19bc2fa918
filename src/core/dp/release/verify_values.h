/* verify_values.h - whether the values of a file can have come out of the release that its certificate is of. */
#ifndef DP_RELEASE_VERIFY_VALUES_H
#define DP_RELEASE_VERIFY_VALUES_H

#include "dp/release/verification.h"

/** ln of an upper bound of the probability that a release with this noise has values as small as x (n) or smaller, whatever the
 * data. In: mechanism  logistic, laplace, gaussian, discrete-laplace or knorm; step  of its lattice. At most 0. */
double small_values_ln_p(const char *mechanism, double scale, double step, const double *x, size_t n);
/** Notes both checks. floats: the file holds values of 24 bits. */
void verify_values(struct verification *v, const double *x, size_t n, bool floats);

#endif
