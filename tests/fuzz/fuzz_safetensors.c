/* Arbitrary bytes as a .safetensors file. */
#include "io/array/safetensors.h"
#include "sotto/private/io.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_tensors out = {0};
    if (safetensors_load_bytes(&out, data, size, "input.safetensors") == SOTTO_OK)
        sotto_tensors_clear(&out);
    return 0;
}
