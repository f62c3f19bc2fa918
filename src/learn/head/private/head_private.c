/* DP-SGD on a head. What is proved rests on three things here: the records of a step are chosen by
 * the reservation's own coins, the sum is of gradients clipped as head_clip.h says, and nothing else of the
 * records leaves: no loss, no accuracy, no count. The sums, the noise and the update are in double, in the
 * order of a head's file; the network that gives gradients is the one of head_plain.c, or for a linear head
 * head_linear.h, which does all of a step's sum in one pass. */
#include "base/checkpoint_lock.h"
#include "base/file.h"
#include "canary/canaries.h"
#include "dp/account/risk.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/require.h"
#include "dp/noise/fixed_sample.h"
#include "dp/release/charge_hint.h"
#include "dp/release/dpsgd_session.h"
#include "head/private/head_checkpoint.h"
#include "head/private/head_descent.h"
#include "head/private/head_private.h"
#include "head/private/head_units.h"
#include "head/kernel/head_clip.h"
#include "head/kernel/head_linear.h"
#include "head/kernel/head_noisy.h"
#include "head/train/head_plain.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CHECKPOINT_SECONDS = 5, OUTPUT_ROOM = 1 << 16 /* of metadata and certificate */ };
enum { CHUNK = 256 }; /* records with layers in memory at a time; more where a unit has more */

struct private_trainer {
    struct head_plain network; /* weights, layers of `chunk` records */
    size_t chunk;
    struct sotto_head_recipe chunked; /* the run's, with `chunk` as its batch: the network's own */
    const struct head_units *units;   /* persons; NULL: records */
    const struct clip_kernels *kernels;
    const struct noisy_kernels *noisy;
    const struct linear_kernels *one_pass; /* a linear head */
    struct linear_sum linear;
    struct clip_layer clip[HEAD_MAX_LAYERS];
    struct clip_scratch scratch;
    struct arena memory;
    struct head_descent descent;
    size_t weights;                  /* weights and biases */
    size_t count;                    /* what a step releases: these, and "dp-gd": moments of the records */
    double *w;                       /* (count): what is trained, in double */
    double *vector;                  /* (count): the sum, then the privatised mean gradient */
    double *mean, *square;           /* (count): momentum, or Adam's moments; "dp-gd": square sums weights */
    double *average;                 /* (count): moving average of w; NULL: none */
    uint32_t *rows;                  /* (n): the sample of a step */
    double *reference;               /* (count): the sum of an observer's own sample; NULL: none is needed */
    struct sotto_canaries *canaries; /* NULL: none */
    double *record_square;           /* (n): squared norms of the records */
    double *batch_square;            /* (chunk): of those in memory */
    uint32_t *batch_rows;            /* (chunk): units' rows that are in memory */
    size_t *batch_end;               /* (chunk): where each unit ends among them */
};

static size_t head_private_weights(const struct sotto_head_recipe *r, const struct head_data *data)
{
    size_t weights = 0, in = data->d;
    for (size_t l = 0; l < r->hidden_count; in = r->hidden[l++])
        weights += (in + 1) * r->hidden[l];
    return weights + (in + 1) * data->classes;
}

/* What a step releases. */
static size_t head_private_count(const struct sotto_head_recipe *r, const struct head_data *data)
{
    return head_private_weights(r, data) + (head_descent_is(r) ? data->d + 1 : 0);
}

