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
 * shut, which src * scale + shift tells again: no other layer need mask the gradient. A residual source is added on
 * the way to the ReLU. Each chunk of rows
 * finds its own mean and squares around it while it is in cache; chunks are merged in order in double (Chan
 * et al. 1979), so neither large means nor the thread count matter.
 *
 * In a step of several leaves either each leaf computes with its own moments (norm scope "leaf", layer_run.moments), or a leaf's count, mean and squares are merged in the same way by the tree, and so are s and t; rows
 * behind the last record stay out of them, and get no gradient.
 *
 * A frozen batch norm (struct nn_freeze) uses the running moments in training too, and its weight and bias get no
 * gradient: each channel goes through one affine map, diff_src = weight r g, and no record acts on another. */
#include "nn/layer/layer_norm_parts.h"

#include "nn/kernel/kernels.h"
#include "nn/kernel/norm_kernels.h"
#include "nn/layer/merged_moments.h"
#include "nn/layer/norm_rows.h"
#include "par/par.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBERS = MOMENTS_NUMBERS /* of a channel, that cross leaves */,
    CHUNK_VALUES = 16384,
    IMAGE_CHUNKS = 32768, /* values of a chunk of one image: fewer to merge */
    RANGE = 64 /* channels that one thread merges */,
    WEIGHT = 0,
    BIAS,
    RUNNING_MEAN,
    RUNNING_VARIANCE
};

/* s and t of a channel. */
struct slopes {
    double sum, product;
};

struct batch_norm {
    const struct norm_kernels *kernels;
    /* points: values of a channel in one record; chunks: at most. What counts, of the running pass: `used` rows each `room` */
    size_t rows, channels, points, chunk_rows, chunks, room, used;
    bool by_image;           /* rooms are images */
    double count;            /* values of a channel in the whole step, of the last forward */
    float *mean, *inverse;   /* (C), of the last forward */
    float *first, *second;   /* (chunks, C): partial sums, for a pass */
    struct moments *moments; /* (C): of all chunks, forward */
    struct slopes *slopes;   /* (C): likewise backward */
    float *scale, *shift;    /* (C), of the last forward: dst = src * scale + shift */
    float *a, *b, *d;        /* (C) */
};

static size_t layer_batch_norm_parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX],
                                          const struct layer_spec *spec, struct nn_shape src)
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

/* Chunks are whole rows of an image. */
static void cut_images(struct layer_run *run)
{
    struct batch_norm *b = run->state;
    const size_t width = run->src->shape.width, height = run->src->shape.height,
                 fit = IMAGE_CHUNKS / (width * b->channels),
                 lines = fit < 1        ? 1
                         : fit < height ? fit
                                        : height;
    b->by_image = true;
    b->chunk_rows = lines * width;
    b->chunks = (height + lines - 1) / lines * run->batch;
    b->room = b->used = b->points;
}

static sotto_status layer_batch_norm_plan(struct layer_run *run)
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
    b->points = b->rows / run->batch;
    b->chunks = (b->rows + b->chunk_rows - 1) / b->chunk_rows + run->batch; /* views end chunks too */
    run->state = b;
    if (run->shared.images)
        cut_images(run);
done:
    return status;
}

static void layer_batch_norm_layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    struct batch_norm *b = run->state;
    b->mean = arena_take(keep, b->channels, sizeof(float));
    b->inverse = arena_take(keep, b->channels, sizeof(float));
    b->scale = arena_take(keep, b->channels, sizeof(float));
    b->shift = arena_take(keep, b->channels, sizeof(float));
    struct arena *between = b->by_image ? keep : scratch; /* another layer reads or writes them */
    b->a = arena_take(between, b->channels, sizeof(float));
    b->b = arena_take(between, b->channels, sizeof(float));
    b->d = arena_take(between, b->channels, sizeof(float));
    b->first = arena_take(between, b->chunks * b->channels, sizeof(float));
    b->second = arena_take(between, b->chunks * b->channels, sizeof(float));
    b->moments = arena_take(scratch, b->channels, sizeof *b->moments);
    b->slopes = arena_take(scratch, b->channels, sizeof *b->slopes);
}

