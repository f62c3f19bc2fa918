/* Arbitrary bytes as a .npz file. */
#include "io/array/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_tensors out = {0};
    if (npz_from_memory(&out, data, size, "input.npz") == SOTTO_OK)
        sotto_tensors_clear(&out);
    return 0;
}
