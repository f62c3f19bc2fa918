/* Multiplies by a constant: the mean of several results that were added up. */
#include "nn/layer/layer.h"

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"

static sotto_status layer_scale_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                      struct nn_shape src)
{
    (void)spec;
    *dst = src;
    return SOTTO_OK;
}

/* Small tensors only (logits), so one thread. */
static void layer_scale_values(const struct layer_run *run, void *to, enum nn_dtype to_type, const void *from,
                               enum nn_dtype from_type)
{
    float factor = (float)run->spec->rate;
    for (size_t i = 0; i < run->src->count; i++) {
        float x = from_type == NN_BF16 ? bf16_to_float(((const bf16 *)from)[i]) : ((const float *)from)[i];
        if (to_type == NN_BF16)
            ((bf16 *)to)[i] = bf16_from_float(factor * x);
        else
            ((float *)to)[i] = factor * x;
    }
}

static void layer_scale_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    layer_scale_values(run, run->dst->data, run->dst->dtype, run->src->data, run->src->dtype);
}

static void layer_scale_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    if (run->need_diff_src)
        layer_scale_values(run, run->src->diff, run->src->dtype, run->dst->diff, run->dst->dtype);
}

const struct layer layer_scale = {.name = "scale",
                                  .writes_f32 = 1,
                                  .shape = layer_scale_shape,
                                  .forward = layer_scale_forward,
                                  .backward = layer_scale_backward};
