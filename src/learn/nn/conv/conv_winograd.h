/* conv_winograd.h - 3x3 convolutions of stride 1 and padding 1 by minimal filtering (Winograd 1980; Lavin and
 * Gray 2016): 36 multiplications instead of 144 for 4x4 results, in all three passes. Images are f32 (AVX2 and
 * AVX-512, with the same bits) or bf16 (AVX-512); what is computed of them is f32, and rounded once.
 *
 * The price is rounding: in f32 a result is off by about 6e-7 of the results' root mean square, four times the
 * direct sum's error. In bf16 the images' own rounding is a thousand times that. Backward data is a
 * forward pass with other kernels, and the weight gradient the exact transpose of that. */
#ifndef NN_CONV_CONV_WINOGRAD_H
#define NN_CONV_CONV_WINOGRAD_H

#include "nn/backend.h"

struct conv_winograd;
/** Is there such a convolution for this shape on this CPU, and is it the faster one? */
int conv_winograd_fits(const struct conv_desc *d);
sotto_status conv_winograd_create(struct conv_winograd **out, const struct conv_desc *d);
void conv_winograd_layout(struct conv_winograd *w, struct arena *scratch);
/** Its weights' points, which it keeps in `memory` from now on. */
struct lasting_weights *conv_winograd_lasting(struct conv_winograd *w, struct arena *memory);
void conv_winograd_forward(struct conv_winograd *w, void *dst, const void *src, const float *weights,
                           const float *bias);
/** diff_src NULL: not wanted; diff_weights (K, 3, 3, C) likewise. Each thread sums a fixed range of tiles for
 * the weights; the ranges are added in order. */
void conv_winograd_backward(struct conv_winograd *w, void *diff_src, float *diff_weights,
                            const void *diff_dst, const void *src, const float *weights);
void conv_winograd_free(struct conv_winograd *w);

#endif
