/* MATLAB files: what is accepted has as many values as its shape says. */
#include "data/format/mat.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mat_array a;
    if (mat_from_memory(&a, data, size, "y", 1 << 20, NULL) != SOTTO_OK)
        return 0;
    double sum = 0;
    size_t count = 1;
    for (size_t i = 0; i < a.ndim; i++)
        count *= a.shape[i];
    for (size_t i = 0; i < a.count; i++)
        sum += mat_value(&a, i) == 0;
    if (count != a.count || sum > (double)count)
        abort();
    mat_clear(&a);
    return 0;
}
