/* stl.h - STL-10 in its binary form: three planes of 96x96 bytes per image, each plane column by column;
 * labels are bytes 1 to 10 in a file of their own.
 * Source: A. Coates, H. Lee, A. Ng, "An analysis of single layer networks in unsupervised feature learning",
 * AISTATS 2011, and the data page. */
#ifndef DATA_FORMAT_STL_H
#define DATA_FORMAT_STL_H

#include "base/status.h"

enum { STL_SIDE = 96, STL_PIXELS = 3 * STL_SIDE * STL_SIDE, STL_CLASSES = 10 };

/** One image as (3, height, width), resized if that is not 96x96. ENOMEM. */
sotto_status stl_image(uint8_t *planes, size_t height, size_t width, const unsigned char *record);
/** Labels 0 to 9 from a file of labels. EFORMAT: a byte outside 1 to 10, or not `count` of them. */
sotto_status stl_labels(int64_t *labels, size_t count, const unsigned char *data, size_t size);

#endif
