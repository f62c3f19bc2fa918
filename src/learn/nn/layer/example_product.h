/* example_product.h - gradients of single examples of a convolution or a dense layer: their norms, and their
 * weighted sum. An example is `views` neighbouring rows of the batch; their gradients add up.
 *
 * Let T be the rows of an example times their output positions, d the values under the kernel, p the outputs.
 * Three ways:
 *
 *   vector  T = 1 and the whole source under the kernel: |G| = |a| |g| (Goodfellow 2015); the sum goes by chains of examples
 *   ghost   2 T^2 <= d p: |G|^2 from two Gram matrices (Li et al. 2022; Bu et al. 2022); the sum makes each G
 *   stored  otherwise: G itself, kept until the weights are known; 3x3 kernels by minimal filtering (example_filter.h)
 *           if the caller filters, which is faster than Gram matrices, too
 *
 * A sum consists of whole numbers, so its order does not matter: every G, or every chain of examples, is cut
 * (towards zero) before it is added. There is no second backward pass (Bu et al. 2023, book-keeping). */
#ifndef NN_LAYER_EXAMPLE_PRODUCT_H
#define NN_LAYER_EXAMPLE_PRODUCT_H

#include "nn/backend.h"
#include "nn/layer/layer.h"

struct example_product;
/** ENOMEM; EINVAL: an image too large for its offsets.
 *  In: filters  by minimal filtering where that fits; else all sums are direct */
sotto_status example_product_create(struct example_product **out, const struct conv_desc *d, size_t views,
                                    int filters);
void example_product_layout(struct example_product *e, struct arena *keep, struct arena *scratch);
void example_product_free(struct example_product *e);
/** The way is "stored": the output gradients are not needed any more once the norms are known. */
bool example_product_stores(const struct example_product *e);
/** square[i], excess[i] of examples 0 .. examples - 1, see struct example_norms. */
void example_product_norms(struct example_product *e, const struct example_norms *out, const float *diff_dst,
                           const float *src, size_t examples);
/** sum (weights, then bias) += for each example i, or for each chain of them (vector), factor[i] G_i cut to whole
 * numbers. Overwrites diff_dst and src, where a factor 0 makes zeros of what may not be finite.
 *  In: chains  borders between chains, the last being `examples`; a chain of a vector layer is added in float */
void example_product_sum(struct example_product *e, double *sum, const double *factor, float *diff_dst,
                         float *src, size_t examples, const struct nn_chains *chains);

#endif
