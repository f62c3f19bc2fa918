#include "nn/conv/batch_parts.h"

#include <string.h>

enum { MOST_WEIGHTS = 128 * 64 * 9 };

bool batch_parts_fit(size_t weights, size_t pieces)
{
    return weights <= MOST_WEIGHTS && pieces >= BATCH_PARTS;
}

size_t batch_parts_begin(size_t pieces, size_t part)
{
    return pieces * part / BATCH_PARTS;
}

void batch_parts_add(float *to, const float *partial, size_t stride, size_t count)
{
    memcpy(to, partial, count * sizeof *to);
    for (size_t part = 1; part < BATCH_PARTS; part++)
        for (size_t i = 0; i < count; i++)
            to[i] += partial[part * stride + i];
}
