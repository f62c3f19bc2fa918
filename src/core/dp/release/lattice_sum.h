/* lattice_sum.h - a sum and its noise, in place: rounded to the lattice, added, and written as one number. */
#ifndef DP_RELEASE_LATTICE_SUM_H
#define DP_RELEASE_LATTICE_SUM_H

#include <stddef.h>

/* With q = sum * per_step to the nearest whole number (half to even; NaN is 0) and k the noise, all of them limited to
 * +-2^51: 2 (q + k) + 1 half steps, exactly; of floats the nearest one, the largest instead of an infinity. */
struct lattice_sum_kernels {
    void (*doubles)(double *sum, const double *k, size_t n, double per_step, double half_step);
    void (*floats)(float *sum, const double *k, size_t n, double per_step, double half_step);
};
const struct lattice_sum_kernels *lattice_sum_kernels_find(void);

#endif
