/* Networks with bounded activations. Rows that they share come first; `module` is the place of the first of
 * them in the same network as nn.Sequential, which is its name in files. */
#include "nn/model/model.h"

#include <stdio.h>

static sotto_status model_tanh_add(int *row, struct nn_model *m, size_t module, struct layer_spec spec)
{
    spec.src = *row;
    spec.residual = SOURCE_NONE;
    spec.init = INIT_GLOROT_UNIFORM;
    snprintf(spec.path, sizeof spec.path, "encoder.%zu", module);
    return network_add(m, &spec, row);
}

struct tanh_convolution {
    size_t width, kernel, stride, pad;
};
/* A convolution and tanh: modules `module` and module + 1. *row is what is read, then what came of it. */
static sotto_status tanh_convolution(int *row, struct nn_model *m, size_t module, struct tanh_convolution c)
{
    sotto_status status = SOTTO_OK;
    TRY(model_tanh_add(
        row, m, module,
        (struct layer_spec){
            .layer = &layer_conv, .width = c.width, .kernel = c.kernel, .stride = c.stride, .pad = c.pad}));
    TRY(model_tanh_add(row, m, module + 1, (struct layer_spec){.layer = &layer_tanh}));
done:
    return status;
}

/* A max pool over 2x2 pixels. */
static sotto_status tanh_pool(int *row, struct nn_model *m, size_t module, size_t stride)
{
    return model_tanh_add(row, m, module,
                          (struct layer_spec){.layer = &layer_max_pool, .kernel = 2, .stride = stride});
}

/* A dense layer and tanh, after Flatten: modules module + 1 and module + 2. */
static sotto_status tanh_dense(int *row, struct nn_model *m, size_t module, size_t width)
{
    sotto_status status = SOTTO_OK;
    TRY(model_tanh_add(row, m, module + 1, (struct layer_spec){.layer = &layer_dense, .width = width}));
    TRY(model_tanh_add(row, m, module + 2, (struct layer_spec){.layer = &layer_tanh}));
done:
    return status;
}

/* The small convolutional network with tanh that is trained on 28x28 images by DP-SGD (Papernot et al.
 * 2021; Tramer & Boneh 2021): convolutions of 16 filters 8x8 and 32 filters 4x4 with stride 2, each with tanh
 * and a 2x2 max pool of stride 1, then a dense layer of 32 with tanh. With 10 classes on 1x28x28: 26,010
 * parameters. Names are those of the same network as nn.Sequential. */
static sotto_status build_small(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int row = m->input_row;
    (void)config; /* widths are fixed */
    TRY(tanh_convolution(&row, m, 0, (struct tanh_convolution){16, 8, 2, 2}));
    TRY(tanh_pool(&row, m, 2, 1));
    TRY(tanh_convolution(&row, m, 3, (struct tanh_convolution){32, 4, 2, 0}));
    TRY(tanh_pool(&row, m, 5, 1));
    TRY(tanh_dense(&row, m, 6, 32));
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_tanh_small = {.name = "tanh-small",
                                            .title =
                                                "two strided convolutions with tanh, a dense layer of 32",
                                            .build = build_small};

/* The convolutional network with tanh that is trained on colour images by DP-SGD (Papernot et al. 2021;
 * Tramer & Boneh 2021): stages of two convolutions 3x3, each stage followed by a 2x2 max pool, then one dense
 * layer; tanh after each of them. `hidden` lists the widths of the stages and, last, of the dense layer; 32,
 * 64, 128, 128 unless given. With 10 classes on 3x32x32: 550,570 parameters. Names are those of the same
 * network as nn.Sequential: stage s holds encoder.(5 s) and .(5 s + 2), the dense layer comes after
 * Flatten. */

enum { STAGE_MODULES = 5 }; /* conv, tanh, conv, tanh, pool */
static const size_t usual[] = {32, 64, 128, 128};

static sotto_status build_cnn(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const size_t *width = config->hidden_count ? config->hidden : usual;
    size_t count = config->hidden_count ? config->hidden_count : sizeof usual / sizeof *usual;
    int row = m->input_row;
    REQUIRE(count >= 2,
            "tanh-cnn: %zu width given; expected at least one for a stage and one for the dense layer",
            count);
    for (size_t stage = 0; stage + 1 < count; stage++) {
        const struct tanh_convolution c = {width[stage], 3, 1, 1};
        TRY(tanh_convolution(&row, m, STAGE_MODULES * stage, c));
        TRY(tanh_convolution(&row, m, STAGE_MODULES * stage + 2, c));
        TRY(tanh_pool(&row, m, STAGE_MODULES * stage + 4, 2));
    }
    TRY(tanh_dense(&row, m, STAGE_MODULES * (count - 1), width[count - 1]));
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_tanh_cnn = {
    .name = "tanh-cnn",
    .title = "pairs of convolutions 3x3 with tanh and max pools, a dense layer (hidden)",
    .build = build_cnn};
