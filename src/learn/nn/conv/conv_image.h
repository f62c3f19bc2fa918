/* conv_image.h - the first convolution of a network: few colours, no padding, nothing to pass back; f32,
 * AVX-512.
 *
 * The values under a kernel row lie side by side in (N, H, W, C), so they are broadcast straight from the
 * image and the vectors hold outputs: no column matrix, no lanes wasted on padding 27 values to 32. */
#ifndef NN_CONV_CONV_IMAGE_H
#define NN_CONV_CONV_IMAGE_H

#include "nn/backend.h"

struct conv_image;
/** Is there such a kernel for this shape on this CPU? */
int conv_image_fits(const struct conv_desc *d);
sotto_status conv_image_create(struct conv_image **out, const struct conv_desc *d);
void conv_image_layout(struct conv_image *c, struct arena *scratch);
/** As conv_forward() of a backend (nn/backend.h). */
void conv_image_forward(struct conv_image *c, float *dst, const float *src, const float *weights,
                        const float *bias);
/** diff_weights (K, R, S, C) and diff_bias (K; may be NULL) are overwritten. Each thread sums a fixed range
 * of images; the ranges are added in order. */
void conv_image_weights(struct conv_image *c, float *diff_weights, float *diff_bias, const float *diff_dst,
                        const float *src);
void conv_image_free(struct conv_image *c);

#endif
