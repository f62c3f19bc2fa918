/* The scattering transform of 16 planes at a time, one in each lane of a vector: whatever is done to a pixel
 * is done to all 16, so transforms of any length vectorise alike and no plane meets another. */
#include "ssl/scattering.h"

#include "base/simd.h"

#include <string.h>

typedef f32x16_in_place vec;
typedef struct {
    vec re, im;
} pair;

enum { LONGEST_RADIX = 67 }; /* a prime factor of (256 / 4 + 2) at most */

INLINE pair scattering_kernel_times(pair a, float re, float im)
{
    return (pair){a.re * re - a.im * im, a.re * im + a.im * re};
}

INLINE void radix_2(pair *y, const pair *x, size_t m, size_t s, const float *w)
{
    for (size_t p = 0; p < m; p++, w += 2)
        for (size_t q = 0; q < s; q++) {
            pair a = x[q + s * p], b = x[q + s * (p + m)];
            y[q + s * 2 * p] = (pair){a.re + b.re, a.im + b.im};
            y[q + s * (2 * p + 1)] = scattering_kernel_times((pair){a.re - b.re, a.im - b.im}, w[0], w[1]);
        }
}

INLINE void radix_4(pair *y, const pair *x, size_t m, size_t s, const float *w)
{
    for (size_t p = 0; p < m; p++, w += 6)
        for (size_t q = 0; q < s; q++) {
            const pair *in = x + q + s * p;
            pair a = in[0], b = in[s * m], c = in[2 * s * m], d = in[3 * s * m], *out = y + q + s * 4 * p;
            pair ac = {a.re + c.re, a.im + c.im}, ac_ = {a.re - c.re, a.im - c.im};
            pair bd = {b.re + d.re, b.im + d.im}, bd_ = {b.re - d.re, b.im - d.im};
            out[0] = (pair){ac.re + bd.re, ac.im + bd.im};
            out[s] = scattering_kernel_times((pair){ac_.re + bd_.im, ac_.im - bd_.re}, w[0], w[1]);
            out[2 * s] = scattering_kernel_times((pair){ac.re - bd.re, ac.im - bd.im}, w[2], w[3]);
            out[3 * s] = scattering_kernel_times((pair){ac_.re - bd_.im, ac_.im + bd_.re}, w[4], w[5]);
        }
}

