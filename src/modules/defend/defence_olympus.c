/* Olympus (Raval et al. 2019), as "Quantifying and Mitigating Privacy Risks of Contrastive Learning" puts it
 * between encoder and classifier: an auto-encoder O (256, 128 | 128, 256), a linear classifier U of the task
 * and an adversary A (64, 64) on what O makes of standardised embeddings. Batch by batch in turns:
 *
 *     A:     minimise CE(A(O(x)), s), s the attribute
 *     O, U:  minimise (1 - alpha) CE(U(O(x)), y) + alpha KL(A(O(x)) || prior)
 *                     + reconstruction |O(x) - x|^2 / D
 *
 * so O makes the adversary answer the prior whatever it sees. The paper gives no weights. What is shown is
 * x + t (O(x) - x), t <= 1 such that no row moves further than the budget (root mean square over its
 * columns): training does not know of the budget, so a tight one undoes the defence; the record shows how
 * much. */
#include "defend/defence.h"

#include "nn/nn.h"
#include "nn/tensor_list.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { ALPHA, RECONSTRUCTION, EPOCHS, RATE, BATCH, TURNS };
static const struct parameter params[] = {
    {"alpha", "weight of the adversary's loss relative to the task's", 0.7, 0, 1, false},
    {"reconstruct", "weight of the reconstruction error", 0.1, 0, 1e6, false},
    {"epochs", "passes over the known rows", 100, 1, 1e6, true},
    {"lr", "learning rate of auto-encoder, task and adversary (Adam)", 1e-3, 1e-9, 10, false},
    {"batch", "rows per step", 128, 1, 65536, true},
    {"turns", "steps of the adversary for each step of the auto-encoder", 1, 1, 1000, true},
    {0}};

/* One of the three, in training: f32, no ReLU after the last layer. */
struct player {
    struct nn_model *model;
    struct nn_plan *plan;
    struct nn_optimizer *adam;
    size_t batch, inputs, outputs;
};

/* The fitted state: standardisation and the auto-encoder's weights. */
struct model {
    size_t d;
    double *mean, *scale; /* (d) */
    struct nn_model *coder;
    double budget;
};

struct training {
    struct model *m;
    const struct defence_fit *in;
    struct player coder, adversary, task;
    float *rows;               /* (n, d) standardised */
    float *x;                  /* (batch, d) */
    float *diff, *diff_answer; /* (batch, d); (batch, largest number of answers) */
    double *prior;             /* (values) */
    int64_t *order, *y;        /* (n); (batch) */
    size_t batch, batches, served;
};

static void defence_olympus_standardise(const struct model *m, float *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n * m->d; i++) {
        size_t j = i % m->d;
        out[i] = m->scale[j] > 0 ? (float)(((double)x[i] - m->mean[j]) / m->scale[j]) : 0;
    }
}

static void measure_columns(struct model *m, const struct sotto_defence_known *k)
{
    for (size_t j = 0; j < m->d; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < k->n; i++)
            sum += (double)k->x[i * m->d + j];
        m->mean[j] = sum / (double)k->n;
        for (size_t i = 0; i < k->n; i++)
            squares += pow((double)k->x[i * m->d + j] - m->mean[j], 2);
        m->scale[j] = sqrt(squares / (double)k->n);
    }
}

/* Glorot uniform weights from rng_stream(seed, RNG_INIT, stream, layer), zero biases. */
static void draw_weights(const struct nn_model *model, uint64_t seed, uint64_t stream)
{
    const struct tensor_list *tensors = nn_model_tensors(model);
    for (size_t l = 0; 2 * l < tensors->count; l++) {
        struct rng r = rng_stream(seed, RNG_INIT, stream, l);
        const struct tensor *weight = &tensors->items[2 * l], *bias = &tensors->items[2 * l + 1];
        size_t inputs = weight->count / bias->count, outputs = bias->count;
        double limit = sqrt(6 / (double)(inputs + outputs));
        for (size_t i = 0; i < weight->count; i++)
            weight->value[i] = (float)(limit * (2 * rng_unit(&r) - 1));
    }
}

