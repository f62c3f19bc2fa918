/* A pre-training run: views of a batch of images, the objective's gradient, and the loop of
 * nn/loop/training_loop.h around them. */
#include "ssl/pretrain.h"

#include "nn/loop/same_run.h"
#include "nn/loop/training_loop.h"
#include "par/crowding.h"
#include "par/par.h"
#include "par/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct run {
    struct pretrain_setup setup;
    const struct sotto_dataset *data;
    const int64_t *rows;
    const struct sotto_context *ctx;
    struct nn_model *model;
    struct leaves *leaves;
    struct epoch_moments *moments; /* norm scope "leaf"; or NULL */
    struct nn_optimizer *optimizer;
    struct augmenter **augmenters; /* (workers) */
    size_t workers;
    void *objective;      /* its state */
    struct par_stop stop; /* of the objective */
    void *part;           /* of setup.part; or NULL */
    struct epoch_order order;
    struct training_loop loop;
    char hint[160], machine[LEAVES_MACHINE];
    size_t planned_bytes;
};

/* ---- before the first step ---- */

static sotto_status make_model(struct run *r)
{
    struct nn_model_config config = pretrain_model(&r->setup);
    config.ctx = r->ctx;
    sotto_status status = nn_model_create(&r->model, &config, r->setup.options.seed);
    if (status == SOTTO_OK && nn_model_parameter_count(r->model, 0) == 0)
        status = status_fail(SOTTO_EINVAL, "network '%s' has no layers below its head; expected an encoder",
                             config.name);
    return status;
}

static sotto_status make_step(struct run *r)
{
    sotto_status status = SOTTO_OK;
    const struct pretrain_setup *s = &r->setup;
    const struct sotto_pretrain_options *o = &s->options;
    if (s->order.leaf_norms)
        TRY(epoch_moments_create(&r->moments, r->model, s->steps_per_epoch, s->team));
    const struct leaves_config leaves = {.order = s->order,
                                         .moments = r->moments,
                                         .records = o->batch,
                                         .views = pretrain_inputs(s),
                                         .dtype = autotune_dtype(&s->choice),
                                         .backend = autotune_backend(&s->choice),
                                         .threads = s->threads,
                                         .team = s->team,
                                         .ctx = r->ctx};
    struct nn_optimizer_config adam = {
        .name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7, .team = s->team};
    struct augment_config augment = {.strength = {.min_area = o->min_area,
                                                  .brightness = o->brightness,
                                                  .jitter = o->jitter,
                                                  .flip = 1,
                                                  .recipe = s->augmentation,
                                                  .vertical_flip = o->vertical_flip,
                                                  .grey = o->grey,
                                                  .blur = o->blur},
                                     .channels = r->data->channels,
                                     .height = r->data->height,
                                     .width = r->data->width,
                                     .views = s->objective->views,
                                     .rotate = s->objective->rotate,
                                     .threads = s->order.exact ? 1 : s->threads,
                                     .ctx = r->ctx};
    TRY(leaves_create(&r->leaves, r->model, &leaves));
    r->workers = leaves_workers(r->leaves);
    NEW(r->augmenters, r->workers);
    for (size_t i = 0; i < r->workers; i++)
        TRY(augmenter_create(&r->augmenters[i], &augment));
    if (s->part)
        TRY(s->part->create(&r->part, s->part_setup, r->model, r->leaves, &adam, o->batch,
                            s->objective->views));
    else
        TRY(nn_optimizer_create(&r->optimizer, r->model, &adam));
    struct objective_config config = {.batch = o->batch,
                                      .width = nn_model_output_width(r->model),
                                      .leaf = s->order.leaf,
                                      .loss = o->loss,
                                      .temperature = o->temperature,
                                      .backend = leaves.backend,
                                      .team = s->team,
                                      .stop = &r->stop};
    par_stop_set(&r->stop, r->ctx);
    TRY(s->objective->create(&r->objective, &config));
    TRY(epoch_order_make(&r->order, r->rows, s->images, o->batch, o->seed));
    /* weights, gradients and the moments of Adam that are here */
    size_t parameters = 2 * sizeof(float) * nn_model_parameter_count(r->model, 1) +
                        (s->part ? s->part->optimizer_bytes(r->part) : nn_optimizer_bytes(r->optimizer));
    r->planned_bytes = leaves_bytes(r->leaves) + r->workers * augmenter_bytes(r->augmenters[0]) + parameters +
                       s->images * sizeof *r->order.order;
done:
    return status;
}

