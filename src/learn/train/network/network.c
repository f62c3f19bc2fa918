/* Queries go through a plan of one fixed size, the last batch filled up with repeats: the rows around a
 * record do not change its bits. */
#include "sotto/lab/release.h"
#include "train/network/network.h"

#include "io/array/tensors.h"
#include "io/provenance/statement.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "par/par.h"
#include "rng/noise.h"

#include <math.h>
#include <string.h>

enum { BATCH = 64 };

/* ---- the object ---- */

sotto_status network_wrap(struct sotto_network **out, struct nn_model *model,
                          const struct nn_model_config *config, struct nn_shape record)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors tensors = {0};
    struct sotto_network *n = base_alloc(1, sizeof *n);
    if (!n) {
        nn_model_free(model);
        FAIL(SOTTO_ENOMEM, "network: out of memory");
    }
    n->model = model;
    n->config = *config;
    n->record = record;
    TRY(nn_model_export(&tensors, model, "", 1));
    TRY(nn_tensors_sha256(n->weights_sha256, &tensors, "network"));
    *out = n;
    n = NULL;
done:
    sotto_tensors_clear(&tensors);
    sotto_network_free(n);
    return status;
}

sotto_status network_add_fact(struct sotto_network *n, const char *key, const char *value)
{
    sotto_status status = SOTTO_OK;
    char *key_copy = NULL, *value_copy = NULL;
    if (n->fact_count == NETWORK_FACTS)
        FAIL(SOTTO_EINTERNAL, "network: too many facts");
    NEW_TEXT(key_copy, key);
    NEW_TEXT(value_copy, value);
    n->facts[2 * n->fact_count] = key_copy;
    n->facts[2 * n->fact_count + 1] = value_copy;
    n->fact_count++;
    key_copy = value_copy = NULL;
done:
    base_free(key_copy);
    base_free(value_copy);
    return status;
}

/* The stamp "no privacy statement" goes where all that trained the network was released. */
static sotto_status replace_statement(struct sotto_network *n, const char *text)
{
    sotto_status status = SOTTO_OK;
    char *copy = NULL;
    for (size_t i = 0; i < n->fact_count; i++)
        if (strcmp(n->facts[2 * i], STATEMENT_KEY) == 0) {
            NEW_TEXT(copy, text);
            base_free(n->facts[2 * i + 1]);
            n->facts[2 * i + 1] = copy;
        }
done:
    return status;
}

sotto_status sotto_network_set_released_inputs(struct sotto_network *n,
                                               const struct sotto_released_inputs *released)
{
    REQUIRE_GIVEN(n, released);
    sotto_status status = SOTTO_OK;
    if (!released->text[0])
        goto done;
    TRY(network_add_fact(n, RELEASED_TEXT_KEY, released->text));
    if (released->entry[0]) {
        TRY(network_add_fact(n, RELEASED_ENTRY_KEY, released->entry));
        TRY(replace_statement(n, released->text));
    }
done:
    return status;
}

void sotto_network_free(struct sotto_network *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < 2 * n->fact_count; i++)
        base_free(n->facts[i]);
    nn_model_free(n->model);
    base_free(n);
}

size_t sotto_network_inputs(const struct sotto_network *n)
{
    GIVEN_OR(0, n);
    return n->record.channels * n->record.height * n->record.width;
}

size_t sotto_network_classes(const struct sotto_network *n)
{
    GIVEN_OR(0, n);
    return n->config.classes;
}

size_t sotto_network_parameters(const struct sotto_network *n)
{
    GIVEN_OR(0, n);
    return nn_model_parameter_count(n->model, 1);
}

const char *sotto_network_sha256(const struct sotto_network *n)
{
    GIVEN_OR(NULL, n);
    return n->weights_sha256;
}

void network_take_recipe(struct sotto_network *n, const struct sotto_train_options *o)
{
    n->has_recipe = true;
    n->recipe = *o;
    n->recipe.checkpoint = n->recipe.metrics = n->recipe.from = n->recipe.standardise = NULL;
    n->recipe.snapshots = NULL;
    n->recipe.snapshot_every = 0;
    n->stated = n->recipe;
    options_state(&n->stated, options_train);
}