/* Called twice: to measure, then to place. */
static void head_private_layout(struct private_trainer *t, const struct sotto_head_recipe *r)
{
    struct arena *a = &t->memory;
    const struct head_data *data = t->network.data;
    size_t widest = 0;
    for (size_t l = 0; l < t->network.net.layers; l++)
        widest = t->network.net.layer[l].ld > widest ? t->network.net.layer[l].ld : widest;
    t->weights = head_private_weights(r, data);
    t->count = head_private_count(r, data);
    if (head_descent_is(r))
        head_descent_layout(&t->descent, a, data, r);
    if (t->one_pass) {
        const struct head_layer *layer = &t->network.net.layer[0];
        head_linear_layout(&t->linear.scratch, a, layer->in, layer->out);
    } else {
        t->scratch.factor = arena_take(a, t->chunk, sizeof(double));
        t->scratch.row = arena_take(a, t->chunk, sizeof(uint32_t));
        t->scratch.diff = arena_take(a, t->chunk * widest, sizeof(double));
        t->batch_square = arena_take(a, t->chunk, sizeof *t->batch_square);
        t->batch_rows = arena_take(a, t->chunk, sizeof *t->batch_rows);
        t->batch_end = arena_take(a, t->chunk, sizeof *t->batch_end);
    }
    t->w = arena_take(a, t->count, sizeof *t->w);
    t->vector = arena_take(a, t->count, sizeof *t->vector);
    t->mean = arena_take(a, t->count, sizeof *t->mean);
    t->square = arena_take(a, t->count, sizeof *t->square);
    if (r->average > 0)
        t->average = arena_take(a, t->count, sizeof *t->average);
    t->rows = arena_take(a, data->n, sizeof *t->rows);
    if (canary_is_gradient(t->canaries))
        t->reference = arena_take(a, t->count, sizeof *t->reference);
    t->record_square = arena_take(a, data->n, sizeof *t->record_square);
}

static void plan_one_pass(struct private_trainer *t)
{
    const struct head_layer *layer = &t->network.net.layer[0];
    const struct head_data *data = t->network.data;
    t->linear.in = layer->in;
    t->linear.out = layer->out;
    t->linear.x = t->descent.data ? t->descent.z : data->x;
    t->linear.y = data->y;
    t->linear.square = t->record_square;
    t->linear.balance = t->network.net.balance;
    t->linear.w = layer->w;
    t->linear.sum = t->vector;
}

static void plan_layers(struct private_trainer *t)
{
    double *sum = t->vector;
    for (size_t l = 0; l < t->network.net.layers; l++) {
        const struct head_layer *layer = &t->network.net.layer[l], *below = layer - 1;
        t->clip[l] = (struct clip_layer){.in = layer->in,
                                         .out = layer->out,
                                         .ld = layer->ld,
                                         .input = l ? below->value : t->network.x,
                                         .stride = l ? below->ld : layer->in,
                                         .square = l ? NULL : t->batch_square,
                                         .diff = layer->diff,
                                         .sum = sum};
        sum += (layer->in + 1) * layer->out;
    }
}

static sotto_status head_private_plan(struct private_trainer *t, const struct head_data *data,
                                      const struct sotto_head_recipe *recipe, const struct head_units *units,
                                      struct sotto_canaries *canaries)
{
    sotto_status status = SOTTO_OK;
    const struct head_part all = head_part_all(data);
    const size_t chunk = units && units->most > CHUNK ? units->most : CHUNK;
    *t = (struct private_trainer){.chunk = chunk,
                                  .chunked = *recipe,
                                  .units = units,
                                  .kernels = head_clip_kernels_find(),
                                  .noisy = head_noisy_kernels_find(),
                                  .one_pass =
                                      recipe->hidden_count || units ? NULL : head_linear_kernels_find(),
                                  .canaries = canaries};
    t->chunked.batch = chunk;
    TRY(head_plain_plan_part(&t->network, &all,
                             &t->chunked)); /* which does not ask whether the cells are bits */
    head_private_layout(t, &t->chunked);
    TRY(arena_reserve(&t->memory, "private head trainer"));
    head_private_layout(t, &t->chunked);
    if (t->one_pass)
        plan_one_pass(t);
    else
        plan_layers(t);
    if (t->descent.data)
        head_descent_sum(&t->descent);
    else
        t->kernels->squares(t->record_square, data->x, data->n, data->d);
done:
    return status;
}

static void head_private_clear(struct private_trainer *t)
{
    head_plain_clear(&t->network);
    arena_clear(&t->memory);
}