static const void *layer_batch_norm_at(const struct activation *t, const void *data, size_t row)
{
    return (const char *)data + row * t->shape.channels * (t->dtype == NN_BF16 ? 2 : 4);
}

/* Chunks are cut from the rows that are records, view by view. */
static void see_records(struct batch_norm *b, const struct pass *pass)
{
    if (b->by_image) /* of whole batches */
        return;
    b->room = pass->used ? b->rows / pass->views : b->rows;
    b->used = pass->used ? pass->used * b->points : b->rows;
}

static void see_all(struct batch_norm *b)
{
    if (!b->by_image)
        b->room = b->used = b->rows;
}

static size_t chunks_of_view(const struct batch_norm *b)
{
    return (b->used + b->chunk_rows - 1) / b->chunk_rows;
}

static size_t chunk_count(const struct batch_norm *b)
{
    return b->rows / b->room * chunks_of_view(b);
}

static size_t first_of(const struct batch_norm *b, size_t chunk)
{
    return chunk / chunks_of_view(b) * b->room + chunk % chunks_of_view(b) * b->chunk_rows;
}

static size_t rows_of(const struct batch_norm *b, size_t chunk)
{
    size_t left = b->used - chunk % chunks_of_view(b) * b->chunk_rows;
    return left < b->chunk_rows ? left : b->chunk_rows;
}

/* ---- forward ---- */

static sotto_status moments_of_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    float *mean = b->first + chunk * b->channels, *squares = b->second + chunk * b->channels;
    const void *x = layer_batch_norm_at(run->src, run->src->data, first_of(b, chunk));
    size_t rows = rows_of(b, chunk);
    b->kernels->sums[run->src->dtype](mean, x, rows, b->channels);
    for (size_t c = 0; c < b->channels; c++)
        mean[c] /= (float)rows;
    b->kernels->squares[run->src->dtype](squares, x, mean, rows, b->channels);
    return SOTTO_OK;
}

