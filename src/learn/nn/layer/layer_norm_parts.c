#include "nn/layer/layer_norm_parts.h"

#include <math.h>
#include <stdio.h>

sotto_status norm_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    (void)spec;
    *dst = src;
    return SOTTO_OK;
}

size_t norm_affine(struct nn_parameter out[LAYER_PARAMETERS_MAX], size_t channels)
{
    struct nn_parameter vector = {.out = channels, .in = 1, .height = 1, .width = 1, .file_ndim = 1};
    out[0] = out[1] = vector;
    snprintf(out[0].name, sizeof out[0].name, "weight");
    out[0].init = INIT_ONE;
    snprintf(out[1].name, sizeof out[1].name, "bias");
    out[1].init = INIT_ZERO;
    return 2;
}

float norm_most(const struct layer_run *run)
{
    if (!run->relu)
        return 0;
    return run->spec->cap > 0 ? (float)run->spec->cap : INFINITY;
}
