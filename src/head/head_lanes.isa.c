/* The step of many linear heads. Forward and weight gradient are the product of head_dense.h over all
 * columns; what is special is the softmax (one head a lane, so no sum across a vector) and the rival records
 * (one a head, so no shared row: a small product of their own, about 1 / batch of the whole). */
#include "head/head_dense.h"
#include "head/head_lanes.h"

enum { LANE_VECTORS = HEAD_PAD / LANES };

/* Logits z (classes, HEAD_PAD) of one record to (softmax - one-hot) * weight, in place; the one-hot part is
 * left to the caller, because a shared record has one class and rivals have one each. */
INLINE void lane_softmax(real *z, size_t classes, vec weight)
{
    vec top = v_load(z), sum = (vec){0};
    for (size_t k = 1; k < classes; k++)
        top = v_max(v_load(z + k * HEAD_PAD), top);
    for (size_t k = 0; k < classes; k++) {
        vec e = v_exp(v_load(z + k * HEAD_PAD) - top);
        v_store(z + k * HEAD_PAD, e);
        sum += e;
    }
    vec scale = weight / sum;
    for (size_t k = 0; k < classes; k++)
        v_store(z + k * HEAD_PAD, v_load(z + k * HEAD_PAD) * scale);
}

static void loss_gradient(const struct head_lanes *s, const int64_t *y, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t g = 0; g < s->groups; g++)
            for (size_t j = 0; j < LANE_VECTORS; j++) {
                real *z = s->layer.value + r * s->layer.ld + g * s->classes * HEAD_PAD + j * LANES;
                vec weight = v_load(s->weights + (r * s->groups + g) * HEAD_PAD + j * LANES);
                lane_softmax(z, s->classes, weight);
                real *own = z + (size_t)y[r] * HEAD_PAD;
                v_store(own, v_load(own) - weight);
            }
}

/* Logits of the rivals of one group, a class at a time; each lane multiplies its own record. */
static void rival_forward(const struct head_lanes *s, size_t g)
{
    const struct head_layer *layer = &s->layer;
    const real *x = s->rival_x + g * layer->in * HEAD_PAD;
    for (size_t k = 0; k < s->classes; k++)
        for (size_t j = 0; j < LANE_VECTORS; j++) {
            const real *w = layer->w + (g * s->classes + k) * HEAD_PAD + j * LANES;
            vec sum = v_load(w + layer->in * layer->ld);
            for (size_t i = 0; i < layer->in; i++)
                sum = v_fma(v_load(x + i * HEAD_PAD + j * LANES), v_load(w + i * layer->ld), sum);
            v_store(s->rival_diff + (g * s->classes + k) * HEAD_PAD + j * LANES, sum);
        }
}

static void rival_gradient(const struct head_lanes *s, size_t g)
{
    real *diff = s->rival_diff + g * s->classes * HEAD_PAD;
    const real *weights = s->rival_weights + g * HEAD_PAD;
    rival_forward(s, g);
    for (size_t j = 0; j < LANE_VECTORS; j++)
        lane_softmax(diff + j * LANES, s->classes, v_load(weights + j * LANES));
    for (size_t lane = 0; lane < HEAD_PAD; lane++)
        diff[(size_t)s->rival_y[g * HEAD_PAD + lane] * HEAD_PAD + lane] -= weights[lane];
}

/* tile (strip, ld) += rival x diff for inputs first .. first + strip - 1. */
static void add_rivals(const struct head_lanes *s, real *tile, size_t first, size_t strip)
{
    size_t width = s->classes * HEAD_PAD;
    for (size_t g = 0; g < s->groups; g++) {
        const real *diff = s->rival_diff + g * width;
        for (size_t i = 0; s->has_rival[g] && i < strip; i++) {
            const real *x = s->rival_x + (g * s->layer.in + first + i) * HEAD_PAD;
            real *row = tile + i * s->layer.ld + g * width;
            for (size_t c = 0; c < width; c += LANES)
                v_store(row + c, v_fma(v_load(x + c % HEAD_PAD), v_load(diff + c), v_load(row + c)));
        }
    }
}

static void add_rival_bias(const struct head_lanes *s, real *tile)
{
    size_t width = s->classes * HEAD_PAD;
    for (size_t g = 0; g < s->groups; g++)
        for (size_t c = 0; s->has_rival[g] && c < width; c += LANES) {
            real *sum = tile + g * width + c;
            v_store(sum, v_load(sum) + v_load(s->rival_diff + g * width + c));
        }
}

static void step(const struct head_lanes *s, const real *x, const int64_t *y, size_t rows,
                 const struct head_update *u)
{
    const struct head_layer *layer = &s->layer;
    struct product p = {layer->value,
                        layer->ld,
                        x,
                        layer->in,
                        1,
                        layer->w,
                        layer->ld,
                        rows,
                        layer->ld,
                        layer->in,
                        layer->w + layer->in * layer->ld};
    multiply(&p);
    loss_gradient(s, y, rows);
    for (size_t g = 0; g < s->groups; g++)
        if (s->has_rival[g])
            rival_gradient(s, g);
    for (size_t i = 0; i < layer->in; i += HEAD_TILE_ROWS) {
        size_t strip = layer->in - i < HEAD_TILE_ROWS ? layer->in - i : HEAD_TILE_ROWS;
        strip_gradient(s->tile, layer, x + i, layer->in, strip, rows);
        add_rivals(s, s->tile, i, strip);
        apply(u, layer, i * layer->ld, s->tile, strip * layer->ld);
    }
    bias_gradient(s->tile, layer, rows);
    add_rival_bias(s, s->tile);
    apply(u, layer, layer->in * layer->ld, s->tile, layer->ld);
}

extern const struct head_lane_kernels ISA_NAME(head_lane_kernels);
const struct head_lane_kernels ISA_NAME(head_lane_kernels) = {step};
