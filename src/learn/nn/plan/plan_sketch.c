#include "nn/plan/plan_sketch.h"

#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 16 };

/* ---- one gradient ---- */

sotto_status sketch_matrices_make(struct sketch_matrices *out, size_t outputs, size_t inputs, size_t layer,
                                  uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct sketch_matrices m = {.outputs = outputs, .inputs = inputs};
    struct rng a = rng_stream(seed, RNG_PROBE, layer, 0), b = rng_stream(seed, RNG_PROBE, layer, 1);
    NEW_ROWS(m.a, outputs, SKETCH_SIDE);
    NEW_ROWS(m.b, inputs + 1, SKETCH_SIDE);
    for (size_t i = 0; i < outputs * SKETCH_SIDE; i++)
        m.a[i] = (float)(rng_normal(&a) / sqrt(SKETCH_SIDE));
    for (size_t i = 0; i < (inputs + 1) * SKETCH_SIDE; i++)
        m.b[i] = (float)(rng_normal(&b) / sqrt(SKETCH_SIDE));
    *out = m;
done:
    if (status != SOTTO_OK)
        sketch_matrices_clear(&m);
    return status;
}

void sketch_matrices_clear(struct sketch_matrices *m)
{
    base_free(m->a);
    base_free(m->b);
    *m = (struct sketch_matrices){0};
}

