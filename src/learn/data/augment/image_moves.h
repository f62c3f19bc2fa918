/* image_moves.h - the turned and shifted copies of an image that the augmentation attack asks about. */
#ifndef DATA_AUGMENT_IMAGE_MOVES_H
#define DATA_AUGMENT_IMAGE_MOVES_H

#include <stddef.h>

struct image_shape {
    size_t channels, height, width; /* of a row (C, H, W) */
};
/* The image itself, turned by +-3, 6, 9 and 12 degrees, and shifted by all (i, j) with |i| + |j| = 1 or 2. */
enum { PICTURE_MOVES = 1 + 8 + 4 + 8 };
/* out (C, H, W): move `number` of it. What comes from outside is 0; turns are bilinear, about the middle. */
void image_move(float *out, const float *image, const struct image_shape *s, size_t number);

#endif