static void over_chunks(par_body body, struct layer_run *run)
{
    struct batch_norm *b = run->state;
    sotto_status status = par_shares(chunk_count(b), run->threads, run->stop, body, run);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

static void over_ranges(par_body body, struct layer_run *run)
{
    (void)par_shares((run->src->shape.channels + RANGE - 1) / RANGE, run->threads, NULL, body, run);
}

static size_t end_of_range(const struct batch_norm *b, size_t range)
{
    return (range + 1) * RANGE < b->channels ? (range + 1) * RANGE : b->channels;
}

static sotto_status merge_range(void *arg, size_t range, int thread)
{
    (void)thread;
    const struct layer_run *run = arg;
    const struct batch_norm *b = run->state;
    const size_t from = range * RANGE, end = end_of_range(b, range);
    memset(b->moments + from, 0, (end - from) * sizeof *b->moments);
    for (size_t chunk = 0, chunks = chunk_count(b); chunk < chunks; chunk++) {
        const float *mean = b->first + chunk * b->channels, *squares = b->second + chunk * b->channels;
        const double rows = (double)rows_of(b, chunk);
        for (size_t c = from; c < end; c++)
            moments_add(&b->moments[c], rows, (double)mean[c], (double)squares[c]);
    }
    return SOTTO_OK;
}

static void find_moments(struct layer_run *run)
{
    if (!run->shared.moments)
        over_chunks(moments_of_chunk, run);
    over_ranges(merge_range, run);
}

static struct moments crossed_moments(const double *crossed, size_t c)
{
    return moments_read(crossed + NUMBERS * c);
}

static void use_moments(struct batch_norm *b, size_t c, struct moments m)
{
    b->count = m.count;
    b->mean[c] = (float)m.mean;
    b->inverse[c] = (float)(1 / sqrt(m.squares / m.count + NORM_EPSILON));
}

static void remember_moments(struct layer_run *run, size_t c, struct moments m)
{
    float *mean = &run->parameters[RUNNING_MEAN].value[c],
          *variance = &run->parameters[RUNNING_VARIANCE].value[c];
    *mean = (float)((1 - NORM_MOMENTUM) * *mean + NORM_MOMENTUM * m.mean);
    *variance = (float)((1 - NORM_MOMENTUM) * *variance + NORM_MOMENTUM * m.squares / (m.count - 1));
}

/* The same of a leaf, for the end of an epoch (nn/model/epoch_moments.h). */
static void add_moments(struct layer_run *run, const struct pass *pass, size_t c, struct moments m)
{
    const float *mean = &run->parameters[RUNNING_MEAN].value[c],
                *variance = &run->parameters[RUNNING_VARIANCE].value[c];
    any_order_add(&run->moments[mean - run->statistics], pass->weight * m.mean);
    any_order_add(&run->moments[variance - run->statistics], pass->weight * (m.squares / (m.count - 1)));
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
    size_t row = first_of(b, chunk);
    b->kernels->apply[run->src->dtype](
        (void *)layer_batch_norm_at(run->dst, run->dst->data, row),
        layer_batch_norm_at(run->src, run->src->data, row),
        run->residual ? layer_batch_norm_at(run->residual, run->residual->data, row) : NULL, b->scale,
        b->shift, norm_most(run), rows_of(b, chunk), b->channels);
    return SOTTO_OK;
}

/* Are the moments those of the batch? */
static bool of_batch(const struct layer_run *run, const struct pass *pass)
{
    return pass->training && !run->spec->frozen;
}

static void use_batch_moments(struct layer_run *run, const struct pass *pass)
{
    struct batch_norm *b = run->state;
    see_records(b, pass);
    find_moments(run);
    for (size_t c = 0; c < b->channels; c++) {
        const struct moments m = b->moments[c];
        use_moments(b, c, m);
        if (run->moments)
            add_moments(run, pass, c, m);
        else
            remember_moments(run, c, m);
    }
}

static void layer_batch_norm_forward(struct layer_run *run, const struct pass *pass)
{
    struct batch_norm *b = run->state;
    if (!of_batch(run, pass))
        use_running_moments(run);
    else if (!run->crossed)
        use_batch_moments(run, pass);
    for (size_t c = 0; run->crossed && c < b->channels; c++)
        use_moments(b, c, crossed_moments(run->crossed, c));
    for (size_t c = 0; c < b->channels; c++) {
        b->scale[c] = run->parameters[WEIGHT].value[c] * b->inverse[c];
        b->shift[c] = run->parameters[BIAS].value[c] - b->mean[c] * b->scale[c];
    }
    if (run->shared.result)
        return;
    see_all(b); /* zeros behind the last record become finite numbers */
    over_chunks(apply_to_chunk, run);
}

/* ---- backward ---- */

/* Behind a sum the ReLU's mask is the plan's: src does not tell it. */
static bool layer_batch_norm_masks(const struct layer_run *run)
{
    return run->relu && !run->residual;
}

static sotto_status sums_of_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    struct norm_gate gate = {b->scale, b->shift, norm_most(run)};
    size_t row = first_of(b, chunk);
    b->kernels->back_sums[run->src->dtype](b->first + chunk * b->channels, b->second + chunk * b->channels,
                                           layer_batch_norm_at(run->dst, run->dst->diff, row),
                                           layer_batch_norm_at(run->src, run->src->data, row), b->mean,
                                           layer_batch_norm_masks(run) ? &gate : NULL, rows_of(b, chunk),
                                           b->channels);
    return SOTTO_OK;
}

static sotto_status diff_of_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct batch_norm *b = run->state;
    struct norm_gate gate = {b->scale, b->shift, norm_most(run)};
    struct norm_slopes slopes = {b->a, b->b, b->d};
    size_t row = first_of(b, chunk);
    b->kernels->back_apply[run->src->dtype](
        (void *)layer_batch_norm_at(run->src, run->src->diff, row), run->add_diff_src,
        layer_batch_norm_at(run->dst, run->dst->diff, row),
        layer_batch_norm_at(run->src, run->src->data, row), &slopes,
        layer_batch_norm_masks(run) ? &gate : NULL, rows_of(b, chunk), b->channels);
    return SOTTO_OK;
}

