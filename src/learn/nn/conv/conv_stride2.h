/* conv_stride2.h - convolutions of bf16 images with kernels 3 wide and stride 2 by minimal filtering along rows, on CPUs
 * that multiply pairs of bf16 (AVX512-BF16): five multiplications for six in all three passes.
 *
 * Two results side by side read one column of pixels both, so differences of pixels and sums of weights (or of
 * gradients of results) take part in the products, rounded to bf16: errors are 1.1 to 1.35 times those of
 * conv_bf16.h. Sums are f32 and rounded once. No sum depends on the number of threads, and a
 * result depends on its own image alone. */
#ifndef NN_CONV_CONV_STRIDE2_H
#define NN_CONV_CONV_STRIDE2_H

#include "nn/backend.h"

struct conv_stride2;
/** Is there such a convolution for this shape on this CPU, and is it faster than direct sums? bf16 in, multiples of 16
 * channels. */
int conv_stride2_fits(const struct conv_desc *d);
sotto_status conv_stride2_create(struct conv_stride2 **out, const struct conv_desc *d);
void conv_stride2_layout(struct conv_stride2 *c, struct arena *scratch);
/** Its weights' panels, which it keeps in `memory` from now on. */
struct lasting_weights *conv_stride2_lasting(struct conv_stride2 *c, struct arena *memory);
/** dst of the first `images` images. */
void conv_stride2_forward(struct conv_stride2 *c, size_t images, void *dst, const void *src,
                          const float *weights, const float *bias);
/** diff_dst is bf16. */
void conv_stride2_backward_data(struct conv_stride2 *c, size_t images, void *diff_src, const void *diff_dst,
                                const void *src, const float *weights);
void conv_stride2_weights(struct conv_stride2 *c, float *diff_weights, const void *diff_dst, const void *src);
void conv_stride2_free(struct conv_stride2 *c);

#endif
