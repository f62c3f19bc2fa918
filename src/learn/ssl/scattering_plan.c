/* Filters and tables of the scattering transform. Morlet wavelets (sigma = 0.8 2^j, frequency 3 pi / 4 / 2^j,
 * envelope twice as long across as along) and the low pass (sigma 1.6) are Gaussians, so their Fourier
 * transforms on a periodic grid are sums of shifted Gaussians: no transform is needed to make them. */
#include "ssl/scattering.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
enum { SMALLEST = 8, LARGEST = 256, ALIASES = 2 };

static double scattering_plan_gaussian(double down, double across, double sigma, double angle,
                                       double frequency, double slant)
{
    double along = across * cos(angle) + down * sin(angle) - frequency;
    double beside = down * cos(angle) - across * sin(angle);
    return exp(-0.5 * sigma * sigma * (along * along + beside * beside / (slant * slant)));
}

/* At frequency (down, across) of a sampled, periodic function: all aliases. */
static double scattering_plan_aliased(double down, double across, double sigma, double angle,
                                      double frequency, double slant)
{
    double sum = 0;
    for (int a = -ALIASES; a <= ALIASES; a++)
        for (int b = -ALIASES; b <= ALIASES; b++)
            sum += scattering_plan_gaussian(down + 2 * pi * a, across + 2 * pi * b, sigma, angle, frequency,
                                            slant);
    return sum;
}

static double scattering_plan_morlet(double down, double across, size_t j, size_t direction)
{
    const double slant = 4.0 / SCATTER_DIRECTIONS;
    double sigma = ldexp(0.8, (int)j), frequency = ldexp(0.75 * pi, -(int)j);
    double angle = pi * (double)direction / SCATTER_DIRECTIONS;
    double mean = scattering_plan_aliased(0, 0, sigma, angle, frequency, slant) /
                  scattering_plan_aliased(0, 0, sigma, angle, 0, slant);
    return scattering_plan_aliased(down, across, sigma, angle, frequency, slant) -
           mean * scattering_plan_aliased(down, across, sigma, angle, 0, slant);
}

static void scattering_plan_fill(float *out, size_t j, size_t rows, size_t columns)
{
    for (size_t t = 0; t < SCATTER_DIRECTIONS; t++)
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++)
                *out++ = (float)scattering_plan_morlet(2 * pi * (double)r / (double)rows,
                                                       2 * pi * (double)c / (double)columns, j, t);
}

/* The largest factor squared that keeps the sum over all filters at or below 1. */
static double largest_gain(const float *fine, const float *coarse, size_t rows, size_t columns)
{
    double least = INFINITY;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            size_t here = r * columns + c, there = (rows - r) % rows * columns + (columns - c) % columns;
            double sum = 0, low = scattering_plan_aliased(2 * pi * (double)r / (double)rows,
                                                          2 * pi * (double)c / (double)columns, 1.6, 0, 0, 1);
            for (size_t t = 0; t < SCATTER_DIRECTIONS; t++) {
                const float *a = fine + t * rows * columns, *b = coarse + t * rows * columns;
                sum += 0.5 * ((double)a[here] * a[here] + (double)a[there] * a[there] +
                              (double)b[here] * b[here] + (double)b[there] * b[there]);
            }
            if (here && sum > 0 && (1 - low * low) / sum < least)
                least = (1 - low * low) / sum;
        }
    return least;
}

void scatter_wavelets(float *fine, float *coarse, size_t rows, size_t columns)
{
    size_t count = SCATTER_DIRECTIONS * rows * columns;
    scattering_plan_fill(fine, 0, rows, columns);
    scattering_plan_fill(coarse, 1, rows, columns);
    double factor = sqrt(largest_gain(fine, coarse, rows, columns)) * (1 - 0x1p-20);
    for (size_t i = 0; i < count; i++) {
        fine[i] = (float)(fine[i] * factor);
        coarse[i] = (float)(coarse[i] * factor);
    }
}

static void scattering_plan_factorise(struct scatter_axis *axis, size_t n)
{
    axis->n = n;
    axis->stages = 0;
    while (n > 1) {
        size_t radix = n % 4 == 0 ? 4 : 2;
        while (n % radix)
            radix += radix == 2 ? 1 : 2;
        axis->radix[axis->stages++] = radix;
        n /= radix;
    }
}