static struct slopes crossed_slopes(const double *crossed, size_t c)
{
    return (struct slopes){crossed[NUMBERS * c], crossed[NUMBERS * c + 1]};
}

static sotto_status sum_range(void *arg, size_t range, int thread)
{
    (void)thread;
    const struct layer_run *run = arg;
    const struct batch_norm *b = run->state;
    const size_t from = range * RANGE, end = end_of_range(b, range);
    memset(b->slopes + from, 0, (end - from) * sizeof *b->slopes);
    for (size_t chunk = 0, chunks = chunk_count(b); chunk < chunks; chunk++) {
        const float *sum = b->first + chunk * b->channels, *product = b->second + chunk * b->channels;
        for (size_t c = from; c < end; c++) {
            b->slopes[c].sum += (double)sum[c];
            b->slopes[c].product += (double)product[c];
        }
    }
    return SOTTO_OK;
}

static void find_slopes(struct layer_run *run)
{
    if (!run->shared.slopes)
        over_chunks(sums_of_chunk, run);
    over_ranges(sum_range, run);
}

static void write_diffs(struct layer_run *run, size_t c, struct slopes s)
{
    const struct batch_norm *b = run->state;
    run->parameters[BIAS].diff[c] = (float)s.sum;
    run->parameters[WEIGHT].diff[c] = (float)(s.product * (double)b->inverse[c]);
}

/* With running moments the moments do not depend on src, and only `a` is left. */
static void use_slopes(struct layer_run *run, const struct pass *pass, size_t c, struct slopes s)
{
    struct batch_norm *b = run->state;
    const bool batch = of_batch(run, pass);
    double inverse = (double)b->inverse[c], a = (double)run->parameters[WEIGHT].value[c] * inverse;
    double slope = batch ? -a * inverse * inverse * s.product / b->count : 0;
    b->a[c] = (float)a;
    b->b[c] = (float)slope;
    b->d[c] = (float)(batch ? -a * s.sum / b->count - slope * (double)b->mean[c] : 0);
}

/* Rows behind the last record of each view. */
static void clear_rest(struct layer_run *run)
{
    const struct batch_norm *b = run->state;
    for (size_t first = b->used; !run->add_diff_src && first < b->rows; first += b->room)
        memset((void *)layer_batch_norm_at(run->src, run->src->diff, first), 0,
               (b->room - b->used) * b->channels * dtype_size(run->src->dtype));
}

static void layer_batch_norm_backward(struct layer_run *run, const struct pass *pass)
{
    struct batch_norm *b = run->state;
    see_records(b, pass);
    const size_t views = b->rows / b->room;
    if (!run->crossed) /* another leaf was the last to pass forward, of another size perhaps */
        b->count = (double)(views * b->used);
    if (!run->spec->frozen && !run->crossed)
        find_slopes(run);
    for (size_t c = 0; c < b->channels; c++) {
        struct slopes s = {0};
        if (run->crossed)
            s = crossed_slopes(run->crossed, c);
        else if (!run->spec->frozen)
            s = b->slopes[c];
        if (!run->spec->frozen && !run->crossed && !pass->input_only)
            write_diffs(run, c, s);
        use_slopes(run, pass, c, s);
    }
    if (!run->need_diff_src || norm_leaves_gradient(run))
        return;
    over_chunks(diff_of_chunk, run);
    clear_rest(run);
}

/* ---- rows for a layer beside this one (norm_rows.h) ---- */

static size_t row_at(const struct layer_run *norm, size_t image, size_t row)
{
    const struct nn_shape s = norm->src->shape;
    return (image * s.height + row) * s.width;
}

void norm_rows_result(const struct layer_run *norm, void *to, size_t image, size_t row)
{
    const struct batch_norm *b = norm->state;
    b->kernels->apply[norm->src->dtype](
        to, layer_batch_norm_at(norm->src, norm->src->data, row_at(norm, image, row)), NULL, b->scale,
        b->shift, norm_most(norm), norm->src->shape.width, b->channels);
}

