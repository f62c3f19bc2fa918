/* The step of many linear heads. Forward and weight gradient are the product of head_dense.h over all
 * columns; what is special is the softmax (one head a lane, so no sum across a vector) and the replacement
 * records (one a head, so no shared row: a small product of their own, about 1 / batch of the whole).
 *
 * Only differences of logits matter to a softmax, and its gradients sum to 0 over the classes. So the last
 * class takes part in neither product: logits are those of the others relative to it, and its gradient is
 * minus the sum of theirs. */
#include "head/kernel/head_lane_parts.h"

/* Logits of so many records are still in the first-level cache when their softmax is taken. */
enum { SOFTMAX_ROWS = 2 * HEAD_TILE_ROWS };

/* relative = weights of every class but the last, minus those of the last. */
static void head_lanes_relate(const struct head_lanes *s)
{
    const struct head_layer *layer = &s->layer, *relative = &s->relative;
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t i = 0; i <= layer->in; i++)
        for (size_t g = 0; g < s->groups; g++) {
            const real *w = layer->w + i * layer->ld + g * s->classes * HEAD_PAD;
            real *to = relative->w + i * relative->ld + g * width;
            for (size_t j = 0; j < HEAD_PAD; j += LANES) {
                vec last = v_load(w + width + j);
                for (size_t k = 0; k < width; k += HEAD_PAD)
                    v_store(to + k + j, v_load(w + k + j) - last);
            }
        }
}

static void loss_gradient(const struct head_lanes *s, const int64_t *y, size_t first, size_t rows)
{
    size_t others = s->classes - 1;
    for (size_t r = first; r < first + rows; r++)
        for (size_t g = 0; g < s->groups; g++)
            for (size_t j = 0; j < LANE_VECTORS; j++) {
                real *z = s->relative.value + r * s->relative.ld + g * others * HEAD_PAD + j * LANES;
                vec weight = v_load(s->weights + (r * s->groups + g) * HEAD_PAD + j * LANES);
                lane_softmax(z, others, weight);
                real *own = z + (size_t)y[r] * HEAD_PAD;
                if ((size_t)y[r] < others)
                    v_store(own, v_load(own) - weight);
            }
}

static void head_lanes_step(const struct head_lanes *s, const real *x, const int64_t *y, size_t rows,
                            const struct head_update *u)
{
    const struct head_layer *relative = &s->relative;
    size_t in = relative->in, ld = relative->ld;
    head_lanes_relate(s);
    for (size_t first = 0; first < rows; first += SOFTMAX_ROWS) {
        size_t count = rows - first < SOFTMAX_ROWS ? rows - first : SOFTMAX_ROWS;
        struct product p = {
            relative->value + first * ld, ld, x + first * in, in, 1, relative->w, ld, count, ld, in,
            relative->w + in * ld};
        multiply(&p);
        loss_gradient(s, y, first, count);
    }
    for (size_t g = 0; g < s->groups; g++)
        if (s->has_replacement[g])
            replacement_gradient(s, g);
    for (size_t i = 0; i < in; i += HEAD_TILE_ROWS) {
        size_t strip = in - i < HEAD_TILE_ROWS ? in - i : HEAD_TILE_ROWS;
        strip_gradient(s->tile, relative, x + i, in, strip, rows);
        add_replacements(s, s->tile, i, strip);
        apply_strip(s, u, i, strip);
    }
    bias_gradient(s->tile, relative, rows);
    add_replacement_bias(s, s->tile);
    apply_strip(s, u, in, 1);
}

extern const struct head_lane_kernels ISA_NAME(head_lane_kernels);
const struct head_lane_kernels ISA_NAME(head_lane_kernels) = {head_lanes_step};
