/* Supervised training of a whole network from a pre-trained encoder. The loop is that of every training; a
 * step sees one view an image, and its label. What comes out is two files' worth of weights and the stamp
 * that nothing is proved about them. */
#include "io/array/tensors.h"
#include "options/option_tables.h"
#include "train/plain/fine_tune.h"

#include "base/cpu.h"
#include "base/file.h"
#include "data/augment/augment.h"
#include "head/model/head_model.h"
#include "io/provenance/shaping.h"
#include "io/provenance/statement.h"
#include "nn/loop/autotuner.h"
#include "nn/loop/training_loop.h"
#include "options/option_values.h"
#include "par/par.h"
#include "sotto/option.h"
#include "ssl/encoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct tuning {
    const struct fine_tune_options *options;
    const struct sotto_encoder *from;
    const struct sotto_dataset *data;
    const struct sotto_context *ctx;
    struct sotto_autotune choice; /* of the backend */
    struct nn_model *model;
    struct nn_plan *plan;
    struct nn_optimizer *optimizer;
    struct augmenter *augmenter;
    struct epoch_order order;
    int64_t *labels; /* (batch) */
    size_t n, batch;
    double loss; /* mean of the last epoch */
};

void fine_tune_defaults(struct fine_tune_options *o)
{
    GIVEN_OR(, o);
    *o = (struct fine_tune_options){0};
    options_defaults(o, options_fine_tune);
}

/* ---- before the first step ---- */

static sotto_status check_options(const struct fine_tune_options *o)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(o->epochs >= 1 && o->epochs <= 1000000, "epochs must be at least 1 (got %zu)", o->epochs);
    REQUIRE(o->batch >= 1 && o->batch <= 1 << 20, "batch must be between 1 and %d (got %zu)", 1 << 20,
            o->batch);
    REQUIRE(o->lr > 0 && isfinite(o->lr), "lr must be > 0 (got %g)", o->lr);
    REQUIRE(o->seed <= INT64_MAX, "seed %llu is too large; expected less than 2^63",
            (unsigned long long)o->seed);
    REQUIRE(o->hidden_count <= FINE_TUNE_HIDDEN,
            "%zu hidden layers are too many; fine-tuning supports at most %d", o->hidden_count,
            FINE_TUNE_HIDDEN);
done:
    return status;
}

static sotto_status check_data(const struct tuning *t, const int64_t *rows)
{
    sotto_status status = SOTTO_OK;
    struct nn_shape wanted = nn_model_input(t->from->model), found;
    TRY(encoder_input(&found, t->data));
    REQUIRE(found.height == wanted.height && found.width == wanted.width,
            "data set '%s' has %zux%zu images, but the encoder was trained on %zux%zu", t->data->name,
            t->data->height, t->data->width, wanted.height, wanted.width);
    TRY(encoder_check_rows(t->data, rows, t->n));
    REQUIRE(t->data->labels && t->data->classes >= 2,
            "data set '%s' has no labels, or fewer than 2 classes; expected at least 2", t->data->name);
    size_t others = 0;
    for (size_t i = 0; i < t->n; i++)
        others += t->data->labels[rows[i]] != t->data->labels[rows[0]];
    REQUIRE(others > 0, "labels: all %zu records have class %lld; fine-tuning needs at least 2 classes", t->n,
            (long long)t->data->labels[rows[0]]);
done:
    return status;
}

static sotto_status make_model(struct tuning *t)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors weights = {0};
    const struct fine_tune_options *o = t->options;
    struct nn_model_config config = {.name = t->from->name,
                                     .input = nn_model_input(t->from->model),
                                     .normalised = nn_model_normalised(t->from->model),
                                     .projector_count = o->hidden_count + 1,
                                     .ctx = t->ctx};
    memcpy(config.projector, o->hidden, o->hidden_count * sizeof *config.projector);
    config.projector[o->hidden_count] = t->data->classes;
    const struct autotune_request request = {.dtype = "f32",
                                             .backend = o->backend,
                                             .model = &config,
                                             .batch = t->batch,
                                             .records = t->batch,
                                             .steps = (uint64_t)(t->n / t->batch) * o->epochs,
                                             .threads = par_threads(t->ctx)};
    TRY(autotune(&t->choice, &request, t->ctx));
    TRY(nn_model_create(&t->model, &config, o->seed));
    TRY(nn_model_export(&weights, t->from->model, "", 0));
    TRY(nn_model_import(t->model, &weights, "", 0));
