/* conv_bf16.h - convolutions of bf16 images straight from (N, H, W, C) tensors, on CPUs that multiply pairs of bf16
 * (AVX512-BF16): forward, backward data and the weight gradient, near the rate of the multiplications alone.
 *
 * Sums are f32 and rounded once; the weights are rounded to bf16 when they are packed. No sum depends on the
 * number of threads, and a result depends on its own image alone. */
#ifndef NN_CONV_CONV_BF16_H
#define NN_CONV_CONV_BF16_H

#include "nn/backend.h"

struct conv_bf16;
/** Is there such a convolution for this shape on this CPU? bf16 in, multiples of 16 channels. */
int conv_bf16_fits(const struct conv_desc *d);
sotto_status conv_bf16_create(struct conv_bf16 **out, const struct conv_desc *d);
void conv_bf16_layout(struct conv_bf16 *c, struct arena *scratch);
/** Its weights' panels, which it keeps in `memory` from now on. */
struct lasting_weights *conv_bf16_lasting(struct conv_bf16 *c, struct arena *memory);
/** dst of the first `images` images. */
void conv_bf16_forward(struct conv_bf16 *c, size_t images, void *dst, const void *src, const float *weights,
                       const float *bias);
/** diff_dst is bf16. add: to what diff_src has. */
void conv_bf16_backward_data(struct conv_bf16 *c, size_t images, void *diff_src, bool add,
                             const void *diff_dst, const void *src, const float *weights);
void conv_bf16_weights(struct conv_bf16 *c, float *diff_weights, const void *diff_dst, const void *src);
void conv_bf16_free(struct conv_bf16 *c);

#endif
