/* conv_phases.h - 3x3 convolutions of stride 2 in f32 by minimal filtering both ways (AVX2 and AVX-512, with the same
 * bits): of tiles of 4x4 results 81 multiplications for 144 in all three passes, of 7x7 in all 256 for 441.
 *
 * The price is rounding: a result is off by at most 1.2e-6 of the results' root mean square (sums over 144 channels; it grows
 * with their root), as by conv_winograd.h. No sum depends on the number of threads, and a result depends on its own image alone. */
#ifndef NN_CONV_CONV_PHASES_H
#define NN_CONV_CONV_PHASES_H

#include "nn/backend.h"

#include <stdbool.h>

struct conv_phases;
/** Is there such a convolution for this shape on this CPU, and is it faster than direct sums? */
int conv_phases_fits(const struct conv_desc *d);
/** Are its weights so few that a block stays in the cache of a thread? */
bool conv_phases_small(const struct conv_desc *d);
sotto_status conv_phases_create(struct conv_phases **out, const struct conv_desc *d);
void conv_phases_layout(struct conv_phases *c, struct arena *scratch);
/** Its weights' points, which it keeps in `memory` from now on. */
struct lasting_weights *conv_phases_lasting(struct conv_phases *c, struct arena *memory);
void conv_phases_forward(struct conv_phases *c, float *dst, const float *src, const float *weights,
                         const float *bias);
/** diff_src NULL: not wanted; diff_weights (K, 3, 3, C) likewise. */
void conv_phases_backward(struct conv_phases *c, float *diff_src, float *diff_weights, const float *diff_dst,
                          const float *src, const float *weights);
void conv_phases_free(struct conv_phases *c);

#endif
