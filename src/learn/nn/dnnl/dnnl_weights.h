/* dnnl_weights.h - oneDNN's own f32 weight gradient of a convolution. On AVX-512 it reads (N, H, W, C)
 * tensors as they lie and beats columns and a product on few channels, where the columns would be nine times
 * the source. */
#ifndef NN_DNNL_WEIGHTS_H
#define NN_DNNL_WEIGHTS_H

#include "nn/backend.h"

struct weights_gradient;
/** For runs on so many images. *out = NULL where oneDNN has no fast implementation for this shape: the caller has
 * another way. */
sotto_status weights_gradient_create(struct weights_gradient **out, const struct conv_desc *d, size_t images);
void weights_gradient_layout(struct weights_gradient *w, struct arena *scratch);
/** diff_weights (K, R, S, C) is overwritten, or added to. */
void weights_gradient_run(struct weights_gradient *w, float *diff_weights, const float *diff_dst,
                          const float *src, bool add);
void weights_gradient_free(struct weights_gradient *w);

#endif