double head_clip_norm(double max_grad_norm, size_t n)
{
    return max_grad_norm / (1 + 2 * (double)n * ((double)n + 8) * 0x1p-53) * (1 - 0x1p-48);
}

double head_clip_norm_of_units(double max_grad_norm, size_t units, size_t rows)
{
    return max_grad_norm / (1 + 2 * (double)CLIP_CANCELS * (double)units * ((double)rows + 8) * 0x1p-53) *
           (1 - 0x1p-48);
}

/* Weights in double, in file order, to the network's padded floats, a row for each input. */
static void show_weights(struct private_trainer *t)
{
    const double *w = t->w;
    for (size_t l = 0; l < t->network.net.layers; l++) {
        const struct head_layer *layer = &t->network.net.layer[l];
        for (size_t o = 0; o < layer->out; o++)
            for (size_t i = 0; i < layer->in; i++)
                layer->w[i * layer->ld + o] = (float)*w++;
        for (size_t o = 0; o < layer->out; o++)
            layer->w[layer->in * layer->ld + o] = (float)*w++;
    }
}

static void head_private_initialise(struct private_trainer *t)
{
    double *w = t->w;
    memset(t->w, 0, t->count * sizeof *t->w);
    for (size_t l = 0; l < t->network.net.layers && !t->descent.data; l++) { /* "dp-gd" starts from 0 */
        const struct head_layer *layer = &t->network.net.layer[l];
        struct head_initial draw = head_initial_start(t->network.recipe->seed, l, layer->out, layer->in);
        for (size_t o = 0; o < layer->out; o++)
            for (size_t i = 0; i < layer->in; i++)
                w[o * layer->in + i] = head_initial_next(&draw);
        w += (layer->in + 1) * layer->out;
    }
    show_weights(t);
}

/* Records of a sample lie far apart: the next ones are on their way while one is copied. */
enum { AHEAD = 4 };
static inline void head_private_fetch(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i += 64 / sizeof *x)
        __builtin_prefetch(x + i);
}

/* Records of the sample that count as nothing leave it: their part of the sum is 0. */
static size_t drop_nothing(uint32_t *rows, size_t count, const int64_t *y)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        rows[kept] = rows[i];
        kept += y[rows[i]] != HEAD_NOTHING;
    }
    return kept;
}

/* The gradients of so many records, each of its own loss, go to the layers; `left`: that follow them in memory. */
static void gradients_of(struct private_trainer *t, const uint32_t *rows, size_t count, size_t left)
{
    struct head_plain *network = &t->network;
    const struct head_data *data = network->data;
    for (size_t r = 0; r < count; r++) {
        size_t record = rows[r];
        if (r + AHEAD < count + left)
            head_private_fetch(data->x + rows[r + AHEAD] * data->d, data->d);
        t->batch_square[r] = t->record_square[record];
        memcpy(network->x + r * data->d, data->x + record * data->d, data->d * sizeof *data->x);
        network->y[r] = data->y[record];
    }
    network->kernels->gradients(&network->net, network->x, network->y, count);
}

/* The clipped sum over the sample. */
static void sum_layers(struct private_trainer *t, size_t count, double norm)
{
    memset(t->vector, 0, t->count * sizeof *t->vector);
    for (size_t start = 0; start < count; start += t->chunk) {
        size_t rows = count - start < t->chunk ? count - start : t->chunk;
        gradients_of(t, t->rows + start, rows, count - start - rows);
        t->kernels->add(t->clip, t->network.net.layers, rows, norm, &t->scratch);
    }
}

/* The same of a sample of persons, whose rows are together in memory. */
static void sum_units(struct private_trainer *t, size_t count, size_t step, double norm)
{
    const struct head_units *u = t->units;
    memset(t->vector, 0, t->count * sizeof *t->vector);
    for (size_t next = 0; next < count;) {
        size_t rows = 0;
        struct clip_units units = {0, t->batch_end};
        for (; next < count && rows + u->most <= t->chunk; next++) {
            const size_t taken = head_units_rows(t->batch_rows + rows, u, t->rows[next], step);
            rows += drop_nothing(t->batch_rows + rows, taken, t->network.data->y);
            t->batch_end[units.count++] = rows;
        }
        gradients_of(t, t->batch_rows, rows, 0);
        t->kernels->add_units(t->clip, t->network.net.layers, &units, norm, &t->scratch);
    }
}

