/* conv_taps.h - forward and backward data of a convolution straight from (N, H, W, C) tensors, f32, AVX-512.
 *
 * Tap by tap, so that no column matrix is needed; bias, ReLU and mask are applied while a block of images is
 * in cache. */
#ifndef NN_CONV_CONV_TAPS_H
#define NN_CONV_CONV_TAPS_H

#include "nn/backend.h"

struct conv_taps;
/** Is there such a kernel for this shape on this CPU? */
int conv_taps_fits(const struct conv_desc *d);
sotto_status conv_taps_create(struct conv_taps **out, const struct conv_desc *d);
void conv_taps_layout(struct conv_taps *t, struct arena *scratch);
/** As conv_forward() and conv_backward() of a backend (nn/backend.h). */
void conv_taps_forward(struct conv_taps *t, float *dst, const float *src, const float *weights,
                       const float *bias);
void conv_taps_backward_data(struct conv_taps *t, float *diff_src, const float *diff_dst, const float *src,
                             const float *weights);
void conv_taps_free(struct conv_taps *t);

#endif