/* Conjugate roots meet in pairs: sums and differences of opposite inputs leave real factors only. */
INLINE void radix_odd(pair *y, const pair *x, size_t r, size_t m, size_t s, const float *w, const float *root)
{
    size_t half = r / 2;
    pair sum[LONGEST_RADIX / 2 + 1], difference[LONGEST_RADIX / 2 + 1];
    for (size_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (size_t q = 0; q < s; q++) {
            pair a = x[q + s * p], total = a, *out = y + q + s * r * p;
            for (size_t k = 1; k <= half; k++) {
                pair b = x[q + s * (p + m * k)], c = x[q + s * (p + m * (r - k))];
                sum[k] = (pair){b.re + c.re, b.im + c.im};
                difference[k] = (pair){b.re - c.re, b.im - c.im};
                total.re += sum[k].re;
                total.im += sum[k].im;
            }
            out[0] = total;
            for (size_t j = 1; j <= half; j++) {
                pair even = a, odd = {(vec){0}, (vec){0}};
                for (size_t k = 1; k <= half; k++) {
                    const float *at = root + 2 * (j * k % r);
                    even.re += sum[k].re * at[0];
                    even.im += sum[k].im * at[0];
                    odd.re += difference[k].re * at[1];
                    odd.im += difference[k].im * at[1];
                }
                pair up = {even.re + odd.im, even.im - odd.re}, down = {even.re - odd.im, even.im + odd.re};
                out[s * j] = scattering_kernel_times(up, w[2 * (j - 1)], w[2 * (j - 1) + 1]);
                out[s * (r - j)] = scattering_kernel_times(down, w[2 * (r - j - 1)], w[2 * (r - j - 1) + 1]);
            }
        }
}

/* Stockham's transform of a line between two buffers; returns the one that holds the result. */
static pair *transform_line(pair *x, pair *y, const struct scatter_axis *axis)
{
    size_t n = axis->n, s = 1;
    for (size_t stage = 0; stage < axis->stages; stage++) {
        size_t r = axis->radix[stage], m = n / r;
        if (r == 4)
            radix_4(y, x, m, s, axis->twiddle[stage]);
        else if (r == 2)
            radix_2(y, x, m, s, axis->twiddle[stage]);
        else if (r == 3)
            radix_odd(y, x, 3, m, s, axis->twiddle[stage], axis->root[stage]);
        else if (r == 5)
            radix_odd(y, x, 5, m, s, axis->twiddle[stage], axis->root[stage]);
        else
            radix_odd(y, x, r, m, s, axis->twiddle[stage], axis->root[stage]);
        pair *swap = x;
        x = y;
        y = swap;
        n = m;
        s *= r;
    }
    return x;
}

/* Both axes of a plane in place; back: real and imaginary parts change places on the way in and out. */
INLINE void transform_plane(pair *plane, const struct scatter_axis *down, const struct scatter_axis *across,
                            pair *line, int back)
{
    size_t longest = down->n > across->n ? down->n : across->n;
    for (size_t r = 0; r < down->n; r++) {
        pair *row = plane + r * across->n;
        for (size_t i = 0; i < across->n; i++)
            line[i] = back ? (pair){row[i].im, row[i].re} : row[i];
        memcpy(row, transform_line(line, line + longest, across), across->n * sizeof *row);
    }
    for (size_t c = 0; c < across->n; c++) {
        for (size_t i = 0; i < down->n; i++)
            line[i] = plane[i * across->n + c];
        const pair *done = transform_line(line, line + longest, down);
        for (size_t i = 0; i < down->n; i++)
            plane[i * across->n + c] = back ? (pair){done[i].im, done[i].re} : done[i];
    }
}

INLINE vec root_of(vec x)
{
    vec y;
    for (int i = 0; i < SCATTER_LANES; i++)
        y[i] = sqrtf(x[i]);
    return y;
}

static void scattering_kernel_modulus(pair *plane, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        plane[i].re = root_of(plane[i].re * plane[i].re + plane[i].im * plane[i].im);
        plane[i].im = (vec){0};
    }
}

/* out (out_rows, out_columns): real parts through the low pass along both axes. */
static void low_pass(vec *out, const pair *plane, const struct scatter_plan *p, size_t every, vec *line)
{
    size_t rows = p->rows / every, columns = p->columns / every;
    const float *down = every == 1 ? p->low_down : p->half_low_down;
    const float *across = every == 1 ? p->low_across : p->half_low_across;
    for (size_t o = 0; o < p->out_rows; o++) {
        for (size_t c = 0; c < columns; c++)
            line[c] = (vec){0};
        for (size_t r = 0; r < rows; r++) {
            float weight = down[o * rows + r];
            if (weight == 0)
                continue;
            for (size_t c = 0; c < columns; c++)
                line[c] += plane[r * columns + c].re * weight;
        }
        for (size_t q = 0; q < p->out_columns; q++) {
            vec sum = {0};
            for (size_t c = 0; c < columns; c++)
                if (across[q * columns + c] != 0)
                    sum += line[c] * across[q * columns + c];
            out[o * p->out_columns + q] = sum;
        }
    }
}

/* What a filter leaves of a spectrum, at every second pixel: the four aliases are added. */
static void filter_half(pair *half, const pair *spectrum, const float *filter, const struct scatter_plan *p)
{
    size_t rows = p->rows / 2, columns = p->columns / 2;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            size_t at[4] = {r * p->columns + c, r * p->columns + c + columns, (r + rows) * p->columns + c,
                            (r + rows) * p->columns + c + columns};
            pair sum = {(vec){0}, (vec){0}};
            for (int i = 0; i < 4; i++) {
                sum.re += spectrum[at[i]].re * filter[at[i]];
                sum.im += spectrum[at[i]].im * filter[at[i]];
            }
            half[r * columns + c] = sum;
        }
}

