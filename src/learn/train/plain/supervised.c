/* Supervised training of a whole network. A step draws a batch, fills its leaves with the records' views, and
 * leaves the gradient of the mean cross-entropy in the model; the loop (nn/loop/training_loop.h) does the rest.
 * Another way to train replaces supervised_draw() or supervised_gradient() and keeps everything else. */
#include "train/plain/supervised.h"

#include "base/cpu.h"
#include "base/file.h"
#include "io/provenance/shaping.h"
#include "io/provenance/statement.h"
#include "nn/loop/same_run.h"
#include "par/crowding.h"
#include "par/par.h"
#include "par/ranks.h"
#include "ssl/encoder.h"
#include "train/plain/pretrained.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- before the first step ---- */

static sotto_status check_labels(const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    size_t others = 0;
    for (size_t i = 0; i < n; i++)
        others += data->labels[rows[i]] != data->labels[rows[0]];
    REQUIRE(others > 0, "labels: all %zu records have class %lld; training needs at least 2 classes", n,
            (long long)data->labels[rows[0]]);
done:
    return status;
}

static sotto_status check_values(const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; data->features && i < n; i++)
        for (size_t j = 0; j < data->columns; j++)
            REQUIRE(isfinite(data->features[(size_t)rows[i] * data->columns + j]),
                    "data set '%s': row %lld, column %zu is not finite; features must be", data->name,
                    (long long)rows[i], j);
done:
    return status;
}

static void make_schedule(struct schedule *out, const struct sotto_train_options *o, uint64_t steps)
{
    *out = (struct schedule){.kind = SCHEDULE_CONSTANT, .lr = o->lr};
    if (strcmp(o->schedule, "cosine") == 0)
        *out = (struct schedule){
            .kind = SCHEDULE_COSINE, .lr = o->lr, .warmup_steps = steps / 20, .total_steps = steps};
    else if (strcmp(o->schedule, "step") == 0)
        *out = (struct schedule){.kind = SCHEDULE_STEP,
                                 .lr = o->lr,
                                 .factor = 0.1,
                                 .milestones = {steps / 2, steps - steps / 4},
                                 .milestone_count = 2};
}

/* What a checkpoint must agree on: the recipe and the records. */
static sotto_status supervised_describe(struct supervised *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_train_options *o = &t->options;
    char hidden[SOTTO_TRAIN_HIDDEN * 24 + 1] = "", residual[TRAIN_RESIDUAL_TEXT], start[256] = "",
                                          noise[64] = "", order[LEAF_ORDER_TEXT];
    size_t used = 0;
    if (t->encoder)
        used = (size_t)snprintf(start, sizeof start, "from=%s\nfreeze=%s\nwarm_up=%zu\n",
                                sotto_encoder_sha256(t->encoder), o->freeze, o->warm_up);
    if (t->moments) {
        char sha256[SHA256_HEX];
        sha256_of(sha256, t->moments, 2 * sotto_encoder_width(t->encoder) * sizeof *t->moments);
        snprintf(start + used, sizeof start - used, "standardise=%s\n", sha256);
    }
    used = 0;
    if (o->augment_noise > 0)
        snprintf(noise, sizeof noise, "augment_noise=%.17g\n", o->augment_noise);
    TRY(train_residual_text(residual, &o->residual));
    for (size_t i = 0; i < o->hidden_count; i++)
        used += (size_t)snprintf(hidden + used, sizeof hidden - used, "%s%zu", i ? "," : "", o->hidden[i]);
    sha256_of(t->rows_sha256, t->rows, t->n * sizeof *t->rows);
    leaf_order_text(order, &t->sums);
    int length = snprintf(t->recipe, sizeof t->recipe,
                          "method=supervised\nmodel=%s\nhidden=%s\nnorm=%s\ninput=%zux%zux%zu\nseed=%"
                          "llu\nepochs=%zu\nbatch=%zu\n"
                          "optimizer=%s\nlr=%.17g\nmomentum=%.17g\nweight_decay=%.17g\nschedule=%s\nflip=%"
                          "d\ncrop=%zu\ndtype=%s\n"
                          "%s%sresidual=%s\ndata=%s\nrecords=%zu\nrows=%s\n%s%s",
                          o->model, hidden, o->norm, t->record.channels, t->record.height, t->record.width,
                          (unsigned long long)o->seed, o->epochs, o->batch, o->optimizer, o->lr, o->momentum,
                          o->weight_decay, o->schedule, o->flip, o->crop, o->dtype, start, noise, residual,
                          t->data->sha256, t->n, t->rows_sha256, t->privacy, order);
    REQUIRE(length > 0 && (size_t)length < sizeof t->recipe, "the recipe is too long");
    snprintf(t->machine, sizeof t->machine, "threads=%d\nisa=%s\nbackend=%s\n", t->threads,
             cpu_isa_name(cpu_best_isa()), nn_backend_title(autotune_backend(&t->choice)));
done:
    return status;
}

