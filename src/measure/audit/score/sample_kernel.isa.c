/* Sixteen lanes at every level, so that sums have the same bits. */
#include "audit/score/sample_distances.h"
#include "base/simd.h"

#include <string.h>

enum { LANES = 16 };

INLINE f32x16 load(const float *x)
{
    f32x16 v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE float total(f32x16 v)
{
    float sum = 0;
    for (size_t i = 0; i < LANES; i++)
        sum += v[i];
    return sum;
}

sample_kernel ISA_NAME(sample_kernel);
void ISA_NAME(sample_kernel)(float *squared, const float *const records[SAMPLE_GROUP], const float *samples,
                             size_t count, size_t width)
{
    for (size_t j = 0; j < count; j++) {
        const float *g = samples + j * width;
        f32x16 sum[SAMPLE_GROUP] = {{0}};
        size_t c = 0;
        for (; c + LANES <= width; c += LANES) {
            f32x16 y = load(g + c);
            for (size_t r = 0; r < SAMPLE_GROUP; r++) {
                f32x16 d = load(records[r] + c) - y;
                sum[r] += d * d;
            }
        }
        for (size_t r = 0; r < SAMPLE_GROUP; r++) {
            float rest = 0;
            for (size_t e = c; e < width; e++)
                rest += (records[r][e] - g[e]) * (records[r][e] - g[e]);
            squared[r * count + j] = total(sum[r]) + rest;
        }
    }
}
