/* The convolutional network with tanh that is trained on colour images by DP-SGD (Papernot et al. 2021;
 * Tramer & Boneh 2021): stages of two convolutions 3x3, each stage followed by a 2x2 max pool, then one dense
 * layer; tanh after each of them. `hidden` lists the widths of the stages and, last, of the dense layer; 32,
 * 64, 128, 128 unless given. With 10 classes on 3x32x32: 550,570 parameters. Names are those of the same
 * network as nn.Sequential: stage s holds encoder.(5 s) and .(5 s + 2), the dense layer comes after Flatten.
 */
#include "nn/model/tanh_parts.h"

enum { STAGE_MODULES = 5 }; /* conv, tanh, conv, tanh, pool */
static const size_t usual[] = {32, 64, 128, 128};

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const size_t *width = config->hidden_count ? config->hidden : usual;
    size_t count = config->hidden_count ? config->hidden_count : sizeof usual / sizeof *usual;
    int row = SOURCE_INPUT;
    REQUIRE(count >= 2,
            "tanh-cnn: %zu width given; expected those of at least one stage and of the dense layer", count);
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
    .title = "pairs of convolutions 3x3 with tanh and max pools, a dense layer (--hidden)",
    .build = build};
