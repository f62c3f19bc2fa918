/* conv_weights.h - the weight gradient of a convolution straight from (N, H, W, C) tensors, f32, AVX-512.
 *
 * oneDNN's weight gradient is its slowest pass (about two thirds of the speed of its products, notes/speed.md);
 * this one needs no column matrix and keeps 4 outputs x 64 channels of one kernel tap in registers. */
#ifndef NN_CONV_CONV_WEIGHTS_H
#define NN_CONV_CONV_WEIGHTS_H

#include "nn/backend.h"

struct conv_weights;
/** Is there such a kernel for this shape on this CPU? */
int conv_weights_fits(const struct conv_desc *d);
sotto_status conv_weights_create(struct conv_weights **out, const struct conv_desc *d);
void conv_weights_layout(struct conv_weights *w, struct arena *scratch);
/** Does the run fill diff_bias too? (It sees every output pixel once; not with padding.) */
int conv_weights_sums_bias(const struct conv_desc *d);
/** diff_weights (K, R, S, C) is overwritten, and diff_bias (K; may be NULL) if conv_weights_sums_bias(). Each
 * thread sums a fixed range of images; the ranges are added in order. */
void conv_weights_run(struct conv_weights *w, float *diff_weights, float *diff_bias, const float *diff_dst,
                      const float *src);
void conv_weights_free(struct conv_weights *w);

#endif
