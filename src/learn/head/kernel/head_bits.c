#include "head/kernel/head_bits.h"

#include "head/kernel/head_kernels.h"

/* Most data that is not bits shows it at once, and needs no memory for the answer. */
static bool starts_with_bits(const float *x, size_t d)
{
    for (size_t j = 0; j < d; j++)
        if (x[j] != 0 && x[j] != 1)
            return false;
    return true;
}

sotto_status head_bits_make(uint64_t **out, const float *x, size_t n, size_t d)
{
    sotto_status status = SOTTO_OK;
    const struct head_kernels *kernels = head_kernels_find();
    size_t count = head_bit_words(d), ones = 0, i = 0;
    uint64_t *bits = NULL;
    *out = NULL;
    if (!starts_with_bits(x, d))
        goto done;
    NEW_ROWS(bits, n, count);
    while (i < n && kernels->pack_bits(bits + i * count, &ones, x + i * d, d))
        i++;
    if (i == n && ones <= n * d / 3) {
        *out = bits;
        bits = NULL;
    }
done:
    base_free(bits);
    return status;
}
