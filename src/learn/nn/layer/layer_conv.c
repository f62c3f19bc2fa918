/* Convolution with a square kernel, equal stride in both directions, zero padding. */
#include "nn/layer/layer_product.h"

static sotto_status layer_conv_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    size_t height = src.height + 2 * spec->pad, width = src.width + 2 * spec->pad;
    REQUIRE(spec->kernel > 0 && spec->stride > 0 && spec->width > 0,
            "%s: kernel, stride and width must be > 0", spec->path);
    REQUIRE(height >= spec->kernel && width >= spec->kernel,
            "%s: its source (%zux%zu) is smaller than the %zux%zu kernel", spec->path, src.height, src.width,
            spec->kernel, spec->kernel);
    *dst = (struct nn_shape){.channels = spec->width,
                             .height = (height - spec->kernel) / spec->stride + 1,
                             .width = (width - spec->kernel) / spec->stride + 1};
done:
    return status;
}

static size_t layer_conv_parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX],
                                    const struct layer_spec *spec, struct nn_shape src)
{
    size_t area = spec->kernel * spec->kernel;
    out[0] = (struct nn_parameter){.name = "weight",
                                   .out = spec->width,
                                   .in = src.channels,
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

static sotto_status layer_conv_plan(struct layer_run *run)
{
    const struct layer_spec *spec = run->spec;
    return product_plan(run, spec->kernel, spec->kernel, spec->stride, spec->pad);
}

const struct layer layer_conv = {.name = "conv",
                                 .fuses_relu = 1,
                                 .fuses_mask = 1,
                                 .tangent = 1,
                                 .writes_f32 = 1,
                                 .shape = layer_conv_shape,
                                 .parameters = layer_conv_parameters,
                                 .plan = layer_conv_plan,
                                 .layout = product_layout,
                                 .lasting = product_lasting,
                                 .forward = product_forward,
                                 .backward = product_backward,
                                 .use = product_use,
                                 .example_norms = product_example_norms,
                                 .example_sum = product_example_sum,
                                 .release = product_release};
