/* A sample is taken HEAD_PAD records at a time. Their logits are a product as in head_dense.h; then every
 * lane of a vector is a record, so that softmax, norms and clipping need no sum across a vector; and once a
 * block of records is scaled, its product with the inputs, which are widened in registers as in
 * head_clip.isa.c, is added to the sum. Records that fill up the last group are scaled by 0. */
#include "head/kernel/head_linear.h"
#include "head/kernel/head_vector.h"

#include <float.h>
#include <string.h>

enum {
    COLUMNS = 10,
    WIDE_LANES = LANES / 2,
    INPUT_VECTORS = VECTOR_BYTES == 64 ? 2 : 1,
    STRIP = INPUT_VECTORS * WIDE_LANES,
    FORWARD_ROWS = VECTOR_BYTES == 64 ? 16 : 4,
    FORWARD_VECTORS = VECTOR_BYTES == 64 ? 1 : 2
};

/* The records of a group, and those of the next one, which lie far apart: they are fetched meanwhile. */
struct group {
    const uint32_t *rows;
    size_t count;
    float *x; /* in the block */
    const float *next[HEAD_PAD];
};

static void head_linear_gather(struct group *g, const struct linear_sum *s, size_t left)
{
    size_t piece = s->scratch.block * HEAD_PAD, whole = s->in / HEAD_PAD * HEAD_PAD;
    for (size_t r = 0; r < g->count; r++) {
        const float *from = s->x + g->rows[r] * s->in;
        float *to = g->x + r * HEAD_PAD;
        for (size_t i = 0; i < whole; i += HEAD_PAD, to += piece)
            memcpy(to, from + i, HEAD_PAD * sizeof *to);
        memcpy(to, from + whole, (s->in - whole) * sizeof *to);
    }
    for (size_t r = 0; r < HEAD_PAD; r++)
        g->next[r] = s->x + g->rows[HEAD_PAD + r < left ? HEAD_PAD + r : 0] * s->in;
}

/* sum += the products with `count` <= HEAD_PAD inputs of FORWARD_ROWS records; w: their weights. */
INLINE void add_logits(vec sum[FORWARD_ROWS][FORWARD_VECTORS], const float *x, const float *w, size_t ld,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vec right[FORWARD_VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < FORWARD_VECTORS; v++)
            right[v] = v_load(w + i * ld + (size_t)v * LANES);
#pragma GCC unroll 16
        for (int r = 0; r < FORWARD_ROWS; r++)
#pragma GCC unroll 2
            for (int v = 0; v < FORWARD_VECTORS; v++)
                sum[r][v] = v_fma(v_all(x[(size_t)r * HEAD_PAD + i]), right[v], sum[r][v]);
    }
}

/* Logits of FORWARD_ROWS records from `row` on, in columns of so many vectors. */
INLINE void logits_of(const struct linear_sum *s, const struct group *g, size_t row, size_t column)
{
    const struct linear_scratch *t = &s->scratch;
    const float *w = s->w + column, *x = g->x + row * HEAD_PAD;
    float *out = t->logits + row * t->ld + column;
    vec sum[FORWARD_ROWS][FORWARD_VECTORS];
#pragma GCC unroll 16
    for (int r = 0; r < FORWARD_ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < FORWARD_VECTORS; v++)
            sum[r][v] = v_load(w + s->in * t->ld + (size_t)v * LANES);
    size_t i = 0;
    for (; i + HEAD_PAD <= s->in; i += HEAD_PAD, x += t->block * HEAD_PAD) {
        for (size_t r = row; r < row + FORWARD_ROWS && column == 0; r++)
            __builtin_prefetch(g->next[r] + i, 0, 2);
        add_logits(sum, x, w + i * t->ld, t->ld, HEAD_PAD);
    }
    add_logits(sum, x, w + i * t->ld, t->ld, s->in - i);
#pragma GCC unroll 16
    for (int r = 0; r < FORWARD_ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < FORWARD_VECTORS; v++)
            v_store(out + (size_t)r * t->ld + (size_t)v * LANES, sum[r][v]);
}