static sotto_status player_make(struct player *p, const struct nn_model_config *network, size_t batch,
                                uint64_t seed, uint64_t stream)
{
    sotto_status status = SOTTO_OK;
    const struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    struct nn_plan_config plan = {.batch = batch, .dtype = NN_F32, .training = 1, .input_gradient = 1};
    p->batch = batch, p->inputs = network->input.channels, p->outputs = network->classes;
    TRY(nn_backend_find(&plan.backend, "auto"));
    TRY(nn_model_create(&p->model, network, seed));
    draw_weights(p->model, seed, stream);
    TRY(nn_plan_create(&p->plan, p->model, &plan));
    TRY(nn_optimizer_create(&p->adam, p->model, &adam));
done:
    return status;
}

static void player_clear(struct player *p)
{
    nn_optimizer_free(p->adam);
    nn_plan_free(p->plan);
    nn_model_free(p->model);
    *p = (struct player){0};
}

/* Outputs of x (batch, inputs), borrowed. */
static const float *defence_olympus_ask(struct player *p, const float *x)
{
    memcpy(nn_plan_input(p->plan), x, p->batch * p->inputs * sizeof *x);
    nn_plan_forward(p->plan, 1, 0, 0);
    return nn_plan_output(p->plan);
}

/* From the gradient by the outputs of the last defence_olympus_ask(): that of all weights, and by the input,
 * borrowed. */
static const float *defence_olympus_blame(struct player *p, const float *diff)
{
    memcpy(nn_plan_diff_output(p->plan), diff, p->batch * p->outputs * sizeof *diff);
    nn_plan_backward(p->plan);
    return nn_plan_input_gradient(p->plan);
}

static sotto_status players_make(struct training *t)
{
    sotto_status status = SOTTO_OK;
    const struct defence_fit *in = t->in;
    const struct nn_shape row = {t->m->d, 1, 1};
    const struct nn_model_config coder = {
        .name = "mlp", .input = row, .classes = row.channels, .hidden = {256, 128, 256}, .hidden_count = 3};
    const struct nn_model_config adversary = {
        .name = "mlp", .input = row, .classes = in->values, .hidden = {64, 64}, .hidden_count = 2};
    const struct nn_model_config task = {.name = "mlp", .input = row, .classes = in->classes};
    TRY(player_make(&t->coder, &coder, t->batch, in->seed, 1));
    TRY(player_make(&t->adversary, &adversary, t->batch, in->seed, 2));
    TRY(player_make(&t->task, &task, t->batch, in->seed, 3));
done:
    return status;
}

static sotto_status training_make(struct training *t)
{
    sotto_status status = SOTTO_OK;
    const struct defence_fit *in = t->in;
    size_t d = t->m->d, n = in->known->n, most = in->values > in->classes ? in->values : in->classes;
    t->batch = (size_t)in->args[BATCH] < n ? (size_t)in->args[BATCH] : n;
    t->batches = n / t->batch; /* what is left over waits for another order */
    TRY(players_make(t));
    NEW_ROWS(t->rows, n, d);
    NEW_ROWS(t->x, t->batch, d);
    NEW_ROWS(t->diff, t->batch, d);
    NEW_ROWS(t->diff_answer, t->batch, most);
    NEW(t->prior, in->values);
    NEW(t->order, n);
    NEW(t->y, t->batch);
    defence_olympus_standardise(t->m, t->rows, in->known->x, n);
    for (size_t i = 0; i < n; i++) {
        t->prior[in->known->protected_label[i]] += 1 / (double)n;
        t->order[i] = (int64_t)i;
    }
    for (size_t v = 0; v < in->values; v++)
        t->prior[v] = fmax(t->prior[v], 0.5 / (double)n); /* a value that no record has */
done:
    return status;
}

static void training_clear(struct training *t)
{
    player_clear(&t->coder);
    player_clear(&t->adversary);
    player_clear(&t->task);
    base_free(t->rows);
    base_free(t->x);
    base_free(t->diff);
    base_free(t->diff_answer);
    base_free(t->prior);
    base_free(t->order);
    base_free(t->y);
}

