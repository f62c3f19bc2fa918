/* CIFAR-10 batches: an accepted file is whole records with labels 0 to 9. */
#include "data/cifar.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t records;
    if (cifar_from_memory(&records, data, size) != SOTTO_OK)
        return 0;
    for (size_t i = 0; i < records; i++)
        if (data[i * CIFAR_RECORD] > 9)
            abort();
    if (records * CIFAR_RECORD != size || records == 0)
        abort();
    return 0;
}
