/* The step of many linear heads. Forward and weight gradient are the product of head_dense.h over all
 * columns; what is special is the softmax (one head a lane, so no sum across a vector) and the rival records
 * (one a head, so no shared row: a small product of their own, about 1 / batch of the whole).
 *
 * Only differences of logits matter to a softmax, and its gradients sum to 0 over the classes. So the last
 * class takes part in neither product: logits are those of the others relative to it, and its gradient is
 * minus the sum of theirs. */
#include "head/head_dense.h"
#include "head/head_lanes.h"

enum { LANE_VECTORS = HEAD_PAD / LANES };

/* Logits of so many records are still in the first-level cache when their softmax is taken. */
enum { SOFTMAX_ROWS = 2 * HEAD_TILE_ROWS };

/* relative = weights of every class but the last, minus those of the last. */
static void relate(const struct head_lanes *s)
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

/* Relative logits z (others, HEAD_PAD) of one record to (softmax - one-hot) * weight, in place; the one-hot
 * part is left to the caller, because a shared record has one class and rivals have one each. */
INLINE void lane_softmax(real *z, size_t others, vec weight)
{
    vec top = (vec){0}, sum;
    for (size_t k = 0; k < others; k++)
        top = v_max(v_load(z + k * HEAD_PAD), top);
    sum = v_exp(-top); /* of the last class, whose relative logit is 0 */
    for (size_t k = 0; k < others; k++) {
        vec e = v_exp(v_load(z + k * HEAD_PAD) - top);
        v_store(z + k * HEAD_PAD, e);
        sum += e;
    }
    vec scale = weight / sum;
    for (size_t k = 0; k < others; k++)
        v_store(z + k * HEAD_PAD, v_load(z + k * HEAD_PAD) * scale);
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

/* Relative logits of the rivals of one group, a class at a time; each lane multiplies its own record. */
static void rival_forward(const struct head_lanes *s, size_t g)
{
    const struct head_layer *relative = &s->relative;
    const real *x = s->rival_x + g * relative->in * HEAD_PAD;
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t c = 0; c < width; c += LANES) {
        const real *w = relative->w + g * width + c;
        vec sum = v_load(w + relative->in * relative->ld);
        for (size_t i = 0; i < relative->in; i++)
            sum = v_fma(v_load(x + i * HEAD_PAD + c % HEAD_PAD), v_load(w + i * relative->ld), sum);
        v_store(s->rival_diff + g * width + c, sum);
    }
}

static void rival_gradient(const struct head_lanes *s, size_t g)
{
    size_t others = s->classes - 1;
    real *diff = s->rival_diff + g * others * HEAD_PAD;
    const real *weights = s->rival_weights + g * HEAD_PAD;
    rival_forward(s, g);
    for (size_t j = 0; j < LANE_VECTORS; j++)
        lane_softmax(diff + j * LANES, others, v_load(weights + j * LANES));
    for (size_t lane = 0; lane < HEAD_PAD; lane++) {
        size_t own = (size_t)s->rival_y[g * HEAD_PAD + lane];
        if (own < others)
            diff[own * HEAD_PAD + lane] -= weights[lane];
    }
}

/* tile (strip, relative ld) += rival x diff for inputs first .. first + strip - 1. */
static void add_rivals(const struct head_lanes *s, real *tile, size_t first, size_t strip)
{
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t g = 0; g < s->groups; g++) {
        const real *diff = s->rival_diff + g * width;
        for (size_t i = 0; s->has_rival[g] && i < strip; i++) {
            const real *x = s->rival_x + (g * s->layer.in + first + i) * HEAD_PAD;
            real *row = tile + i * s->relative.ld + g * width;
            for (size_t c = 0; c < width; c += LANES)
                v_store(row + c, v_fma(v_load(x + c % HEAD_PAD), v_load(diff + c), v_load(row + c)));
        }
    }
}

static void add_rival_bias(const struct head_lanes *s, real *tile)
{
    size_t width = (s->classes - 1) * HEAD_PAD;
    for (size_t g = 0; g < s->groups; g++)
        for (size_t c = 0; s->has_rival[g] && c < width; c += LANES) {
            real *sum = tile + g * width + c;
            v_store(sum, v_load(sum) + v_load(s->rival_diff + g * width + c));
        }
}

/* Updates the weights of inputs first .. first + strip - 1 (input `in` is the bias) by the gradients in the
 * tile. */
static void apply_strip(const struct head_lanes *s, const struct head_update *u, size_t first, size_t strip)
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

static void step(const struct head_lanes *s, const real *x, const int64_t *y, size_t rows,
                 const struct head_update *u)
{
    const struct head_layer *relative = &s->relative;
    size_t in = relative->in, ld = relative->ld;
    relate(s);
    for (size_t first = 0; first < rows; first += SOFTMAX_ROWS) {
        size_t count = rows - first < SOFTMAX_ROWS ? rows - first : SOFTMAX_ROWS;
        struct product p = {
            relative->value + first * ld, ld, x + first * in, in, 1, relative->w, ld, count, ld, in,
            relative->w + in * ld};
        multiply(&p);
        loss_gradient(s, y, first, count);
    }
    for (size_t g = 0; g < s->groups; g++)
        if (s->has_rival[g])
            rival_gradient(s, g);
    for (size_t i = 0; i < in; i += HEAD_TILE_ROWS) {
        size_t strip = in - i < HEAD_TILE_ROWS ? in - i : HEAD_TILE_ROWS;
        strip_gradient(s->tile, relative, x + i, in, strip, rows);
        add_rivals(s, s->tile, i, strip);
        apply_strip(s, u, i, strip);
    }
    bias_gradient(s->tile, relative, rows);
    add_rival_bias(s, s->tile);
    apply_strip(s, u, in, 1);
}

extern const struct head_lane_kernels ISA_NAME(head_lane_kernels);
const struct head_lane_kernels ISA_NAME(head_lane_kernels) = {step};