/* Over the records, or persons, that were sampled. */
static void sum_gradients(struct private_trainer *t, size_t count, size_t step, double norm)
{
    if (t->units)
        sum_units(t, count, step, norm);
    else if (t->one_pass)
        t->one_pass->sum(&t->linear, t->rows, drop_nothing(t->rows, count, t->network.data->y), norm);
    else
        sum_layers(t, drop_nothing(t->rows, count, t->network.data->y), norm);
}

/* What a step releases, without noise: moments in the centring steps of "dp-gd", gradients else. */
static void sum_step(struct private_trainer *t, size_t count, size_t step, double norm)
{
    if (step > t->descent.centring) {
        sum_gradients(t, count, step, norm);
        memset(t->vector + t->weights, 0, (t->count - t->weights) * sizeof *t->vector);
        return;
    }
    memset(t->vector, 0, t->weights * sizeof *t->vector);
    for (size_t i = t->weights; i < t->count; i++)
        t->vector[i] = norm * t->descent.moments[i - t->weights];
}

/* What the other records add where canaries are, by a sample of the observer's own; its sum goes to reference. The step's
 * own sum is in vector, before and after. */
static void sum_reference(struct private_trainer *t, double rate, size_t step, double norm)
{
    const size_t count = canary_own_sample(t->rows, t->canaries, rate, step);
    memcpy(t->reference, t->vector, t->count * sizeof *t->vector);
    sum_gradients(t, count, step, norm);
    for (size_t i = 0; i < t->count; i++) {
        const double own = t->vector[i];
        t->vector[i] = t->reference[i];
        t->reference[i] = own;
    }
}

/* Features from the moments that the centring steps released. */
static void head_private_centre(struct private_trainer *t, const struct sotto_head_recipe *r)
{
    const struct head_data *data = t->network.data;
    head_descent_centre(&t->descent, t->w + t->weights, head_clip_norm(r->max_grad_norm, data->n),
                        r->noise_multiplier * r->max_grad_norm);
    t->kernels->squares(t->record_square, t->descent.z, data->n, data->d);
}

/* "dp-gd"; vector: the noisy sum. */
static void update_descent(struct private_trainer *t, const struct sotto_head_recipe *r, size_t step)
{
    struct head_descent *descent = &t->descent;
    const struct noisy_update u = {
        .share = 1 / (double)descent->data->n, .rate = r->step_size, .momentum = head_descent_momentum};
    if (step <= descent->centring) {
        for (size_t i = t->weights; i < t->count; i++)
            t->w[i] += t->vector[i];
        if (step == descent->centring)
            head_private_centre(t, r);
        return;
    }
    t->noisy->sgd(t->w, t->mean, t->vector, t->weights, &u);
    for (size_t i = 0; i < t->weights && head_descent_averages(descent, step); i++)
        t->square[i] += t->w[i];
    show_weights(t);
}

/* vector: the noisy sum. */
static void head_private_update(struct private_trainer *t, const struct sotto_head_recipe *r, size_t step)
{
    struct noisy_update u = {1 / (double)r->batch, r->lr, r->momentum, HEAD_BETA1, HEAD_BETA2, HEAD_EPSILON};
    if (strcmp(r->trainer, "dp-adam") == 0) {
        u.rate *= sqrt(1 - pow(HEAD_BETA2, (double)step)) / (1 - pow(HEAD_BETA1, (double)step));
        t->noisy->adam(t->w, t->mean, t->square, t->vector, t->count, &u);
    } else {
        t->noisy->sgd(t->w, t->mean, t->vector, t->count, &u);
    }
    show_weights(t);
}

