/* The loop around a training step. Everything random in it is a function of (seed, epoch or step, position),
 * so a run is resumed by loading the weights, the moments and the step number: the rest is drawn again. */
#include "ssl/pretrain.h"

#include "base/file.h"
#include "io/metric_log.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CHECKPOINT_SECONDS = 60 };

struct run {
    struct pretrain_setup setup;
    const struct sotto_dataset *data;
    const int64_t *rows;
    const struct sotto_context *ctx;
    struct nn_model *model;
    struct nn_plan *plan;
    struct nn_optimizer *optimizer;
    struct augmenter *augmenter;
    void *objective;            /* its state */
    struct metric_log *metrics; /* NULL: none */
    int64_t *order;             /* (images): rows in the order of the running epoch */
    uint64_t order_epoch;
    struct pretrain_progress progress;
    int resumed;
    uint64_t first_step; /* of this process */
    double started, saved;
    size_t planned_bytes;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- before the first step ---- */

static sotto_status make_model(struct run *r)
{
    const struct objective *objective = r->setup.objective;
    struct nn_model_config config = {.name = r->setup.options.encoder,
                                     .input = r->setup.input,
                                     .projector_count = objective->projector_count};
    memcpy(config.projector, objective->projector, sizeof config.projector);
    sotto_status status = nn_model_create(&r->model, &config, r->setup.options.seed);
    if (status == SOTTO_OK && nn_model_parameter_count(r->model, 0) == 0)
        status =
            status_fail(SOTTO_EINVAL, "'%s' is not an encoder: it has no layers below its head", config.name);
    return status;
}

static sotto_status make_step(struct run *r)
{
    sotto_status status = SOTTO_OK;
    const struct pretrain_setup *s = &r->setup;
    const struct sotto_pretrain_options *o = &s->options;
    struct nn_plan_config plan = {
        .batch = s->objective->views * o->batch, .dtype = s->dtype, .backend = s->backend, .training = 1};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    struct augment_config augment = {.strength = {o->min_area, o->brightness, o->jitter, 1},
                                     .channels = r->data->channels,
                                     .height = r->data->height,
                                     .width = r->data->width,
                                     .views = s->objective->views,
                                     .rotate = s->objective->rotate,
                                     .threads = s->threads};
    TRY(augmenter_create(&r->augmenter, &augment));
    TRY(nn_plan_create(&r->plan, r->model, &plan));
    TRY(nn_optimizer_create(&r->optimizer, r->model, &adam));
    struct objective_config config = {.batch = o->batch,
                                      .width = nn_model_output_width(r->model),
                                      .loss = o->loss,
                                      .temperature = o->temperature,
                                      .backend = s->backend};
    TRY(s->objective->create(&r->objective, &config));
    r->order = base_alloc(s->images, sizeof *r->order);
    if (!r->order)
        FAIL(SOTTO_ENOMEM, "pretrain: out of memory for the order of %zu images", s->images);
    r->order_epoch = UINT64_MAX;
    /* weights, gradients and two moments of Adam */
    size_t parameters = 4 * sizeof(float) * nn_model_parameter_count(r->model, 1);
    r->planned_bytes =
        nn_plan_bytes(r->plan) + augmenter_bytes(r->augmenter) + parameters + s->images * sizeof *r->order;
done:
    return status;
}

static void announce(const struct run *r)
{
    const struct pretrain_setup *s = &r->setup;
    context_log(r->ctx, SOTTO_LOG_INFO,
                "pretrain: %s, %s on %zux%zux%zu, %zu images of %s, %llu steps of %zu, %s on %s, %d threads, "
                "%.0f MiB planned",
                s->objective->name, s->options.encoder, s->input.channels, s->input.height, s->input.width,
                s->images, r->data->name, (unsigned long long)s->steps, s->options.batch,
                s->dtype == NN_BF16 ? "bf16" : "f32", nn_backend_title(s->backend), s->threads,
                (double)r->planned_bytes / (1 << 20));
    if (r->resumed)
        context_log(r->ctx, SOTTO_LOG_INFO, "pretrain: continuing at step %llu from %s",
                    (unsigned long long)r->progress.step, s->options.checkpoint);
}

static sotto_status resume(struct run *r)
{
    const char *path = r->setup.options.checkpoint;
    if (!path || !file_exists(path))
        return SOTTO_OK;
    r->resumed = 1;
    return checkpoint_load(path, &r->setup, r->model, r->optimizer, &r->progress, r->ctx);
}

/* ---- steps ---- */

static void shuffle(struct run *r, uint64_t epoch)
{
    if (r->order_epoch == epoch)
        return;
    memcpy(r->order, r->rows, r->setup.images * sizeof *r->order);
    struct rng random = rng_stream(r->setup.options.seed, RNG_ORDER, epoch, 0);
    rng_shuffle(&random, r->order, r->setup.images);
    r->order_epoch = epoch;
}

static sotto_status train_step(struct run *r)
{
    sotto_status status = SOTTO_OK;
    const struct pretrain_setup *s = &r->setup;
    uint64_t step = r->progress.step, seed = s->options.seed;
    double accuracy = 0;
    shuffle(r, step / s->steps_per_epoch);
    const int64_t *batch = r->order + step % s->steps_per_epoch * s->options.batch;
    augmenter_run(r->augmenter, nn_plan_input(r->plan), r->data->images, batch, s->options.batch, seed, step);
    nn_plan_forward(r->plan, 1, seed, step);
    double loss =
        s->objective->run(r->objective, nn_plan_diff_output(r->plan), &accuracy, nn_plan_output(r->plan));
    if (!isfinite(loss)) {
        status = status_fail(SOTTO_EDIVERGED, "pretrain: the loss became %s at step %llu (epoch %llu)",
                             isnan(loss) ? "NaN" : "infinite", (unsigned long long)step + 1,
                             (unsigned long long)(step / s->steps_per_epoch) + 1);
        status_hint("try a smaller learning rate (now %g) or a higher temperature (now %g)", s->options.lr,
                    s->options.temperature);
        goto done;
    }
    nn_plan_backward(r->plan);
    nn_optimizer_step(r->optimizer, r->model, schedule_at(&s->schedule, step));
    r->progress.loss_sum += loss;
    r->progress.accuracy_sum += accuracy;
    r->progress.step = step + 1;
done:
    return status;
}

static double rate(const struct run *r)
{
    double seconds = now() - r->started;
    uint64_t images = (r->progress.step - r->first_step) * r->setup.options.batch;
    return seconds > 0 ? (double)images / seconds : 0;
}

static sotto_status end_epoch(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct pretrain_progress *p = &r->progress;
    const struct pretrain_setup *s = &r->setup;
    p->epoch_loss = p->loss_sum / (double)s->steps_per_epoch;
    p->epoch_accuracy = p->accuracy_sum / (double)s->steps_per_epoch;
    p->loss_sum = p->accuracy_sum = 0;
    context_log(r->ctx, SOTTO_LOG_DEBUG, "pretrain: epoch %llu, loss %.4f, accuracy %.4f",
                (unsigned long long)(p->step / s->steps_per_epoch), p->epoch_loss, p->epoch_accuracy);
    double seconds = now() - r->started;
    TRY(metric_log_write(r->metrics, p->step, "train", "loss", p->epoch_loss, seconds));
    TRY(metric_log_write(r->metrics, p->step, "train", "accuracy", p->epoch_accuracy, seconds));
    TRY(metric_log_write(r->metrics, p->step, "train", "learning_rate",
                         schedule_at(&s->schedule, p->step - 1), seconds));
    TRY(metric_log_write(r->metrics, p->step, "train", "images_per_second", rate(r), seconds));
done:
    return status;
}

static sotto_status save(struct run *r)
{
    r->saved = now();
    if (!r->setup.options.checkpoint)
        return SOTTO_OK;
    return checkpoint_save(r->setup.options.checkpoint, &r->setup, r->model, r->optimizer, &r->progress);
}

static sotto_status stop(struct run *r)
{
    sotto_status status = SOTTO_OK;
    const char *path = r->setup.options.checkpoint;
    TRY(save(r));
    status = status_fail(SOTTO_ESTOPPED, "pretrain: stopped after step %llu of %llu",
                         (unsigned long long)r->progress.step, (unsigned long long)r->setup.steps);
    if (path)
        status_hint("the same call continues from %s", path);
done:
    return status;
}

static sotto_status train(struct run *r)
{
    sotto_status status = SOTTO_OK;
    const struct pretrain_setup *s = &r->setup;
    r->started = r->saved = now();
    r->first_step = r->progress.step;
    while (r->progress.step < s->steps) {
        TRY(train_step(r));
        context_progress(r->ctx, "pretrain", r->progress.step * s->options.batch, s->steps * s->options.batch,
                         "images");
        int epoch_done = r->progress.step % s->steps_per_epoch == 0;
        if (epoch_done)
            TRY(end_epoch(r));
        if (context_stopped(r->ctx) && r->progress.step < s->steps)
            TRY(stop(r));
        if (epoch_done || now() - r->saved >= CHECKPOINT_SECONDS)
            TRY(save(r));
    }
done:
    return status;
}

/* ---- after the last step ---- */

static sotto_status finish(struct sotto_encoder **out, struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    struct nn_model *model = r->model;
    nn_plan_free(r->plan); /* it points into the model, which the encoder now takes over */
    r->plan = NULL;
    r->model = NULL;
    TRY(encoder_wrap(&e, model, r->setup.options.encoder));
    TRY(encoder_add_fact(e, "method", r->setup.objective->name));
    TRY(encoder_add_fact(e, "recipe", r->setup.recipe));
    TRY(encoder_add_fact(e, "machine", r->setup.machine));
    TRY(encoder_add_fact(e, "data_set", r->data->name));
    TRY(encoder_add_fact(e, "data_sha256", r->data->sha256));
    if (r->data->synthetic)
        TRY(encoder_add_fact(e, "synthetic", "true"));
    TRY(encoder_add_fact(e, "version", sotto_version()));
    *out = e;
    e = NULL;
done:
    sotto_encoder_free(e);
    return status;
}

static void report(struct sotto_pretrain_result *result, const struct run *r)
{
    *result = (struct sotto_pretrain_result){.steps = r->progress.step,
                                             .loss = r->progress.epoch_loss,
                                             .accuracy = r->progress.epoch_accuracy,
                                             .seconds = now() - r->started,
                                             .images_per_second = rate(r),
                                             .planned_bytes = r->planned_bytes};
    snprintf(result->dtype, sizeof result->dtype, "%s", r->setup.dtype == NN_BF16 ? "bf16" : "f32");
    snprintf(result->backend, sizeof result->backend, "%s", nn_backend_title(r->setup.backend));
}

static void release(struct run *r)
{
    if (r->setup.objective && r->objective)
        r->setup.objective->release(r->objective);
    nn_plan_free(r->plan);
    nn_optimizer_free(r->optimizer);
    augmenter_free(r->augmenter);
    sotto_status closed = metric_log_close(r->metrics); /* still open on the way out of a failure */
    (void)closed;
    nn_model_free(r->model);
    base_free(r->order);
}

static sotto_status run(struct sotto_encoder **out, struct sotto_pretrain_result *result, struct run *r,
                        const struct sotto_pretrain_options *options, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    TRY(pretrain_resolve(&r->setup, r->data, r->rows, n, options, r->ctx));
    par_set_threads(r->setup.threads);
    TRY(make_model(r));
    TRY(make_step(r));
    TRY(resume(r));
    if (r->setup.options.metrics)
        TRY(metric_log_open(&r->metrics, r->setup.options.metrics));
    announce(r);
    if (!r->resumed)
        TRY(save(r)); /* so that a folder that cannot be written to is noticed now, not after an epoch */
    TRY(train(r));
    struct metric_log *metrics = r->metrics;
    r->metrics = NULL;
    TRY(metric_log_close(metrics));
    TRY(finish(&e, r));
    if (result)
        report(result, r);
    *out = e;
done:
    release(r);
    return status;
}

sotto_status sotto_pretrain(struct sotto_encoder **out, struct sotto_pretrain_result *result,
                            const struct sotto_dataset *data, const int64_t *rows, size_t n,
                            const struct sotto_pretrain_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    int64_t *all = NULL;
    if (!rows) {
        n = data->n;
        all = base_alloc(n, sizeof *all);
        if (!all)
            FAIL(SOTTO_ENOMEM, "pretrain: out of memory");
        for (size_t i = 0; i < n; i++)
            all[i] = (int64_t)i;
    }
    struct run r = {.data = data, .rows = rows ? rows : all, .ctx = ctx};
    TRY(run(out, result, &r, options, n));
done:
    base_free(all);
    return status;
}
