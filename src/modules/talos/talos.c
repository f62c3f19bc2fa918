/* The adversary's side of a step. Rows of a leaf are view after view, then perhaps the images themselves as one view more; all of
 * an image share its attribute. C reads a run of these views. */
#include "talos/talos_part.h"

#include "io/table/metric_log.h"
#include "nn/loop/checkpoint.h"
#include "nn/model/model.h"
#include "options/module_tables.h"
#include "base/choice.h"
#include "sotto/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 64 };

/* ---- settings ---- */

static sotto_status check_attribute(struct talos_setup *s, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    bool varies = false;
    for (size_t i = 0; i < n; i++) {
        int64_t value = s->attribute[rows[i]];
        REQUIRE(value >= 0 && value < TALOS_VALUES_MAX,
                "talos: row %lld has attribute %lld; expected 0 to %d", (long long)rows[i], (long long)value,
                TALOS_VALUES_MAX - 1);
        varies |= value != s->attribute[rows[0]];
        s->values = (size_t)value >= s->values ? (size_t)value + 1 : s->values;
        s->share[value] += 1 / (double)n;
    }
    REQUIRE(varies, "talos: every image has attribute %lld; expected at least two values",
            (long long)s->attribute[rows[0]]);
done:
    return status;
}

static sotto_status hash_attribute(struct talos_setup *s, const int64_t *rows, size_t n)
{
    int64_t *column = base_alloc(n, sizeof *column);
    if (!column)
        return status_fail(SOTTO_ENOMEM, "talos: out of memory for %zu attributes", n);
    for (size_t i = 0; i < n; i++)
        column[i] = s->attribute[rows[i]];
    sha256_of(s->sha256, column, n * sizeof *column);
    base_free(column);
    return SOTTO_OK;
}

static sotto_status talos_settle(struct talos_setup *out, const struct sotto_talos *given,
                                 const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct talos_setup s = {0};
    struct sotto_talos full, *options = &full;
    TRY(sotto_options_resolve(options, given, options_talos));
    const char *alternation = options->alternation;
    s.two_pass = strcmp(alternation, "two-pass") == 0;
    s.joint = strcmp(alternation, "joint") == 0;
    if (!s.two_pass && !s.joint && strcmp(alternation, "odd-even") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "alternation", alternation, "odd-even, two-pass or joint"));
    const char *reads = options->reads;
    s.of_images = strcmp(reads, "images") == 0;
    s.images = s.of_images || strcmp(reads, "views-of-three") == 0;
    if (!s.images && strcmp(reads, "views") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "classifier: reads", reads, "views, images or views-of-three"));
    s.bounded = options->bounded != 0;
    s.relu_logits = options->relu_logits != 0;
    s.adversary_steps = options->adversary_steps;
    REQUIRE(s.adversary_steps >= 1 && s.adversary_steps <= 1000,
            "adversary_steps must be at least 1 and at most 1000 (got %zu)", s.adversary_steps);
    s.lambda = options->lambda;
    REQUIRE(s.lambda >= 0 && isfinite(s.lambda), "lambda must be finite and >= 0 (got %g)", s.lambda);
    s.attribute = options->attribute ? options->attribute : data->attribute;
    if (!s.attribute) {
        status = status_fail(SOTTO_EINVAL, "talos: data set '%s' has no attribute", data->name);
        status_hint("give an attribute for each of its %zu rows", data->n);
        goto done;
    }
    TRY(check_attribute(&s, rows, n));
    TRY(hash_attribute(&s, rows, n));
done:
    if (status == SOTTO_OK)
        *out = s;
    return status;
}

static sotto_status talos_resolve(void **setup, const void *options, const struct sotto_dataset *data,
                                  const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    static const struct sotto_talos defaults = {0};
    struct talos_setup *s = NULL;
    NEW(s, 1);
    TRY(talos_settle(s, options ? options : &defaults, data, rows, n));
    *setup = s;
    s = NULL;
done:
    base_free(s);
    return status;
}

static struct nn_adversary talos_branch(const void *setup)
{
    const struct talos_setup *s = setup;
    return (struct nn_adversary){.values = s->values,
                                 .hidden = {WIDTH, WIDTH},
                                 .hidden_count = 2,
                                 .reversal = s->lambda,
                                 .relu_logits = s->relu_logits};
}

static size_t talos_inputs(const void *setup)
{
    return ((const struct talos_setup *)setup)->images;
}

static size_t talos_passes(const void *setup)
{
    const struct talos_setup *s = setup;
    return s->two_pass ? 2 : 1;
}

static int talos_recipe(char *out, size_t capacity, const void *setup)
{
    const struct talos_setup *s = setup;
    const int used = snprintf(out, capacity, "talos=%s\nlambda=%.17g\nattribute=%s\n%s%s%s",
                              s->two_pass ? "two-pass"
                              : s->joint  ? "joint"
                                          : "odd-even",
                              s->lambda, s->sha256, s->bounded ? "bounded=yes\n" : "",
                              s->relu_logits ? "relu_logits=yes\n" : "",
                              s->of_images ? "reads=images\n"
                              : s->images  ? "reads=views-of-three\n"
                                           : "");
    if (s->adversary_steps <= 1 || used < 0 || (size_t)used >= capacity)
        return used;
    return used + snprintf(out + used, capacity - (size_t)used, "adversary_steps=%zu\n", s->adversary_steps);
}

