#include "head/head_bits.h"

bool head_bits_suit(const struct head_data *data)
{
    size_t cells = data->n * data->d, count = 0;
    for (size_t i = 0; i < data->n; i++) {
        const float *row = data->x + i * data->d;
        uint32_t set = 0, other = 0; /* without a branch in it the loop runs in vectors */
        for (size_t j = 0; j < data->d; j++) {
            set += row[j] == 1;
            other += row[j] != 0;
        }
        if (set != other)
            return false;
        count += set;
    }
    return count <= cells / 3;
}

void head_bits_fill(uint64_t *bits, const struct head_data *data)
{
    size_t words = head_bit_words(data->d);
    for (size_t i = 0; i < data->n; i++)
        for (size_t j = 0; j < data->d; j++)
            bits[i * words + j / 64] |= (uint64_t)(data->x[i * data->d + j] == 1) << j % 64;
}