static void pretrain_announce(const struct run *r)
{
    const struct pretrain_setup *s = &r->setup;
    char line[SOTTO_AUTOTUNE_LINE];
    char sums[LEAVES_LINE];
    sotto_autotune_line(line, &s->choice, "images");
    leaves_line(sums, r->leaves, "images");
    context_log(r->ctx, SOTTO_LOG_INFO,
                "pretrain: %s, %s on %zux%zux%zu, %zu images of %s, %llu steps of %zu, %s, %s, %d threads, "
                "%.0f MiB planned, %s",
                s->objective->name, s->options.encoder, s->input.channels, s->input.height, s->input.width,
                s->images, r->data->name, (unsigned long long)s->steps, s->options.batch, line,
                nn_backend_title(autotune_backend(&s->choice)), s->threads,
                (double)r->planned_bytes / (1 << 20), sums);
    if (r->loop.resumed)
        context_log(r->ctx, SOTTO_LOG_INFO, "pretrain: continuing at step %llu from %s",
                    (unsigned long long)r->loop.progress.step, s->options.checkpoint);
}

/* ---- steps ---- */

static sotto_status pretrain_draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    struct run *r = state;
    *rows = epoch_order_batch(&r->order, step);
    *n = r->order.batch;
    return SOTTO_OK;
}

static enum pretrain_turn turn_at(const struct run *r, uint64_t step)
{
    const struct pretrain_setup *s = &r->setup;
    return s->part ? s->part->turn(s->part_setup, step / s->steps_per_pass) : TURN_ENCODER;
}

struct filling {
    struct run *r;
    const int64_t *rows;
    uint64_t step;
};
/* Views, then the images themselves if a part needs them; the objective does not see those. */
static sotto_status pretrain_fill(float *input, void *state, const struct leaf *leaf)
{
    sotto_status status = SOTTO_OK;
    const struct filling *f = state;
    struct run *r = f->r;
    const struct pretrain_setup *s = &r->setup;
    struct augmenter *augmenter = r->augmenters[leaf->worker];
    const struct augment_part part = {f->rows + leaf->first, leaf->count, leaf->first, leaf->room};
    const size_t pixels = s->input.channels * s->input.height * s->input.width,
                 views = s->objective->views * leaf->room;
    TRY(augmenter_run(augmenter, input, r->data->images, &part, s->options.seed, f->step));
    if (pretrain_inputs(s) > s->objective->views)
        TRY(augmenter_run_plain(augmenter, input + views * pixels, r->data->images, part.rows, part.n));
done:
    return status;
}

static sotto_status pretrain_gradient(struct training_batch *out, void *state, const int64_t *rows, size_t n,
                                      uint64_t step)
{
    sotto_status status = SOTTO_OK;
    struct run *r = state;
    const struct pretrain_setup *s = &r->setup;
    struct filling f = {r, rows, step};
    int encoder = turn_at(r, step) & TURN_ENCODER; /* if not, it stands still: running statistics too */
    TRY(leaves_forward(r->leaves, encoder, s->options.seed, step, pretrain_fill, &f));
    float *diff = leaves_diff_output(r->leaves);
    out->loss = s->objective->run(r->objective, diff, &out->accuracy, leaves_output(r->leaves));
    TRY(team_agree(s->team, par_check(&r->stop, "stopped within a loss")));
    if (pretrain_inputs(s) > s->objective->views) {
        const size_t width = nn_model_output_width(r->model);
        memset(diff + s->objective->views * n * width, 0, n * width * sizeof *diff);
    }
    if (s->part)
        TRY(s->part->loss(r->part, rows));
    if (encoder)
        TRY(leaves_backward(r->leaves));
done:
    return status;
}

