/* Training on inputs that were released with noise: what is proved rests on the noise alone (derivations/
 * residual.md, section 1). Every epoch all inputs are clipped and released anew by the reservation that was
 * charged; the training below sees nothing else of them, so weights, losses and checkpoints are
 * post-processing. Labels are used as they are, and count as public, or are released once, before the first
 * step, by randomised response.
 *
 * The network is trained without its row of input noise, because its inputs have it already, and gets that
 * row back at the end: it answers as one that was trained with noise of its own.
 *
 * On ranks rank 0 alone charges, reads the private inputs and draws all noise; the others get what was released, and train on it
 * together, as on public records. */
#include "train/private/noisy_inputs.h"

#include "base/file.h"
#include "dp/account/risk.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/require.h"
#include "dp/release/charge_hint.h"
#include "dp/release/clip_row.h"
#include "dp/release/dpsgd_session.h"
#include "io/json/json.h"
#include "nn/loop/same_run.h"
#include "nn/model/model.h"
#include "par/crowding.h"
#include "par/par.h"
#include "par/ranks.h"
#include "train/plain/supervised.h"
#include "train/private/dp_sgd.h"
#include "train/private/silent_records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct noisy_run {
    struct supervised t; /* first: the step's own gradient takes it for its state */
    struct training_loop loop;
    struct sotto_train_privacy p;
    const struct sotto_dataset *data; /* the private records */
    struct silent_records records;    /* what data points to */
    const int64_t *rows;              /* (n), of data */
    struct sotto_dataset released;    /* what training sees: one noisy copy of them */
    float *inputs;                    /* (n, d) of it */
    int64_t *labels, *all;            /* (n): of it; 0 .. n - 1 */
    size_t n, d;
    double radius, noise;
    struct sotto_residual_noise asked;    /* as the options said, with the noise that was found */
    const struct sotto_team *team;        /* NULL: alone */
    struct sotto_dpsgd_session *reserved; /* rank 0's */
    size_t used;                          /* epochs of it */
    struct checkpoint_private state;
    uint64_t epoch; /* that `inputs` belongs to; UINT64_MAX: none */
    char rows_sha256[SHA256_HEX], text[NOISY_INPUTS_TEXT];
    struct held_file held;            /* room for the output */
    struct held_file held_checkpoint; /* and for the first checkpoint, until the charge */
};

/* ---- the release ---- */

static bool noisy_inputs_charges(const struct noisy_run *r)
{
    return sotto_team_rank(r->team) == 0;
}

/* Once for the whole run: its checkpoints keep the result, and which ledger entry was charged for it. The
 * seeded twin of this stream is none of the inputs'. */
static sotto_status prepare_labels(struct label_release *out, struct noisy_run *r)
{
    const struct sotto_train_privacy *p = &r->p;
    struct sotto_release request = {.mechanism = "randomised-response",
                                    .target = {p->label_epsilon, SOTTO_DELTA_PURE},
                                    .sensitivity = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                    .spend = spend_complete(&p->spend, r->data->dataset_id,
                                                            "labels of a network on noisy inputs",
                                                            (uint64_t)1 << 63),
                                    .records = r->n};
    /* one budget for labels and inputs: that of the labels alone would be of delta 0, which no input fits into */
    request.spend.budget.delta = spend_delta(p->spend.budget.delta, p->target.delta);
    return label_release_make(out, r->labels, r->n, r->data->classes, &request, r->t.ctx);
}

/* Labels and first inputs are one charge: both, or neither. */
static sotto_status charge_both(struct sotto_dpsgd_session **out, struct noisy_run *r,
                                const struct sotto_dpsgd_request *request)
{
    sotto_status status = SOTTO_OK;
    struct label_release labels;
    struct sotto_certificate *of_labels = NULL;
    TRY(prepare_labels(&labels, r));
    TRY(dpsgd_reserve_with_labels(out, &of_labels, request, &labels, r->t.ctx));
    snprintf(r->state.label_entry, sizeof r->state.label_entry, "%s", sotto_certificate_hash(of_labels));
done:
    sotto_certificate_free(of_labels);
    return status;
}

