/* Private training of a whole network. Its epsilon rests on four things here: the records of a step are
 * chosen by the coins of the reservation that is charged, one record moves the sum by no more than the clipping
 * norm (nn/loop/example_sums.h: whole steps of the noise's lattice), and nothing else of the records leaves: no
 * loss, no accuracy, no count. The loop, its checkpoints and its optimizer are those of plain training
 * (supervised.h); they see the noisy mean only. */
#include "sotto/lab/release.h"
#include "train/private/dp_sgd.h"

#include "base/file.h"
#include "canary/canaries.h"
#include "dp/ledger/spend.h"
#include "dp/noise/fixed_sample.h"
#include "dp/release/charge_hint.h"
#include "dp/release/dpsgd_ranks.h"
#include "dp/release/dpsgd_session.h"
#include "head/private/head_units.h"
#include "nn/loop/example_sums.h"
#include "nn/loop/same_run.h"
#include "nn/model/model.h"
#include "ssl/encoder.h"
#include "par/crowding.h"
#include "par/par.h"
#include "train/private/public_encoder.h"
#include "train/private/silent_records.h"
#include "train/plain/pretrained.h"
#include "train/plain/supervised.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct private_run {
    struct supervised t;
    struct sotto_context
        ctx; /* of steps: deaf to a stop from the charge until a step is over, as no less can be settled */
    struct training_loop loop;
    struct silent_records records; /* what t.data points to */
    struct sotto_train_privacy p;
    struct sotto_dpsgd_session *reserved;
    struct checkpoint_private state;
    struct dp_sgd_shares shares; /* of gradients and of their count, for a quantile */
    struct dp_sgd_fault fault;
    struct example_sums *sums;
    struct head_units persons; /* count 0: units are records */
    size_t units, shown;       /* that steps sample; rows of each in a step: 1, or p.rows_per_step */
    size_t turns;              /* of each row: 1, or the four of objective "rotation" */
    uint32_t *sample;          /* (units): those of this step: records by their place in t.rows, or persons */
    int64_t *rows;             /* (units, shown): the rows of each, in t.data */
    double *sum;               /* (dimension): parameters, then a quantile's count */
    double *reference; /* (dimension): the same of an observer's own sample; NULL: no canary is a gradient */
    double *others;    /* (dimension): of another rank, on rank 0 */
    size_t parameters, top,
        dimension; /* parameters: trained ones; top: those of the last layer, at their end */
    struct encoder_standing encoder;
    struct sotto_provenance whose; /* of the records, and what an encoder brings to it */
    char text[DP_SGD_TEXT], condition[2 * PUBLIC_ENCODER_TEXT];
    struct held_file held;            /* room for the output */
    struct held_file held_checkpoint; /* and for the first checkpoint, until the charge */
};
enum { OUTPUT_ROOM = 1 << 16 /* of metadata and certificate */ };

/* ---- a step ---- */

/* From `step` on. Sums are on the lattice of the noise, so the account does not depend on the dimension. */
static struct sotto_dpsgd_request dp_sgd_request(const struct sotto_train_privacy *p, size_t batch, size_t n,
                                                 size_t units, size_t dimension, uint64_t step,
                                                 const char *dataset_id)
{
    const size_t left =
        step < p->steps ? p->steps - (size_t)step : 1; /* 1: for the certificate of what is done */
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = p->noise,
                                                    .noise_multiplier = p->noise_multiplier,
                                                    .sample_rate = sampling_rate(p->sampling, batch, units),
                                                    .steps = left < p->reserve ? left : p->reserve,
                                                    .delta = p->target.delta,
                                                    .adjacency = p->adjacency,
                                                    .sampling = p->sampling},
                                        .max_grad_norm = dp_sgd_follows_quantile(p) ? 1 : p->max_grad_norm,
                                        .dimension = dimension,
                                        .first_step = (size_t)step,
                                        .spend =
                                            spend_complete(&p->spend, dataset_id, "network by DP-SGD", step),
                                        .records = n,
                                        .persons = p->persons ? units : 0,
                                        .on_lattice = 1};
}

