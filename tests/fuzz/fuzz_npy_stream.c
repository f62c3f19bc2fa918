/* Arbitrary bytes as a .npy frame that arrives in pieces: never reads on behind the frame, and agrees with
 * the reader of whole files. The first byte says how the pieces are cut. */
#include "io/array/npy_stream.h"
#include "sotto/private/io.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_stream s;
    struct sotto_array whole = {0};
    size_t used = 1, want = 0, piece = size ? data[0] % 32u + 1 : 1;
    bool good = true, complete = false;
    if (size == 0)
        return 0;
    npy_stream_begin(&s, "pipe");
    while (good && !complete) {
        void *to;
        if (s.header_known && s.data_bytes > 1 << 20)
            break; /* a reader of a pipe checks the shape first */
        good = npy_stream_room(&s, &to, &want) == SOTTO_OK;
        complete = good && want == 0;
        size_t take = want < piece ? want : piece;
        if (!good || complete || size - used < take)
            break;
        memcpy(to, data + used, take);
        used += take;
        good = npy_stream_advance(&s, take) == SOTTO_OK;
    }
    if (npy_from_memory(&whole, data + 1, used - 1, "file") == SOTTO_OK) {
        if (!complete || whole.count != s.array.count || whole.dtype != s.array.dtype ||
            (whole.count > 0 &&
             memcmp(whole.data, s.array.data, whole.count * sotto_dtype_size(whole.dtype)) != 0))
            abort();
        sotto_array_clear(&whole);
    } else if (complete) {
        abort();
    }
    npy_stream_clear(&s);
    return 0;
}
