/* CIFAR files of both layouts: an accepted file is whole records with labels in range. */
#include "data/format/cifar.h"

#include <stdlib.h>

static void check(const struct cifar_layout *layout, const uint8_t *data, size_t size)
{
    size_t records, record = layout->labels + CIFAR_PIXELS;
    if (cifar_from_memory(&records, layout, data, size) != SOTTO_OK)
        return;
    for (size_t i = 0; i < records; i++)
        for (size_t k = 0; k < layout->labels; k++)
            if (data[i * record + k] >= layout->classes[k])
                abort();
    if (records * record != size || records == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(&cifar10_layout, data, size);
    check(&cifar100_layout, data, size);
    return 0;
}