static sotto_status dp_sgd_reserve(struct private_run *r, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    if (r->t.team) /* a stop on any rank: nothing is charged that would be drawn anew */
        TRY(team_agree(r->t.team, context_check(r->t.ctx, "train: stopped before a charge")));
    /* the old one stays until then: should this fail, it tells what was charged */
    struct sotto_dpsgd_session *next;
    struct sotto_dpsgd_request request = dp_sgd_request(&r->p, r->t.options.batch, r->t.n, r->units,
                                                        r->dimension, step, r->t.data->dataset_id);
    request.run = r->state.run[0] ? r->state.run : NULL;
    TRY(dpsgd_ranks_reserve(&next, &request, r->t.team, r->t.ctx));
    sotto_dpsgd_session_close(r->reserved);
    r->reserved = next;
    snprintf(r->state.run, sizeof r->state.run, "%s", sotto_dpsgd_session_run(r->reserved));
done:
    return status;
}

/* The weights that the last step left, into their average; short runs weigh their beginning less. */
static void dp_sgd_average(struct private_run *r, uint64_t step)
{
    const struct nn_model *now = r->t.model, *mean = r->state.average;
    if (!mean || step == 0)
        return;
    float decay = (float)fmin(r->p.average, (1 + (double)step) / (10 + (double)step));
    for (size_t i = 0; i < now->trainable; i++)
        mean->values[i] += (1 - decay) * (now->values[i] - mean->values[i]);
}

/* Of several ranks the first alone adds what canaries add, and sees the steps. */
static struct sotto_canaries *dp_sgd_observed(const struct private_run *r)
{
    return sotto_team_rank(r->t.team) == 0 ? r->p.canaries : NULL;
}

/* The rows of a unit that are in a step and count, in t.data. Which are asked is public. */
static size_t rows_of_unit(int64_t *rows, const struct private_run *r, uint32_t unit, uint64_t step)
{
    uint32_t place[UNIT_ROWS_IN_STEP]; /* of a record the first alone */
    size_t asked = 1, kept = 0;
    place[0] = unit;
    if (r->persons.count)
        asked = head_units_rows(place, &r->persons, unit, (size_t)step);
    for (size_t i = 0; i < asked; i++) {
        rows[kept] = r->t.rows[place[i]];
        kept += r->records.labels[rows[kept]] != SILENT_NOTHING;
    }
    return kept;
}

/* The first of the sample and their rows, without those that count as nothing: their part in a sum is 0, and they have no class. A
 * person with fewer rows than are shown has the first of them again. */
static size_t keep_counted(struct private_run *r, size_t drawn, uint64_t step)
{
    size_t kept = 0;
    for (size_t i = 0; i < drawn; i++) {
        int64_t *rows = r->rows + kept * r->shown;
        const size_t own = rows_of_unit(rows, r, r->sample[i], step);
        for (size_t k = own; own && k < r->shown; k++)
            rows[k] = rows[k - own];
        r->sample[kept] = r->sample[i];
        kept += own > 0;
    }
    return kept;
}

static sotto_status dp_sgd_draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    struct private_run *r = state;
    if (sotto_dpsgd_session_used(r->reserved) == r->p.reserve)
        TRY(dp_sgd_reserve(r, step));
    size_t drawn;
    TRY(dpsgd_ranks_sample(r->reserved, r->sample, &drawn, r->units));
    canary_note(dp_sgd_observed(r), r->sample, drawn);
    *rows = r->rows;
    *n = keep_counted(r, drawn, step);
done:
    return status;
}

/* By the record, not by its place in the sample: a record more must not change what others contribute, and
 * the seed of augmentation is public. */
static struct record_view view_of(const struct private_run *r, int64_t row, size_t view, uint64_t step)
{
    const struct sotto_train_options *o = &r->t.options;
    return record_view_draw(o->flip, o->crop, o->seed, step, (uint64_t)row * r->p.views + view);
}

enum { BLOCK = 64 };

/* A square image (size, size, channels) by so many quarter turns, anti-clockwise. */
static void turn_image(float *image, size_t channels, size_t size, size_t turns)
{
    const size_t last = size - 1;
    for (; turns > 0; turns--)
        for (size_t y = 0; y < size / 2; y++)
            for (size_t x = 0; x < (size + 1) / 2; x++) {
                const size_t at[4] = {y * size + x, x * size + last - y, (last - y) * size + last - x,
                                      (last - x) * size + y};
                for (size_t c = 0; c < channels; c++) {
                    const float first = image[at[0] * channels + c];
                    for (size_t k = 0; k < 3; k++)
                        image[at[k] * channels + c] = image[at[k + 1] * channels + c];
                    image[at[3] * channels + c] = first;
                }
            }
}

