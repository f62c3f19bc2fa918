#include "data/augment/image_moves.h"

#include <math.h>
#include <string.h>

enum { TURNS = 8 };
static const double STEP = 3 * 3.14159265358979323846 / 180;
static const int shifts[][2] = {{0, 1}, {1, 0},  {0, -1}, {-1, 0},  {0, 2},  {1, 1},
                                {2, 0}, {1, -1}, {0, -2}, {-1, -1}, {-2, 0}, {-1, 1}};

static double image_moves_at(const float *plane, const struct image_shape *s, long y, long x)
{
    return y >= 0 && x >= 0 && y < (long)s->height && x < (long)s->width
               ? (double)plane[(size_t)y * s->width + (size_t)x]
               : 0;
}

static void image_moves_turn(float *out, const float *image, const struct image_shape *s, double angle)
{
    double middle_y = ((double)s->height - 1) / 2, middle_x = ((double)s->width - 1) / 2;
    double c = cos(angle), sn = sin(angle);
    for (size_t y = 0; y < s->height; y++)
        for (size_t x = 0; x < s->width; x++) {
            double dy = (double)y - middle_y, dx = (double)x - middle_x;
            double from_y = middle_y + c * dy + sn * dx, from_x = middle_x - sn * dy + c * dx;
            double low_y = floor(from_y), low_x = floor(from_x), fy = from_y - low_y, fx = from_x - low_x;
            for (size_t k = 0; k < s->channels; k++) {
                const float *plane = image + k * s->height * s->width;
                long iy = (long)low_y, ix = (long)low_x;
                double top = (1 - fx) * image_moves_at(plane, s, iy, ix) +
                             fx * image_moves_at(plane, s, iy, ix + 1),
                       bottom = (1 - fx) * image_moves_at(plane, s, iy + 1, ix) +
                                fx * image_moves_at(plane, s, iy + 1, ix + 1);
                out[(k * s->height + y) * s->width + x] = (float)((1 - fy) * top + fy * bottom);
            }
        }
}

static void image_moves_shift(float *out, const float *image, const struct image_shape *s, const int by[2])
{
    for (size_t k = 0; k < s->channels; k++)
        for (size_t y = 0; y < s->height; y++)
            for (size_t x = 0; x < s->width; x++)
                out[(k * s->height + y) * s->width + x] = (float)image_moves_at(
                    image + k * s->height * s->width, s, (long)y - by[0], (long)x - by[1]);
}

void image_move(float *out, const float *image, const struct image_shape *s, size_t number)
{
    const size_t steps = (number + 1) / 2; /* +1, -1, +2, -2, ... */
    if (number == 0)
        memcpy(out, image, s->channels * s->height * s->width * sizeof *out);
    else if (number <= TURNS)
        image_moves_turn(out, image, s, STEP * (double)steps * (number % 2 ? 1 : -1));
    else
        image_moves_shift(out, image, s, shifts[number - 1 - TURNS]);
}
