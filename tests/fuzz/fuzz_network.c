/* Any bytes as a whole network: first the container, then metadata, names, shapes, numbers and recipe. */
#include "io/array/safetensors.h"
#include "train/network/network.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_tensors t = {0};
    struct sotto_network *n = NULL;
    if (safetensors_from_memory(&t, data, size, "input") == SOTTO_OK &&
        network_from_tensors(&n, &t, "input") == SOTTO_OK) {
        size_t values = 0;
        for (size_t i = 0; i < t.count; i++)
            values += t.items[i].array.count;
        if (sotto_network_parameters(n) > values || sotto_network_classes(n) < 2 ||
            sotto_network_inputs(n) == 0)
            abort();
    }
    sotto_network_free(n);
    sotto_tensors_clear(&t);
    return 0;
}