/* The chunk of an image that ends with this row, if one does. */
static bool ends_chunk(size_t *chunk, const struct layer_run *norm, size_t image, size_t row)
{
    const struct batch_norm *b = norm->state;
    const size_t lines = b->chunk_rows / norm->src->shape.width;
    *chunk = image * chunks_of_view(b) + row / lines;
    return (row + 1) % lines == 0 || row + 1 == norm->src->shape.height;
}

void norm_rows_moments(struct layer_run *norm, size_t image, size_t row)
{
    size_t chunk;
    if (ends_chunk(&chunk, norm, image, row))
        (void)moments_of_chunk(norm, chunk, 0);
}

void norm_rows_slopes(struct layer_run *norm, size_t image, size_t row)
{
    size_t chunk;
    if (ends_chunk(&chunk, norm, image, row))
        (void)sums_of_chunk(norm, chunk, 0);
}

bool norm_leaves_gradient(const struct layer_run *norm)
{
    return norm->shared.gradient && norm->need_diff_src && norm->src->diff == norm->dst->diff;
}

void norm_rows_gradient(const struct layer_run *norm, void *to, size_t image, size_t row)
{
    const struct batch_norm *b = norm->state;
    const struct norm_gate gate = {b->scale, b->shift, norm_most(norm)};
    const struct norm_slopes slopes = {b->a, b->b, b->d};
    const size_t first = row_at(norm, image, row);
    b->kernels->back_apply[norm->src->dtype](to, 0, layer_batch_norm_at(norm->dst, norm->dst->diff, first),
                                             layer_batch_norm_at(norm->src, norm->src->data, first), &slopes,
                                             layer_batch_norm_masks(norm) ? &gate : NULL,
                                             norm->src->shape.width, b->channels);
}

/* ---- a step in leaves: three numbers a channel forward, two backward ---- */

static size_t cross_width(const struct layer_run *run)
{
    return NUMBERS * run->src->shape.channels;
}

static void gather_forward(struct layer_run *run, const struct pass *pass, double *out)
{
    struct batch_norm *b = run->state;
    see_records(b, pass);
    find_moments(run);
    for (size_t c = 0; c < b->channels; c++, out += NUMBERS)
        moments_write(out, b->moments[c]);
}

static void layer_batch_norm_remember(struct layer_run *run, const double *crossed)
{
    for (size_t c = 0; c < run->src->shape.channels; c++)
        remember_moments(run, c, crossed_moments(crossed, c));
}

static void gather_backward(struct layer_run *run, const struct pass *pass, double *out)
{
    struct batch_norm *b = run->state;
    see_records(b, pass);
    find_slopes(run);
    for (size_t c = 0; c < b->channels; c++, out += NUMBERS) {
        const struct slopes s = b->slopes[c];
        write_diffs(run, c, s);
        out[0] = s.sum, out[1] = s.product, out[2] = 0;
    }
}

static const struct layer_cross cross = {cross_width,   gather_forward,  gather_backward,
                                         moments_merge, tree_merge_sums, layer_batch_norm_remember};

static void layer_batch_norm_release(struct layer_run *run)
{
    base_free(run->state);
    run->state = NULL;
}

const struct layer layer_batch_norm = {
    .name = "batch norm",
    .fuses_relu = 1,
    .fuses_residual = 1,
    .applies_own_relu_mask = 1,
    .in_place = 1,
    .adds = 1,
    .cross = &cross,
    .shape = norm_shape,
    .parameters = layer_batch_norm_parameters,
    .plan = layer_batch_norm_plan,
    .layout = layer_batch_norm_layout,
    .forward = layer_batch_norm_forward,
    .backward = layer_batch_norm_backward,
    .cross_example_reason = "batch norm computes with the mean of the whole batch, so a record "
                            "acts on the gradients of others; use group norm (norm: group), or an "
                            "encoder with frozen batch norm (from, freeze: norm)",
    .release = layer_batch_norm_release};
