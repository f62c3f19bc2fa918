/* conv_shortcut.h - 1x1 convolutions with a stride in f32 between few channels, the shortcuts of small residual networks:
 * products of the pixels that the stride meets, which are gathered on the way. Direct sums.
 *
 * A result is one chain over the channels, of its own pixel alone; weight gradients are summed in parts of the batch. So no
 * sum depends on the number of threads. */
#ifndef NN_CONV_CONV_SHORTCUT_H
#define NN_CONV_CONV_SHORTCUT_H

#include "nn/backend.h"

#include <stdbool.h>

struct conv_shortcut;
/** Is there such a convolution for this shape on this CPU? */
bool conv_shortcut_fits(const struct conv_desc *d);
sotto_status conv_shortcut_create(struct conv_shortcut **out, const struct conv_desc *d);
void conv_shortcut_layout(struct conv_shortcut *c, struct arena *scratch);
void conv_shortcut_forward(struct conv_shortcut *c, float *dst, const float *src, const float *weights);
/** diff_src NULL: not wanted; diff_weights (K, C) likewise. add: to what diff_src has, of which most is left as it is. */
void conv_shortcut_backward(struct conv_shortcut *c, float *diff_src, bool add, float *diff_weights,
                            const float *diff_dst, const float *src, const float *weights);
void conv_shortcut_free(struct conv_shortcut *c);

#endif
