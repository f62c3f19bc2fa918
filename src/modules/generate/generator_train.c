/* A training run of a generative model: the loop of nn/loop/training_loop.h moves the maker, and each step moves the reader
 * beside it. */
#include "generate/generator.h"

#include "base/cpu.h"
#include "base/sha256.h"
#include "io/table/metric_log.h"
#include "nn/optimizer/optimizer.h"
#include "options/module_tables.h"
#include "par/par.h"
#include "rng/rng.h"
#include "sotto/option.h"

#include <stdio.h>
#include <string.h>

enum {
    REPORT_STEPS = 100
}; /* metrics and checkpoints come after so many steps or more, at the end of a pass */

static const double LONG_STEP = 7e8; /* multiplications of one pass through both networks */

struct run {
    struct sotto_generator_options options;
    const struct sotto_dataset *data;
    const int64_t *rows;
    size_t n;
    const struct generator_others *others;
    const struct sotto_context *ctx;
    const struct nn_backend *backend;
    struct sotto_generator *g;
    struct nn_optimizer *optimizer; /* the maker's */
    struct generator_step step;
    struct epoch_order order;
    int64_t *chosen; /* (batches of a step, batch) */
    struct checkpoint_second second;
    struct {
        float *values, *statistics;
        struct nn_optimizer *optimizer;
    } before; /* the reader's, of a step that may be stopped half-way; NULL: a step is short, and ends first */
    struct training_loop loop;
    char recipe[1024], machine[160];
};

static void generator_train_describe(struct run *r)
{
    const struct sotto_generator_options *o = &r->options;
    char chosen[SHA256_HEX];
    sha256_of(chosen, r->rows, r->n * sizeof *r->rows);
    snprintf(r->recipe, sizeof r->recipe,
             "model=%s\nsteps=%zu\nbatch=%zu\nwidth=%zu\nlr=%.17g\nseed=%llu\ndtype=f32\ndata=%s\nimages=%"
             "zu\nrows=%s\n",
             o->model, o->steps, o->batch, o->width, o->lr, (unsigned long long)o->seed, r->data->sha256,
             r->n, chosen);
    snprintf(r->machine, sizeof r->machine, "threads=%d\nisa=%s\nbackend=%s\n", par_pool_threads(),
             cpu_isa_name(cpu_best_isa()), nn_backend_title(r->backend));
}

static sotto_status generator_train_resolve(struct run *r, const struct sotto_generator_options *options)
{
    sotto_status status = SOTTO_OK;
    const struct generator_kind *kind = NULL;
    TRY(sotto_options_resolve(&r->options, options, options_generator));
    struct sotto_generator_options *o = &r->options;
    TRY(generator_kind_find(&kind, o->model));
    if (!(o->lr == o->lr))
        o->lr = kind->lr;
    TRY(sotto_options_check(o, options_generator, "steps|batch|width|lr"));
    TRY(generator_check_rows(r->data->channels, r->data, r->rows, r->n));
    REQUIRE(o->batch <= r->n, "batch %zu is larger than the %zu images to train on", o->batch, r->n);
    TRY(nn_backend_find(&r->backend, o->backend));
    TRY(generator_make(&r->g, kind, r->data->channels, o->width, o->seed));
    generator_train_describe(r);
done:
    return status;
}

static sotto_status make_step(struct run *r)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_generator_options *o = &r->options;
    const struct generator_kind *kind = r->g->kind;
    struct generator_step *s = &r->step;
    struct nn_plan_config plan = {.batch = o->batch, .dtype = NN_F32, .backend = r->backend, .training = 1};
    struct nn_optimizer_config adam = {
        .name = "adam", .beta1 = kind->beta1, .beta2 = kind->beta2, .epsilon = 1e-8};
    *s = (struct generator_step){.g = r->g,
                                 .losses = loss_kernels_best(),
                                 .batch = o->batch,
                                 .pixels = GENERATOR_SIDE * GENERATOR_SIDE * r->g->channels,
                                 .seed = o->seed,
                                 .lr = o->lr};
    plan.input_gradient = kind->maker_gradient;
    TRY(nn_plan_create(&s->maker, r->g->maker, &plan));
    plan.input_gradient = kind->reader_gradient;
    TRY(nn_plan_create(&s->reader, r->g->reader, &plan));
    plan.input_gradient = 0, plan.tangent_of = s->reader;
    if (kind->reader_tangent)
        TRY(nn_plan_create(&s->tangent, r->g->reader, &plan));
    TRY(nn_optimizer_create(&r->optimizer, r->g->maker, &adam));
    TRY(nn_optimizer_create(&s->reader_optimizer, r->g->reader, &adam));
    if ((nn_model_work(r->g->maker) + nn_model_work(r->g->reader)) * (double)(o->batch * kind->batches) >
        LONG_STEP) {
        NEW(r->before.values, r->g->reader->trainable);
        NEW(r->before.statistics, r->g->reader->statistic_count);
        TRY(nn_optimizer_create(&r->before.optimizer, r->g->reader, &adam));
    }
    NEW_ROWS(s->images, kind->batches * o->batch, s->pixels);
    if (r->others)
        NEW_ROWS(s->others, o->batch, s->pixels);
    NEW(r->chosen, kind->batches * o->batch);
    NEW(s->work, kind->work(s));
    TRY(epoch_order_make(&r->order, r->rows, r->n, o->batch, o->seed));
