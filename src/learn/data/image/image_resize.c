/* stb_image_resize behind one function. Debian 12 packages its first version, newer systems its second; their
 * filters have the same names but may round differently, so resized sets may differ in the last bit between
 * systems. */
#include "data/image/image.h"

#include "base/memory.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define STBIR_MALLOC(size, context) ((void)(context), base_alloc((size), 1))
#define STBIR_FREE(block, context) ((void)(context), base_free(block))
#ifdef SOTTO_STB_RESIZE2
#define STB_IMAGE_RESIZE2_IMPLEMENTATION
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#include <stb/stb_image_resize2.h>
#else
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#include <stb/stb_image_resize.h>
#endif
#pragma GCC diagnostic pop

sotto_status image_resize(uint8_t *out, size_t out_height, size_t out_width, const uint8_t *in, size_t height,
                          size_t width, size_t channels)
{
#ifdef SOTTO_STB_RESIZE2
    bool fine =
        stbir_resize_uint8_linear(in, (int)width, (int)height, 0, out, (int)out_width, (int)out_height, 0,
                                  channels == 1 ? STBIR_1CHANNEL : STBIR_RGB) != NULL;
#else
    bool fine = stbir_resize_uint8(in, (int)width, (int)height, 0, out, (int)out_width, (int)out_height, 0,
                                   (int)channels) != 0;
#endif
    return fine
               ? SOTTO_OK
               : status_fail(SOTTO_ENOMEM, "cannot resize an image of %zux%zu: out of memory", height, width);
}
