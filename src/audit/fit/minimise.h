/* minimise.h - L-BFGS (Nocedal 1980) for the small smooth problems of attacks. */
#ifndef AUDIT_FIT_MINIMISE_H
#define AUDIT_FIT_MINIMISE_H

#include "base/memory.h"

/* Value at w (n), and its gradient. */
typedef double (*minimise_f)(double *gradient, const double *w, void *arg);
/* Lowers f from w on, until no entry of the gradient is above `tolerance`, no step helps, or `steps` are
 * made; w holds the best point. ENOMEM. */
sotto_status minimise(double *w, size_t n, minimise_f f, void *arg, double tolerance, size_t steps);

#endif