/* The weights that a step left, into their average; short runs weigh their beginning less. */
static void take_average(struct private_trainer *t, double most, size_t step)
{
    const double decay = fmin(most, (1 + (double)step) / (10 + (double)step));
    for (size_t i = 0; t->average && i < t->count; i++)
        t->average[i] = decay * t->average[i] + (1 - decay) * t->w[i];
}

static sotto_status check_weights(const struct private_trainer *t, size_t epoch)
{
    return t->noisy->within(t->w, t->count, 0x1p126) ? SOTTO_OK : head_diverged(epoch, t->network.recipe);
}

static size_t batch_of(const struct sotto_head_recipe *r, size_t n)
{
    return head_descent_is(r) ? n : r->batch;
}

static size_t steps_of(const struct sotto_head_recipe *r, size_t n)
{
    if (r->steps || head_descent_is(r))
        return r->steps ? r->steps : HEAD_FULL_STEPS;
    return (size_t)ceil((double)r->epochs * (double)n / (double)r->batch);
}

/* A run from where it stands; `state` tells where, for the next checkpoint. */
struct head_run {
    struct private_trainer *trainer;
    const struct sotto_head_recipe *recipe;
    size_t units;           /* that steps sample: records, or persons */
    const char *checkpoint; /* NULL: none */
    struct head_checkpoint state;
    struct checkpoint_lock lock;
    time_t saved;
};

static sotto_status head_private_keep(struct head_run *r, size_t step)
{
    r->saved = time(NULL);
    r->state.step = step;
    sotto_status status = r->checkpoint ? head_checkpoint_save(r->checkpoint, &r->state) : SOTTO_OK;
    return status == SOTTO_OK ? canary_keep(r->trainer->canaries) : status;
}

/* Stopped: the state is kept, so that the charged privacy loss is not wasted. */
static sotto_status stop_check(struct head_run *r, size_t step, size_t epoch, const struct sotto_context *ctx)
{
    sotto_status status = head_stop_check(ctx, epoch, r->recipe);
    if (status == SOTTO_OK)
        return step > 0 && time(NULL) - r->saved >= CHECKPOINT_SECONDS ? head_private_keep(r, step)
                                                                       : SOTTO_OK;
    struct status_record stopped;
    status_get(&stopped);
    sotto_status kept = head_private_keep(r, step);
    if (kept == SOTTO_OK)
        status_set(&stopped);
    return kept == SOTTO_OK ? status : kept;
}

/* A step of noise on the clipped sum, and what an observer sees of it. */
static sotto_status take_step(struct head_run *r, size_t step, double norm,
                              struct sotto_dpsgd_session *reserved)
{
    sotto_status status = SOTTO_OK;
    const size_t n = r->units;
    struct private_trainer *t = r->trainer;
    const double scale = r->recipe->noise_multiplier * r->recipe->max_grad_norm;
    const struct canary_step seen = {norm, scale, (double)batch_of(r->recipe, n) / (double)n, 1,
                                     strcmp(r->recipe->noise, "logistic") == 0};
    size_t count;
    TRY(sotto_dp_sample(reserved, t->rows, &count, n));
    canary_note(t->canaries, t->rows, count);
    sum_step(t, count, step, norm);
    canary_add(t->canaries, t->vector, norm);
    if (t->reference)
        sum_reference(t, seen.rate, step, norm);
    TRY(sotto_dp_step(reserved, t->vector));
    canary_observe(t->canaries, t->vector, t->reference, &seen);
done:
    return status;
}

