/* Probabilities of logits, for ensembles that average them: softmax, and the logarithm of a sum of them times
 * `rate`. Small tensors, so one thread and double precision. */
#include "nn/layer/layer.h"

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"

#include <math.h>

static sotto_status layer_softmax_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                        struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(src.height == 1 && src.width == 1, "%s: softmax needs vectors, not maps of %zux%zux%zu",
            spec->path, src.channels, src.height, src.width);
    *dst = src;
done:
    return status;
}

static double layer_softmax_get(const void *data, enum nn_dtype type, size_t i)
{
    return type == NN_BF16 ? (double)bf16_to_float(((const bf16 *)data)[i])
                           : (double)((const float *)data)[i];
}

static void layer_softmax_put(void *data, enum nn_dtype type, size_t i, double x)
{
    if (type == NN_BF16)
        ((bf16 *)data)[i] = bf16_from_float((float)x);
    else
        ((float *)data)[i] = (float)x;
}

/* ---- softmax ---- */

/* Largest logit of a row and the sum of exponentials relative to it. */
static void scale_of(double *top, double *sum, const struct activation *src, size_t first, size_t k)
{
    *top = layer_softmax_get(src->data, src->dtype, first);
    *sum = 0;
    for (size_t j = 1; j < k; j++)
        *top = fmax(*top, layer_softmax_get(src->data, src->dtype, first + j));
    for (size_t j = 0; j < k; j++)
        *sum += exp(layer_softmax_get(src->data, src->dtype, first + j) - *top);
}

static void softmax_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    const struct activation *src = run->src;
    size_t k = src->shape.channels;
    for (size_t first = 0; first < src->count; first += k) {
        double top, sum;
        scale_of(&top, &sum, src, first, k);
        for (size_t j = first; j < first + k; j++)
            layer_softmax_put(run->dst->data, run->dst->dtype, j,
                              exp(layer_softmax_get(src->data, src->dtype, j) - top) / sum);
    }
}

/* From the logits again: the result may hold other members' probabilities too. */
static void softmax_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    const struct activation *src = run->src, *dst = run->dst;
    size_t k = src->shape.channels;
    for (size_t first = 0; run->need_diff_src && first < src->count; first += k) {
        double top, sum, mean = 0;
        scale_of(&top, &sum, src, first, k);
        for (size_t j = first; j < first + k; j++)
            mean += exp(layer_softmax_get(src->data, src->dtype, j) - top) / sum *
                    layer_softmax_get(dst->diff, dst->dtype, j);
        for (size_t j = first; j < first + k; j++)
            layer_softmax_put(src->diff, src->dtype, j,
                              exp(layer_softmax_get(src->data, src->dtype, j) - top) / sum *
                                  (layer_softmax_get(dst->diff, dst->dtype, j) - mean));
    }
}

const struct layer layer_softmax = {.name = "softmax",
                                    .shape = layer_softmax_shape,
                                    .forward = softmax_forward,
                                    .backward = softmax_backward};

/* ---- logarithm of a mean ---- */

/* Keeps the logarithm finite where all members are sure of other classes. */
static const double least = 1e-30;

static void log_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    for (size_t i = 0; i < run->src->count; i++)
        layer_softmax_put(
            run->dst->data, run->dst->dtype, i,
            log(run->spec->rate * layer_softmax_get(run->src->data, run->src->dtype, i) + least));
}

static void log_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    double rate = run->spec->rate;
    for (size_t i = 0; run->need_diff_src && i < run->src->count; i++)
        layer_softmax_put(run->src->diff, run->src->dtype, i,
                          rate * layer_softmax_get(run->dst->diff, run->dst->dtype, i) /
                              (rate * layer_softmax_get(run->src->data, run->src->dtype, i) + least));
}

const struct layer layer_log_mean = {.name = "log mean",
                                     .writes_f32 = 1,
                                     .shape = layer_softmax_shape,
                                     .forward = log_forward,
                                     .backward = log_backward};
