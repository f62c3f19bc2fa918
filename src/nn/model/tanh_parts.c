/* Rows that the networks with bounded activations share. */
#include "nn/model/tanh_parts.h"

#include <stdio.h>

static sotto_status add(int *row, struct nn_model *m, size_t module, struct layer_spec spec)
{
    spec.src = *row;
    spec.residual = SOURCE_NONE;
    spec.init = INIT_GLOROT_UNIFORM;
    snprintf(spec.path, sizeof spec.path, "encoder.%zu", module);
    return network_add(m, &spec, row);
}

sotto_status tanh_convolution(int *row, struct nn_model *m, size_t module, struct tanh_convolution c)
{
    sotto_status status = SOTTO_OK;
    TRY(add(
        row, m, module,
        (struct layer_spec){
            .layer = &layer_conv, .width = c.width, .kernel = c.kernel, .stride = c.stride, .pad = c.pad}));
    TRY(add(row, m, module + 1, (struct layer_spec){.layer = &layer_tanh}));
done:
    return status;
}

sotto_status tanh_pool(int *row, struct nn_model *m, size_t module, size_t stride)
{
    return add(row, m, module, (struct layer_spec){.layer = &layer_max_pool, .kernel = 2, .stride = stride});
}

sotto_status tanh_dense(int *row, struct nn_model *m, size_t module, size_t width)
{
    sotto_status status = SOTTO_OK;
    TRY(add(row, m, module + 1, (struct layer_spec){.layer = &layer_dense, .width = width}));
    TRY(add(row, m, module + 2, (struct layer_spec){.layer = &layer_tanh}));
done:
    return status;
}
