/* Names of breast tissue patches, one a line: from paths to an ordered list. */
#include "data/format/idc.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle b = {.origin = base_strdup("folder")};
    struct image_list l;
    size_t twice;
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        char name[256] = "";
        memcpy(name, data + at, length < sizeof name - 1 ? length : sizeof name - 1);
        if (bundle_add(&b, name, NULL, 0) != SOTTO_OK)
            break;
        at += length + 1;
    }
    if (idc_list(&l, &twice, &b) == SOTTO_OK)
        images_clear(&l);
    bundle_clear(&b);
    return 0;
}
