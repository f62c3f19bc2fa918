/* Batch normalisation (Ioffe and Szegedy 2015), per channel over the M = N H W values of a batch:
 *
 *     dst = (src - mean) / sqrt(variance + eps) * weight + bias        (variance: biased, divided by M)
 *
 * Training uses the batch's moments and moves the running ones (unbiased variance, as PyTorch keeps it);
 * evaluation uses the running ones. With r = 1 / sqrt(variance + eps), g = dloss/ddst, s = sum g,
 * t = sum g (src - mean):
 *
 *     diff_bias = s,   diff_weight = r t,   diff_src = weight r (g - s / M - (src - mean) r^2 t / M)
 *
 * i.e. diff_src = a g + b src + d with three numbers per channel. Where a ReLU follows, g is 0 where it was
 * shut, which src * scale + shift tells again: no other layer need mask the gradient. Each chunk of rows
 * finds its own mean and squares around it while it is in cache; chunks are merged in order in double (Chan
 * et al. 1979), so neither large means nor the thread count matter.
 *
 * A frozen batch norm (struct nn_freeze) uses the running moments in training too, and its weight and bias get no
 * gradient: each channel goes through one affine map, diff_src = weight r g, and no record acts on another. */
#include "nn/layer/layer_norm_parts.h"

#include "nn/kernel/norm_kernels.h"
#include "par/par.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { CHUNK_VALUES = 16384, WEIGHT = 0, BIAS, RUNNING_MEAN, RUNNING_VARIANCE };

struct batch_norm {
    const struct norm_kernels *kernels;
    size_t rows, channels, chunk_rows, chunks;
    float *mean, *inverse; /* (C), of the last forward */
    float *first, *second; /* (chunks, C): partial sums */
    float *scale, *shift;  /* (C), of the last forward: dst = src * scale + shift */
    float *a, *b, *d;      /* (C) */
};

static size_t parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX], const struct layer_spec *spec,
                         struct nn_shape src)
{
    (void)spec;
    norm_affine(out, src.channels);
    out[RUNNING_MEAN] = out[BIAS];
    snprintf(out[RUNNING_MEAN].name, sizeof out->name, "running_mean");
    out[RUNNING_VARIANCE] = out[WEIGHT];
    snprintf(out[RUNNING_VARIANCE].name, sizeof out->name, "running_var");
    out[RUNNING_MEAN].statistic = out[RUNNING_VARIANCE].statistic = 1;
    return 4;
}

static sotto_status plan(struct layer_run *run)
{
    sotto_status status = SOTTO_OK;
    struct batch_norm *b = NULL;
    REQUIRE(!run->training || run->spec->frozen || run->batch > 1,
            "%s: batch normalisation cannot train on a batch of 1; use a batch of at least 2, or group "
            "normalisation",
            run->spec->path);
    NEW(b, 1);
    b->kernels = norm_kernels_best();
    b->channels = run->src->shape.channels;
    b->rows = run->src->count / b->channels;
    b->chunk_rows = b->channels < CHUNK_VALUES ? CHUNK_VALUES / b->channels : 1;
    b->chunks = (b->rows + b->chunk_rows - 1) / b->chunk_rows;
    run->state = b;
done:
    return status;
}

static void layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    struct batch_norm *b = run->state;
    b->mean = arena_take(keep, b->channels, sizeof(float));
    b->inverse = arena_take(keep, b->channels, sizeof(float));
    b->scale = arena_take(keep, b->channels, sizeof(float));
    b->shift = arena_take(keep, b->channels, sizeof(float));
    b->a = arena_take(scratch, b->channels, sizeof(float));
    b->b = arena_take(scratch, b->channels, sizeof(float));
    b->d = arena_take(scratch, b->channels, sizeof(float));
    b->first = arena_take(scratch, b->chunks * b->channels, sizeof(float));
    b->second = arena_take(scratch, b->chunks * b->channels, sizeof(float));
}

static const void *at(const struct activation *t, const void *data, size_t row)
{
    return (const char *)data + row * t->shape.channels * (t->dtype == NN_BF16 ? 2 : 4);
}

static size_t rows_of(const struct batch_norm *b, size_t chunk)
{
    size_t left = b->rows - chunk * b->chunk_rows;
    return left < b->chunk_rows ? left : b->chunk_rows;
}

/* ---- forward ---- */

static sotto_status moments_of_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    float *mean = b->first + chunk * b->channels, *squares = b->second + chunk * b->channels;
    const void *x = at(run->src, run->src->data, chunk * b->chunk_rows);
    size_t rows = rows_of(b, chunk);
    b->kernels->sums[run->src->dtype](mean, x, rows, b->channels);
    for (size_t c = 0; c < b->channels; c++)
        mean[c] /= (float)rows;
    b->kernels->squares[run->src->dtype](squares, x, mean, rows, b->channels);
    return SOTTO_OK;
}

/** Merges the chunks' means and squares into the batch's mean and the sum of squares around it. */
static void merge_chunks(double *mean, double *squares, const struct batch_norm *b, size_t c)
{
    double m = 0, s = 0, n = 0;
    for (size_t chunk = 0; chunk < b->chunks; chunk++) {
        double rows = (double)rows_of(b, chunk), delta = (double)b->first[chunk * b->channels + c] - m;
        s += (double)b->second[chunk * b->channels + c] + delta * delta * n * rows / (n + rows);
        m += delta * rows / (n + rows);
        n += rows;
    }
    *mean = m;
    *squares = s;
}

