/* JPEG and PNG through probe, decode and resize. Big images are left out: they only cost time. */
#include "data/image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t planes[3 * 24 * 24];
    struct image_info info;
    if (image_probe(&info, data, size) != SOTTO_OK || info.height * info.width > 1 << 18)
        return 0;
    if (image_from_memory(planes, info.colour ? 3 : 1, 24, 24, data, size) == SOTTO_OK && info.height <= 24 &&
        info.width <= 24)
        (void)!image_from_memory(planes, info.colour ? 1 : 3, info.height, info.width, data, size);
    return 0;
}
