#include "head/head_bits.h"

#include "head/head_kernels.h"

/* Most data that is not bits shows it at once, and needs no memory for the answer. */
static bool starts_with_bits(const struct head_data *data)
{
    for (size_t j = 0; j < data->d; j++)
        if (data->x[j] != 0 && data->x[j] != 1)
            return false;
    return true;
}

sotto_status head_bits_make(uint64_t **out, const struct head_data *data)
{
    sotto_status status = SOTTO_OK;
    enum cpu_isa isa;
    const struct head_kernels *kernels = head_kernels_find(&isa);
    size_t count = head_bit_words(data->d), ones = 0, i = 0;
    uint64_t *bits = NULL;
    *out = NULL;
    if (!starts_with_bits(data))
        goto done;
    bits = base_alloc(data->n, count * sizeof *bits);
    if (!bits)
        FAIL(SOTTO_ENOMEM, "cannot allocate %zu records of %zu bits", data->n, data->d);
    while (i < data->n && kernels->pack_bits(bits + i * count, &ones, data->x + i * data->d, data->d))
        i++;
    if (i == data->n && ones <= data->n * data->d / 3) {
        *out = bits;
        bits = NULL;
    }
done:
    base_free(bits);
    return status;
}