static sotto_status reserve_here(struct noisy_run *r, uint64_t epoch, bool with_labels)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_train_privacy *p = &r->p;
    struct sotto_dpsgd_session *next;
    size_t epochs = r->t.options.epochs,
           left = epoch < epochs ? epochs - (size_t)epoch : 1; /* 1: for the certificate of what is done */
    const struct sotto_dpsgd_request request = {
        .sampled = {.mechanism = "gaussian",
                    .noise_multiplier = r->noise / r->radius,
                    .sample_rate = 1,
                    .steps = left < p->reserve ? left : p->reserve,
                    .delta = p->target.delta,
                    .adjacency = SOTTO_REPLACE_INPUT},
        .max_grad_norm = r->radius,
        .dimension = r->n * r->d,
        .first_step = (size_t)epoch,
        .spend = spend_complete(&p->spend, r->data->dataset_id, "network on noisy inputs", epoch),
        .records = r->n,
        .run = r->state.run[0] ? r->state.run : NULL,
        .labels = r->state.labels && !with_labels ? r->state.label_entry : NULL};
    TRY(with_labels ? charge_both(&next, r, &request) : sotto_dp_reserve(&next, &request, r->t.ctx));
    sotto_dpsgd_session_close(r->reserved);
    r->reserved = next;
    snprintf(r->state.run, sizeof r->state.run, "%s", sotto_dpsgd_session_run(r->reserved));
done:
    return status;
}

/* with_labels: these are released too, and the other ranks forget them as they were. */
static sotto_status noisy_inputs_reserve(struct noisy_run *r, uint64_t epoch, bool with_labels)
{
    sotto_status status = SOTTO_OK;
    TRY(team_agree(r->team, noisy_inputs_charges(r) ? reserve_here(r, epoch, with_labels) : SOTTO_OK));
    r->used = 0;
    TRY(team_broadcast(r->team, r->state.run, sizeof r->state.run));
    if (with_labels) {
        TRY(team_broadcast(r->team, r->labels, r->n * sizeof *r->labels));
        TRY(team_broadcast(r->team, r->state.label_entry, sizeof r->state.label_entry));
    }
done:
    return status;
}

static void take_input(float *out, const struct noisy_run *r, size_t i)
{
    size_t at = (size_t)r->rows[i] * r->d;
    for (size_t j = 0; j < r->d; j++)
        out[j] = r->data->labels[r->rows[i]] == SILENT_NOTHING ? 0
                 : r->data->images                             ? (float)r->data->images[at + j] / 255.0f
                                                               : r->data->features[at + j];
}

static sotto_status release_here(struct noisy_run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        take_input(r->inputs + i * r->d, r, i);
        clip_row(r->inputs + i * r->d, r->d, r->radius, SOTTO_NORM_L2);
    }
    return dp_step_float(r->reserved, r->inputs);
}

/* What all see of the inputs, in messages that MPI takes. */
static sotto_status share_inputs(struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    const size_t cells = r->n * r->d, most = (size_t)1 << 26;
    for (size_t at = 0; r->team && at < cells; at += most)
        TRY(team_broadcast(r->team, r->inputs + at,
                           (cells - at < most ? cells - at : most) * sizeof *r->inputs));
done:
    return status;
}

static sotto_status noisy_inputs_release(struct noisy_run *r, uint64_t epoch)
{
    sotto_status status = SOTTO_OK;
    TRY(team_agree(r->team, noisy_inputs_charges(r) ? release_here(r) : SOTTO_OK));
    TRY(share_inputs(r));
    r->used++;
    r->epoch = epoch;
done:
    return status;
}

static sotto_status noisy_inputs_draw(const int64_t **rows, size_t *n, void *state, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    struct noisy_run *r = state;
    uint64_t epoch = step / r->t.steps_per_epoch;
    if (epoch != r->epoch) {
        if (r->used == r->p.reserve)
            TRY(noisy_inputs_reserve(r, epoch, false));
        TRY(noisy_inputs_release(r, epoch));
    }
    *rows = epoch_order_batch(&r->t.order, step);
    *n = r->t.order.batch;
done:
    return status;
}

/* ---- before ---- */

