/* example_filter.h - the weight gradient of a single example of a 3x3 convolution by minimal filtering: that of a batch of
 * its images, by conv_winograd.h or conv_phases.h, a function of these images alone. */
#ifndef NN_CONV_EXAMPLE_FILTER_H
#define NN_CONV_EXAMPLE_FILTER_H

#include "nn/backend.h"

#include <stdbool.h>

struct example_filter;
/** Does it fit, and is it faster than direct sums for examples of so many images? */
bool example_filter_fits(const struct conv_desc *d, size_t images);
/** For one thread at a time. */
sotto_status example_filter_create(struct example_filter **out, const struct conv_desc *d, size_t images);
void example_filter_layout(struct example_filter *f, struct arena *scratch);
/** gradient (K, 3, 3, C) */
void example_filter_run(const struct example_filter *f, float *gradient, const float *diff_dst,
                        const float *src);
void example_filter_free(struct example_filter *f);

#endif
