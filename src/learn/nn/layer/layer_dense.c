/* Fully connected. The source may be an image: flattening costs nothing, the weight is then (out, height,
 * width, in) here and (out, in * height * width) in files, as after PyTorch's nn.Flatten. */
#include "nn/layer/layer_product.h"

static sotto_status layer_dense_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                      struct nn_shape src)
{
    (void)src;
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->width > 0, "%s: width must be > 0", spec->path);
    *dst = (struct nn_shape){.channels = spec->width, .height = 1, .width = 1};
done:
    return status;
}

static size_t layer_dense_parameters(struct nn_parameter out[LAYER_PARAMETERS_MAX],
                                     const struct layer_spec *spec, struct nn_shape src)
{
    out[0] = (struct nn_parameter){.name = "weight",
                                   .out = spec->width,
                                   .in = src.channels,
                                   .height = src.height,
                                   .width = src.width,
                                   .file_ndim = 2,
                                   .init = spec->init,
                                   .fan_in = shape_count(src),
                                   .fan_out = spec->width};
    out[1] = (struct nn_parameter){.name = "bias",
                                   .out = spec->width,
                                   .in = 1,
                                   .height = 1,
                                   .width = 1,
                                   .file_ndim = 1,
                                   .init = INIT_ZERO};
    return spec->no_bias ? 1 : 2;
}

static sotto_status layer_dense_plan(struct layer_run *run)
{
    return product_plan(run, run->src->shape.height, run->src->shape.width, 1, 0);
}

const struct layer layer_dense = {.name = "dense",
                                  .fuses_relu = 1,
                                  .fuses_mask = 1,
                                  .tangent = 1,
                                  .writes_f32 = 1,
                                  .shape = layer_dense_shape,
                                  .parameters = layer_dense_parameters,
                                  .plan = layer_dense_plan,
                                  .layout = product_layout,
                                  .lasting = product_lasting,
                                  .forward = product_forward,
                                  .backward = product_backward,
                                  .use = product_use,
                                  .example_norms = product_example_norms,
                                  .example_sum = product_example_sum,
                                  .release = product_release};