static sotto_status check_asked(const struct noisy_run *r, const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_residual_noise *a = &o->residual;
    const bool risk = risk_given(&r->p.risk), target = !risk && spend_given(r->p.target.epsilon);
    TRY(risk_require_alone(&r->p.risk, spend_given(r->p.target.epsilon) || a->input_noise > 0));
    REQUIRE(!risk || !(r->p.label_epsilon > 0),
            "a risk is that of one release, and labels would be another one; give a target epsilon");
    REQUIRE(o->augment_noise == 0,
            "augment_noise is for plain training; certified inputs have noise of their own");
    REQUIRE(r->p.unit != SOTTO_UNIT_PERSON && !r->p.rows_per_step,
            "unit person: training on noisy inputs releases each record; omit it, or train by DP-SGD");
    REQUIRE(!r->p.canaries,
            "canaries: training on noisy inputs has no place for them; omit canaries, or train by DP-SGD");
    REQUIRE(!o->snapshot_every, "snapshot_every: a certificate for inputs is for the file of the last model; "
                                "omit snapshot_every");
    REQUIRE(a->radius > 0 && isfinite(a->radius),
            "a certificate for inputs needs a radius > 0 for clipping (got %g)", a->radius);
    REQUIRE(risk || target != (a->input_noise > 0),
            "a certificate for inputs needs exactly one of input noise > 0 and a target epsilon");
    REQUIRE(!target || r->p.target.epsilon > 0, "epsilon must be > 0 (got %g)", r->p.target.epsilon);
    REQUIRE(r->p.label_epsilon >= 0 && isfinite(r->p.label_epsilon),
            "the epsilon of the labels must be >= 0, where 0 means public labels (got %g)",
            r->p.label_epsilon);
    REQUIRE(!target || r->p.label_epsilon < r->p.target.epsilon,
            "the labels alone need epsilon %g of the target %g; give a larger target epsilon",
            r->p.label_epsilon, r->p.target.epsilon);
    REQUIRE(!a->separate_inputs && !a->independent,
            "a certificate for inputs needs one noisy copy that all members share; omit separate inputs and "
            "independent training");
    REQUIRE(r->p.reserve <= o->epochs,
            "reserve: %zu epochs at a time are more than the %zu epochs of the run", r->p.reserve, o->epochs);
done:
    return status;
}

/* The noise for a target, on the safe side of what the lattice's rounding costs. */
static sotto_status noisy_inputs_calibrate(struct noisy_run *r, size_t epochs,
                                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double multiplier;
    const struct sotto_sampled sampled = {
        .mechanism = "gaussian", .sample_rate = 1, .steps = epochs, .delta = r->p.target.delta};
    double left = (r->p.target.epsilon - r->p.label_epsilon) * (1 - 0x1p-40); /* sums are rounded up */
    TRY(calibrate_sampled_for(&multiplier, &sampled, r->p.label_epsilon > 0 ? left : r->p.target.epsilon,
                              &r->p.risk, ctx));
    const struct dpsgd_facts facts = {.max_grad_norm = r->radius, .dimension = r->n * r->d};
    r->noise = run_noise_multiplier(multiplier, &facts, r->n) * r->radius * (1 + 0x1p-50);
done:
    return status;
}

static sotto_status make_room(struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    size_t cells;
    REQUIRE(size_multiply(&cells, r->n, r->d), "train: %zu records do not fit in memory", r->n);
    NEW(r->inputs, cells);
    NEW(r->labels, r->n);
    NEW(r->all, r->n);
    for (size_t i = 0; i < r->n; i++) {
        int64_t label = r->data->labels[r->rows[i]];
        r->labels[i] = label == SILENT_NOTHING ? 0 : label;
        r->all[i] = (int64_t)i;
    }
    r->released = (struct sotto_dataset){.n = r->n,
                                         .features = r->inputs,
                                         .columns = r->d,
                                         .labels = r->labels,
                                         .classes = r->data->classes,
                                         .synthetic = r->data->synthetic};
    memcpy(r->released.name, r->data->name, sizeof r->released.name);
    if (r->p.label_epsilon > 0) {
        r->state.labels = r->labels;
        r->state.label_count = r->n;
        r->state.classes = r->data->classes;
    }
done:
    return status;
}

