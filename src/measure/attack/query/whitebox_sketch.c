#include "attack/query/whitebox_sketch.h"

#include "par/par.h"

#include <math.h>
#include <string.h>

enum { BATCH = 32 };

void whitebox_sketch_clear(struct whitebox_sketch *s)
{
    base_free(s->layer);
    base_free(s->output);
    base_free(s->loss);
    *s = (struct whitebox_sketch){0};
}

static sotto_status whitebox_sketch_reserve(struct whitebox_sketch *s, size_t n)
{
    sotto_status status = SOTTO_OK;
    s->n = n;
    NEW_ROWS(s->layer, n, s->layers);
    NEW_ROWS(s->output, n, s->outputs);
    NEW(s->loss, n);
done:
    return status;
}

/* ---- heads: every layer is dense ---- */

struct head_reading {
    struct whitebox_features v;
    struct sketch_matrices matrices[HEAD_MAX_LAYERS];
    float *diff, *input, *gradient; /* of the layer that is read */
};

static void whitebox_sketch_narrow(float *to, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static void read_record(struct layer_sketch *layer, float *output, struct head_reading *r, size_t layers)
{
    const struct sotto_head *h = r->v.head;
    for (size_t k = 0; k < layers; k++) {
        size_t l = h->layers - layers + k + 1, in = h->width[l - 1], out = h->width[l];
        const struct sketch_source source = {r->diff, r->input, 1, true, r->gradient};
        whitebox_sketch_narrow(r->diff, r->v.diff[l], out);
        whitebox_sketch_narrow(r->input, r->v.value[l - 1], in);
        whitebox_sketch_narrow(output, r->v.value[l], out);
        sketch_gradient(&layer[k], &r->matrices[k], &source);
        sketch_results(&layer[k], output, out);
        output += out;
    }
}

static sotto_status read_head(struct whitebox_sketch *s, const struct sotto_head *h,
                              const struct head_data *records, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_reading r = {0};
    size_t widest = 0, largest = 0, first = h->layers - s->layers;
    for (size_t l = 0; l <= h->layers; l++) {
        size_t gradient = l < h->layers ? (h->width[l] + 1) * h->width[l + 1] : 0;
        widest = h->width[l] > widest ? h->width[l] : widest;
        largest = gradient > largest ? gradient : largest;
    }
    for (size_t k = 0; k < s->layers; k++) {
        s->outputs += h->width[first + k + 1];
        TRY(sketch_matrices_make(&r.matrices[k], h->width[first + k + 1], h->width[first + k],
                                 s->layers - 1 - k, seed));
    }
    TRY(whitebox_sketch_reserve(s, records->n));
    TRY(whitebox_features_make(&r.v, h));
    NEW(r.diff, widest);
    NEW(r.input, widest);
    NEW(r.gradient, largest);
    for (size_t i = 0; i < records->n; i++) {
        if (i % BATCH == 0)
            TRY(context_check(ctx, "white box: stopped after %zu of %zu records", i, records->n));
        whitebox_features_look(&r.v, records->x + i * records->d, records->y[i]);
        s->loss[i] = r.v.loss;
        read_record(s->layer + i * s->layers, s->output + i * s->outputs, &r, s->layers);
    }
done:
    for (size_t k = 0; k < s->layers; k++)
        sketch_matrices_clear(&r.matrices[k]);
    whitebox_features_clear(&r.v);
    base_free(r.diff);
    base_free(r.input);
    base_free(r.gradient);
    return status;
}

/* ---- networks ---- */

/* Losses, and each row's gradient of its own: p - e_y. */
static void whitebox_sketch_differentiate(double *loss, float *diff, const float *logits, const int64_t *y,
                                          size_t rows, size_t classes)
{
    for (size_t i = 0; i < rows; i++, logits += classes, diff += classes) {
        double top = (double)logits[0], sum = 0, others = 0;
        for (size_t k = 1; k < classes; k++)
            top = fmax(top, (double)logits[k]);
        for (size_t k = 0; k < classes; k++)
            sum += exp((double)logits[k] - top);
        for (size_t k = 0; k < classes; k++) {
            double p = exp((double)logits[k] - top) / sum;
            diff[k] = (float)p;
            others += k == (size_t)y[i] ? 0 : p;
        }
        diff[y[i]] = (float)-others; /* p_y - 1 without cancellation */
        loss[i] = log(sum) + top - (double)logits[y[i]];
    }
}

static sotto_status read_network(struct whitebox_sketch *s, const struct sotto_network *n,
                                 const struct head_data *records, size_t layers, uint64_t seed,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct nn_backend *backend;
    struct nn_plan *plan = NULL;
    struct plan_sketch *sketch = NULL;
    struct record_input source;
    const struct sotto_dataset rows = {.features = records->x};
    int threads = nn_threads_worth(BATCH * nn_model_work(n->model), par_threads(ctx)),
        pool = par_set_threads(threads);
    TRY(nn_backend_find(&backend, "auto"));
    const struct nn_plan_config config = {.batch = BATCH, .dtype = NN_F32, .backend = backend, .training = 1};
    TRY(nn_plan_create(&plan, n->model, &config));
    TRY(plan_sketch_make(&sketch, plan, layers, seed));
    s->layers = plan_sketch_layers(sketch);
    s->outputs = plan_sketch_outputs(sketch);
    TRY(whitebox_sketch_reserve(s, records->n));
    nn_plan_set_context(plan, ctx);
    record_input_make(&source, &rows, n->record, n->config.input, threads);
    memset(nn_plan_diff_output(plan), 0, BATCH * records->classes * sizeof(float));
    for (size_t first = 0; first < records->n; first += BATCH) {
        size_t count = records->n - first < BATCH ? records->n - first : BATCH;
        int64_t batch[BATCH], labels[BATCH];
        double loss[BATCH];
        for (size_t i = 0; i < BATCH; i++) { /* the last batch is filled up with its last record */
            batch[i] = (int64_t)(first + (i < count ? i : count - 1));
            labels[i] = records->y[batch[i]];
        }
        record_input_fill(nn_plan_input(plan), &source, batch, BATCH, NULL);
        TRY(nn_plan_forward(plan, 0, n->noise_seed, first));
        whitebox_sketch_differentiate(loss, nn_plan_diff_output(plan), nn_plan_output(plan), labels, BATCH,
                                      records->classes);
        memcpy(s->loss + first, loss, count * sizeof *loss);
        TRY(plan_sketch_run(s->layer + first * s->layers, s->output + first * s->outputs, sketch, count));
    }
done:
    plan_sketch_free(sketch);
    nn_plan_free(plan);
    par_set_threads(pool);
    return status;
}

sotto_status whitebox_sketch_make(struct whitebox_sketch *out, const struct sotto_head *head,
                                  const struct sotto_network *network, const struct head_data *records,
                                  size_t layers, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct whitebox_sketch s = {0};
    if (head) {
        s.layers = layers < head->layers ? layers : head->layers;
        TRY(read_head(&s, head, records, seed, ctx));
    } else {
        TRY(read_network(&s, network, records, layers, seed, ctx));
    }
    *out = s;
done:
    if (status != SOTTO_OK)
        whitebox_sketch_clear(&s);
    return status;
}
