/* Depthwise convolution (Howard et al. 2017): every channel is convolved with a square kernel of its own, so
 * a result's value costs kernel^2 multiplications whatever the width. No bias: a norm follows. Own kernels
 * on every backend; bound by memory. */
#include "nn/layer/depthwise_image.h"
#include "nn/layer/each_image.h"
#include "nn/layer/layer.h"

#include "nn/kernel/depthwise_kernels.h"
#include "nn/kernel/depthwise_rows.h"
#include "par/par.h"

enum { RANGE = 64 /* channels that one thread sums at a time */ };

struct depthwise {
    const struct depthwise_kernels *kernels;
    const struct depthwise_rows *by_rows; /* NULL: kernels or images that do not go row by row */
    struct depthwise_lines forward, back; /* back: of the source's pixels, over the result's */
    struct depthwise_reach *reaches;
    size_t taps;
    float *weight;  /* (taps, C): channel fastest, unlike the parameter */
    float *flipped; /* likewise, taps in reverse order */
    float *partial; /* (N, taps, C) */
    char *room;     /* by rows: depthwise_image_bytes() for each thread */
};

static sotto_status layer_depthwise_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                          struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->kernel <= DEPTHWISE_KERNEL_MAX, "%s: the kernel is too wide; expected at most %d",
            spec->path, DEPTHWISE_KERNEL_MAX);
    REQUIRE(spec->no_bias, "%s: a bias is not supported here, as normalisation follows", spec->path);
    struct layer_spec convolution = *spec;
    convolution.width = src.channels;
    TRY(layer_conv.shape(dst, &convolution, src));
done:
    return status;
}

static size_t layer_depthwise_parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX],
                                         const struct layer_spec *spec, struct nn_shape src)
{
    size_t area = spec->kernel * spec->kernel;
    out[0] = (struct nn_parameter){.name = "weight",
                                   .out = src.channels,
                                   .in = 1,
                                   .height = spec->kernel,
                                   .width = spec->kernel,
                                   .file_ndim = 4,
                                   .init = spec->init,
                                   .fan_in = area,
                                   .fan_out = area};
    return 1;
}

/* ---- which tap meets which pixel ---- */

static struct depthwise_reach reach_forward(const struct layer_spec *s, size_t y, size_t size)
{
    size_t start = y * s->stride, skip = start < s->pad ? s->pad - start : 0;
    size_t end = size + s->pad - start < s->kernel ? size + s->pad - start : s->kernel;
    return (struct depthwise_reach){
        .count = end - skip, .tap = skip, .pixel = start + skip - s->pad, .tap_step = 1};
}

/* Source pixel h was met by tap i of result pixel p where p stride + i = h + pad; p grows as i falls. */
static struct depthwise_reach reach_back(const struct layer_spec *s, size_t h, size_t results)
{
    size_t at = h + s->pad, p = at < s->kernel ? 0 : (at - s->kernel) / s->stride + 1;
    size_t last = at / s->stride < results ? at / s->stride : results - 1;
    return (struct depthwise_reach){.count = last < p ? 0 : last - p + 1,
                                    .tap = last < p ? 0 : at - p * s->stride,
                                    .pixel = p,
                                    .tap_step = -(int)s->stride};
}

static sotto_status layer_depthwise_plan(struct layer_run *run)
{
    sotto_status status = SOTTO_OK;
    const struct layer_spec *spec = run->spec;
    struct nn_shape s = run->src->shape, d = run->dst->shape;
    struct depthwise *w = NULL;
    NEW(w, 1);
    run->state = w;
    NEW(w->reaches, d.height + d.width + s.height + s.width);
    struct depthwise_reach *r = w->reaches;
    w->kernels = depthwise_kernels_best();
    w->by_rows = depthwise_image_fits(run) ? depthwise_rows_best() : NULL;
    w->taps = spec->kernel * spec->kernel;
    w->forward =
        (struct depthwise_lines){r, r + d.height, d.height, d.width, s.width, s.channels, spec->kernel};
    for (size_t p = 0; p < d.height; p++)
        *r++ = reach_forward(spec, p, s.height);
    for (size_t q = 0; q < d.width; q++)
        *r++ = reach_forward(spec, q, s.width);
    w->back = (struct depthwise_lines){r, r + s.height, s.height, s.width, d.width, s.channels, spec->kernel};
    for (size_t h = 0; h < s.height; h++)
        *r++ = reach_back(spec, h, d.height);
    for (size_t x = 0; x < s.width; x++)
        *r++ = reach_back(spec, x, d.width);
done:
    return status;
}

