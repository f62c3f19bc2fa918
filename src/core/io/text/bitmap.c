/* Windows bitmaps: rows from below, each a multiple of 4 bytes; grey goes through a palette. */
#include "io/text/bitmap.h"

#include "base/memory.h"

#include <string.h>

const char bitmap_prefix[] = "data:image/bmp;base64,";

enum { HEADERS = 14 + 40, PALETTE = 256 * 4 };

static void bitmap_put(uint8_t *at, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void write_headers(uint8_t *file, size_t channels, size_t height, size_t width, size_t start,
                          size_t size)
{
    memcpy(file, "BM", 2);
    bitmap_put(file + 2, size, 4);
    bitmap_put(file + 10, start, 4);
    bitmap_put(file + 14, 40, 4); /* length of what follows, up to the palette */
    bitmap_put(file + 18, width, 4);
    bitmap_put(file + 22, height, 4);
    bitmap_put(file + 26, 1, 2);
    bitmap_put(file + 28, 8 * channels, 2);
    for (size_t i = 0; channels == 1 && i < 256; i++)
        memset(file + HEADERS + 4 * i, (int)i, 3);
}

static char *bitmap_base64(const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t prefix = strlen(bitmap_prefix);
    char *text = base_alloc(prefix + (size + 2) / 3 * 4 + 1, 1), *to;
    if (!text)
        return NULL;
    memcpy(text, bitmap_prefix, prefix);
    to = text + prefix;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            *to++ = (size_t)k > left ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    *to = '\0';
    return text;
}

char *bitmap_uri(const uint8_t *pixels, size_t channels, size_t height, size_t width)
{
    const size_t row = (width * channels + 3) / 4 * 4, start = HEADERS + (channels == 1 ? PALETTE : 0),
                 size = start + row * height;
    uint8_t *file = base_alloc(size, 1);
    if (!file)
        return NULL;
    memset(file, 0, size);
    write_headers(file, channels, height, width, start, size);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < channels; c++) /* blue first */
                file[start + (height - 1 - y) * row + x * channels + c] =
                    pixels[((channels - 1 - c) * height + y) * width + x];
    char *text = bitmap_base64(file, size);
    base_free(file);
    return text;
}
