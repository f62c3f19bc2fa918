/* bitmap.h - small pictures as text that a page can hold. */
#ifndef IO_TEXT_BITMAP_H
#define IO_TEXT_BITMAP_H

#include <stddef.h>
#include <stdint.h>

enum { BITMAP_SIDE_MAX = 4096 };
extern const char bitmap_prefix[]; /* what such a text begins with */
/** A data URI of a Windows bitmap, in base64: 8 bits of grey or 24 of colour.
 *  In:      pixels (channels, height, width), 0 is black; channels 1 or 3; sides at most BITMAP_SIDE_MAX
 *  Returns: base_free(); NULL: out of memory */
char *bitmap_uri(const uint8_t *pixels, size_t channels, size_t height, size_t width);

#endif