/* Input and labels: the views of a record lie side by side, after each of its turns, and so do the records of a person. */
static void dp_sgd_fill(float *input, int64_t *labels, void *state, size_t first, size_t count, uint64_t step)
{
    const struct private_run *r = state;
    const struct supervised *t = &r->t;
    const size_t views = r->p.views, each = views * r->turns, all = count * r->shown * each,
                 values = t->config.input.channels * t->config.input.height * t->config.input.width;
    const bool moves = t->options.flip || t->options.crop;
    int64_t rows[BLOCK];
    struct record_view view[BLOCK];
    for (size_t i = 0; i < all; i++) {
        const size_t k = i % BLOCK;
        rows[k] = r->rows[first * r->shown + i / each];
        labels[i] = r->turns > 1 ? (int64_t)(i / views % r->turns) : t->data->labels[rows[k]];
        if (moves)
            view[k] = view_of(r, rows[k], i % views, step);
        if (k + 1 == BLOCK || i + 1 == all)
            record_input_fill(input + (i - k) * values, &t->input, rows, k + 1, moves ? view : NULL);
    }
    for (size_t i = 0; i < all && r->turns > 1; i++)
        turn_image(input + i * values, t->config.input.channels, t->config.input.height, (size_t)labels[i]);
}

/* The sum over all ranks, on rank 0: of whole numbers, so any order gives the same bits. */
static sotto_status gather_reference(struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_team *team = r->t.team;
    const size_t bytes = r->dimension * sizeof *r->reference, rank = sotto_team_rank(team);
    for (size_t k = 1; k < sotto_team_size(team); k++)
        if (rank == 0) {
            TRY(team_exchange(team, r->reference, 0, k, r->others, bytes, k));
            for (size_t i = 0; i < r->dimension; i++)
                r->reference[i] += r->others[i];
        } else if (rank == k) {
            TRY(team_exchange(team, r->reference, bytes, 0, r->sum, 0, 0));
        }
done:
    if (r->others) /* it has no noise */
        base_wipe(r->others, bytes);
    return status;
}

/* What the other records add where canaries are, by a sample of the observer's own, in lattice steps. */
static sotto_status sum_reference(struct private_run *r, const struct nn_clip *clip, double rate,
                                  uint64_t step)
{
    struct example_counts counts;
    const size_t n = keep_counted(r, canary_own_sample(r->sample, r->p.canaries, rate, step), step);
    sotto_status status = example_sums_take(r->reference, &counts, r->sums, r->sample, n, clip, step);
    TRY(team_agree(r->t.team, status));
    TRY(gather_reference(r));
done:
    return status;
}

