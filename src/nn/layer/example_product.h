/* example_product.h - gradients of single examples of a convolution or a dense layer: their norms, and their
 * weighted sum. An example is `views` neighbouring rows of the batch; their gradients add up.
 *
 * Let T be the output positions of an example, d the values under the kernel, p the outputs. Three ways:
 *
 *   vector  T = 1: |G| = |a| |g| (Goodfellow 2015)
 *   ghost   2 T^2 <= d p: |G|^2 from two Gram matrices (Li et al. 2022; Bu et al. 2022)
 *   stored  otherwise: G itself, kept until the weights are known; their weighted sum is then one pass
 *
 * With the first two the plan keeps the output gradients, and the sum is one ordinary weight gradient of
 * output gradients scaled example by example (Bu et al. 2023, book-keeping): no second backward pass. */
#ifndef NN_LAYER_EXAMPLE_PRODUCT_H
#define NN_LAYER_EXAMPLE_PRODUCT_H

#include "nn/backend.h"
#include "nn/layer/layer.h"

struct example_product;
/** ENOMEM; EINVAL: an image too large for its offsets. */
sotto_status example_product_create(struct example_product **out, const struct conv_desc *d, size_t views);
void example_product_layout(struct example_product *e, struct arena *keep, struct arena *scratch);
void example_product_free(struct example_product *e);
/** The way is "stored": the output gradients are not needed any more once the norms are known. */
int example_product_stores(const struct example_product *e);
/** square[i], excess[i] of examples 0 .. examples - 1, see struct example_norms. */
void example_product_norms(struct example_product *e, const struct example_norms *out, const float *diff_dst,
                           const float *src, size_t examples);
/** Stored only: sum (weights, then bias) = sum over i of factor[i] G_i, added up in double; += if add. */
void example_product_sum(struct example_product *e, float *sum, int add, const double *factor,
                         size_t examples);
/** The other ways: row i of the output gradients times factor[i], for all rows of the plan (those of no
 * example become 0); a source with factor 0 becomes 0, as it may hold what is not finite. */
void example_product_scale(struct example_product *e, float *diff_dst, float *src, const double *factor,
                           size_t examples);

#endif