/* Algorithm 1 counts epochs from 1: the odd ones, so passes 0, 2, ..., are the adversary's. The released code
 * has two passes in every epoch, the encoder's first. */
static enum pretrain_turn talos_turn(const void *setup, uint64_t pass)
{
    const struct talos_setup *s = setup;
    return s->joint ? TURN_BOTH : pass % 2 == (s->two_pass ? 1 : 0) ? TURN_BRANCH : TURN_ENCODER;
}

/* ---- a run ---- */

struct talos {
    const struct talos_setup *setup;
    struct leaves *leaves;
    struct tensor_list task, adversary;
    struct nn_optimizer *task_optimizer;
    struct checkpoint_adversary state;
    struct nn_optimizer *optimizer_before; /* C's, and its weights one after the other: to take steps back */
    float *weights_before;
    size_t images, views;        /* of a step; of each, itself counted where it goes along */
    size_t first_view, end_view; /* those that C reads */
    int64_t *labels;             /* (images) */
    double loss, accuracy;       /* of this step */
};

static void talos_release(void *state)
{
    struct talos *t = state;
    if (!t)
        return;
    nn_optimizer_free(t->task_optimizer);
    nn_optimizer_free(t->state.optimizer);
    nn_optimizer_free(t->optimizer_before);
    base_free(t->weights_before);
    base_free(t->labels);
    base_free(t);
}

static size_t talos_weights(const struct talos *t)
{
    size_t weights = 0;
    for (size_t i = 0; i < t->adversary.count; i++)
        weights += t->adversary.items[i].count;
    return weights;
}

static sotto_status talos_create(void **state, const void *setup, struct nn_model *model,
                                 struct leaves *leaves, const struct nn_optimizer_config *config,
                                 size_t images, size_t views)
{
    const struct talos_setup *s = setup;
    sotto_status status = SOTTO_OK;
    struct talos *t = NULL;
    NEW(t, 1);
    *t = (struct talos){.setup = s,
                        .leaves = leaves,
                        .task = model_task_tensors(model),
                        .adversary = model_adversary_tensors(model),
                        .images = images,
                        .views = views + s->images,
                        .first_view = s->of_images ? views : 0,
                        .end_view = s->of_images ? views + 1 : views};
    TRY(optimizer_create(&t->task_optimizer, &t->task, config));
    TRY(optimizer_create(&t->state.optimizer, &t->adversary, config));
    TRY(optimizer_create(&t->optimizer_before, &t->adversary, config));
    NEW(t->weights_before, talos_weights(t));
    NEW(t->labels, images);
    *state = t;
    t = NULL;
done:
    talos_release(t);
    return status;
}

static struct nn_optimizer *talos_optimizer(void *state)
{
    return ((struct talos *)state)->task_optimizer;
}

static size_t talos_optimizer_bytes(const void *state)
{
    const struct talos *t = state;
    return nn_optimizer_bytes(t->task_optimizer) + 2 * nn_optimizer_bytes(t->state.optimizer);
}

static size_t talos_exchange_bytes(const void *state)
{
    const struct talos *t = state;
    return 8 * t->setup->adversary_steps * talos_weights(t);
}

static bool is_read(const struct talos *t, size_t view)
{
    return view >= t->first_view && view < t->end_view;
}

/* How many rows of the leaf C has right. */
static double right_of(float *diff, const float *logits, void *state, const struct leaf *leaf)
{
    const struct talos *t = state;
    const size_t values = t->setup->values;
    size_t right = 0;
    (void)diff;
    for (size_t v = t->first_view; v < t->end_view; v++)
        for (size_t i = 0; i < leaf->count; i++) {
            const float *row = logits + (v * leaf->room + i) * values;
            size_t best = 0;
            for (size_t k = 1; k < values; k++)
                best = row[k] > row[best] ? k : best;
            right += best == (size_t)t->labels[leaf->first + i];
        }
    return (double)right;
}

/* -L_C has no lower end: while C stands still the encoder can make it as wrong as it likes, and in the end
 * does nothing else. Bounded, a record stops to count once C predicts it no better than the frequencies of
 * the values do. */
void talos_bound(float *diff, const float *logits, const int64_t *labels, size_t n,
                 const struct talos_setup *s)
{
    size_t values = s->values;
    for (size_t i = 0; i < n; i++, diff += values, logits += values) {
        size_t own = (size_t)labels[i];
        double sum = 0; /* 1 / the probability of the record's own value */
        for (size_t k = 0; k < values; k++)
            sum += exp((double)logits[k] - (double)logits[own]);
        if (1 / sum <= s->share[own])
            memset(diff, 0, values * sizeof *diff);
    }
}

static size_t rows_read(const struct talos *t)
{
    return (t->end_view - t->first_view) * t->images;
}

