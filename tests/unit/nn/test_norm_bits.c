/* The passes of norms have the same bits at every level of this CPU, in f32 and bf16: those of a scalar loop that
 * adds up as many chains of rows as the number of channels asks for. v2 to the best one, f32 and bf16, one thread. */
#include "support/test.h"
#include "base/cpu.h"
#include "nn/kernel/bf16.h"
#include "nn/kernel/norm_kernels.h"
#include "rng/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 11, CHANNELS = 200, VALUES = ROWS * CHANNELS };

struct data {
    bool half;
    float x[VALUES], dy[VALUES], before[VALUES]; /* as the tensors hold them */
    float scale[CHANNELS], shift[CHANNELS], center[CHANNELS];
};

static void fill(float *x, size_t n, bool half, struct rng *r)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)rng_normal(r);
        if (half)
            x[i] = bf16_to_float(bf16_from_float(x[i]));
    }
}

union tensor {
    float f32[VALUES];
    uint16_t bf16[VALUES];
};

static void *tensor(union tensor *out, const float *x, bool half)
{
    for (size_t i = 0; i < VALUES; i++)
        if (half)
            out->bf16[i] = bf16_from_float(x[i]);
        else
            out->f32[i] = x[i];
    return out;
}

static void is_rounded(const void *found, const float *expected, size_t n, bool half)
{
    for (size_t i = 0; i < n; i++)
        if (half)
            assert_int_equal(((const uint16_t *)found)[i], bf16_from_float(expected[i]));
        else
            assert_memory_equal((const float *)found + i, expected + i, sizeof *expected);
}

/* The sum of one channel. */
static float chained(const float *term, size_t rows, size_t c, size_t channels)
{
    size_t chains = c < channels / 64 * 64 ? 1 : c < channels / 32 * 32 ? 2 : 4, r = 0;
    float total[4] = {0};
    for (; r + chains <= rows; r += chains)
        for (size_t i = 0; i < chains; i++)
            total[i] += term[r + i];
    for (; r < rows; r++)
        total[0] += term[r];
    for (size_t i = 1; i < chains; i++)
        total[0] += total[i];
    return total[0];
}

static float passed(const struct data *d, size_t i, size_t c, float most)
{
    float v = d->x[i] * d->scale[c] + d->shift[c];
    return v > 0 && v < most ? d->dy[i] : 0;
}

static void check_sums(const struct data *d, size_t rows, size_t channels, const struct norm_gate *gate)
{
    const struct norm_kernels *k = norm_kernels_best();
    float sum[CHANNELS], square[CHANNELS], along[CHANNELS], product[CHANNELS];
    union tensor in, above;
    void *x = tensor(&in, d->x, d->half), *dy = tensor(&above, d->dy, d->half);
    k->sums[d->half](sum, x, rows, channels);
    k->squares[d->half](square, x, d->center, rows, channels);
    k->back_sums[d->half](along, product, dy, x, d->center, gate, rows, channels);
    for (size_t c = 0; c < channels; c++) {
        float term[4][ROWS];
        for (size_t r = 0; r < rows; r++) {
            size_t i = r * channels + c;
            float far = d->x[i] - d->center[c], g = gate ? passed(d, i, c, gate->most) : d->dy[i];
            term[0][r] = d->x[i], term[1][r] = far * far, term[2][r] = g, term[3][r] = g * far;
        }
        const float *found[] = {sum, square, along, product};
        for (size_t t = 0; t < 4; t++) {
            float expected = chained(term[t], rows, c, channels);
            assert_memory_equal(found[t] + c, &expected, sizeof expected);
        }
    }
}