static sotto_status dp_sgd_gradient(struct training_batch *out, void *state, const int64_t *rows, size_t n,
                                    uint64_t step)
{
    sotto_status status = SOTTO_OK;
    struct private_run *r = state;
    const bool quantile = dp_sgd_follows_quantile(&r->p);
    const double unit = sotto_dpsgd_session_lattice(r->reserved),
                 share = quantile ? r->shares.gradient : r->p.max_grad_norm,
                 count = floor(r->shares.count / unit);
    const struct nn_clip clip = {.kind = dp_sgd_clipping(&r->p),
                                 .norm = r->state.clip * r->fault.clip,
                                 .bound = example_sums_bound(r->sums, share / unit) * r->fault.clip,
                                 .gamma = 0.01};
    const struct canary_step seen = {.amount = floor(clip.bound) * unit,
                                     .scale = r->p.noise_multiplier * (quantile ? 1 : r->p.max_grad_norm),
                                     .rate = sampling_rate(r->p.sampling, r->t.options.batch, r->units),
                                     .unit = unit,
                                     .logistic = strcmp(r->p.noise, "logistic") == 0};
    struct example_counts counts;
    size_t batch = r->t.options.batch;
    double scale = 1 / (double)batch;
    const bool top_only = supervised_warms_up(&r->t, step);
    (void)rows;
    example_sums_train_top(r->sums, top_only);
    TRY(team_agree(r->t.team, example_sums_take(r->sum, &counts, r->sums, r->sample, n, &clip, step)));
    if (quantile) {
        r->sum[r->parameters] = count * (2 * (double)counts.below - (double)counts.examples);
        scale *= r->state.clip / share;
    }
    canary_add(dp_sgd_observed(r), r->sum, floor(clip.bound));
    if (r->reference)
        TRY(sum_reference(r, &clip, seen.rate, step));
    dp_sgd_average(r, step); /* a step that was stopped is drawn again: not before */
    TRY(dpsgd_ranks_step(r->reserved, r->sum));
    canary_observe(dp_sgd_observed(r), r->sum, r->reference, &seen);
    if (quantile)
        r->state.clip =
            dp_sgd_next_clip(r->state.clip, r->sum[r->parameters], count * unit, batch, r->p.quantile);
    if (top_only) /* noise alone */
        memset(r->sum, 0, (r->parameters - r->top) * sizeof *r->sum);
    nn_model_set_gradient(r->t.model, r->sum, scale, r->t.threads);
    *out = (struct training_batch){0, 0}; /* the losses are private */
done:
    return status;
}

/* ---- a run ---- */

static sotto_status dp_sgd_plan(struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    struct supervised *t = &r->t;
    const size_t views = r->p.views * r->turns * r->shown;                 /* of a unit */
    const size_t timed = (r->p.part ? r->p.part : 1 + 63 / views) * views; /* rows, by autotune() */
    TRY(dp_sgd_describe(r->text, &r->p));
    supervised_change(t, r->p.steps, timed, views, r->text);
    TRY(supervised_plan(t));
    t->input.threads = 1; /* parts are filled side by side */
    r->ctx = *t->ctx;
    const struct example_sums_config sums = {.backend = r->fault.backend ? r->fault.backend
                                                                         : autotune_backend(&t->choice),
                                             .dtype = autotune_dtype(&t->choice),
                                             .views = views,
                                             .slots = r->units,
                                             .rate = sampling_rate(r->p.sampling, t->options.batch, r->units),
                                             .part = r->p.part,
                                             .rank = sotto_team_rank(t->team),
                                             .ranks = sotto_team_size(t->team),
                                             .threads = t->threads,
                                             .ctx = &r->ctx,
                                             .fill = dp_sgd_fill,
                                             .state = r};
    TRY(example_sums_create(&r->sums, t->model, &sums));
    t->plan_bytes = example_sums_bytes(r->sums);
    if (r->p.average > 0) {
        TRY(nn_model_create_blank(&r->state.average, &t->config));
        memcpy(r->state.average->values, t->model->values, t->model->trainable * sizeof(float));
    }
    r->parameters = nn_model_trained_count(t->model);
    r->top = nn_model_top_count(t->model);
    r->dimension = r->parameters + (size_t)dp_sgd_follows_quantile(&r->p);
    r->shares = dp_sgd_shares_of(r->p.noise_multiplier, t->options.batch);
    r->state.clip = r->p.max_grad_norm;
    NEW(r->sample, r->units);
    NEW(r->rows, r->units * r->shown);
    NEW(r->sum, r->dimension);
    if (canary_is_gradient(r->p.canaries))
        NEW(r->reference, r->dimension);
    if (r->reference && sotto_team_size(t->team) > 1 && dp_sgd_observed(r))
        NEW(r->others, r->dimension);
    TRY(canary_begin(dp_sgd_observed(r), r->parameters));
done:
    return status;
}

/* What can fail on one rank alone before anything is charged. Rank 0 writes the output. */
static sotto_status dp_sgd_prepare(struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(dp_sgd_plan(r));
    const size_t bytes = nn_model_parameter_count(r->t.model, 1) * sizeof(float);
    if (sotto_team_rank(r->t.team) > 0)
        goto done;
    if (r->p.output)
        TRY(file_hold(&r->held, r->p.output, bytes + OUTPUT_ROOM));
    if (r->t.options.checkpoint) /* weights, their average, two moments */
        TRY(file_hold(&r->held_checkpoint, r->t.options.checkpoint, 4 * bytes + OUTPUT_ROOM));
done:
    return status;
}