const struct sotto_train_options *sotto_network_recipe(const struct sotto_network *n)
{
    GIVEN_OR(NULL, n);
    return n->has_recipe ? &n->stated : NULL;
}

const char *network_fact(const struct sotto_network *n, const char *key)
{
    for (size_t i = 0; i < n->fact_count; i++)
        if (strcmp(n->facts[2 * i], key) == 0)
            return n->facts[2 * i + 1];
    return NULL;
}

const char *network_statement(const struct sotto_network *n)
{
    GIVEN_OR(NULL, n);
    const char *text = network_fact(n, STATEMENT_KEY);
    return text ? text : "";
}

sotto_status sotto_network_set_answers(struct sotto_network *n, const struct sotto_answer_options *options)
{
    REQUIRE_GIVEN(n);
    sotto_status status = SOTTO_OK;
    const struct sotto_option *table = options_answer;
    struct sotto_answer_options o;
    TRY(sotto_options_resolve(&o, options, table));
    TRY(sotto_options_check(&o, table, NULL));
    REQUIRE((unsigned)o.average <= SOTTO_AVERAGE_SOFTMAX,
            "average is unknown; expected a value of enum sotto_average");
    n->seeded = options && options->seed != 0; /* a stated 0 is a mark, and resolved to 0 */
    n->noise_seed = o.seed;
    n->repeats = o.repeats;
    n->mean_of_probabilities = o.average == SOTTO_AVERAGE_SOFTMAX;
done:
    return status;
}

/* ---- answers ---- */

bool network_is_noisy(const struct sotto_network *n)
{
    return n->config.noise.kind != NN_NOISE_NONE || n->config.input_noise > 0;
}

/* Noise in answers is fresh: no query gets the same noise again, unless the caller said so. */
static sotto_status draw_seed(uint64_t *seed, const struct sotto_network *n)
{
    sotto_status status = SOTTO_OK;
    struct noise *random = NULL;
    *seed = n->noise_seed;
    if (n->seeded || !network_is_noisy(n))
        goto done;
    TRY(noise_open(&random));
    *seed = noise_u64(random);
done:
    noise_close(random);
    return status;
}

sotto_status network_query_make(struct network_query *out, const struct sotto_network *n, bool embedding,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct network_query a = {.network = n,
                              .embedding = embedding,
                              .width = embedding ? nn_model_embedding_width(n->model) : n->config.classes,
                              .threads = nn_threads_worth(BATCH * nn_model_work(n->model), par_threads(ctx))};
    NEW(a.workers, (size_t)a.threads);
    TRY(draw_seed(&a.noise_seed, n));
    *out = a;
    a = (struct network_query){0};
done:
    network_query_clear(&a);
    return status;
}

void network_query_clear(struct network_query *a)
{
    for (int i = 0; a->workers && i < a->threads; i++) {
        nn_plan_free(a->workers[i].plan);
        base_free(a->workers[i].sum);
    }
    base_free(a->workers);
    *a = (struct network_query){0};
}

/* The first `count` workers, those that earlier queries made among them. */
static sotto_status network_workers_make(struct network_query *a, int count, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct nn_backend *backend;
    TRY(nn_backend_find(&backend, "auto"));
    const struct nn_plan_config config = {
        .batch = BATCH, .dtype = NN_F32, .backend = backend, .embedding_only = a->embedding, .ctx = ctx};
    for (int i = 0; i < count; i++) {
        struct network_worker *w = &a->workers[i];
        if (!w->plan)
            TRY(nn_plan_create(&w->plan, a->network->model, &config));
        if (!w->sum && a->network->repeats > 1)
            NEW(w->sum, BATCH * a->width);
        nn_plan_set_context(w->plan, ctx);
    }
done:
    return status;
}

/* Passes of one batch. */
static size_t network_repeats(const struct network_query *a)
{
    return a->network->repeats > 1 ? a->network->repeats : 1;
}

/* sum (BATCH, k) += share times the probabilities of logits z. */
static void add_probabilities(float *sum, const float *z, size_t k, double share)
{
    for (size_t r = 0; r < BATCH; r++, z += k, sum += k) {
        double top = (double)z[0], total = 0;
        for (size_t j = 1; j < k; j++)
            top = fmax(top, (double)z[j]);
        for (size_t j = 0; j < k; j++)
            total += exp((double)z[j] - top);
        for (size_t j = 0; j < k; j++)
            sum[j] += (float)(share * exp((double)z[j] - top) / total);
    }
}

