/* The small convolutional network with tanh that is trained on 28x28 images by DP-SGD (Papernot et al.
 * 2021; Tramer & Boneh 2021): convolutions of 16 filters 8x8 and 32 filters 4x4 with stride 2, each with tanh
 * and a 2x2 max pool of stride 1, then a dense layer of 32 with tanh. With 10 classes on 1x28x28: 26,010
 * parameters. Names are those of the same network as nn.Sequential. */
#include "nn/model/tanh_parts.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int row = SOURCE_INPUT;
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

const struct model_kind model_tanh_small = {
    .name = "tanh-small", .title = "two strided convolutions with tanh, a dense layer of 32", .build = build};