done:
    sotto_tensors_clear(&weights);
    return status;
}

static sotto_status make_step(struct tuning *t, const int64_t *rows)
{
    sotto_status status = SOTTO_OK;
    const struct fine_tune_options *o = t->options;
    int threads = par_threads(t->ctx);
    par_set_threads(threads);
    struct nn_plan_config plan = {.batch = t->batch,
                                  .dtype = NN_F32,
                                  .backend = autotune_backend(&t->choice),
                                  .training = 1,
                                  .ctx = t->ctx};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    struct augment_config augment = {
        .strength = {.min_area = o->min_area, .brightness = o->brightness, .jitter = o->jitter, .flip = 1},
        .channels = t->data->channels,
        .height = t->data->height,
        .width = t->data->width,
        .views = 1,
        .threads = threads,
        .ctx = t->ctx};
    TRY(augmenter_create(&t->augmenter, &augment));
    TRY(nn_plan_create(&t->plan, t->model, &plan));
    TRY(nn_optimizer_create(&t->optimizer, t->model, &adam));
    TRY(epoch_order_make(&t->order, rows, t->n, t->batch, o->seed));
    NEW(t->labels, t->batch);
done:
    return status;
}

/* ---- steps ---- */

static sotto_status fine_tune_draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    struct tuning *t = state;
    *rows = epoch_order_batch(&t->order, step);
    *n = t->batch;
    return SOTTO_OK;
}

static sotto_status fine_tune_gradient(struct training_batch *out, void *state, const int64_t *rows, size_t n,
                                       uint64_t step)
{
    sotto_status status = SOTTO_OK;
    struct tuning *t = state;
    uint64_t seed = t->options->seed;
    for (size_t i = 0; i < n; i++)
        t->labels[i] = t->data->labels[rows[i]];
    TRY(augmenter_run(t->augmenter, nn_plan_input(t->plan), t->data->images,
                      &(struct augment_part){.rows = rows, .n = n, .room = n}, seed, step));
    TRY(nn_plan_forward(t->plan, 1, seed, step));
    out->loss = loss_softmax_cross_entropy(nn_plan_diff_output(t->plan), nn_plan_output(t->plan), t->labels,
                                           n, t->data->classes);
    TRY(nn_plan_backward(t->plan));
done:
    return status;
}

static sotto_status fine_tune_train(struct tuning *t)
{
    const struct fine_tune_options *o = t->options;
    size_t steps = t->n / t->batch;
    char hint[96];
    snprintf(hint, sizeof hint, "try a smaller lr (now %g)", o->lr);
    struct training_loop loop = {.stage = "fine-tune",
                                 .unit = "images",
                                 .hint = hint,
                                 .origin = {.steps = (uint64_t)steps * o->epochs},
                                 .schedule = {.kind = SCHEDULE_CONSTANT, .lr = o->lr},
                                 .batch = t->batch,
                                 .steps_per_epoch = steps,
                                 .model = t->model,
                                 .optimizer = t->optimizer,
                                 .step = {.state = t, .draw = fine_tune_draw, .gradient = fine_tune_gradient},
                                 .ctx = t->ctx};
    sotto_status status = training_loop_run(&loop);
    t->loss = loop.progress.epoch_loss;
    return status;
}

/* ---- after the last step ---- */

/* The layers above the embedding, "projector.0", "projector.2", ..., are the head's. */
static sotto_status take_head(struct sotto_head **out, const struct tuning *t)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors tensors = {0};
    struct sotto_head *h = NULL;
    size_t layers = t->options->hidden_count + 1, width[HEAD_MAX_LAYERS + 1];
    TRY(nn_model_export(&tensors, t->model, "", 1));
    width[0] = nn_model_embedding_width(t->model);
    memcpy(width + 1, t->options->hidden, t->options->hidden_count * sizeof *width);
    width[layers] = t->data->classes;
    TRY(head_create(&h, layers, width));
    for (size_t l = 0; l < layers; l++) {
        static const char *const parts[] = {"weight", "bias"};
        float *place = h->parameters + head_offset(h, l);
        for (size_t i = 0; i < 2; i++) {
            char name[64];
            snprintf(name, sizeof name, "projector.%zu.%s", 2 * l, parts[i]);
            const struct sotto_array *a = tensors_find(&tensors, name);
            if (!a)
                FAIL(SOTTO_EINTERNAL, "fine-tune: the network has no tensor '%s'", name);
            memcpy(place, a->data, a->count * sizeof *place);
            place += a->count;
        }
    }
    h->no_statement = true;
    *out = h;
    h = NULL;