static void use_batch_moments(struct layer_run *run)
{
    struct batch_norm *b = run->state;
    float *running_mean = run->parameters[RUNNING_MEAN].value,
          *running_variance = run->parameters[RUNNING_VARIANCE].value;
    for (size_t c = 0; c < b->channels; c++) {
        double mean, squares, count = (double)b->rows;
        merge_chunks(&mean, &squares, b, c);
        b->mean[c] = (float)mean;
        b->inverse[c] = (float)(1 / sqrt(squares / count + NORM_EPSILON));
        running_mean[c] = (float)((1 - NORM_MOMENTUM) * running_mean[c] + NORM_MOMENTUM * mean);
        running_variance[c] =
            (float)((1 - NORM_MOMENTUM) * running_variance[c] + NORM_MOMENTUM * squares / (count - 1));
    }
}

static void use_running_moments(struct layer_run *run)
{
    struct batch_norm *b = run->state;
    for (size_t c = 0; c < b->channels; c++) {
        b->mean[c] = run->parameters[RUNNING_MEAN].value[c];
        b->inverse[c] = (float)(1 / sqrt((double)run->parameters[RUNNING_VARIANCE].value[c] + NORM_EPSILON));
    }
}

static sotto_status apply_to_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    size_t row = chunk * b->chunk_rows;
    b->kernels->apply[run->src->dtype]((void *)at(run->dst, run->dst->data, row),
                                       at(run->src, run->src->data, row), b->scale, b->shift, norm_most(run),
                                       rows_of(b, chunk), b->channels);
    return SOTTO_OK;
}

static void over_chunks(par_body body, struct layer_run *run)
{
    struct batch_norm *b = run->state;
    sotto_status status = par_shares(b->chunks, run->threads, run->stop, body, run);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

/* Are the moments those of the batch? */
static bool of_batch(const struct layer_run *run, const struct pass *pass)
{
    return pass->training && !run->spec->frozen;
}

static void forward(struct layer_run *run, const struct pass *pass)
{
    struct batch_norm *b = run->state;
    if (of_batch(run, pass)) {
        over_chunks(moments_of_chunk, run);
        use_batch_moments(run);
    } else
        use_running_moments(run);
    for (size_t c = 0; c < b->channels; c++) {
        b->scale[c] = run->parameters[WEIGHT].value[c] * b->inverse[c];
        b->shift[c] = run->parameters[BIAS].value[c] - b->mean[c] * b->scale[c];
    }
    over_chunks(apply_to_chunk, run);
}

/* ---- backward ---- */

static sotto_status sums_of_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    struct norm_gate gate = {b->scale, b->shift, norm_most(run)};
    size_t row = chunk * b->chunk_rows;
    b->kernels->back_sums[run->src->dtype](
        b->first + chunk * b->channels, b->second + chunk * b->channels, at(run->dst, run->dst->diff, row),
        at(run->src, run->src->data, row), b->mean, run->relu ? &gate : NULL, rows_of(b, chunk), b->channels);
    return SOTTO_OK;
}

static sotto_status diff_of_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    struct norm_gate gate = {b->scale, b->shift, norm_most(run)};
    struct norm_slopes slopes = {b->a, b->b, b->d};
    size_t row = chunk * b->chunk_rows;
    b->kernels->back_apply[run->src->dtype](
        (void *)at(run->src, run->src->diff, row), run->add_diff_src, at(run->dst, run->dst->diff, row),
        at(run->src, run->src->data, row), &slopes, run->relu ? &gate : NULL, rows_of(b, chunk), b->channels);
    return SOTTO_OK;
}

static void backward(struct layer_run *run, const struct pass *pass)
{
    struct batch_norm *b = run->state;
    const bool frozen = run->spec->frozen, batch = of_batch(run, pass);
    if (!frozen)
        over_chunks(sums_of_chunk, run);
    for (size_t c = 0; c < b->channels; c++) {
        double sum = 0, product = 0, inverse = (double)b->inverse[c];
        for (size_t chunk = 0; !frozen && chunk < b->chunks; chunk++) {
            sum += (double)b->first[chunk * b->channels + c];
            product += (double)b->second[chunk * b->channels + c];
        }
        if (!frozen && !pass->input_only) {
            run->parameters[BIAS].diff[c] = (float)sum;
            run->parameters[WEIGHT].diff[c] = (float)(product * inverse);
        }
        /* With running moments the moments do not depend on src, and only `a` is left. */
        double a = (double)run->parameters[WEIGHT].value[c] * inverse, m = (double)b->rows;
        double slope = batch ? -a * inverse * inverse * product / m : 0;
        b->a[c] = (float)a;
        b->b[c] = (float)slope;
        b->d[c] = (float)(batch ? -a * sum / m - slope * (double)b->mean[c] : 0);
    }
    if (run->need_diff_src)
        over_chunks(diff_of_chunk, run);
}

static void release(struct layer_run *run)
{
    base_free(run->state);
    run->state = NULL;
}

const struct layer layer_batch_norm = {
    .name = "batch norm",
    .fuses_relu = 1,
    .applies_own_relu_mask = 1,
    .in_place = 1,
    .adds = 1,
    .shape = norm_shape,
    .parameters = parameters,
    .plan = plan,
    .layout = layout,
    .forward = forward,
    .backward = backward,
    .cross_example_reason = "batch norm computes with the mean of the whole batch, so a record "
                            "acts on the gradients of others; use group norm (norm: group), or an "
                            "encoder with frozen batch norm (from, freeze: norm)",
    .release = release};
