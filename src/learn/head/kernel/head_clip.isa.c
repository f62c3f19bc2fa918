/* Inputs are read as the floats they are and widened in registers: a block of the sum lives there, with
 * several inputs to a vector, while the records run from first to last. */
#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#include "head/kernel/head_clip.h"
#include "head/kernel/head_vector.h"

#include <float.h>

enum { COLUMNS = 10, INPUT_VECTORS = VECTOR_BYTES == 64 ? 2 : 1, STRIP = INPUT_VECTORS * LANES };

INLINE double head_clip_squares(const float *x, size_t count)
{
    vec many[2] = {{0}, {0}};
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES)
#pragma GCC unroll 2
        for (size_t j = 0; j < 2; j++) {
            vec v = widened(x + i + j * LANES);
            many[j] = v_fma(v, v, many[j]);
        }
    double sum = 0;
    many[0] += many[1];
    for (int lane = 0; lane < LANES; lane++)
        sum += many[0][lane];
    for (; i < count; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

/* Products of floats are exact in double and all terms are positive: a squared norm is too small by at most
 * one rounding for every term, whatever the order, and 2^-52 for each is twice that. */
static double factor_of(const struct clip_layer *layer, size_t layers, size_t row, double norm)
{
    double square = 0, terms = 16;
    for (size_t l = 0; l < layers; l++, layer++) {
        double input = layer->square ? layer->square[row]
                                     : head_clip_squares(layer->input + row * layer->stride, layer->in);
        square += (input + 1) * head_clip_squares(layer->diff + row * layer->ld, layer->ld);
        terms += (double)(layer->in + layer->ld);
    }
    double own = sqrt(square) * (1 + terms * 0x1p-52);
    if (!(own <= DBL_MAX))
        return 0;
    return own <= norm ? 1 : norm / own * (1 - 0x1p-50);
}

INLINE double head_clip_product(const float *a, const float *b, size_t count)
{
    vec many[2] = {{0}, {0}};
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES)
#pragma GCC unroll 2
        for (size_t j = 0; j < 2; j++)
            many[j] = v_fma(widened(a + i + j * LANES), widened(b + i + j * LANES), many[j]);
    double sum = 0;
    many[0] += many[1];
    for (int lane = 0; lane < LANES; lane++)
        sum += many[0][lane];
    for (; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* <gradient of row a, gradient of row b>, over all layers. */
static double product_of_rows(const struct clip_layer *layer, size_t layers, size_t a, size_t b)
{
    double sum = 0;
    for (size_t l = 0; l < layers; l++, layer++)
        sum += (head_clip_product(layer->input + a * layer->stride, layer->input + b * layer->stride,
                                  layer->in) +
                1) *
               head_clip_product(layer->diff + a * layer->ld, layer->diff + b * layer->ld, layer->ld);
    return sum;
}

/* Of the unit's mean, over its `rows` rows that are finite. The squared norm of their sum g is the sum of all products <g_i, g_j>. A
 * product errs by at most 2^-53 |g_i| |g_j| for each of its terms, so all together by as much of the squared sum of the norms, and
 * as much again for each product; 2^-52 is twice that. */
static double factor_of_unit(const struct clip_layer *layer, size_t layers, const uint32_t *row, size_t rows,
                             double norm)
{
    double square = 0, norms = 0, terms = 16 + (double)rows * (double)rows;
    for (size_t l = 0; l < layers; l++)
        terms += (double)(layer[l].in + layer[l].ld) + 1;
    for (size_t i = 0; i < rows; i++) {
        const double own = product_of_rows(layer, layers, row[i], row[i]);
        square += own;
        norms += sqrt(own) * (1 + terms * 0x1p-52);
        for (size_t j = 0; j < i; j++)
            square += 2 * product_of_rows(layer, layers, row[i], row[j]);
    }
    const double sum = sqrt(fmax(square, 0) + terms * 0x1p-52 * norms * norms) * (1 + 0x1p-50);
    double factor = 1 / (double)rows;
    if (sum * factor > norm * (1 - 0x1p-50))
        factor = norm / sum * (1 - 0x1p-49);
    if (norms * factor > CLIP_CANCELS * norm * (1 - 0x1p-50))
        factor = CLIP_CANCELS * norm / norms * (1 - 0x1p-49);
    return factor;
}

static void squares_of_rows(double *square, const float *x, size_t rows, size_t count)
{
    for (size_t r = 0; r < rows; r++)
        square[r] = head_clip_squares(x + r * count, count);
}

struct scaled {
    const struct clip_layer *layer;
    const uint32_t *row; /* (rows): the records that add something */
    const double *diff;  /* (rows, ld): their scaled gradients */
    size_t rows;
};

/* sum (STRIP inputs from `first` on, of which the first `skip` are done, `columns` outputs) += input'
 * diff. */
INLINE void head_clip_strip(const struct scaled *s, size_t first, size_t skip, size_t column, int columns)
{
    const struct clip_layer *layer = s->layer;
    vec sum[COLUMNS][INPUT_VECTORS];
#pragma GCC unroll 10
    for (int c = 0; c < columns; c++)
#pragma GCC unroll 2
        for (int v = 0; v < INPUT_VECTORS; v++)
            sum[c][v] = (vec){0};
    for (size_t r = 0; r < s->rows; r++) {
        const float *input = layer->input + s->row[r] * layer->stride + first;
        const double *diff = s->diff + r * layer->ld + column;
        vec x[INPUT_VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < INPUT_VECTORS; v++)
            x[v] = widened(input + (size_t)v * LANES);
#pragma GCC unroll 10
        for (int c = 0; c < columns; c++) {
            vec d = v_all(diff[c]);
#pragma GCC unroll 2
            for (int v = 0; v < INPUT_VECTORS; v++)
                sum[c][v] = v_fma(d, x[v], sum[c][v]);
        }
    }
    double tile[COLUMNS][STRIP] __attribute__((aligned(64)));
#pragma GCC unroll 10
    for (int c = 0; c < columns; c++)
#pragma GCC unroll 2
        for (int v = 0; v < INPUT_VECTORS; v++)
            v_store(tile[c] + (size_t)v * LANES, sum[c][v]);
    for (int c = 0; c < columns; c++)
        for (size_t i = skip; i < STRIP; i++)
            layer->sum[(column + (size_t)c) * layer->in + first + i] += tile[c][i];
}

/* The last strip reaches back where inputs are no whole number of strips. */
INLINE void head_clip_strips(const struct scaled *s, size_t column, int columns)
{
    size_t in = s->layer->in, first = 0;
    for (; first + STRIP <= in; first += STRIP)
        head_clip_strip(s, first, 0, column, columns);
    if (first < in)
        head_clip_strip(s, in - STRIP, first + STRIP - in, column, columns);
}

static void few_inputs(const struct scaled *s)
{
    const struct clip_layer *layer = s->layer;
    for (size_t o = 0; o < layer->out; o++)
        for (size_t i = 0; i < layer->in; i++) {
            double sum = 0;
            for (size_t r = 0; r < s->rows; r++)
                sum += s->diff[r * layer->ld + o] * (double)layer->input[s->row[r] * layer->stride + i];
            layer->sum[o * layer->in + i] += sum;
        }
}

static void add_products(const struct scaled *s)
{
    const struct clip_layer *layer = s->layer;
    size_t blocks = (layer->out + COLUMNS - 1) / COLUMNS;
    for (size_t b = 0; b < blocks && layer->in >= STRIP; b++) {
        size_t column = b * layer->out / blocks;
        /* clang-format off */
        switch ((b + 1) * layer->out / blocks - column) {
#define CASE(n) case n: head_clip_strips(s, column, n); break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10)
#undef CASE
        default: __builtin_unreachable();
        }
        /* clang-format on */
    }
    if (layer->in < STRIP)
        few_inputs(s);
    double *bias = layer->sum + layer->in * layer->out;
    for (size_t column = 0; column < layer->ld; column += LANES) {
        vec sum = {0};
        for (size_t r = 0; r < s->rows; r++)
            sum += v_load(s->diff + r * layer->ld + column);
        for (size_t o = column; o < column + LANES && o < layer->out; o++)
            bias[o] += sum[o - column];
    }
}

/* The first `rows` of scratch, each by its factor. */
static void add_scaled(const struct clip_layer *layer, size_t layers, size_t rows,
                       const struct clip_scratch *scratch)
{
    struct scaled s = {NULL, scratch->row, scratch->diff, rows};
    for (size_t l = 0; l < layers; l++, layer++) {
        s.layer = layer;
        for (size_t r = 0; r < s.rows; r++)
            for (size_t o = 0; o < layer->ld; o += LANES)
                v_store(scratch->diff + r * layer->ld + o,
                        v_all(scratch->factor[r]) * widened(layer->diff + scratch->row[r] * layer->ld + o));
        add_products(&s);
    }
}

static void head_clip_add(const struct clip_layer *layer, size_t layers, size_t rows, double norm,
                          const struct clip_scratch *scratch)
{
    size_t kept = 0;
    for (size_t r = 0; r < rows; r++) { /* a record that adds nothing may hold infinities: it is left out */
        double factor = factor_of(layer, layers, r, norm);
        scratch->factor[kept] = factor;
        scratch->row[kept] = (uint32_t)r;
        kept += factor > 0;
    }
    add_scaled(layer, layers, kept, scratch);
}

static void head_clip_add_units(const struct clip_layer *layer, size_t layers, const struct clip_units *units,
                                double norm, const struct clip_scratch *scratch)
{
    size_t kept = 0;
    for (size_t u = 0, r = 0; u < units->count; u++) {
        const size_t first = kept;
        for (; r < units->end[u]; r++) {
            scratch->factor[kept] = factor_of(layer, layers, r, norm);
            scratch->row[kept] = (uint32_t)r;
            kept += scratch->factor[kept] > 0;
        }
        if (kept - first > 1) {
            const double factor = factor_of_unit(layer, layers, scratch->row + first, kept - first, norm);
            for (size_t i = first; i < kept; i++)
                scratch->factor[i] = factor;
        }
    }
    add_scaled(layer, layers, kept, scratch);
}

extern const struct clip_kernels ISA_NAME(clip_kernels);
const struct clip_kernels ISA_NAME(clip_kernels) = {squares_of_rows, head_clip_add, head_clip_add_units};
