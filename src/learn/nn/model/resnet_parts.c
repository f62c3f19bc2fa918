/* Rows that the residual networks share. */
#include "nn/model/resnet_parts.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

sotto_status resnet_start(struct resnet *b, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    b->model = m;
    const char *norm = config->norm ? config->norm : "batch";
    if (strcmp(norm, "batch") != 0 && strcmp(norm, "group") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "norm", norm, "batch or group"));
    b->norm = strcmp(norm, "batch") == 0 ? &layer_batch_norm : &layer_group_norm;
done:
    return status;
}

sotto_status resnet_convolution(int *row, struct resnet *b, int src, struct resnet_convolution c,
                                const char *path)
{
    struct layer_spec spec = {.layer = &layer_conv,
                              .src = src,
                              .residual = c.residual,
                              .width = c.width,
                              .kernel = c.kernel,
                              .stride = c.stride,
                              .pad = c.kernel / 2,
                              .no_bias = 1,
                              .init = INIT_HE_NORMAL,
                              .noise = c.noise};
    snprintf(spec.path, sizeof spec.path, "%s", path);
    return network_add(b->model, &spec, row);
}

sotto_status resnet_norm(int *row, struct resnet *b, int src, int relu, int residual, const char *path)
{
    struct layer_spec spec = {
        .layer = b->norm, .src = src, .residual = residual, .relu = relu, .groups = RESNET_GROUPS};
    snprintf(spec.path, sizeof spec.path, "%s", path);
    return network_add(b->model, &spec, row);
}

sotto_status resnet_pool(int *row, struct resnet *b, int src)
{
    struct layer_spec spec = {
        .layer = &layer_global_pool, .path = "encoder.pool", .src = src, .residual = SOURCE_NONE};
    return network_add(b->model, &spec, row);
}

const char *resnet_name(char out[48], size_t stage, size_t block, const char *part)
{
    snprintf(out, 48, "encoder.layer%zu.%zu.%s", stage, block, part);
    return out;
}
