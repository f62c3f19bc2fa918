/* Dense layers, softmax cross-entropy and the update rules for networks whose weights stay in one core's
 * cache.
 *
 * One product does everything: C (m, n) = A (m, k) B (k, n) with A read one number at a time (so it may be
 * transposed for free) and B and C read as vectors. A block of C lives in registers while k runs from start
 * to end. The weight gradient never exists as a whole: strips of HEAD_TILE_ROWS inputs go from registers
 * through the first-level cache into the update. */
#include "head/head_vector.h"

#include <string.h>

enum { BLOCK_VECTORS = 2, BLOCK_ROWS = VECTOR_BYTES == 64 ? 12 : 6 /* 32 or 16 vector registers */ };

struct product {
    real *c;
    size_t ldc;
    const real *a;
    size_t a_row, a_column; /* strides of A */
    const real *b;
    size_t ldb, m, n, k;
    const real *bias; /* (n), or NULL: start from zero */
};

INLINE void block(const struct product *p, size_t row, size_t column, int rows, int vectors)
{
    vec sum[BLOCK_ROWS][BLOCK_VECTORS];
    const real *a = p->a + row * p->a_row, *b = p->b + column;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = p->bias ? v_load(p->bias + column + (size_t)j * LANES) : (vec){0};
    for (size_t k = 0; k < p->k; k++, a += p->a_column, b += p->ldb) {
        vec right[BLOCK_VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            right[j] = v_load(b + (size_t)j * LANES);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vec left = v_all(a[(size_t)i * p->a_row]);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sum[i][j] = v_fma(left, right[j], sum[i][j]);
        }
    }
    real *c = p->c + row * p->ldc + column;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            v_store(c + (size_t)i * p->ldc + (size_t)j * LANES, sum[i][j]);
}

INLINE void block_rows(const struct product *p, size_t row, size_t column, size_t rows, int vectors)
{
    /* clang-format off */
    switch (rows) {
#define CASE(r) case r: block(p, row, column, r, vectors); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#if defined(__AVX512F__)
    CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
#undef CASE
    default: __builtin_unreachable();
    }
    /* clang-format on */
}