static sotto_status pretrain_update(void *state, double lr, uint64_t step)
{
    struct run *r = state;
    if (r->part)
        return r->setup.part->update(r->part, lr, turn_at(r, step));
    nn_optimizer_step(r->optimizer, r->model, lr);
    return SOTTO_OK;
}

static void pretrain_keep(void *state)
{
    struct run *r = state;
    leaves_keep_moments(r->leaves);
}

static sotto_status log_epoch(void *state, struct metric_log *log, uint64_t step, double seconds)
{
    struct run *r = state;
    return r->part ? r->setup.part->log(r->part, log, step, seconds) : SOTTO_OK;
}

static void make_loop(struct run *r)
{
    const struct pretrain_setup *s = &r->setup;
    const struct sotto_pretrain_options *o = &s->options;
    snprintf(r->hint, sizeof r->hint, "try a smaller learning rate (now %g) or a higher temperature (now %g)",
             o->lr, o->temperature);
    r->loop = (struct training_loop){.stage = "pretrain",
                                     .unit = "images",
                                     .hint = r->hint,
                                     .checkpoint = o->checkpoint,
                                     .metrics = o->metrics,
                                     .origin = {.recipe = s->recipe,
                                                .machine = r->machine,
                                                .steps = s->steps,
                                                .moments = r->moments,
                                                .adversary = s->part ? s->part->checkpoint(r->part) : NULL},
                                     .schedule = s->schedule,
                                     .batch = o->batch,
                                     .steps_per_epoch = s->steps_per_epoch,
                                     .model = r->model,
                                     .optimizer = s->part ? s->part->optimizer(r->part) : r->optimizer,
                                     .step = {.state = r,
                                              .draw = pretrain_draw,
                                              .gradient = pretrain_gradient,
                                              .update = pretrain_update,
                                              .log = log_epoch,
                                              .keep = r->moments ? pretrain_keep : NULL},
                                     .team = s->team,
                                     .share = leaves_share(r->leaves),
                                     .ctx = r->ctx};
}

/* ---- after the last step ---- */

static sotto_status pretrain_finish(struct sotto_encoder **out, struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    struct nn_model *model = r->model;
    leaves_free(r->leaves); /* they point into the model, which the encoder now takes over */
    r->leaves = NULL;
    r->model = NULL;
    TRY(encoder_wrap(&e, model, r->setup.options.encoder));
    TRY(encoder_add_fact(e, "method", r->setup.objective->name));
    TRY(encoder_add_fact(e, "recipe", r->setup.recipe));
    TRY(encoder_add_fact(e, "machine", r->machine));
    TRY(encoder_add_fact(e, "data_set", r->data->name));
    TRY(encoder_add_fact(e, "data_sha256", r->data->sha256));
    if (r->part)
        TRY(encoder_add_fact(e, r->setup.part->name, r->setup.part->fact));
    if (r->data->synthetic)
        TRY(encoder_add_fact(e, "synthetic", "true"));
    TRY(encoder_add_fact(e, "version", sotto_version()));
    *out = e;
    e = NULL;
done:
    sotto_encoder_free(e);
    return status;
}

static void pretrain_report(struct sotto_pretrain_result *result, const struct run *r)
{
    *result = (struct sotto_pretrain_result){.steps = r->loop.progress.step,
                                             .loss = r->loop.progress.epoch_loss,
                                             .accuracy = r->loop.progress.epoch_accuracy,
                                             .seconds = training_loop_seconds(&r->loop),
                                             .images_per_second = training_loop_rate(&r->loop),
                                             .planned_bytes = r->planned_bytes};
    if (r->part) {
        result->adversary_loss = r->loop.origin.adversary->epoch_loss;
        result->adversary_accuracy = r->loop.origin.adversary->epoch_accuracy;
    }
    result->choice = r->setup.choice;
    snprintf(result->dtype, sizeof result->dtype, "%s", result->choice.dtype);
    snprintf(result->backend, sizeof result->backend, "%s",
             nn_backend_title(autotune_backend(&result->choice)));
}

