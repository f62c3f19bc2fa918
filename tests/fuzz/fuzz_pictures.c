/* labels.csv beside images. */
#include "data/format/image_facts.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_facts facts = {0};
    (void)image_table_from_memory(&facts, (const char *)data, size, "labels.csv", NULL, NULL);
    image_facts_clear(&facts);
    return 0;
}