static sotto_status noisy_inputs_describe(struct noisy_run *r, char *with_rows, size_t capacity)
{
    sotto_status status = SOTTO_OK;
    int length = snprintf(r->text, sizeof r->text,
                          "trainer=noisy-inputs\nradius=%.17g\ninput_noise=%.17g\nclipped=%d\n"
                          "uses=%zu\nlabel_epsilon=%.17g\ndelta=%.17g\ninsecure=%d\n",
                          r->radius, r->noise, 1, r->t.options.epochs, r->p.label_epsilon, r->p.target.delta,
                          r->p.spend.insecure != 0);
    REQUIRE(length > 0 && (size_t)length < sizeof r->text, "the recipe is too long");
    sha256_of(r->rows_sha256, r->rows, r->n * sizeof *r->rows);
    length = snprintf(with_rows, capacity, "%sprivate=%s\nprivate_rows=%s\n", r->text, r->data->sha256,
                      r->rows_sha256);
    REQUIRE(length > 0 && (size_t)length < capacity, "the recipe is too long");
done:
    return status;
}

/* Records and options, as far as plain training can check them; then those of the release. */
static sotto_status noisy_inputs_resolve(struct noisy_run *r, const struct sotto_train_options *options,
                                         char *with_rows, size_t capacity, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options inner = *options;
    TRY(silent_records_make(&r->records, r->data, &r->p));
    r->data = &r->records.data;
    TRY(supervised_resolve(&r->t, r->data, r->rows, r->n, options, ctx));
    TRY(supervised_rows_once(&r->t));
    TRY(check_asked(r, options));
    r->d = r->t.record.channels * r->t.record.height * r->t.record.width;
    r->radius = options->residual.radius;
    r->noise = options->residual.input_noise;
    if (!r->p.reserve)
        r->p.reserve = options->epochs;
    r->p.target.delta = spend_delta(r->p.target.delta, sotto_default_delta(r->n));
    if (risk_or_epsilon(&r->p.risk, r->p.target.epsilon))
        TRY(noisy_inputs_calibrate(r, options->epochs, ctx));
    r->state.clip = r->radius;
    r->asked = r->t.options.residual;
    r->asked.input_noise = r->noise;
    TRY(make_room(r));
    inner.residual.input_noise = inner.residual.radius = 0;
    if (r->t.record.height > 1 || r->t.record.width > 1) {
        inner.channels = r->t.record.channels;
        inner.height = r->t.record.height;
        inner.width = r->t.record.width;
    }
    TRY(supervised_resolve(&r->t, &r->released, r->all, r->n, &inner, ctx));
    TRY(noisy_inputs_describe(r, with_rows, capacity));
    supervised_change(&r->t, r->t.steps, r->t.plan_rows, 0, with_rows);
    r->t.team = r->team;
done:
    return status;
}

/* ---- the run ---- */

static sotto_status noisy_inputs_run(struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    supervised_loop(&r->loop, &r->t);
    r->loop.origin.secret = &r->state;
    r->loop.step.draw = noisy_inputs_draw;
    TRY(training_loop_resume(&r->loop));
    supervised_announce(&r->t, &r->loop);
    TRY(noisy_inputs_reserve(r, r->loop.progress.step / r->t.steps_per_epoch,
                             r->state.labels && !r->loop.resumed));
    file_release(&r->held_checkpoint);
    if (r->loop.resumed)
        context_log(r->t.ctx, SOTTO_LOG_WARNING,
                    "train: the epochs that the interrupted run had reserved stay charged; the remaining "
                    "epochs, with the interrupted one, are charged again");
    TRY(training_loop_run(&r->loop));
done:
    return status;
}

/* Moves the weights to a network with clipped and noisy inputs. */
static sotto_status add_input_noise(struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors tensors = {0};
    struct nn_model_config config;
    struct nn_model *whole = NULL;
    r->t.options.residual = r->asked;
    TRY(train_model_config(&config, &r->t.options, r->t.record, r->t.config.classes));
    TRY(nn_model_create_blank(&whole, &config));
    TRY(nn_model_export(&tensors, r->t.model, "", 1));
    TRY(nn_model_import(whole, &tensors, "", 1));
    leaves_free(r->t.leaves); /* they point into the model */
    r->t.leaves = NULL;
    nn_model_free(r->t.model);
    r->t.model = whole;
    r->t.config = config;
    whole = NULL;
done:
    nn_model_free(whole);
    sotto_tensors_clear(&tensors);
    return status;
}

