/* Images for people to look at. */
#include "base/file.h"
#include "data/image/image.h"

#include <png.h>

sotto_status image_write_png(const char *path, const uint8_t *rows, size_t height, size_t width)
{
    sotto_status status = SOTTO_OK;
    unsigned char *bytes = NULL;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    bytes = base_alloc(1, size);
    if (!bytes)
        FAIL(SOTTO_ENOMEM, "out of memory for an image of %zu x %zu pixels", width, height);
    REQUIRE(png_image_write_to_memory(&image, bytes, &size, 0, rows, 0, NULL), "%s: %s", path, image.message);
    TRY(file_write(path, bytes, size));
done:
    base_free(bytes);
    return status;
}
