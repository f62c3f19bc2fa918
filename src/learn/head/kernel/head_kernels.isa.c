/* Dense layers, softmax cross-entropy and the update rules for networks with weights that stay in one core's
 * cache.
 *
 * The weight gradient never exists as a whole: blocks of it go from registers through the first-level cache
 * into the update. */
#include "head/kernel/head_dense.h"
#include "head/kernel/head_sparse.h"

#include <string.h>

static void forward_from(const struct head_net *net, size_t first, const real *input, size_t stride,
                         size_t rows)
{
    for (size_t l = first; l < net->layers; l++) {
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

static void head_kernel_forward(const struct head_net *net, const real *x, size_t rows)
{
    forward_from(net, 0, x, net->layer[0].in, rows);
}

INLINE real largest_of(const real *logits, size_t classes)
{
    real top = logits[0];
    size_t k = 0;
    if (classes >= LANES) { /* the same number, whatever the order */
        vec most = v_load(logits);
        for (k = LANES; k + LANES <= classes; k += LANES)
            most = v_max(v_load(logits + k), most);
        top = v_largest(most);
    }
    for (; k < classes; k++)
        top = logits[k] > top ? logits[k] : top;
    return top;
}

/* Turns one row of logits (padded to ld) into exponentials, padding 0. Returns the shift. */
INLINE real head_kernel_exponentials(real *out, const real *logits, size_t ld, size_t classes)
{
    real top = largest_of(logits, classes);
    for (size_t k = 0; k < ld; k += LANES)
        v_store(out + k, v_exp(v_load(logits + k) - v_all(top)));
    for (size_t k = classes; k < ld; k++)
        out[k] = 0;
    return top;
}

/* Each sum is taken in order, so it waits for every addition; rows side by side wait together. */
enum { SIDE_BY_SIDE = 8 };
INLINE void sums_of(real sum[SIDE_BY_SIDE], const real *x, size_t ld, size_t rows, size_t classes)
{
    for (size_t r = 0; r < SIDE_BY_SIDE; r++)
        sum[r] = 0;
    if (rows == SIDE_BY_SIDE) {
        for (size_t k = 0; k < classes; k++)
#pragma GCC unroll 8
            for (size_t r = 0; r < SIDE_BY_SIDE; r++)
                sum[r] += x[r * ld + k];
        return;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < classes; k++)
            sum[r] += x[r * ld + k];
}

/* diff = (softmax - one-hot) * share * balance of the class; the loss of a row is log(sum of exp(z - top)) + top - z_y, where it is
 * wanted. */
INLINE double loss_gradient(const struct head_net *net, const int64_t *y, size_t rows, real share, int wanted)
{
    const struct head_layer *last = &net->layer[net->layers - 1];
    double loss = 0;
    size_t ld = last->ld;
    for (size_t first = 0; first < rows; first += SIDE_BY_SIDE) {
        size_t count = rows - first < SIDE_BY_SIDE ? rows - first : SIDE_BY_SIDE;
        const real *logits = last->value + first * ld;
        real *diff = last->diff + first * ld, top[SIDE_BY_SIDE], sum[SIDE_BY_SIDE];
        for (size_t r = 0; r < count; r++)
            top[r] = head_kernel_exponentials(diff + r * ld, logits + r * ld, ld, last->out);
        sums_of(sum, diff, ld, count, last->out);
        for (size_t r = 0; r < count; r++) {
            size_t label = (size_t)y[first + r];
            real own = share * net->balance[label];
            if (wanted)
                loss += (double)net->balance[label] *
                        (log((double)sum[r]) + (double)top[r] - (double)logits[r * ld + label]);
            vec scale = v_all(own / sum[r]);
            for (size_t k = 0; k < ld; k += LANES)
                v_store(diff + r * ld + k, v_load(diff + r * ld + k) * scale);
            diff[r * ld + label] -= own;
        }
    }
    return loss;
}

INLINE void head_kernel_transpose(const struct head_layer *layer, size_t ld, size_t first, size_t count)
{
    for (size_t o = 0; o < layer->out; o++)
        for (size_t i = first; i < first + count; i++)
            layer->transposed[o * ld + i] = layer->w[i * layer->ld + o];
}

/* diff of the layer below = (diff W') where its ReLU was open. */
static void head_kernel_backward(const struct head_layer *below, const struct head_layer *layer, size_t rows)
{
    /* A cache line of each row of the result at a time. */
    size_t whole = layer->in / HEAD_PAD * HEAD_PAD;
    for (size_t first = 0; first < whole; first += HEAD_PAD)
        head_kernel_transpose(layer, below->ld, first, HEAD_PAD);
    head_kernel_transpose(layer, below->ld, whole, layer->in - whole);
    struct product p = {below->diff, below->ld, layer->diff, layer->ld,  1,   layer->transposed,
                        below->ld,   rows,      below->ld,   layer->out, NULL};
    multiply(&p);
    for (size_t i = 0; i < rows * below->ld; i++)
        below->diff[i] = below->value[i] > 0 ? below->diff[i] : 0;
}

static void head_kernel_update(const struct head_layer *layer, const real *input, size_t stride, size_t rows,
                               real *tile, const struct head_update *u)
{
    size_t blocks = (layer->in + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (size_t b = 0; b < blocks; b++) {
        size_t first = b * layer->in / blocks, strip = (b + 1) * layer->in / blocks - first;
        for (size_t column = 0; column < layer->ld;) {
            int vectors = layer->ld - column >= (size_t)BLOCK_VECTORS * LANES ? BLOCK_VECTORS : 1;
            size_t width = (size_t)vectors * LANES, offset = first * layer->ld + column;
            struct product p = {tile,      width, input + first, 1,    stride, layer->diff + column,
                                layer->ld, strip, width,         rows, NULL};
            if (vectors == BLOCK_VECTORS)
                block_rows(&p, 0, 0, strip, BLOCK_VECTORS);
            else
                block_rows(&p, 0, 0, strip, 1);
            for (size_t i = 0; i < strip; i++)
                apply(u, layer, offset + i * layer->ld, tile + i * width, width);
            column += width;
        }
    }
    bias_gradient(tile, layer, rows);
    apply(u, layer, layer->in * layer->ld, tile, layer->ld);
}

/* What both kinds of input share: the loss, and all layers but the first. */
INLINE double backward_to_first(const struct head_net *net, const int64_t *y, size_t rows,
                                const struct head_update *u, int wanted)
{
    double loss = loss_gradient(net, y, rows, (real)1 / (real)rows, wanted);
    for (size_t l = net->layers; l-- > 1;) {
        const struct head_layer *layer = &net->layer[l], *below = layer - 1;
        head_kernel_backward(below, layer, rows); /* needs the weights from before the update */
        head_kernel_update(layer, below->value, below->ld, rows, net->tile, u);
    }
    return loss;
}

static double head_kernel_step(const struct head_net *net, const real *x, const int64_t *y, size_t rows,
                               const struct head_update *u)
{
    head_kernel_forward(net, x, rows);
    double loss = backward_to_first(net, y, rows, u, 1);
    head_kernel_update(&net->layer[0], x, net->layer[0].in, rows, net->tile, u);
    return loss;
}

static void forward_all_bits(const struct head_net *net, const struct head_bit_rows *ones, size_t rows)
{
    const struct head_layer *first = &net->layer[0];
    forward_bits(first, ones, rows, net->layers == 1);
    forward_from(net, 1, first->value, first->ld, rows);
}

static void step_bits(const struct head_net *net, const struct head_bit_rows *ones, const int64_t *y,
                      size_t rows, const struct head_update *u)
{
    forward_all_bits(net, ones, rows);
    backward_to_first(net, y, rows, u, 0);
    update_bits(&net->layer[0], ones, rows, net->tile, u);
}

static void head_kernel_gradients(const struct head_net *net, const real *x, const int64_t *y, size_t rows)
{
    head_kernel_forward(net, x, rows);
    loss_gradient(net, y, rows, 1, 0);
    for (size_t l = net->layers; l-- > 1;)
        head_kernel_backward(&net->layer[l - 1], &net->layer[l], rows);
}

static void head_kernel_softmax(real *out, const real *logits, size_t ld, size_t rows, size_t classes)
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
const struct head_kernels ISA_NAME(head_kernels) = {
    head_kernel_forward, forward_all_bits, head_kernel_step,      pack_bits,
    turn_bits,           step_bits,        head_kernel_gradients, head_kernel_softmax};