/* The next batch's rows and, as y, the given labels. A new order when all were served. */
static void defence_olympus_serve(struct training *t, const int64_t *labels)
{
    size_t place = t->served % t->batches, n = t->in->known->n;
    if (place == 0) {
        struct rng r = rng_stream(t->in->seed, RNG_ORDER, t->served / t->batches, 9);
        rng_shuffle(&r, t->order, n);
    }
    for (size_t i = 0; i < t->batch; i++) {
        size_t row = (size_t)t->order[place * t->batch + i];
        memcpy(t->x + i * t->m->d, t->rows + row * t->m->d, t->m->d * sizeof *t->x);
        t->y[i] = labels[row];
    }
    t->served++;
}

static double turn_of_adversary(struct training *t)
{
    defence_olympus_serve(t, t->in->known->protected_label);
    const float *shown = defence_olympus_ask(&t->coder, t->x);
    const float *answer = defence_olympus_ask(&t->adversary, shown);
    double loss = loss_softmax_cross_entropy(t->diff_answer, answer, t->y, t->batch, t->in->values);
    defence_olympus_blame(&t->adversary, t->diff_answer);
    nn_optimizer_step(t->adversary.adam, t->adversary.model, t->in->args[RATE]);
    return loss;
}

/* Gradient of mean KL(q || prior), q = softmax(logits): q_v (ln(q_v / prior_v) - KL) / n. This way round it
 * is bounded: of a sure adversary KL(prior || q) has no bound, and running from it O forgets the task. */
static void push_to_prior(float *diff, const float *logits, const double *prior, size_t n, size_t values)
{
    for (size_t i = 0; i < n; i++, logits += values, diff += values) {
        double top = (double)logits[0], sum = 0, far = 0;
        for (size_t v = 1; v < values; v++)
            top = fmax(top, (double)logits[v]);
        for (size_t v = 0; v < values; v++)
            sum += exp((double)logits[v] - top);
        for (size_t v = 0; v < values; v++) {
            double log_q = (double)logits[v] - top - log(sum), log_ratio = log_q - log(prior[v]);
            diff[v] = (float)log_ratio;
            far += exp(log_q) * log_ratio;
        }
        for (size_t v = 0; v < values; v++)
            diff[v] = (float)(exp((double)logits[v] - top) / sum * ((double)diff[v] - far) / (double)n);
    }
}

static double turn_of_coder(struct training *t)
{
    const double alpha = t->in->args[ALPHA], near = t->in->args[RECONSTRUCTION];
    size_t cells = t->batch * t->m->d;
    defence_olympus_serve(t, t->in->known->label);
    const float *shown = defence_olympus_ask(&t->coder, t->x);
    const float *answer = defence_olympus_ask(&t->task, shown);
    double loss = loss_softmax_cross_entropy(t->diff_answer, answer, t->y, t->batch, t->in->classes);
    const float *by_task = defence_olympus_blame(&t->task, t->diff_answer);
    answer = defence_olympus_ask(&t->adversary, shown);
    push_to_prior(t->diff_answer, answer, t->prior, t->batch, t->in->values);
    const float *by_adversary = defence_olympus_blame(&t->adversary, t->diff_answer);
    for (size_t i = 0; i < cells; i++)
        t->diff[i] = (float)((1 - alpha) * (double)by_task[i] + alpha * (double)by_adversary[i] +
                             2 * near * ((double)shown[i] - (double)t->x[i]) / (double)cells);
    defence_olympus_blame(&t->coder, t->diff);
    nn_optimizer_step(t->coder.adam, t->coder.model, t->in->args[RATE]);
    nn_optimizer_step(t->task.adam, t->task.model, t->in->args[RATE]);
    return loss;
}

