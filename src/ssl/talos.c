/* The adversary's side of a step. Rows of the plan are view after view (row v N + i is view v of image i),
 * and all views of an image share its attribute. */
#include "ssl/talos.h"

#include "io/metric_log.h"
#include "nn/checkpoint.h"
#include "nn/model.h"

#include <math.h>
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
    REQUIRE(varies, "talos: every image has attribute %lld; there is nothing to hide",
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

sotto_status talos_resolve(struct talos_setup *out, const struct sotto_talos *options,
                           const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct talos_setup s = {.on = options != NULL};
    if (!options)
        goto done;
    const char *alternation = options->alternation ? options->alternation : "odd-even";
    s.two_pass = strcmp(alternation, "two-pass") == 0;
    REQUIRE(s.two_pass || strcmp(alternation, "odd-even") == 0,
            "alternation '%s' is unknown; expected one of: odd-even, two-pass", alternation);
    s.bounded = options->bounded != 0;
    s.lambda = options->lambda;
    REQUIRE(s.lambda >= 0 && isfinite(s.lambda), "lambda must be finite and >= 0 (got %g)", s.lambda);
    s.attribute = options->attribute ? options->attribute : data->attribute;
    if (!s.attribute) {
        status = status_fail(SOTTO_EINVAL, "talos: data set '%s' has no attribute to hide", data->name);
        status_hint("give one value for each of its %zu rows", data->n);
        goto done;
    }
    TRY(check_attribute(&s, rows, n));
    TRY(hash_attribute(&s, rows, n));
done:
    if (status == SOTTO_OK)
        *out = s;
    return status;
}

struct nn_adversary talos_adversary(const struct talos_setup *s)
{
    return (struct nn_adversary){
        .values = s->values, .hidden = {WIDTH, WIDTH}, .hidden_count = 2, .reversal = s->lambda};
}

size_t talos_passes(const struct talos_setup *s)
{
    return s->two_pass ? 2 : 1;
}

/* Algorithm 1 counts epochs from 1: the odd ones, so passes 0, 2, ..., are the adversary's. The released code
 * has two passes in every epoch, the encoder's first. */
bool talos_teaches_adversary(const struct talos_setup *s, uint64_t pass)
{
    return pass % 2 == (s->two_pass ? 1 : 0);
}

/* ---- a run ---- */

struct talos {
    const struct talos_setup *setup;
    struct nn_plan *plan;
    struct tensor_list task, adversary;
    struct nn_optimizer *task_optimizer;
    struct checkpoint_adversary state;
    size_t images, views;
    int64_t *labels; /* (views * images) */
};

sotto_status talos_create(struct talos **out, const struct talos_setup *s, struct nn_model *model,
                          struct nn_plan *plan, const struct nn_optimizer_config *config, size_t images,
                          size_t views)
{
    sotto_status status = SOTTO_OK;
    struct talos *t = base_alloc(1, sizeof *t);
    if (!t)
        FAIL(SOTTO_ENOMEM, "talos: out of memory");
    *t = (struct talos){.setup = s,
                        .plan = plan,
                        .task = model_task_tensors(model),
                        .adversary = model_adversary_tensors(model),
                        .images = images,
                        .views = views};
    TRY(optimizer_create(&t->task_optimizer, &t->task, config));
    TRY(optimizer_create(&t->state.optimizer, &t->adversary, config));
    t->labels = base_alloc(views * images, sizeof *t->labels);
    if (!t->labels)
        FAIL(SOTTO_ENOMEM, "talos: out of memory");
    *out = t;
    t = NULL;
done:
    talos_free(t);
    return status;
}

void talos_free(struct talos *t)
{
    if (!t)
        return;
    nn_optimizer_free(t->task_optimizer);
    nn_optimizer_free(t->state.optimizer);
    base_free(t->labels);
    base_free(t);
}

struct nn_optimizer *talos_task_optimizer(struct talos *t)
{
    return t->task_optimizer;
}

static double accuracy(const float *logits, const int64_t *labels, size_t n, size_t values)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        const float *row = logits + i * values;
        size_t best = 0;
        for (size_t k = 1; k < values; k++)
            best = row[k] > row[best] ? k : best;
        hits += best == (size_t)labels[i];
    }
    return (double)hits / (double)n;
}

/* -L_C has no lower end: while C stands still the encoder can make it as wrong as it likes, and in the end
 * does nothing else. Bounded, a record stops to count once C knows no more of it than someone who knows only
 * how often each value occurs. */
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

sotto_status talos_loss(struct talos *t, const int64_t *rows, bool adversary)
{
    size_t n = t->views * t->images;
    const float *logits = nn_plan_adversary_output(t->plan);
    for (size_t i = 0; i < n; i++)
        t->labels[i] = t->setup->attribute[rows[i % t->images]];
    double loss =
        loss_softmax_cross_entropy(nn_plan_adversary_diff(t->plan), logits, t->labels, n, t->setup->values);
    if (t->setup->bounded && !adversary)
        talos_bound(nn_plan_adversary_diff(t->plan), logits, t->labels, n, t->setup);
    if (!isfinite(loss))
        return status_fail(SOTTO_EDIVERGED, "talos: the adversary's loss became %s",
                           isnan(loss) ? "NaN" : "infinite");
    t->state.loss_sum += loss;
    t->state.accuracy_sum += accuracy(logits, t->labels, n, t->setup->values);
    t->state.steps++;
    return SOTTO_OK;
}

void talos_update(struct talos *t, double lr, bool adversary)
{
    if (adversary)
        optimizer_step(t->state.optimizer, &t->adversary, lr);
    else
        optimizer_step(t->task_optimizer, &t->task, lr);
}

sotto_status talos_log(struct talos *t, struct metric_log *log, uint64_t step, double seconds)
{
    sotto_status status = SOTTO_OK;
    struct checkpoint_adversary *s = &t->state;
    s->epoch_loss = s->loss_sum / s->steps;
    s->epoch_accuracy = s->accuracy_sum / s->steps;
    s->loss_sum = s->accuracy_sum = s->steps = 0;
    TRY(metric_log_write(log, step, "train", "adversary_loss", s->epoch_loss, seconds));
    TRY(metric_log_write(log, step, "train", "adversary_accuracy", s->epoch_accuracy, seconds));
done:
    return status;
}

double talos_epoch_loss(const struct talos *t)
{
    return t->state.epoch_loss;
}

double talos_epoch_accuracy(const struct talos *t)
{
    return t->state.epoch_accuracy;
}

struct checkpoint_adversary *talos_state(struct talos *t)
{
    return &t->state;
}
