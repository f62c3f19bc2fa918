/* Any bytes as a generative model: first the container, then metadata, names, shapes and numbers. What loads saves and loads
 * again. */
#include "generate/generator.h"
#include "sotto/lab/generate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_generator *g = NULL, *again = NULL;
    size_t shape[3], latent, saved;
    const char *model;
    void *bytes;
    if (generator_load_bytes(&g, data, size) != SOTTO_OK)
        return 0;
    sotto_generator_shape(shape, &latent, &model, g);
    if ((shape[0] != 1 && shape[0] != 3) || shape[1] * shape[2] != 1024 || latent == 0 || !model)
        abort();
    if (generator_save_bytes(&bytes, &saved, g) != SOTTO_OK ||
        generator_load_bytes(&again, bytes, saved) != SOTTO_OK)
        abort();
    sotto_bytes_free(bytes);
    sotto_generator_free(g);
    sotto_generator_free(again);
    return 0;
}
