/* One pixel at a time, in double: what augment_view.isa.c must reproduce. */
#include "data/augment/augment.h"

#include <math.h>

static size_t augment_reference_reflect(long i, size_t n)
{
    long period = 2 * (long)n, p = ((i % period) + period) % period;
    return (size_t)(p < (long)n ? p : period - 1 - p);
}

static double augment_reference_source(size_t i, size_t n, double zoom, double shift, int flip)
{
    double half = (double)n / 2, p = zoom * ((double)i + 0.5 - half) + half - shift - 0.5;
    return flip ? (double)n - 1 - p : p;
}

static double augment_reference_sample(const uint8_t *plane, size_t height, size_t width, double y, double x)
{
    double top = floor(y), left = floor(x), wy = y - top, wx = x - left;
    size_t y0 = augment_reference_reflect((long)top, height),
           y1 = augment_reference_reflect((long)top + 1, height);
    size_t x0 = augment_reference_reflect((long)left, width),
           x1 = augment_reference_reflect((long)left + 1, width);
    double upper = (1 - wx) * plane[y0 * width + x0] + wx * plane[y0 * width + x1];
    double lower = (1 - wx) * plane[y1 * width + x0] + wx * plane[y1 * width + x1];
    return ((1 - wy) * upper + wy * lower) / 255;
}

void augment_reference(float *dst, const uint8_t *src, size_t channels, size_t height, size_t width,
                       const struct augment_view *view)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            double from_y = augment_reference_source(y, height, view->zoom_y, view->shift_y, view->flip_y);
            double from_x = augment_reference_source(x, width, view->zoom_x, view->shift_x, view->flip);
            double rgb[3];
            for (size_t c = 0; c < 3; c++)
                rgb[c] = augment_reference_sample(src + (channels == 3 ? c : 0) * height * width, height,
                                                  width, from_y, from_x);
            for (size_t j = 0; j < 3; j++) {
                double mixed = 0;
                for (size_t i = 0; i < 3; i++)
                    mixed += rgb[i] * (double)view->colour[3 * i + j];
                dst[(y * width + x) * 3 + j] = (float)fmin(fmax(mixed, 0), 1);
            }
        }
}