static void pretrain_release(struct run *r)
{
    training_loop_release(&r->loop);
    if (r->setup.objective && r->objective)
        r->setup.objective->release(r->objective);
    if (r->part)
        r->setup.part->release(r->part);
    pretrain_clear(&r->setup);
    nn_optimizer_free(r->optimizer);
    epoch_moments_free(r->moments);
    for (size_t i = 0; r->augmenters && i < r->workers; i++)
        augmenter_free(r->augmenters[i]);
    base_free(r->augmenters);
    leaves_free(r->leaves);
    nn_model_free(r->model);
    base_free(r->order.order);
}

static sotto_status pretrain_make(struct run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(make_model(r));
    TRY(make_step(r));
    TRY(leaves_machine(r->machine, r->leaves));
    make_loop(r);
done:
    return status;
}

static sotto_status pretrain_loop(struct sotto_encoder **out, struct sotto_pretrain_result *result,
                                  struct run *r, const struct sotto_pretrain_options *options, size_t n,
                                  const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    TRY(pretrain_resolve(&r->setup, r->data, r->rows, n, options, team, r->ctx));
    par_set_threads(r->setup.threads);
    TRY(team_agree(team, pretrain_make(r)));
    TRY(same_run_check(team, r->setup.recipe, r->machine));
    TRY(crowding_check(team, "pretrain", r->setup.threads, r->ctx));
    TRY(training_loop_resume(&r->loop));
    pretrain_announce(r);
    TRY(training_loop_run(&r->loop));
    TRY(pretrain_finish(&e, r));
    if (result)
        pretrain_report(result, r);
    *out = e;
done:
    pretrain_release(r);
    return status;
}

static sotto_status all_rows(int64_t **out, const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    NEW(*out, data->n);
    for (size_t i = 0; i < data->n; i++)
        (*out)[i] = (int64_t)i;
done:
    return status;
}

sotto_status sotto_pretrain(struct sotto_encoder **out, struct sotto_pretrain_result *result,
                            const struct sotto_dataset *data, const int64_t *rows, size_t n,
                            const struct sotto_pretrain_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, data);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    int64_t *all = NULL;
    if (!rows)
        TRY(all_rows(&all, data));
    struct sotto_context own = ctx ? *ctx : (struct sotto_context){0};
    own.team = NULL; /* other calls refuse one */
    struct run r = {.data = data, .rows = rows ? rows : all, .ctx = &own};
    TRY(pretrain_loop(out, result, &r, options, rows ? n : data->n, ctx ? ctx->team : NULL));
done:
    par_set_threads(pool);
    base_free(all);
    return status;
}

/* ---- a plan ---- */

/* One step, and of it the loss, which depends on nothing but the outputs. */
static sotto_status time_step(double *whole, double *loss, struct run *r, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    const int64_t *rows;
    size_t n;
    struct training_batch found;
    double accuracy;
    TRY(context_check(r->ctx, "pretrain: stopped while steps were timed"));
    r->loop.started = 0;
    const double before = training_loop_seconds(&r->loop);
    TRY(pretrain_draw(&rows, &n, r, step));
    TRY(pretrain_gradient(&found, r, rows, n, step));
    TRY(pretrain_update(r, r->setup.options.lr, step));
    const double between = training_loop_seconds(&r->loop);
    r->setup.objective->run(r->objective, leaves_diff_output(r->leaves), &accuracy, leaves_output(r->leaves));
    TRY(par_check(&r->stop, "stopped within a loss"));
    *whole = between - before;
    *loss = training_loop_seconds(&r->loop) - between;
done:
    return status;
}

static double median_of_3(const double x[3])
{
    const double low = fmin(x[0], x[1]), high = fmax(x[0], x[1]);
    return fmax(low, fmin(high, x[2]));
}

/* Medians of three steps in this pass over the images, after one, which makes kernels and touches memory. */
static sotto_status time_pass(double *whole, double *loss, struct run *r, uint64_t pass)
{
    sotto_status status = SOTTO_OK;
    const uint64_t steps = r->setup.steps_per_pass;
    double wholes[3], losses[3];
    for (uint64_t i = 0; i < 4; i++)
        TRY(time_step(&wholes[i % 3], &losses[i % 3], r, pass * steps + i % steps));
    *whole = median_of_3(wholes);
    *loss = median_of_3(losses);
done:
    return status;
}

