/* Two labels of images: 'U' and a UTKFace name; 'C' and CelebA's table, perhaps '|' and its partition; 'P'
 * and Places' list; 'T' and labels.csv. */
#include "data/format/image_facts.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_facts facts = {0};
    struct utkface_name name;
    char base[64] = "";
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1, *bar = memchr(text, '|', size - 1);
    size_t length = size - 1;
    switch (data[0]) {
    case 'U':
        memcpy(base, text, length < sizeof base - 1 ? length : sizeof base - 1);
        (void)utkface_parse(&name, base);
        break;
    case 'C':
        (void)celeba_from_memory(&facts, text, bar ? (size_t)(bar - text) : length, bar ? bar + 1 : NULL,
                                 bar ? length - (size_t)(bar - text) - 1 : 0, "list", "Male",
                                 "Attractive+Smiling");
        break;
    case 'P':
        (void)places_from_memory(&facts, text, length, "list.json");
        break;
    case 'T':
        (void)image_table_from_memory(&facts, text, length, "labels.csv", NULL, NULL);
        break;
    case 'X':
        (void)chest_xray_from_memory(&facts, text, length, NULL, 0, "Data_Entry_2017.csv", NULL, NULL);
        break;
    default:
        break;
    }
    image_facts_clear(&facts);
    return 0;
}