static sotto_status head_private_descend(struct head_run *r, struct sotto_dpsgd_session *reserved,
                                         const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct private_trainer *t = r->trainer;
    size_t steps = steps_of(r->recipe, r->units);
    const double most = r->recipe->max_grad_norm;
    const double norm =
        t->units ? head_clip_norm_of_units(most, r->units, t->units->total) : head_clip_norm(most, r->units);
    const size_t first =
        r->state.step + 1; /* is taken whatever the clock says: a charge is of a step at least */
    r->saved = time(NULL);
    for (size_t step = first; step <= steps; step++) {
        size_t epoch = step * (t->descent.data ? steps : r->recipe->epochs) / (steps + 1);
        if (step > first && (step % 16 == 1 || context_stopped(ctx)))
            TRY(stop_check(r, step - 1, epoch, ctx));
        TRY(take_step(r, step, norm, reserved));
        if (t->descent.data)
            update_descent(t, r->recipe, step);
        else
            head_private_update(t, r->recipe, step);
        take_average(t, r->recipe->average, step);
        if (step % 16 == 0 || step == steps)
            context_progress(ctx, "head", step, steps, "steps");
        TRY(check_weights(t, epoch));
    }
    TRY(head_private_keep(r, steps)); /* should the head not be saved */
done:
    return status;
}

/* Weights and moments from a checkpoint, or from the start. */
static sotto_status head_private_begin(struct head_run *r, const struct head_data *data)
{
    sotto_status status = SOTTO_OK;
    struct private_trainer *t = r->trainer;
    r->state = (struct head_checkpoint){
        .count = t->count, .weights = t->w, .mean = t->mean, .square = t->square, .average = t->average};
    head_private_initialise(t);
    if (t->average)
        memcpy(t->average, t->w, t->count * sizeof *t->w);
    if (!r->checkpoint)
        goto done;
    head_recipe_hash(r->state.recipe, r->recipe, data->d, data->classes);
    head_data_sha256(r->state.data, data);
    TRY(checkpoint_lock_take(&r->lock, r->checkpoint));
    if (!file_exists(r->checkpoint))
        goto done;
    TRY(head_checkpoint_load(&r->state, r->checkpoint));
    REQUIRE(r->state.step <= steps_of(r->recipe, r->units),
            "%s: is at step %zu, beyond the %zu steps of the run; give the options of the interrupted run",
            r->checkpoint, r->state.step, steps_of(r->recipe, r->units));
    if (t->descent.data && r->state.step >= t->descent.centring)
        head_private_centre(t, r->recipe);
    show_weights(t);
done:
    return status;
}

/* Of steps first + 1 and later. */
static struct sotto_dpsgd_request head_private_request(const struct sotto_head_recipe *r,
                                                       const struct head_data *data,
                                                       const struct sotto_head_privacy *p, size_t units,
                                                       size_t first)
{
    const size_t steps = steps_of(r, units);
    return (struct sotto_dpsgd_request){
        .sampled = {.mechanism = r->noise,
                    .noise_multiplier = r->noise_multiplier,
                    .sample_rate = sampling_rate(p->sampling, batch_of(r, units), units),
                    .steps = first < steps ? steps - first : 1, /* 1: for the certificate of what is done */
                    .delta = p->target.delta,
                    .adjacency = p->adjacency,
                    .sampling = p->sampling},
        .max_grad_norm = r->max_grad_norm,
        .dimension = head_private_count(r, data),
        .first_step = first,
        .spend = spend_complete(&p->spend, NULL, "head by DP-SGD", 0),
        .records = data->n,
        .persons = p->persons ? units : 0};
}

static sotto_status head_private_reserve(struct sotto_dpsgd_session **out, struct head_run *run,
                                         const struct head_data *data, const struct sotto_head_privacy *p,
                                         const struct sotto_context *ctx)
{
    const size_t first = run->state.step;
    struct sotto_dpsgd_request request = head_private_request(run->recipe, data, p, run->units, first);
    request.run = run->state.run[0] ? run->state.run : NULL;
    sotto_status status = sotto_dp_reserve(out, &request, ctx);
    if (status == SOTTO_OK)
        snprintf(run->state.run, sizeof run->state.run, "%s", sotto_dpsgd_session_run(*out));
    if (status == SOTTO_OK && first > 0)
        context_log(ctx, SOTTO_LOG_WARNING,
                    "head: continues from step %zu of %zu; what the ledger holds of the interrupted run "
                    "stays charged, "
                    "and the remaining steps are charged again",
                    first, steps_of(run->recipe, run->units));
    return status;
}

