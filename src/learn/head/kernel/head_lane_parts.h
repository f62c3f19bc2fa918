/* head_lane_parts.h - what the two steps of many linear heads share: softmax, rivals, update. Included by
 * *.isa.c only. */
#ifndef HEAD_KERNEL_HEAD_LANE_PARTS_H
#define HEAD_KERNEL_HEAD_LANE_PARTS_H

#include "head/kernel/head_dense.h"
#include "head/kernel/head_lanes.h"

enum { LANE_VECTORS = HEAD_PAD / LANES };

/* z = e^(z - top); returns their sum and that of the last class, which has relative logit 0. */
INLINE vec lane_exponentials(real *z, size_t others, vec top)
{
    vec sum = v_exp(-top);
    for (size_t k = 0; k < others; k++) {
        vec e = v_exp(v_load(z + k * HEAD_PAD) - top);
        v_store(z + k * HEAD_PAD, e);
        sum += e;
    }
    return sum;
}

/* Relative logits z (others, HEAD_PAD) of one record to (softmax - one-hot) * weight, in place; the one-hot
 * part is left to the caller, because a shared record has one class and rivals have one each. */
INLINE void lane_softmax(real *z, size_t others, vec weight)
{
    vec top = (vec){0};
    for (size_t k = 0; k < others; k++)
        top = v_max(v_load(z + k * HEAD_PAD), top);
    vec scale = weight / lane_exponentials(z, others, top);
    for (size_t k = 0; k < others; k++)
        v_store(z + k * HEAD_PAD, v_load(z + k * HEAD_PAD) * scale);
}

/* Relative logits of the rivals of one group, a class at a time; each lane multiplies its own record. */
INLINE void replacement_forward(const struct head_lanes *s, size_t g)
{
    const struct head_layer *layer = &s->layer;
    const real *x = s->replacement_x + g * layer->in * HEAD_PAD;
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t c = 0; c < width; c += LANES) {
        const real *w = layer->w + g * s->classes * HEAD_PAD + c, *last = w + width - c + c % HEAD_PAD;
        size_t bias = layer->in * layer->ld;
        vec sum = v_load(w + bias) - v_load(last + bias);
        for (size_t i = 0; i < layer->in; i++)
            sum = v_fma(v_load(x + i * HEAD_PAD + c % HEAD_PAD),
                        v_load(w + i * layer->ld) - v_load(last + i * layer->ld), sum);
        v_store(s->replacement_diff + g * width + c, sum);
    }
}

INLINE void replacement_gradient(const struct head_lanes *s, size_t g)
{
    size_t others = s->classes - 1;
    real *diff = s->replacement_diff + g * others * HEAD_PAD;
    const real *weights = s->replacement_weights + g * HEAD_PAD;
    replacement_forward(s, g);
    for (size_t j = 0; j < LANE_VECTORS; j++)
        lane_softmax(diff + j * LANES, others, v_load(weights + j * LANES));
    for (size_t lane = 0; lane < HEAD_PAD; lane++) {
        size_t own = (size_t)s->replacement_y[g * HEAD_PAD + lane];
        if (own < others)
            diff[own * HEAD_PAD + lane] -= weights[lane];
    }
}

/* tile (strip, relative ld) += replacement record x diff for inputs first .. first + strip - 1. */
INLINE void add_replacements(const struct head_lanes *s, real *tile, size_t first, size_t strip)
{
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t g = 0; g < s->groups; g++) {
        const real *diff = s->replacement_diff + g * width;
        for (size_t i = 0; s->has_replacement[g] && i < strip; i++) {
            const real *x = s->replacement_x + (g * s->layer.in + first + i) * HEAD_PAD;
            real *row = tile + i * s->relative.ld + g * width;
            for (size_t c = 0; c < width; c += LANES)
                v_store(row + c, v_fma(v_load(x + c % HEAD_PAD), v_load(diff + c), v_load(row + c)));
        }
    }
}

INLINE void add_replacement_bias(const struct head_lanes *s, real *tile)
{
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t g = 0; g < s->groups; g++)
        for (size_t c = 0; s->has_replacement[g] && c < width; c += LANES) {
            real *sum = tile + g * width + c;
            v_store(sum, v_load(sum) + v_load(s->replacement_diff + g * width + c));
        }
}

/* Updates the weights of inputs first .. first + strip - 1 (input `in` is the bias) by the gradients in the
 * tile. */
INLINE void apply_strip(const struct head_lanes *s, const struct head_update *u, size_t first, size_t strip)
{
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t i = 0; i < strip; i++)
        for (size_t g = 0; g < s->groups; g++) {
            const real *gradient = s->tile + i * s->relative.ld + g * width;
            size_t offset = (first + i) * s->layer.ld + g * s->classes * HEAD_PAD;
            _Alignas(VECTOR_BYTES) real last[HEAD_PAD];
            for (size_t j = 0; j < HEAD_PAD; j += LANES) {
                vec sum = v_load(gradient + j);
                for (size_t k = HEAD_PAD; k < width; k += HEAD_PAD)
                    sum += v_load(gradient + k + j);
                v_store(last + j, -sum);
            }
            apply(u, &s->layer, offset, gradient, width);
            apply(u, &s->layer, offset + width, last, HEAD_PAD);
        }
}

#endif
