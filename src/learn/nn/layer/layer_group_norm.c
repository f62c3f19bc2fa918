/* Group normalisation (Wu and He 2018): as batch norm, but over the H W C/G values of one image and one group
 * of neighbouring channels, in training and evaluation alike; weight and bias per channel. With
 * r = 1 / sqrt(variance + eps) of the group, g = dloss/ddst, and
 *
 *     per image and channel  s = sum g,  t = sum g (src - mean)
 *     over the group         S = sum of weight s,  T = sum of weight t,  m = H W C / G
 *
 *     diff_src    = weight r g - r S / m - (src - mean) r^3 T / m
 *     diff_bias   = sum of s
 *     diff_weight = sum of r t
 *
 * One image is one chunk: it is read once from memory and stays in cache for the other passes. */
#include "nn/layer/each_image.h"
#include "nn/layer/layer_norm_parts.h"

#include "nn/kernel/norm_kernels.h"
#include "par/par.h"

#include <math.h>

struct group_norm {
    const struct norm_kernels *kernels;
    size_t rows, channels, groups;  /* rows: H W */
    float *mean, *inverse;          /* (N, C), of the last forward; equal within a group */
    float *diff_weight, *diff_bias; /* (N, C), summed over N at the end; kept where examples stay apart */
    float *scratch;                 /* (N, 5, C) */
};

static sotto_status layer_group_norm_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                           struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->groups > 0 && src.channels % spec->groups == 0,
            "%s: %zu channels cannot be divided into %zu equal groups", spec->path, src.channels,
            spec->groups);
    *dst = src;
done:
    return status;
}

static size_t layer_group_norm_parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX],
                                          const struct layer_spec *spec, struct nn_shape src)
{
    (void)spec;
    return norm_affine(out, src.channels);
}

static sotto_status layer_group_norm_plan(struct layer_run *run)
{
    sotto_status status = SOTTO_OK;
    struct group_norm *g = NULL;
    NEW(g, 1);
    g->kernels = norm_kernels_best();
    g->channels = run->src->shape.channels;
    g->rows = run->src->shape.height * run->src->shape.width;
    g->groups = run->spec->groups;
    run->state = g;
done:
    return status;
}

static void layer_group_norm_layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    struct group_norm *g = run->state;
    size_t count = run->batch * g->channels;
    g->mean = arena_take(keep, count, sizeof(float));
    g->inverse = arena_take(keep, count, sizeof(float));
    g->diff_weight = arena_take(run->views ? keep : scratch, count, sizeof(float));
    g->diff_bias = arena_take(run->views ? keep : scratch, count, sizeof(float));
    g->scratch = arena_take(scratch, 5 * count, sizeof(float));
}

static const void *layer_group_norm_at(const struct layer_run *run, const void *data, size_t image)
{
    const struct group_norm *g = run->state;
    return (const char *)data + image * g->rows * g->channels * (run->src->dtype == NN_BF16 ? 2 : 4);
}

/** Replaces each channel's value by its group's sum. */
static void sum_groups(float *x, const struct group_norm *g)
{
    size_t width = g->channels / g->groups;
    for (size_t first = 0; first < g->channels; first += width) {
        double sum = 0;
        for (size_t c = first; c < first + width; c++)
            sum += (double)x[c];
        for (size_t c = first; c < first + width; c++)
            x[c] = (float)sum;
    }
}

static float group_size(const struct group_norm *g)
{
    const size_t channels = g->channels / g->groups;
    return (float)(g->rows * channels);
}

/** dst = src * scale + shift, the same bits forward and backward. */
static void affine_of(float *scale, float *shift, const struct layer_run *run, size_t image)
{
    const struct group_norm *g = run->state;
    const float *mean = g->mean + image * g->channels, *inverse = g->inverse + image * g->channels;
    for (size_t c = 0; c < g->channels; c++) {
        scale[c] = run->parameters[0].value[c] * inverse[c];
        shift[c] = run->parameters[1].value[c] - mean[c] * scale[c];
    }
}

static sotto_status forward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct group_norm *g = run->state;
    enum nn_dtype type = run->src->dtype;
    const void *x = layer_group_norm_at(run, run->src->data, image);
    float *mean = g->mean + image * g->channels, *inverse = g->inverse + image * g->channels,
          *scale = g->scratch + 5 * image * g->channels, *shift = scale + g->channels;
    g->kernels->sums[type](mean, x, g->rows, g->channels);
    sum_groups(mean, g);
    for (size_t c = 0; c < g->channels; c++)
        mean[c] /= group_size(g);
    g->kernels->squares[type](inverse, x, mean, g->rows, g->channels);
    sum_groups(inverse, g);
    for (size_t c = 0; c < g->channels; c++)
        inverse[c] = 1 / sqrtf(inverse[c] / group_size(g) + (float)NORM_EPSILON);
    affine_of(scale, shift, run, image);
    g->kernels->apply[type]((void *)layer_group_norm_at(run, run->dst->data, image), x, NULL, scale, shift,
                            norm_most(run), g->rows, g->channels);
    return SOTTO_OK;
}