sotto_status supervised_resolve(struct supervised *t, const struct sotto_dataset *data, const int64_t *rows,
                                size_t n, const struct sotto_train_options *options,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options *o = &t->options;
    size_t values;
    double work;
    *t = (struct supervised){
        .options = *options, .data = data, .rows = rows, .n = n, .ctx = ctx, .privacy = ""};
    TRY(train_options_check(o));
    TRY(encoder_check_rows(data, rows, n));
    REQUIRE(data->labels && data->classes >= 2,
            "data set '%s' has no labels, or fewer than 2 classes; expected at least 2", data->name);
    TRY(record_shape(&t->record, data, (struct nn_shape){o->channels, o->height, o->width}));
    REQUIRE((!o->flip && !o->crop) || (t->record.height > 1 && t->record.width > 1),
            "flip and crop need images, but the records are rows of %zu numbers", t->record.channels);
    REQUIRE(o->batch <= n, "batch %zu is larger than the %zu records to train on", o->batch, n);
    TRY(pretrained_open(&t->encoder, o, data, t->record));
    TRY(train_model_config(&t->config, o, t->record, data->classes));
    if (t->encoder) {
        pretrained_config(&t->config, t->encoder, o);
        TRY(pretrained_moments(&t->moments, t->encoder, o));
        TRY(pretrained_shape(&t->shaped, t->encoder, o, true));
    }
    TRY(nn_model_size(&values, &work, &t->config));
    t->threads = nn_threads_worth((double)o->batch * work, par_threads(ctx));
    t->steps_per_epoch = n / o->batch;
    t->steps = (uint64_t)t->steps_per_epoch * o->epochs;
    t->plan_rows = o->batch;
    make_schedule(&t->schedule, o, t->steps);
done:
    return status;
}

/* Private sums go by groups of record numbers instead (nn/loop/example_sums.h). */
static sotto_status choose_order(struct supervised *t)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options *o = &t->options;
    REQUIRE(
        !t->plan_views || (strcmp(o->order, "exact") != 0 && !o->leaf),
        "order exact and leaf are for plain training; the sums of DP-SGD give the same bits on any number of "
        "threads without them");
    TRY(leaf_order_on_ranks(&t->sums, t->plan_views ? NULL : t->team,
                            t->plan_views ? "fast" : leaf_order_asked(o->order, o->norm_scope), o->leaf,
                            &t->config, t->plan_rows, 1));
    TRY(leaf_order_norms(&t->sums, o->norm_scope, o->leaf, &t->config, t->plan_rows, 1));
    REQUIRE(!t->sums.leaf_norms || !t->privacy[0], "norm_scope leaf is for plain training; omit it");
    o->order = t->sums.exact ? "exact" : "fast";
    o->leaf = t->sums.exact ? t->sums.leaf : 0;
done:
    return status;
}

sotto_status supervised_choose(struct supervised *t)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options *o = &t->options;
    TRY(choose_order(t));
    const bool parts = t->plan_views > 0 || t->sums.exact; /* what one thread does at a time */
    const size_t rows = t->plan_views ? t->plan_rows : t->sums.leaf;
    const struct autotune_request request = {.dtype = o->dtype,
                                             .backend = o->backend,
                                             .model = &t->config,
                                             .batch = rows,
                                             .views = t->plan_views,
                                             .records = t->plan_views ? rows / t->plan_views : rows,
                                             .steps = t->steps,
                                             .threads = parts ? 1 : t->threads,
                                             .checkpoint = o->checkpoint};
    if (sotto_team_rank(t->team) == 0)
        status = autotune(&t->choice, &request, t->ctx);
    TRY(team_agree(t->team, status));
    TRY(team_broadcast(t->team, &t->choice, sizeof t->choice));
    o->dtype = autotune_dtype(&t->choice) == NN_BF16 ? "bf16" : "f32";
    o->backend = nn_backend_name(autotune_backend(&t->choice));
    TRY(supervised_describe(t));
done:
    return status;
}

/* A record that is there twice would count twice. */
sotto_status supervised_rows_once(const struct supervised *t)
{
    return sotto_rows_once(t->rows, t->n, "rows to train on");
}

