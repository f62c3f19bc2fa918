/* conv_weights.h - the weight gradient of a convolution straight from (N, H, W, C) tensors, f32, AVX-512.
 *
 * oneDNN's weight gradient is its slowest pass (about two thirds of the speed of its products, bench/LOG.md);
 * this one needs no column matrix and keeps 4 outputs x 64 channels of one kernel tap in registers. */
#ifndef NN_CONV_WEIGHTS_H
#define NN_CONV_WEIGHTS_H

#include "nn/backend.h"

struct conv_weights;
/** Is there such a kernel for this shape on this CPU? */
int conv_weights_fits(const struct conv_desc *d);
sotto_status conv_weights_create(struct conv_weights **out, const struct conv_desc *d);
void conv_weights_layout(struct conv_weights *w, struct arena *scratch);
/** diff_weights (K, R, S, C) is overwritten. Each thread sums a fixed range of images; the ranges are added
 * in order. */
void conv_weights_run(struct conv_weights *w, float *diff_weights, const float *diff_dst, const float *src);
void conv_weights_free(struct conv_weights *w);

#endif
