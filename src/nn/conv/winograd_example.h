/* winograd_example.h - the weight gradient of a single example of a 3x3 convolution by minimal filtering: as
 * conv_winograd.h, but of the images of one example by themselves. */
#ifndef NN_CONV_WINOGRAD_EXAMPLE_H
#define NN_CONV_WINOGRAD_EXAMPLE_H

#include "nn/backend.h"

#include <stdbool.h>

/** Does it fit, and is it faster than direct sums for examples of so many images? */
bool winograd_example_fits(const struct conv_desc *d, size_t images);
/** Floats that a call works on. */
size_t winograd_example_scratch(const struct conv_desc *d);
/** gradient (K, 3, 3, C) = that of `images` images; a function of these alone, with the same bits on AVX2 and AVX-512. */
void winograd_example(float *gradient, float *scratch, const float *diff_dst, const float *src,
                      const struct conv_desc *d, size_t images);

#endif