struct rooms {
    pair *spectrum, *plane, *half, *line;
};

static size_t scattering_kernel_place(struct rooms *rooms, const struct scatter_plan *p, float *scratch)
{
    size_t grid = p->rows * p->columns, longest = p->rows > p->columns ? p->rows : p->columns;
    pair *at = (pair *)scratch;
    *rooms = (struct rooms){at, at + grid, at + 2 * grid, at + 2 * grid + grid / 4};
    return 2 * grid + grid / 4 + 2 * longest;
}

static size_t scratch_floats(const struct scatter_plan *p)
{
    struct rooms ignored;
    return scattering_kernel_place(&ignored, p, NULL) * (sizeof(pair) / sizeof(float));
}

static void scattering_kernel_load(pair *plane, const struct scatter_plan *p,
                                   const unsigned char *const *planes)
{
    for (size_t r = 0; r < p->rows; r++)
        for (size_t c = 0; c < p->columns; c++) {
            size_t from = p->row[r] * p->width + p->column[c];
            pair value = {(vec){0}, (vec){0}};
            for (int lane = 0; lane < SCATTER_LANES; lane++)
                value.re[lane] = planes[lane] ? (float)planes[lane][from] / 255 : 0;
            plane[r * p->columns + c] = value;
        }
}

/* phi * |psi_1t * .| for all t: 8 channels. */
static void coarse_channels(vec *out, const pair *spectrum, const struct scatter_plan *p, struct rooms *rooms)
{
    size_t grid = p->rows * p->columns;
    for (size_t t = 0; t < SCATTER_DIRECTIONS; t++, out += p->out_rows * p->out_columns) {
        filter_half(rooms->half, spectrum, p->coarse + t * grid, p);
        transform_plane(rooms->half, &p->half_down, &p->half_across, rooms->line, 1);
        scattering_kernel_modulus(rooms->half, grid / 4);
        low_pass(out, rooms->half, p, 2, (vec *)rooms->line);
    }
}

static void scattering_kernel_transform(float *to, const struct scatter_plan *p,
                                        const unsigned char *const *planes, float *scratch)
{
    struct rooms rooms;
    size_t grid = p->rows * p->columns, size = p->out_rows * p->out_columns;
    vec *out = (vec *)to;
    scattering_kernel_place(&rooms, p, scratch);
    scattering_kernel_load(rooms.spectrum, p, planes);
    low_pass(out, rooms.spectrum, p, 1, (vec *)rooms.line);
    transform_plane(rooms.spectrum, &p->down, &p->across, rooms.line, 0);
    coarse_channels(out + (1 + SCATTER_DIRECTIONS) * size, rooms.spectrum, p, &rooms);
    for (size_t t = 0; t < SCATTER_DIRECTIONS; t++) {
        const float *filter = p->fine + t * grid;
        for (size_t i = 0; i < grid; i++)
            rooms.plane[i] = (pair){rooms.spectrum[i].re * filter[i], rooms.spectrum[i].im * filter[i]};
        transform_plane(rooms.plane, &p->down, &p->across, rooms.line, 1);
        scattering_kernel_modulus(rooms.plane, grid);
        low_pass(out + (1 + t) * size, rooms.plane, p, 1, (vec *)rooms.line);
        transform_plane(rooms.plane, &p->down, &p->across, rooms.line, 0);
        coarse_channels(out + (1 + (2 + t) * SCATTER_DIRECTIONS) * size, rooms.plane, p, &rooms);
    }
}

extern const struct scatter_kernels ISA_NAME(scatter_kernels);
const struct scatter_kernels ISA_NAME(scatter_kernels) = {scratch_floats, scattering_kernel_transform};
