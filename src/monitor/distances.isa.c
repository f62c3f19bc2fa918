/* Sixteen sums at every level, so that a log gives the same values on every machine. */
#include "base/simd.h"
#include "monitor/distances.h"

typedef f32x16 loaded_f32x16 __attribute__((aligned(4), may_alias));

static float square_distance(const float *a, const float *b, size_t d)
{
    f32x16 sum = {0};
    size_t j = 0;
    for (; j + 16 <= d; j += 16) {
        f32x16 gap = *(const loaded_f32x16 *)(a + j) - *(const loaded_f32x16 *)(b + j);
        sum += gap * gap;
    }
    for (size_t lane = 0; j < d; j++, lane++) {
        float gap = a[j] - b[j];
        sum[lane] += gap * gap;
    }
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
}

monitor_distances ISA_NAME(monitor_distances_of);
void ISA_NAME(monitor_distances_of)(float *out, const float *row, const float *table, size_t n, size_t d)
{
    for (size_t i = 0; i < n; i++)
        out[i] = square_distance(row, table + i * d, d);
}