static sotto_status check_same_run(const struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    char recipe[SAME_RUN_RECIPE], machine[LEAVES_MACHINE];
    TRY(dp_sgd_describe_charge(recipe, r->t.recipe, &r->p));
    snprintf(machine, sizeof machine, "kernels=%.16s\nbackend=%s\n", example_sums_kernels(r->sums),
             nn_backend_title(autotune_backend(&r->t.choice)));
    TRY(same_run_check(r->t.team, recipe, machine));
done:
    return status;
}

static void dp_sgd_clear(struct private_run *r)
{
    file_release(&r->held);
    file_release(&r->held_checkpoint);
    training_loop_release(&r->loop);
    sotto_dpsgd_session_close(r->reserved);
    example_sums_free(r->sums); /* its plans point into the model */
    nn_model_free(r->state.average);
    supervised_clear(&r->t);
    silent_records_clear(&r->records);
    sotto_provenance_clear(&r->whose);
    head_units_clear(&r->persons);
    base_free(r->sample);
    base_free(r->rows);
    base_free(r->sum);
    base_free(r->reference);
    base_free(r->others);
}

/* What was seen, also of a run that was stopped; the stop is what is told. */
static void keep_canaries(struct private_run *r, sotto_status ended)
{
    struct status_record stopped;
    status_get(&stopped);
    if (canary_keep(dp_sgd_observed(r)) != SOTTO_OK && ended != SOTTO_OK)
        status_set(&stopped);
}

static void dp_sgd_keep(void *state)
{
    struct private_run *r = state;
    r->ctx.stop = r->t.ctx->stop;
}

static sotto_status dp_sgd_run(struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    supervised_loop(&r->loop, &r->t);
    r->loop.ctx = &r->ctx;
    r->loop.origin.secret = &r->state;
    r->loop.step = (struct training_step){
        .state = r, .draw = dp_sgd_draw, .gradient = dp_sgd_gradient, .keep = dp_sgd_keep};
    TRY(training_loop_resume(&r->loop));
    supervised_announce(&r->t, &r->loop);
    TRY(dp_sgd_reserve(r, r->loop.progress.step));
    r->ctx.stop = NULL;
    file_release(&r->held_checkpoint);
    if (r->loop.resumed)
        context_log(
            r->t.ctx, SOTTO_LOG_WARNING,
            "train: what the ledger holds of the interrupted run stays charged; the remaining steps are "
            "charged again");
    status = training_loop_run(&r->loop);
    keep_canaries(r, status);
    TRY(status);
    dp_sgd_average(r, r->loop.progress.step);
    if (r->state.average)
        memcpy(r->t.model->values, r->state.average->values, r->t.model->trainable * sizeof(float));
done:
    return status;
}

/* What was trained, and on what it stands. */
static sotto_status add_tuning(struct sotto_certificate *c, const struct sotto_network *n,
                               struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    char *names = NULL;
    encoder_standing_add(&r->encoder, sotto_certificate_account(c));
    TRY(pretrained_trained(&names, n->model));
    struct certificate_tuning tuning = {
        .trained = r->parameters, .frozen = sotto_network_parameters(n) - r->parameters, .tensors = names};
    if (r->t.moments) {
        strcpy(tuning.standardise, r->encoder.moments);
        pretrained_moments_sha256(tuning.standardise_sha256, n->model);
    }
    TRY(certificate_add_tuning(c, &tuning, sotto_encoder_sha256(r->t.encoder), r->encoder.statement));
done:
    base_free(names);
    return status;
}

static sotto_status dp_sgd_finish(struct sotto_network **out, struct sotto_certificate **certificate,
                                  struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_network *n = NULL;
    struct sotto_certificate *text = NULL;
    example_sums_free(r->sums); /* the network takes the model over */
    r->sums = NULL;
    TRY(supervised_finish(&n, &r->t, ""));
    TRY(network_add_fact(n, "private_recipe", r->text));
    if (r->p.spend.insecure)
        TRY(network_add_fact(n, "randomness", "noise was seeded: no privacy guarantee"));
    if (sotto_team_rank(r->t.team) == 0) {
        TRY(sotto_dpsgd_session_certificate(&text, r->reserved));
        if (r->t.encoder)
            TRY(add_tuning(text, n, r));
        certificate_add_classes(text, r->records.data.classes, silent_records_classes_by(&r->records, &r->p));
    }
    *certificate = text;
    *out = n;
    text = NULL;
    n = NULL;
done:
    sotto_certificate_free(text);
    sotto_network_free(n);
    return status;
}