done:
    return status;
}

static sotto_status generator_train_draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    struct run *r = state;
    size_t batches = r->g->kind->batches, batch = r->order.batch;
    for (size_t i = 0; i < batches; i++)
        memcpy(r->chosen + i * batch, epoch_order_batch(&r->order, step * batches + i),
               batch * sizeof *r->chosen);
    *rows = r->chosen;
    *n = batches * batch;
    return SOTTO_OK;
}

/* One of each list in turn; drawn with numbers that latents do not have. */
static void draw_others(struct run *r, uint64_t step)
{
    for (size_t i = 0; i < r->step.batch; i++) {
        struct rng random = rng_stream(r->options.seed, RNG_LATENT, step, (uint64_t)1 << 33 | i);
        const int64_t *rows = r->others->rows[i % 2];
        generator_image(r->step.others + i * r->step.pixels, r->data,
                        rows[rng_below(&random, r->others->n[i % 2])]);
    }
}

/* The reader moves within a step: what it was before a stopped one. */
static void generator_train_keep(struct run *r)
{
    const struct nn_model *reader = r->g->reader;
    memcpy(r->before.values, reader->values, reader->trainable * sizeof *reader->values);
    memcpy(r->before.statistics, reader->statistics, reader->statistic_count * sizeof *reader->statistics);
    optimizer_copy(r->before.optimizer, r->step.reader_optimizer);
}

static void put_back(struct run *r)
{
    struct nn_model *reader = r->g->reader;
    memcpy(reader->values, r->before.values, reader->trainable * sizeof *reader->values);
    memcpy(reader->statistics, r->before.statistics, reader->statistic_count * sizeof *reader->statistics);
    optimizer_copy(r->step.reader_optimizer, r->before.optimizer);
}

static void generator_train_ask(struct run *r, const struct sotto_context *ctx)
{
    nn_plan_set_context(r->step.maker, ctx);
    nn_plan_set_context(r->step.reader, ctx);
    if (r->step.tangent)
        nn_plan_set_context(r->step.tangent, ctx);
}

/* Stopped passes leave numbers that mean nothing, which are dropped with all that was made of them. */
static sotto_status generator_train_stoppable(struct training_batch *out, struct run *r, uint64_t step)
{
    generator_train_keep(r);
    generator_train_ask(r, r->ctx);
    r->g->kind->gradient(out, &r->step, step);
    generator_train_ask(r, NULL);
    if (!context_stopped(r->ctx))
        return SOTTO_OK;
    put_back(r);
    return status_fail(SOTTO_ESTOPPED, "generate: stopped within a step");
}

static sotto_status generator_train_gradient(struct training_batch *out, void *state, const int64_t *rows,
                                             size_t n, uint64_t step)
{
    struct run *r = state;
    for (size_t i = 0; i < n; i++)
        generator_image(r->step.images + i * r->step.pixels, r->data, rows[i]);
    if (r->others)
        draw_others(r, step);
    if (r->before.values)
        return generator_train_stoppable(out, r, step);
    r->g->kind->gradient(out, &r->step, step);
    return SOTTO_OK;
}

static sotto_status log_numbers(void *state, struct metric_log *log, uint64_t step, double seconds)
{
    sotto_status status = SOTTO_OK;
    const struct run *r = state;
    for (size_t i = 0; r->g->kind->numbers[i]; i++)
        TRY(metric_log_write(log, step, "train", r->g->kind->numbers[i], r->step.numbers[i], seconds));
done:
    return status;
}