static double log_norm(const float *x, size_t n)
{
    double squares = 1e-300;
    for (size_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    return 0.5 * log(squares);
}

void sketch_gradient(struct layer_sketch *out, const struct sketch_matrices *m, const struct sketch_source *s)
{
    size_t width = m->inputs + 1;
    memset(s->gradient, 0, m->outputs * width * sizeof *s->gradient);
    for (size_t p = 0; p < s->positions; p++)
        for (size_t o = 0; o < m->outputs; o++) {
            float d = s->diff[p * m->outputs + o], *g = s->gradient + o * width;
            const float *patch = s->patches + p * m->inputs;
            for (size_t i = 0; d != 0 && i < m->inputs; i++)
                g[i] += d * patch[i];
            g[m->inputs] += s->bias ? d : 0;
        }
    memset(out->sketch, 0, sizeof out->sketch);
    for (size_t o = 0; o < m->outputs; o++) {
        double row[SKETCH_SIDE] = {0}; /* of G B' */
        for (size_t i = 0; i < width; i++)
            for (size_t k = 0; k < SKETCH_SIDE; k++)
                row[k] += (double)s->gradient[o * width + i] * (double)m->b[i * SKETCH_SIDE + k];
        for (size_t j = 0; j < SKETCH; j++)
            out->sketch[j] += (double)m->a[o * SKETCH_SIDE + j / SKETCH_SIDE] * row[j % SKETCH_SIDE];
    }
    out->log_gradient = log_norm(s->gradient, m->outputs * width);
    out->log_diff = log_norm(s->diff, s->positions * m->outputs);
    out->log_input = log_norm(s->patches, s->positions * m->inputs);
}

void sketch_results(struct layer_sketch *out, const float *result, size_t count)
{
    double active = 0, sum = 0, largest = (double)result[0];
    for (size_t i = 0; i < count; i++) {
        active += result[i] > 0;
        sum += (double)result[i];
        largest = fmax(largest, (double)result[i]);
    }
    out->active = active / (double)count;
    out->mean = sum / (double)count;
    out->largest = largest;
}

/* ---- the layers of a plan ---- */

struct sketched_layer {
    size_t row;
    struct sketch_matrices matrices;
    float *patches, *gradient; /* scratch */
};
struct plan_sketch {
    struct nn_plan *plan;
    size_t count, outputs;
    struct sketched_layer layer[LAYERS_MAX]; /* as they run */
};

void plan_sketch_free(struct plan_sketch *s)
{
    for (size_t l = 0; s && l < s->count; l++) {
        sketch_matrices_clear(&s->layer[l].matrices);
        base_free(s->layer[l].patches);
        base_free(s->layer[l].gradient);
    }
    base_free(s);
}

size_t plan_sketch_layers(const struct plan_sketch *s)
{
    return s->count;
}

size_t plan_sketch_outputs(const struct plan_sketch *s)
{
    return s->outputs;
}

static size_t positions_of(const struct layer_run *r)
{
    return r->dst->shape.height * r->dst->shape.width;
}

/* Values under a kernel. */
static size_t taps_of(const struct layer_run *r)
{
    const struct nn_parameter *w = &r->parameters[0];
    return w->height * w->width * w->in;
}

sotto_status plan_sketch_make(struct plan_sketch **out, struct nn_plan *p, size_t layers, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct plan_sketch *s = NULL;
    size_t rows[LAYERS_MAX], found = 0;
    REQUIRE(layers > 0 && layers <= LAYERS_MAX, "white box: %zu layers; expected 1 to %d", layers,
            LAYERS_MAX);
    for (size_t i = (size_t)p->output_row + 1; i-- > p->first && found < layers;)
        if (p->runs[i].spec->layer == &layer_dense || p->runs[i].spec->layer == &layer_conv)
            rows[found++] = i;
    REQUIRE(p->adversary_row == SOURCE_NONE, "white box: networks with an adversary are not read");
    REQUIRE(found > 0, "white box: this network has no dense and no convolution layer to read");
    NEW(s, 1);
    s->plan = p;
    for (size_t l = found; l-- > 0;) { /* as they run */
        const struct layer_run *r = &p->runs[rows[l]];
        struct sketched_layer *to = &s->layer[s->count];
        to->row = rows[l];
        TRY(sketch_matrices_make(&to->matrices, r->dst->shape.channels, taps_of(r), l, seed));
        s->count++;
        s->outputs += r->dst->shape.channels;
        NEW_ROWS(to->patches, positions_of(r), taps_of(r));
        NEW_ROWS(to->gradient, r->dst->shape.channels, taps_of(r) + 1);
    }
    *out = s;
    s = NULL;
done:
    plan_sketch_free(s);
    return status;
}

/* The values under the kernel at every output position of one image, in the order of the weights. */
static void plan_sketch_gather(float *patches, const struct layer_run *r, const float *image)
{
    const struct nn_parameter *w = &r->parameters[0];
    struct nn_shape src = r->src->shape, dst = r->dst->shape;
    if (r->spec->layer == &layer_dense) {
        memcpy(patches, image, taps_of(r) * sizeof *patches);
        return;
    }
    for (size_t y = 0; y < dst.height; y++)
        for (size_t x = 0; x < dst.width; x++)
            for (size_t ky = 0; ky < w->height; ky++)
                for (size_t kx = 0; kx < w->width; kx++, patches += w->in) {
                    size_t at = y * r->spec->stride + ky,
                           across = x * r->spec->stride + kx; /* in the padded image */
                    bool inside = at >= r->spec->pad && at < src.height + r->spec->pad &&
                                  across >= r->spec->pad && across < src.width + r->spec->pad;
                    if (inside)
                        memcpy(patches,
                               image + ((at - r->spec->pad) * src.width + across - r->spec->pad) * w->in,
                               w->in * sizeof *patches);
                    else
                        memset(patches, 0, w->in * sizeof *patches);
                }
}

/* One layer, whose gradient with respect to its result is there. */
static void read_layer(struct layer_sketch *out, size_t stride, struct plan_sketch *s, size_t l, size_t rows)
{
    struct sketched_layer *layer = &s->layer[l];
    const struct layer_run *r = &s->plan->runs[layer->row];
    size_t in = shape_count(r->src->shape), result = shape_count(r->dst->shape);
    for (size_t e = 0; e < rows; e++) {
        const struct sketch_source source = {.diff = (const float *)r->dst->diff + e * result,
                                             .patches = layer->patches,
                                             .positions = positions_of(r),
                                             .bias = !r->spec->no_bias,
                                             .gradient = layer->gradient};
        plan_sketch_gather(layer->patches, r, (const float *)r->src->data + e * in);
        sketch_gradient(&out[e * stride], &layer->matrices, &source);
        sketch_results(&out[e * stride], (const float *)r->dst->data + e * result, result);
    }
}

static void read_outputs(float *outputs, const struct plan_sketch *s, size_t rows)
{
    for (size_t e = 0; e < rows; e++)
        for (size_t l = 0; l < s->count; l++) {
            const struct layer_run *r = &s->plan->runs[s->layer[l].row];
            size_t channels = r->dst->shape.channels, positions = positions_of(r);
            const float *data = (const float *)r->dst->data + e * channels * positions;
            for (size_t c = 0; c < channels; c++) {
                double sum = 0;
                for (size_t p = 0; p < positions; p++)
                    sum += (double)data[p * channels + c];
                *outputs++ = (float)(sum / (double)positions);
            }
        }
}

sotto_status plan_sketch_run(struct layer_sketch *layers, float *outputs, struct plan_sketch *s, size_t rows)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *p = s->plan;
    read_outputs(outputs, s, rows);
    p->pass.input_only = 1; /* gradients of the whole batch are of no use */
    for (size_t i = p->row_count, l = s->count; i-- > s->layer[0].row;) {
        TRY(plan_go_on(p));
        plan_backward_row(p, i);
        if (l > 0 && s->layer[l - 1].row == i) {
            l--;
            read_layer(layers + l, s->count, s, l, rows);
        }
    }
    TRY(plan_go_on(p));
done:
    return status;
}
