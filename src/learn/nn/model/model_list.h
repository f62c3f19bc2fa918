/* One row per model; the name is the file's: model_NAME.c holds model_NAME. */
ROW(cnn)
ROW(deep_sets)
ROW(keras_simclr)
ROW(mlp)
ROW(mobilenetv2)
ROW(mobilenetv2_imagenet)
ROW(resnet18)
ROW(resnet18_imagenet)
ROW(resnet20)
ROW(resnet50)
ROW(resnet50_imagenet)
ROW(resnet8)
ROW(tanh_cnn)
ROW(tanh_small)
#define PLUG_MODEL ROW
#include "base/plugs.h"