static sotto_status defence_olympus_train(struct training *t)
{
    sotto_status status = SOTTO_OK;
    size_t epochs = (size_t)t->in->args[EPOCHS], turns = (size_t)t->in->args[TURNS];
    double against = 0, task = 0;
    for (size_t epoch = 0; epoch < epochs; epoch++) {
        for (size_t b = 0; b < t->batches; b++) {
            for (size_t k = 0; k < turns; k++)
                against = turn_of_adversary(t);
            task = turn_of_coder(t);
        }
        if (!isfinite(against) || !isfinite(task))
            FAIL(SOTTO_EDIVERGED, "olympus: training diverged in epoch %zu; try a smaller lr", epoch + 1);
        if (context_stopped(t->in->ctx))
            FAIL(SOTTO_ESTOPPED, "olympus: stopped after epoch %zu", epoch + 1);
        context_progress(t->in->ctx, "olympus", epoch + 1, epochs, "epochs");
    }
done:
    return status;
}

static sotto_status defence_olympus_fit(void **model, const struct defence_fit *in)
{
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct model *m = NULL;
    struct training t = {.in = in};
    NEW(m, 1);
    t.m = *model = m;
    m->d = in->known->d, m->budget = in->budget;
    NEW(m->mean, 2 * m->d);
    m->scale = m->mean + m->d;
    measure_columns(m, in->known);
    par_set_threads(1); /* so that the bits do not depend on their number; the products are small anyway */
    TRY(training_make(&t));
    TRY(defence_olympus_train(&t));
    m->coder = t.coder.model;
    t.coder.model = NULL;
done:
    par_set_threads(pool);
    if (m)
        training_clear(&t);
    return status;
}

static void defence_olympus_release(void *model)
{
    struct model *m = model;
    nn_model_free(m->coder);
    base_free(m->mean);
    base_free(m);
}

/* Layer by layer without the training's memory, so that several threads can do it. value, next: (256 or
 * d). */
static void defence_olympus_encode(float *out, const struct model *m, float *value, float *next)
{
    const struct tensor_list *tensors = nn_model_tensors(m->coder);
    for (size_t t = 0; t < tensors->count; t += 2) {
        const struct tensor *weight = &tensors->items[t], *bias = &tensors->items[t + 1];
        size_t inputs = weight->count / bias->count;
        bool last = t + 2 == tensors->count;
        for (size_t o = 0; o < bias->count; o++) {
            double sum = (double)bias->value[o];
            for (size_t i = 0; i < inputs; i++)
                sum += (double)weight->value[o * inputs + i] * (double)value[i];
            (last ? out : next)[o] = (float)(last || sum > 0 ? sum : 0);
        }
        float *swap = value;
        value = next, next = swap;
    }
}

static sotto_status defence_olympus_apply(float *out, double *cost, const void *model, const float *x,
                                          size_t n, size_t d)
{
    sotto_status status = SOTTO_OK;
    const struct model *m = model;
    size_t room = d > 256 ? d : 256;
    float *memory = NULL;
    NEW(memory, 2 * room + 2 * d);
    float *value = memory, *row = memory + 2 * room, *shown = row + d;
    for (size_t i = 0; i < n; i++, x += d, out += d) {
        double squares = 0;
        defence_olympus_standardise(m, row, x, 1);
        memcpy(value, row, d * sizeof *row);
        defence_olympus_encode(shown, m, value, memory + room);
        for (size_t j = 0; j < d; j++)
            squares += pow((double)shown[j] - (double)row[j], 2);
        double far = sqrt(squares / (double)d), share = far > m->budget ? m->budget / far : 1;
        for (size_t j = 0; j < d; j++)
            out[j] = (float)((double)x[j] + share * m->scale[j] * ((double)shown[j] - (double)row[j]));
        cost[i] = fmin(far, m->budget);
    }
done:
    base_free(memory);
    return status;
}

const struct defence defence_olympus = {
    .name = "olympus",
    .title = "embeddings passed through an auto-encoder trained for a task and against an adversary",
    .source = "Raval et al. 2019",
    .unit =
        "largest root-mean-square change of a row, in standard deviations of the columns over the known rows",
    .usual_budget = 10,
    .needs = DEFENCE_SECRETS | DEFENCE_LABELS,
    .params = params,
    .fit = defence_olympus_fit,
    .apply = defence_olympus_apply,
    .release = defence_olympus_release};
