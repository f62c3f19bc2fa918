/* Hyperbolic tangent. Bounded activations keep gradients of single examples small, so that clipping takes
 * less of them away: the activation of networks trained by DP-SGD (Papernot et al. 2021, "Tempered sigmoid
 * activations for deep learning with differential privacy"). */
#include "nn/layer/each_image.h"
#include "nn/layer/layer.h"

#include "nn/kernel/kernels.h"
#include "par/par.h"

#include <assert.h>

static sotto_status layer_tanh_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    (void)spec;
    *dst = src;
    return SOTTO_OK;
}

static sotto_status forward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    size_t each = run->dst->count / run->batch, at = image * each * dtype_size(run->dst->dtype);
    run->kernels->tanh[run->dst->dtype]((char *)run->dst->data + at, (const char *)run->src->data + at, each);
    return SOTTO_OK;
}

static sotto_status backward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    size_t each = run->dst->count / run->batch, at = image * each * dtype_size(run->dst->dtype);
    run->kernels->tanh_back[run->dst->dtype]((char *)run->src->diff + at, (const char *)run->dst->diff + at,
                                             (const char *)run->dst->data + at, each);
    return SOTTO_OK;
}

static void layer_tanh_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    assert(run->src->dtype == run->dst->dtype); /* it does not write f32 in a bf16 plan */
    layer_each_image(forward_image, run);
}

static void layer_tanh_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    if (run->need_diff_src)
        layer_each_image(backward_image, run);
}

const struct layer layer_tanh = {.name = "tanh",
                                 .in_place = 1,
                                 .shape = layer_tanh_shape,
                                 .forward = layer_tanh_forward,
                                 .backward = layer_tanh_backward};
