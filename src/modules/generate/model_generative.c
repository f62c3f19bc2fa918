/* The two halves of generative models. Names are those of the same networks as nn.Sequential. */
#include "generate/generator.h"

#include <stdio.h>

/* Module `module` reads *row, which becomes it. */
static sotto_status model_generative_add(int *row, struct nn_model *m, size_t module, struct layer_spec spec)
{
    spec.src = *row;
    spec.residual = SOURCE_NONE;
    snprintf(spec.path, sizeof spec.path, "%zu", module);
    return network_add(m, &spec, row);
}

/* ---- DCGAN (Radford, Metz and Chintala 2016) for images of 32 x 32 pixels ---- */

static const double slope = 0.2;

static sotto_status build_generator(int *embedding_row, struct nn_model *m,
                                    const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const size_t w = config->hidden[0], widths[] = {4 * w, 2 * w, w, config->hidden[1]};
    int row = SOURCE_INPUT;
    for (size_t i = 0; i < 4; i++) {
        TRY(model_generative_add(&row, m, 3 * i,
                                 (struct layer_spec){.layer = &layer_transposed_conv,
                                                     .width = widths[i],
                                                     .kernel = 4,
                                                     .stride = i ? 2 : 1,
                                                     .pad = i ? 1 : 0,
                                                     .no_bias = i < 3,
                                                     .init = INIT_NORMAL_002}));
        if (i < 3)
            TRY(model_generative_add(&row, m, 3 * i + 1,
                                     (struct layer_spec){.layer = &layer_batch_norm, .relu = 1}));
    }
    TRY(model_generative_add(&row, m, 10, (struct layer_spec){.layer = &layer_tanh}));
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_dcgan_generator = {
    .name = "dcgan-generator", .title = "DCGAN generator", .build = build_generator};

static sotto_status build_reader(int *embedding_row, struct nn_model *m, const struct nn_model_config *config,
                                 bool norms)
{
    sotto_status status = SOTTO_OK;
    size_t w = config->hidden[0], module = 0;
    int row = SOURCE_INPUT;
    for (size_t i = 0; i < 4; i++) {
        TRY(model_generative_add(&row, m, module++,
                                 (struct layer_spec){.layer = &layer_conv,
                                                     .width = i < 3 ? w << i : 1,
                                                     .kernel = 4,
                                                     .stride = i < 3 ? 2 : 1,
                                                     .pad = i < 3 ? 1 : 0,
                                                     .no_bias = norms,
                                                     .init = INIT_NORMAL_002}));
        if (norms && (i == 1 || i == 2))
            TRY(model_generative_add(&row, m, module++, (struct layer_spec){.layer = &layer_batch_norm}));
        if (i < 3)
            TRY(model_generative_add(&row, m, module++,
                                     (struct layer_spec){.layer = &layer_leaky, .rate = slope}));
    }
    *embedding_row = row;
done:
    return status;
}

static sotto_status build_discriminator(int *embedding_row, struct nn_model *m,
                                        const struct nn_model_config *config)
{
    return build_reader(embedding_row, m, config, true);
}

const struct model_kind model_dcgan_discriminator = {
    .name = "dcgan-discriminator", .title = "DCGAN discriminator", .build = build_discriminator};

/* Piecewise linear, and no record acts on another: what the gradient penalty needs. */
static sotto_status build_critic(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return build_reader(embedding_row, m, config, false);
}

const struct model_kind model_wgan_critic = {
    .name = "wgan-critic", .title = "WGAN critic", .build = build_critic};

/* ---- variational auto-encoder (Kingma and Welling 2014): each half has one hidden layer ---- */

static sotto_status build_vae_half(int *embedding_row, struct nn_model *m,
                                   const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int row = SOURCE_INPUT;
    TRY(model_generative_add(
        &row, m, 0,
        (struct layer_spec){
            .layer = &layer_dense, .width = config->hidden[0], .relu = 1, .init = INIT_GLOROT_UNIFORM}));
    TRY(model_generative_add(
        &row, m, 2,
        (struct layer_spec){.layer = &layer_dense, .width = config->hidden[1], .init = INIT_GLOROT_UNIFORM}));
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_vae_half = {
    .name = "vae-half", .title = "half of a variational auto-encoder", .build = build_vae_half};
