/* Transposed convolution: the adjoint of a convolution from the result to the source, so that convolution does all the work
 * with its roles exchanged. Forward is its backward pass for data, backward for data is its forward pass, and its weight
 * gradient takes our gradient as source and our source as gradient. Weights are those of that convolution: (in, height,
 * width, out) here, (in, out, height, width) in files, as torch.nn.ConvTranspose2d has them. */
#include "generate/generator.h"

#include "nn/backend.h"
#include "nn/kernel/kernels.h"

struct transposed {
    struct conv *conv;
    float *partial; /* of the bias gradient */
};

static sotto_status layer_transposed_conv_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                                struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->kernel > 0 && spec->stride > 0 && spec->width > 0,
            "%s: kernel, stride and width must be > 0", spec->path);
    size_t height = (src.height - 1) * spec->stride + spec->kernel,
           width = (src.width - 1) * spec->stride + spec->kernel;
    REQUIRE(height > 2 * spec->pad && width > 2 * spec->pad, "%s: padding of %zu leaves nothing of %zux%zu",
            spec->path, spec->pad, height, width);
    *dst = (struct nn_shape){spec->width, height - 2 * spec->pad, width - 2 * spec->pad};
done:
    return status;
}

static size_t layer_transposed_conv_parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX],
                                               const struct layer_spec *spec, struct nn_shape src)
{
    size_t area = spec->kernel * spec->kernel;
    out[0] = (struct nn_parameter){.name = "weight",
                                   .out = src.channels,
                                   .in = spec->width,
                                   .height = spec->kernel,
                                   .width = spec->kernel,
                                   .file_ndim = 4,
                                   .init = spec->init,
                                   .fan_in = src.channels * area,
                                   .fan_out = spec->width * area};
    out[1] = (struct nn_parameter){.name = "bias",
                                   .out = spec->width,
                                   .in = 1,
                                   .height = 1,
                                   .width = 1,
                                   .file_ndim = 1,
                                   .init = INIT_ZERO};
    return spec->no_bias ? 1 : 2;
}

static sotto_status layer_transposed_conv_plan(struct layer_run *run)
{
    sotto_status status = SOTTO_OK;
    const struct layer_spec *spec = run->spec;
    struct conv_desc desc = {.batch = run->batch,
                             .src = run->dst->shape,
                             .dst = run->src->shape,
                             .kernel_height = spec->kernel,
                             .kernel_width = spec->kernel,
                             .stride = spec->stride,
                             .pad = spec->pad,
                             .src_dtype = run->dst->dtype,
                             .dst_dtype = run->src->dtype,
                             .training = 1, /* its backward pass is our forward pass */
                             .diff_src = 1,
                             .threads = run->threads,
                             .stop = run->stop};
    struct transposed *t = NULL;
    NEW(t, 1);
    run->state = t;
    TRY(run->backend->conv_create(&t->conv, &desc));
done:
    return status;
}

static size_t layer_transposed_conv_pixels(const struct layer_run *run)
{
    return run->dst->count / run->dst->shape.channels;
}

static void layer_transposed_conv_layout(struct layer_run *run, struct arena *keep, struct arena *scratch)
{
    struct transposed *t = run->state;
    if (run->backend->conv_layout)
        run->backend->conv_layout(t->conv, keep, scratch);
    t->partial = arena_take(
        scratch, tensor_row_sums_partial(layer_transposed_conv_pixels(run), run->dst->shape.channels),
        sizeof *t->partial);
}

/* Only the last layer of a generator has one, with as many values as an image has colours. */
static void add_bias(struct layer_run *run)
{
    const float *bias = run->parameters[1].value;
    size_t channels = run->dst->shape.channels;
    float *y = run->dst->data;
    for (size_t i = 0; i < layer_transposed_conv_pixels(run); i++)
        for (size_t c = 0; c < channels; c++)
            y[i * channels + c] += bias[c];
}

static void layer_transposed_conv_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    const struct transposed *t = run->state;
    run->backend->conv_backward(t->conv, run->dst->data, NULL, NULL, run->src->data, run->dst->data,
                                run->parameters[0].value);
    if (!run->spec->no_bias)
        add_bias(run);
}

static void layer_transposed_conv_backward(struct layer_run *run, const struct pass *pass)
{
    const struct transposed *t = run->state;
    const struct activation *dst = run->dst;
    if (!pass->input_only) {
        run->backend->conv_backward(t->conv, NULL, run->parameters[0].diff, NULL, run->src->data, dst->diff,
                                    run->parameters[0].value);
        if (!run->spec->no_bias)
            tensor_row_sums(run->kernels, dst->dtype, run->parameters[1].diff, dst->diff,
                            layer_transposed_conv_pixels(run), dst->shape.channels, t->partial, run->threads,
                            run->stop);
    }
    if (run->need_diff_src)
        run->backend->conv_forward(t->conv, run->src->diff, dst->diff, run->parameters[0].value, NULL);
}

static void layer_transposed_conv_release(struct layer_run *run)
{
    struct transposed *t = run->state;
    if (t && t->conv)
        run->backend->conv_free(t->conv);
    base_free(t);
    run->state = NULL;
}

const struct layer layer_transposed_conv = {.name = "transposed conv",
                                            .shape = layer_transposed_conv_shape,
                                            .parameters = layer_transposed_conv_parameters,
                                            .plan = layer_transposed_conv_plan,
                                            .layout = layer_transposed_conv_layout,
                                            .forward = layer_transposed_conv_forward,
                                            .backward = layer_transposed_conv_backward,
                                            .release = layer_transposed_conv_release};