static void check_maps(const struct data *d, size_t rows, size_t channels, const struct norm_gate *gate)
{
    const struct norm_kernels *k = norm_kernels_best();
    const struct norm_slopes slopes = {d->shift, d->center, d->scale};
    union tensor in, above, out;
    void *x = tensor(&in, d->x, d->half), *dy = tensor(&above, d->dy, d->half),
         *y = tensor(&out, d->before, d->half);
    float expected[VALUES], most = gate ? gate->most : 0;
    for (int more = 0; more < 2; more++) {
        for (size_t i = 0; i < rows * channels; i++) {
            float v = d->x[i] * d->scale[i % channels] + d->shift[i % channels];
            v = more ? v + d->dy[i] : v;
            expected[i] = !gate ? v : v > most ? most : v > 0 ? v : 0;
        }
        k->apply[d->half](y, x, more ? dy : NULL, d->scale, d->shift, most, rows, channels);
        is_rounded(y, expected, rows * channels, d->half);
    }
    for (int add = 0; add < 2; add++) {
        for (size_t i = 0; i < rows * channels; i++) {
            size_t c = i % channels;
            float g = gate ? passed(d, i, c, most) : d->dy[i],
                  slope = g * slopes.a[c] + (d->x[i] * slopes.b[c] + slopes.d[c]);
            expected[i] = add ? slope + d->before[i] : slope;
        }
        tensor(&out, d->before, d->half);
        k->back_apply[d->half](y, add, dy, x, &slopes, gate, rows, channels);
        is_rounded(y, expected, rows * channels, d->half);
    }
}

TEST(every_level_has_the_bits_of_a_scalar_loop)
{
    static const size_t channels[] = {1,  3,  4,  5,  8,  12, 16,  20,  24, 31,
                                      32, 48, 60, 64, 72, 96, 112, 128, 200};
    static struct data d;
    const int best = cpu_best_isa();
    for (int level = 0; level <= best; level++) {
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
        for (int half = 0; half < 2; half++)
            for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
                for (size_t rows = 1; rows <= ROWS; rows++) {
                    struct rng r = rng_stream(3, RNG_TEST, i, rows);
                    d.half = half;
                    fill(d.x, VALUES, half, &r), fill(d.dy, VALUES, half, &r);
                    fill(d.before, VALUES, half, &r);
                    fill(d.scale, CHANNELS, false, &r), fill(d.shift, CHANNELS, false, &r);
                    fill(d.center, CHANNELS, false, &r);
                    const struct norm_gate open = {d.scale, d.shift, INFINITY}, cut = {d.scale, d.shift, 1};
                    const struct norm_gate *gates[] = {NULL, &open, &cut};
                    for (size_t g = 0; g < 3; g++) {
                        check_sums(&d, rows, channels[i], gates[g]);
                        check_maps(&d, rows, channels[i], gates[g]);
                    }
                }
    }
}

/* bf16: ties go to even, beyond the largest lies infinity, a NaN stays one, and below 2^-126 there is 0 of the same sign (what
 * VCVTNEPS2BF16 does, and every level with it). */
TEST(rounds_alike_at_the_edges)
{
    static const struct {
        uint16_t x;
        float scale;
        uint16_t expected;
    } cases[] = {{0x3f80, 1 + 0x1p-8f, 0x3f80},
                 {0x3f80, 1 + 0x3p-8f, 0x3f82},
                 {0x3f80, 1 + 0x1.02p-8f, 0x3f81},
                 {0x7f7f, 1.003f, 0x7f80},
                 {0xff7f, 1.003f, 0xff80},
                 {0x7f80, 1, 0x7f80},
                 {0x7fc1, 1, 0x7fc1},
                 {0xffff, 1, 0xffff},
                 {0x0080, 1, 0x0080},
                 {0x0080, 1 - 0x1p-23f, 0x0000},
                 {0x8080, 1 - 0x1p-23f, 0x8000},
                 {0x0001, 1, 0x0000}};
    enum { N = sizeof cases / sizeof *cases };
    const int best = cpu_best_isa();
    for (int level = 0; level <= best; level++)
        for (size_t channels = N; channels <= 2 * 16 * N; channels *= 2) {
            uint16_t x[2 * 16 * N], y[2 * 16 * N];
            float scale[2 * 16 * N], shift[2 * 16 * N];
            setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
            for (size_t c = 0; c < channels; c++)
                x[c] = cases[c % N].x, scale[c] = cases[c % N].scale, shift[c] = -0.0F;
            norm_kernels_best()->apply[NN_BF16](y, x, NULL, scale, shift, 0, 1, channels);
            for (size_t c = 0; c < channels; c++)
                assert_int_equal(y[c], cases[c % N].expected);
        }
}
