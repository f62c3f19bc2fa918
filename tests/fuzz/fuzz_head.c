/* Any bytes as a head: first the container, then the checks of names, shapes, numbers and recipe. A head that loads gives
 * bytes that load again and give themselves. */
#include "sotto/head.h"
#include "sotto/lab/array.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *saved(size_t *size, const struct sotto_head *h)
{
    void *bytes;
    if (sotto_head_save_bytes(&bytes, size, h) != SOTTO_OK)
        abort();
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_head *h = NULL, *again = NULL;
    size_t count, first_size, second_size;
    if (sotto_head_load_bytes(&h, data, size) != SOTTO_OK)
        return 0;
    const float *p = sotto_head_parameters(h, &count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(p[i]))
            abort();
    void *first = saved(&first_size, h);
    if (sotto_head_load_bytes(&again, first, first_size) != SOTTO_OK)
        abort();
    void *second = saved(&second_size, again);
    if (first_size != second_size || memcmp(first, second, first_size) != 0)
        abort();
    sotto_bytes_free(first);
    sotto_bytes_free(second);
    sotto_head_free(h);
    sotto_head_free(again);
    return 0;
}
