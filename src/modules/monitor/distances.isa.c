/* Sixteen sums at every level, so that a log gives the same values on every machine. Four rows of the table go together: a
 * sum waits for itself, not for the others. */
#include "base/simd.h"
#include "monitor/distances.h"

enum {
    LANES = VECTOR_BYTES / sizeof(float),
    VECTORS = 16 / LANES,           /* of the sixteen sums of a row */
    TOGETHER = VECTORS == 4 ? 2 : 4 /* rows, so that their sums stay in registers */
};

/* The columns behind the last sixteen, and the sixteen sums to one. */
static float distances_finish(const vf32 *sum, const float *a, const float *b, size_t from, size_t d)
{
    float lanes[16];
    for (size_t v = 0; v < VECTORS; v++)
        memcpy(lanes + v * LANES, &sum[v], sizeof *sum);
    for (size_t j = from; j < d; j++) {
        float gap = a[j] - b[j];
        lanes[j - from] += gap * gap;
    }
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

INLINE void distances_to(float *out, const float *a, const float *b, size_t rows, size_t d)
{
    vf32 sum[TOGETHER][VECTORS] = {{{0}}};
    size_t j = 0;
    for (; j + 16 <= d; j += 16)
        for (size_t i = 0; i < rows; i++)
            for (size_t v = 0; v < VECTORS; v++) {
                const vf32 gap = *(const stored_f32 *)(a + j + v * LANES) -
                                 *(const stored_f32 *)(b + i * d + j + v * LANES);
                sum[i][v] += gap * gap;
            }
    for (size_t i = 0; i < rows; i++)
        out[i] = distances_finish(sum[i], a, b + i * d, j, d);
}

monitor_distances ISA_NAME(monitor_distances_of);
void ISA_NAME(monitor_distances_of)(float *out, const float *row, const float *table, size_t n, size_t d)
{
    size_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER)
        distances_to(out + i, row, table + i * d, TOGETHER, d);
    for (; i < n; i++)
        distances_to(out + i, row, table + i * d, 1, d);
}