static void layer_depthwise_layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    struct depthwise *w = run->state;
    size_t values = w->taps * run->src->shape.channels;
    w->weight = arena_take(keep, values, sizeof(float));
    w->flipped = arena_take(keep, values, sizeof(float));
    if (w->by_rows)
        w->room = arena_take(scratch, (size_t)run->threads, depthwise_image_bytes(run));
    if (run->training)
        w->partial = arena_take(scratch, run->batch * values, sizeof(float));
}

/* ---- running ---- */

static struct depthwise_image by_rows(const struct layer_run *run, size_t image, int thread)
{
    const struct depthwise *w = run->state;
    return (struct depthwise_image){
        run, w->by_rows, w->weight, w->flipped, w->room + (size_t)thread * depthwise_image_bytes(run), image};
}

static void *image_of(const struct activation *t, void *data, size_t image)
{
    return (char *)data + image * shape_count(t->shape) * (t->dtype == NN_BF16 ? 2 : 4);
}

static sotto_status forward_image(void *arg, size_t image, int thread)
{
    struct layer_run *run = arg;
    struct depthwise *w = run->state;
    if (w->by_rows) {
        const struct depthwise_image rows = by_rows(run, image, thread);
        depthwise_image_forward(&rows);
    } else
        w->kernels->gather[run->src->dtype](image_of(run->dst, run->dst->data, image),
                                            image_of(run->src, run->src->data, image), w->weight,
                                            &w->forward);
    return SOTTO_OK;
}

static sotto_status backward_image(void *arg, size_t image, int thread)
{
    struct layer_run *run = arg;
    struct depthwise *w = run->state;
    const void *diff = image_of(run->dst, run->dst->diff, image);
    float *partial = w->partial + image * w->taps * run->src->shape.channels;
    if (w->by_rows) {
        const struct depthwise_image rows = by_rows(run, image, thread);
        depthwise_image_backward(&rows, partial);
        return SOTTO_OK;
    }
    w->kernels->weights[run->src->dtype](partial, image_of(run->src, run->src->data, image), diff,
                                         &w->forward);
    if (run->need_diff_src)
        w->kernels->gather[run->src->dtype](image_of(run->src, run->src->diff, image), diff, w->weight,
                                            &w->back);
    return SOTTO_OK;
}

static void layer_depthwise_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    struct depthwise *w = run->state;
    const size_t channels = run->src->shape.channels;
    for (size_t c = 0; c < channels; c++)
        for (size_t tap = 0; tap < w->taps; tap++) {
            const float weight = run->parameters[0].value[c * w->taps + tap];
            w->weight[tap * channels + c] = w->flipped[(w->taps - 1 - tap) * channels + c] = weight;
        }
    layer_each_image(forward_image, run);
}

/* Of all images, in order. */
static sotto_status sum_range(void *arg, size_t range, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    const struct depthwise *w = run->state;
    const size_t channels = run->src->shape.channels, first = range * RANGE,
                 count = first + RANGE < channels ? RANGE : channels - first;
    for (size_t tap = 0; tap < w->taps; tap++) {
        double sum[RANGE] = {0};
        for (size_t image = 0; image < run->batch; image++) {
            const float *partial = w->partial + (image * w->taps + tap) * channels + first;
            for (size_t c = 0; c < count; c++)
                sum[c] += (double)partial[c];
        }
        for (size_t c = 0; c < count; c++)
            run->parameters[0].diff[(first + c) * w->taps + tap] = (float)sum[c];
    }
    return SOTTO_OK;
}

static void layer_depthwise_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    layer_each_image(backward_image, run);
    (void)par_shares((run->src->shape.channels + RANGE - 1) / RANGE, run->threads, NULL, sum_range, run);
}

static void layer_depthwise_release(struct layer_run *run)
{
    struct depthwise *w = run->state;
    if (w)
        base_free(w->reaches);
    base_free(w);
    run->state = NULL;
}

const struct layer layer_depthwise = {
    .name = "depthwise convolution",
    .shape = layer_depthwise_shape,
    .parameters = layer_depthwise_parameters,
    .plan = layer_depthwise_plan,
    .layout = layer_depthwise_layout,
    .forward = layer_depthwise_forward,
    .backward = layer_depthwise_backward,
    .by_rows = depthwise_image_fits,
    .cross_example_reason = "its gradients of single records are not worked out; use a network of plain "
                            "convolutions (resnet8, resnet18 with norm: group)",
    .release = layer_depthwise_release};