/* What the encoder was made from meets the records before anything is prepared; each charge does it again. */
static sotto_status meet_encoder(struct private_run *r, const struct sotto_dataset *data,
                                 const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance shaped = {0};
    const char *given = r->p.spend.dataset_id, *dataset_id;
    char condition[CONDITION_TEXT];
    struct privacy_unit unit = {0};
    if (r->p.spend.provenance)
        TRY(sotto_provenance_copy(&r->whose, r->p.spend.provenance));
    else {
        TRY(sotto_provenance_of_rows(&r->whose, data, r->t.rows, r->t.n));
        r->whose.rows_per_person = 0; /* the unit is the caller's */
        r->whose.person[0] = '\0';
        if (given && strcmp(given, r->whose.dataset_id) != 0)
            sotto_provenance_clear(&r->whose);
    }
    TRY(pretrained_shape(&shaped, r->t.encoder, o, !r->encoder.certified));
    TRY(sotto_provenance_shape(&r->whose, NULL, NULL, &shaped, 0));
    r->p.spend.provenance = &r->whose;
    struct sotto_spend complete = spend_complete(&r->p.spend, data->dataset_id, NULL, 0);
    complete.planned = NULL; /* which the reservation sees to */
    TRY(spend_check(&dataset_id, condition, &unit, &complete));
done:
    sotto_provenance_clear(&shaped);
    return status;
}

/* May it start from this encoder, and what does its epsilon rest on then? */
static sotto_status stand_on_encoder(struct private_run *r, const struct sotto_dataset *data,
                                     const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    const char *given = r->p.spend.condition;
    TRY(encoder_standing_find(&r->encoder, r->t.encoder, o->from, o->standardise, data, r->t.rows, r->t.n,
                              r->p.adjacency, r->p.encoder_by, r->t.ctx));
    TRY(meet_encoder(r, data, o));
    if (!r->encoder.certified)
        goto done;
    int length = snprintf(r->condition, sizeof r->condition, "%s%s%s", given ? given : "",
                          given && given[0] ? ", and on " : "", r->encoder.condition);
    REQUIRE((size_t)length < sizeof r->condition, "condition: %d characters are too many beside an encoder's",
            length);
    r->p.spend.condition = r->condition;
done:
    return status;
}

/* Persons as units, where the caller named them. */
static sotto_status take_persons(struct private_run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_privacy *p = &r->p;
    r->units = r->t.n;
    r->shown = 1;
    r->turns = dp_sgd_turns(p);
    REQUIRE(r->turns == 1 || (r->t.data->images && r->t.config.input.height == r->t.config.input.width),
            "objective rotation needs square images (data set '%s')", r->t.data->name);
    if (p->unit == SOTTO_UNIT_RECORD)
        p->persons = NULL;
    TRY(head_units_require(p->unit, p->persons, p->rows_per_step, p->canaries));
    if (!p->persons)
        goto done;
    TRY(head_units_make(&r->persons, p->persons, r->t.n, p->rows_per_step, r->t.options.seed));
    TRY(head_units_cap(&r->persons, &p->spend));
    r->units = r->persons.count;
    r->shown = p->rows_per_step = r->persons.most;
done:
    return status;
}