/* The sum of the leaf's losses, and the gradient of L_C, which is their mean over the step: 0 in rows that C does not read. Row by
 * row, so that one leaf of the whole step adds up in the order of its rows. */
static double cross_entropy(float *diff, const float *logits, void *state, const struct leaf *leaf)
{
    const struct talos *t = state;
    const size_t values = t->setup->values, n = rows_read(t);
    double sum = 0;
    for (size_t v = 0; v < t->views; v++)
        for (size_t i = 0; i < leaf->count; i++) {
            const size_t at = (v * leaf->room + i) * values;
            if (is_read(t, v))
                sum += loss_softmax_sum(diff + at, logits + at, &t->labels[leaf->first + i], 1, values, n);
            else
                memset(diff + at, 0, values * sizeof *diff);
        }
    return sum;
}

/* The same with the gradient for the encoder. */
static double loss_of(float *diff, const float *logits, void *state, const struct leaf *leaf)
{
    const struct talos *t = state;
    const double sum = cross_entropy(diff, logits, state, leaf);
    for (size_t v = t->first_view; v < t->end_view && t->setup->bounded; v++) {
        const size_t at = v * leaf->room * t->setup->values;
        talos_bound(diff + at, logits + at, t->labels + leaf->first, leaf->count, t->setup);
    }
    return sum;
}

static sotto_status talos_loss(void *state, const int64_t *rows)
{
    struct talos *t = state;
    const double n = (double)rows_read(t);
    for (size_t i = 0; i < t->images; i++)
        t->labels[i] = t->setup->attribute[rows[i]];
    const double loss = leaves_sum_adversary(t->leaves, loss_of, t) / n;
    if (!isfinite(loss))
        return status_fail(SOTTO_EDIVERGED, "talos: the adversary's loss became %s",
                           isnan(loss) ? "NaN" : "infinite");
    t->loss = loss;
    t->accuracy = leaves_sum_adversary(t->leaves, right_of, t) / n;
    return SOTTO_OK;
}

static void keep_adversary(struct talos *t)
{
    float *to = t->weights_before;
    optimizer_copy(t->optimizer_before, t->state.optimizer);
    for (size_t i = 0; i < t->adversary.count; to += t->adversary.items[i++].count)
        memcpy(to, t->adversary.items[i].value, t->adversary.items[i].count * sizeof *to);
}

static void take_back_adversary(struct talos *t)
{
    const float *from = t->weights_before;
    optimizer_copy(t->state.optimizer, t->optimizer_before);
    for (size_t i = 0; i < t->adversary.count; from += t->adversary.items[i++].count)
        memcpy(t->adversary.items[i].value, from, t->adversary.items[i].count * sizeof *from);
}

static sotto_status adversary_steps(struct talos *t, double lr)
{
    sotto_status status = SOTTO_OK;
    keep_adversary(t);
    for (size_t i = 0; i < t->setup->adversary_steps; i++) {
        TRY(leaves_step_adversary(t->leaves, cross_entropy, t));
        optimizer_step(t->state.optimizer, &t->adversary, lr);
    }
done:
    if (status != SOTTO_OK)
        take_back_adversary(t);
    return status;
}

static sotto_status talos_update(void *state, double lr, enum pretrain_turn turn)
{
    struct talos *t = state;
    sotto_status status = SOTTO_OK;
    if (turn & TURN_BRANCH) /* first, as it may stop */
        TRY(adversary_steps(t, lr));
    if (turn & TURN_ENCODER)
        optimizer_step(t->task_optimizer, &t->task, lr);
    t->state.loss_sum += t->loss;
    t->state.accuracy_sum += t->accuracy;
    t->state.steps++;
done:
    return status;
}

static sotto_status talos_log(void *state, struct metric_log *log, uint64_t step, double seconds)
{
    sotto_status status = SOTTO_OK;
    struct checkpoint_adversary *s = &((struct talos *)state)->state;
    s->epoch_loss = s->loss_sum / s->steps;
    s->epoch_accuracy = s->accuracy_sum / s->steps;
    s->loss_sum = s->accuracy_sum = s->steps = 0;
    TRY(metric_log_write(log, step, "train", "adversary_loss", s->epoch_loss, seconds));
    TRY(metric_log_write(log, step, "train", "adversary_accuracy", s->epoch_accuracy, seconds));
done:
    return status;
}

static struct checkpoint_adversary *talos_checkpoint(void *state)
{
    return &((struct talos *)state)->state;
}

const struct pretrain_part pretrain_part_talos = {
    .name = "talos",
    .method = "simclr",
    .fact = "censored against one classifier during training; no guarantee",
    .resolve = talos_resolve,
    .inputs = talos_inputs,
    .passes = talos_passes,
    .recipe = talos_recipe,
    .branch = talos_branch,
    .turn = talos_turn,
    .create = talos_create,
    .loss = talos_loss,
    .update = talos_update,
    .optimizer = talos_optimizer,
    .optimizer_bytes = talos_optimizer_bytes,
    .exchange_bytes = talos_exchange_bytes,
    .checkpoint = talos_checkpoint,
    .log = talos_log,
    .release = talos_release};