/* Answers to the batch in the plan's input, averaged over repeats, whose noise starts at `step`; borrowed. */
static sotto_status network_ask(const float **out, const struct network_query *a, struct network_worker *w,
                                uint64_t step)
{
    sotto_status status = SOTTO_OK;
    const float *answer = nn_plan_output(w->plan);
    size_t repeats = network_repeats(a), cells = BATCH * a->width;
    bool probabilities =
        w->sum && a->network->mean_of_probabilities && a->width == a->network->config.classes;
    for (size_t k = 0; k < repeats; k++) {
        TRY(nn_plan_forward(w->plan, 0, a->noise_seed, step + k));
        if (!w->sum)
            break;
        if (k == 0)
            memset(w->sum, 0, cells * sizeof *w->sum);
        if (probabilities)
            add_probabilities(w->sum, answer, a->width, 1 / (double)repeats);
        for (size_t i = 0; !probabilities && i < cells; i++)
            w->sum[i] += answer[i] / (float)repeats;
    }
    for (size_t i = 0; probabilities && i < cells; i++)
        w->sum[i] = logf(fmaxf(w->sum[i], 1e-30f));
    *out = w->sum ? w->sum : answer;
done:
    return status;
}

struct network_run {
    float *out;
    const struct network_query *query;
    const struct record_input *source;
    const int64_t *rows;
    const struct record_view *views; /* BATCH, or NULL */
    size_t n, done;                  /* batches before this round */
};

static sotto_status network_batch(void *user, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    const struct network_run *run = user;
    const struct network_query *a = run->query;
    struct network_worker *w = &a->workers[thread];
    const size_t index = run->done + chunk, first = index * BATCH, left = run->n - first,
                 count = left < BATCH ? left : BATCH;
    const float *answers;
    int64_t batch[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        const size_t at = first + (i < count ? i : count - 1);
        batch[i] = run->rows ? run->rows[at] : (int64_t)at;
    }
    record_input_fill(nn_plan_input(w->plan), run->source, batch, BATCH, run->views);
    TRY(network_ask(&answers, a, w, a->step + index * network_repeats(a)));
    memcpy(run->out + first * a->width, answers, count * a->width * sizeof *run->out);
done:
    return status;
}

/* Rows are where `source` says, BATCH at a time. */
static sotto_status network_run(float *out, struct network_query *a, const struct record_input *source,
                                const int64_t *rows, size_t n, const struct record_view *view,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const int pool = par_pool_threads();
    const size_t batches = (n + BATCH - 1) / BATCH,
                 count = batches < (size_t)a->threads ? batches : (size_t)a->threads;
    struct record_view views[BATCH];
    struct network_run run = {out, a, source, rows, view ? views : NULL, n, 0};
    for (size_t i = 0; view && i < BATCH; i++)
        views[i] = *view;
    par_set_threads(1);
    TRY(network_workers_make(a, (int)count, ctx));
    for (size_t round; run.done < batches; run.done += round) {
        round = batches - run.done < count ? batches - run.done : count;
        TRY(context_check(ctx, "network: stopped after %zu of %zu records", run.done * BATCH, n));
        TRY(par_chunks(round, (int)count, network_batch, &run));
    }
    a->step += batches * network_repeats(a);
done:
    for (int i = 0; i < a->threads; i++)
        if (a->workers[i].plan)
            nn_plan_set_context(a->workers[i].plan, NULL);
    par_set_threads(pool);
    return status;
}

sotto_status network_query_run(float *out, struct network_query *a, const float *x, size_t n,
                               const struct record_view *view, const struct sotto_context *ctx)
{
    struct record_input source;
    struct sotto_dataset rows = {.features = x};
    record_input_make(&source, &rows, a->network->record, a->network->config.input, 1);
    return network_run(out, a, &source, NULL, n, view, ctx);
}