sotto_status dp_sgd_train(struct sotto_network **out, struct sotto_certificate **certificate,
                          struct sotto_train_result *result, const struct sotto_dataset *data,
                          const int64_t *rows, size_t n, const struct sotto_train_options *options,
                          const struct sotto_train_privacy *privacy, const struct dp_sgd_fault *fault,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct private_run r = {.fault = fault ? *fault : (struct dp_sgd_fault){0}};
    struct sotto_train_result found;
    struct sotto_train_options o = {0};
    struct sotto_context own = ctx ? *ctx : (struct sotto_context){0};
    const struct sotto_team *team = own.team;
    int64_t *all = NULL;
    own.team = NULL; /* other calls refuse one */
    ctx = &own;
    if (r.fault.clip == 0)
        r.fault.clip = 1;
    TRY(train_options_resolve(&o, options));
    TRY(train_privacy_resolve(&r.p, privacy));
    REQUIRE(o.augment_noise == 0, "augment_noise is for plain training; DP-SGD adds noise to gradients");
    if (!rows) {
        n = data->n;
        NEW(all, n);
        for (size_t i = 0; i < n; i++)
            all[i] = (int64_t)i;
    }
    TRY(silent_records_make(&r.records, data, &r.p));
    TRY(supervised_resolve(&r.t, &r.records.data, rows ? rows : all, n, &o, ctx));
    r.t.team = team;
    if (r.p.objective && !r.t.encoder && r.t.data->images) /* what an encoder takes */
        TRY(encoder_input(&r.t.config.input, r.t.data));
    TRY(supervised_rows_once(&r.t));
    TRY(take_persons(&r));
    TRY(dp_sgd_resolve(&r.p, &r.t.options, r.units, ctx));
    if (r.t.encoder)
        TRY(stand_on_encoder(&r, data, &o));
    TRY(team_agree(team, dp_sgd_prepare(&r)));
    TRY(check_same_run(&r));
    TRY(crowding_check(team, "train", r.t.threads, ctx));
    TRY(dp_sgd_run(&r));
    supervised_report(&found, &r.t, &r.loop);
    found.loss = found.accuracy = NAN;
    TRY(dp_sgd_finish(out, certificate, &r));
    if (result)
        *result = found;
done:
    par_set_threads(pool);
    if (status == SOTTO_ESTOPPED && o.checkpoint && !r.p.canaries)
        dpsgd_session_settle(r.reserved, ctx);
    if (status != SOTTO_OK)
        charge_name_steps(r.reserved, charge_continues(o.checkpoint));
    dp_sgd_clear(&r);
    base_free(all);
    return status;
}

sotto_status dp_sgd_event(struct planned_event *out, size_t n, const struct sotto_train_options *options,
                          const struct sotto_train_privacy *privacy, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options o;
    struct sotto_train_privacy p;
    TRY(train_options_resolve(&o, options));
    TRY(train_options_check(&o));
    TRY(train_privacy_resolve(&p, privacy));
    p.persons = NULL; /* plans know the rows of a person one by one */
    TRY(dp_sgd_resolve(&p, &o, n, ctx));
    const struct sotto_dpsgd_request request = dp_sgd_request(&p, o.batch, n, n, 1, 0, NULL);
    TRY(dpsgd_as_event(out, &request, ctx));
done:
    return status;
}

sotto_status sotto_train_private(struct sotto_network **out, struct sotto_certificate **certificate,
                                 struct sotto_train_result *result, const struct sotto_dataset *data,
                                 const int64_t *rows, size_t n, const struct sotto_train_options *options,
                                 const struct sotto_train_privacy *privacy, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, certificate, data, privacy);
    return dp_sgd_train(out, certificate, result, data, rows, n, options, privacy, NULL, ctx);
}

sotto_status sotto_network_save_private(const char *path, const struct sotto_network *n,
                                        const struct sotto_certificate *certificate)
{
    REQUIRE_GIVEN(path, n, certificate);
    sotto_status status = SOTTO_OK;
    char hash[SHA256_HEX], *beside = NULL;
    size_t capacity = strlen(path) + 32;
    beside = base_alloc(capacity, 1);
    if (!beside)
        FAIL(SOTTO_ENOMEM, "network: out of memory");
    snprintf(beside, capacity, "%s.certificate.json", path);
    TRY(sotto_network_save(path, n));
    TRY(sha256_file(hash, path));
    TRY(sotto_certificate_save(beside, certificate, hash));
    TRY(sotto_provenance_save(path, &(struct sotto_provenance){0})); /* of a file that lay there before */
done:
    if (status != SOTTO_OK)
        charge_name_certificate(certificate, "with its checkpoint the same command continues");
    base_free(beside);
    return status;
}
