/* One view in one pass over the output rows. The map is separable, so every output row blends two source rows
 * (contiguous, planar), mixes colours while still planar (mixing is linear, so it commutes with sampling),
 * and writes pixels of four floats; the columns then blend two such pixels each: no gathers, the same code at
 * every level. Without contraction (-ffp-contract=off) each element sees the same operations in the same
 * order at every level. */
#include "data/augment/augment.h"

#include "base/simd.h"

#include <string.h>

/* Sources of an output column: two pixel offsets into the blended row and the weight of the second. */
struct column {
    uint32_t first, second;
    float weight;
};

static size_t augment_view_reflect(long i, size_t n)
{
    if ((unsigned long)i < n)
        return (size_t)i;
    long period = 2 * (long)n, p = ((i % period) + period) % period;
    return (size_t)(p < (long)n ? p : period - 1 - p);
}

static void augment_view_locate(struct column *out, size_t i, size_t n, double zoom, double shift, int flip)
{
    double half = 0.5 * (double)n, p = zoom * ((double)i + 0.5 - half) + half - shift - 0.5;
    if (flip)
        p = (double)n - 1 - p;
    double low = floor(p);
    out->first = (uint32_t)augment_view_reflect((long)low, n);
    out->second = (uint32_t)augment_view_reflect((long)low + 1, n);
    out->weight = (float)(p - low);
}

static void blend_rows_rgb(float *restrict row, const uint8_t *restrict src, size_t plane, size_t width,
                           size_t above, size_t below, float weight, const float m[9])
{
    const uint8_t *restrict a = src + above * width, *restrict b = src + below * width;
    for (size_t x = 0; x < width; x++) {
        float r0 = a[x], g0 = a[plane + x], b0 = a[2 * plane + x];
        float red = r0 + weight * ((float)b[x] - r0);
        float green = g0 + weight * ((float)b[plane + x] - g0);
        float blue = b0 + weight * ((float)b[2 * plane + x] - b0);
        row[4 * x + 0] = red * m[0] + green * m[3] + blue * m[6];
        row[4 * x + 1] = red * m[1] + green * m[4] + blue * m[7];
        row[4 * x + 2] = red * m[2] + green * m[5] + blue * m[8];
        row[4 * x + 3] = 0;
    }
}

static void blend_rows_grey(float *restrict row, const uint8_t *restrict src, size_t width, size_t above,
                            size_t below, float weight, const float sums[3])
{
    const uint8_t *restrict a = src + above * width, *restrict b = src + below * width;
    for (size_t x = 0; x < width; x++) {
        float first = a[x], grey = first + weight * ((float)b[x] - first);
        row[4 * x + 0] = grey * sums[0];
        row[4 * x + 1] = grey * sums[1];
        row[4 * x + 2] = grey * sums[2];
        row[4 * x + 3] = 0;
    }
}

static inline f32x4 blend_pixels(const float *row, const struct column *c)
{
    f32x4 first, second;
    memcpy(&first, row + 4 * c->first, sizeof first);
    memcpy(&second, row + 4 * c->second, sizeof second);
    return first + c->weight * (second - first);
}

/* Four floats are stored for three, each overwriting its predecessor's fourth; the last pixel must not,
 * because the next view may belong to another thread. */
static void blend_columns(float *restrict dst, const float *restrict row,
                          const struct column *restrict columns, size_t width)
{
    for (size_t x = 0; x + 1 < width; x++) {
        f32x4 p = blend_pixels(row, columns + x);
        memcpy(dst + 3 * x, &p, sizeof p);
    }
    f32x4 p = blend_pixels(row, columns + width - 1);
    memcpy(dst + 3 * (width - 1), &p, 3 * sizeof(float));
    for (size_t i = 0; i < 3 * width; i++) {
        float low = dst[i] < 0 ? 0 : dst[i];
        dst[i] = low > 1 ? 1 : low;
    }
}

void ISA_NAME(augment_view)(float *dst, const uint8_t *src, size_t channels, size_t height, size_t width,
                            const struct augment_view *view, float *scratch)
{
    float *row = scratch;
    struct column *columns = (struct column *)(scratch + 4 * width);
    float m[9], sums[3];
    for (int i = 0; i < 9; i++)
        m[i] = view->colour[i] / 255.0f;
    for (int j = 0; j < 3; j++)
        sums[j] = m[j] + m[3 + j] + m[6 + j];
    for (size_t x = 0; x < width; x++)
        augment_view_locate(columns + x, x, width, view->zoom_x, view->shift_x, view->flip);
    for (size_t y = 0; y < height; y++) {
        struct column line;
        augment_view_locate(&line, y, height, view->zoom_y, view->shift_y, view->flip_y);
        if (channels == 3)
            blend_rows_rgb(row, src, height * width, width, line.first, line.second, line.weight, m);
        else
            blend_rows_grey(row, src, width, line.first, line.second, line.weight, sums);
        blend_columns(dst + y * width * 3, row, columns, width);
    }
}