void supervised_change(struct supervised *t, uint64_t steps, size_t plan_rows, size_t plan_views,
                       const char *privacy)
{
    t->steps = steps;
    t->plan_rows = plan_rows;
    t->plan_views = plan_views;
    t->privacy = privacy;
    make_schedule(&t->schedule, &t->options, steps);
}

sotto_status supervised_plan(struct supervised *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_train_options *o = &t->options;
    REQUIRE(o->warm_up <= t->steps, "warm_up: %zu steps are more than the %llu steps of the run", o->warm_up,
            (unsigned long long)t->steps);
    TRY(supervised_choose(t));
    struct leaves_config leaves = {.order = t->sums,
                                   .records = t->plan_rows,
                                   .views = 1,
                                   .dtype = autotune_dtype(&t->choice),
                                   .backend = autotune_backend(&t->choice),
                                   .threads = t->threads,
                                   .team = t->team,
                                   .ctx = t->ctx};
    struct nn_model_config config = t->config;
    struct nn_optimizer_config optimizer = {.name = o->optimizer,
                                            .beta1 = 0.9,
                                            .beta2 = 0.999,
                                            .epsilon = 1e-7,
                                            .momentum = o->momentum,
                                            .weight_decay = o->weight_decay,
                                            /* with noise every rank has the whole gradient */
                                            .team = t->plan_views ? NULL : t->team};
    par_set_threads(t->threads);
    config.ctx = t->ctx; /* not in t->config, which goes into the result */
    TRY(nn_model_create(&t->model, &config, o->seed));
    if (t->encoder)
        TRY(pretrained_import(t->model, t->encoder, t->moments));
    TRY(nn_optimizer_create(&t->optimizer, t->model, &optimizer));
    TRY(epoch_order_make(&t->order, t->rows, t->n, o->batch, o->seed));
    record_input_make(&t->input, t->data, t->record, t->config.input, t->sums.exact ? 1 : t->threads);
    if (t->plan_views)
        goto done;
    if (t->sums.leaf_norms)
        TRY(epoch_moments_create(&t->running, t->model, t->steps_per_epoch, t->team));
    leaves.moments = t->running;
    TRY(leaves_create(&t->leaves, t->model, &leaves));
    TRY(leaves_machine(t->machine, t->leaves));
    t->plan_bytes = leaves_bytes(t->leaves);
    NEW(t->labels, t->plan_rows);
    NEW(t->views, t->plan_rows);
done:
    return status;
}

/* ---- a step ---- */

static sotto_status supervised_draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    struct supervised *t = state;
    *rows = epoch_order_batch(&t->order, step);
    *n = t->order.batch;
    return SOTTO_OK;
}

/* A step, for those who see a leaf of it. */
struct step {
    struct supervised *t;
    const int64_t *rows;
    size_t n;
    uint64_t step;
};

static sotto_status supervised_fill(float *input, void *state, const struct leaf *leaf)
{
    const struct step *s = state;
    struct supervised *t = s->t;
    const struct sotto_train_options *o = &t->options;
    const int64_t *rows = s->rows + leaf->first;
    struct record_view *views = o->flip || o->crop ? t->views + leaf->first : NULL;
    for (size_t i = 0; i < leaf->count; i++) {
        t->labels[leaf->first + i] = t->data->labels[rows[i]];
        if (views)
            views[i] = record_view_draw(o->flip, o->crop, o->seed, s->step, leaf->first + i);
    }
    record_input_fill(input, &t->input, rows, leaf->count, views);
    if (o->augment_noise > 0)
        record_input_add_noise(input, &t->input, leaf->first, leaf->count, o->augment_noise, o->seed,
                               s->step);
    return SOTTO_OK;
}

size_t supervised_right(const float *logits, const int64_t *labels, size_t n, size_t classes)
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++) {
        const float *z = logits + i * classes;
        size_t best = 0;
        for (size_t k = 1; k < classes; k++)
            best = z[k] > z[best] ? k : best;
        right += best == (size_t)labels[i];
    }
    return right;
}

bool supervised_warms_up(struct supervised *t, uint64_t step)
{
    const uint64_t first = t->options.warm_up;
    if (first && step == first)
        nn_optimizer_restart(t->optimizer); /* of a zero gradient moments know too little */
    return step < first;
}

/* The sum of its records' losses. */
static double loss_of(void *state, const struct leaf *leaf)
{
    const struct step *s = state;
    struct supervised *t = s->t;
    const size_t classes = t->config.classes, first = leaf->first * classes;
    const float *logits = leaves_output(t->leaves) + first;
    const int64_t *labels = t->labels + leaf->first;
    return loss_softmax_sum(leaves_diff_output(t->leaves) + first, logits, labels, leaf->count, classes,
                            s->n);
}

