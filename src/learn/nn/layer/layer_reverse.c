/* Gradient reversal (Ganin et al. 2016, section 4.2): the identity forwards, minus lambda times the gradient
 * backwards. What stands above it is trained to lower its loss, what stands below to raise it. */
#include "nn/layer/layer.h"

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"

#include <string.h>

static sotto_status layer_reverse_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                        struct nn_shape src)
{
    (void)spec;
    *dst = src;
    return SOTTO_OK;
}

static void layer_reverse_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    memcpy(run->dst->data, run->src->data, run->src->count * dtype_size(run->src->dtype));
}

static void layer_reverse_backward(struct layer_run *run, const struct pass *pass)
{
    float factor = -(float)run->spec->rate;
    (void)pass;
    if (!run->need_diff_src)
        return;
    if (run->src->dtype == NN_BF16) {
        const bf16 *from = run->dst->diff;
        bf16 *to = run->src->diff;
        for (size_t i = 0; i < run->src->count; i++)
            to[i] = bf16_from_float(factor * bf16_to_float(from[i]));
    } else {
        const float *from = run->dst->diff;
        float *to = run->src->diff;
        for (size_t i = 0; i < run->src->count; i++)
            to[i] = factor * from[i];
    }
}

const struct layer layer_reverse = {.name = "reverse",
                                    .in_place = 1,
                                    .shape = layer_reverse_shape,
                                    .forward = layer_reverse_forward,
                                    .backward = layer_reverse_backward};