static sotto_status backward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct group_norm *g = run->state;
    enum nn_dtype type = run->src->dtype;
    const void *x = layer_group_norm_at(run, run->src->data, image),
               *dy = layer_group_norm_at(run, run->dst->diff, image);
    const float *mean = g->mean + image * g->channels, *inverse = g->inverse + image * g->channels,
                *weight = run->parameters[0].value;
    float *sum = g->diff_bias + image * g->channels, *product = g->diff_weight + image * g->channels,
          *a = g->scratch + 5 * image * g->channels, *b = a + g->channels, *d = b + g->channels,
          *scale = d + g->channels, *shift = scale + g->channels;
    struct norm_gate gate = {scale, shift, norm_most(run)};
    struct norm_slopes slopes = {a, b, d};
    affine_of(scale, shift, run, image);
    g->kernels->back_sums[type](sum, product, dy, x, mean, run->relu ? &gate : NULL, g->rows, g->channels);
    for (size_t c = 0; c < g->channels; c++) {
        b[c] = weight[c] * product[c];
        d[c] = weight[c] * sum[c];
        product[c] *= inverse[c];
    }
    if (!run->need_diff_src)
        return SOTTO_OK;
    sum_groups(b, g);
    sum_groups(d, g);
    for (size_t c = 0; c < g->channels; c++) {
        a[c] = weight[c] * inverse[c];
        b[c] *= -inverse[c] * inverse[c] * inverse[c] / group_size(g);
        d[c] = -inverse[c] * d[c] / group_size(g) - b[c] * mean[c];
    }
    g->kernels->back_apply[type]((void *)layer_group_norm_at(run, run->src->diff, image), run->add_diff_src,
                                 dy, x, &slopes, run->relu ? &gate : NULL, g->rows, g->channels);
    return SOTTO_OK;
}

static void layer_group_norm_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    layer_each_image(forward_image, run);
}

static void layer_group_norm_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    struct group_norm *g = run->state;
    layer_each_image(backward_image, run);
    for (size_t c = 0; !run->views && c < g->channels; c++) {
        double weight = 0, bias = 0;
        for (size_t image = 0; image < run->batch; image++) {
            weight += (double)g->diff_weight[image * g->channels + c];
            bias += (double)g->diff_bias[image * g->channels + c];
        }
        run->parameters[0].diff[c] = (float)weight;
        run->parameters[1].diff[c] = (float)bias;
    }
}

/* One channel's gradient of one example, over its views. */
static double example_value(const struct layer_run *run, const float *of_images, size_t example, size_t c)
{
    const struct group_norm *g = run->state;
    double sum = 0;
    for (size_t view = 0; view < run->views; view++)
        sum += (double)of_images[(example * run->views + view) * g->channels + c];
    return sum;
}

static void example_norms(struct layer_run *run, const struct example_norms *out, size_t examples)
{
    const struct group_norm *g = run->state;
    for (size_t i = 0; i < examples; i++) {
        double square = 0;
        for (size_t c = 0; c < g->channels; c++) {
            double weight = example_value(run, g->diff_weight, i, c),
                   bias = example_value(run, g->diff_bias, i, c);
            square += weight * weight + bias * bias;
        }
        out->square[i] = square;
        out->excess[i] = 0;
    }
}

static void example_sum(struct layer_run *run, double *sum, const double *factor, size_t examples,
                        const struct nn_chains *chains)
{
    (void)chains;
    const struct group_norm *g = run->state;
    for (size_t i = 0; i < examples; i++)
        for (size_t c = 0; factor[i] > 0 && c < g->channels; c++) {
            sum[c] += trunc(factor[i] * example_value(run, g->diff_weight, i, c));
            sum[g->channels + c] += trunc(factor[i] * example_value(run, g->diff_bias, i, c));
        }
}

static void layer_group_norm_release(struct layer_run *run)
{
    base_free(run->state);
    run->state = NULL;
}

const struct layer layer_group_norm = {.name = "group norm",
                                       .fuses_relu = 1,
                                       .applies_own_relu_mask = 1,
                                       .in_place = 1,
                                       .adds = 1,
                                       .shape = layer_group_norm_shape,
                                       .parameters = layer_group_norm_parameters,
                                       .plan = layer_group_norm_plan,
                                       .layout = layer_group_norm_layout,
                                       .forward = layer_group_norm_forward,
                                       .backward = layer_group_norm_backward,
                                       .example_norms = example_norms,
                                       .example_sum = example_sum,
                                       .release = layer_group_norm_release};