/* n: records, or persons. */
static sotto_status check_batch(const struct sotto_head_recipe *r, size_t n,
                                const struct sotto_head_privacy *p)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(batch_of(r, n) <= n, "batch %zu, the expected size of a sample, is larger than the %zu %s",
            r->batch, n, p->persons ? "persons" : "records");
done:
    return status;
}

/* The smallest noise for the target, as accounted. */
static sotto_status head_private_calibrate(struct sotto_head_recipe *r, size_t n,
                                           const struct sotto_head_privacy *p,
                                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(risk_require_alone(&p->risk, spend_given(p->target.epsilon) || spend_given(r->noise_multiplier)));
    if (!risk_or_epsilon(&p->risk, p->target.epsilon))
        goto done;
    TRY(check_batch(r, n, p));
    const struct sotto_sampled sampled = {.mechanism = r->noise ? r->noise : "gaussian",
                                          .sample_rate = sampling_rate(p->sampling, batch_of(r, n), n),
                                          .steps = steps_of(r, n),
                                          .delta = p->target.delta,
                                          .adjacency = p->adjacency,
                                          .rows_per_person = p->persons ? 0 : spend_rows(&p->spend),
                                          .sampling = p->sampling};
    TRY(calibrate_sampled_for(&r->noise_multiplier, &sampled, p->target.epsilon, &p->risk, ctx));
done:
    return status;
}

/* And what rounding to the lattice takes, once the number of weights is known. */
static void add_rounding(struct sotto_head_recipe *r, size_t dimension, size_t n,
                         const struct sotto_head_privacy *p)
{
    const struct dpsgd_facts facts = {.max_grad_norm = r->max_grad_norm, .dimension = dimension};
    if (risk_or_epsilon(&p->risk, p->target.epsilon))
        r->noise_multiplier = run_noise_multiplier(r->noise_multiplier, &facts, n);
}

/* The reservation, once the output has room, which stays held, and so has a first checkpoint. */
static sotto_status head_private_charge(struct sotto_dpsgd_session **out, struct held_file *held,
                                        struct head_run *run, const struct head_data *data,
                                        const struct sotto_head_privacy *p, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t count = run->trainer->count;
    struct held_file checkpoint = {0};
    if (p->output)
        TRY(file_hold(held, p->output, count * sizeof(float) + OUTPUT_ROOM));
    if (p->checkpoint) /* weights, two moments, an average */
        TRY(file_hold(&checkpoint, p->checkpoint, 4 * count * sizeof(double) + OUTPUT_ROOM));
    TRY(head_private_reserve(out, run, data, p, ctx));
done:
    file_release(&checkpoint);
    return status;
}

static void export_weights(float *parameters, struct private_trainer *t)
{
    if (t->average) {
        memcpy(t->w, t->average, t->count * sizeof *t->w);
        show_weights(t);
    }
    if (!t->descent.data) {
        head_plain_export(&t->network, parameters);
        return;
    }
    for (size_t i = 0; i < t->weights; i++)
        t->square[i] /= (double)head_descent_averaged(&t->descent);
    head_descent_export(parameters, &t->descent, t->square);
}

/* The recipe and the spending as they will be charged. */
static sotto_status head_private_complete(struct sotto_head_recipe *r, struct sotto_head_privacy *p,
                                          const struct head_data *data, size_t n,
                                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    p->target.delta = spend_delta(p->target.delta, sotto_default_delta(n));
    TRY(spend_require_adjacency(p->adjacency));
    TRY(head_private_calibrate(r, n, p, ctx));
    TRY(head_recipe_check(r));
    TRY(check_batch(r, n, p));
    add_rounding(r, head_private_count(r, data), data->n, p);
done:
    return status;
}