/* What ranks tell each other in a step of this pass. */
static size_t exchange_bytes(const struct run *r, uint64_t pass)
{
    const struct pretrain_setup *s = &r->setup;
    const enum pretrain_turn turn = turn_at(r, pass * s->steps_per_pass);
    size_t bytes = sizeof(float) * pretrain_inputs(s) * s->options.batch * nn_model_output_width(r->model);
    if (turn & TURN_ENCODER)
        bytes += 8 * nn_model_parameter_count(r->model, 1);
    if (turn & TURN_BRANCH)
        bytes += s->part->exchange_bytes(r->part);
    return bytes;
}

static sotto_status pretrain_measure(struct sotto_pretrain_plan *out, struct run *r,
                                     const struct sotto_pretrain_options *options, size_t n)
{
    sotto_status status = SOTTO_OK;
    const struct pretrain_setup *s = &r->setup;
    double whole[2] = {0}, loss[2] = {0};
    TRY(pretrain_resolve(&r->setup, r->data, r->rows, n, options, NULL, r->ctx));
    par_set_threads(s->threads);
    TRY(pretrain_make(r));
    /* turns that alternate are as many of one kind as of the other, but in a run of one pass */
    const size_t passes =
        turn_at(r, 0) != turn_at(r, s->steps_per_pass) && s->steps > s->steps_per_pass ? 2 : 1;
    for (size_t pass = 0; pass < passes; pass++)
        TRY(time_pass(&whole[pass], &loss[pass], r, pass));
    *out = (struct sotto_pretrain_plan){.steps = s->steps,
                                        .batch = s->options.batch,
                                        .leaf = s->order.exact ? s->order.leaf : s->options.batch,
                                        .leaves = leaves_count(r->leaves),
                                        .exact = s->order.exact,
                                        .threads = (size_t)s->threads,
                                        .parameters = nn_model_parameter_count(r->model, 1),
                                        .width = nn_model_output_width(r->model),
                                        .planned_bytes = r->planned_bytes,
                                        .step_seconds = (whole[0] + whole[1]) / (double)passes,
                                        .loss_seconds = (loss[0] + loss[1]) / (double)passes,
                                        .choice = s->choice};
    for (size_t pass = 0; pass < passes; pass++)
        out->exchange_bytes += exchange_bytes(r, pass) / passes;
done:
    pretrain_release(r);
    return status;
}

sotto_status sotto_pretrain_plan(struct sotto_pretrain_plan *out, const struct sotto_dataset *data,
                                 const int64_t *rows, size_t n, const struct sotto_pretrain_options *options,
                                 const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, data);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    int64_t *all = NULL;
    struct sotto_pretrain_options alone = *options;
    alone.checkpoint = alone.metrics = NULL;
    TRY(context_check(ctx, "pretrain: stopped before a step was timed"));
    if (!rows)
        TRY(all_rows(&all, data));
    struct run r = {.data = data, .rows = rows ? rows : all, .ctx = ctx};
    TRY(pretrain_measure(out, &r, &alone, rows ? n : data->n));
done:
    par_set_threads(pool);
    base_free(all);
    return status;
}

double sotto_pretrain_plan_step(const struct sotto_pretrain_plan *p, size_t ranks, double seconds_per_byte)
{
    GIVEN_OR(NAN, p, ranks);
    const size_t rounds = (p->leaves + p->threads - 1) / p->threads,
                 shared = (p->leaves + p->threads * ranks - 1) / (p->threads * ranks);
    const double mine = (double)(p->leaves < p->threads ? p->leaves : p->threads),
                 ours = (double)(p->leaves < p->threads * ranks ? p->leaves : p->threads * ranks),
                 round = (p->step_seconds - p->loss_seconds) / (double)rounds;
    return round * (double)shared + p->loss_seconds * mine / ours +
           seconds_per_byte * (double)p->exchange_bytes * (double)(ranks - 1) / (double)ranks;
}