done:
    sotto_head_free(h);
    sotto_tensors_clear(&tensors);
    return status;
}

static sotto_status take_encoder(struct sotto_encoder **out, struct tuning *t)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    struct nn_model *model = t->model;
    const struct fine_tune_options *o = t->options;
    struct sotto_provenance shaped = {0};
    char recipe[256], machine[160], *before = NULL;
    nn_plan_free(t->plan); /* it points into the model, which the encoder takes over */
    t->plan = NULL;
    t->model = NULL;
    TRY(encoder_wrap(&e, model, t->from->name));
    snprintf(recipe, sizeof recipe,
             "epochs=%zu\nbatch=%zu\nlr=%.17g\nseed=%llu\nmin_area=%.17g\nbrightness=%.17g\njitter=%.17g\n",
             o->epochs, t->batch, o->lr, (unsigned long long)o->seed, o->min_area, o->brightness, o->jitter);
    TRY(encoder_add_fact(e, "method", "fine-tune"));
    TRY(encoder_add_fact(e, "recipe", recipe));
    snprintf(machine, sizeof machine, "threads=%d\nisa=%s\nbackend=%s\n", par_threads(t->ctx),
             cpu_isa_name(cpu_best_isa()), nn_backend_title(autotune_backend(&t->choice)));
    TRY(encoder_add_fact(e, "machine", machine));
    TRY(encoder_add_fact(e, "from", t->from->weights_sha256));
    TRY(sotto_encoder_shape(&shaped, t->from, NULL));
    if (shaped.shapings) {
        TRY(shapings_text(&before, &shaped));
        TRY(encoder_add_fact(e, SHAPED_KEY, before));
    }
    TRY(encoder_add_fact(e, "data_set", t->data->name));
    TRY(encoder_add_fact(e, STATEMENT_KEY, STATEMENT_NONE));
    if (t->data->synthetic)
        TRY(encoder_add_fact(e, "synthetic", "true"));
    TRY(encoder_add_fact(e, "version", sotto_version()));
    *out = e;
    e = NULL;
done:
    sotto_provenance_clear(&shaped);
    sotto_text_free(before);
    sotto_encoder_free(e);
    return status;
}

static void fine_tune_release(struct tuning *t)
{
    nn_plan_free(t->plan);
    nn_optimizer_free(t->optimizer);
    augmenter_free(t->augmenter);
    nn_model_free(t->model);
    base_free(t->order.order);
    base_free(t->labels);
}

sotto_status fine_tune_encoder(struct sotto_encoder **encoder, struct sotto_head **head, double *loss,
                               const struct sotto_encoder *from, const struct sotto_dataset *data,
                               const int64_t *rows, size_t n, const struct fine_tune_options *options,
                               const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(encoder, head, from, data, !n || rows);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct fine_tune_options o;
    struct tuning t = {.options = &o, .from = from, .data = data, .ctx = ctx, .n = n};
    struct sotto_encoder *e = NULL;
    struct sotto_head *h = NULL;
    TRY(sotto_options_resolve(&o, options, options_fine_tune));
    TRY(check_options(&o));
    t.batch = o.batch < n ? o.batch : n;
    TRY(check_data(&t, rows));
    TRY(make_model(&t));
    TRY(make_step(&t, rows));
    TRY(fine_tune_train(&t));
    TRY(take_head(&h, &t));
    TRY(take_encoder(&e, &t));
    if (loss)
        *loss = t.loss;
    *encoder = e;
    *head = h;
    h = NULL;
done:
    par_set_threads(pool);
    sotto_head_free(h);
    fine_tune_release(&t);
    return status;
}