static void multiply(const struct product *p)
{
    /* Even blocks: 25 rows are 9 + 8 + 8, not 12 + 12 + 1. */
    size_t blocks = (p->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (size_t column = 0; column < p->n;) {
        int vectors = p->n - column >= (size_t)BLOCK_VECTORS * LANES ? BLOCK_VECTORS : 1;
        for (size_t i = 0; i < blocks; i++) {
            size_t row = i * p->m / blocks, rows = (i + 1) * p->m / blocks - row;
            if (vectors == BLOCK_VECTORS)
                block_rows(p, row, column, rows, BLOCK_VECTORS);
            else
                block_rows(p, row, column, rows, 1);
        }
        column += (size_t)vectors * LANES;
    }
}

static void forward(const struct head_net *net, const real *x, size_t rows)
{
    const real *input = x;
    size_t stride = net->layer[0].in;
    for (size_t l = 0; l < net->layers; l++) {
        const struct head_layer *layer = &net->layer[l];
        struct product p = {layer->value,
                            layer->ld,
                            input,
                            stride,
                            1,
                            layer->w,
                            layer->ld,
                            rows,
                            layer->ld,
                            layer->in,
                            layer->w + layer->in * layer->ld};
        multiply(&p);
        if (l + 1 < net->layers)
            for (size_t i = 0; i < rows * layer->ld; i += LANES)
                v_store(layer->value + i, v_max(v_load(layer->value + i), (vec){0}));
        input = layer->value;
        stride = layer->ld;
    }
}

/* Turns one row of logits (padded to ld) into exponentials, padding 0. Returns their sum; *largest is the
 * shift. */
INLINE real exponentials(real *out, const real *logits, size_t ld, size_t classes, real *largest)
{
    real top = logits[0];
    for (size_t k = 1; k < classes; k++)
        top = logits[k] > top ? logits[k] : top;
    for (size_t k = 0; k < ld; k += LANES)
        v_store(out + k, v_exp(v_load(logits + k) - v_all(top)));
    real sum = 0;
    for (size_t k = 0; k < classes; k++)
        sum += out[k];
    for (size_t k = classes; k < ld; k++)
        out[k] = 0;
    *largest = top;
    return sum;
}

/* diff = (softmax - one-hot) / rows; the loss of a row is log(sum of exp(z - top)) + top - z_y. */
static double loss_gradient(const struct head_layer *last, const int64_t *y, size_t rows)
{
    double loss = 0;
    real share = (real)1 / (real)rows;
    for (size_t i = 0; i < rows; i++) {
        const real *logits = last->value + i * last->ld;
        real *diff = last->diff + i * last->ld, top;
        real sum = exponentials(diff, logits, last->ld, last->out, &top);
        loss += log((double)sum) + (double)top - (double)logits[y[i]];
        vec scale = v_all(share / sum);
        for (size_t k = 0; k < last->ld; k += LANES)
            v_store(diff + k, v_load(diff + k) * scale);
        diff[y[i]] -= share;
    }
    return loss;
}

/* diff of the layer below = (diff W') where its ReLU was open. */
static void backward(const struct head_layer *below, const struct head_layer *layer, size_t rows)
{
    for (size_t i = 0; i < layer->in; i++)
        for (size_t o = 0; o < layer->out; o++)
            layer->transposed[o * below->ld + i] = layer->w[i * layer->ld + o];
    struct product p = {below->diff, below->ld, layer->diff, layer->ld,  1,   layer->transposed,
                        below->ld,   rows,      below->ld,   layer->out, NULL};
    multiply(&p);
    for (size_t i = 0; i < rows * below->ld; i++)
        below->diff[i] = below->value[i] > 0 ? below->diff[i] : 0;
}

INLINE void apply(const struct head_update *u, const struct head_layer *layer, size_t offset,
                  const real *gradient, size_t count)
{
    real *w = layer->w + offset;
    vec rate = v_all(-u->rate);
    if (!u->adam) {
        for (size_t i = 0; i < count; i += LANES)
            v_store(w + i, v_fma(rate, v_load(gradient + i), v_load(w + i)));
        return;
    }
    real *mean = layer->mean + offset, *square = layer->square + offset;
    vec forget1 = v_all(u->forget1), forget2 = v_all(u->forget2), epsilon = v_all(u->epsilon);
    for (size_t i = 0; i < count; i += LANES) {
        vec g = v_load(gradient + i), m = v_load(mean + i), s = v_load(square + i);
        m = v_flush(v_fma(forget1, g - m, m));
        s = v_flush(v_fma(forget2, g * g - s, s));
        v_store(mean + i, m);
        v_store(square + i, s);
        v_store(w + i, v_fma(rate, m / (v_sqrt(s) + epsilon), v_load(w + i)));
    }
}

static void update(const struct head_layer *layer, const real *input, size_t stride, size_t rows, real *tile,
                   const struct head_update *u)
{
    for (size_t i = 0; i < layer->in; i += HEAD_TILE_ROWS) {
        size_t strip = layer->in - i < HEAD_TILE_ROWS ? layer->in - i : HEAD_TILE_ROWS;
        struct product p = {tile,      layer->ld, input + i, 1,    stride, layer->diff,
                            layer->ld, strip,     layer->ld, rows, NULL};
        multiply(&p);
        apply(u, layer, i * layer->ld, tile, strip * layer->ld);
    }
    memset(tile, 0, layer->ld * sizeof(real));
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < layer->ld; k += LANES)
            v_store(tile + k, v_load(tile + k) + v_load(layer->diff + r * layer->ld + k));
    apply(u, layer, layer->in * layer->ld, tile, layer->ld);
}

static double step(const struct head_net *net, const real *x, const int64_t *y, size_t rows,
                   const struct head_update *u)
{
    forward(net, x, rows);
    double loss = loss_gradient(&net->layer[net->layers - 1], y, rows);
    for (size_t l = net->layers; l-- > 0;) {
        const struct head_layer *layer = &net->layer[l], *below = layer - 1;
        if (l > 0)
            backward(below, layer, rows); /* needs the weights from before the update */
        update(layer, l > 0 ? below->value : x, l > 0 ? below->ld : layer->in, rows, net->tile, u);
    }
    return loss;
}

static void softmax(real *out, const real *logits, size_t ld, size_t rows, size_t classes)
{
    for (size_t i = 0; i < rows; i++) {
        const real *z = logits + i * ld;
        double top = z[0], sum = 0;
        for (size_t k = 1; k < classes; k++)
            top = z[k] > top ? z[k] : top;
        for (size_t k = 0; k < classes; k++)
            sum += exp(z[k] - top);
        for (size_t k = 0; k < classes; k++)
            out[i * classes + k] = (real)(exp(z[k] - top) / sum);
    }
}

extern const struct head_kernels ISA_NAME(head_kernels);
const struct head_kernels ISA_NAME(head_kernels) = {forward, step, softmax};
