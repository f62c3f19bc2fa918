/* Any bytes as a head: first the container, then the checks of names, shapes, numbers and recipe. */
#include "head/model/head_model.h"
#include "io/array/safetensors.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_tensors t = {0};
    struct sotto_head *h = NULL;
    if (safetensors_from_memory(&t, data, size, "input") == SOTTO_OK &&
        head_from_tensors(&h, &t, "input") == SOTTO_OK) {
        size_t count;
        const float *p = sotto_head_parameters(h, &count);
        for (size_t i = 0; i < count; i++)
            if (!isfinite(p[i]))
                abort();
    }
    sotto_head_free(h);
    sotto_tensors_clear(&t);
    return 0;
}
