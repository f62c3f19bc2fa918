#include "nn/layer/layer_product.h"

#include "nn/backend.h"
#include "nn/kernel/kernels.h"
#include "nn/layer/example_product.h"

struct product {
    struct conv *conv;
    struct example_product *examples; /* NULL unless run->views */
};

/* parameters[0] is the weight, parameters[1] the bias (absent where a normalisation follows, and from tangents). */
static int has_bias(const struct layer_run *run)
{
    return !run->spec->no_bias && !run->gate;
}

sotto_status product_plan(struct layer_run *run, size_t kernel_height, size_t kernel_width, size_t stride,
                          size_t pad)
{
    sotto_status status = SOTTO_OK;
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
        .stop = run->stop,
    };
    struct product *p = NULL;
    NEW(p, 1);
    run->state = p;
    if (run->views && !run->spec->frozen) {
        TRY(example_product_create(&p->examples, &desc, run->views, run->backend->filters));
        run->keep_diff = !example_product_stores(p->examples);
    }
    desc.single_examples = run->views > 0; /* no result depends on the rows around it */
    TRY(run->backend->conv_create(&p->conv, &desc));
    run->can_add = run->backend->conv_adds && run->backend->conv_adds(p->conv);
done:
    return status;
}

void product_layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    struct product *p = run->state;
    if (run->backend->conv_layout)
        run->backend->conv_layout(p->conv, keep, scratch);
    if (run->add_diff_src)
        run->backend->conv_add(p->conv);
    if (p->examples)
        example_product_layout(p->examples, keep, scratch);
}

void product_lasting(struct layer_run *run, struct arena *memory)
{
    const struct product *p = run->state;
    if (run->backend->conv_lasting)
        run->backend->conv_lasting(p->conv, memory);
}

static void take_weights(const struct layer_run *run, const struct pass *pass)
{
    const struct product *p = run->state;
    if (run->backend->conv_weights)
        run->backend->conv_weights(p->conv, pass->weights);
}

void product_forward(struct layer_run *run, const struct pass *pass)
{
    const struct product *p = run->state;
    take_weights(run, pass);
    run->backend->conv_forward(p->conv, run->dst->data, run->src->data, run->parameters[0].value,
                               has_bias(run) ? run->parameters[1].value : NULL);
}

static void layer_product_backward(struct layer_run *run, void *diff_src, float *diff_weights,
                                   float *diff_bias)
{
    const struct product *p = run->state;
    run->backend->conv_backward(p->conv, diff_src, diff_weights, has_bias(run) ? diff_bias : NULL,
                                run->dst->diff, run->src->data, run->parameters[0].value);
}

void product_backward(struct layer_run *run, const struct pass *pass)
{
    void *diff_src = run->need_diff_src ? run->src->diff : NULL;
    take_weights(run, pass);
    if (!run->views && !pass->input_only)
        layer_product_backward(run, diff_src, run->parameters[0].diff, run->parameters[1].diff);
    else if (diff_src)
        layer_product_backward(run, diff_src, NULL, NULL);
}

void product_use(struct layer_run *run, size_t rows)
{
    const struct product *p = run->state;
    if (run->backend->conv_use)
        run->backend->conv_use(p->conv, rows);
}

void product_example_norms(struct layer_run *run, const struct example_norms *out, size_t examples)
{
    const struct product *p = run->state;
    example_product_norms(p->examples, out, run->dst->diff, run->src->data, examples);
}

void product_example_sum(struct layer_run *run, double *sum, const double *factor, size_t examples,
                         const struct nn_chains *chains)
{
    const struct product *p = run->state;
    example_product_sum(p->examples, sum, factor, run->dst->diff, run->src->data, examples, chains);
}

void product_release(struct layer_run *run)
{
    struct product *p = run->state;
    if (!p)
        return;
    if (p->conv)
        run->backend->conv_free(p->conv);
    example_product_free(p->examples);
    base_free(p);
    run->state = NULL;
}