static void head_linear_logits(const struct linear_sum *s, const struct group *g)
{
    for (size_t r = 0; r < HEAD_PAD; r += FORWARD_ROWS)
        for (size_t column = 0; column < s->scratch.ld; column += (size_t)FORWARD_VECTORS * LANES)
            logits_of(s, g, r, column);
}

/* softmax - one-hot of a group, times the balance of its class, a record in each lane. */
static void output_gradients(const struct linear_sum *s, const struct group *g)
{
    const struct linear_scratch *t = &s->scratch;
    for (size_t o = 0; o < s->out; o++)
        for (size_t r = 0; r < HEAD_PAD; r++)
            t->softmax[o * HEAD_PAD + r] = t->logits[r * t->ld + o];
    for (size_t j = 0; j < HEAD_PAD; j += LANES) {
        float *z = t->softmax + j;
        vec top = v_load(z), sum = {0};
        for (size_t o = 1; o < s->out; o++)
            top = v_max(v_load(z + o * HEAD_PAD), top);
        for (size_t o = 0; o < s->out; o++) {
            vec e = v_exp(v_load(z + o * HEAD_PAD) - top);
            v_store(z + o * HEAD_PAD, e);
            sum += e;
        }
        vec share = v_all(1) / sum;
        for (size_t o = 0; o < s->out; o++)
            v_store(z + o * HEAD_PAD, v_load(z + o * HEAD_PAD) * share);
    }
    _Alignas(64) float own[HEAD_PAD] = {0};
    for (size_t r = 0; r < g->count; r++) {
        size_t label = (size_t)s->y[g->rows[r]];
        t->softmax[label * HEAD_PAD + r] -= 1;
        own[r] = s->balance[label];
    }
    for (size_t j = 0; j < HEAD_PAD; j += LANES)
        for (size_t o = 0; o < s->out; o++)
            v_store(t->softmax + o * HEAD_PAD + j, v_load(t->softmax + o * HEAD_PAD + j) * v_load(own + j));
}

/* As factor_of() in head_clip.isa.c, for a record in each lane; 0 for what is not finite. */
INLINE vf64 head_linear_factors(vf64 square, double terms, double norm)
{
    vf64 own = f64_sqrt(square) * f64_all(1 + terms * 0x1p-52), limit = f64_all(norm);
    vi64 finite = own <= f64_all(DBL_MAX), small = own <= limit;
    vf64 scaled = limit / own * f64_all(1 - 0x1p-50);
    return (vf64)(((small & (vi64)f64_all(1)) | (~small & (vi64)scaled)) & finite);
}

/* The group's scaled gradients, and their sum into the bias. */
static void head_linear_scale(const struct linear_sum *s, double *diff, const struct group *g, double norm)
{
    const struct linear_scratch *t = &s->scratch;
    double terms = 16 + (double)(s->in + t->ld);
    _Alignas(64) double input[HEAD_PAD], used[HEAD_PAD];
    for (size_t r = 0; r < HEAD_PAD; r++) {
        input[r] = r < g->count ? s->square[g->rows[r]] : 0;
        used[r] = r < g->count;
    }
    for (size_t j = 0; j < HEAD_PAD; j += WIDE_LANES) {
        vf64 sum = {0};
        for (size_t o = 0; o < s->out; o++) {
            vf64 d = widened(t->softmax + o * HEAD_PAD + j);
            sum = f64_fma(d, d, sum);
        }
        vf64 square = (*(const vf64 *)(input + j) + f64_all(1)) * sum;
        vf64 factor = head_linear_factors(square, terms, norm) * *(const vf64 *)(used + j);
        vi64 nothing = factor == (vf64){0};
        for (size_t o = 0; o < s->out; o++) {
            vf64 d = (vf64)(~nothing & (vi64)(factor * widened(t->softmax + o * HEAD_PAD + j)));
            *(vf64 *)(diff + o * HEAD_PAD + j) = d;
            *(vf64 *)(t->bias + o * HEAD_PAD + j) += d;
        }
    }
}

