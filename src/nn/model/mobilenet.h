/* mobilenet.h - the rows of both MobileNetV2 models. */
#ifndef NN_MODEL_MOBILENET_H
#define NN_MODEL_MOBILENET_H

#include "nn/model/model.h"

/** Stem of stride `stem`, second group of blocks of stride `second` (published: 2 and 2). */
sotto_status mobilenetv2_add(int *embedding_row, struct nn_model *m, const struct nn_model_config *config,
                             size_t stem, size_t second);

#endif