static void make_loop(struct run *r)
{
    const struct sotto_generator_options *o = &r->options;
    size_t records = r->g->kind->batches * o->batch, pass = r->n < records ? 1 : r->n / records;
    r->second = (struct checkpoint_second){r->g->reader, r->step.reader_optimizer};
    r->loop = (struct training_loop){
        .stage = "generate",
        .unit = "images",
        .hint = "try a smaller learning rate",
        .checkpoint = o->checkpoint,
        .metrics = o->metrics,
        .origin = {.recipe = r->recipe, .machine = r->machine, .steps = o->steps, .second = &r->second},
        .schedule = {.kind = SCHEDULE_CONSTANT, .lr = o->lr},
        .batch = records,
        .steps_per_epoch = (REPORT_STEPS + pass - 1) / pass * pass,
        .model = r->g->maker,
        .optimizer = r->optimizer,
        .step = {r, generator_train_draw, generator_train_gradient, NULL, log_numbers},
        .ctx = r->ctx};
}

static sotto_status add_facts(struct run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(generator_add_fact(r->g, "recipe", r->recipe));
    TRY(generator_add_fact(r->g, "machine", r->machine));
    TRY(generator_add_fact(r->g, "data_set", r->data->name));
    if (r->data->synthetic)
        TRY(generator_add_fact(r->g, "synthetic", "true"));
    TRY(generator_add_fact(r->g, "version", sotto_version()));
done:
    return status;
}

static void generator_train_report(struct sotto_generator_result *out, const struct run *r)
{
    const struct training_progress *p = &r->loop.progress;
    uint64_t open = p->step % r->loop.steps_per_epoch;
    *out = (struct sotto_generator_result){.steps = p->step,
                                           .loss = open ? p->loss_sum / (double)open : p->epoch_loss,
                                           .seconds = training_loop_seconds(&r->loop),
                                           .images_per_second = training_loop_rate(&r->loop)};
    snprintf(out->backend, sizeof out->backend, "%s", nn_backend_title(r->backend));
}

static sotto_status generator_train_loop(struct run *r, struct sotto_generator_result *result,
                                         const struct sotto_generator_options *options)
{
    sotto_status status = SOTTO_OK;
    TRY(generator_train_resolve(r, options));
    TRY(make_step(r));
    make_loop(r);
    TRY(training_loop_resume(&r->loop));
    context_log(r->ctx, SOTTO_LOG_INFO,
                "generate: %s on %zu images of %s, %zu steps of %zu, %s, %d threads%s", r->options.model,
                r->n, r->data->name, r->options.steps, r->options.batch, nn_backend_title(r->backend),
                par_pool_threads(), r->loop.resumed ? ", continued" : "");
    TRY(training_loop_run(&r->loop));
    TRY(add_facts(r));
    if (result)
        generator_train_report(result, r);
done:
    return status;
}

sotto_status generator_train(struct sotto_generator **out, struct sotto_generator_result *result,
                             const struct sotto_dataset *data, const int64_t *rows, size_t n,
                             const struct generator_others *others,
                             const struct sotto_generator_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    int64_t *all = NULL;
    if (!rows) {
        n = data->n;
        NEW(all, n);
        for (size_t i = 0; i < n; i++)
            all[i] = (int64_t)i;
    }
    struct run r = {.data = data, .rows = rows ? rows : all, .n = n, .others = others, .ctx = ctx};
    par_set_threads(par_threads(ctx));
    status = generator_train_loop(&r, result, options);
    training_loop_release(&r.loop);
    nn_plan_free(r.step.maker);
    nn_plan_free(r.step.reader);
    nn_plan_free(r.step.tangent);
    nn_optimizer_free(r.optimizer);
    nn_optimizer_free(r.step.reader_optimizer);
    nn_optimizer_free(r.before.optimizer);
    base_free(r.before.values);
    base_free(r.before.statistics);
    base_free(r.step.images);
    base_free(r.step.others);
    base_free(r.step.work);
    base_free(r.order.order);
    base_free(r.chosen);
    if (status == SOTTO_OK)
        *out = r.g;
    else
        sotto_generator_free(r.g);
done:
    par_set_threads(pool);
    base_free(all);
    return status;
}

sotto_status sotto_generator_train(struct sotto_generator **out, struct sotto_generator_result *result,
                                   const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                   const struct sotto_generator_options *options,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, data);
    return generator_train(out, result, data, rows, n, NULL, options, ctx);
}
