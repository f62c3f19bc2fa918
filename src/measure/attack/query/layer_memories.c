#include "attack/query/layer_memories.h"

#include "attack/shadow/shadow_pool.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { BATCH = 32, STEPS = 20 };

void layer_memories_clear(struct layer_memories *m)
{
    for (size_t i = 0; m->proxy && i < m->layers * m->proxies; i++)
        sotto_network_free(m->proxy[i]);
    base_free(m->proxy);
    nn_plan_free(m->plan);
    nn_model_free(m->model);
    *m = (struct layer_memories){0};
}

static sotto_status make_reader(struct layer_memories *m, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct nn_backend *backend;
    int pool = par_pool_threads();
    REQUIRE(m->network->config.members <= 1,
            "network: an ensemble has no layers in a row; expected one network");
    TRY(nn_backend_find(&backend, "auto"));
    TRY(nn_model_create(&m->model, &m->network->config, 0));
    m->threads = nn_threads_worth(BATCH * nn_model_work(m->model), par_threads(ctx));
    par_set_threads(m->threads);
    TRY(nn_plan_create(
        &m->plan, m->model,
        &(struct nn_plan_config){
            .batch = BATCH, .dtype = NN_F32, .backend = backend, .training = 1, .every_result = 1}));
done:
    par_set_threads(pool);
    return status;
}

sotto_status layer_memories_make(struct layer_memories *out, const struct sotto_network *network,
                                 size_t layers, size_t proxies, const struct head_data *own,
                                 const struct sotto_train_options *options, uint64_t seed,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct layer_memories *m = out;
    struct sotto_train_options o = *options;
    struct rng draw = rng_stream(seed, RNG_SPLIT, 5, 1);
    *m = (struct layer_memories){.network = network, .proxies = proxies};
    TRY(make_reader(m, ctx));
    m->layers = plan_cuts(m->cut, layers, m->plan);
    REQUIRE(m->layers > 0, "network: no layer below the last one; stolen-memories reads the last layer");
    NEW_ROWS(m->proxy, m->layers, proxies);
    for (size_t i = 0; i < m->layers * proxies; i++) {
        size_t cut = m->cut[i / proxies];
        m->shape[i / proxies] = model_shape(m->model, (int)cut);
        o.seed = rng_u64(&draw) >> 1;
        TRY(shadow_network_train_top(&m->proxy[i], network, cut + 1, own, &o, ctx));
        context_progress(ctx, "proxies", i + 1, m->layers * proxies, "networks");
    }
done:
    return status;
}

/* ---- reading ---- */

struct reading {
    struct layer_memories *m;
    const struct head_data *records;
    struct record_input input;
};

static sotto_status read_from(struct reading *r, struct layer_memories *m, const struct sotto_network *n,
                              const struct head_data *records)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors weights = {0};
    const struct sotto_dataset rows = {.features = records->x};
    *r = (struct reading){.m = m, .records = records};
    TRY(nn_model_export(&weights, n->model, "", 1));
    TRY(nn_model_import(m->model, &weights, "", 1));
    record_input_make(&r->input, &rows, n->record, n->config.input, m->threads);
done:
    sotto_tensors_clear(&weights);
    return status;
}

/* A batch from record `first` on, filled up with its last one; *count: how many are its own. */
static sotto_status read_batch(size_t *count, int64_t labels[BATCH], struct reading *r, size_t first)
{
    int64_t batch[BATCH];
    *count = r->records->n - first < BATCH ? r->records->n - first : BATCH;
    for (size_t i = 0; i < BATCH; i++) {
        batch[i] = (int64_t)(first + (i < *count ? i : *count - 1));
        labels[i] = r->records->y[batch[i]];
    }
    record_input_fill(nn_plan_input(r->m->plan), &r->input, batch, BATCH, NULL);
    return nn_plan_forward(r->m->plan, 0, 0, 0);
}

static sotto_status layer_memories_add(double *score, double *map, struct layer_memories *m,
                                       const struct sotto_network *n, size_t l,
                                       const struct head_data *records, double weight)
{
    sotto_status status = SOTTO_OK;
    struct reading r;
    size_t count, values = shape_count(m->shape[l]);
    int64_t labels[BATCH];
    TRY(read_from(&r, m, n, records));
    for (size_t first = 0; first < records->n; first += count) {
        TRY(read_batch(&count, labels, &r, first));
        TRY(plan_influence_add(score + first, map ? map + first * values : NULL, m->plan, m->cut[l], labels,
                               count, STEPS, weight));
    }
done:
    return status;
}

