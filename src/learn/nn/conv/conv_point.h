/* conv_point.h - 1x1 convolutions of stride 1 in f32, products of pixels and weights (AVX2 and AVX-512, with the same bits):
 * images are read where they lie, weights in panels made once a call.
 *
 * A result is one chain over the channels, whatever its place and the other images. Weight gradients are sums by blocks of
 * pixels, which depend on the shapes alone. So no sum depends on the number of threads. */
#ifndef NN_CONV_CONV_POINT_H
#define NN_CONV_CONV_POINT_H

#include "nn/backend.h"

struct conv_point;
/** Is there such a convolution for this shape on this CPU, and is it as fast as a library's product? */
int conv_point_fits(const struct conv_desc *d);
sotto_status conv_point_create(struct conv_point **out, const struct conv_desc *d);
void conv_point_layout(struct conv_point *c, struct arena *scratch);
void conv_point_forward(struct conv_point *c, float *dst, const float *src, const float *weights,
                        const float *bias);
/** diff_src NULL: not wanted; diff_weights (K, C) likewise. */
void conv_point_backward(struct conv_point *c, float *diff_src, float *diff_weights, const float *diff_dst,
                         const float *src, const float *weights);
void conv_point_free(struct conv_point *c);

#endif