/* Called twice: to measure, then to place. */
static void take_axis(struct scatter_axis *axis, struct arena *a)
{
    size_t n = axis->n;
    for (size_t s = 0; s < axis->stages; s++) {
        size_t radix = axis->radix[s], parts = n / radix;
        float *twiddle = arena_take(a, parts * (radix - 1) * 2, sizeof *twiddle);
        float *root = arena_take(a, radix * 2, sizeof *root);
        axis->twiddle[s] = twiddle;
        axis->root[s] = root;
        for (size_t p = 0; twiddle && p < parts; p++)
            for (size_t k = 1; k < radix; k++) {
                double angle = -2 * pi * (double)(p * k) / (double)n;
                *twiddle++ = (float)cos(angle);
                *twiddle++ = (float)sin(angle);
            }
        for (size_t k = 0; root && k < radix; k++) {
            *root++ = (float)cos(2 * pi * (double)k / (double)radix);
            *root++ = (float)sin(2 * pi * (double)k / (double)radix);
        }
        n = parts;
    }
}

/* Row o: the low pass centred on place 4 (o + 1) of a periodic grid, at every `every`-th place; sums to 1. */
static const float *take_low_pass(struct arena *a, size_t outputs, size_t grid, size_t every)
{
    const double sigma = 1.6, least = 1e-10;
    float *out = arena_take(a, outputs * (grid / every), sizeof *out);
    for (size_t o = 0; out && o < outputs; o++) {
        float *row = out + o * (grid / every);
        double sum = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < grid / every; i++) {
                double value = 0, distance = (double)(i * every) - (double)(SCATTER_STEP * (o + 1));
                for (int m = -ALIASES; m <= ALIASES; m++) {
                    double d = distance + m * (double)grid;
                    value += exp(-0.5 * d * d / (sigma * sigma));
                }
                if (pass == 0)
                    sum += value;
                else
                    row[i] = value < least ? 0 : (float)(value / sum);
            }
    }
    return out;
}

/* Reflected without repeating the edge; sides are at least 8, so once is enough for the 4 + 3 places beyond
 * the end. */
static const size_t *take_places(struct arena *a, size_t grid, size_t size)
{
    size_t *out = arena_take(a, grid, sizeof *out);
    for (size_t i = 0; out && i < grid; i++) {
        size_t from = i < SCATTER_STEP ? SCATTER_STEP - i : i - SCATTER_STEP;
        out[i] = from < size ? from : 2 * (size - 1) - from;
    }
    return out;
}

static void scattering_plan_layout(struct scatter_plan *p)
{
    struct arena *a = &p->memory;
    size_t count = SCATTER_DIRECTIONS * p->rows * p->columns;
    p->row = take_places(a, p->rows, p->height);
    p->column = take_places(a, p->columns, p->width);
    take_axis(&p->down, a);
    take_axis(&p->across, a);
    take_axis(&p->half_down, a);
    take_axis(&p->half_across, a);
    p->low_down = take_low_pass(a, p->out_rows, p->rows, 1);
    p->low_across = take_low_pass(a, p->out_columns, p->columns, 1);
    p->half_low_down = take_low_pass(a, p->out_rows, p->rows, 2);
    p->half_low_across = take_low_pass(a, p->out_columns, p->columns, 2);
    float *fine = arena_take(a, count, sizeof *fine), *coarse = arena_take(a, count, sizeof *coarse);
    p->fine = fine;
    p->coarse = coarse;
    if (!fine)
        return;
    scatter_wavelets(fine, coarse, p->rows, p->columns);
    for (size_t i = 0; i < count; i++) { /* what the transforms back leave out */
        fine[i] /= (float)(p->rows * p->columns);
        coarse[i] /= (float)(p->rows * p->columns);
    }
}

sotto_status scatter_plan_make(struct scatter_plan *p, size_t height, size_t width)
{
    sotto_status status = SOTTO_OK;
    *p = (struct scatter_plan){.height = height, .width = width};
    REQUIRE(height >= SMALLEST && height <= LARGEST && width >= SMALLEST && width <= LARGEST,
            "scattering: images of %zux%zu pixels; expected sides of %d to %d", height, width, SMALLEST,
            LARGEST);
    p->out_rows = (height + SCATTER_STEP - 1) / SCATTER_STEP;
    p->out_columns = (width + SCATTER_STEP - 1) / SCATTER_STEP;
    p->rows = SCATTER_STEP * (p->out_rows + 2);
    p->columns = SCATTER_STEP * (p->out_columns + 2);
    scattering_plan_factorise(&p->down, p->rows);
    scattering_plan_factorise(&p->across, p->columns);
    scattering_plan_factorise(&p->half_down, p->rows / 2);
    scattering_plan_factorise(&p->half_across, p->columns / 2);
    scattering_plan_layout(p);
    TRY(arena_reserve(&p->memory, "scattering"));
    scattering_plan_layout(p);
done:
    return status;
}

void scatter_plan_clear(struct scatter_plan *p)
{
    arena_clear(&p->memory);
}
