#include "nn/layer_product.h"

#include "nn/backend.h"

/* parameters[0] is the weight, parameters[1] the bias (absent where a normalisation follows). */
static int has_bias(const struct layer_run *run)
{
    return !run->spec->no_bias;
}

sotto_status product_plan(struct layer_run *run, size_t kernel_height, size_t kernel_width, size_t stride,
                          size_t pad)
{
    struct conv_desc desc = {
        .batch = run->batch,
        .src = run->src->shape,
        .dst = run->dst->shape,
        .kernel_height = kernel_height,
        .kernel_width = kernel_width,
        .stride = stride,
        .pad = pad,
        .src_dtype = run->src->dtype,
        .dst_dtype = run->dst->dtype,
        .bias = has_bias(run),
        .relu = run->relu,
        .training = run->training,
        .diff_src = run->need_diff_src,
        .mask_src = run->src->relu,
        .threads = run->threads,
    };
    struct conv *conv = NULL;
    sotto_status status = run->backend->conv_create(&conv, &desc);
    run->state = conv;
    return status;
}

void product_layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    if (run->backend->conv_layout)
        run->backend->conv_layout(run->state, keep, scratch);
}

void product_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    run->backend->conv_forward(run->state, run->dst->data, run->src->data, run->parameters[0].value,
                               has_bias(run) ? run->parameters[1].value : NULL);
}

void product_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    run->backend->conv_backward(run->state, run->need_diff_src ? run->src->diff : NULL,
                                run->parameters[0].diff, has_bias(run) ? run->parameters[1].diff : NULL,
                                run->dst->diff, run->src->data, run->parameters[0].value);
}

void product_release(struct layer_run *run)
{
    if (run->state)
        run->backend->conv_free(run->state);
    run->state = NULL;
}