sotto_status layer_memories_score(double *score, double *map, struct layer_memories *m, size_t l,
                                  const struct head_data *records, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    int pool = par_set_threads(m->threads);
    memset(score, 0, records->n * sizeof *score);
    if (map)
        memset(map, 0, records->n * shape_count(m->shape[l]) * sizeof *map);
    nn_plan_set_context(m->plan, ctx);
    TRY(layer_memories_add(score, map, m, m->network, l, records, 1));
    for (size_t p = 0; p < m->proxies; p++)
        TRY(layer_memories_add(score, map, m, m->proxy[l * m->proxies + p], l, records,
                               -1 / (double)m->proxies));
done:
    nn_plan_set_context(m->plan, NULL);
    par_set_threads(pool);
    return status;
}

sotto_status layer_memories_activation(double *out, struct layer_memories *m, size_t l, size_t unit,
                                       const struct head_data *records, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct reading r;
    const size_t channels = m->shape[l].channels, places = shape_count(m->shape[l]) / channels;
    const float *h = plan_activation(m->plan, (int)m->cut[l])->data;
    int pool = par_set_threads(m->threads);
    size_t count;
    int64_t labels[BATCH];
    nn_plan_set_context(m->plan, ctx);
    TRY(read_from(&r, m, m->network, records));
    for (size_t first = 0; first < records->n; first += count) {
        TRY(read_batch(&count, labels, &r, first));
        for (size_t i = 0; i < count; i++) {
            out[first + i] = 0;
            for (size_t k = 0; k < places; k++)
                out[first + i] += (double)h[(i * places + k) * channels + unit] / (double)places;
        }
    }
done:
    nn_plan_set_context(m->plan, NULL);
    par_set_threads(pool);
    return status;
}

/* ---- explanations ---- */

/* The unit of layer l with the largest displacement, if its share is larger than that of *out. */
static void layer_memories_consider(struct memory_explanation *out, const struct layer_memories *m, size_t l,
                                    const double *map)
{
    const size_t channels = m->shape[l].channels, places = shape_count(m->shape[l]) / channels;
    double all = 0, largest = 0;
    size_t unit = 0;
    for (size_t c = 0; c < channels; c++) {
        double sum = 0;
        for (size_t k = 0; k < places; k++)
            sum += map[k * channels + c];
        all += fmax(sum, 0);
        if (sum > largest)
            largest = sum, unit = c;
    }
    if (all > 0 && largest / all > out->share) {
        out->layer = l, out->unit = unit;
        out->displacement = largest, out->share = largest / all;
    }
}

/* The unit's places over the picture, which may have been padded; 1 is the brightest. */
static void layer_memories_enlarge(float *to, const struct layer_memories *m,
                                   const struct memory_explanation *e, const double *map)
{
    const struct nn_shape s = m->shape[e->layer], in = m->network->config.input, r = m->network->record;
    const size_t top = (in.height - r.height) / 2, left = (in.width - r.width) / 2;
    double largest = 1e-300;
    for (size_t k = 0; k < s.height * s.width; k++)
        largest = fmax(largest, map[k * s.channels + e->unit]);
    for (size_t y = 0; y < r.height; y++)
        for (size_t x = 0; x < r.width; x++) {
            size_t at = (y + top) * s.height / in.height * s.width + (x + left) * s.width / in.width;
            to[y * r.width + x] = (float)(fmax(map[at * s.channels + e->unit], 0) / largest);
        }
}

sotto_status memory_explain(struct memory_explanation *out, struct layer_memories *m,
                            const struct head_data *record, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct memory_explanation e = {0};
    const struct nn_shape r = m->network->record;
    double *map[PLAN_CUTS] = {NULL}, score;
    bool places = false;
    for (size_t l = 0; l < m->layers; l++)
        places = places || m->shape[l].height * m->shape[l].width > 1;
    NEW_ROWS(e.map, r.height, r.width);
    for (size_t l = 0; l < m->layers; l++) {
        if (places && m->shape[l].height * m->shape[l].width == 1)
            continue;
        NEW(map[l], shape_count(m->shape[l]));
        TRY(layer_memories_score(&score, map[l], m, l, record, ctx));
        layer_memories_consider(&e, m, l, map[l]);
    }
    if (e.share > 0)
        layer_memories_enlarge(e.map, m, &e, map[e.layer]);
    *out = e;
    e.map = NULL;
done:
    for (size_t l = 0; l < PLAN_CUTS; l++)
        base_free(map[l]);
    base_free(e.map);
    return status;
}
