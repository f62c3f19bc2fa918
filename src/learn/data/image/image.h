/* image.h - one JPEG, PNG or binary PGM in memory to planes of bytes. */
#ifndef DATA_IMAGE_IMAGE_H
#define DATA_IMAGE_IMAGE_H

#include "base/status.h"

#include <stdbool.h>

enum image_kind { IMAGE_JPEG, IMAGE_PNG, IMAGE_PGM };
struct image_info {
    enum image_kind kind;
    size_t height, width; /* pixels */
    bool colour;          /* false: grey */
};
/** Reads the header. EFORMAT: neither JPEG, PNG nor binary PGM, damaged, more than 2^26 pixels, or CMYK; WebP, GIF,
 * BMP, TIFF and HEIF by name. */
sotto_status image_probe(struct image_info *out, const unsigned char *data, size_t size);
/** Likewise, and decodes all of it: an image that passes is decoded by the next function. */
sotto_status image_check(struct image_info *out, const unsigned char *data, size_t size);
/** Decodes into planes (C, H, W), resized if the image has another size. channels is 1 or 3; a grey image
 * fills all three. Transparent pixels are laid on black. EFORMAT: damaged or cut, with the decoder's
 * words. */
sotto_status image_from_memory(uint8_t *planes, size_t channels, size_t height, size_t width,
                               const unsigned char *data, size_t size);
/** Interleaved (H, W, C) to interleaved, filtered (Catmull-Rom up, Mitchell down), edges clamped. ENOMEM. */
sotto_status image_resize(uint8_t *out, size_t out_height, size_t out_width, const uint8_t *in, size_t height,
                          size_t width, size_t channels);

/** Writes interleaved (H, W, 3) bytes as a PNG file. EIO, ENOMEM. */
sotto_status image_write_png(const char *path, const uint8_t *rows, size_t height, size_t width);

#endif
