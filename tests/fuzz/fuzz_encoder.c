/* Any bytes as an encoder: first the container, then metadata, names, shapes and numbers. What loads saves and loads
 * again. */
#include "sotto/lab/array.h"
#include "sotto/lab/ssl.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_encoder *n = NULL, *again = NULL;
    void *bytes;
    size_t saved;
    if (sotto_encoder_load_bytes(&n, data, size) != SOTTO_OK)
        return 0;
    if (sotto_encoder_width(n) == 0 || sotto_encoder_width(n) > size)
        abort();
    if (sotto_encoder_save_bytes(&bytes, &saved, n) != SOTTO_OK ||
        sotto_encoder_load_bytes(&again, bytes, saved) != SOTTO_OK)
        abort();
    sotto_bytes_free(bytes);
    sotto_encoder_free(n);
    sotto_encoder_free(again);
    return 0;
}
