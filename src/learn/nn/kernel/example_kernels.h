/* example_kernels.h - the inner loops of gradients of single examples (DP-SGD), compiled per instruction set.
 *
 * A convolution's weight gradient of one example is G = D' A, where row t of D (positions, outputs) is the
 * gradient at output position t and row t of A holds the source values under the kernel there. A is never
 * built: its rows are runs of the image itself, which lies padded with zeros where the kernel sticks out. */
#ifndef NN_KERNEL_EXAMPLE_KERNELS_H
#define NN_KERNEL_EXAMPLE_KERNELS_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { EXAMPLE_SLACK = 16 }; /* floats behind an image that outer() may read (never use) */

/** Row t of A: runs r of `width` floats at base + starts[t] + r * skip. */
struct patches {
    const float *base;
    const uint32_t *starts;
    size_t count; /* positions */
    size_t runs, width, skip;
};

/** What ghost() finds. */
struct ghost {
    double square; /* |G|^2; rounding may leave it below 0 */
    double size;   /* sum over t of |A_t| |D_t|, at least |G|: rounding is a small multiple of it */
    double values, gradients; /* sums over t of |A_t|^2 and |D_t|^2 */
};

struct example_kernels {
    /** gradient (outputs, runs * width) += D' A. Reads up to EXAMPLE_SLACK floats behind a run. */
    void (*outer)(float *gradient, const float *diff, size_t outputs, const struct patches *a);
    /** |D' A|^2 = sum over positions t, s of <A_t, A_s> <D_t, D_s>, by tiles of the two Gram matrices that
     * never reach memory; bias: A has one more column of ones. */
    struct ghost (*ghost)(const float *diff, size_t outputs, int bias, const struct patches *a);
    /** Sum of squares, in double. */
    double (*squares)(const float *x, size_t n);
    /** x *= factor; all 0 if factor is, whatever x holds. */
    void (*scale)(float *x, float factor, size_t n);
    /** sum += factor * x, each product cut to a whole number. */
    void (*add_whole)(double *sum, const float *x, double factor, size_t n);
    /** sum (outputs, inputs) += over chains c the products D' A of rows [end[c - 1], end[c]) of D (rows, outputs)
     * and A (rows, inputs), cut to whole numbers. An element of a chain is one chain of float multiply-adds from
     * 0, in the order of its rows, whatever lies beside it. inputs 1 and A NULL: A is a column of ones. */
    void (*add_chains)(double *sum, const float *diff, size_t outputs, const float *src, size_t inputs,
                       const uint32_t *end, size_t chains);
    /** sum (outputs, runs * width) += over examples i the gradient D' A of each, cut to whole numbers: D (examples,
     * positions, outputs), the images `image` floats apart. An element is one chain over the positions. */
    void (*add_patches)(double *sum, const float *diff, size_t outputs, const struct patches *a, size_t image,
                        size_t examples);
};
const struct example_kernels *example_kernels_best(void);
#endif
