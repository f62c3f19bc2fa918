/* pixel_lists.h - which source pixel each kernel tap reads for each output pixel, worked out once per
 * plan. */
#ifndef NN_CONV_PIXEL_LISTS_H
#define NN_CONV_PIXEL_LISTS_H

#include "nn/backend.h"
#include "nn/conv/conv_kernels.h"

struct pixel_lists {
    size_t taps, block; /* kernel taps; images per list */
    size_t length; /* of one tap's list: block * P * Q, the first per_image[tap] * images pairs are used */
    struct pixel_pair *pairs; /* (taps, length), image by image; padding has no pair */
    size_t *per_image;        /* (taps) */
    struct arena memory;
};
/** block: as many images as have `pixels` output pixels together, at least one. */
sotto_status pixel_lists_create(struct pixel_lists *out, const struct conv_desc *d, size_t pixels);
void pixel_lists_clear(struct pixel_lists *l);
/** Do the offsets of such a block fit into a pair? */
int pixel_lists_fit(const struct conv_desc *d, size_t pixels);

#endif
