/* Colours and blur of a sampled view. Rows are contiguous triples, so the blur along a row is a sum of
 * shifted copies, and down the columns a sum of rows: both loops run over neighbouring floats. */
#include "data/augment/augment.h"

#include <math.h>
#include <string.h>

static float mean_luma(const float *restrict view, size_t pixels)
{
    double red = 0, green = 0, blue = 0;
    for (size_t i = 0; i < pixels; i++) {
        red += (double)view[3 * i];
        green += (double)view[3 * i + 1];
        blue += (double)view[3 * i + 2];
    }
    return (float)((0.299 * red + 0.587 * green + 0.114 * blue) / (double)pixels);
}

static float augment_finish_cut(float x)
{
    float low = x < 0 ? 0 : x;
    return low > 1 ? 1 : low;
}

static void augment_finish_colours(float *restrict view, size_t pixels, const float m[9], float share)
{
    float shift = share * mean_luma(view, pixels);
    for (size_t i = 0; i < pixels; i++) {
        float r = view[3 * i], g = view[3 * i + 1], b = view[3 * i + 2];
        view[3 * i] = augment_finish_cut(r * m[0] + g * m[3] + b * m[6] + shift);
        view[3 * i + 1] = augment_finish_cut(r * m[1] + g * m[4] + b * m[7] + shift);
        view[3 * i + 2] = augment_finish_cut(r * m[2] + g * m[5] + b * m[8] + shift);
    }
}

/* c b | a b c d | c b, n > 1; of one pixel there is only that one. */
static size_t augment_finish_mirror(long i, size_t n)
{
    long period = n > 1 ? 2 * ((long)n - 1) : 1, p = ((i % period) + period) % period;
    return (size_t)(p < (long)n ? p : period - p);
}

static void augment_finish_weigh(float *weight, size_t radius, double sigma)
{
    double sum = 0;
    for (size_t k = 0; k <= 2 * radius; k++) {
        double d = (double)k - (double)radius;
        sum += exp(-d * d / (2 * sigma * sigma));
    }
    for (size_t k = 0; k <= 2 * radius; k++) {
        double d = (double)k - (double)radius;
        weight[k] = (float)(exp(-d * d / (2 * sigma * sigma)) / sum);
    }
}

static void blur_row(float *restrict to, float *restrict padded, const float *restrict row, size_t width,
                     const float *restrict weight, size_t radius)
{
    for (size_t x = 0; x < width + 2 * radius; x++)
        memcpy(padded + 3 * x, row + 3 * augment_finish_mirror((long)x - (long)radius, width),
               3 * sizeof *row);
    for (size_t i = 0; i < 3 * width; i++)
        to[i] = weight[0] * padded[i];
    for (size_t k = 1; k <= 2 * radius; k++)
        for (size_t i = 0; i < 3 * width; i++)
            to[i] += weight[k] * padded[i + 3 * k];
}

static void add_row(float *restrict to, const float *restrict from, float weight, size_t n, int first)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (first ? 0 : to[i]) + weight * from[i];
}

static void augment_finish_blur(float *view, size_t height, size_t width, double sigma, float *scratch)
{
    float weight[2 * AUGMENT_RADIUS_MAX + 1], *padded = scratch + 3 * height * width;
    size_t radius = augment_blur_radius(height), row = 3 * width;
    augment_finish_weigh(weight, radius, sigma);
    for (size_t y = 0; y < height; y++)
        blur_row(scratch + y * row, padded, view + y * row, width, weight, radius);
    for (size_t y = 0; y < height; y++)
        for (size_t k = 0; k <= 2 * radius; k++)
            add_row(view + y * row,
                    scratch + augment_finish_mirror((long)(y + k) - (long)radius, height) * row, weight[k],
                    row, k == 0);
}

augment_finisher ISA_NAME(augment_finish);
void ISA_NAME(augment_finish)(float *view, size_t height, size_t width, const struct augment_view *how,
                              float *scratch)
{
    augment_finish_colours(view, height * width, how->colour, how->mean_share);
    if (how->blur > 0)
        augment_finish_blur(view, height, width, how->blur, scratch);
}