/* product (columns, STRIP inputs from `first` on) += diff' input of the block. */
INLINE void head_linear_strip(const struct linear_sum *s, size_t rows, size_t first, size_t column,
                              int columns)
{
    const struct linear_scratch *t = &s->scratch;
    double *at = t->product + column * t->stride + first;
    vf64 sum[COLUMNS][INPUT_VECTORS];
#pragma GCC unroll 10
    for (int c = 0; c < columns; c++)
#pragma GCC unroll 2
        for (int v = 0; v < INPUT_VECTORS; v++)
            sum[c][v] = *(const vf64 *)(at + (size_t)c * t->stride + (size_t)v * WIDE_LANES);
    const float *x = t->x + first / HEAD_PAD * t->block * HEAD_PAD + first % HEAD_PAD;
    for (size_t group = 0; group < rows; group += HEAD_PAD) {
        const double *diff = t->diff + (group / HEAD_PAD * s->out + column) * HEAD_PAD;
        for (size_t r = 0; r < HEAD_PAD; r++, x += HEAD_PAD, diff++) {
            vf64 in[INPUT_VECTORS];
#pragma GCC unroll 2
            for (int v = 0; v < INPUT_VECTORS; v++)
                in[v] = widened(x + (size_t)v * WIDE_LANES);
#pragma GCC unroll 10
            for (int c = 0; c < columns; c++) {
                vf64 d = f64_all(diff[(size_t)c * HEAD_PAD]);
#pragma GCC unroll 2
                for (int v = 0; v < INPUT_VECTORS; v++)
                    sum[c][v] = f64_fma(d, in[v], sum[c][v]);
            }
        }
    }
#pragma GCC unroll 10
    for (int c = 0; c < columns; c++)
#pragma GCC unroll 2
        for (int v = 0; v < INPUT_VECTORS; v++)
            *(vf64 *)(at + (size_t)c * t->stride + (size_t)v * WIDE_LANES) = sum[c][v];
}

INLINE void head_linear_strips(const struct linear_sum *s, size_t rows, size_t column, int columns)
{
    for (size_t first = 0; first < s->scratch.stride; first += STRIP)
        head_linear_strip(s, rows, first, column, columns);
}

static void add_products(const struct linear_sum *s, size_t rows)
{
    size_t blocks = (s->out + COLUMNS - 1) / COLUMNS;
    for (size_t b = 0; b < blocks; b++) {
        size_t column = b * s->out / blocks;
        /* clang-format off */
        switch ((b + 1) * s->out / blocks - column) {
#define CASE(n) case n: head_linear_strips(s, rows, column, n); break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10)
#undef CASE
        default: __builtin_unreachable();
        }
        /* clang-format on */
    }
}

static void hand_over(const struct linear_sum *s)
{
    const struct linear_scratch *t = &s->scratch;
    for (size_t o = 0; o < s->out; o++) {
        double bias = 0;
        memcpy(s->sum + o * s->in, t->product + o * t->stride, s->in * sizeof *s->sum);
        for (size_t r = 0; r < HEAD_PAD; r++)
            bias += t->bias[o * HEAD_PAD + r];
        s->sum[s->out * s->in + o] = bias;
    }
}

static void head_linear_sum(const struct linear_sum *s, const uint32_t *rows, size_t count, double norm)
{
    const struct linear_scratch *t = &s->scratch;
    memset(t->product, 0, s->out * t->stride * sizeof *t->product);
    memset(t->bias, 0, s->out * HEAD_PAD * sizeof *t->bias);
    for (size_t start = 0; start < count; start += t->block) {
        size_t end = count - start < t->block ? count : start + t->block;
        for (size_t first = start; first < end; first += HEAD_PAD) {
            size_t at = first - start, here = end - first < HEAD_PAD ? end - first : HEAD_PAD;
            struct group g = {.rows = rows + first, .count = here, .x = t->x + at * HEAD_PAD};
            head_linear_gather(&g, s, count - first);
            head_linear_logits(s, &g);
            output_gradients(s, &g);
            head_linear_scale(s, t->diff + at * s->out, &g, norm);
        }
        add_products(s, end - start);
    }
    hand_over(s);
}

extern const struct linear_kernels ISA_NAME(linear_kernels);
const struct linear_kernels ISA_NAME(linear_kernels) = {head_linear_sum};
