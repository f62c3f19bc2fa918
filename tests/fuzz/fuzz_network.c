/* Any bytes as a whole network: first the container, then metadata, names, shapes and numbers. What loads saves and loads
 * again. */
#include "sotto/lab/array.h"
#include "sotto/lab/train.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_network *n = NULL, *again = NULL;
    void *bytes;
    size_t saved;
    if (sotto_network_load_bytes(&n, data, size) != SOTTO_OK)
        return 0;
    if (sotto_network_inputs(n) == 0 || sotto_network_classes(n) < 2 || sotto_network_parameters(n) > size)
        abort();
    if (sotto_network_save_bytes(&bytes, &saved, n) != SOTTO_OK ||
        sotto_network_load_bytes(&again, bytes, saved) != SOTTO_OK)
        abort();
    sotto_bytes_free(bytes);
    sotto_network_free(n);
    sotto_network_free(again);
    return 0;
}
