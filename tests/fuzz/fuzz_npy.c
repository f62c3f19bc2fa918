/* Arbitrary bytes as a .npy file. */
#include "io/array/npy.h"
#include "sotto/private/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_array out = {0};
    if (npy_from_memory(&out, data, size, "input.npy") == SOTTO_OK)
        sotto_array_clear(&out);
    return 0;
}
