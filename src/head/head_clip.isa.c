#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#include "head/head_clip.h"
#include "head/head_dense.h"

#include <float.h>

static double squares(const float *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

/* Products of floats are exact in double and all terms are positive: a squared norm is too small by at most
 * one rounding for every term, and 2^-52 for each is twice that. */
static double factor_of(const struct clip_layer *layer, size_t layers, size_t row, double norm)
{
    double square = 0, terms = 16;
    for (size_t l = 0; l < layers; l++, layer++) {
        square += (squares(layer->input + row * layer->stride, layer->in) + 1) *
                  squares(layer->diff + row * layer->ld, layer->ld);
        terms += (double)(layer->in + layer->ld);
    }
    double own = sqrt(square) * (1 + terms * 0x1p-52);
    if (!(own <= DBL_MAX))
        return 0;
    return own <= norm ? 1 : norm / own * (1 - 0x1p-50);
}

/* sum += input' diff, a strip of inputs at a time. */
static void add_products(const struct clip_layer *layer, size_t rows, const struct clip_scratch *s)
{
    for (size_t first = 0; first < layer->in; first += HEAD_CLIP_STRIP) {
        size_t strip = layer->in - first < HEAD_CLIP_STRIP ? layer->in - first : HEAD_CLIP_STRIP;
        double *sum = layer->sum + first * layer->ld;
        struct product p = {s->tile,   layer->ld, s->input + first, 1,    layer->in, s->diff,
                            layer->ld, strip,     layer->ld,        rows, NULL};
        multiply(&p);
        for (size_t i = 0; i < strip * layer->ld; i++)
            sum[i] += s->tile[i];
    }
    double *bias = layer->sum + layer->in * layer->ld;
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < layer->ld; o++)
            bias[o] += s->diff[r * layer->ld + o];
}

static void add(const struct clip_layer *layer, size_t layers, size_t rows, double norm,
                const struct clip_scratch *s)
{
    for (size_t r = 0; r < rows; r++)
        s->factor[r] = factor_of(layer, layers, r, norm);
    for (size_t l = 0; l < layers; l++, layer++) {
        for (size_t r = 0; r < rows; r++) {
            for (size_t i = 0; i < layer->in; i++) /* a record that adds nothing may hold infinities */
                s->input[r * layer->in + i] = s->factor[r] > 0 ? layer->input[r * layer->stride + i] : 0;
            for (size_t o = 0; o < layer->ld; o++)
                s->diff[r * layer->ld + o] =
                    s->factor[r] > 0 ? s->factor[r] * layer->diff[r * layer->ld + o] : 0;
        }
        add_products(layer, rows, s);
    }
}

extern const struct clip_kernels ISA_NAME(clip_kernels);
const struct clip_kernels ISA_NAME(clip_kernels) = {add};
