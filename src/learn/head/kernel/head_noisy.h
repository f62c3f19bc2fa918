/* head_noisy.h - the update of a private head: weights in double, in the order of a head's file, from a noisy
 * sum. Compiled once per instruction-set level. */
#ifndef HEAD_KERNEL_HEAD_NOISY_H
#define HEAD_KERNEL_HEAD_NOISY_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>

struct noisy_update {
    double share;                 /* of the sum in the gradient: 1 / batch */
    double rate, momentum;        /* SGD */
    double keep1, keep2, epsilon; /* Adam: beta1, beta2; the rate is the corrected one */
};
struct noisy_kernels {
    /** w[0 .. count) -= rate (mean = momentum mean + share sum). */
    void (*sgd)(double *w, double *mean, const double *sum, size_t count, const struct noisy_update *update);
    /** Adam, by moments `mean` and `square` (Kingma & Ba 2015). */
    void (*adam)(double *w, double *mean, double *square, const double *sum, size_t count,
                 const struct noisy_update *update);
    /** |x[i]| <= most for all i; never with a NaN. */
    bool (*within)(const double *x, size_t count, double most);
};
const struct noisy_kernels *head_noisy_kernels_find(void);

#endif