/* How many of its records are right. */
static double right_of(void *state, const struct leaf *leaf)
{
    const struct step *s = state;
    const struct supervised *t = s->t;
    const size_t classes = t->config.classes;
    return (double)supervised_right(leaves_output(t->leaves) + leaf->first * classes, t->labels + leaf->first,
                                    leaf->count, classes);
}

static sotto_status supervised_gradient(struct training_batch *out, void *state, const int64_t *rows,
                                        size_t n, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    struct supervised *t = state;
    struct step s = {.t = t, .rows = rows, .n = n, .step = step};
    leaves_train_top(t->leaves, supervised_warms_up(t, step));
    TRY(leaves_forward(t->leaves, 1, t->options.seed, step, supervised_fill, &s));
    out->loss = leaves_sum(t->leaves, loss_of, &s) / (double)n;
    out->accuracy = leaves_sum(t->leaves, right_of, &s) / (double)n;
    TRY(leaves_backward(t->leaves));
done:
    return status;
}

static void supervised_keep(void *state)
{
    struct supervised *t = state;
    leaves_keep_moments(t->leaves);
}

void supervised_loop(struct training_loop *out, struct supervised *t)
{
    snprintf(t->hint, sizeof t->hint, "try a smaller learning rate (now %g)", t->options.lr);
    *out = (struct training_loop){
        .stage = "train",
        .unit = t->data->images ? "images" : "records",
        .hint = t->hint,
        .checkpoint = t->options.checkpoint,
        .metrics = t->options.metrics,
        .origin = {.recipe = t->recipe, .machine = t->machine, .steps = t->steps, .moments = t->running},
        .schedule = t->schedule,
        .batch = t->options.batch,
        .steps_per_epoch = t->steps_per_epoch,
        .model = t->model,
        .optimizer = t->optimizer,
        .step = {.state = t,
                 .draw = supervised_draw,
                 .gradient = supervised_gradient,
                 .keep = t->running ? supervised_keep : NULL},
        .team = t->team,
        .ctx = t->ctx};
}

/* ---- the network that comes out ---- */

/* Takes the model over. */
static sotto_status network_of(struct sotto_network **out, struct supervised *t, struct nn_model *model,
                               const char *statement)
{
    sotto_status status = SOTTO_OK;
    struct sotto_network *n = NULL;
    char records[32], *shaped = NULL;
    TRY(network_wrap(&n, model, &t->config, t->record));
    network_take_recipe(n, &t->options);
    snprintf(records, sizeof records, "%zu", t->n);
    TRY(network_add_fact(n, "machine", t->machine));
    if (t->encoder)
        TRY(network_add_fact(n, "from", sotto_encoder_sha256(t->encoder)));
    if (t->moments) {
        char sha256[SHA256_HEX];
        pretrained_moments_sha256(sha256, model);
        TRY(network_add_fact(n, TRAIN_STANDARDISE_KEY, sha256));
    }
    if (t->shaped.shapings) {
        TRY(shapings_text(&shaped, &t->shaped));
        TRY(network_add_fact(n, SHAPED_KEY, shaped));
    }
    TRY(network_add_fact(n, "data_set", t->data->name));
    if (!t->privacy[0]) { /* a hash of private records could be found by trying them all */
        TRY(network_add_fact(n, "data_sha256", t->data->sha256));
        TRY(network_add_fact(n, "rows_sha256", t->rows_sha256));
    }
    TRY(network_add_fact(n, "records", records));
    if (statement[0])
        TRY(network_add_fact(n, STATEMENT_KEY, statement));
    if (t->data->synthetic)
        TRY(network_add_fact(n, "synthetic", "true"));
    TRY(network_add_fact(n, "version", sotto_version()));
    *out = n;
    n = NULL;
done:
    sotto_text_free(shaped);
    sotto_network_free(n);
    return status;
}

/* The model as it is now, to a file of its own. */
static sotto_status keep_snapshot(void *state, uint64_t epoch)
{
    sotto_status status = SOTTO_OK;
    struct supervised *t = state;
    const size_t every = t->options.snapshot_every;
    struct sotto_tensors tensors = {0};
    struct nn_model *copy = NULL;
    struct sotto_network *n = NULL;
    char path[4096], text[24];
    if (!every || epoch % every != 0 || epoch == t->options.epochs || sotto_team_rank(t->team) > 0)
        goto done;
    TRY(nn_model_export(&tensors, t->model, "", 1));
    TRY(nn_model_create_blank(&copy, &t->config));
    TRY(nn_model_import(copy, &tensors, "", 1));
    status = network_of(&n, t, copy, STATEMENT_NONE_NETWORK);
    copy = NULL; /* the network has it, or it is gone */
    TRY(status);
    snprintf(text, sizeof text, "%llu", (unsigned long long)epoch);
    TRY(network_add_fact(n, TRAIN_EPOCH_KEY, text));
    TRY(folder_make(t->options.snapshots));
    TRY(network_snapshot_path(path, sizeof path, t->options.snapshots, (size_t)epoch));
    TRY(sotto_network_save(path, n));
done:
    sotto_tensors_clear(&tensors);
    nn_model_free(copy);
    sotto_network_free(n);
    return status;
}