void network_softmax(float *z, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++, z += k) {
        double top = (double)z[0], sum = 0;
        for (size_t j = 1; j < k; j++)
            top = fmax(top, (double)z[j]);
        for (size_t j = 0; j < k; j++)
            sum += exp((double)z[j] - top);
        for (size_t j = 0; j < k; j++)
            z[j] = (float)(exp((double)z[j] - top) / sum);
    }
}

sotto_status sotto_network_predict(float *out, const struct sotto_network *network, const float *x, size_t n,
                                   size_t d, int logits, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, network, !n || x);
    sotto_status status = SOTTO_OK;
    struct network_query a = {0};
    size_t inputs = sotto_network_inputs(network);
    REQUIRE(d == inputs, "rows have %zu numbers; expected %zu, as in the network's training", d, inputs);
    for (size_t i = 0; i < n * d; i++)
        REQUIRE(isfinite(x[i]), "row %zu, column %zu is not finite; features must be finite", i / d, i % d);
    TRY(network_query_make(&a, network, false, ctx));
    TRY(network_query_run(out, &a, x, n, NULL, ctx));
    if (!logits)
        network_softmax(out, n, network->config.classes);
done:
    network_query_clear(&a);
    return status;
}

sotto_status sotto_network_predict_data(float *out, const struct sotto_network *network,
                                        const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                        int logits, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, network, data);
    sotto_status status = SOTTO_OK;
    struct network_query a = {0};
    struct record_input source;
    struct nn_shape r = network->record, found = r;
    if (data->images)
        TRY(record_shape(&found, data, (struct nn_shape){0}));
    REQUIRE(memcmp(&r, &found, sizeof r) == 0 &&
                (data->images || data->columns == sotto_network_inputs(network)),
            "data set '%s' has records of %zu numbers (%zux%zux%zu); the network was trained on %zux%zux%zu",
            data->name, data->images ? found.channels * found.height * found.width : data->columns,
            found.channels, found.height, found.width, r.channels, r.height, r.width);
    REQUIRE(rows || n <= data->n, "data set '%s' has %zu records; expected %zu", data->name, data->n, n);
    for (size_t i = 0; rows && i < n; i++)
        REQUIRE(rows[i] >= 0 && (uint64_t)rows[i] < data->n,
                "row index %lld (at position %zu) is outside data set '%s' with %zu records",
                (long long)rows[i], i, data->name, data->n);
    TRY(network_query_make(&a, network, false, ctx));
    record_input_make(&source, data, r, network->config.input, 1);
    TRY(network_run(out, &a, &source, rows, n, NULL, ctx));
    if (!logits)
        network_softmax(out, n, network->config.classes);
done:
    network_query_clear(&a);
    return status;
}

bool network_has_layers(const struct sotto_network *n)
{
    return nn_model_parameter_count(n->model, 0) > 0;
}

sotto_status network_last_layer(struct sotto_head **out, const struct sotto_network *n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct sotto_head *h = NULL;
    double *scale = NULL;
    size_t width[2] = {nn_model_embedding_width(n->model), n->config.classes};
    TRY(nn_model_export(&t, n->model, "", 1));
    const struct sotto_array *weight = tensors_find(&t, "classifier.weight"),
                             *bias = tensors_find(&t, "classifier.bias");
    REQUIRE(n->config.members <= 1, "network: an ensemble has no single last layer; expected one network");
    if (!weight || !bias || weight->count != width[0] * width[1] || bias->count != width[1])
        FAIL(SOTTO_EINTERNAL, "network: the last layer is not linear");
    TRY(head_create(&h, 1, width));
    NEW_ROWS(scale, width[0], 2);
    nn_model_get_standardise(scale, scale + width[0], n->model);
    for (size_t k = 0; k < width[1]; k++) {
        const float *row = (const float *)weight->data + k * width[0];
        double sum = (double)((const float *)bias->data)[k];
        for (size_t c = 0; c < width[0]; c++) {
            h->parameters[k * width[0] + c] = (float)((double)row[c] * scale[c]);
            sum += (double)row[c] * scale[width[0] + c];
        }
        h->parameters[weight->count + k] = (float)sum;
    }
    *out = h;
    h = NULL;
done:
    base_free(scale);
    sotto_head_free(h);
    sotto_tensors_clear(&t);
    return status;
}