sotto_status head_private_event(struct planned_event *out, const struct head_data *data,
                                const struct sotto_head_recipe *recipe,
                                const struct sotto_head_privacy *privacy, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct sotto_head_privacy own = *privacy;
    own.persons = NULL; /* plans know the rows of a person one by one */
    TRY(head_private_complete(&r, &own, data, data->n, ctx));
    const struct sotto_dpsgd_request request = head_private_request(&r, data, &own, data->n, 0);
    TRY(dpsgd_as_event(out, &request, ctx));
done:
    return status;
}

/* Persons as units, where the caller named them; and how many rows each has where no import capped them. */
static sotto_status take_persons(struct head_units *units, size_t *count, struct sotto_head_privacy *p,
                                 const struct sotto_head_recipe *r, size_t n)
{
    sotto_status status = SOTTO_OK;
    if (p->unit == SOTTO_UNIT_RECORD)
        p->persons = NULL;
    TRY(head_units_require(p->unit, p->persons, r->rows_per_step, p->canaries));
    if (!p->persons)
        goto done;
    REQUIRE(!head_descent_is(r),
            "trainer %s takes all records in each step; unit person needs dp-sgd or dp-adam", r->trainer);
    TRY(head_units_make(units, p->persons, n, r->rows_per_step, r->seed));
    *count = units->count;
    TRY(head_units_cap(units, &p->spend));
done:
    return status;
}

sotto_status head_private_train(struct sotto_head **out, struct sotto_certificate **certificate,
                                const struct head_data *records, const struct sotto_head_recipe *recipe,
                                const struct sotto_head_privacy *privacy, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    struct sotto_dpsgd_session *reserved = NULL;
    struct private_trainer trainer = {0};
    struct head_data data = *records;
    size_t n = data.n, classes = data.classes;
    struct sotto_head_recipe r = *recipe;
    struct sotto_head_privacy own = *privacy;
    struct head_units units = {0};
    struct head_run run = {.trainer = &trainer, .recipe = &r, .units = n, .checkpoint = privacy->checkpoint};
    struct held_file held = {0};
    size_t width[HEAD_MAX_LAYERS + 1] = {data.d};
    int64_t *labels = NULL;
    struct sotto_certificate *text = NULL;
    TRY(head_data_silence(&labels, &data));
    TRY(take_persons(&units, &run.units, &own, &r, n));
    TRY(head_private_complete(&r, &own, &data, run.units, ctx));
    memcpy(width + 1, r.hidden, r.hidden_count * sizeof *width);
    width[r.hidden_count + 1] = classes;
    TRY(head_create(&h, r.hidden_count + 1, width));
    TRY(head_private_plan(&trainer, &data, &r, own.persons ? &units : NULL, own.canaries));
    TRY(canary_begin(own.canaries, trainer.count));
    if (trainer.descent.data)
        r.step_size = head_descent_rate(&r, n, data.d, classes);
    TRY(head_private_begin(&run, &data));
    TRY(head_private_charge(&reserved, &held, &run, &data, &own, ctx));
    TRY(head_private_descend(&run, reserved, ctx));
    export_weights(h->parameters, &trainer);
    TRY(sotto_dpsgd_session_certificate(&text, reserved));
    certificate_add_classes(text, classes, privacy->classes_by);
    head_describe(h, &data, &r, cpu_isa_name(cpu_best_isa()));
    *certificate = text;
    *out = h;
    text = NULL;
    h = NULL;
done:
    if (status == SOTTO_ESTOPPED && own.checkpoint && !own.canaries)
        dpsgd_session_settle(reserved, ctx);
    if (status != SOTTO_OK)
        charge_name_steps(reserved, charge_continues(own.checkpoint));
    checkpoint_lock_release(&run.lock);
    file_release(&held);
    sotto_dpsgd_session_close(reserved);
    head_private_clear(&trainer);
    head_units_clear(&units);
    base_free(labels);
    sotto_certificate_free(text);
    sotto_head_free(h);
    return status;
}
