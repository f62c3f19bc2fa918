/* IDX headers, packed or not: what is accepted must really hold what the header says. */
#include "data/format/idx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size, NULL};
    struct idx idx;
    if (bytes_gunzip(&bytes, 1 << 20, NULL) == SOTTO_OK &&
        idx_from_memory(&idx, bytes.data, bytes.size) == SOTTO_OK) {
        size_t count = idx.shape[0] * (idx.ndim == 3 ? idx.shape[1] * idx.shape[2] : 1);
        if ((size_t)(idx.data - bytes.data) + count != bytes.size)
            abort();
    }
    bytes_clear(&bytes);
    return 0;
}