static sotto_status noisy_inputs_finish(struct sotto_network **out, struct sotto_certificate **certificate,
                                        struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_network *n = NULL;
    struct sotto_certificate *text = NULL;
    TRY(add_input_noise(r));
    TRY(supervised_finish(&n, &r->t, ""));
    TRY(network_add_fact(n, "input_release", r->text));
    if (r->p.spend.insecure)
        TRY(network_add_fact(n, "randomness", "noise was seeded: no privacy guarantee"));
    if (noisy_inputs_charges(r)) {
        TRY(sotto_dpsgd_session_certificate(&text, r->reserved));
        certificate_add_classes(text, r->data->classes, silent_records_classes_by(&r->records, &r->p));
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

/* What can fail on one rank alone before anything is charged. Rank 0 writes the output. */
static sotto_status noisy_inputs_prepare(struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(supervised_plan(&r->t));
    const size_t bytes = nn_model_parameter_count(r->t.model, 1) * sizeof(float), room = 1 << 16;
    if (!noisy_inputs_charges(r))
        goto done;
    if (r->p.output)
        TRY(file_hold(&r->held, r->p.output, bytes + room));
    if (r->t.options.checkpoint) /* weights, two moments, labels */
        TRY(file_hold(&r->held_checkpoint, r->t.options.checkpoint,
                      3 * bytes + r->n * sizeof *r->labels + room));
done:
    return status;
}

/* Besides the recipe: what the ledger is charged for. */
static sotto_status check_same_run(const struct noisy_run *r)
{
    sotto_status status = SOTTO_OK;
    char recipe[SAME_RUN_RECIPE];
    TRY(dp_sgd_describe_charge(recipe, r->t.recipe, &r->p));
    TRY(same_run_check(r->team, recipe, r->t.machine));
    TRY(crowding_check(r->team, "train", r->t.threads, r->t.ctx));
done:
    return status;
}

static void noisy_inputs_clear(struct noisy_run *r)
{
    file_release(&r->held);
    file_release(&r->held_checkpoint);
    training_loop_release(&r->loop);
    sotto_dpsgd_session_close(r->reserved);
    supervised_clear(&r->t);
    silent_records_clear(&r->records);
    base_free(r->inputs);
    base_free(r->labels);
    base_free(r->all);
}

sotto_status sotto_train_noisy_inputs(struct sotto_network **out, struct sotto_certificate **certificate,
                                      struct sotto_train_result *result, const struct sotto_dataset *data,
                                      const int64_t *rows, size_t n,
                                      const struct sotto_train_options *options,
                                      const struct sotto_train_privacy *privacy,
                                      const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, certificate, data, privacy);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct noisy_run r = {.data = data, .rows = rows, .n = n, .epoch = UINT64_MAX};
    struct sotto_train_result found;
    struct sotto_train_options o = {0};
    struct sotto_context own = ctx ? *ctx : (struct sotto_context){0};
    char with_rows[NOISY_INPUTS_TEXT + 192];
    int64_t *all = NULL;
    r.team = own.team;
    own.team = NULL; /* other calls refuse one */
    TRY(train_options_resolve(&o, options));
    TRY(train_privacy_resolve(&r.p, privacy));
    if (!rows) {
        r.n = data->n;
        NEW(all, r.n);
        for (size_t i = 0; i < r.n; i++)
            all[i] = (int64_t)i;
        r.rows = all;
    }
    TRY(noisy_inputs_resolve(&r, &o, with_rows, sizeof with_rows, &own));
    TRY(team_agree(r.team, noisy_inputs_prepare(&r)));
    TRY(check_same_run(&r));
    TRY(noisy_inputs_run(&r));
    supervised_report(&found, &r.t, &r.loop);
    TRY(noisy_inputs_finish(out, certificate, &r));
    if (result)
        *result = found;
done:
    par_set_threads(pool);
    if (status != SOTTO_OK)
        charge_name_steps(r.reserved, charge_continues(o.checkpoint));
    noisy_inputs_clear(&r);
    base_free(all);
    return status;
}