sotto_status supervised_finish(struct sotto_network **out, struct supervised *t, const char *statement)
{
    struct nn_model *model = t->model;
    leaves_free(t->leaves); /* they point into the model, which the network takes over */
    t->leaves = NULL;
    t->model = NULL;
    return network_of(out, t, model, statement);
}

void supervised_clear(struct supervised *t)
{
    leaves_free(t->leaves);
    nn_optimizer_free(t->optimizer);
    epoch_moments_free(t->running);
    nn_model_free(t->model);
    base_free(t->order.order);
    base_free(t->labels);
    base_free(t->views);
    sotto_encoder_free(t->encoder);
    base_free(t->moments);
    sotto_provenance_clear(&t->shaped);
    *t = (struct supervised){0};
}

void supervised_announce(const struct supervised *t, const struct training_loop *l)
{
    const struct nn_shape r = t->record;
    char line[SOTTO_AUTOTUNE_LINE], sums[LEAVES_LINE] = "";
    sotto_autotune_line(line, &t->choice, l->unit);
    if (t->leaves)
        leaves_line(sums, t->leaves, l->unit);
    else if (t->team)
        snprintf(sums, sizeof sums, "on %zu ranks", sotto_team_size(t->team));
    context_log(
        t->ctx, SOTTO_LOG_INFO,
        "train: %s on %zux%zux%zu, %zu records of %s, %zu classes, %zu parameters, %llu steps of %zu, %s, "
        "%s, %d threads, %.0f MiB planned%s%s",
        t->config.name, r.channels, r.height, r.width, t->n, t->data->name, t->config.classes,
        nn_model_parameter_count(t->model, 1), (unsigned long long)t->steps, t->options.batch, line,
        nn_backend_title(autotune_backend(&t->choice)), t->threads, (double)t->plan_bytes / (1 << 20),
        sums[0] ? ", " : "", sums);
    if (l->resumed)
        context_log(t->ctx, SOTTO_LOG_INFO, "train: continuing at step %llu from %s",
                    (unsigned long long)l->progress.step, l->checkpoint);
}

void supervised_report(struct sotto_train_result *out, const struct supervised *t,
                       const struct training_loop *l)
{
    *out = (struct sotto_train_result){.steps = l->progress.step,
                                       .loss = l->progress.epoch_loss,
                                       .accuracy = l->progress.epoch_accuracy,
                                       .seconds = training_loop_seconds(l),
                                       .records_per_second = training_loop_rate(l)};
    snprintf(out->dtype, sizeof out->dtype, "%s", t->options.dtype);
    snprintf(out->backend, sizeof out->backend, "%s", nn_backend_title(autotune_backend(&t->choice)));
    out->choice = t->choice;
}

sotto_status supervised_train(struct sotto_network **out, struct sotto_train_result *result,
                              const struct sotto_dataset *data, const int64_t *rows, size_t n,
                              const struct sotto_train_options *options, const struct sotto_team *team,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct supervised t = {0};
    struct training_loop loop = {0};
    TRY(supervised_resolve(&t, data, rows, n, options, ctx));
    t.team = team;
    TRY(check_labels(data, t.rows, n)); /* a private training asks neither */
    TRY(check_values(data, t.rows, n));
    TRY(team_agree(team, supervised_plan(&t)));
    TRY(same_run_check(team, t.recipe, t.machine));
    TRY(crowding_check(team, "train", t.threads, ctx));
    supervised_loop(&loop, &t);
    loop.step.after_epoch = keep_snapshot;
    loop.share = leaves_share(t.leaves);
    TRY(training_loop_resume(&loop));
    supervised_announce(&t, &loop);
    TRY(training_loop_run(&loop));
    struct sotto_train_result found;
    supervised_report(&found, &t, &loop);
    TRY(supervised_finish(out, &t, STATEMENT_NONE_NETWORK));
    if (result)
        *result = found;
done:
    training_loop_release(&loop);
    supervised_clear(&t);
    return status;
}
